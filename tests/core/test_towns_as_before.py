"""What is asked of drawn towns comes to what it came to before, to the last count and word: `as_before` says why."""

from __future__ import annotations

import pytest

from ..exploring import tried
from . import asked_towns
from .as_before import come_to_the_same, drawn, in_parts, outcome, text_of

pytestmark = pytest.mark.slow  # many cases, each quick

CASES = {
    "of_one_level": (24, 8),
    "of_several_levels": (24, 6),
    "without_small_counts": (30, 10),
    "of_coarser_values": (20, 5),
    "beside_earlier": (8, 1),
    "updates": (14, 7),
    "several_releases": (14, 2),
    "repaired_releases": (10, 2),
    "renamed_releases": (50, 10),
    "attackers": (50, 10),
}
# How much is held in memory at a time.
PIECES = {
    "disclosure.asked.AT_ONCE": 1,
    "disclosure.asked.CELLS_AT_ONCE": 3,
    "disclosure.disclosed.MEMBERS_AT_ONCE": 1,
    "disclosure.exchanges.AT_ONCE": 1,
    "disclosure.sensitive.UNKNOWNS_AT_ONCE": 1,
    "disclosure.zone_tables.CLASSES_AT_ONCE": 1,
    "nesting.series_helped.PAIRS_AT_ONCE": 1,
    "nesting.series_optimum.PAIRS_AT_ONCE": 1,
    "plan.CELLS_AT_ONCE": 2,
}


@pytest.mark.parametrize(("name", "n", "some"), in_parts(CASES))
def test_what_is_asked_comes_to_the_same(name, n, some):
    come_to_the_same(name, drawn(getattr(asked_towns, name), n), some)


@pytest.mark.parametrize(
    ("name", "first", "n"),
    [
        *(("of_several_levels", first, 2) for first in range(1_000, tried(1_004, 1_008), 2)),
        *(("without_small_counts", first, 4) for first in range(1_000, tried(1_004, 1_008), 4)),
        *(("several_releases", first, 1) for first in range(1_000, tried(1_002, 1_003))),
        ("attackers", 1_000, 8),
    ],
)
def test_however_much_is_held_in_memory_it_comes_to_the_same(name, first, n, monkeypatch):
    cases = drawn(getattr(asked_towns, name), n, first)
    whole = [text_of(outcome(case)) for case in cases.values()]
    for constant, value in PIECES.items():
        monkeypatch.setattr(f"vbas.core.{constant}", value)
    in_pieces = [text_of(outcome(case)) for case in cases.values()]
    assert [number for number, (one, other) in enumerate(zip(whole, in_pieces)) if one != other] == []
