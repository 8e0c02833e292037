"""What is asked of the people of a class beside k, recounted from its rows by plain loops, and at its thresholds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from vbas.core.privacy.diversity import Holders, diversity_of, several_values_of, shares_of, tallies_of
from vbas.core.privacy.requirement import Requirement, measure, members_of
from vbas.core.records.table import PERSONS

from ..each import for_each_seed, holds_for_each

N_CELLS, N_CLASSES = 7, 4


class Rows:
    """Rows drawn by lot: the cell, person and value of each, how many records it stands for, the class of each cell."""

    def __init__(self, seed: int, counted: bool = True) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        self.cell, self.person = rng.integers(-1, N_CELLS, n), rng.integers(0, int(rng.integers(1, 15)), n)
        self.value = rng.choice(5, n, p=rng.dirichlet(np.ones(5)))
        self.counts = rng.integers(0, 4, n) if counted else np.ones(n, np.int64)
        self.class_of = rng.integers(-1, N_CLASSES, N_CELLS)
        self.shares = shares_of("ill", self.cell, self.value, self.counts)
        self.of_persons = shares_of("ill", self.cell, self.value, None, {PERSONS: self.person})
        self.of_households = shares_of("ill", self.cell, self.value, None, {"households": self.person})

    def people(self, of_persons: bool) -> dict[int, dict[int, Counter]]:
        """Of each class its people, and of each of them the values; a record is somebody by itself."""
        found: dict[int, dict[int, Counter]] = defaultdict(lambda: defaultdict(Counter))
        somebody = 1000
        for cell, person, value, count in zip(*(a.tolist() for a in (self.cell, self.person, self.value, self.counts))):
            if cell < 0 or self.class_of[cell] < 0:
                continue
            if of_persons:
                found[int(self.class_of[cell])][person][value] = 1
                continue
            for _ in range(count):
                somebody += 1
                found[int(self.class_of[cell])][somebody][value] = 1
        return found


def holders_of(people: Mapping[Any, Counter]) -> Counter:
    return sum(people.values(), Counter())


def fewest(people: Mapping[Any, Counter]) -> int:
    """The fewest values that together have as many people as there are."""
    left, number = len(people), 0
    for _, holders in holders_of(people).most_common():
        if left > 0:
            left, number = left - holders, number + 1
    return number


def weights(people: Mapping[Any, Counter]) -> dict[int, Fraction]:
    """Of each value its part of all, everybody's values weighing one together."""
    of: dict[int, Fraction] = defaultdict(Fraction)
    for values in people.values():
        for value in values:
            of[value] += Fraction(1, len(values) * len(people))
    return of


def distance(people: Mapping[int, Counter], together: Mapping[Any, Counter]) -> float:
    own, whole = weights(people), weights(together)
    apart = sum(abs(own.get(v, Fraction(0)) - whole[v]) for v in whole) / 2
    mine, all_of_them = holders_of(people), holders_of(together)
    more = [Fraction(mine[v], len(people)) - Fraction(all_of_them[v], len(together)) for v in mine]
    return float(max([apart, *more]))


@pytest.mark.parametrize("of_persons", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_how_diverse_values_are_is_so_by_counting_people(seed, of_persons):
    rows = Rows(seed)
    people = rows.people(of_persons)
    shares = rows.of_persons if of_persons else rows.shares
    (tally,) = tallies_of(rows.class_of, shares, N_CLASSES)
    found = list(zip(tally.equivalence_class.tolist(), tally.value.tolist(), tally.holders.tolist()))
    assert found == sorted((of, v, n) for of, some in people.items() for v, n in holders_of(some).items())
    assert tally.people.tolist() == [len(people[of]) for of in range(N_CLASSES)]
    most = [max(holders_of(people[of]).values(), default=0) for of in range(N_CLASSES)]
    assert tally.most_holders().tolist() == most
    assert tally.fewest_values().tolist() == [fewest(people[of]) for of in range(N_CLASSES)]
    assert tally.several_values().tolist() == [fewest(people[of]) >= 2 for of in range(N_CLASSES)]
    share = [100 * most[of] / max(len(people[of]), 1) for of in range(N_CLASSES)]
    np.testing.assert_allclose(tally.largest_share(), share)
    diversity = diversity_of(rows.class_of, shares, N_CLASSES)
    together: dict[Any, Counter] = {(of, who): values for of, some in people.items() for who, values in some.items()}
    if of_persons:  # who is in two classes is one of all together
        merged: dict[Any, Counter] = defaultdict(Counter)
        for (_, who), values in together.items():
            merged[who] |= values
        together = merged
    assert diversity.distinct.tolist() == tally.fewest_values().tolist()
    for of, some in people.items():
        if some:
            assert diversity.distance[of] == pytest.approx(distance(some, together))


@for_each_seed(6)
def test_of_records_and_households_the_worse_is_told(seed):
    rows = Rows(seed, counted=False)
    records, households = rows.people(False), rows.people(True)
    both = tallies_of(rows.class_of, rows.of_households, N_CLASSES)
    assert [tally.people.tolist() for tally in both] == [
        [len(some[of]) for of in range(N_CLASSES)] for some in (records, households)
    ]
    diversity = diversity_of(rows.class_of, rows.of_households, N_CLASSES)
    assert diversity.distinct.tolist() == [min(fewest(records[of]), fewest(households[of])) for of in range(N_CLASSES)]


@for_each_seed(8)
def test_several_values_are_seen_without_counting_them(seed):
    rows = Rows(seed)
    several = several_values_of(rows.class_of, rows.shares, N_CLASSES)
    assert several.tolist() == [len(holders_of(rows.people(False)[of])) > 1 for of in range(N_CLASSES)]
    one_cell_more = several_values_of(rows.class_of[:-1], rows.shares, N_CLASSES)
    rows.class_of[-1] = -1  # a cell beyond the array is in no class
    assert np.array_equal(one_cell_more, several_values_of(rows.class_of, rows.shares, N_CLASSES))


@for_each_seed(6)
def test_holders_that_are_counts_alone_are_tallied_as_those_who_are_known(seed):
    rows = Rows(seed)
    cell, value = rows.of_persons.cell, rows.of_persons.value
    who: dict[tuple[int, int], set] = {(c, v): set() for c, v in zip(cell.tolist(), value.tolist())}
    for c, person, v in zip(rows.cell.tolist(), rows.person.tolist(), rows.value.tolist()):
        if c >= 0:
            who[c, v].add((c, person))  # nobody is in two cells
    people = [len(set().union(*(some for (of, _), some in who.items() if of == c))) for c in range(N_CELLS)]
    holders = Holders("ill", cell, value, np.array([len(some) for some in who.values()], int), np.array(people))
    assert list(who) == list(zip(cell.tolist(), value.tolist()))
    tally = holders.tally(rows.class_of, N_CLASSES)
    expected: Counter = Counter()
    for (c, v), some in who.items():
        if rows.class_of[c] >= 0:
            expected[int(rows.class_of[c]), v] += len(some)
    assert dict(zip(zip(tally.equivalence_class.tolist(), tally.value.tolist()), tally.holders.tolist())) == expected
    assert tally.people.tolist() == [
        sum(n for n, of in zip(people, rows.class_of) if of == one) for one in range(N_CLASSES)
    ]


# Of one class the people by value, what is asked, and whether it holds: just short of it, and just enough.
ASKED = [
    ([4], 2, 100.0, False),
    ([3, 1], 2, 100.0, True),
    ([3, 1], 3, 100.0, False),
    ([2, 1, 1], 3, 100.0, True),
    ([2, 1, 1], 4, 100.0, False),
    ([1, 1, 1, 1], 4, 100.0, True),
    ([3, 1], 1, 75.0, True),
    ([3, 1], 1, 74.9, False),
    ([3, 1], 1, 75.1, True),
    ([2, 1], 1, 100 * 2 / 3, True),
    ([1, 1], 1, 50.0, True),
    ([1, 1], 1, 49.9, False),
    ([4], 1, 99.9, False),
    ([4], 1, 100.0, True),
    ([3, 1], 2, 74.9, False),
    ([3, 1], 2, 75.0, True),
    ([3, 1], 3, 75.0, False),
    ([2, 1, 1], 3, 50.0, True),
    ([2, 1, 1], 3, 49.0, False),
]


@pytest.mark.parametrize("persons", [False, True])
def test_values_are_enough_from_what_is_asked_on(persons):
    def held(numbers, l_diversity, max_share, enough):
        value = np.repeat(np.arange(len(numbers)), numbers)
        cell = np.arange(len(value)) % 2
        members = {PERSONS: np.arange(len(value))} if persons else {}
        shares = shares_of("ill", cell, value, None, members)
        requirement = Requirement(2, (), (shares,), l_diversity, max_share)
        cells, class_of = np.array([0, 1]), np.array([1, 1])
        assert requirement.holds(cells, class_of, 3)[1] == enough
        assert requirement.asks_for_values == (l_diversity > 1 or max_share < 100) == requirement.asks_for_more

    holds_for_each(held, ASKED)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_members_of_every_kind_are_k_and_more(seed, k):
    rows = Rows(seed, counted=False)
    household = rows.person // 2
    persons, households = (members_of(kind, rows.cell, who) for kind, who in ((PERSONS, rows.person), ("h", household)))
    requirement = Requirement(k, (persons, households))
    cells = np.flatnonzero(rows.class_of >= 0)
    distinct = {
        kind: [
            len({int(w) for w, c in zip(who, rows.cell) if c >= 0 and rows.class_of[c] == of})
            for of in range(N_CLASSES)
        ]
        for kind, who in ((PERSONS, rows.person), ("h", household))
    }
    fewest_of = np.minimum(distinct[PERSONS], distinct["h"])
    assert requirement.holds(cells, rows.class_of[cells], N_CLASSES).tolist() == (fewest_of >= k).tolist()
    records = np.array([sum(rows.class_of[c] == of for c in rows.cell if c >= 0) for of in range(N_CLASSES)])
    assert requirement.people(rows.class_of, records).tolist() == np.minimum(records, fewest_of).tolist()
    in_cells = np.array([(rows.cell == c).sum() for c in range(N_CELLS)])
    of_cells = [
        min(len({int(w) for w in who[rows.cell == c]}) for who in (rows.person, household)) for c in range(N_CELLS)
    ]
    assert requirement.members_of_cells(in_cells).tolist() == of_cells
    used = sorted({int(of) for of in rows.class_of if of >= 0})
    found = measure(requirement, rows.class_of, N_CLASSES).smallest
    assert found == {kind: min((numbers[of] for of in used), default=0) for kind, numbers in distinct.items()}
    assert requirement.has(PERSONS) and requirement.has("h") and not requirement.has("households")
    n_inside = int((rows.cell >= 0).sum())
    n_persons = len({int(w) for w, c in zip(household, rows.cell) if c >= 0})
    assert requirement.has_several(n_inside) == (n_persons < n_inside) and not requirement.has_several(0)
    assert requirement.asks_for_more and not requirement.asks_for_values


def test_nothing_is_asked_for_where_everything_may_be():
    nothing = Requirement(2)
    assert not nothing.asks_for_more and not nothing.has_several(5)
    assert nothing.holds(np.array([0, 1]), np.array([0, 2]), 3).tolist() == [True] * 3
    assert (
        nothing.members_of_cells(np.array([3, 1])).tolist()
        == nothing.people(np.array([0, 1]), np.array([3, 1])).tolist()
    )
    assert measure(Requirement(2, (members_of("h", np.array([0]), np.array([5])),)), np.array([-1]), 0).smallest == {
        "h": 0
    }
