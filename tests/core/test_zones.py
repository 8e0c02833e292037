"""Zones: the finest places to show classes at from which no small count follows, against trying all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import crosswalk_from_table
from vbas.core.disclosure.overlay import overlay
from vbas.core.disclosure.published import publish
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.decoys import Conditions, Secrets, _Work, levels_in_zones
from vbas.core.nesting.optimum import ProfileCells, best_levels
from vbas.core.nesting.planning import nest
from vbas.core.nesting.tree import Tree, tree_of
from vbas.core.nesting.zones import ProofByPeople
from vbas.core.privacy.derivable import CLASS_HAS_K, NO_SMALL_COUNT
from vbas.core.publish.register.published_releases import new_entry, read_register
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.source import RecordSource
from vbas.core.synthetic.hamlet import hamlet

from ..each import for_each_seed
from ..exploring import tried

# Areas in small regions in one large region, and what a record loses in them.
SHAPES = [
    ([[0, 1, 2, 3], [0, 0, 1, 1], [0] * 4], [[0.0] * 4, [1.0, 1.2], [3.0]]),
    ([[0, 1, 2, 3, 4], [0, 0, 0, 1, 1], [0] * 5], [[0.0] * 5, [1.0, 1.5], [2.0]]),
    ([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 1], [0] * 5], [[0.0] * 5, [1.0, 1.2, 0.5], [2.0, 0.7], [3.0]]),
]
MANY_PEOPLE = 1_000.0


def tree_of_shape(shape: int) -> tuple[Tree, list[np.ndarray]]:
    regions, losses = SHAPES[shape]
    region_of = [np.array(of_areas) for of_areas in regions]
    return tree_of(region_of, [np.array(loss) for loss in losses]), region_of


def cells_of(table: tuple[int, ...]) -> ProfileCells:
    """One class with so many records in each area."""
    counts = np.array(table)
    area = np.flatnonzero(counts)
    return ProfileCells(area, np.zeros(len(area), np.int64), counts[area])


def zones_by_hand(
    table: tuple[int, ...], region_of: list[np.ndarray], shown: set[tuple[int, int]]
) -> dict[tuple[int, int], list[int]]:
    """The areas of each zone, by its level and region: each area belongs to the lowest place around it that shows."""
    zones: dict[tuple[int, int], list[int]] = {place: [] for place in shown}
    for area in range(len(table)):
        for level, regions in enumerate(region_of):
            if (level, int(regions[area])) in shown:
                zones[level, int(regions[area])].append(area)
                break
    return zones


def cheapest_by_hand(
    table: tuple[int, ...], region_of: list[np.ndarray], losses: list[list[float]], k: int, decoys: bool
) -> tuple[int, float]:
    """Trying all places that may show the class: the fewest suppressed records, and their least loss."""
    places = [(level, region) for level, of_level in enumerate(losses) for region in range(len(of_level))]
    best = (sum(table), 0.0)
    for chosen in product((False, True), repeat=len(places)):
        shown = {place for place, taken in zip(places, chosen) if taken}
        zones = zones_by_hand(table, region_of, shown)
        counts = {place: sum(table[area] for area in zones[place]) for place in shown}
        if any(count < k for count in counts.values()):
            continue
        if decoys and not all(
            place[0] == 0
            or place[0] == len(losses) - 1
            or has_decoy(table, zones[place], region_of[place[0] - 1], k)
            or counts[place] <= (k - 1) * (len(zones[place]) - 1)
            for place in shown
        ):
            continue
        loss = sum(counts[level, region] * losses[level][region] for level, region in shown)
        best = min(best, (sum(table) - sum(counts.values()), loss))
    return best


def has_decoy(table: tuple[int, ...], areas: list[int], part_of: np.ndarray, k: int) -> bool:
    return any(
        sum(table[area] for area in areas if part_of[area] == part) >= k for part in {int(part_of[a]) for a in areas}
    )


TABLES = st.tuples(st.integers(0, 2), st.lists(st.integers(0, 7), min_size=5, max_size=5))


@pytest.mark.slow
@given(TABLES, st.sampled_from([2, 3, 5]))
@settings(max_examples=tried(60, 150))
def test_the_cheapest_zones_are_those_that_trying_all_finds(drawn, k):
    shape, numbers = drawn
    tree, region_of = tree_of_shape(shape)
    table = tuple(numbers[: len(region_of[0])])
    level_of = levels_in_zones(cells_of(table), tree, k, Conditions(np.full(len(table), MANY_PEOPLE)))
    losses = SHAPES[shape][1]
    records, area = np.array(table)[np.flatnonzero(table)], np.flatnonzero(table)
    lost = sum(
        int(n) * losses[level][region_of[level][a]] for n, a, level in zip(records, area, level_of) if level >= 0
    )
    assert (int(records[level_of < 0].sum()), pytest.approx(lost)) == cheapest_by_hand(
        table, region_of, losses, k, decoys=False
    )


def released(table: tuple[int, ...], region_of: list[np.ndarray], level_of: np.ndarray) -> dict[tuple[int, int], int]:
    """What is published of a class: the count of each place that shows it."""
    counts: dict[tuple[int, int], int] = {}
    for area, level in zip(np.flatnonzero(table), level_of):
        if level >= 0:
            place = (int(level), int(region_of[level][area]))
            counts[place] = counts.get(place, 0) + table[area]
    return counts


@pytest.mark.slow
@given(TABLES, st.sampled_from([2, 3]), st.integers(0, 2**32), st.sampled_from([0.0, 0.3]))
@settings(max_examples=tried(40, 120))
def test_every_table_with_the_counts_of_the_zones_may_be_where_a_release_comes_from(drawn, k, seed, closed):
    shape, numbers = drawn
    tree, region_of = tree_of_shape(shape)
    table = tuple(number % (2 * k) for number in numbers[: len(region_of[0])])
    people = np.full(len(table), MANY_PEOPLE)
    secrets = Secrets(np.random.default_rng(seed), closed=closed)
    counts = released(table, region_of, levels_in_zones(cells_of(table), tree, k, Conditions(people, secrets)))
    zones = zones_by_hand(table, region_of, set(counts))
    rest = [area for area in range(len(table)) if not any(area in areas for areas in zones.values())]
    for other in product(range(max(counts.values(), default=0) + 1), repeat=len(table)):
        # Of areas in no zone it is enough that there may be nobody: then there is no lower bound.
        if any(other[area] for area in rest) or any(sum(other[a] for a in zones[p]) != n for p, n in counts.items()):
            continue
        assert released_with(other, tree, region_of, k, people, set(counts)) == counts


def released_with(
    table: tuple[int, ...],
    tree: Tree,
    region_of: list[np.ndarray],
    k: int,
    people: np.ndarray,
    opened: set[tuple[int, int]],
) -> dict[tuple[int, int], int]:
    """The release of a table where the coins fell so that just these places are open to the class."""
    work = _Work(cells_of(table), tree, k, Conditions(people, Secrets(np.random.default_rng(0))), None)
    place_of = [tree.place]
    for within in tree.within:
        place_of.append(within[place_of[-1]])
    for level, storey in enumerate(work.storeys):
        numbers = {int(place): int(region) for place, region in zip(place_of[level], region_of[level])}
        is_open = np.array([(level, numbers[int(place)]) in opened for place in storey.place], bool)
        work.waived[level][:] = True
        if level < len(work.storeys) - 1:
            work.closed[level] = ~is_open
    while work.classes.any():
        work.solve()
        work.close_what_fails()
    return released(table, region_of, work.levels())


@pytest.mark.slow
@given(TABLES, st.sampled_from([2, 3, 5]), st.integers(0, 2**32))
@settings(max_examples=100)
def test_no_more_is_suppressed_than_without_decoys(drawn, k, seed):
    shape, numbers = drawn
    tree, region_of = tree_of_shape(shape)
    table = tuple(numbers[: len(region_of[0])])
    cells = cells_of(table)
    secrets = Secrets(np.random.default_rng(seed), spread=1.0, closed=0.3)
    level_of = levels_in_zones(cells, tree, k, Conditions(np.full(len(table), MANY_PEOPLE), secrets))
    plain = best_levels(cells, tree, k)
    assert cells.records[level_of < 0].sum() == cells.records[plain < 0].sum()


@pytest.mark.parametrize(
    ("shape", "table", "people", "k", "lost"),
    [
        # All eleven in the whole would prove a small count, the five without the six of the third area do not.
        (1, (1, 3, 6, 1, 0), (2, 2, 7, 0, 0), 5, 0),
        # Shown in the last region the five prove one, in the one within it, which has no decoy, they do not.
        (2, (2, 0, 2, 1, 0), (0, 0, 1, 0, 4), 5, 0),
        # The whole proves one: of what is lost then, 7 are fewer than 8.
        (1, (3, 4, 8, 7, 1), (3, 4, 8, 8, 2), 5, 7),
        # Of eight people six have the class, so that an area of three has it whatever is shown: nothing can be.
        (0, (3, 3, 0, 0), (3, 5, 0, 0), 5, 6),
    ],
)
def test_no_more_is_suppressed_for_few_people_than_must_be(shape, table, people, k, lost):
    tree, _ = tree_of_shape(shape)
    cells = cells_of(table)
    for seed in range(10):
        secrets = Secrets(np.random.default_rng(seed), closed=0.0, waived=0.0)
        level_of = levels_in_zones(cells, tree, k, Conditions(np.array(people, float), secrets))
        assert cells.records[level_of < 0].sum() == lost


@pytest.mark.parametrize("unit", [0.1, 1.0, 10.0])
def test_where_the_whole_territory_may_not_show_a_class_the_fewest_are_suppressed(unit):
    """k = 5. Of five and one more in a region all are shown there, whatever a record loses; eight are lost."""
    regions, losses = [[0, 1, 2, 3], [0, 1, 2, 2], [0] * 4], [[0.0] * 4, [1.0, 1.0, 1.5], [2.0]]
    tree = tree_of([np.array(of) for of in regions], [unit * np.array(of) for of in losses])

    def holds(cells: np.ndarray, zone: np.ndarray, number: int) -> np.ndarray:
        return ~np.isin(np.arange(number), zone[cells == 0])  # wherever the first area is

    for table, levels in (((4, 4, 5, 1), [-1, -1, 1, 1]), ((4, 0, 5, 1), [-1, 1, 1]), ((0, 0, 0, 0), [])):
        conditions = Conditions(np.full(4, MANY_PEOPLE))
        assert levels_in_zones(cells_of(table), tree, 5, conditions, holds).tolist() == levels


@pytest.mark.parametrize(("table", "levels"), [((2, 2, 2, 2), [1] * 4), ((2, 2, 2, 3), [1] * 4), ((2, 0, 0, 0), [-1])])
def test_nobody_is_suppressed_for_want_of_a_decoy_that_nobody_could_be(table, levels):
    """k = 3. Two of each area are none, and more than all areas but one can hold; the three of the last are one."""
    tree = tree_of([np.arange(4), np.zeros(4, np.int64)], [np.zeros(4), np.ones(1)])
    secrets = Secrets(np.random.default_rng(0), closed=0.0, waived=0.0)
    level_of = levels_in_zones(cells_of(table), tree, 3, Conditions(np.full(4, MANY_PEOPLE), secrets))
    assert level_of.tolist() == levels


def decoys_everywhere(table: tuple[int, ...], region_of: list[np.ndarray], k: int) -> bool:
    """Whether all records can be shown in places that all hold a decoy, by trying all."""
    places = [(level, region) for level, of in enumerate(region_of) for region in range(int(of.max()) + 1)]
    for chosen in product((False, True), repeat=len(places)):
        zones = zones_by_hand(table, region_of, {place for place, taken in zip(places, chosen) if taken})
        if sum(table[area] for areas in zones.values() for area in areas) == sum(table) and all(
            has_decoy(table, areas, region_of[level - 1], k) if level else sum(table[area] for area in areas) >= k
            for (level, _), areas in zones.items()
        ):
            return True
    return False


@pytest.mark.slow
@for_each_seed(10)
def test_the_whole_territory_holds_a_decoy_too_where_all_can_be_shown_with_one(seed):
    """Only where somebody would be suppressed for want of one it needs none."""
    rng, n_whole = np.random.default_rng(seed), 0
    for _ in range(30):
        shape, k = int(rng.integers(0, len(SHAPES))), int(rng.integers(2, 5))
        tree, region_of = tree_of_shape(shape)
        last = len(region_of) - 1
        table = tuple(rng.integers(0, k + 2, len(region_of[0])).tolist())
        secrets = Secrets(np.random.default_rng(seed), closed=0.0, waived=0.0)
        conditions = Conditions(np.full(len(table), MANY_PEOPLE), secrets)
        counts = released(table, region_of, levels_in_zones(cells_of(table), tree, k, conditions))
        areas = zones_by_hand(table, region_of, set(counts)).get((last, 0))
        if areas is None or not decoys_everywhere(table, region_of, k):
            continue
        n_whole += 1
        room = (k - 1) * (len(areas) - 1)
        assert has_decoy(table, areas, region_of[last - 1], k) or counts[last, 0] <= room, (table, k, shape)
    assert n_whole


def lifted(table: tuple[int, ...], k: int, closed: float = 0.0) -> set[int]:
    """The areas with k and more that some of forty runs show in a larger region."""
    tree, _ = tree_of_shape(0)
    cells, above = cells_of(table), set()
    for seed in range(40):
        secrets = Secrets(np.random.default_rng(seed), closed=closed, waived=0.0)
        level_of = levels_in_zones(cells, tree, k, Conditions(np.full(len(table), MANY_PEOPLE), secrets))
        above |= set(cells.area[(level_of > 0) & (cells.records >= k)].tolist())
    return above


@pytest.mark.parametrize(("others", "proven"), [(0, True), (1, True), (2, False)])
def test_areas_of_few_people_prove_a_count_only_where_some_have_more_people_than_the_other_classes(others, proven):
    """Of two areas with two people each; of both together four live there, which is k."""
    proof = ProofByPeople(tree_of_shape(0)[0], np.array([2.0, 2.0, 50.0, 50.0]), 4)
    assert proof._proven(np.arange(2), others) == proven


def test_chance_says_which_decoy_it_is():
    """The two of the third area need company of three and more: those of the first area, or of the second."""
    assert lifted((3, 3, 2, 0), 3) == {0, 1}


def test_a_place_is_closed_by_chance_whatever_lives_there():
    assert lifted((3, 3, 3, 3), 3) == set()
    assert lifted((3, 3, 3, 3), 3, closed=0.3) == {0, 1, 2, 3}


@pytest.mark.slow
@given(TABLES, st.sampled_from([2, 3, 5]), st.integers(0, 2**32))
@settings(max_examples=150)
def test_every_zone_has_a_decoy_or_room_for_all_in_the_other_areas(drawn, k, seed):
    shape, numbers = drawn
    tree, region_of = tree_of_shape(shape)
    table = tuple(numbers[: len(region_of[0])])
    secrets = Secrets(np.random.default_rng(seed), closed=0.1, waived=0.0)
    cells = cells_of(table)
    counts = released(
        table, region_of, levels_in_zones(cells, tree, k, Conditions(np.full(len(table), MANY_PEOPLE), secrets))
    )
    zones = zones_by_hand(table, region_of, set(counts))
    for (level, region), count in counts.items():
        assert count == sum(table[area] for area in zones[level, region]) >= k
        if 0 < level < len(region_of) - 1:
            lone = not has_decoy(table, zones[level, region], region_of[level - 1], k)
            assert not lone or count <= (k - 1) * (len(zones[level, region]) - 1)


@pytest.mark.slow
@given(TABLES, st.sampled_from([2, 3]), st.integers(1, 3))
@settings(max_examples=100)
def test_zones_keep_the_areas_and_people_that_are_asked_for(drawn, k, least):
    shape, numbers = drawn
    tree, region_of = tree_of_shape(shape)
    table = tuple(numbers[: len(region_of[0])])
    people = np.arange(1.0, len(table) + 1.0)
    for conditions in (Conditions(people, least_areas=least), Conditions(people, least_people=2.0 * least)):
        counts = released(table, region_of, levels_in_zones(cells_of(table), tree, k, conditions))
        for (level, region), areas in zones_by_hand(table, region_of, set(counts)).items():
            if level:
                assert len(areas) >= conditions.least_areas, (level, region)
                assert people[areas].sum() >= conditions.least_people, (level, region)
        # Without room for the condition a class is shown nowhere, which the whole territory always has here.
        if sum(table) >= k:
            assert sum(counts.values()) == sum(table)


def test_what_else_is_asked_holds_in_every_zone():
    areas = make_areas(list("abcd"), [(0, 0), (100, 0), (0, 900), (100, 900)])
    pairs = crosswalk_from_table(areas, list("abcd"), [1, 1, 2, 2])
    levels = make_levels(areas, [own_regions(4), pairs, crosswalk_from_table(areas, list("abcd"), [1] * 4)])
    of_area = ["a"] * 4 + ["b"] * 3 + ["c"] * 2 + ["d"] * 3
    # In “a” all have the same diagnosis.
    diagnosis = column_from_values(["x"] * 4 + ["x", "y", "y"] + ["x", "y"] + ["x", "y", "x"])
    table = RecordTable(
        column_from_values(of_area), {"sex": column_from_values(["F"] * 12)}, {"d": diagnosis}, sensitive=("d",)
    )
    records = match_records(table, areas)
    requirement = RecordSource(records).requirement(2, 2, 100.0)
    secrets = Secrets(np.random.default_rng(3))
    plan = nest(
        areas, records.profile, levels, 2, requirement=requirement, conditions=Conditions(areas.population, secrets)
    )
    zones = plan.equivalence_class_of[records.cell_of]
    assert plan.n_released == 12
    for zone in set(zones.tolist()):
        assert len(set(diagnosis.codes[zones == zone].tolist())) == 2


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(2, 4))
@settings(max_examples=25)
def test_the_attacker_knows_of_zones_what_is_true_and_no_less(seed, k):
    rng = np.random.default_rng(seed)
    names = [f"a{i}" for i in range(8)]
    areas = make_areas(names, [(100.0 * i, 50.0 * (i % 3)) for i in range(8)])
    fine = crosswalk_from_table(areas, names, [1, 1, 2, 2, 3, 3, 4, 4])
    coarse = crosswalk_from_table(areas, names, [1] * 4 + [2] * 4)
    levels = make_levels(areas, [own_regions(8), fine, coarse, crosswalk_from_table(areas, names, [1] * 8)])
    table = RecordTable(
        column_from_values([names[i] for i in rng.integers(0, 8, 60)]),
        {"age": column_from_values([("young", "middle", "old")[i] for i in rng.integers(0, 3, 60)])},
        kept={},
    )
    records = match_records(table, areas)
    plan = nest(areas, records.profile, levels, k, conditions=Conditions(np.full(8, 99.0), Secrets(rng, closed=0.2)))
    release = publish(plan, areas)
    over = overlay([release, release])
    true = records.profile.counts.toarray()[:, plan.class_of[plan.released]]
    for family in over.sums(np.arange(len(over.entries))):
        if family.release:
            continue
        for at, (level, region) in enumerate(zip(release.level, release.region)):
            if level != family.level:
                continue
            people = true[levels.crosswalks[level].region_of == region, at].sum()
            column = family.class_of == release.class_of[at]
            assert family.low[region, :-1][column] == family.high[region, :-1][column] == people


def test_a_register_remembers_that_a_release_is_in_zones(tmp_path):
    areas, records, crosswalk = hamlet()
    whole = crosswalk_from_table(areas, list("abcd"), [1, 1, 1, 1])
    levels = make_levels(areas, [own_regions(4), crosswalk, whole])
    path = tmp_path / "register.gpkg"
    for title, disclosure in ((1, NO_SMALL_COUNT), (2, CLASS_HAS_K)):
        plan = anonymise(areas, records, levels, Ask(k=2, disclosure=disclosure)).plan
        new_entry(path, publish(plan, areas, f"release {title}"), title - 1).put()
    assert [release.in_zones for release in read_register(path)] == [True, False]
