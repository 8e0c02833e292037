"""Plain linear programs over what is published find nothing in releases that were held against each other."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.benchmarks.subtraction_attack import DOMAINS, Attack, attacked, case_of, opened
from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.counts import REST
from vbas.core.disclosure.disclosed import find_disclosed
from vbas.core.disclosure.overlay import _possible, is_level_of
from vbas.core.disclosure.published import publish
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.releases.repair import repair

from ..exploring import tried
from .release_cases import coarser, profile_over

pytestmark = pytest.mark.slow

# Pairs and triples of one level, of several, and of both; of rows and of persons; with k 5 and 10. Among them are those
# that an earlier search for sums of fewer kinds let pass: what follows from three regions, or from parts of one.
SAMPLE = (0, 17, 33, 48, 77, 81)
LARGE_FAMILIES = {"age": ("0-19", "20-59", "60-79", "80 and over"), "sex": ("f", "m")}


@pytest.mark.parametrize("seed", SAMPLE)
def test_nothing_is_disclosed_in_repaired_releases(seed):
    case = case_of(seed)
    assert len(case.releases) > 1
    assert case.undecided == 0
    assert list(attacked(case)) == []


def test_the_attacker_finds_what_is_there_and_nothing_else():
    disclosed = 0
    for seed in tried((0,), (0, 48)):
        case = case_of(seed, repaired=False)
        for one in attacked(case):
            true = case.people(one.areas, one.values) - one.taken
            assert one.low - 1e-6 <= true <= one.high + 1e-6
            disclosed += 1
    assert disclosed > 20


def one_age_is_missing():
    """Women of three areas, all shown; and by age, all but four of them: (areas, plan by age, the release by sex)."""
    areas = make_areas([f"a{i}" for i in range(5)], np.arange(10.0).reshape(5, 2), np.ones(5))
    values = [(age, sex) for age in LARGE_FAMILIES["age"] for sex in LARGE_FAMILIES["sex"]]
    counts = np.full((5, len(values)), 12)
    counts[:3, [values.index((age, "f")) for age in LARGE_FAMILIES["age"]]] = [
        [5, 6, 5, 1],
        [8, 15, 30, 3],
        [8, 6, 26, 0],
    ]
    profile = profile_over(counts, values, ("age", "sex"))
    levels = make_levels(areas, [own_regions(5), number_compactly(np.zeros(5, np.int64))[0]])
    wide = publish(nest(areas, coarser(profile, ("sex",)), levels, 10), areas, "by sex")
    plan = suppress(profile, number_compactly(np.array([0, 0, 0, 1, 1]))[0], 5)
    return areas, plan, wide


def test_four_women_of_the_one_age_that_is_not_shown_are_found_and_held_back():
    areas, plan, wide = one_age_is_missing()
    fine = publish(plan, areas, "by age")
    disclosed = find_disclosed([wide, fine], 5)
    three = set(disclosed.overlay.cell_of[:3].tolist())
    (count,) = [one for one in disclosed.counts if one.kind == REST and set(one.cells.tolist()) == three]
    assert (count.low, count.high) == (4, 4)
    domains = dict(LARGE_FAMILIES)
    assert any(one.low == one.high == 4 for one in Attack([opened(wide), opened(fine)], domains).disclosed(5))
    done = repair(plan, areas, [wide])
    assert done.after.n_counts == 0 and 0 < done.n_suppressed < 60
    assert Attack([opened(wide), opened(done.published)], domains).disclosed(5) == []
    assert set(DOMAINS) >= set(domains)


def test_a_value_that_is_suppressed_everywhere_is_not_believed_not_to_be():
    """Where the values that are shown cannot be all, what is left is of a value nobody shows."""
    areas = make_areas(["a0", "a1"], np.zeros((2, 2)) + np.arange(2)[:, None], np.ones(2))
    profile = profile_over(np.array([[9, 2], [9, 1]]), [("p", "seen"), ("p", "rare")], ("p", "q"))
    crosswalk = number_compactly(np.array([0, 0]))[0]
    fine = publish(suppress(profile, crosswalk, 5), areas, "fine")
    wide = publish(suppress(coarser(profile, ("p",)), crosswalk, 5), areas, "wide")
    disclosed = find_disclosed([wide, fine])
    assert [(count.low, count.high) for count in disclosed.counts] == [(3, 3)] and not len(disclosed.contradicted)


def test_all_people_are_what_releases_of_different_quasi_identifiers_have_in_common():
    areas = make_areas(["a0", "a1"], np.arange(4.0).reshape(2, 2), np.ones(2))
    values = [("young", "f"), ("young", "m"), ("old", "f"), ("old", "m")]
    profile = profile_over(np.array([[7, 8, 2, 1], [9, 9, 9, 9]]), values, ("age", "sex"))
    crosswalk = number_compactly(np.array([0, 1]))[0]
    by_age, by_sex = (
        publish(suppress(coarser(profile, (name,)), crosswalk, 5), areas, name) for name in ("age", "sex")
    )
    disclosed = find_disclosed([by_sex, by_age])
    over = disclosed.overlay
    (count,) = [one for one in disclosed.counts if one.kind == REST]
    assert (count.low, count.high) == (3, 3)  # of the first area, and old
    assert over.areas[np.isin(over.cell_of, count.cells)].tolist() == ["a0"]


def test_what_is_left_of_several_regions_that_hang_together():
    """Three regions of one release, two of another across them: what is left is in the first and the last area."""
    counts = np.array([2, 10, 10, 10, 10, 1, 30, 30, 30, 20, 10])[:, None]
    areas = make_areas([f"a{i}" for i in range(11)], np.arange(22.0).reshape(11, 2), np.ones(11))
    profile = profile_over(counts, [("x",)], ("p",))
    first = [0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4]
    second = [0, 1, 1, 2, 2, 3, 0, 3, 4, -1, 5]
    plans = [suppress(profile, number_compactly(np.array(one))[0], 5) for one in (first, second)]
    disclosed = find_disclosed([publish(plan, areas, str(i)) for i, plan in enumerate(plans)])
    left = [
        count
        for count in disclosed.counts
        if disclosed.overlay.areas[np.isin(disclosed.overlay.cell_of, count.cells)].size == 2
    ]
    assert any((one.low, one.high) == (3, 3) for one in left)
    done = repair(plans[1], areas, [publish(plans[0], areas)])
    assert done.after.n_counts == 0


def left_in(disclosed):
    """The identifiers of the areas, and the bounds, of every count."""
    over = disclosed.overlay
    return [
        (over.areas[np.isin(over.cell_of, count.cells)].tolist(), count.low, count.high) for count in disclosed.counts
    ]


def test_only_regions_together_tell_what_two_regions_across_them_leave():
    """No region, and no two, hold what is left in the first, the fourth and the seventh area."""
    counts = np.array([1, 6, 6, 1, 6, 6, 1, 9, 9, 9, 9])[:, None]
    areas = make_areas([f"a{i}" for i in range(11)], np.arange(22.0).reshape(11, 2), np.ones(11))
    profile = profile_over(counts, [("x",)], ("p",))
    regions = [[0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4], [-1, 0, 0, -1, 1, 1, -1, 2, -1, 2, -1]]
    plans = [suppress(profile, number_compactly(np.array(region_of))[0], 5) for region_of in regions]
    disclosed = find_disclosed([publish(plan, areas, str(i)) for i, plan in enumerate(plans)])
    assert left_in(disclosed) == [(["a0", "a3", "a6"], 3, 3)]


def test_only_regions_together_tell_what_a_region_across_small_ones_leaves():
    """Two small regions of a nested release, in larger ones that hold more, of two classes that the other joins."""
    counts = np.array([[1, 1], [6, 6], [6, 6], [1, 0], *[[6, 6]] * 4, [1, 1], [0, 1]])
    areas = make_areas([f"a{i}" for i in range(10)], np.arange(20.0).reshape(10, 2), np.ones(10))
    profile = profile_over(counts, [("p", "q1"), ("p", "q2")], ("p", "q"))
    regions = [[0, 0, 1, 1, 2, 2, 3, 3, 4, 4], [0, 0, 1, 1, 0, 0, 1, 1, 2, 2], [-1, 0, 0, *[-1] * 7]]
    fine, coarse, across = (number_compactly(np.array(region_of))[0] for region_of in regions)
    nested = publish(nest(areas, profile, make_levels(areas, [fine, coarse]), 5), areas, "nested")
    wide = publish(suppress(coarser(profile, ("p",)), across, 5), areas, "wide")
    assert left_in(find_disclosed([nested, wide])) == [(["a0", "a3"], 3, 3)]


def test_a_coarser_value_goes_with_its_finer_one_only():
    """Impossible classes, the young among the ages above 40, would take the blame for what is missing."""
    names = ("age", "age (level 1)", "age (level 2)", "sex")
    seen = {names[0]: {"1", "2", "50"}, names[1]: {"young", "old"}, names[2]: {"all"}, "sex": {"f", "m"}}
    shown: set[tuple[str, ...]] = {("1", "young", "all", "f"), ("2", "young", "all", "f"), ("50", "old", "all", "m")}
    possible = set(_possible(names, seen, shown))
    ages = {"1": "young", "2": "young", "50": "old"}
    assert possible == {(age, ages[age], "all", sex) for age in ages for sex in ("f", "m")}
    assert is_level_of("age (level 2)", "age (level 1)") and is_level_of("age (level 1)", "age")
    assert not is_level_of("age (years)", "sex") and not is_level_of("age", "age (level 1)")
