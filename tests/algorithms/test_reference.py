"""The reference in docs/reference says what the forms say, and the guide names what the forms have."""

from __future__ import annotations

import re
import runpy
import shlex

import pytest
from qgis.core import QgsApplication

from vbas.algorithms.named import DOCS, TOOLBOX
from vbas.core.language import ENGLISH, language
from vbas.core.tables.schema import FOR_RELEASE, INTERNAL, kind_of_output

ROOT = DOCS.parent
FOLDER = DOCS / "reference"
PAGES = [ROOT / "README.md", *(path for path in DOCS.rglob("*.md") if path.parent != FOLDER)]
in_english = pytest.mark.skipif(language() != ENGLISH, reason="docs/reference is in English")


@pytest.fixture(scope="module")
def written(provider):
    return runpy.run_path(str(ROOT / "scripts" / "reference.py"))["reference"](provider)


@in_english
def test_the_pages_are_those_that_the_script_writes(written):
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert there.keys() == written.keys(), "run scripts/reference.py"
    for name, text in written.items():
        assert there[name] == text, f"{name}: run scripts/reference.py"


def test_every_parameter_choice_and_output_is_on_the_page(provider, written):
    assert {f"{name}.md" for name in TOOLBOX} < written.keys()
    for algorithm in provider.algorithms():
        page = written[f"{algorithm.name()}.md"]
        assert page.startswith(f"# {algorithm.displayName()}\n")
        for parameter in algorithm.parameterDefinitions():
            _, _, section = page.partition(f" ({parameter.name()})\n")
            section = section.partition("\n#")[0]
            assert len(section) > 40, (algorithm.name(), parameter.name())
            if parameter.type() == "enum":
                for choice in parameter.options():
                    assert f"\n* `{choice}`" in section, (algorithm.name(), parameter.name(), choice)
        for output in algorithm.outputDefinitions():
            assert output.name() in page, (algorithm.name(), output.name())


@in_english
def test_an_output_says_whether_it_may_be_published(provider, written):
    n_internal = 0
    for algorithm in provider.algorithms():
        page = written[f"{algorithm.name()}.md"]
        for parameter in algorithm.parameterDefinitions():
            if not parameter.isDestination():
                continue
            section = page.partition(f" ({parameter.name()})\n")[2].partition("\n#")[0]
            kind = kind_of_output(parameter.description())
            assert ("not to be published" in section) == (kind == INTERNAL)
            assert ("may be published under your rules" in section) == (kind == FOR_RELEASE)
            n_internal += kind == INTERNAL
    assert n_internal > 20


def commands(page):
    """The commands of a page that run an algorithm: the algorithm, and the words after it."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^\s*(?:scripts/)?qgis_process run .*$", text, re.MULTILINE):
        words = shlex.split(line.replace("…", ""))
        yield words[2], words[words.index("--") + 1 :] if "--" in words else []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_name_what_there_is(provider, page):
    for name, words in commands(page):
        algorithm = QgsApplication.processingRegistry().algorithmById(name)
        assert algorithm is not None, name
        known = {one.name() for one in algorithm.parameterDefinitions()}
        given = {word.partition("=")[0] for word in words}
        assert given <= known, (name, given - known)
        for word in words:
            parameter, _, value = word.partition("=")
            definition = algorithm.parameterDefinition(parameter)
            if definition.type() == "enum":
                assert set(value.split(";")) <= set(definition.options()), word
    for name in re.findall(r"\bvbas:(\w+)", page.read_text(encoding="utf-8")):
        assert QgsApplication.processingRegistry().algorithmById(f"vbas:{name}") is not None, name


def test_commands_are_found():
    assert sum(len(list(commands(page))) for page in PAGES) > 8
