"""Who is held back from an update by chance, and that nobody who knows the method proves a change of a few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.benchmarks.updates_by_method import EVENLY, TREES, proven
from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import Levels
from vbas.core.privacy.derivable import NO_SMALL_COUNT
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.holding_back import Chances, held_back
from vbas.core.releases.keeping import Places, families
from vbas.core.releases.updating import Update, places_of

from .test_updates_carried_on import shown, town_of


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tree", "k", "most"), [("two areas", 2, 9), pytest.param("two areas", 3, 13, marks=pytest.mark.slow)]
)
def test_who_knows_the_method_and_both_releases_proves_no_small_change_in_any_areas(tree, k, most):
    """Every number of people of two months, through the nested release and its update; and the same attacker finds
    changes where nobody is held back."""
    assert proven(TREES[tree], k, most, 2, EVENLY, 25).by_method == 0
    assert proven(TREES[tree], k, most, 2, None, 8).by_method > 0


def places(people: list[int], within: list[int], whole: int) -> list[Places]:
    """One class in areas of one region, in which so many of it were shown."""
    n = len(people)
    columns = np.array(within)[:, None]
    areas = Places(np.arange(n), np.array(people), np.zeros(n, np.int64), columns, columns)
    region = np.array([[whole]])
    return [areas, Places(np.arange(1), np.array([sum(people)]), np.array([-1]), region - columns.sum(), region)]


def test_any_number_of_people_may_be_held_back():
    rng = np.random.default_rng(0)
    drawn = {tuple(held_back(places([2, 3], [2, 0], 4), rng, EVENLY)[0].people.tolist()) for _ in range(400)}
    assert drawn == {(a, b) for a in range(3) for b in range(4)}


def test_nobody_is_held_back_where_nothing_changed():
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert held_back(places([5, 3], [5, 0], 8), rng, EVENLY)[0].people.tolist() == [5, 3]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5), st.integers(0, 9), st.data())
def test_newcomers_are_held_back_only_where_nobody_needs_them(areas, more, data):
    """Nowhere fewer are left than were shown, if there were as many; and sums are those of the areas."""
    people, within = [n for n, _ in areas], [min(areas[i]) for i in range(len(areas))]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    there = places(people, within, sum(within) + more)
    left = held_back(there, rng, Chances(1.0, 0.0, 0.0))
    assert left[0].people.sum() == left[1].people.sum()
    for before, after in zip(there, left):
        assert (after.people <= before.people).all()
        assert (after.people >= np.minimum(before.people, before.within[:, -1])).all()


def test_families_are_what_hangs_together():
    parent = [np.array([0, 0, 1, -1]), np.array([-1, -1])]
    none = np.zeros((4, 0), np.int64)
    levels = [
        Places(np.arange(len(of)), np.ones(len(of), np.int64), of, none[: len(of)], none[: len(of)]) for of in parent
    ]
    assert [of.tolist() for of in families(levels)] == [[4, 4, 5, 3], [4, 5]]


@pytest.mark.slow
def test_an_update_holds_newcomers_back_now_and_then():
    """Of nine and five newcomers mostly 14 are shown, and at times nine, as of nine and fewer newcomers; hardly ever
    fewer, or none, as of fewer people."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2), Crosswalk(np.array([0, 0]), 1)))
    others = [(1, 0)] * 30
    first = anonymise(areas, town_of([(0, 0)] * 9 + others, areas, True), levels, Ask(5, earlier=Earlier([])))
    assert first.published is not None
    ask = Ask(5, earlier=Earlier([first.published]), update=Update(0))
    now = town_of([(0, 0)] * 14 + others, areas, True)
    numbers = [shown(anonymise(areas, now, levels, ask)).get((0, 0, 0), 0) for _ in range(110)]
    assert 70 < numbers.count(14) < 110 and 0 < numbers.count(9) >= 110 - numbers.count(14) - 3


def test_where_nobody_is_left_something_has_changed_although_as_many_came_elsewhere():
    """Nine of an area are in the other one now: all of the region are no more shown where they were."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2), Crosswalk(np.array([0, 0]), 1)))
    before, now = (town_of(people, areas, True) for people in ([(0, 0)] * 9 + [(1, 0)] * 9, [(1, 0)] * 18))
    first = anonymise(areas, before, levels, Ask(5, earlier=Earlier([])))
    assert first.published is not None
    there, rng = places_of(now.profile, levels, [first.published], areas), np.random.default_rng(0)
    assert len({held_back(there, rng, EVENLY)[1].people.tolist()[0] for _ in range(50)}) > 1
    changed = anonymise(areas, now, levels, Ask(5, earlier=Earlier([first.published]), update=Update(0))).changed
    assert changed is not None and changed.gone == 1


def test_a_release_from_which_no_small_count_follows_can_be_carried_on():
    """The first month with zones; the later one adds nothing to what that proves."""
    areas = make_areas(list("abcd"), np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [9.0, 1.0]]), np.full(4, 90.0))
    levels = Levels((Crosswalk(np.arange(4), 4), Crosswalk(np.arange(4) // 2, 2), Crosswalk(np.zeros(4, int), 1)))
    people = [(area, of) for area in range(4) for of in range(2) for _ in range(6 + area)]
    first = anonymise(
        areas, town_of(people, areas, True), levels, Ask(5, earlier=Earlier([]), disclosure=NO_SMALL_COUNT)
    )
    assert first.plan.in_zones and first.published is not None
    ask = Ask(5, earlier=Earlier([first.published]), update=Update(0))
    again = anonymise(areas, town_of(people[1:], areas, True), levels, ask)
    assert again.changed is not None and again.changed.gone >= 1 and shown(again).get((0, 0, 0), 0) == 0
