"""docs/methods.md names a place and a test for every equation: each of them is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py::\w+)`", TEXT)))
PLACES = sorted(set(re.findall(r"`((?:core|algorithms)\.[\w.]+)`", TEXT)))
FILES = sorted(set(re.findall(r"`((?:benchmarks|scripts|docs)/[\w/.]+)`", TEXT)))
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in TEXT.splitlines()
    if line.startswith(("| [", "| departs"))
]


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
    """Whether a module, or what it defines, is there under its dotted name."""
    parts = place.split(".")
    if ROOT.joinpath(*parts).with_suffix(".py").is_file():
        return True
    return parts[-1] in names_in(ROOT.joinpath(*parts[:-1]).with_suffix(".py"))


def test_every_test_named_is_there():
    assert len(TESTS) > 60
    assert missing_tests(TESTS) == []


def test_every_place_named_is_there():
    assert len(PLACES) > 50
    assert [place for place in PLACES if not is_place(place)] == []


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


def test_every_equation_has_a_place_and_a_test():
    assert len(ROWS) >= 37
    for equation, where, _, test in ROWS:
        assert re.search(r"`core\.[\w.]+`", where), equation
        assert "`tests/" in test, equation
    # No name of a test is written in a way that is not looked up above.
    assert TEXT.count("tests/") == len(re.findall(r"`tests/[\w/]+\.py::\w+`", TEXT))
