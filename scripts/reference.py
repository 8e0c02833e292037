"""Write docs/reference/: a page on each algorithm, from what its form says, and the list of them; and the table of
settings in docs/library.md.

Run it again when a form changes its parameters, outputs or help:
    PYTHONPATH=build/package QT_QPA_PLATFORM=offscreen .venv/bin/python scripts/reference.py
With a language and a folder it writes them there in that language, as `scripts/docs` does for the French site.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from html import unescape
from pathlib import Path

from qgis.core import (
    QgsProcessingAlgorithm,
    QgsProcessingModelAlgorithm,
    QgsProcessingParameterDefinition,
    QgsProcessingProvider,
)

from vbas.core.language import ENGLISH, language, speak, tr

if __name__ == "__main__":  # before anything that holds texts is imported
    speak(sys.argv[1] if sys.argv[1:] else ENGLISH)

from vbas.algorithms.form.parameters import ADVANCED, INTEGER, OPTIONAL
from vbas.algorithms.named import DOCS, GROUPS, TOOLBOX, guide_page
from vbas.core.tables import schema, table_of
from vbas.core.tables.schema import ESTIMATE, FOR_RELEASE, INTERNAL, kind_of_output

FOLDER = DOCS / "reference"
LIST = "README.md"
UNBOUNDED = 1e300
HOLDS = {
    **dict.fromkeys((schema.INTEGER, schema.LONG), tr("a whole number")),
    **dict.fromkeys((schema.NUMBER, schema.REAL), tr("a number")),
    schema.TEXT: tr("text"),
    schema.AS_GIVEN: tr("as in your layer"),
}
# From a page of the reference to those of the guide, which is in English; other languages have a folder of their own.
UP = {ENGLISH: "../", "fr": "../../"}
# The pages of the guide that there are in French, too.
IN_FRENCH = {
    "tutorial": "tutoriel",
    "install": "installer",
    "limits": "limites",
    "explorer": "volet",
    "analysing": "analyser",
    "over-time": "dans-le-temps",
    "policy": "politique",
}


def reference(provider: QgsProcessingProvider) -> dict[str, str]:
    """The pages by their file names."""
    algorithms = [algorithm.create() for algorithm in provider.algorithms()]
    pages = {f"{algorithm.name()}.md": page_of(algorithm) for algorithm in algorithms}
    return {LIST: list_of(algorithms), **pages}


def list_of(algorithms: Iterable[QgsProcessingAlgorithm]) -> str:
    """All algorithms by their groups, in the order of the toolbox, each with a sentence."""
    lines = [
        f"# {tr('The algorithms')}",
        tr(
            "All of them are in the Processing toolbox under *VBAS*, and headless by their ids (`vbas:anonymize`). "
            "These pages are written by `scripts/reference.py` from the forms, so they say what the forms say."
        ),
    ]
    known = list(algorithms)
    for group in GROUPS.values():
        rows = [f"| {tr('algorithm')} | id | {tr('what it does')} |", "|---|---|---|"]
        for algorithm in sorted((algorithm for algorithm in known if algorithm.group() == group), key=_order_in_group):
            name = algorithm.name()
            rows.append(
                f"| [{_cell(algorithm.displayName())}]({name}.md) | `vbas:{name}` | {_cell(_summary(algorithm))} |"
            )
        lines += [f"## {group}", "\n".join(rows)]
    return "\n\n".join(lines) + "\n"


def page_of(algorithm: QgsProcessingAlgorithm) -> str:
    """What an algorithm does, each of its parameters, and each of its outputs with whether it may be published."""
    parameters = algorithm.parameterDefinitions()
    inputs = [parameter for parameter in parameters if not parameter.isDestination()]
    name = algorithm.name()
    more = guide_page(name, algorithm.groupId())
    parts = [
        f"# {algorithm.displayName()}",
        tr(
            "`{id}`, in the toolbox under *VBAS → {group}*. "
            "This page is written by `scripts/reference.py` from the form.",
            id=algorithm.id() or f"vbas:{name}",
            group=algorithm.group(),
        ),
        *_paragraphs(_help_of(algorithm)),
        tr("The guide has more: {page}.", page=_link_to(more)),
    ]
    for heading, some in (
        (tr("Inputs"), [parameter for parameter in inputs if not parameter.flags() & ADVANCED]),
        (tr("Advanced inputs"), [parameter for parameter in inputs if parameter.flags() & ADVANCED]),
    ):
        if some:
            parts += [f"## {heading}", *(section for parameter in some for section in _input(parameter))]
    written = [parameter for parameter in parameters if parameter.isDestination()]
    if written:
        parts += [f"## {tr('Outputs')}", *(section for parameter in written for section in _output(parameter))]
    names = {parameter.name() for parameter in written}
    numbers = [
        output for output in algorithm.outputDefinitions() if output.name() not in names and ":" not in output.name()
    ]
    if numbers:
        parts += [
            f"## {tr('Given back to models and the command line')}",
            "\n".join(f"* `{number.name()}`: {_text(number.description())}" for number in numbers),
        ]
        if INTERNAL in map(kind_of_output, (parameter.description() for parameter in written)):
            parts.append(tr("These say what the internal outputs say: do not publish them."))
    return "\n\n".join(parts) + "\n"


def _order_in_group(algorithm: QgsProcessingAlgorithm) -> tuple[int, str]:
    """As the toolbox is declared, which is the order of the work; models come last."""
    names = list(TOOLBOX)
    return names.index(algorithm.name()) if algorithm.name() in names else len(names), algorithm.name()


def _summary(algorithm: QgsProcessingAlgorithm) -> str:
    """The sentence of the tooltip; of a model, which has none, the first sentence of its help."""
    return algorithm.shortDescription() or re.split(r"(?<=\.)\s", _paragraphs(_help_of(algorithm))[0])[0]


def _help_of(algorithm: QgsProcessingAlgorithm) -> str:
    if isinstance(algorithm, QgsProcessingModelAlgorithm):
        return algorithm.helpContent()["ALG_DESC"]
    return algorithm.HELP


def _link_to(page: str) -> str:
    """To a page of the guide, in the language where there is one."""
    if language() == "fr" and page in IN_FRENCH:
        return f"[{_title(f'fr/{IN_FRENCH[page]}')}](../{IN_FRENCH[page]}.md)"
    return f"[{_title(page)}]({UP[language()]}{page}.md)"


def _title(page: str) -> str:
    """The heading of a page of the guide."""
    return (DOCS / f"{page}.md").read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")


def _input(parameter: QgsProcessingParameterDefinition) -> list[str]:
    """Heading, kind, bounds and default, help, and the choices one by one."""
    kind = _kind(parameter)
    default = _default(parameter)
    said = [kind, tr("may be left empty") if parameter.flags() & OPTIONAL else "", default]
    facts = ", ".join(fact for fact in said if fact)
    head, choices = _split_choices(parameter)
    sections = [f"### {_text(parameter.description())} ({parameter.name()})", f"*{facts[:1].upper()}{facts[1:]}.*"]
    if head:
        sections.append(_text(head))
    if choices:
        sections.append("\n".join(choices))
    return sections


def _kind(parameter: QgsProcessingParameterDefinition) -> str:
    several = getattr(parameter, "allowMultiple", lambda: False)()
    kind = parameter.type()
    if kind == "field":
        layer = parameter.parentLayerParameterName()
        return tr("fields of {layer}", layer=layer) if several else tr("a field of {layer}", layer=layer)
    if kind == "number":
        named = [tr("a whole number") if parameter.dataType() == INTEGER else tr("a number")]
        if parameter.minimum() > -UNBOUNDED:
            named.append(tr("at least {number}", number=_number(parameter.minimum())))
        if parameter.maximum() < UNBOUNDED:
            named.append(tr("at most {number}", number=_number(parameter.maximum())))
        return ", ".join(named)
    return {
        "source": tr("a layer or table"),
        "vector": tr("a layer or table"),
        "multilayer": tr("several layers or tables"),
        "enum": tr("one or several of the choices") if several else tr("one of the choices"),
        "boolean": tr("yes or no"),
        "string": tr("text"),
        "matrix": tr("a table, on the command line cell by cell"),
        "file": tr("a file"),
    }.get(kind, kind)


def _default(parameter: QgsProcessingParameterDefinition) -> str:
    default = parameter.defaultValue()
    if default is None or default == "" or default == []:
        return ""
    if parameter.type() == "enum":
        words = parameter.options()
        chosen = default if isinstance(default, list) else [default]
        default = ", ".join(f"`{words[choice] if isinstance(choice, int) else choice}`" for choice in chosen)
    elif parameter.type() == "boolean":
        default = tr("yes") if default else tr("no")
    elif parameter.type() == "number":
        default = _number(default)
    return tr("by default {value}", value=default)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _split_choices(parameter: QgsProcessingParameterDefinition) -> tuple[str, list[str]]:
    """The help before it comes to the choices, and a line for each choice, with what the help says of it."""
    text = parameter.help()
    if parameter.type() != "enum":
        return text, []
    words = parameter.options()
    any_of_them = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    head, *rest = re.split(rf"[“«]\s*({any_of_them})\s*[”»]\s*: ", text)  # in the quotes of either language
    said = dict(zip(rest[::2], rest[1::2]))
    return head.strip(), [
        "* "
        + (tr("{choice}: {what}", choice=f"`{word}`", what=_text(said[word].strip())) if word in said else f"`{word}`")
        for word in words
    ]


def _output(parameter: QgsProcessingParameterDefinition) -> list[str]:
    """Heading, what it is, whether it may be published, help."""
    kind = kind_of_output(parameter.description())
    publish = {
        FOR_RELEASE: tr("may be published under your rules"),
        INTERNAL: f"**{tr('not to be published')}**",
        ESTIMATE: tr("an estimate, no count"),
    }
    kinds = {"fileDestination": tr("a page (HTML)"), "folderDestination": tr("a folder")}
    what = kinds.get(parameter.type(), tr("a layer or table"))
    if parameter.name() == "JOB_FILE":
        what = tr("a file (TOML)")
    if parameter.name() == "RELEASED_TABLES":
        what = tr("a file (GeoPackage)")
    facts = [
        what,
        "" if parameter.createByDefault() else tr("only where a place is given"),
        publish.get(kind or "", ""),
    ]
    said = ", ".join(fact for fact in facts if fact)
    return [
        f"### {_text(parameter.description())} ({parameter.name()})",
        f"{said[:1].upper()}{said[1:]}.",
        *_described(parameter),
    ]


def _described(parameter: QgsProcessingParameterDefinition) -> list[str]:
    """What an output holds: its help, and of a table a row for each field."""
    text = parameter.help()
    table = table_of(parameter.name(), text)
    if table is None:
        return [_text(text)]
    rows = [f"| {tr('field')} | {tr('what it is')} | {tr('holds')} | {tr('more')} |", "|---|---|---|---|"]
    for field in table.fields:
        rows.append(f"| `{field.name}` | {_cell(field.alias)} | {HOLDS[field.kind]} | {_cell(field.more)} |")
    return [_text(text.replace(table.explained, table.help)), "\n".join(rows)]


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text, which is HTML, in Markdown."""
    paragraphs = []
    for part in re.split(r"</?(?:p|h3|html|body)>", text):
        plain = _text(re.sub(r"<br\s*/?>", " ", re.sub(r"</?b>", "\0", part)))
        if plain.strip():
            paragraphs.append(plain.strip().replace("\0", "**"))
    return paragraphs


def _text(text: str) -> str:
    """The text in Markdown: what would mean something there is escaped."""
    return re.sub(r"([*<|\\`])", r"\\\1", unescape(text)).replace("\\<", "&lt;")


def _cell(text: str) -> str:
    return _text(text).replace("\n", " ")


def main(tongue: str, folder: Path) -> None:
    """Write the pages, and take away those of algorithms that are no more."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import settings_table
    from make_model import start_qgis

    kept = start_qgis()
    folder.mkdir(parents=True, exist_ok=True)
    pages = reference(kept[1])
    for old in folder.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    if folder == FOLDER:  # the settings of the library are the parameters of the form
        settings_table.main()
    print(f"{len(pages)} pages in {folder}, language {tongue}")
    sys.stdout.flush()
    os._exit(0)  # QGIS's own shutdown may crash once Python is being torn down


if __name__ == "__main__":
    main(language(), Path(sys.argv[2]) if sys.argv[2:] else FOLDER)
