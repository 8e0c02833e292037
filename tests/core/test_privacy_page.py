"""docs/privacy.md: the tests it names are there, and the methods it warns of are those that say so of themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vbas.core import aggregation, baselines, site_location, site_number
from vbas.core.approach import Approach, depending_on_attribute_counts

from .test_methods_table import missing_tests

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
ROOMS: dict[str, Mapping[str, Approach[Any]]] = {
    "number of regions": site_number.APPROACHES,
    "sites": site_location.APPROACHES,
    "aggregation": aggregation.APPROACHES,
    "baselines": baselines.BASELINES,
}


def test_every_test_named_is_there():
    named = sorted(set(re.findall(r"`(tests/[\w/]+\.py::\w+)`", TEXT)))
    assert len(named) > 10
    assert missing_tests(named) == []


def test_every_attacker_has_what_holds_and_what_does_not():
    table = TEXT.split("## Who attacks")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| **")]
    assert len(rows) >= 10 and all(len(row) == 3 and all(cell.strip() for cell in row) for row in rows)


def test_the_methods_that_depend_on_suppressed_classes_are_listed():
    part = TEXT.split("**Methods that depend on the classes of suppressed records**")[1].split("None of them")[0]
    listed = {line[2:].split(":")[0]: re.findall("“([^”]+)”", line) for line in part.splitlines() if line[:2] == "* "}
    assert listed == {room: list(depending_on_attribute_counts(approaches)) for room, approaches in ROOMS.items()}


def test_the_script_of_the_figures_is_there():
    for file in set(re.findall(r"`((?:benchmarks|core)/[\w/.]+)`", TEXT)):
        assert (ROOT / file).is_file()
    assert "@" not in TEXT
