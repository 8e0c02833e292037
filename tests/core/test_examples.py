"""What a library user calls says how: each of these doors has an example that runs as it stands."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "library.md"
DOORS = {
    "analysis.fitting": ("fit", "margin_of"),
    "analysis.moran": ("moran",),
    "analysis.outcome": ("outcome_of",),
    "analysis.rates": ("rate_map",),
    "analysis.reader": ("read_release",),
    "analysis.released": ("released_rows",),
    "analysis.scan": ("scan",),
    "analysis.spreading": ("spread",),
    "anonymise": ("Ask", "anonymise", "rate", "Account"),
    "areas": ("make_areas",),
    "configuration": ("Configuration", "aggregate"),
    "evaluation": ("evaluate",),
    "levels": ("Levels", "make_levels", "levels_from_fields", "with_coarser_values", "with_least_population"),
    "library.anonymizing": ("anonymize",),
    "nesting.making": ("build_levels",),
    "nesting.planning": ("nest",),
    "plan": ("suppress",),
    "privacy.margins": ("hold_against_margins",),
    "publish.register.published_releases": ("earlier_releases", "add_release", "read_register"),
    "records.columns": ("column_from_values",),
    "records.matching": ("match_records",),
    "records.table": ("RecordTable",),
    "release": ("apply",),
}
NEEDED = {"read_release": "pandas"}
NAMES = [(f"vbas.core.{module}", name) for module, names in DOORS.items() for name in names]


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[name for _, name in NAMES])
def test_the_example_of_a_door_runs(module, name, tmp_path, monkeypatch):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    monkeypatch.chdir(tmp_path)  # some make files
    door = getattr(import_module(module), name)
    # Nothing of the module is at hand: a reader has what the example imports, and no more.
    found = [one for one in doctest.DocTestFinder().find(door, name, globs={}) if one.name == name and one.examples]
    assert found, f"{name} has no example"
    said: list[str] = []
    done = doctest.DocTestRunner().run(found[0], out=said.append)
    assert done.attempted > 1 and not done.failed, "".join(said)


def test_what_the_page_of_the_library_imports_is_a_door():
    lines = re.findall(r"^from (vbas\.core\.\S+) import (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert lines
    assert {(module, name) for module, names in lines for name in names.split(", ")} <= set(NAMES)
