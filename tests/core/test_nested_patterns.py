"""Patterns of cells: what they can do together, held against trying every way."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.nesting import patterns
from vbas.core.nesting.planning import nest

from .nested_cases import nested_cases


def state_of(digits, here, k: int) -> int:
    """The state if some cells are released and the others passed to the parent."""
    released = sum(digit for digit, one in zip(digits, here) if one)
    handed = sum(digits) - released
    return min(released, k) * (k + 1) + min(handed, k)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_pattern_knows_every_state_and_a_way_to_each(data):
    k = data.draw(st.integers(2, 6))
    whole = data.draw(st.booleans())
    rows = data.draw(st.lists(st.lists(st.integers(0, k), max_size=6), min_size=1, max_size=4))
    known = patterns.Patterns(k, 0 if whole else k)
    length = np.array([len(row) for row in rows])
    first = np.cumsum(length) - length
    digits = np.array([digit for row in rows for digit in row], np.int64)
    number = known.numbers(digits, first, length)
    assert (number == known.numbers(digits, first, length)).all()
    for row, one, start in zip(rows, number.tolist(), first.tolist()):
        choices = [(False,) * len(row)] if whole else list(product([False, True], repeat=len(row)))
        states = {state_of(row, here, k) for here in choices}
        assert set(np.flatnonzero(known.reach[one].ravel()).tolist()) == states
        for state in states:
            here = known.released(np.array([one]), np.array([state]), np.array([start]), len(digits))
            assert state_of(row, here[start : start + len(row)], k) == state
            assert not np.delete(here, np.arange(start, start + len(row))).any()
        for handed in range(k + 1):
            released = 0 if whole else k * (k + 1)
            ways = [handed, released + handed] if not whole else [handed, *([k] if handed == 0 else [])]
            there = [way for way in ways if way in states]
            assert known.ends[one, handed] == bool(there)
            if there:
                assert known.origin[one, handed] == there[0]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(nested_cases(), st.integers(2, 9))
def test_patterns_that_are_forgotten_are_found_again(case, k):
    areas, profile, levels = case
    plan = nest(areas, profile, levels, k, at_once=3)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(patterns, "MOST_STATES", 0)
        again = nest(areas, profile, levels, k, at_once=3)
    assert plan.level_of is not None and again.level_of is not None
    assert np.array_equal(plan.level_of, again.level_of)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_long_rows_that_are_taken_at_once_know_what_those_do_that_are_taken_one_by_one(data):
    k, whole = data.draw(st.integers(2, 6)), data.draw(st.booleans())
    rng = np.random.default_rng(data.draw(st.integers(0, 1_000)))
    length = rng.integers(0, 40, data.draw(st.integers(1, 5)))
    first = np.cumsum(length) - length
    digits = rng.integers(0, data.draw(st.integers(2, k + 1)), max(int(length.sum()), 1))
    both = []
    for at_a_time in (data.draw(st.integers(1, 8)), 1_000):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(patterns, "AT_A_TIME", at_a_time)
            known = patterns.Patterns(k, 0 if whole else k)
            number = known.numbers(digits, first, length)
            assert (number == known.numbers(digits, first, length)).all()
        both.append((known, number))
    (fast, ours), (slow, theirs) = both
    for name in ("reach", "ends", "origin", "before", "here", "length"):
        assert np.array_equal(getattr(fast, name)[ours], getattr(slow, name)[theirs])
    for state in np.flatnonzero(slow.reach[theirs].any(axis=0).ravel()).tolist():
        there = np.flatnonzero(slow.reach[theirs].reshape(len(length), -1)[:, state])
        of_these, states = first[there], np.full(len(there), state)
        released = fast.released(ours[there], states, of_these, len(digits))
        assert np.array_equal(released, slow.released(theirs[there], states, of_these, len(digits)))
