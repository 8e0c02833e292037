"""Nested releases whose last levels show values coarser: every class has k, the optimum, the rows, the recount."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.errors import InputError, PrivacyError
from vbas.core.generalising import make_hierarchy
from vbas.core.levels import make_levels, own_regions, with_coarser_values
from vbas.core.nesting.coarser import nest_coarser
from vbas.core.nesting.coarser_places import places_of
from vbas.core.nesting.losses import LOSSES
from vbas.core.nesting.planning import nest
from vbas.core.nesting.recount import check_where_released
from vbas.core.nesting.views import as_released
from vbas.core.plan import area_of_cells
from vbas.core.records.columns import Column
from vbas.core.records.matching import match_records, requirement_of
from vbas.core.records.table import RecordTable
from vbas.core.release import apply

from ..exploring import tried
from .nested_cases import random_levels, row_by_row

NAMES = ("age", "sex")
AGES = np.array(["1", "2", "3", None], dtype=object)
SEXES = np.array(["F", "M"], dtype=object)
HIERARCHIES = {
    "age": make_hierarchy("age", AGES, [["1-2", "1-2", "3", None], ["*"] * 4]),
    "sex": make_hierarchy("sex", SEXES, [["*", "*"]]),
}
ORDERS = ((), (("age", 1),), (("age", 1), ("sex", 1)), (("sex", 1), ("age", 2)), (("age", 1), ("age", 2), ("sex", 1)))


@st.composite
def cases(draw, most_areas=5, most_rows=60, most_levels=3, orders=ORDERS, counted=False, with_kept=False):
    """Areas, records with persons and a kept field, places, k."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rows = draw(st.integers(2, most_areas)), draw(st.integers(4, most_rows))
    areas = make_areas(
        [f"a{i}" for i in range(n)], rng.integers(0, 100, (n, 2)).astype(float), 1.0 + rng.integers(0, 9, n)
    )
    columns = {
        "age": Column(rng.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05]), AGES),
        "sex": Column(rng.choice(2, rows, p=[0.8, 0.2]), SEXES),
    }
    kept = {"ill": Column(rng.integers(0, 2, rows), np.array(["no", "yes"], dtype=object))}
    counts = rng.integers(0, 4, rows) + 2 * (np.arange(rows) == 0) if counted else None
    kept = kept if with_kept else {}
    area = Column(rng.integers(0, n, rows), areas.identifiers)
    records = match_records(RecordTable(area, columns, kept, counts), areas)
    levels = random_levels(areas, rng, draw(st.integers(1, most_levels)), left_out=True)
    places = places_of(records.profile, with_coarser_values(levels, draw(st.sampled_from(orders))), HIERARCHIES)
    return areas, records, places, draw(st.integers(2, 5))


def shown_by_hand(places, area, age, sex, level):
    """Region and values that a cell shows at a level, from the hierarchies written out above."""
    node = dict(zip(NAMES, places.nodes[level]))
    of_age = ({"1": "1", "2": "2", "3": "3", None: None}, {"1": "1-2", "2": "1-2", "3": "3", None: None})
    value = "*" if node["age"] == 2 else of_age[node["age"]][age]
    return int(places.levels.crosswalks[level].region_of[area]), value, "*" if node["sex"] else sex


def cells_of(profile):
    """(area, age, sex, records) of each cell."""
    rows = zip(area_of_cells(profile).tolist(), profile.counts.indices.tolist(), profile.counts.data.tolist())
    return [
        (area, *(one[code] for one, code in zip(profile.categories, profile.classes[of])), n) for area, of, n in rows
    ]


@pytest.mark.slow
@settings(max_examples=tried(80, 250), deadline=None)
@given(cases(counted=True), st.sampled_from(list(LOSSES)))
def test_every_equivalence_class_has_k_records_and_only_what_is_too_rare_at_the_last_level_is_suppressed(case, loss):
    areas, records, places, k = case
    plan = nest_coarser(areas, places, k, loss)
    cells = cells_of(records.profile)
    equivalence_classes: dict[tuple, int] = {}
    last: dict[tuple, int] = {}
    top = len(places.levels) - 1
    for area, age, sex, n in cells:
        key = shown_by_hand(places, area, age, sex, top)
        last[key] = last.get(key, 0) + n
    assert plan.level_of is not None
    for (area, age, sex, n), level in zip(cells, plan.level_of.tolist()):
        whole = shown_by_hand(places, area, age, sex, top)
        assert (level < 0) == (whole[0] < 0 or last[whole] < k)
        if level >= 0:
            key = (level, *shown_by_hand(places, area, age, sex, level))
            equivalence_classes[key] = equivalence_classes.get(key, 0) + n
    assert all(n >= k for n in equivalence_classes.values())
    # The rows show these equivalence classes and no others, as many as there are.
    release = apply(as_released(plan, places), records)
    recount(release, places)
    rows = zip(release.level.tolist(), release.region.tolist(), *(values(release.fields[name]) for name in NAMES))
    found: dict[tuple, int] = {}
    for row, n in zip(rows, release.counts.tolist()):
        found[row] = found.get(row, 0) + n
    assert found == equivalence_classes


def recount(release, places, whole=True):
    check_where_released(release, places.profile, places.levels, whole, places.hierarchies)


def values(column):
    return [column.categories[code] for code in column.codes.tolist()]


@pytest.mark.slow
@settings(max_examples=tried(65, 200), deadline=None)
@given(cases(most_areas=4, most_rows=12, most_levels=2), st.sampled_from(list(LOSSES)))
def test_it_is_the_optimum_of_brute_force_or_close_to_it(case, loss):
    """Fewest suppressed are brute force's; seldom a class more is shown coarser; the geography is rarely worse."""
    areas, records, places, k = case
    cells = cells_of(records.profile)
    if (len(places.levels) + 1) ** len(cells) > 20_000:
        return
    metres = [LOSSES[loss](areas, records.profile, crosswalk) for crosswalk in places.levels.crosswalks]
    best = min(
        filter(
            None,
            (
                cost(places, cells, choice, metres, k)
                for choice in product(range(-1, len(places.levels)), repeat=len(cells))
            ),
        )
    )
    plan = nest_coarser(areas, places, k, loss)
    assert plan.level_of is not None
    found = cost(places, cells, plan.level_of.tolist(), metres, k)
    assert found is not None
    assert found[0] == best[0] and best[1] <= found[1] <= 2 * best[1] + k
    assert found[1] > best[1] or found[2] >= best[2] - 1e-9


def cost(places, cells, choice, metres, k):
    """(Suppressed, coarser levels, loss) of a choice of levels; None where an equivalence class has fewer than k."""
    suppressed, coarser, loss = 0, 0, 0.0
    equivalence_classes: dict[tuple, int] = {}
    n_regional = sum(not any(node) for node in places.nodes)
    for (area, age, sex, n), level in zip(cells, choice):
        if level < 0:
            suppressed += n
            continue
        key = (level, *shown_by_hand(places, area, age, sex, level))
        if key[1] < 0:
            return None
        equivalence_classes[key] = equivalence_classes.get(key, 0) + n
        coarser += n * max(level - n_regional + 1, 0)
        loss += n * metres[level][key[1]]
    return (suppressed, coarser, loss) if all(n >= k for n in equivalence_classes.values()) else None


@pytest.mark.slow
@settings(max_examples=tried(40, 100), deadline=None)
@given(cases(orders=((),), counted=True), st.sampled_from(list(LOSSES)))
def test_without_a_coarser_level_it_is_the_nested_release_as_it_was(case, loss):
    areas, records, places, k = case
    plan, before = nest_coarser(areas, places, k, loss), nest(areas, records.profile, places.levels, k, loss)
    assert plan.level_of is not None and before.level_of is not None
    assert plan.level_of.tolist() == before.level_of.tolist()
    assert sorted(plan.records.tolist()) == sorted(before.records.tolist())


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cases(with_kept=True), st.integers(0, 2**32 - 1))
def test_persons_and_sensitive_values_are_counted_in_what_is_shown(case, seed):
    areas, records, places, k = case
    rng = np.random.default_rng(seed)
    persons = Column(rng.integers(0, 12, len(records.table)), np.arange(12).astype(str).astype(object))
    table = replace(records.table, members={"persons": persons}, sensitive=("ill",))
    records = replace(records, table=table)
    requirement = requirement_of(records, k, 2)
    plan = nest_coarser(areas, places, k, requirement=requirement)
    release = apply(as_released(plan, places), records, [], requirement)
    recount(release, places, whole=False)
    assert plan.level_of is not None
    cells = cells_of(records.profile)
    equivalence_classes: dict = {}
    for row, cell in enumerate(records.cell_of.tolist()):
        level = int(plan.level_of[cell]) if plan.equivalence_class_of[cell] >= 0 else -1
        if level >= 0:
            area, age, sex, _ = cells[cell]
            key = (level, *shown_by_hand(places, area, age, sex, level))
            equivalence_classes.setdefault(key, []).append((int(persons.codes[row]), int(table.kept["ill"].codes[row])))
    for members in equivalence_classes.values():
        assert len({person for person, _ in members}) >= k
        assert len({ill for _, ill in members}) >= 2
    assert sum(map(len, equivalence_classes.values())) == len(release)
    # A class is as large as it has persons, by region too.
    found = as_released(plan, places)
    assert found.sizes.tolist() == plan.sizes.tolist()
    assert sorted(found.sizes.tolist()) == sorted(
        len({person for person, _ in people}) for people in equivalence_classes.values()
    )


def town(ages, sexes, homes):
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [1000.0, 0.0]]), np.array([5.0, 5.0]))
    table = RecordTable(
        Column(np.array(homes), areas.identifiers),
        {"age": Column(np.array(ages), AGES), "sex": Column(np.array(sexes), SEXES)},
        {},
    )
    records = match_records(table, areas)
    levels = make_levels(areas, [own_regions(2), replace(own_regions(2), region_of=np.zeros(2, np.int64), n_regions=1)])
    return areas, records, levels


def test_what_is_rare_in_the_largest_region_is_shown_coarser():
    areas, records, levels = town([0, 0, 0, 1, 2, 0], [0] * 6, [0, 0, 0, 0, 0, 1])
    places = places_of(records.profile, with_coarser_values(levels, (("age", 1), ("age", 2))), HIERARCHIES)
    plan = nest_coarser(areas, places, 2)
    release = apply(as_released(plan, places), records)
    columns = release.level.tolist(), release.region.tolist(), values(release.fields["age"]), release.counts.tolist()
    rows = sorted(zip(*columns))
    # Ages 2 and 3 have one record each: together they are two at “*”, where nobody else need go.
    assert rows == [(1, 0, "1", 4), (3, 0, "*", 2)]


def test_levels_that_do_not_become_coarser_are_refused():
    _, records, levels = town([0, 1], [0, 0], [0, 1])
    with pytest.raises(InputError, match="“age” is to be shown at level 1 after level 1"):
        places_of(records.profile, with_coarser_values(levels, (("age", 1), ("age", 1))), HIERARCHIES)
    with pytest.raises(InputError, match="“ill” is not among QUASI_IDENTIFIERS"):
        places_of(records.profile, with_coarser_values(levels, (("ill", 1),)), HIERARCHIES)
    with pytest.raises(InputError, match=r"“sex” is to be shown at level 2, but its levels are 0 .* to 1"):
        places_of(records.profile, with_coarser_values(levels, (("sex", 2),)), HIERARCHIES)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cases(orders=ORDERS[1:]), st.integers(0, 2**32 - 1))
def test_the_recount_refuses_rows_that_show_what_nobody_is(case, seed):
    """A row moved to another value, level or region is found wherever more would then be shown than live there."""
    areas, records, places, k = case
    release = row_by_row(apply(as_released(nest_coarser(areas, places, k), places), records))
    if not len(release):
        return
    rng = np.random.default_rng(seed)
    row = int(rng.integers(len(release)))
    level, region = release.level.copy(), release.region.copy()
    codes = {name: release.fields[name].codes.copy() for name in NAMES}
    if rng.random() < 0.5:
        name = NAMES[int(rng.integers(2))]
        codes[name][row] = rng.integers(len(release.fields[name].categories))
    else:
        level[row] = rng.integers(len(places.levels))
        region[row] = rng.integers(places.levels.crosswalks[level[row]].n_regions)
    fields = {**release.fields, **{name: Column(codes[name], release.fields[name].categories) for name in NAMES}}
    moved = replace(release, level=level, region=region, fields=fields)
    if fits(moved, places, records.profile):
        recount(moved, places)
    else:
        with pytest.raises(PrivacyError):
            recount(moved, places)


def fits(release, places, profile):
    """Whether a release could show these rows, record by record, by the hierarchies written out above."""
    cells = cells_of(profile)
    top = len(places.levels) - 1
    for target in range(len(places.levels)):
        live: dict[tuple, int] = {}
        released: dict[tuple, int] = {}
        for area, age, sex, n in cells:
            key = shown_by_hand(places, area, age, sex, target)
            if key[0] >= 0:
                live[key] = live.get(key, 0) + n
        rows = zip(release.level.tolist(), release.region.tolist(), *(values(release.fields[name]) for name in NAMES))
        for level, region, age, sex in rows:
            if level > target:
                continue
            node, at = dict(zip(NAMES, places.nodes[level])), dict(zip(NAMES, places.nodes[target]))
            own = [["1", "2", "3", None], ["1-2", "3", None], ["*"]][node["age"]]
            if age not in own or sex not in (["*"] if node["sex"] else ["F", "M"]):
                return False
            above = {"1": "1-2", "2": "1-2"}.get(age, age)
            age = "*" if at["age"] == 2 else above if at["age"] == 1 else age
            area = int(np.flatnonzero(places.levels.crosswalks[level].region_of == region)[0])
            key = (int(places.levels.crosswalks[target].region_of[area]), age, "*" if at["sex"] else sex)
            released[key] = released.get(key, 0) + 1
        if any(n > live.get(key, 0) for key, n in released.items()):
            return False
        if target == top and any(n != live[key] for key, n in released.items()):
            return False
    return True


def test_the_recount_refuses_a_class_of_which_a_part_is_missing():
    areas, records, levels = town([0, 0, 0, 1, 2, 0], [0] * 6, [0, 0, 0, 0, 0, 1])
    places = places_of(records.profile, with_coarser_values(levels, (("age", 1),)), HIERARCHIES)
    release = row_by_row(apply(as_released(nest_coarser(areas, places, 2), places), records))
    fields = {name: Column(field.codes[1:], field.categories) for name, field in release.fields.items()}
    fewer = {name: getattr(release, name)[1:] for name in ("level", "region", "counts")}
    missing = replace(release, fields=fields, **fewer)
    recount(missing, places, whole=False)
    with pytest.raises(PrivacyError, match="1 class of level 3"):
        recount(missing, places)
