"""What is known of the sums of one release, by region and class: recounted area by area, in plain loops."""

from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure import asked as asking
from vbas.core.disclosure.asked import _hanging_together, _Level, _Places, asked_of
from vbas.core.disclosure.chunk import chunk_of
from vbas.core.disclosure.class_rests import left_of_classes
from vbas.core.disclosure.counts import CELL, HIDDEN, REST
from vbas.core.disclosure.disclosed import _left, _whole
from vbas.core.disclosure.overlay import (
    NONE,
    UNBOUNDED,
    Schema,
    Sums,
    _joint_classes,
    _known,
    _nobody,
    _ReleasedValues,
    differences,
    overlay,
    region_around,
)
from vbas.core.disclosure.published import Published, publish
from vbas.core.disclosure.sensitive import _Part
from vbas.core.errors import InputError
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress

from ..each import for_each_seed
from .nested_cases import random_levels
from .release_cases import profile_over

N, CLASSES, K = 8, 3, 4


def drawn_release(rng, counts=False):
    """A release of any kind, that shows some classes in some regions."""
    areas = make_areas([f"a{i}" for i in range(N)], rng.random((N, 2)), np.ones(N))
    levels = random_levels(areas, rng, 1 if counts else int(rng.integers(1, 4)), left_out=True)
    places = [
        (level, region, of)
        for level, crosswalk in enumerate(levels.crosswalks)
        for region in range(crosswalk.n_regions)
        for of in range(CLASSES)
    ]
    shown = np.array([place for place in places if rng.random() < 0.4] or places[:1])
    n_coarsest = levels.crosswalks[-1].n_regions
    held = np.array([(region, of) for region in range(n_coarsest) for of in range(CLASSES) if rng.random() < 0.3], int)
    records = rng.integers(K, 20, len(shown))
    return Published(
        "one",
        K,
        areas.identifiers,
        levels,
        ("q",),
        (np.array(list("abc"), dtype=object),),
        np.arange(CLASSES)[:, None],
        shown[:, 0],
        shown[:, 1],
        shown[:, 2],
        records,
        bounded=bool(rng.random() < 0.5),
        whole=bool(rng.random() < 0.5),
        held_back=held.reshape(-1, 2) if rng.random() < 0.5 else None,
        in_zones=bool(rng.random() < 0.4),
        period="q" if rng.random() < 0.4 else "",
        counts_from=np.maximum(records - rng.integers(0, 9, len(shown)), 0) if counts else None,
    )


def areas_of(release, level, region):
    return set(np.flatnonzero(release.levels.region_of[level] == region).tolist())


@for_each_seed(60)
def test_what_is_known_of_a_class_in_a_region(seed):
    rng = np.random.default_rng(seed)
    release = drawn_release(rng, counts=seed % 6 == 0)
    own = np.append(rng.permutation(CLASSES), NONE)[rng.permutation(CLASSES + 1)]  # of one it knows nothing
    own = own[: int(rng.integers(2, CLASSES + 2))]
    last = len(release.levels) - 1
    shown = list(
        zip(*(column.tolist() for column in (release.level, release.region, release.class_of, release.records)))
    )
    there = {one[:3] for one in shown}
    none = (
        {(*one[:2], of) for one in there for of in range(CLASSES)} - there if release.period else set()
    )  # of a series
    for level, crosswalk in enumerate(release.levels.crosswalks):
        low, high, exact = _known(release, level, own)
        assert exact == (level == last or release.counts_from is not None)
        assert low.shape == high.shape == (crosswalk.n_regions + 1, len(own) + 1)
        for region in range(crosswalk.n_regions + 1):
            inside = areas_of(release, level, region)
            for column in range(len(own) + 1):
                of = int(own[column]) if column < len(own) else NONE
                least, most = 0, int(UNBOUNDED)
                if region < crosswalk.n_regions and column < len(own):  # a class that it does not show, too
                    if release.counts_from is not None:
                        for at, (_, its, one, n) in enumerate(shown):
                            if (its, one) == (region, of):
                                least, most = int(release.counts_from[at]), n
                    else:
                        within = [
                            n
                            for finer, at, one, n in shown
                            if one == of and finer <= level and areas_of(release, finer, at) <= inside
                        ]
                        least = sum(within)
                        if level == last and least and release.whole:
                            most = least
                        elif level == last and not least and (release.bounded or release.held_back is not None):
                            most = K - 1
                        if level == last and release.held_back is not None:
                            most = int(UNBOUNDED) if [region, of] in release.held_back.tolist() else most
                        some = any(areas_of(release, finer, at) <= inside for finer, at, _, _ in shown)
                        if last and level == last and release.period and of != NONE and some and not least:
                            most = 0  # all or nothing of a series is shown there
                        itself = any(one[:3] == (level, region, of) for one in shown)
                        if last and (itself or (level, region, of) in none) and (len(inside) == 1 or release.in_zones):
                            most = least
                        if not last and (level, region, of) in none:
                            most = 0
                if release.counts_from is None or (region < crosswalk.n_regions and of != NONE):
                    assert (int(low[region, column]), int(high[region, column])) == (least, most)


@for_each_seed(30)
def test_regions_around_others_and_what_lies_between(seed):
    rng = np.random.default_rng(seed)
    n_cells, sizes = 9, (3, 5)
    regions = [rng.integers(-1, size, n_cells) for size in sizes]
    if seed % 2:  # nested, but for a cell
        regions[0] = np.where(regions[1] >= 0, rng.integers(0, sizes[0], sizes[1])[regions[1]], -1)
        regions[0][int(rng.integers(n_cells))] = int(rng.integers(-1, sizes[0]))
    none = np.empty(0, np.int64)
    outer, inner = (Sums(0, 0, of, size, none, none, none, True) for of, size in zip(regions, sizes))
    around, between = [], []
    for region in range(inner.n_regions):
        own = regions[0][regions[1] == region]
        around.append(int(own[0]) if len(set(own.tolist())) == 1 else NONE)
        if around[-1] >= 0:
            rest = np.flatnonzero((regions[0] == around[-1]) & (regions[1] != region)).tolist()
            between += [(around[-1], region, rest)] * (len(rest) > 1)
    assert region_around(outer, inner).tolist() == around
    assert [(a, b, cells.tolist()) for a, b, cells in differences(outer, inner)] == between


@for_each_seed(30)
def test_parts_of_which_all_members_are_among_some(seed):
    rng = np.random.default_rng(seed)
    n, part_of = int(rng.integers(1, 5)), rng.integers(-1, 4, 8)
    part_of = np.minimum(part_of, n - 1)
    some = np.flatnonzero(rng.random(8) < 0.8)
    members = [set(np.flatnonzero(part_of == part).tolist()) for part in range(n)]
    assert _whole(part_of, some, n + 1).tolist() == [*(own <= set(some.tolist()) for own in members), False]


@for_each_seed(40)
def test_cells_of_a_class_that_shows_one_value_alone(seed):
    rng = np.random.default_rng(seed)
    n_cells, n_joint, n_values = 5, 3, 3
    families: list[Any] = []
    low_of, high_of = [], []
    for _ in range(2):
        n_regions, n_own = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        low = rng.integers(0, 3, (n_regions, n_own, n_values)) * (rng.random((n_regions, n_own, n_values)) < 0.5)
        high = low + (rng.random(low.shape) < 0.1)
        framed = [np.pad(of.reshape(n_regions, -1), ((0, 1), (0, 1))) for of in (low, high)]
        region = rng.integers(-1, n_regions, n_cells)
        own = rng.integers(-1, n_own, n_joint)
        families.append(SimpleNamespace(n_regions=n_regions, low=framed[0], high=framed[1], region=region, own=own))
        low_of.append(low)
        high_of.append(high)
    part: Any = SimpleNamespace(
        _people_low=np.zeros((n_cells, n_joint)),
        _shown=families,
        _n=n_values,
        _joint=np.arange(n_joint),
        _own=lambda family, columns: family.own[columns],
    )
    found = _Part._homogeneous_anyway(part)
    for cell in range(n_cells):
        for joint in range(n_joint):
            alike = False
            for family, low, high in zip(families, low_of, high_of):
                if family.region[cell] >= 0 and family.own[joint] >= 0:
                    values = low[family.region[cell], family.own[joint]]
                    known = (values == high[family.region[cell], family.own[joint]]).all()
                    alike |= bool(known and (values > 0).sum() == 1)
            assert found[cell, joint] == alike


@for_each_seed(60)
def test_people_of_parts_are_known_by_the_sums_and_the_cells_that_they_are_made_up_of(seed):
    rng = np.random.default_rng(seed)
    n_cells, n_joint, n_values = 4, 3, int(rng.integers(2, 4))
    low = rng.integers(0, 3, (n_cells, n_joint, n_values))
    high = low + (rng.random((n_cells, n_joint, 1)) < 0.2)
    families: list[Any] = []
    for _ in range(3):
        n_regions, n_own = int(rng.integers(1, 4)), int(rng.integers(0, 3))
        least = rng.integers(0, 5, (n_regions, n_own, n_values))
        most = least + (rng.random(least.shape) < 0.1)
        region, own = (
            rng.integers(-1, n_regions, n_cells),
            rng.integers(-1, n_own, n_joint) if n_own else np.full(3, -1),
        )
        framed = [np.pad(of.reshape(n_regions, -1), ((0, 1), (0, 1))) for of in (least, most)]
        families.append(SimpleNamespace(region=region, own=own, n_regions=n_regions, low=framed[0], framed=framed))
    part: Any = SimpleNamespace(
        _n=n_values,
        _joint=np.arange(n_joint),
        _own=lambda family, columns: family.own[columns],
        _low=low,
        _high=high,
    )
    part._placed = [_Part._placed_of(part, family, *family.framed) for family in families]
    asked = rng.random((n_cells, n_joint)) < 0.7
    rest, total = set(zip(*(of.tolist() for of in asked.nonzero()))), np.zeros(n_values, np.int64)
    for family in families:
        whole = set()
        for at, of in product(range(family.n_regions), range(family.own.max() + 1)):
            least, most = (sums[at, of * n_values : (of + 1) * n_values] for sums in family.framed)
            there = np.outer(family.region == at, family.own == of)
            members = set(zip(*(positions.tolist() for positions in there.nonzero())))
            if members and members <= rest and (least == most).all():
                whole |= members
                total += least
        rest -= whole
    found = _Part._known_parts(part, np.flatnonzero(asked))
    if any((low[cell] != high[cell]).any() for cell in rest):
        assert found is None
    else:
        assert found is not None and found.tolist() == sum((low[cell] for cell in rest), total).tolist()


def shown_in(chunk, at):
    """Of a release of one level the region of each cell, and the class of each joint class, NONE for none."""
    entry = chunk.over.entries[:, chunk.over.schema_of[at]]
    return chunk.over.regions[:, at], np.where(entry >= 0, chunk.over.own_class[at][entry], NONE)


def shown_within(chunk, at, cells, joint):
    """The equivalence classes of a release of one level that lie whole within these cells and joint classes."""
    release, (region_of, class_of) = chunk.over.releases[at], shown_in(chunk, at)
    return [
        number
        for number, (region, of) in enumerate(zip(release.region, release.class_of))
        if {*np.flatnonzero(region_of == region)} <= {*cells} and {*np.flatnonzero(class_of == of)} <= {*joint}
    ]


@for_each_seed(40)
def test_of_a_count_without_those_whom_its_release_shows_the_cells_and_the_one_class_of_the_others_are_named(seed):
    rng = np.random.default_rng(seed)
    areas = make_areas([f"a{i}" for i in range(N)], rng.random((N, 2)), np.ones(N))
    people = rng.integers(0, 8, (N, CLASSES)) * (rng.random((N, CLASSES)) < [0.9, 0.9, 0.4])
    coarse = np.column_stack([people[:, :2].sum(axis=1), people[:, 2]])
    profiles = [
        profile_over(people, [("x", "a"), ("x", "b"), ("y", "c")], ("p", "q")),
        profile_over(coarse, [("x",), ("y",)], ("p",)),
    ]
    plans = [
        suppress(profile, random_levels(areas, rng, 1, left_out=seed % 4 == 0).crosswalks[0], K) for profile in profiles
    ]
    over = overlay([publish(plan, areas) for plan in plans])
    chunk = chunk_of(over, np.arange(len(over.entries)), K, [])
    for at in [0, 1] * 10:
        region_of, class_of = shown_in(chunk, at)
        some = np.isin(region_of, rng.integers(0, 3, 2)) ^ (rng.random(over.n_cells) < 0.1)
        cells, joint = np.flatnonzero(some), np.flatnonzero(rng.random(len(over.entries)) < 0.7)
        if not len(cells) or not len(joint):
            continue
        release, count = over.releases[at], chunk.count(REST, cells, joint, 1, 1, (at,))
        gone = {(release.region[of], release.class_of[of]) for of in shown_within(chunk, at, cells, joint)}
        left = [(c, j) for c, j in product(cells, joint) if (region_of[c], class_of[j]) not in gone]
        if left:
            cells, joint_left = (np.unique(part) for part in zip(*left))
            joint = joint_left if len(joint_left) == 1 else joint
        taken = shown_within(chunk, at, cells, joint)
        found = _left(chunk, count, count.joint)
        assert (found.cells.tolist(), found.joint.tolist()) == (cells.tolist(), joint.tolist())
        assert (sorted(found.taken), found.less) == (taken, release.records[taken].sum())


def places_plainly(n_cells, levels):
    """All places that are asked about: single cells; regions, what two have in common, what one release's regions make
    up across those of another; and what is left of one beside another. By what each is first."""
    everything = frozenset(range(n_cells))
    regions = {
        (level.release, at, region): frozenset(
            np.flatnonzero(np.frombuffer(level.region_of, np.int64) == region).tolist()
        )
        for at, level in enumerate(levels)
        for region in range(level.n_regions)
    }
    kinds: dict[frozenset[int], str] = {frozenset([cell]): "cell" for cell in range(n_cells)}
    others, beside = set(regions.values()), {everything - own for own in regions.values()}
    for own in regions.values():
        for other in regions.values():
            others.add(own & other)
            beside |= {own - other} if own & other else set()
    for at, level in enumerate(levels):
        mine = {region: cells for (_, of, region), cells in regions.items() if of == at}
        across = [
            [region for region, cells in mine.items() if cells & theirs]
            for (release, *_), theirs in regions.items()
            if release != level.release
        ]
        together = [frozenset(some) for some in across]
        if level.exact:
            last = {frozenset([region]) for region in mine}
            while last:
                last = {some | {region} for some in last for few in across for region in few if some & set(few)} - last
                last -= set(together)
                together += last
        others |= {frozenset().union(*(mine[region] for region in some)) for some in together}
    for places, kind in ((others, "other"), (beside, "beside")):
        for place in places:
            kinds.setdefault(place, kind)
    kinds.pop(frozenset(), None)
    return kinds, regions


@for_each_seed(30)
def test_places_that_are_asked_about_are_those_of_plain_sets(seed):
    rng = np.random.default_rng(seed)
    n_cells, levels = int(rng.integers(3, 8)), []
    for release in range(int(rng.integers(2, 4))):
        region = rng.integers(-1, 3, n_cells)
        region[:2] = [0, 1]
        for exact in (False, True) if rng.random() < 0.5 else (True,):
            coarser = np.where(region >= 0, region // (2 if exact else 1), -1).astype(np.int64)
            levels.append(_Level(release, exact, int(coarser.max()) + 1, coarser.tobytes()))
    expected, regions = places_plainly(n_cells, levels)
    found = _Places(levels[-1].release + 1, n_cells, levels)
    members = found.members_of(np.arange(len(found.sizes)))
    rows = [frozenset(np.flatnonzero(row).tolist()) for row in members.toarray()]
    assert found.sizes.tolist() == [len(row) for row in rows]
    assert len(set(rows)) == len(rows) and set(rows) == set(expected)
    assert (members.data == 1).all()  # what lies in a place is what it has an entry for
    for place, is_cell, is_difference in zip(rows, found.is_cell.tolist(), found.is_difference.tolist()):
        assert (is_cell, is_difference) == (expected[place] == "cell", expected[place] == "beside")
    for release, own in enumerate(found.of_release):
        coarsest = {cells for (of, at, _), cells in regions.items() if of == release and levels[at].exact}
        assert own.tolist() == [place in coarsest and expected[place] != "cell" for place in rows]
    values = rng.integers(0, 9, (n_cells, 2))
    some = slice(1, len(rows) - 1)
    assert found.some(some).total(values).tolist() == [
        values[sorted(place)].sum(axis=0).tolist() for place in rows[some]
    ]


def test_regions_of_which_too_many_lie_within_others_are_refused_and_not_tried(monkeypatch):
    """Of 18 000 areas and 25 levels they took all of the memory there was."""
    whole, single = np.zeros(6, np.int64), np.arange(6, dtype=np.int64)
    levels = [_Level(0, True, 6, single.tobytes()), _Level(1, True, 1, whole.tobytes())]
    assert len(_Places(2, 6, levels).sizes)
    monkeypatch.setattr(asking, "MOST_CELLS", 50)
    with pytest.raises(InputError, match="of 2 levels, divide the areas into 6 parts"):
        _Places(2, 6, levels)


@for_each_seed(30)
def test_regions_that_hang_together_are_all_there_are_or_the_first_of_them(seed):
    rng, n = np.random.default_rng(seed), 5
    touch = rng.random((n, n)) < 0.4
    neighbours = [set(np.flatnonzero(row).tolist()) for row in touch | touch.T | np.eye(n, dtype=bool)]
    every = []
    for size in range(2, n + 1):
        for some in combinations(range(n), size):
            reached = {some[0]}
            for _ in some:
                reached |= {other for own in reached for other in neighbours[own]} & {*some}
            every += [[*some]] if len(reached) == size else []
    for most in (1, 4, 9, 300):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asking, "MOST_UNIONS", most)
            assert _hanging_together(neighbours) == every[:most]


def asked_plainly(over, asked):
    """What is asked, by the cells and joint classes and by what is taken away: bounds, kind and release."""
    found: dict[tuple[frozenset, int], tuple] = {}
    for row in range(len(asked.low)):
        at = asked.members[row].indices.tolist()
        key = frozenset(divmod(one, len(over.entries)) for one in at), int(asked.taken[row])
        assert key not in found or asked.kind[row] == REST
        bounds = int(asked.low[row]), int(asked.high[row])
        found.setdefault(key, (bounds, asked.kind[row], int(asked.release[row])))
    return found


@for_each_seed(8)
def test_what_bounds_alone_pin_is_what_is_asked_and_named_by_the_first_release(seed):
    """Without programs it is all of which the bounds lie within 1 to k - 1; a region and class that several releases
    have is the first one's."""
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 6, (N, CLASSES))
    profile = profile_over(people, [(one,) for one in "abc"], ("q",))
    areas = make_areas([f"a{i}" for i in range(N)], rng.random((N, 2)), np.ones(N))
    regions = [number_compactly(np.sort(rng.integers(0, 4, N)))[0] for _ in range(2)]
    releases = [publish(suppress(profile, of, K), areas) for of in (*regions, regions[seed % 2])]
    over = overlay(releases)
    chunk = chunk_of(over, np.arange(len(over.entries)), K, [0])
    everything, pinned = asked_plainly(over, asked_of(chunk, [])), asked_plainly(over, asked_of(chunk, None))
    within = {key: found for key, found in everything.items() if found[0][0] >= 1 and found[0][1] < K}
    assert pinned == within
    for (members, _), (_, kind, release) in everything.items():
        cells, joint = (frozenset(part) for part in zip(*members))
        owners = [
            at
            for at, of in enumerate(over.regions.T)
            if len(joint) == 1 and cells in {frozenset(np.flatnonzero(of == one).tolist()) for one in set(of.tolist())}
        ]
        if kind != REST:
            assert kind == (CELL if len(members) == 1 else HIDDEN if owners else kind)
            assert kind != HIDDEN or release == owners[0]


def left_plainly(over, chunk):
    """What other releases leave of each class of each release: every choice of its regions that one of theirs touches.
    By cells and joint classes, how many are left, how many were taken away, and the other release: in the order of
    releases, classes, other releases and regions, the last ones first."""
    left: list[tuple] = []
    cells_of, classes = [], []
    for at, release in enumerate(over.releases):
        first = sum(len(before.levels) for before in over.releases[:at])
        there = [over.regions[:, first + level] == of for level, of in zip(release.level, release.region)]
        cells_of.append([frozenset(np.flatnonzero(of).tolist()) for of in there])
        numbers = over.own_class[at]
        classes.append([int(numbers[of]) if of >= 0 else NONE for of in over.entries[:, over.schema_of[at]]])
    for own, theirs in [(i, j) for i in range(len(classes)) for j in range(len(classes)) if i != j]:
        mine, other = over.releases[own], over.releases[theirs]
        for of in set(mine.class_of.tolist()) if mine.whole else ():
            joint = [at for at, it in enumerate(classes[own]) if it == of]
            within = {
                it
                for it in classes[theirs]
                if {classes[own][j] for j, c in enumerate(classes[theirs]) if c == it} == {of}
            }
            my_own = [at for at, it in enumerate(mine.class_of) if it == of]
            parts = [at for at, it in enumerate(other.class_of) if it in within]
            for chosen in {frozenset(a for a in my_own if cells_of[own][a] & cells_of[theirs][b]) for b in parts}:
                place = frozenset().union(*(cells_of[own][a] for a in chosen))
                gone = [b for b in parts if cells_of[theirs][b] <= place]
                taken = sum(int(other.records[b]) for b in gone)
                rest = sum(int(mine.records[a]) for a in my_own if cells_of[own][a] <= place) - taken
                open_ = set(place)
                for cell in place.difference(*(cells_of[theirs][b] for b in gone)):
                    low, high = (int(of_all[cell, joint].sum()) for of_all in (chunk.bounds.low, chunk.bounds.high))
                    alone = [int(mine.records[a]) for a in my_own if cells_of[own][a] == {cell}]
                    if alone or low == high:
                        open_.discard(cell)
                        rest -= alone[0] if alone else low
                if 1 <= rest < K and taken:
                    members = frozenset((cell, j) for cell in open_ for j in joint)
                    order = own, int(over.entries[joint[0], over.schema_of[own]]), theirs, [-a for a in sorted(chosen)]
                    left.append((order, (members, rest, taken, theirs)))
    return [what for _, what in sorted(left, key=lambda some: some[0])]


@for_each_seed(30)
def test_what_is_left_of_a_class_is_what_every_choice_of_its_regions_leaves(seed):
    rng, n_left = np.random.default_rng(seed), 0
    for _ in range(5):
        areas = make_areas([f"a{i}" for i in range(N)], rng.random((N, 2)), np.ones(N))
        people = rng.integers(0, 6, (N, CLASSES)) * (rng.random((N, CLASSES)) < 0.6)
        releases = []
        for _ in range(int(rng.integers(2, 4))):
            coarse = rng.random() < 0.5
            counts = np.column_stack([people[:, :2].sum(axis=1), people[:, 2]]) if coarse else people
            values = [("x",), ("y",)] if coarse else [("x", "a"), ("x", "b"), ("y", "c")]
            profile = profile_over(counts, values, ("p",) if coarse else ("p", "q"))
            levels = random_levels(areas, rng, int(rng.integers(1, 4)), left_out=False)
            releases.append(publish(nest(areas, profile, levels, K), areas))
        over = overlay(releases)
        chunk = chunk_of(over, np.arange(len(over.entries)), K, [])
        found: list[tuple] = []
        for some in left_of_classes(chunk):
            assert some.low.tolist() == some.high.tolist() and set(some.kind) == {REST}
            for row in range(len(some.low)):
                members = frozenset(divmod(at, len(over.entries)) for at in some.members[row].indices.tolist())
                found.append((members, int(some.low[row]), int(some.taken[row]), int(some.release[row])))
        assert found == left_plainly(over, chunk)
        n_left += len(found)
    assert n_left


@for_each_seed(30)
def test_nobody_is_of_other_values_where_all_that_agree_with_the_rest_are_shown(seed):
    rng, names = np.random.default_rng(seed), ("p", "q", "r")
    schemas = []
    for _ in range(3):
        own = [name for name in names if rng.random() < 0.6] or ["p"]
        every = list(product("ab", repeat=len(own)))
        schemas.append(Schema(tuple(own), [values for values in every if rng.random() < 0.8] or every))
    values = {
        name: {of[schema.names.index(name)] for schema in schemas if name in schema.names for of in schema.classes}
        for name in names
    }
    entries = _joint_classes(schemas)
    found = _nobody(schemas, entries)
    for row, chosen in enumerate(entries.tolist()):
        for position, schema in enumerate(schemas):
            rest: dict[str, str] = {}
            for other, entry in zip(schemas, chosen):
                if entry != NONE:
                    rest |= {
                        name: value for name, value in zip(other.names, other.classes[entry]) if name in schema.names
                    }
            agree = [
                of for of in schema.classes if {**dict(zip(schema.names, of)), **rest} == dict(zip(schema.names, of))
            ]
            there_can_be = np.prod([len(values[name]) for name in schema.names if name not in rest])
            assert found[row, position] == (chosen[position] == NONE and len(agree) >= there_can_be)


def test_an_age_tells_its_age_group():
    """Of three ages two are young: with their groups there are three classes, and two of the young."""
    schema = Schema(("age", "age (level 1)"), [("7", "young"), ("9", "young"), ("70", "old")])
    values = _ReleasedValues([schema])
    assert values.n_classes(schema, {}) == 3
    assert values.n_classes(schema, {"age (level 1)": values.values["age (level 1)"].index("young")}) == 2
