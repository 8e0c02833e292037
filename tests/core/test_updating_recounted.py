"""What an update reads of earlier releases and of its records: recounted person by person, in plain loops."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import make_levels
from vbas.core.plan import SUPPRESSED, area_of_cells
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import HOUSEHOLDS, PERSONS, RecordTable
from vbas.core.releases.keeping import NOBODY
from vbas.core.releases.update_refused import check_updated_members, check_updated_releases
from vbas.core.releases.updating import (
    SHOWN,
    Update,
    _by_value,
    _drawn,
    _fewer_as_fine,
    _people,
    _split,
    check_update,
    last_of_the_same,
    levels_drawn,
    levels_of_release,
    of_the_same_geography,
    places_of,
    under_levels,
)

from ..each import for_each_seed
from .test_comparing_recounted import AGE, AREAS, ILLS, JOBS, SEX, drawn, levels_of, places, release

SIZE = {0: 2, 1: 4}  # areas of a region of each level


def only(**values: object) -> Any:
    """Of a plan only what a step looks at."""
    return SimpleNamespace(**values)


def town(rng, with_counts):
    """Records of people, a row for each or for several: area, class, illness and job, and how many."""
    n = int(rng.integers(20, 60))
    people = [
        (
            int(rng.integers(AREAS)),
            (int(rng.integers(2)), int(rng.random() < 0.8)),
            int(rng.integers(3)),
            int(rng.integers(2)),
        )
        for _ in range(n)
    ]
    counts = rng.integers(0, 4, n) if with_counts else np.ones(n, np.int64)
    table = RecordTable(
        column_from_values([f"a{area}" if rng.random() < 0.95 else "elsewhere" for area, *_ in people]),
        {
            "age": column_from_values([AGE[of[1]] for _, of, _, _ in people]),
            "sex": column_from_values([SEX[of[0]] for _, of, _, _ in people]),
        },
        {
            "job": column_from_values([JOBS[job] for *_, job in people]),
            "ill": column_from_values([ILLS[ill] for *_, ill, _ in people]),
        },
        counts if with_counts else None,
        sensitive=("ill",),
    )
    records = match_records(table, places(), "suppress")
    matched = [(one, int(n)) for one, n, cell in zip(people, counts, records.cell_of.tolist()) if cell >= 0]
    return records, matched


def region_of(level, area):
    """The areas of the region of a level that an area is in; none for the last."""
    first = area // SIZE[level] * SIZE[level]
    return tuple(range(first, min(first + SIZE[level], 6))) if area < 6 else ()


def drawn_town(seed):
    rng = np.random.default_rng(seed)
    months: list[dict[Any, np.ndarray]] = []
    nested = bool(seed % 3)
    while not months:
        shown, shown_later, is_nested = drawn(rng)
        if is_nested == nested and shown and shown_later:
            months = [shown, shown_later]
    earlier = [
        release(rng, shown, nested, ["sex", "age"][:: int(rng.choice([-1, 1]))], rng.random() < 0.5, True)
        for shown in months
    ]
    records, people = town(rng, bool(seed % 2))
    return rng, levels_of(rng, nested), months, earlier, records, people


def classes_of(records):
    """The class of each number: sex and age, by their numbers."""
    names = records.profile.quasi_identifiers
    for codes in records.profile.classes.tolist():
        values = {name: of[code] for name, of, code in zip(names, records.profile.categories, codes)}
        yield SEX.index(values["sex"]), AGE.index(values["age"])


@for_each_seed(30)
def test_what_places_have_and_had(seed):
    _, levels, months, earlier, records, people = drawn_town(seed)
    classes = list(classes_of(records))
    found = places_of(records.profile, levels, earlier, places())
    for level, of_level in enumerate(found):
        now: Counter[Any] = Counter()
        for (area, class_of, *_), n in people:
            now[region_of(level, area), class_of] += n
        released = [Counter[Any](), Counter[Any]()]
        within = [Counter[Any](), Counter[Any]()]
        for month, shown in enumerate(months):
            for (at, inside, class_of), numbers in shown.items():
                if class_of in classes and at <= level:
                    key = region_of(level, inside[0]), class_of
                    within[month][key] += int(numbers.sum())
                    released[month][key] += int(numbers.sum()) * (at == level)
        cells = {
            (region_of(level, int(area)), classes[of])
            for area, of in zip(area_of_cells(records.profile), records.profile.counts.indices)
        }
        keys = {key for key in cells | within[0].keys() | within[1].keys() if key[0]}
        by_number = {
            key: int(levels.region_of[level][key[0][0]]) * len(classes) + classes.index(key[1]) for key in keys
        }
        assert of_level.key.tolist() == sorted(by_number.values())
        for key, number in by_number.items():
            at = of_level.key.tolist().index(number)
            assert of_level.people[at] == now[key]
            assert of_level.released[at].tolist() == [month[key] for month in released]
            assert of_level.within[at].tolist() == [month[key] for month in within]
            if level == len(found) - 1:
                assert of_level.parent[at] == NOBODY
            else:
                around = int(levels.region_of[level + 1][key[0][0]]) * len(classes) + classes.index(key[1])
                assert found[level + 1].key[of_level.parent[at]] == around


@for_each_seed(30)
def test_what_places_have_and_had_by_value(seed):
    _, levels, months, earlier, records, people = drawn_town(seed)
    classes, areas = list(classes_of(records)), places()
    of_places = places_of(records.profile, levels, earlier, areas)
    cell, row = _people(records)
    area, class_of = area_of_cells(records.profile)[cell], records.profile.counts.indices[cell]
    assert Counter(zip(area.tolist(), (classes[of] for of in class_of.tolist()))) == Counter(
        one[:2] for one, n in people for _ in range(n)
    )
    by_value, found = _by_value(records, row, area, class_of, levels, earlier, of_places, areas)
    table = records.table
    ill, job = (table.kept[name] for name in ("ill", "job"))
    texts = [(ill.categories[ill.codes[at]], job.categories[job.codes[at]]) for at in row.tolist()]
    for level, of_level in enumerate(by_value):
        keys = of_places[level].key[of_level.place].tolist()
        pairs = list(zip(keys, of_level.value.tolist()))
        assert pairs == sorted(set(pairs))
        text_of: dict[int, Any] = {}
        for person, pair in enumerate(found.pair[level].tolist()):
            region = int(levels.region_of[level][area[person]])
            assert (pair == NOBODY) == (found.place[level][person] == NOBODY) == (region < 0)
            if pair != NOBODY:
                assert keys[pair] == region * len(classes) + class_of[person]
                assert of_level.place[pair] == found.place[level][person]
                assert text_of.setdefault(int(of_level.value[pair]), texts[person]) == texts[person]
        assert (
            of_level.people.tolist()
            == np.bincount(found.pair[level][found.pair[level] >= 0], minlength=len(keys)).tolist()
        )
        number_of = {text: value for value, text in text_of.items()}
        assert len(number_of) == len(text_of)
        for month, shown in enumerate(months):
            released, within = Counter[Any](), Counter[Any]()
            for (at, inside, class_of_it), numbers in shown.items():
                if class_of_it not in classes or at > level:
                    continue
                key = int(levels.region_of[level][inside[0]]) * len(classes) + classes.index(class_of_it)
                for (i, j), n in np.ndenumerate(numbers):
                    value = number_of.get((ILLS[i], JOBS[j]), (ILLS[i], JOBS[j]))
                    within[key, value] += int(n)
                    released[key, value] += int(n) * (at == level)
            for of, column in ((released, of_level.released), (within, of_level.within)):
                assert column[:, month].sum() == sum(of.values())
                for pair, number in zip(pairs, column[:, month].tolist()):
                    if pair[1] in text_of:
                        assert of[pair] == number
        (part,) = of_level.parts
        for value, text in text_of.items():
            of_ill = {int(part[at]) for at in np.flatnonzero(of_level.value == value)}
            same = {
                int(part[at])
                for other, its in text_of.items()
                if its[0] == text[0]
                for at in np.flatnonzero(of_level.value == other)
            }
            assert of_ill == same and len(same) == 1
        if level + 1 < len(by_value):
            for at, up in enumerate(of_level.parent.tolist()):
                assert by_value[level + 1].value[up] == of_level.value[at]
                assert by_value[level + 1].place[up] == of_places[level].parent[of_level.place[at]]
        else:
            assert (of_level.parent == NOBODY).all()


@for_each_seed(24)
def test_records_are_split_by_where_people_are_shown(seed):
    rng, levels, _, _, records, _ = drawn_town(seed)
    nested = len(levels) > 1
    cell, row = _people(records)
    level_of = rng.integers(-1, len(levels), len(cell)).astype(np.int8)
    split, level_of_cells = _split(records, cell, row, level_of, nested)
    area = area_of_cells(records.profile)
    expected: Counter[Any] = Counter()
    for own, level in zip(cell.tolist(), level_of.tolist()):
        if nested or level != SUPPRESSED:
            expected[int(area[own]), int(records.profile.counts.indices[own]), level] += 1
    cells = list(
        zip(area_of_cells(split.profile).tolist(), split.profile.counts.indices.tolist(), level_of_cells.tolist())
    )
    assert dict(zip(cells, split.profile.counts.data.tolist())) == dict(expected) and len(cells) == len(expected)
    assert split.n_unmatched == records.n_unmatched + len(cell) - sum(expected.values())
    assert len(split.cell_of) == len(split.table)
    held: Counter[Any] = Counter()
    shown = [*split.table.quasi_identifiers.values(), *split.table.kept.values(), split.table.area]
    told: Counter[Any] = Counter()
    for at, own in enumerate(split.cell_of.tolist()):
        n = 1 if split.table.counts is None else int(split.table.counts[at])
        told[tuple(column.categories[column.codes[at]] for column in shown)] += n
        if own >= 0:
            held[cells[own]] += n
            assert split.table.area.categories[split.table.area.codes[at]] == f"a{cells[own][0]}"
    assert held == expected
    before: Counter[Any] = Counter()
    columns = [*records.table.quasi_identifiers.values(), *records.table.kept.values(), records.table.area]
    for at, own in enumerate(records.cell_of.tolist()):
        if own >= 0 or records.table.counts is None:
            n = 1 if records.table.counts is None else int(records.table.counts[at])
            before[tuple(column.categories[column.codes[at]] for column in columns)] += n
    assert +before == +told


@for_each_seed(12)
def test_so_many_are_drawn_of_each_place_as_are_to_be_shown(seed):
    rng, levels, _, earlier, records, _ = drawn_town(seed)
    of_places = places_of(records.profile, levels, earlier, places())
    cell, _ = _people(records)
    area, class_of = area_of_cells(records.profile)[cell], records.profile.counts.indices[cell]
    n_classes = len(records.profile.classes)
    numbers = only(released=[rng.integers(0, 4, len(of.key)) for of in of_places])
    level_of = levels_drawn(area, class_of, n_classes, levels, of_places, numbers, rng)
    waits = np.ones(len(cell), bool)
    for level, of_level in enumerate(of_places):
        region = levels.region_of[level][area]
        for at, key in enumerate(of_level.key.tolist()):
            here = (region >= 0) & (region * n_classes + class_of == key)
            shown = int((here & (level_of == level)).sum())
            assert shown == min(int((here & waits).sum()), int(numbers.released[level][at]))
        waits &= level_of != level
    assert (level_of[waits] == SUPPRESSED).all()
    place, number = rng.integers(0, 4, 30), rng.integers(0, 9, 5)
    chosen = _drawn(place, number, rng)
    assert chosen.tolist() == sorted(set(chosen.tolist()))
    assert (
        np.bincount(place[chosen], minlength=5).tolist() == np.minimum(np.bincount(place, minlength=5), number).tolist()
    )


def test_people_who_are_shown_less_finely_are_the_most_of_each_class_up_to_some_level():
    rng = np.random.default_rng(0)
    for _ in range(40):
        plans = [
            only(
                profile=only(classes=np.zeros((2, 1))),
                levels=[0, 1, 2],
                released=rng.random(9) < 0.8,
                level=rng.integers(0, 3, 9),
                class_of=rng.integers(0, 2, 9),
                records=rng.integers(1, 9, 9),
            )
            for _ in range(2)
        ]
        fewer = 0
        for class_of in range(2):
            up_to = [
                [
                    int(some.records[some.released & (some.class_of == class_of) & (some.level <= level)].sum())
                    for level in range(3)
                ]
                for some in plans
            ]
            fewer += max(0, *(own - now for now, own in zip(*up_to)))
        assert _fewer_as_fine(*plans) == fewer


def test_what_is_updated_is_the_last_of_the_same_quasi_identifiers_areas_and_regions():
    rng, levels, _, (first, second), records, _ = drawn_town(1)
    areas, profile = places(), records.profile
    now = under_levels(profile, levels, areas, {})
    others = [
        replace(second, quasi_identifiers=("sex", "years")),
        replace(second, coarsened={"age": 1}),
        replace(second, areas=np.array([f"b{i}" for i in range(AREAS)], dtype=object)),
    ]
    regions = Crosswalk(np.array([0, 1, 1, 1, 2, 2, -1]), 3)
    elsewhere = replace(second, levels=make_levels(areas, [regions, *second.levels.crosswalks[1:]][:1]))
    earlier = [first, second, *others, elsewhere]
    assert of_the_same_geography(earlier, now) == [0, 1]
    assert last_of_the_same(earlier, profile, {}, areas, levels) == 1
    assert last_of_the_same(earlier, profile, {}, areas, None) == 5  # by whatever regions
    assert last_of_the_same(others, profile, {}, areas, None) is None
    assert last_of_the_same(others, profile, {"age": 1}, areas, None) == 1
    assert last_of_the_same([elsewhere], profile, {}, areas, levels) is None
    assert check_update(earlier, now, Update(0, followed=SHOWN)) == [1, 0]
    assert check_update(earlier, now, Update(1, followed=SHOWN)) == [0, 1]
    for entry in (2, 3):
        with pytest.raises(InputError, match="give the same QUASI_IDENTIFIERS"):
            check_update(earlier, now, Update(entry, followed=SHOWN))
    for entry in (4, 5):
        with pytest.raises(InputError, match="has other regions than CROSSWALK"):
            check_update(earlier, now, Update(entry, followed=SHOWN))
    order = rng.permutation(AREAS)
    turned = replace(
        second,
        areas=second.areas[order],
        levels=make_levels(
            areas, [replace(crosswalk, region_of=crosswalk.region_of[order]) for crosswalk in second.levels.crosswalks]
        ),
    )
    for there, here in zip(second.levels.region_of, levels_of_release(turned, areas).region_of):
        assert there.tolist() == here.tolist()
    with pytest.raises(InputError, match=r"has other areas than these \(“?a0"):
        levels_of_release(others[2], areas)
    fewer = replace(second, areas=np.append(second.areas, "a7"))
    with pytest.raises(InputError, match=r"has other areas than these \(“?a7"):
        levels_of_release(fewer, areas)


def test_what_cannot_be_updated_is_refused():
    _, _, _, (one, _), records, _ = drawn_town(1)
    check_updated_releases([one], ["ill", "job"])
    check_updated_releases([], ["ill", "job"])
    check_updated_releases([one], [])
    for other, why in (
        (replace(one, period="year"), "who leaves in one period"),
        (replace(one, of_persons=True), "counts persons, who may have several rows"),
        (replace(one, rows=None, sensitive=()), "does not keep what its rows showed in “ill” and “job”"),
        (
            replace(one, rows=None, updates=(0, "update")),
            "does not keep what its rows showed" if one.sensitive else "No release",
        ),
    ):
        with pytest.raises(InputError, match=why):
            check_updated_releases([other], ["ill", "job"])
    nothing = replace(one, rows=None, sensitive=(), updates=(0, "update"))
    with pytest.raises(InputError, match="No release of the register is known to have shown “ill” and “job”"):
        check_updated_releases([nothing], ["ill", "job"])
    check_updated_releases([nothing, one], ["ill", "job"])  # the one shows none of them, as it is an update
    check_updated_releases([replace(one, rows=None, sensitive=())], [])
    table = records.table
    check_updated_members(table)
    own = column_from_values(range(len(table)))
    check_updated_members(replace(table, members={PERSONS: own}))
    twice = column_from_values([0, 0, *range(2, len(table))])
    with pytest.raises(InputError, match="1 row is of a person who has another"):
        check_updated_members(replace(table, members={PERSONS: twice}))
    with pytest.raises(InputError, match="An update counts persons, and not households"):
        check_updated_members(replace(table, members={HOUSEHOLDS: own}))
