"""Names say what they hold in the words of the field: words that were private to this program do not come back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# By word, what to say in its place. A name is one of these as a whole; “one_level” and “not_found” are fine.
INSTEAD = {
    "alike": "identical, homogeneous or indistinguishable",
    "editions": "public report",
    "explored": "state or data of the explorer",
    "favour": "combination, or what it is one of",
    "found": "what was found",
    "hand_up": "promote, pass to the parent",
    "handed_up": "promoted, passed to the parent",
    "looking_at": "using_setting",
    "looks_at_classes": "uses_attribute_counts",
    "one": "what it is one of",
    "raised_by_rule": "with_rule_minimums",
    "tell": "disclose, or what is said",
    "told": "published, disclosed, or what was said",
    "unbeaten": "Pareto front",
    "weighs_groups": "what it does",
}
CLASSES = {"Counts", "Found", "Given", "Ground", "Look", "Looks", "Running", "Seen", "Told"}


def names_in(code: str) -> Iterator[str]:
    """The names that code gives to anything: variables, arguments, attributes, functions and classes."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name


def private(code: str) -> set[str]:
    """Those of them that are not of the field."""
    names = {name.strip("_") for name in names_in(code)}
    return names & (INSTEAD.keys() | CLASSES)


@pytest.mark.parametrize("room", ["core", "algorithms", "vbas_plugin", "benchmarks", "scripts"])
def test_no_name_is_private_vocabulary(room):
    files = list((ROOT / room).rglob("*.py"))
    assert len(files) > 20
    wrong = {str(file.relative_to(ROOT)): found for file in files if (found := private(file.read_text("utf-8")))}
    words = [f"{file}: {', '.join(sorted(names))}" for file, names in wrong.items()]
    assert not wrong, "\n".join(words)
    assert [str(file) for file in files if file.stem in INSTEAD] == []


@pytest.mark.parametrize(
    "code",
    [
        "one = 1",
        "for found in ():\n    pass",
        "def f(told): ...",
        "class _Told: ...",
        "self._one = 2",
        "[one for one in x]",
    ],
)
def test_it_would_be_noticed(code):
    assert private(code)


@pytest.mark.parametrize("code", ["x.found", "f(one=1)", "one_level = 1", "not_found = 2", "FOUND = 3"])
def test_what_others_name_and_other_words_stay(code):
    assert not private(code)
