"""Keep the catalogues of translated texts: collect what is in the code, and compile what translators wrote.

bash scripts/translate          collects, keeps what is translated, compiles, and says what is missing
bash scripts/translate --check  changes nothing; fails where a text has no translation or a catalogue is stale
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from xml.etree import ElementTree

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from vbas import core
from vbas.core import engines
from vbas.core.approach import Approach, described
from vbas.core.language import CATALOGUES, ENGLISH
from vbas.core.privacy.rules import read_rules

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Texts of VBAS for QGIS.\n"
KEYWORDS = {"tr": None, "saying": None, "as_data": None, "plural": (1, 2), "counting": (1, 2)}
ASKS = re.compile(rf"\b({'|'.join(KEYWORDS)})\b".encode())
FOLDERS = ("core", "algorithms", "vbas_plugin", "scripts")
WIDTH = 120
NARROW, WIDE = "\u202f", "\u00a0"  # no-break spaces
LONG_AGO = datetime(2000, 1, 1, tzinfo=timezone.utc)
UNTOLD = (b"-Date:", b"Report-Msgid-Bugs-To:", b"Last-Translator:", b"Language-Team:", b"Generated-By:")


def template() -> Catalog:
    """All texts that a user can see, without translations."""
    catalogue = Catalog(project="VBAS for QGIS", header_comment=HEADER, fuzzy=False)
    files = _files_that_ask()
    for file, place in files.items():
        for _, message, _, _ in extract_from_file("python", file, keywords=KEYWORDS):
            catalogue.add(message, locations=[(place, 0)])
    for text, place in (*_within_others(files), *_of_approaches(), *_of_rules(), *_of_models()):
        catalogue.add(text, locations=[(place, 0)])
    return catalogue


def _files_that_ask() -> dict[Path, str]:
    """The files that ask for a translation, with how catalogues name them; to look for texts in all takes longer."""
    files = (file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"), key=_by_folder))
    return {file: file.relative_to(ROOT).as_posix() for file in files if ASKS.search(file.read_bytes())}


def _by_folder(file: Path) -> tuple[tuple[str, ...], str]:
    """The files of a folder stand before those of the folders in it."""
    return file.parent.parts, file.name


def _within_others(files: Mapping[Path, str]) -> Iterator[tuple[str | tuple[str, ...], str]]:
    """The texts that an f-string asks for between its braces, or another text for one of its places: the extractor
    takes the first for a part of the string, and leaves out some of the others."""
    for file, place in files.items():
        nodes = list(ast.walk(ast.parse(file.read_bytes())))
        around = [node for node in nodes if isinstance(node, ast.JoinedStr) or _asked_by(node)]
        for call in (node for outer in around for node in ast.walk(outer) if node is not outer):
            asked = _asked_by(call)
            if asked:
                yield asked, place


def _asked_by(node: ast.AST) -> str | tuple[str, ...]:
    """The text that a call asks for, two of one thing and of several; empty for all else."""
    called = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or called not in KEYWORDS:
        return ""
    texts = [str(word.value) for word in node.args if isinstance(word, ast.Constant)]
    return tuple(texts[:2]) if KEYWORDS[called] else "".join(texts[:1])


def _of_approaches() -> Iterator[tuple[str, str]]:
    """What each approach says of itself, which is how its docstring begins."""
    modules = sorted(module_info.name for module_info in walk_packages(core.__path__, f"{core.__name__}."))
    # Engines hold no approaches, and need packages of their own.
    for module in (name for name in modules if not name.startswith(engines.__name__)):
        for rooms in vars(import_module(module)).values():
            if isinstance(rooms, dict):
                for room in rooms.values():
                    if isinstance(room, Approach):
                        yield described(room.function)[0], room.function.__module__


def _of_rules() -> Iterator[tuple[str, str]]:
    """What each published rule asks for."""
    for rule in read_rules().values():
        if rule.says:
            yield rule.says, "core/privacy/rules.csv"


def _of_models() -> Iterator[tuple[str, str]]:
    """What the models say, which QGIS keeps in their files."""
    from qgis.core import QgsProcessingModelAlgorithm

    for file in sorted((ROOT / "models").glob("*.model3")):
        model = QgsProcessingModelAlgorithm()
        model.fromFile(str(file))
        texts = [text for text in model.helpContent().values() if isinstance(text, str)]
        texts += [
            definition.description() for definition in (*model.parameterDefinitions(), *model.outputDefinitions())
        ]
        # QGIS knows the steps of a model only where their algorithms are registered.
        options = [option.attrib for option in ElementTree.parse(file).iter("Option")]
        texts += [option["value"] for option in options if option.get("name") == "component_description"]
        for text in filter(None, texts):
            yield text, f"models/{file.name}"


def refreshed(language: str, wanted: Catalog) -> Catalog:
    """The catalogue of a language with all texts that are wanted, those translated already with their translation."""
    file = CATALOGUES / f"{language}.po"
    catalogue = Catalog(locale=language, project=wanted.project, header_comment=HEADER, fuzzy=False)
    if file.is_file():
        with file.open("rb") as stream:
            catalogue = read_po(stream, locale=language)
    # A text that only resembles a translated one has none: a wrong sentence is worse than an English one.
    catalogue.update(wanted, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    for message in catalogue:
        if message.string:
            message.string = _unbroken(message.string)
    # The same texts make the same file, whenever it is made.
    catalogue.creation_date = catalogue.revision_date = LONG_AGO
    return catalogue


def _unbroken(text: str | list[str] | tuple[str, ...]) -> str | tuple[str, ...]:
    """A translation with wide no-break spaces: windows of Qt 5 break lines at narrow ones."""
    return text.replace(NARROW, WIDE) if isinstance(text, str) else tuple(form.replace(NARROW, WIDE) for form in text)


def missing(catalogue: Catalog) -> list[str]:
    """The texts without a translation."""
    lacking = []
    for message in catalogue:
        written = message.string if isinstance(message.string, (tuple, list)) else (message.string,)
        if message.id and not all(written):
            lacking.append(message.id if isinstance(message.id, str) else message.id[0])
    return lacking


def as_text(catalogue: Catalog) -> bytes:
    """The catalogue as a file for translators, the same for the same texts."""
    stream = io.BytesIO()
    write_po(stream, catalogue, width=WIDTH, sort_by_file=True, omit_header=False, include_lineno=False)
    lines = stream.getvalue().split(b"\n")
    return b"\n".join(line for line in lines if not any(word in line for word in UNTOLD))


def compiled(catalogue: Catalog) -> bytes:
    """The catalogue as programs read it."""
    stream = io.BytesIO()
    write_mo(stream, catalogue)
    return stream.getvalue()


def main() -> int:
    """Refresh or check every catalogue; the number of texts without a translation is printed."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("languages", nargs="*", help="codes such as fr; without any, those that there are")
    arguments.add_argument("--check", action="store_true", help="change nothing, fail where something is missing")
    given = arguments.parse_args()
    wanted, wrong = template(), 0
    there = sorted(file.stem for file in CATALOGUES.glob("*.po"))
    for language in given.languages or there:
        if language == ENGLISH:
            continue
        catalogue = refreshed(language, wanted)
        lacking = missing(catalogue)
        files = {"po": as_text(catalogue), "mo": compiled(catalogue)}
        for kind, content in files.items():
            file = CATALOGUES / f"{language}.{kind}"
            if not given.check:
                file.write_bytes(content)
            elif not file.is_file() or file.read_bytes() != content:
                wrong += 1
                print(f"{file.name} is not up to date: run scripts/translate.")
        wrong += len(lacking)
        print(f"{language}: {len(catalogue) - len(lacking)} of {len(catalogue)} texts are translated.")
        for text in lacking[:20]:
            print(f"  missing: {text[:100]}")
    return int(given.check and wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
