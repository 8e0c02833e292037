"""What is asked of drawn towns comes to what it came to before, to the last count and word: `as_before` says why."""

from __future__ import annotations

import pytest

from . import asked_methods, asked_registers, asked_tables, asked_towns
from .as_before import come_to_the_same, drawn, outcome, text_of

OF_TOWNS = {
    "of_one_level": 40,
    "of_several_levels": 40,
    "without_small_counts": 40,
    "of_coarser_values": 30,
    "beside_earlier": 12,
    "updates": 20,
    "several_releases": 24,
    "repaired_releases": 12,
    "renamed_releases": 60,
    "attackers": 60,
}
OF_TABLES = {
    "kept_fields": 60,
    "checked_tables": 60,
    "published_counts": 90,
    "rules": 60,
    "made_levels": 60,
    "weights": 60,
    "edges": 1,
}
OF_REGISTERS = {"registers": 40, "damaged_registers": 60}
CASES = {name: (asked_towns, n) for name, n in OF_TOWNS.items()}
CASES |= {name: (asked_tables, n) for name, n in OF_TABLES.items()}
OF_METHODS = {"optimum": 90, "series": 60, "totals": 60, "counts_held": 40, "blocks": 40, "programs": 40}
OF_METHODS |= {"small_limits": 120}
CASES |= {name: (asked_methods, n) for name, n in OF_METHODS.items()}
CASES |= {name: (asked_registers, n) for name, n in OF_REGISTERS.items()}
# How much is held in memory at a time.
PIECES = {
    "disclosure.asked.AT_ONCE": 1,
    "disclosure.disclosed.MEMBERS_AT_ONCE": 1,
    "disclosure.exchanges.AT_ONCE": 1,
    "disclosure.sensitive.UNKNOWNS_AT_ONCE": 1,
    "disclosure.zone_tables.CLASSES_AT_ONCE": 1,
    "nesting.series_helped.PAIRS_AT_ONCE": 1,
    "nesting.series_optimum.PAIRS_AT_ONCE": 1,
    "plan.CELLS_AT_ONCE": 2,
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_asked_comes_to_the_same(name):
    module, n = CASES[name]
    come_to_the_same(name, drawn(getattr(module, name), n))


@pytest.mark.parametrize("name", ["of_several_levels", "without_small_counts", "several_releases", "attackers"])
def test_however_much_is_held_in_memory_it_comes_to_the_same(name, monkeypatch):
    cases = drawn(getattr(asked_towns, name), 8, first=1_000)
    whole = [text_of(outcome(case)) for case in cases.values()]
    for constant, value in PIECES.items():
        monkeypatch.setattr(f"vbas.core.{constant}", value)
    in_pieces = [text_of(outcome(case)) for case in cases.values()]
    assert [number for number, (one, other) in enumerate(zip(whole, in_pieces)) if one != other] == []
