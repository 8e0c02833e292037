"""Steps of a repair by themselves: what is taken out, what is given back, how far it is, and in whose words."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk, number_compactly
from vbas.core.disclosure.counts import Count
from vbas.core.disclosure.disclosed import find_disclosed
from vbas.core.disclosure.published import publish
from vbas.core.levels import make_levels, own_regions
from vbas.core.plan import SUPPRESSED, area_of_cells, plan_by_levels, suppress
from vbas.core.progress import silent
from vbas.core.releases.aliases import aliases_of
from vbas.core.releases.cheapest import proofs_of
from vbas.core.releases.earlier import _given_away
from vbas.core.releases.examining import Examined, Examiner, examine
from vbas.core.releases.naming import named
from vbas.core.releases.repair import _changed, _groups_of, _Work, as_it_is, on_earlier_regions, repair, without
from vbas.core.releases.said_words import in_said_words
from vbas.core.releases.updates import Comparing, same_regions

from ..each import for_each_seed
from .asked_steps import tiny_releases
from .nested_cases import profile_of
from .release_cases import profile_over
from .test_releases_matching import release, with_values

K = 4


@for_each_seed(20)
def test_classes_taken_out_of_coarsest_regions_join_there_or_go_cell_by_cell(seed):
    """Four coarsest regions, four classes: what is marked in one of them moves nothing in any other."""
    rng = np.random.default_rng(seed)
    n, n_classes = 12, 4
    counts = rng.integers(0, 4, (n, n_classes))
    areas = make_areas([f"a{i}" for i in range(n)], rng.random((n, 2)), np.ones(n))
    profile = profile_of(counts)
    levels = make_levels(areas, [own_regions(n), Crosswalk(np.arange(n) // 3, 4)])
    area, class_of = area_of_cells(profile), profile.counts.indices
    level_of = rng.choice([-1, 0, 1], len(area)).astype(np.int8)
    plan = plan_by_levels(profile, levels, 1, level_of)
    marked = (plan.level == 1) & (rng.random(len(plan.level)) < 0.5)
    taken = {(int(r), int(c)) for r, c, out in zip(plan.region, plan.class_of, marked) if out}
    expected = []
    for i, one, level in zip((area // 3).tolist(), class_of.tolist(), level_of.tolist()):
        finer = ((area // 3 == i) & (class_of == one) & (level_of == 0)).any()
        is_out = (i, one) in taken
        expected.append(level if not is_out or level < 0 else 1 if finer else SUPPRESSED)
    assert taken
    found = without(plan, marked)
    assert found.level_of is not None and found.level_of.tolist() == expected
    none = without(plan, np.zeros_like(marked))
    assert none.level_of is not None and none.level_of.tolist() == level_of.tolist()


def two_releases(seed: int):
    """A plan of one level that tells something beside an earlier release, and both."""
    rng = np.random.default_rng(seed)
    while True:
        areas = make_areas([f"a{i}" for i in range(6)], rng.random((6, 2)), np.ones(6))
        profile = profile_of(rng.integers(0, 7, (6, 1)))
        first, second = (
            suppress(profile, Crosswalk(np.sort(rng.permutation([0, 1, 2, *rng.integers(0, 3, 3)])), 3), K)
            for _ in range(2)
        )
        earlier = [publish(first, areas, "earlier")]
        if examine(publish(second, areas), earlier).n_counts:
            return areas, second, earlier


@for_each_seed(6)
def test_a_count_has_a_proof_where_every_table_of_people_keeps_it_small_and_nowhere_else(seed):
    """One class in regions of two releases: what is possible of parts of people is so of whole people, too."""
    rng, told, untold = np.random.default_rng(seed), 0, 0
    for _ in range(6):
        areas = make_areas(list("abcd"), rng.random((4, 2)), np.ones(4))
        profile = profile_of(rng.integers(0, 3, (4, 1)))
        plans = [suppress(profile, number_compactly(rng.integers(0, 3, 4))[0], 2) for _ in range(2)]
        releases = [replace(publish(plan, areas), bounded=False, held_back=None) for plan in plans]
        over, last = find_disclosed(releases).overlay, releases[1]
        if not len(over.entries):
            continue
        tables = np.array(list(product(range(8), repeat=over.n_cells)))
        fits = [
            (own == release.region[:, None]).astype(int) @ tables.T == release.records[:, None]
            for release, own in zip(releases, over.regions.T)
        ]
        counts = []
        for some in list(product((False, True), repeat=over.n_cells))[1:]:
            cells, outside = np.flatnonzero(some), over.regions[~np.array(some), 1]
            whole = np.flatnonzero(~np.isin(last.region, outside))
            for taken in (whole[:0], whole):
                less = int(last.records[taken].sum())
                counts.append(Count("sum", cells, np.zeros(1, np.int64), 1, 3, (1,), taken=taken, less=less))
        for count, proof in zip(counts, proofs_of(over, counts, 4)):
            people = tables[:, count.cells].sum(axis=1) - count.less
            small = (people >= 1) & (people < 4)
            is_told = bool(small[np.concatenate(fits).all(axis=0)].all())
            assert (proof is not None) == is_told, (seed, count)
            if proof is not None:
                by_proof = np.concatenate([fits[0], fits[1][proof]]).all(axis=0)
                assert small[by_proof].all() and {*count.taken} <= {*proof}, (seed, count, proof)
            told, untold = told + is_told, untold + (not is_told)
    assert told and untold


def test_a_proof_takes_it_that_nobody_has_a_value_that_no_release_shows():
    """Ten women of which seven are young: the others are old, as some are elsewhere."""
    areas = make_areas(list("ab"), np.zeros((2, 2)))
    by_age = profile_over(np.array([[7, 3], [7, 9]]), [("F", "young"), ("F", "old")], ("sex", "age"))
    women = profile_over(np.array([[10], [16]]), [("F",)], ("sex",))
    releases = [publish(suppress(profile, own_regions(2), K), areas) for profile in (by_age, women)]
    disclosed = find_disclosed([replace(release, bounded=False, held_back=None) for release in releases])
    proofs = proofs_of(disclosed.overlay, disclosed.counts, K)
    assert [count.low for count in disclosed.counts] == [3, 3], "the old ones, and all who are not young"
    assert [None if proof is None else proof.tolist() for proof in proofs] == [[0], [0]]


@for_each_seed(4)
def test_a_repair_says_how_far_it_is_wherever_it_is(seed):
    areas, plan, earlier = two_releases(seed)
    fractions: list[float] = []
    work = _Work(areas, "", (), {}, as_it_is, Examiner(earlier), fractions.append, None, None, None)
    cheapest = work.cheapest(plan)
    assert fractions[:2] == [0.0, 1 / 200] and (cheapest.released <= plan.released).all()
    fractions.clear()
    again, _, found = work.until_nothing_is_disclosed(plan, False)
    assert fractions[0] == 0.0 and fractions == sorted(fractions) and not found.n_to_mend
    assert again.n_released <= cheapest.n_released  # the smallest first is not the fewest in all


@pytest.mark.parametrize("fewest", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 14, 17])
def test_nothing_that_was_given_back_tells_and_nothing_more_could_be(seed, fewest):
    areas, plan, earlier = two_releases(seed)
    done = repair(plan, areas, earlier, fewest=fewest)
    examiner = Examiner(earlier)
    work = _Work(areas, "", (), {}, as_it_is, examiner, silent, None, None, None)
    assert done.before.n_to_mend and not done.after.n_to_mend and done.n_coarser == 0
    assert done.n_suppressed == plan.n_released - done.plan.n_released > 0
    for one in np.flatnonzero(plan.released & ~done.plan.released):
        released = done.plan.released | (np.arange(len(plan.released)) == one)
        published = work.published(replace(plan, released=released), False)
        assert examiner.examine(published).n_to_mend


@pytest.mark.parametrize("seed", [0, 23, 87, 98, 311])
def test_what_follows_for_who_knows_what_is_suppressed_for_its_size_is_counted(seed):
    areas, plan, earlier = two_releases(seed)
    done = repair(plan, areas, earlier)
    assert done.n_known_by_size == examine(publish(done.plan, areas), earlier).n_counts
    assert (done.n_known_by_size > 0) == (seed > 0) and not done.after.n_to_mend


def test_where_nothing_is_given_away_nothing_is_repaired():
    areas, plan, _ = two_releases(0)
    done = repair(plan, areas, [publish(plan, areas, "earlier")])
    assert done.plan is plan and not done.before.n_to_mend
    assert (done.n_suppressed, done.n_coarser, done.n_known_by_size) == (0, 0, 0)


def test_an_earlier_geography_is_that_of_the_last_release_of_these_areas():
    areas, plan, _ = two_releases(0)
    others = make_areas([f"b{i}" for i in range(6)], areas.points, np.ones(6))
    first, last = (Crosswalk(np.array(of), 2) for of in ([0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]))
    releases = [publish(suppress(plan.profile, of, K), areas, "r") for of in (first, last)]
    elsewhere = publish(suppress(plan.profile, first, K), others, "r")
    found = on_earlier_regions(plan, areas, [*releases, elsewhere])
    assert found is not None and found.crosswalk.region_of.tolist() == last.region_of.tolist()
    assert on_earlier_regions(plan, areas, [elsewhere]) is None and on_earlier_regions(plan, areas, []) is None


def test_values_of_older_releases_become_those_of_the_newest_and_no_others():
    older = with_values(release(2, title="r1"), "sex", {"M": "1", "F": "2"})
    newest = release(3, title="r2")
    aliases = aliases_of([("sex", "sex: 1=M; 2=F")], ["sex", "age"])
    naming = named([older, newest], aliases)
    at = older.quasi_identifiers.index("sex")
    assert sorted(older.categories[at].tolist()) == ["1", "2"]
    assert sorted(in_said_words(0, naming, aliases).categories[at].tolist()) == ["F", "M"]
    assert in_said_words(1, naming, aliases) is naming.releases[1]


def test_all_that_tells_nothing_is_given_back_however_many_of_a_class_there_are():
    """Three regions of one class and two of another, shown by an earlier release of the same regions, too."""
    areas = make_areas([f"a{i}" for i in range(3)], [(float(i), 0.0) for i in range(3)], np.ones(3))
    plan = suppress(profile_of(np.array([[5, 6], [7, 0], [8, 9]])), Crosswalk(np.arange(3), 3), K)
    earlier = [publish(plan, areas, "earlier")]
    work = _Work(areas, "", (), {}, as_it_is, Examiner(earlier), silent, None, None, None)
    for shown in (np.zeros(5, bool), np.arange(5) == 3):
        fewer = replace(plan, released=plan.released & shown)
        published = work.published(fewer, False)
        given, _, after = work.given_back(plan, fewer, published, work.examiner.examine(published))
        assert given.released.all() and not after.n_to_mend
    assert work.given_back(plan, plan, earlier[0], work.examiner.examine(earlier[0]))[0] is plan


def areas_by_region(release, level):
    crosswalk = release.levels.crosswalks[level]
    return [frozenset(release.areas[crosswalk.region_of == r].tolist()) for r in range(crosswalk.n_regions)]


@for_each_seed(12)
def test_what_of_a_release_shows_a_count_that_changed(seed):
    """What shows the count itself; of all people of a region what its coarsest level shows, or all within."""
    rng = np.random.default_rng(seed)
    new = next(of for of in iter(lambda: tiny_releases(rng)[-1], None) if of.nested and len(of.level) > 1)
    last = len(new.levels) - 1
    columns: list[list[int]] = [[], [], [], []]
    expected = set()
    for level, region, class_of, total in product(range(last + 1), range(3), range(3), (False, True)):
        if rng.random() < 0.6 or (total and level < last):
            continue
        for column, value in zip(columns, (level, region, class_of, total)):
            column.append(value)
        own = [at for at in range(len(new.level)) if new.class_of[at] == class_of]
        shows = {at for at in own if (new.level[at], new.region[at]) == (level, region)}
        if total and not shows:
            around = new.levels.crosswalks[last].region_of == region
            shows = {at for at in own if around[new.levels.crosswalks[new.level[at]].region_of == new.region[at]].all()}
        expected |= shows
    changes: Any = SimpleNamespace(**dict(zip(("level", "region", "class_of", "total"), map(np.array, columns))))
    assert set(_changed(new, changes).tolist()) == expected


@pytest.mark.slow
def test_regions_are_the_same_where_they_have_the_same_areas():
    same = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n = 4
        areas = make_areas([f"a{i}" for i in range(n)], rng.random((n, 2)), np.ones(n))
        other = make_areas([f"a{i}" for i in rng.permutation(n)], rng.random((n, 2)), np.ones(n))
        region_of = rng.integers(-1, 2, n)
        region_of[:2] = [0, 1]
        again = region_of.copy()
        if rng.random() < 0.6:
            again[int(rng.integers(n))] = rng.integers(-1, 2)
        if not {0, 1} <= set(again.tolist()):
            continue
        called = rng.permutation(2)
        renamed = np.where(again >= 0, called[again], -1)
        position = {name: i for i, name in enumerate(areas.identifiers.tolist())}
        at = np.array([position[name] for name in other.identifiers.tolist()])
        counts = np.full((n, 1), 9)
        old = publish(suppress(profile_of(counts), Crosswalk(region_of, 2), K), areas, "old")
        new = publish(suppress(profile_of(counts), Crosswalk(renamed[at], 2), K), other, "new")
        found, before, after = same_regions(old, new), areas_by_region(old, 0), areas_by_region(new, 0)
        assert (found is not None) == (set(before) == set(after))
        assert found is None or [before[number] for number in found[0].tolist()] == after
        compared = Comparing().compare(old, new, K)
        assert (compared is not None) == (found is not None)
        counted = replace(old, counts_from=np.zeros(1, np.int64))
        for one, two in ((counted, new), (old, replace(new, counts_from=counted.counts_from)), (counted, counted)):
            assert same_regions(one, two) is None and Comparing().compare(one, two, K) is None
        same += found is not None
    assert same > 25


@pytest.mark.parametrize(("n_counts", "n_undecided"), [(0, 0), (1, 0), (0, 1), (2, 3)])
def test_what_was_given_away_and_what_was_not_decided_are_each_said(n_counts, n_undecided):
    findings: Any = SimpleNamespace(n_counts=n_counts, n_undecided=n_undecided)
    told = " ".join(_given_away(findings, K))
    assert (f"given away {n_counts} count" in told) == bool(n_counts)
    assert (f"{n_undecided} count" in told and "to decide" in told) == bool(n_undecided)


@for_each_seed(12)
def test_classes_are_of_one_group_where_sums_of_some_release_connect_them(seed):
    """By their values: what stands for several classes of one release connects these."""
    rng = np.random.default_rng(seed)
    releases = tiny_releases(rng)
    new = releases[-1]
    after = Examined(find_disclosed(releases, programs=False), [], [])
    classes = [
        {name: str(of[code]) for name, of, code in zip(new.quasi_identifiers, new.categories, codes)}
        for codes in new.classes.tolist()
    ]
    asked = np.flatnonzero(rng.random(len(classes)) < 0.4)
    groups = _groups_of(after, new, asked)
    assert after.disclosed is not None
    over = after.disclosed.overlay
    values = [over.values_of(joint) for joint in range(len(over.group_of))]
    together = [{joint} for joint in range(len(values))]
    for published in over.releases:
        own = [tuple(of[name] for name in published.quasi_identifiers) for of in values]
        for shown in set(own):
            if None in shown:
                continue
            members = {joint for joint, other in enumerate(own) if other == shown}
            joined = members.union(*(together[joint] for joint in members))
            for joint in joined:
                together[joint] = joined
    of_class = [
        {joint for joint, of in enumerate(values) if all(of[name] == value for name, value in one.items())}
        for one in classes
    ]
    assert all(of_class)
    for one, number in zip(of_class, groups.of_class.tolist()):
        for other, its in zip(of_class, groups.of_class.tolist()):
            assert (number == its) == bool(together[min(one)] & other)
    concerned = set().union(*(together[min(of_class[at])] for at in asked.tolist()))
    assert set(np.flatnonzero(groups.concerned).tolist()) == concerned


def test_of_nothing_that_was_compared_each_class_is_a_group_of_its_own():
    new = tiny_releases(np.random.default_rng(1))[-1]
    groups = _groups_of(Examined(None, [], []), new, np.arange(1))
    assert len(set(groups.of_class.tolist())) == len(new.classes) and not groups.concerned.any()
