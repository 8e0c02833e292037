"""What is asked of drawn towns comes to what it came to before, to the last count and word: `as_before` says why."""

from __future__ import annotations

import pytest

from . import asked_towns
from .as_before import come_to_the_same, drawn, outcome, text_of

pytestmark = pytest.mark.slow  # many cases, each quick

CASES = {
    "of_one_level": 24,
    "of_several_levels": 24,
    "without_small_counts": 30,
    "of_coarser_values": 20,
    "beside_earlier": 8,
    "updates": 14,
    "several_releases": 14,
    "repaired_releases": 10,
    "renamed_releases": 50,
    "attackers": 50,
}
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
    come_to_the_same(name, drawn(getattr(asked_towns, name), CASES[name]))


@pytest.mark.parametrize(
    ("name", "n"), [("of_several_levels", 8), ("without_small_counts", 8), ("several_releases", 3), ("attackers", 8)]
)
def test_however_much_is_held_in_memory_it_comes_to_the_same(name, n, monkeypatch):
    cases = drawn(getattr(asked_towns, name), n, first=1_000)
    whole = [text_of(outcome(case)) for case in cases.values()]
    for constant, value in PIECES.items():
        monkeypatch.setattr(f"vbas.core.{constant}", value)
    in_pieces = [text_of(outcome(case)) for case in cases.values()]
    assert [number for number, (one, other) in enumerate(zip(whole, in_pieces)) if one != other] == []
