"""docs/methods.md names a place and a test for every equation and sentence of the papers: each of them is there.

What a form declares is read from its page in docs/reference, which another test holds against the form.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py::\w+)`", TEXT)))
PLACES = sorted(set(re.findall(r"`((?:core|algorithms)\.[\w.]+)`", TEXT)))
FILES = sorted(set(re.findall(r"`((?:benchmarks|scripts|docs)/[\w/.]+)`", TEXT)))
FORMS = re.findall(r"`vbas:(\w+)`(?: \(([^()]*(?:\([^()]*\)[^()]*)*)\))?", TEXT)
PAPERS = {"[C15]", "[C18]", "[BG18]", "[A10]"}
NOTHING = "nothing yet"
#: The sentences that nothing answers yet: paper, section.
OPEN = {("[C18]", "5")}


def rows_of(title):
    """The rows of the table below a heading, cell by cell."""
    below = TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in below.splitlines()
        if line.startswith(("| [", "| departs"))
    ]


EQUATIONS = rows_of("Equation by equation")
SENTENCES = rows_of("Sentence by sentence")


@cache
def names_in(file):
    """The functions and classes a file defines at its top; none where there is no such file."""
    if not file.is_file():
        return set()
    return {
        node.name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }


def missing_tests(tests):
    """Those of the tests, as “file::name”, that are not there."""
    return [test for test in tests for path, name in [test.split("::")] if name not in names_in(ROOT / path)]


def is_place(place):
    """Whether a package, a module, or what one defines, is there under its dotted name."""
    parts = place.split(".")
    if ROOT.joinpath(*parts).with_suffix(".py").is_file() or ROOT.joinpath(*parts, "__init__.py").is_file():
        return True
    return parts[-1] in names_in(ROOT.joinpath(*parts[:-1]).with_suffix(".py"))


@cache
def page_of(form):
    """The page of the reference on a form; empty where there is none."""
    page = ROOT / "docs" / "reference" / f"{form}.md"
    return page.read_text(encoding="utf-8") if page.is_file() else ""


def undeclared(form, told):
    """What a row tells of a form that its page does not: parameters and outputs in capitals, fields, choices and
    numbers in backticks; the form itself where it has no page."""
    page = page_of(form)
    declared = set(re.findall(r"^###+ .*\((\w+)\)$", page, re.MULTILINE))
    declared |= {f"`{word}`" for word in re.findall(r"`([^`\n]+)`", page)}
    return [word for word in ([form] if not page else told.split(", ") if told else []) if word not in declared]


@pytest.mark.slow
def test_every_test_named_is_there():
    assert len(TESTS) > 60
    assert missing_tests(TESTS) == []


def test_every_place_named_is_there():
    assert len(PLACES) > 50
    assert [place for place in PLACES if not is_place(place)] == []


def test_every_form_named_is_there_and_declares_what_is_named_with_it():
    assert len(FORMS) > 50
    missing = {form: undeclared(form, told) for form, told in FORMS if undeclared(form, told)}
    assert missing == {}


def test_every_file_named_is_there():
    assert FILES
    assert [file for file in FILES if not (ROOT / file).is_file()] == []


def test_what_is_not_there_is_found():
    here = "tests/core/test_methods_table.py"
    assert missing_tests([f"{here}::test_what_is_not_there_is_found"]) == []
    assert missing_tests([f"{here}::test_of_nothing"]) == [f"{here}::test_of_nothing"]
    assert missing_tests(["tests/core/test_nothing.py::test_a"]) == ["tests/core/test_nothing.py::test_a"]
    assert is_place("core.language") and is_place("core.language.tr")
    assert not is_place("core.language.nothing") and not is_place("core.nothing.at_all")
    assert is_place("core.baselines") and not is_place("core.nothing")
    assert undeclared("donutmask", "K_INNER, MASKED, `candidates`, `N_POINTS`") == []
    assert undeclared("donutmask", "K_MIDDLE, `neighbours`") == ["K_MIDDLE", "`neighbours`"]
    assert undeclared("nothing", "K") == ["nothing"] == undeclared("nothing", "")


def test_every_equation_has_a_place_and_a_test():
    assert len(EQUATIONS) >= 37
    for equation, where, _, test in EQUATIONS:
        assert re.search(r"`core\.[\w.]+`", where), equation
        assert "`tests/" in test, equation
    # No name of a test is written in a way that is not looked up above.
    assert TEXT.count("tests/") == len(re.findall(r"`tests/[\w/]+\.py::\w+`", TEXT))


def test_every_sentence_has_a_place_and_a_test_or_says_that_nothing_answers_it():
    assert 60 < len(SENTENCES) <= 72
    assert len({sentence for _, _, sentence, _, _ in SENTENCES}) == len(SENTENCES)
    for papers, section, sentence, where, test in SENTENCES:
        assert set(papers.split(", ")) <= PAPERS and section, sentence
        assert len(sentence) < 150, sentence
        if (where, test) != (NOTHING, NOTHING):
            assert re.search(r"`(?:(?:core|algorithms)\.|vbas:|benchmarks/)|\]\(\w+\.md", where), sentence
            assert "`tests/" in test, sentence
    assert {(papers, section) for papers, section, _, where, _ in SENTENCES if where == NOTHING} == OPEN
