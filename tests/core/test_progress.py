"""How long work says how far it is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas.core.nesting.making import build_levels
from vbas.core.privacy.beside import tables_beside
from vbas.core.privacy.published_counts import hold_against_counts
from vbas.core.progress import halves, part, rising

from .test_published_counts import plans, town_of

FRACTIONS = st.lists(st.floats(0, 1), max_size=20)


@given(FRACTIONS)
def test_what_rises_never_goes_back_and_is_what_was_reached(fractions):
    reached: list[float] = []
    report = rising(reached.append)
    for fraction in fractions:
        report(fraction)
    assert reached == list(itertools.accumulate(fractions, max))


@given(st.lists(FRACTIONS, min_size=1, max_size=8))
def test_of_any_number_of_turns_each_goes_on_where_the_last_one_was(turns):
    reached: list[float] = []
    for fractions, turn in zip(turns, halves(part(reached.append, 0.2, 0.8))):
        for fraction in [0.0, *sorted(fractions), 1.0]:
            turn(fraction)
    assert reached == sorted(reached)
    assert reached[0] == 0.2 and reached[-1] == pytest.approx(0.8 - 0.6 / 2 ** len(turns))


def test_levels_are_made_one_after_the_other():
    areas, profile = town_of(np.random.default_rng(0), 500, 3)
    reached: list[float] = []
    build_levels(areas, profile, progress=reached.append)
    assert reached == sorted(reached) and len(set(reached)) >= 5


@pytest.mark.parametrize("which", [0, 1, 3])
def test_what_is_held_against_counts_goes_on_within_a_table(which):
    """The plans are nested ones, the last one in zones."""
    areas, profile = town_of(np.random.default_rng(1), 24, 5)
    plan = list(plans(areas, profile))[which]
    reached: list[float] = []
    held = hold_against_counts(plan, tables_beside(plan, areas, profile, "sex"), areas, progress=reached.append)
    assert held.n_followed
    assert reached == sorted(reached) and len(set(reached)) >= 10
