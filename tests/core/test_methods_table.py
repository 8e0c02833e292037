"""docs/methods.md names a place and a test for every equation: each of them is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

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


def names_in(file):
    """The functions and classes a file defines at its top."""
    return {
        node.name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }


@pytest.mark.parametrize("test", TESTS)
def test_every_test_named_is_there(test):
    path, name = test.split("::")
    assert (ROOT / path).is_file()
    assert name in names_in(ROOT / path)


@pytest.mark.parametrize("place", PLACES)
def test_every_place_named_is_there(place):
    parts = place.split(".")
    if ROOT.joinpath(*parts).with_suffix(".py").is_file():
        return
    file = ROOT.joinpath(*parts[:-1]).with_suffix(".py")
    assert file.is_file()
    assert parts[-1] in names_in(file)


@pytest.mark.parametrize("file", FILES)
def test_every_file_named_is_there(file):
    assert (ROOT / file).is_file()


def test_every_equation_has_a_place_and_a_test():
    assert len(ROWS) >= 37
    for equation, where, _, test in ROWS:
        assert re.search(r"`core\.[\w.]+`", where), equation
        assert "`tests/" in test, equation
    # No name of a test is written in a way that is not looked up above.
    assert TEXT.count("tests/") == len(re.findall(r"`tests/[\w/]+\.py::\w+`", TEXT))
