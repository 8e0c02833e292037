"""Where a warning, a refusal or a number begins: tables of cases just below, at and above, and small brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.plan import suppress
from vbas.core.privacy.checking import check_release
from vbas.core.privacy.in_each_period import InEachPeriod
from vbas.core.privacy.requirement import Requirement
from vbas.core.privacy.risk import risk_of
from vbas.core.privacy.series import series_of, whole_coarser_series, whole_series
from vbas.core.privacy.weights import CountedRows, classes_on_few_rows, warning_of_weights
from vbas.core.records.columns import column_from_values
from vbas.core.releases.identical_rows import enough, numbers_of_identical

from ..each import holds_for_each
from .nested_cases import profile_of
from .release_cases import profile_over

K = 3


def counted(counts: list[list[int]], rows: list[tuple[int, int, int]]):
    """A plan of one region, and rows: the cell of each, the records it stands for, how many such rows there are."""
    profile = profile_of(np.array(counts))
    plan = suppress(profile, Crosswalk(np.zeros(len(counts), np.int64), 1), K)
    return plan, CountedRows(profile, *(np.array(column) for column in zip(*rows)))


@pytest.mark.parametrize(("rows", "few"), [(K - 1, 1), (K, 0), (K + 1, 0)])
def test_a_released_class_rests_on_few_rows_below_k_of_them(rows, few):
    plan, given = counted([[30, 40, 2]], [(0, 10, rows), (1, 8, 5), (2, 1, 2)])
    assert classes_on_few_rows(plan, given) == (few, 2)
    assert given.n_rows == rows + 7


@pytest.mark.parametrize(
    ("rows", "median"),
    [([(5, 1)], 5), ([(5, 1), (7, 1)], 6), ([(7, 1), (5, 2)], 5), ([(5, 2), (7, 2)], 6), ([(1, 1), (9, 1), (4, 1)], 4)],
)
def test_the_median_is_of_all_rows(rows, median):
    every = np.repeat([count for count, _ in rows], [n for _, n in rows])
    _, given = counted([[50]], [(0, count, n) for count, n in rows])
    assert given.median == median == np.median(every)


# Rows of one record and of two, areas and classes of the records, and whether they look weighted.
WEIGHTED = [
    (0, 20, 1, True),
    (0, 19, 1, False),
    (1, 49, 1, False),  # exactly 2 % of the rows
    (1, 50, 1, True),
    (1, 19, 1, False),
    (0, 20, 20, False),  # every pair occurs, and no row more than once
    (0, 41, 20, True),  # more than half of the rows are of pairs that occur again
    (0, 40, 20, False),
]


def test_rows_look_weighted_from_their_thresholds_on():
    def held(ones, twos, n_cells, weighted):
        side = {1: (2, 2), 20: (4, 5)}[n_cells]
        table = np.zeros(side, np.int64)
        table.ravel()[: n_cells if n_cells > 1 else 1] = 2 * (ones + twos)
        if n_cells == 1:  # in two areas and two classes, one each way
            table = np.array([[2 * (ones + twos), 0], [0, 0]])
        at = [(i % max(n_cells, 1), 2, 1) for i in range(twos)] + [(0, 1, 1)] * ones
        plan, given = counted(table.tolist(), at)
        assert ("stand for one record" in warning_of_weights(plan, given)) == weighted

    holds_for_each(held, WEIGHTED)


@pytest.mark.parametrize(
    ("people", "warned"), [(100.0, False), (99.9, True), (101.0, False), (0.0, False), (None, False)]
)
def test_more_records_than_people_are_a_sign_from_five_per_cent_on(people, warned):
    plan, given = counted([[105]], [(0, 21, 5)])
    said = warning_of_weights(plan, given, None if people is None else np.array([people]))
    assert ("more than the" in said) == warned == bool(said)


@pytest.mark.parametrize(
    ("records", "people", "largest", "mean"),
    [
        ([4, 6], [4, 6], 1 / 4, 2 / 10),
        ([4, 6], [2, 3], 1 / 2, 4 / 10),
        ([5], [0], 1.0, 1.0),
        ([], [], 0.0, 0.0),
        ([0], [0], 1.0, 0.0),
    ],
)
def test_the_risk_is_one_over_the_people_of_a_class(records, people, largest, mean):
    assert risk_of(np.array(records, int), np.array(people, int)) == pytest.approx((largest, mean))


# Rows that hold identifiers of areas, and others: of how many values, in how many rows each; whether that is told.
HELD_IDENTIFIERS = [
    (1, 1, 0, 0, False),
    (2, 1, 0, 0, True),
    (2, 1, 1, 1, True),
    (2, 1, 2, 1, False),  # half of the values, and no more
    (3, 1, 2, 1, True),
    (2, 1, 1, 198, True),  # one per cent of the rows
    (2, 1, 1, 199, False),
]


def test_identifiers_of_areas_are_told_from_their_thresholds_on():
    areas = make_areas(["10", "11", "12"], [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)])

    def held(n_identifiers, times, n_others, other_times, told):
        values = [str(10 + i) for i in range(n_identifiers) for _ in range(times)]
        values += [f"x{i}" for i in range(n_others) for _ in range(other_times)]
        sex = column_from_values(["F"] * len(values))
        check = check_release({"sex": sex}, {"place": column_from_values(values)}, 2, areas=areas)
        assert (len(check.problems) == 1) == told
        assert not told or f"in {n_identifiers * times} of {len(values)} rows" in check.problems[0]
        assert check_release({"sex": sex}, {"place": column_from_values(values)}, 2).problems == ()

    holds_for_each(held, HELD_IDENTIFIERS)


def test_a_check_counts_what_stands_in_the_table():
    sex, age = column_from_values(["F", "F", "M", "M", "M"]), column_from_values([1, 1, 1, 2, 2])
    ill = column_from_values(["a", "b", "a", "a", "a"])
    check = check_release({"sex": sex, "age": age}, {}, 2, sensitive={"ill": ill}, counts=np.array([1, 2, 4, 1, 1]))
    assert sorted(check.records.tolist()) == [2, 3, 4] and check.people.tolist() == check.records.tolist()
    assert (check.k_found, check.l_found, check.classes_below, check.records_below) == (2, 1, 0, 0)
    assert (check.largest_risk, check.mean_risk) == pytest.approx((1 / 2, 3 / 9))
    harder = check_release({"sex": sex, "age": age}, {}, 3, sensitive={"ill": ill}, counts=np.array([1, 2, 4, 1, 1]))
    assert (harder.classes_below, harder.records_below) == (1, 2)
    diverse = check_release({"sex": sex}, {}, 2, None, {"ill": ill}, 2)
    assert (diverse.l_found, diverse.classes_below, diverse.records_below, diverse.t_found) == (
        1,
        1,
        3,
        pytest.approx(0.3),
    )
    shares = [
        check_release({"sex": sex}, {}, 2, None, {"ill": ill}, 1, most).classes_below for most in (49.9, 50.0, 99.9)
    ]
    assert shares == [2, 1, 1]


def series(counts):
    """Two classes in three years; one more quasi-identifier."""
    values = [(sex, year) for sex in "fm" for year in ("1", "2", "3")]
    profile = profile_over(np.array(counts), values, ("sex", "year"))
    return profile, series_of(profile, "year")


@pytest.mark.parametrize("seed", range(6))
def test_what_is_asked_holds_in_each_period_in_which_there_is_anybody(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, (4, 6)) * (rng.random((4, 6)) < 0.7)
    profile, of = series(counts)
    base = of.base.counts.toarray()
    assert base.tolist() == np.column_stack([counts[:, :3].sum(axis=1), counts[:, 3:].sum(axis=1)]).tolist()
    area, sex = of.base.counts.nonzero()
    n = of.base.counts.nnz
    cells = rng.permutation(n)[: n - 1]
    number = rng.integers(0, 3, len(cells))
    found = InEachPeriod(profile, Requirement(K), of)
    expected = []
    for one in range(3):
        in_years = np.zeros(3, int)
        for cell in cells[number == one].tolist():
            in_years += counts[area[cell], 3 * sex[cell] : 3 * sex[cell] + 3]
        expected.append(bool(((in_years == 0) | (in_years >= K)).all()))
    assert found.holds(cells, number, 3).tolist() == expected
    assert found.of_some(cells)(np.arange(len(cells)), number, 3).tolist() == expected
    values = profile.counts.data
    table = of.by_period(cells, values, profile.counts.indices)
    assert table.tolist() == [counts[area[c], 3 * sex[c] : 3 * sex[c] + 3].tolist() for c in cells.tolist()]


@pytest.mark.parametrize("seed", range(6))
def test_of_a_series_all_is_released_or_nothing(seed):
    rng = np.random.default_rng(seed)
    _, of = series(np.ones((2, 6), np.int64))
    place, class_of = rng.integers(0, 3, 14), rng.integers(0, 6, 14)
    released = rng.random(14) < 0.7
    whole = whole_series(of, place, class_of, released)
    coarser = rng.integers(0, 2, 6)
    at_once = whole_coarser_series(of, coarser, place, class_of, released)
    sex = class_of // 3
    for i in range(14):
        assert whole[i] == all(released[j] for j in range(14) if (place[j], sex[j]) == (place[i], sex[i]))
    linked = (
        {0, 1} if len(set(zip(coarser.tolist(), (np.arange(6) // 3).tolist()))) > len(set(coarser.tolist())) else set()
    )
    for i in range(14):
        group = [
            j
            for j in range(14)
            if place[j] == place[i] and (sex[j] == sex[i] or linked or coarser[class_of[j]] == coarser[class_of[i]])
        ]
        assert at_once[i] == all(released[j] for j in group)
    nothing = np.empty(0, np.int64)
    assert len(whole_series(of, nothing, nothing, np.empty(0, bool))) == 0


def best_sum(most, free, total, least_left):
    """The largest sum up to a total of none, all, or k to so many of each that enough of it are left."""
    options = []
    for whole, there in zip(most, free):
        part = [n for n in range(K, whole) if there - n >= least_left]
        options.append(sorted({0, whole, *part}))
    return max(sum(some) for some in product(*options) if sum(some) <= total)


@pytest.mark.parametrize("around", [False, True])
def test_identical_rows_are_as_many_as_can_be_shown(around):
    """Of one place: a value has nobody or k, and where a region is around, nobody or k are left."""
    n_less = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        free = rng.integers(0, 9, 3)
        total = int(rng.integers(0, 14))
        shown = numbers_of_identical(
            np.zeros(3, np.int64), free, (), np.array([total]), np.array([around]), K, rng.permutation(3)
        )
        most = enough(free, K)
        assert most.tolist() == [n if n >= K else 0 for n in free.tolist()]
        assert all(n == 0 or n >= K for n in shown.tolist()) and (shown <= free).all()
        expected = min(int(most.sum()), best_sum(most, free, total, K if around else 0))
        assert shown.sum() == (expected if total else 0)
        if around and most.sum() > total:
            assert all(n in (0, whole) or there - n >= K for n, whole, there in zip(shown, most, free))
        n_less += 0 < shown.sum() < most.sum()
    assert n_less > 10
