"""Guessing who lives where by making a release again: the attacks find what follows, and nothing that does not."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from vbas.benchmarks.crosswalk_attack import makers, suppressed_record_attack, uses_attribute_counts
from vbas.benchmarks.minimality import NestedRelease, insider, outsider
from vbas.core.aggregation.annealing import schedule
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.published import publish
from vbas.core.levels import make_levels, own_regions
from vbas.core.neighbours import point_neighbours
from vbas.core.nesting.optimum import ProfileCells
from vbas.core.nesting.planning import levels_by_chance, nest
from vbas.core.plan import suppress
from vbas.core.privacy.margins import hold_against_margins
from vbas.core.releases.repair import repair
from vbas.core.ties import DRAWN, FIXED, ranks, ties_of

from ..exploring import tried
from .nested_cases import nested_cases, profile_of


def release_of(counts, population, k=5):
    """Areas side by side, all in one region, and one class."""
    n = len(counts)
    areas = make_areas([f"a{i}" for i in range(n)], np.array([[float(i), 0.0] for i in range(n)]), np.array(population))
    levels = make_levels(areas, [own_regions(n), Crosswalk(np.zeros(n, np.int64), 1)])
    return NestedRelease(areas, nest(areas, profile_of(np.array(counts)[:, None]), levels, k))


def test_the_insider_finds_who_cannot_live_elsewhere():
    # Four others in the large area: a fifth would be shown there. So the person lives in the small one.
    release = release_of([4, 1], [90.0, 10.0])
    assert release.level_of.tolist() == [1, 1]
    guesses = insider(release, n_targets=400)
    # Looked for is one of the five: of the four in the large area, who may live in either, most by population there.
    assert guesses.attacked == 400 and guesses.right == guesses.sure
    assert 0.1 < guesses.right / 400 < 0.3
    assert guesses.method == 400 > guesses.base


def test_the_insider_learns_nothing_where_every_origin_gives_the_same():
    guesses = insider(release_of([3, 3], [60.0, 40.0]), n_targets=200)
    assert (guesses.sure, guesses.method) == (0, guesses.base)


def test_the_outsider_counts_origins_as_trying_them_all_does():
    release = release_of([18, 2], [50.0, 50.0])
    assert release.level_of.tolist() == [1, 1]
    first = np.arange(21)
    cells = ProfileCells(np.tile([0, 1], 21), np.repeat(first, 2), np.column_stack([first, 20 - first]).ravel())
    there = cells.records > 0
    cells = ProfileCells(cells.area[there], cells.class_of[there], cells.records[there])
    wanted = release.published(np.zeros(1, np.int64), np.array([release.first[1]]), np.array([20]), 1)[0]
    again = np.flatnonzero(release.made_again(cells, 21, levels_by_chance) == wanted)
    assert again.tolist() == [1, 2, 3, 4, 16, 17, 18, 19]  # nearly all live in one of the two
    guesses = outsider(release, n_equivalence_classes=1, draws=2000)
    assert guesses.attacked == 20 and guesses.sure == 0 and guesses.method in (2, 18)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(nested_cases(most_areas=10, left_out=False))
def test_the_true_origin_is_never_ruled_out(case):
    areas, profile, levels = case
    # Where as many live in each area, an attacker is sure only of the one part that is left.
    areas = areas.with_population(np.ones(len(areas)))
    release = NestedRelease(areas, nest(areas, profile, levels, 3))
    guesses = insider(release, n_targets=40)
    assert guesses.right == guesses.sure <= guesses.method and guesses.base <= guesses.attacked
    guesses = outsider(release, n_equivalence_classes=5, draws=40)
    assert guesses.right <= guesses.sure <= guesses.attacked


def test_ties_in_secret_are_as_good_and_differ():
    # Five, three and five in a region: one of the fives must join the three.
    n_regions = 48  # so that two draws are never the same by chance
    counts, n = np.tile([5, 3, 5], n_regions), 3 * n_regions
    areas = make_areas([f"a{i}" for i in range(n)], np.array([[i // 3 * 100.0 + i % 3, 0.0] for i in range(n)]))
    levels = make_levels(areas, [own_regions(n), Crosswalk(np.arange(n) // 3, n_regions)])
    profile = profile_of(counts[:, None])
    plans = [nest(areas, profile, levels, 5, ties=ties_of(choice)) for choice in (FIXED, FIXED, DRAWN, DRAWN)]
    levels_of = [plan.level_of.tolist() for plan in plans if plan.level_of is not None]
    assert levels_of[0] == levels_of[1] != levels_of[2] != levels_of[3]
    assert all(one.count(1) == 2 * n_regions and plan.records.min() >= 5 for one, plan in zip(levels_of, plans))
    release = NestedRelease(areas, plans[2])
    method = partial(levels_by_chance, ties=ties_of(DRAWN))
    assert insider(release, method, 50, reruns=5).attacked == 50


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(nested_cases())
def test_secret_ties_change_no_cost(case):
    areas, profile, levels = case
    fixed, secret = (nest(areas, profile, levels, 3, ties=ties) for ties in (None, np.random.default_rng(1)))
    assert fixed.n_released == secret.n_released
    loss = [
        sum(
            plan.records[i] * NestedRelease(areas, plan).losses[plan.level[i]][plan.region[i]]
            for i in range(len(plan.records))
        )
        for plan in (fixed, secret)
    ]
    assert loss[1] == pytest.approx(loss[0], rel=0.2, abs=1e-6)


@pytest.mark.slow
def test_of_equal_classes_any_may_be_suppressed_with_published_totals():
    counts = np.array([[1, 7, 7, 7, 9]])
    plan = suppress(profile_of(counts), Crosswalk(np.zeros(1, np.int64), 1), 5)
    seen = {
        choice: {tuple(hold_against_margins(plan, [()], ties=ties_of(choice))[0].released.tolist()) for _ in range(40)}
        for choice in (FIXED, DRAWN)
    }
    assert len(seen[FIXED]) == 1 and len(seen[DRAWN]) == 3
    assert all(released[4] and sum(released) == 3 for released in seen[DRAWN])


@pytest.mark.slow
def test_of_equal_equivalence_classes_any_may_be_suppressed_in_a_repair():
    # An earlier release shows all twelve; this one would show five and five, and so the two that are left.
    areas = make_areas(["a", "b", "c"], np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))
    profile = profile_of(np.array([[5], [5], [2]]))
    earlier = [publish(suppress(profile, Crosswalk(np.zeros(3, np.int64), 1), 5), areas)]
    plan = suppress(profile, own_regions(3), 5)

    def released(choice):
        return tuple(repair(plan, areas, earlier, ties=ties_of(choice)).plan.released.tolist())

    first, second = (False, True, False), (True, False, False)
    assert {released(FIXED) for _ in range(8)} == {first}
    drawn: set[tuple[bool, ...]] = set()
    for _ in range(30):  # either comes as often
        drawn.add(released(DRAWN))
        if len(drawn) > 1:
            break
    assert drawn == {first, second}


def test_an_order_of_ties_is_as_they_come_or_any():
    assert ranks(3, None).tolist() == [0, 1, 2]
    orders = {tuple(ranks(3, ties_of(DRAWN)).tolist()) for _ in range(200)}
    assert len(orders) == 6
    with pytest.raises(Exception, match="TIES “other” is unknown"):
        ties_of("other")


@pytest.fixture(scope="module")
def town():
    rng = np.random.default_rng(2)
    points = np.array(list(product(range(6), range(6))), float) * 500
    areas = make_areas([f"46{i:04d}" for i in range(36)], points, rng.integers(80, 120, 36))
    areas = type(areas)(areas.identifiers, areas.points, areas.population, point_neighbours(points))
    shares = rng.dirichlet(np.full(25, 0.4))
    return areas, profile_of(np.array([rng.multinomial(60, shares) for _ in range(36)]))


@pytest.mark.slow
@pytest.mark.parametrize("name", makers(5, 6))
def test_only_crosswalks_that_look_at_classes_tell_of_suppressed_records(town, monkeypatch, name):
    monkeypatch.setattr(schedule, "WORK_PER_AREA", 20_000)  # that of anonymity exchange, which is slow
    n_targets = 2 if "exchange" in name else tried(20, 40)
    areas, profile = town
    guesses = suppressed_record_attack(areas, profile, makers(5, 6)[name], 5, n_targets)
    assert guesses.attacked == n_targets and guesses.right == guesses.sure
    if not uses_attribute_counts(name):
        assert (guesses.method, guesses.sure) == (guesses.base, 0)
    if "anonymity-driven clustering," in name:
        assert guesses.method > guesses.base and guesses.sure > 0
