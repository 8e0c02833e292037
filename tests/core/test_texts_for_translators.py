"""What a translator meets: places with names that say what stands there, and numbers whose noun follows them."""

from __future__ import annotations

import ast
import builtins
import re
import string
from datetime import datetime
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from babel.messages.pofile import read_po

import vbas

ROOT = Path(vbas.__file__).resolve().parent
FOLDERS = ("core", "algorithms", "vbas_plugin", "scripts")
OF_SEVERAL = ("plural", "counting")
MARKS = ("tr", "saying", *OF_SEVERAL, "as_data")
# Names of Python that are words of people too.
WORDS = {
    *(
        "all",
        "base",
        "count",
        "date",
        "filter",
        "format",
        "help",
        "id",
        "index",
        "max",
        "mean",
        "min",
        "range",
        "round",
    ),
    *("second", "size", "time", "title", "type", "year"),
}
PYTHON = {name for one in (builtins, str, datetime, np.ndarray) for name in dir(one)} - WORDS
# A number, and within three words a noun of several.
COUNTED = re.compile(r"\{(\w+)(?::[^}]*)?\} ((?:[a-z-]+ ){0,2})(\w+s|people)\b")
NOUNS = {
    *("addresses", "areas", "attributes", "borders", "bits", "characters", "categories", "cells", "classes", "columns"),
    *("combinations", "configurations", "counts", "destinations", "facilities", "features", "fields", "groups"),
    *("homes", "households", "identifiers", "levels", "lines", "moves", "others", "people", "persons", "points"),
    *("provinces", "quasi-identifiers", "records", "regions", "releases", "rounds", "rows", "shapes", "sites"),
    *("sub-areas", "times", "units", "values", "years"),
}
# Numbers that are never one: what k is, limits of ours, and what is refused where it is one.
NEVER_ONE = {
    *("after", "asked", "characters", "cutoff", "fair_factor", "floor", "found", "k", "k_inner", "k_min"),
    *(
        "largest",
        "least",
        "least_population",
        "limit",
        "most",
        "most_bars",
        "most_drawn",
        "most_joint_classes",
        "most_nodes",
    ),
    *("most_values", "n_areas", "n_records", "n_rows", "n_sites", "n_values", "people", "prefix", "round_limit"),
    *("smallest", "smallest_k", "times", "total"),
}


@cache
def _texts() -> list[tuple[str, str, str]]:
    """Place and text of every marked text, and what marks it."""
    found = []
    for path in sorted(one for folder in FOLDERS for one in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and called in MARKS:
                for one in node.args[: 2 if called in OF_SEVERAL else 1]:
                    if isinstance(one, ast.Constant) and isinstance(one.value, str):
                        found.append((f"{path.relative_to(ROOT)}:{node.lineno}", one.value, called))
    return found


def _places(text: str) -> list[tuple[str, str]]:
    try:
        return [(name, spec or "") for _, name, spec, _ in string.Formatter().parse(text) if name is not None]
    except ValueError:  # a text that is not filled may hold braces
        return []


def _wrong_place(text: str) -> list[str]:
    """The places of a text that nobody understands who does not read Python."""
    return [f"{{{name}:{spec}}}" for name, spec in _places(text) if name and not _speaks(name)] + [
        spec for _, spec in _places(text) if "%" in spec
    ]


def _speaks(name: str) -> bool:
    """Whether a name says what stands in its place: a letter of mathematics, or words."""
    words = name.split("_")
    return (
        (len(name) == 1 or all(word == "crs" or re.search("[aeiouy]", word) for word in words if len(word) > 1))
        and bool(re.fullmatch("[a-z]+(_[a-z]+)*", name))
        and name not in PYTHON
        and not (words[0] == "n" and words[-1] in ("value", "self"))
    )


def _uncounted(text: str, function: str) -> list[str]:
    """The numbers of a text that would stand before several where there is one."""
    of_plural = {"n", "count"} if function in OF_SEVERAL else set()  # “count” is n as readers like it
    return [
        match[0]
        for match in COUNTED.finditer(text)
        if match[3] in NOUNS
        and match[1] not in NEVER_ONE | of_plural
        and not re.search(r"\b(of|of the|sur|at most|least|largest|from) \Z", text[: match.start()], re.IGNORECASE)
        and not re.search(r"s\b|\b(is|has|of|in|and|or|that|which|with|was|to|for|the)\b", match[2])
    ]


@pytest.mark.slow
def test_places_have_names_that_a_translator_understands():
    wrong = [(place, one) for place, text, _ in _texts() for one in _wrong_place(text)]
    assert not wrong, "give them a word for what stands there"


@pytest.mark.slow
def test_a_number_and_its_noun_go_through_plural():
    wrong = [(place, one) for place, text, mark in _texts() for one in _uncounted(text, mark)]
    assert not wrong, "use plural of core.language, or core.counted in a sentence that counts several things"


@pytest.mark.slow
def test_every_text_is_in_the_catalogues():
    """Those, too, that stand in the place of another text, which the extractor leaves out now and then."""
    with (ROOT / "core" / "languages" / "fr.po").open(encoding="utf-8") as stream:
        catalogue = {text for message in read_po(stream) for text in np.atleast_1d(message.id)}
    lost = [(place, text) for place, text, _ in _texts() if not place.startswith("scripts") and text not in catalogue]
    assert not lost, "bash scripts/translate"


@pytest.mark.slow
def test_no_text_is_a_piece_that_is_put_to_another():
    """A blank or a comma at its beginning shows that a text is a part of a sentence."""
    texts = {text for _, text, _ in _texts()} - {"; "}
    assert not [text for text in texts if text[:1] in " ,;:" and text]


@pytest.mark.parametrize("text", ["{getattr} went", "{astimezone:%Y}", "{n_value} areas", "{shown_values_2}", "{np:g}"])
def test_a_name_of_python_is_found(text):
    assert _wrong_place(text)


@pytest.mark.parametrize(
    ("text", "function", "found"),
    [
        ("{n_regions} regions", "tr", True),
        ("{n:,} further records are suppressed", "tr", True),
        ("{n} regions", "plural", False),
        ("{n} regions of {asked:,} classes", "plural", False),
        ("{n} regions in {m} classes", "plural", True),
        ("{regions} in {classes}", "tr", False),
        ("{name} has values", "tr", False),
    ],
)
def test_a_noun_that_does_not_fit_its_number_is_found(text, function, found):
    assert bool(_uncounted(text, function)) == found
