"""Whatever a person reads stands in `tr` or `plural`, so that it can be translated, and is a text with named places."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import vbas

ROOT = Path(vbas.__file__).resolve().parent
FILES = sorted(path for folder in ("core", "algorithms", "vbas_plugin") for path in (ROOT / folder).rglob("*.py"))
# Words that are followed by another word, as in a sentence or a label.
PROSE = re.compile(r"[A-Za-zé]{2,},? [a-z]{2,}")
# SQL, and markup without words.
CODE = re.compile(
    r"\s*(SELECT|SHOW|INSERT|UPDATE|DELETE|PRAGMA|CREATE|DROP|ATTACH|SET|CASE|BEGIN|typeof|CAST|<svg|<div|<tr|<ul)\b"
)
OF_SEVERAL = ("plural", "counting")
HANDED_ON = "plural(singular, many, n, **values)"  # by an error, whose own text is looked at where it is raised
# What marks a text: `as_data` is English in data, and shown through `tr`; errors say their text themselves.
MARKS = ("tr", "saying", *OF_SEVERAL, "as_data")
# Calls whose texts nobody reads: searched for in what others say, or data.
UNREAD = re.compile(
    r"(execute|executemany|compile|startswith|toString|ContextVar|where|stream|statement|partition|FileExistsError|LookupError)$"
)
# Made-up people, names, and values that a release shows: the same in every language.
DATA = {
    "core/synthetic/canada.py",
    "core/synthetic/city.py",
    "core/synthetic/city_people.py",
    "core/generalising/bands.py",
    "core/preparing/person_names.py",
}

# Choices are words of the command line, and values of a table are data: both are the same in every language.
WORDS = {
    *("the population reaches the cut-off", "the records are k-anonymous", "merging until k-anonymous", "own number"),
    *("compact growth", "max combinations", "max combinations (2018)", "from the identifiers", "balanced density"),
    *("given number", "point on surface", "one level", "nested levels", "mean distance", "population floor"),
    *("independent attributes", "whole rows", "longest border", "smallest population", "join the nearest"),
    *("leave alone", "lower left corner", "edge or corner", "anonymity-driven clustering", "site optimisation"),
    *("anonymity-driven clustering (2015)", "non-uniform entropy", "suppression budget", "split and merge"),
    *("rest of {}", "(not shown)", "leading characters", "other below", "is missing", "is not missing"),
    # What others say, and what is never said.
    *("out of memory", "no space left", "no files found", "does not exist", "permission denied", "cannot open"),
    "row-level security",
    *("IO Error", "Out of Memory Error", "Catalog Error", "Conversion Error", "Invalid Input Error"),
    *("server closed the connection", "no connection to the server", "SSL connection has been closed"),
    *("No space left on device", "Undefined geographic SRS"),
    *("connection refused", "failed to connect", "all masters are", "no space left on device", "not authorized"),
    *("mkdirs failed", "java heap space", "getsubject is not supported", "answer from java side is empty"),
    "sparkcontext was shut down",
    "stopped sparkcontext",
    "{}<table cellspacing='0' cellpadding='0'>{}</table>",
    *("not recognized as being in a supported file format", "parsed incompletely"),
    *("invalid value", "invalid content", "out of range", "AS size, COUNT(*) AS n FROM"),
    *("repeatable read", "AS vbas_query"),
    # What somebody copies into a terminal, what pip says, and values of a table.
    *(
        "flatpak run --devel --command=python3 org.qgis.qgis",
        "flatpak install --user org.kde.Sdk",
        "No module named pip",
    ),
    "in part",
    *("combine_codes needs at least one array of codes", "population of the areas", '{}<ul class="legend">{}</ul>'),
}


def _unmarked(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Texts outside of `tr`, by line."""
    for node, unread in _walked(tree, False):
        if unread:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(value.value) if isinstance(value, ast.Constant) else "{}" for value in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if PROSE.search(text) and not CODE.match(text):
            yield node.lineno, text


def _walked(node: ast.AST, unread: bool) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes, and whether a text there is marked or read by nobody."""
    yield node, unread
    if isinstance(node, ast.JoinedStr):
        return
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walked(child, unread or _is_unread(node, name, child))


def _is_unread(node: ast.AST, field: str, child: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(child, ast.Constant)  # a docstring
    if isinstance(node, ast.Call):
        called = _called(node)
        return (called in MARKS and child in node.args) or (field == "args" and bool(UNREAD.search(called)))
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id in ("TAGS", "__all__") for target in node.targets)
    return (
        isinstance(node, ast.Compare)
        or (isinstance(node, ast.Dict) and field == "keys")
        or (isinstance(node, ast.Subscript) and field == "slice")
        or field in ("annotation", "returns", "defaults", "kw_defaults")
        or (isinstance(node, ast.AnnAssign) and isinstance(child, ast.Constant))
    )


@pytest.fixture(scope="module")
def files():
    """The code by the name of its file."""
    assert len(FILES) > 350
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


@pytest.mark.slow
def test_every_text_is_marked(files):
    unmarked = [
        f"{name}:{line}: {text!r}"
        for name, tree in files.items()
        if name not in DATA
        for line, text in _unmarked(tree)
        if text not in WORDS
    ]
    assert not unmarked, "\n".join(["put these into tr(...) of core.language", *unmarked])


@pytest.mark.slow
def test_marked_texts_are_whole(files):
    """An f-string, or a text that is put together, could not be looked up."""
    broken = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in files.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and not _is_whole(_called(node), node.args) and ast.unparse(node) != HANDED_ON
    ]
    assert not broken, "\n".join(["write each as one text", *broken])


def _called(call: ast.Call) -> str:
    """What is called, by its last word: “InputError.saying” marks a text as “tr” does."""
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _is_whole(called: str, given: list[ast.expr]) -> bool:
    if called in OF_SEVERAL:
        return all(isinstance(one, ast.Constant) for one in given[:2])
    return called not in ("tr", "saying", "as_data") or not isinstance(given[0], (ast.JoinedStr, ast.BinOp, ast.IfExp))


@pytest.mark.parametrize(
    ("code", "whole"),
    [
        ('tr("{n} areas")', True),
        ('tr(f"{n} areas")', False),
        ('tr("areas" + name)', False),
        ('InputError.saying("{n} areas", n=n)', True),
        ('InputError.saying(f"{n} areas")', False),
        ('as_data("a" if n else "b")', False),
        ('plural("{n} area", "{n} areas", n)', True),
        ('plural("{n} area", one + "s", n)', False),
        ('InputError.counting("{n} area", one + "s", n)', False),
    ],
)
def test_a_text_that_is_put_together_is_found(code, whole):
    call = ast.parse(code, mode="eval").body
    assert _is_whole(_called(call), call.args) == whole


def test_an_unmarked_text_is_found():
    tree = ast.parse(
        'def f(n):\n    """A docstring of words."""\n    return f"{n} areas have no people", tr("of {n} areas", n=n)'
    )
    assert list(_unmarked(tree)) == [(3, "{} areas have no people")]
