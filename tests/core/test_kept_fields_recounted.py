"""What a kept field gives away: at every threshold just below, at it and above, and recounted pair by pair of rows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from vbas.core.privacy.association import (
    Agreement,
    Disclosed,
    Places,
    RowsByArea,
    group_sizes,
    refined_identifier,
    regained_identifier,
    spread_of,
)
from vbas.core.privacy.kept_field import KeptField
from vbas.core.privacy.kept_fields import examine_values

from ..each import for_each_seed, holds_for_each
from .strategies import column_from_array

NOTHING = Disclosed(0, 0, 0)
HARMLESS = KeptField("field", 5, 4, 1000, 1000, 0, 499, 2.0, 2.0, 0.0, 7, 3, NOTHING, 0, "", 0, 0, "", NOTHING)
SAID = {
    "area": "stands for the area in {share} % of the {rows} rows",
    "prefix": "the first 3 characters of “field” stand for the area in 1.0 % of the 1000 rows",
    "gives back": "gives back what coarser values take: in 10.0 % of the 1000 rows",
    "alone": "would be alone with it in their class",
    "own value": "has a value of its own in {single} of the {looked_at} rows",
    "part": "gives back part of what coarser values take: in {share} % of the 1000 rows",
    "finer": "is a finer value of the quasi-identifier “age”: with it",
    "where": "says where in the region a person lives",
    "unique": "has a value of its own in 11 % of its rows",
    "few": "has a value of fewer than 5 rows in",
}
# What changes, what refuses it, and what is warned of.
CASES = [
    ({}, "", ""),
    ({"disclosed": Disclosed(1000, 9, 0)}, "", "where"),
    ({"disclosed": Disclosed(1000, 1, 0)}, "", "where"),
    ({"disclosed": Disclosed(1000, 10, 0)}, "area", ""),
    ({"disclosed": Disclosed(1000, 10, 0), "prefix": 3}, "prefix", ""),
    ({"disclosed": Disclosed(1000, 0, 99)}, "", ""),
    ({"disclosed": Disclosed(1000, 0, 100)}, "", "where"),
    ({"disclosed": Disclosed(0, 0, 0)}, "", ""),
    ({"disclosed": Disclosed(1, 1, 0)}, "area", ""),
    ({"regains": "age", "regained": Disclosed(1000, 99, 0)}, "", "part"),
    ({"regains": "age", "regained": Disclosed(1000, 50, 200)}, "", "part"),
    ({"regains": "age", "regained": Disclosed(1000, 100, 0)}, "gives back", ""),
    ({"refines": "age", "finer": 200, "finer_alone": 99}, "", "finer"),
    ({"refines": "age", "finer": 200, "finer_alone": 100}, "alone", ""),
    ({"refines": "age", "finer": 200, "finer_alone": 100, "looked_at": 100}, "alone", ""),
    ({"refines": "age", "finer": 200, "finer_alone": 100, "looked_at": 99}, "", "finer"),
    ({"refines": "age", "finer": 200, "finer_alone": 99, "below_k": 0}, "", ""),
    ({"refines": "age", "finer": 200, "finer_alone": 99, "below_k": 1}, "", "finer"),
    ({"single": 9, "rare": 9}, "", ""),
    ({"single": 10, "rare": 10}, "own value", ""),
    ({"single": 70, "rare": 100}, "own value", ""),
    ({"single": 69, "rare": 100}, "", ""),
    ({"single": 499, "rare": 1000}, "", "unique"),
    ({"single": 500, "rare": 1000}, "own value", ""),
    ({"single": 500, "rare": 1000, "looked_at": 2000}, "own value", ""),
    ({"single": 5, "rare": 9, "rows": 10}, "own value", ""),
    ({"single": 4, "rare": 10, "rows": 10}, "", ""),
    ({"single": 0, "rare": 0, "rows": 0}, "", ""),
    ({"single": 50, "rare": 100, "rows": 100, "looked_at": 100}, "own value", ""),
    ({"single": 50, "rare": 100, "rows": 100, "looked_at": 99}, "", "unique"),
    ({"single": 100, "rare": 499}, "", ""),
    ({"single": 100, "rare": 500}, "", "few"),
    ({"rare": 499}, "", ""),
    ({"rare": 500}, "", "few"),
    ({"rare": 50, "rows": 100}, "", "few"),
    ({"rare": 99, "rows": 99}, "", ""),
    ({"rare": 1000, "disclosed": Disclosed(1000, 0, 100)}, "", "where"),
    ({"single": 101, "rare": 1000}, "", "unique"),
    ({"single": 11, "rare": 100, "rows": 100}, "", "unique"),
    ({"single": 11, "rare": 99, "rows": 99}, "", ""),
]


def said(one: KeptField, what: str) -> str:
    disclosed = one.regained if one.regains else one.disclosed
    share = f"{100 * max(disclosed.placed, disclosed.narrowing if one.regains else 0) / max(disclosed.rows, 1):.1f}"
    text = SAID[what].replace("11 %", f"{100 * one.single / max(one.rows, 1):.0f} %")
    return text.format(share=share, rows=disclosed.rows, single=one.single, looked_at=one.looked_at)


def test_a_field_is_refused_and_warned_of_from_its_thresholds_on():
    def held(changes, refused, warned):
        one = replace(HARMLESS, **changes)
        assert (said(one, refused) in one.refusal) if refused else one.refusal == ""
        assert (said(one, warned) in one.warning) if warned else one.warning == ""
        assert not (one.refusal and one.warning)

    holds_for_each(held, CASES)


def test_shares_are_of_rows_with_a_value():
    one = replace(HARMLESS, single=1, rows=4, looked_at=10)
    assert one.unique == 0.25 and replace(one, rows=0, single=0).unique == 0
    assert Disclosed(8, 2, 4).placed_share == 0.25 and Disclosed(8, 2, 4).narrowing_share == 0.5
    assert Disclosed(1, 1, 1).placed_share == Disclosed(1, 1, 1).narrowing_share == 1
    assert Disclosed(0, 0, 0).placed_share == Disclosed(0, 0, 0).narrowing_share == 0


def agreement_of(shared, base=0.0, everywhere=0.0, others=9.0, times=100.0):
    return Agreement(*(np.array([float(value)]) for value in (times, shared, base, everywhere, others)))


# Of a value: what it has, whether it stands for an area, whether it says more, whether it is rare.
AGREEMENTS = [
    (agreement_of(0.8), True, True, False),
    (agreement_of(0.79), False, True, False),
    (agreement_of(0.875, 0.75), True, False, False),  # closes half of what is left open
    (agreement_of(0.84, 0.75), False, False, False),
    (agreement_of(1.0, 1.0), False, False, False),
    (agreement_of(1.0, 0.5), True, False, False),  # twice as much, and no more
    (agreement_of(1.0, 0.49), True, True, False),
    (agreement_of(0.25, 0.125), False, False, False),
    (agreement_of(0.26, 0.125), False, True, False),
    (agreement_of(0.1, 0.0), False, False, False),  # a tenth more, and no more
    (agreement_of(0.11, 0.0), False, True, False),
    (agreement_of(1.0, others=5), True, True, False),
    (agreement_of(1.0, others=4.9), False, False, False),
    (agreement_of(1.0, others=1, everywhere=0.8), True, True, False),
    (agreement_of(1.0, others=1, everywhere=0.79), False, False, False),
    (agreement_of(1.0, times=10), True, True, False),
    (agreement_of(1.0, times=9), True, True, True),
    (agreement_of(math.nan, times=9), False, False, False),
]


def test_a_value_stands_for_an_area_from_its_thresholds_on():
    def held(one, stands, says_more, rare):
        assert (one.stands.tolist(), one.says_more.tolist(), one.rare.tolist()) == ([stands], [says_more], [rare])
        times = int(one.times[0])
        assert one.rows == (times * (stands and not rare), times * (stands and rare), times * says_more)

    holds_for_each(held, AGREEMENTS)


def pairs_of(value, region, area):
    """What `Agreement` says of each value, pair by pair of rows."""
    pairs_in = Counter(r for (r, _), (s, _) in permutations(zip(region, area), 2) if r == s)
    alike_in = Counter(r for (r, a), (s, b) in permutations(zip(region, area), 2) if (r, a) == (s, b))
    for one in range(max(value) + 1):
        rows = [(r, a) for v, r, a in zip(value, region, area) if v == one]
        every = list(permutations(rows, 2))
        near = [(p, q) for p, q in every if p[0] == q[0]]
        shared = sum(p[1] == q[1] for p, q in near) / len(near) if near else math.nan
        base = sum(alike_in[p[0]] / pairs_in[p[0]] for p, _ in near) / len(near) if near else math.nan
        everywhere = sum(p[1] == q[1] for p, q in every) / len(every) if every else math.nan
        yield len(rows), shared, base, everywhere, len(near) / len(rows) if near else math.nan


@for_each_seed(8)
def test_how_far_values_lie_in_one_area_is_so_over_all_pairs_of_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    region, value = rng.integers(0, 3, n), rng.integers(0, 5, n)
    area = rng.integers(0, 4, n) + (4 * region if seed % 2 else 0)  # an area lies in one region, or in several
    value[0] = 4
    one = Places(region, area).agreement(value)
    got = np.column_stack([one.times, one.shared, one.base, one.everywhere, one.others])
    of_values = np.array(list(pairs_of(value.tolist(), region.tolist(), area.tolist())))
    there = of_values[:, 0] > 0
    np.testing.assert_allclose(got[there], of_values[there])


def entropy(keys, given):
    whole, parts = Counter(given), Counter(zip(given, keys))
    return -sum(n * math.log2(n / whole[at]) for (at, _), n in parts.items()) / max(len(keys), 1)


@for_each_seed(12)
def test_figures_of_a_field_are_those_of_loops_over_its_rows(seed):
    rng, k = np.random.default_rng(seed), 3
    n = int(rng.integers(1, 60))
    region, area, value = rng.integers(0, 3, n), rng.integers(0, 3, n), rng.integers(0, int(rng.integers(1, 14)), n)
    missing = rng.random(n) < 0.3
    sex = rng.integers(0, 2, n)
    equivalence_class = region * 2 + sex
    column = column_from_array(value, missing)
    (one,) = examine_values(equivalence_class, region, area, {"field": column}, {"sex": sex}, k, {})
    rows = [
        (int(e), int(r), int(a), int(v))
        for e, r, a, v, gone in zip(equivalence_class, region, area, value, missing)
        if not gone
    ]
    times = Counter(v for *_, v in rows)
    groups = Counter((e, v) for e, _, _, v in rows)
    assert (one.name, one.k, one.values, one.rows, one.looked_at) == ("field", k, len(times), len(rows), n)
    assert one.single == sum(times[v] == 1 for v in times)
    assert one.rare == sum(number for number in times.values() if number < 5)
    assert one.below_k == sum(number for number in groups.values() if number < k)
    assert one.alone == sum(number == 1 for number in groups.values())
    regions, areas, values = ([row[at] for row in rows] for at in (1, 2, 3))
    assert one.bits_before == pytest.approx(entropy(areas, regions))
    assert one.bits_left == pytest.approx(entropy(areas, list(zip(regions, values))))
    in_region, of_value = Counter(regions), Counter(zip(regions, values))
    several = {r for r in in_region if len({a for s, a in zip(regions, areas) if s == r}) > 1}
    once = sum(
        number
        for (r, v), number in of_value.items()
        if r in several and number > 1 and len({row[2] for row in rows if (row[1], row[3]) == (r, v)}) == 1
    )
    assert one.in_one_area == pytest.approx(once / max(len(rows), 1))
    assert spread_of(Places(region, area), value).times(20)[:14].tolist() == np.bincount(value, minlength=14).tolist()


def one_region(own: list[int], rest: int = 400):
    """A region of 20 areas: values of which each is in so many rows of one area, and one value all over the region."""
    value = np.repeat(np.arange(len(own) + 1), [*own, rest])
    area = np.concatenate([np.repeat(np.arange(len(own)) % 20, own), np.arange(rest) % 20])
    return RowsByArea(np.zeros(len(value), np.int64), area), value


@pytest.mark.parametrize(
    ("own", "placed"), [([10], 10), ([9], 0), ([10, 10], 20), ([9, 9], 18), ([6, 3], 0), ([6, 5], 11)]
)
def test_ten_rows_beyond_chance_are_placed_and_fewer_are_not(own, placed):
    """Values of nine rows and fewer are rare: they are codes of areas where most such values stand for one."""
    rows_by_area, value = one_region(own)
    disclosed = rows_by_area.disclosed_by(value)
    assert (disclosed.rows, disclosed.placed) == (len(value), placed)


def test_rows_of_regions_of_one_area_are_not_looked_at():
    region = np.repeat([0, 1], [200, 50])
    area = np.concatenate([np.arange(200) % 20, np.full(50, 20)])
    disclosed = RowsByArea(region, area).disclosed_by(area)
    assert (disclosed.rows, disclosed.placed, disclosed.narrowing) == (200, 200, 200)
    nothing = RowsByArea(np.zeros(30, np.int64), np.zeros(30, np.int64)).disclosed_by(np.arange(30))
    assert (nothing.rows, nothing.placed, nothing.narrowing) == (0, 0, 0)


def test_what_a_field_gives_back_is_of_the_coarsened_value_of_which_it_gives_most():
    rows_by_area, value = one_region([10])
    share = 10 / len(value)
    assert regained_identifier(value, {"age": rows_by_area}, share)[0] == "age"
    name, nothing = regained_identifier(value, {"age": rows_by_area}, share * 1.01)
    assert (name, nothing.rows, nothing.placed, nothing.narrowing) == ("", 0, 0, 0)
    original = np.arange(400) % 20
    all_of_it = RowsByArea(np.zeros(400, np.int64), original)
    half = RowsByArea(np.zeros(400, np.int64), np.where(original < 10, original, np.arange(400) // 20 % 10 + 10))
    for named in ({"half": half, "all": all_of_it}, {"all": all_of_it, "half": half}):
        name, disclosed = regained_identifier(original, named, 0.01)
        assert (name, disclosed.placed) == ("all", 400)
    assert regained_identifier(original, {"first": all_of_it, "second": all_of_it}, 0.01)[0] == "first"


@pytest.mark.parametrize(("fillers", "refines"), [(0, "age"), (1, "age"), (2, "")])
def test_a_field_refines_a_quasi_identifier_where_nine_of_ten_values_do(fillers, refines):
    """Nine values, three to an age; beside them values that all ages have."""
    fine = np.repeat(np.arange(9), 20)
    age = np.concatenate([fine // 3, np.tile(np.arange(3), 20 * fillers)])
    value = np.concatenate([fine, 9 + np.repeat(np.arange(fillers), 60)])
    quasi = {"sex": np.arange(len(age)) % 2, "age": age}
    rows = {name: RowsByArea(np.zeros(len(age), np.int8), codes) for name, codes in quasi.items()}
    name, finer = refined_identifier(value, rows, 0.01)
    assert name == refines and finer.tolist() == ((value < 9) & bool(refines)).tolist()
    assert refined_identifier(age, rows, 0.01)[0] == ""  # the same values, no finer ones


def test_rows_of_the_first_area_alone_and_no_rows_are_places_and_groups_too():
    """One area, in the third region and in the first."""
    places = Places(np.array([2, 0, 2]), np.zeros(3, np.int64))
    assert (places.region_of.tolist(), places.area_of.tolist()) == ([0, 2], [0, 0])
    assert places.place.tolist() == [1, 0, 1]
    nobody = np.empty(0, np.int64)
    assert group_sizes(nobody, nobody).tolist() == []
