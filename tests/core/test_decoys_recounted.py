"""What places of zones may do once some fail, row by row, in plain loops."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from vbas.core.nesting.decoys import Conditions, Secrets, _prices, _Work
from vbas.core.nesting.optimum import ProfileCells
from vbas.core.nesting.tree import tree_of
from vbas.core.nesting.zones import storeys_of, without_falls

from ..each import for_each_seed

Place = tuple[int, int]  # level, and row among those of all classes
STATES = ("closed", "waived", "alone", "closed_for")


@dataclass
class Case:
    """Records of some classes in nested regions, what their zones must be, and how far the work has come."""

    work: _Work
    region_of: list[np.ndarray]
    cells: ProfileCells
    weight: np.ndarray

    def __post_init__(self):
        work = self.work
        self.k, self.last = work.k, len(work.storeys) - 1
        self.places = [(level, row) for level, of in enumerate(work.storeys) for row in range(len(of))]
        self.number = {place: at for at, place in enumerate(self.places)}
        self.due = [place for place in self.places if work.classes[self.class_of(place)]]
        self.parent = {part: place for place in self.places for part in self.parts(place)}
        self.released = {place for place in self.due if work.released[place[0]][place[1]]}

    def class_of(self, place: Place) -> int:
        return int(self.work.storeys[place[0]].class_of[place[1]])

    def parts(self, place: Place) -> list[Place]:
        level, row = place
        storey = self.work.storeys[level]
        return [(level - 1, int(storey.first[row]) + part) for part in range(int(storey.number[row]))]

    def around(self, place: Place) -> list[Place]:
        """The places around one, the lowest first."""
        return [self.parent[place], *self.around(self.parent[place])] if place in self.parent else []

    def areas_of(self, place: Place) -> set[int]:
        """All areas of a place."""
        return set(np.flatnonzero(self.region_of[place[0]] == self.work.storeys[place[0]].place[place[1]]).tolist())

    def zone(self, place: Place) -> set[int]:
        """The areas of a place that lie in none within that shows the class."""
        within = [other for other in self.released if place in self.around(other)]
        return self.areas_of(place).difference(*(self.areas_of(other) for other in within))

    def arrived(self, place: Place, areas: set[int] | None = None) -> int:
        """The records of a place that no place within shows, of all its areas or of some."""
        areas = self.zone(place) if areas is None else self.zone(place) & areas
        own = self.cells.class_of == self.class_of(place)
        return int(self.cells.records[own & np.isin(self.cells.area, list(areas))].sum())

    def in_vain(self, place: Place) -> bool:
        """Whether a place shows its class without a decoy, and some area could then not be without it."""
        level, row = place
        if self.work.conditions.secrets is None or not level or self.work.waived[level][row]:
            return False
        if any(self.arrived(place, self.areas_of(part)) >= self.k for part in self.parts(place)):
            return False
        people = np.minimum(np.floor(self.work.conditions.people), self.k - 1)
        return self.arrived(place) > sum(people[list(self.zone(place))]) - (self.k - 1)

    def fails(self, place: Place) -> bool:
        """Whether too little is left of a place, its people tell too much, or what else is asked does not hold."""
        conditions, areas, people = self.work.conditions, sorted(self.zone(place)), self.work.conditions.people
        if place[0] and (
            sum(people[areas] > 0) < conditions.least_areas or sum(people[areas]) < conditions.least_people
        ):
            return True
        if conditions.secrets is not None:
            of_areas = np.floor(people[areas]).astype(int).tolist()
            others = sum(of_areas) - self.arrived(place)
            sums = {sum(some) for n in range(len(areas)) for some in combinations(of_areas, n + 1)}
            if others >= 0 and any(others < few < self.k for few in sums):
                return True
        own = (self.cells.class_of == self.class_of(place)) & np.isin(self.cells.area, areas)
        return self.work.holds is not None and not self.holds_of(np.flatnonzero(own))

    def holds_of(self, cells: np.ndarray) -> bool:
        return int(self.weight[cells].sum()) % 5 > 0

    def holds(self, cells: np.ndarray, zone: np.ndarray, number: int) -> np.ndarray:
        """What else is asked."""
        return np.array([self.holds_of(cells[zone == one]) for one in range(number)], bool)


def drawn_case(seed: int) -> Case:
    """Work that has come to any point: what is closed, needs no decoy or must have one is drawn."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 11)), int(rng.integers(2, 6))
    parts, wholes = np.sort(rng.integers(0, 4, n)), np.sort(rng.integers(0, 2, 4))
    region_of = [np.arange(n), np.unique(parts, return_inverse=True)[1].reshape(-1)]
    region_of.append(np.unique(wholes[parts], return_inverse=True)[1].reshape(-1))
    region_of.append(np.zeros(n, np.int64))
    tree = tree_of(region_of, [np.full(int(of.max()) + 1, 1.0 * level) for level, of in enumerate(region_of)])
    many = k * (rng.random((3, n)) < rng.choice([0.0, 0.0, 0.1, 0.4]))
    records = rng.integers(0, k, (3, n)) * (rng.random((3, n)) < 0.7) + many
    class_of, area = np.nonzero(records)
    cells = ProfileCells(area, class_of, records[class_of, area])
    # All that are counted, or hardly more than those of one class, of which their number then tells.
    counted = records.sum(axis=0) if rng.random() < 0.5 else records[0]
    people = counted + rng.integers(0, 3, n) * (rng.random(n) < 0.5) + 0.5 * (rng.random(n) < 0.3)
    secrets = Secrets(rng, closed=0.1, waived=0.1) if rng.random() < 0.8 else None
    least_areas, least_people = (int(rng.integers(0, 4)), 4.0 * rng.integers(0, 4)) if rng.random() < 0.4 else (0, 0.0)
    work = _Work(cells, tree, k, Conditions(people, secrets, least_areas, least_people), None)
    n_rows = int(work.first[-1])
    for level, storey in enumerate(work.storeys):
        work.closed[level] |= rng.random(len(storey)) < 0.1
        work.waived[level] |= rng.random(len(storey)) < 0.2
        work.alone[level] &= rng.random(len(storey)) < rng.choice([0.2, 0.8])
        whom = rng.integers(work.first[level + 1], n_rows + 1, len(storey))  # the last is none of them
        work.closed_for[level] = np.where(work.closed[level] & (rng.random(len(storey)) < 0.9), whom, -1)
    work.batch = rng.integers(1, 3, n_rows)
    work.classes = rng.random(len(work.classes)) < 0.8
    before, unclosed = work.price[-1].copy(), ~work.closed[-1]
    work.solve()
    due = work.classes[work.storeys[-1].class_of]
    assert (work.price[-1][unclosed] == before[unclosed]).all()
    assert (work.price[-1][~unclosed & due] == work.dearest[~unclosed & due]).all()
    case = Case(work, region_of, cells, rng.integers(0, 5, len(area)))
    if rng.random() < 0.6:
        work.holds = case.holds
    return case


def closed_plainly(case: Case) -> tuple[list[dict[Place, int]], list[int], set[int], list[int]]:
    """What is closed, needs no decoy, may do without, and for whom it was closed, afterwards; how many zones are closed
    next for each place; which classes are due again; and how often something came of it, by what it was."""
    closed, waived, alone, closed_for = (
        {place: int(getattr(case.work, name)[place[0]][place[1]]) for place in case.places} for name in STATES
    )
    batch = dict(zip(case.places, case.work.batch.tolist()))
    again: set[int] = set()
    lone = [place for place in case.due if place in case.released and case.in_vain(place)]
    fails = [place for place in case.due if place in case.released and case.fails(place)]
    for place in lone:
        alone[place] = False
    stuck = [
        place
        for place in case.due
        if place[0] == case.last and place not in case.released and case.arrived(place)
        if not (alone[place] or waived[place] or closed[place])
    ]
    for place in stuck:
        waived[place] = True
    again.update(case.class_of(place) for place in [*lone, *fails, *stuck])
    helped: dict[Place, list[Place]] = {}
    for place in case.released:
        for failing in [other for other in case.around(place) if other in fails][:1]:
            helped.setdefault(failing, []).append(place)
    for failing, zones in helped.items():
        for place in sorted(zones, key=lambda place: (case.arrived(place), *place))[: batch[failing]]:
            closed[place], closed_for[place] = True, case.number[failing]
        batch[failing] *= 2
    hopeless = [place for place in fails if place not in helped]
    opened = [place for place in case.places if closed_for[place] in [case.number[other] for other in hopeless]]
    opened = [place for place in opened if place[0] < case.places[closed_for[place]][0]]
    for place in opened:
        closed[place], closed_for[place] = False, -1
    spared = []
    for place in hopeless:
        within = [other for other in case.due if place in case.around(other)]
        if place[0] == case.last and not (alone[place] or waived[place]):
            waived[place] = True
            spared.append(place)
        elif place[0] == case.last and any(not (alone[other] or waived[other]) for other in within):
            waived.update(dict.fromkeys(within, True))
            spared.append(place)
        else:
            closed[place] = True
    happened = [len(some) for some in (lone, fails, stuck, helped, opened, hopeless, spared)]
    return [closed, waived, alone, closed_for], list(batch.values()), again, happened


def test_what_fails_is_closed_or_gets_company_or_needs_no_decoy_as_in_plain_loops():
    happened = np.zeros(7, int)
    for seed in range(180):
        case = drawn_case(seed)
        states, batch, again, of_seed = closed_plainly(case)
        levels = np.full(len(case.cells.area), -1)
        for place in case.released:
            own = case.cells.class_of == case.class_of(place)
            levels[own & np.isin(case.cells.area, list(case.zone(place)))] = place[0]
        assert case.work.levels().tolist() == levels.tolist()
        case.work.close_what_fails()
        for name, plain in zip(STATES, states):
            now = getattr(case.work, name)
            assert {place: int(now[place[0]][place[1]]) for place in case.places} == plain, name
        assert case.work.batch.tolist() == batch
        assert set(np.flatnonzero(case.work.classes).tolist()) == again
        happened += of_seed
    assert (happened > 3).all(), happened


@for_each_seed(10)
def test_the_price_of_a_place_lies_by_chance_between_what_a_record_loses_there_and_around_it(seed):
    case = drawn_case(seed)
    tree = tree_of(case.region_of, [np.arange(1.0 + of.max()) + 7 * level for level, of in enumerate(case.region_of)])
    storeys, losses = storeys_of(case.cells, tree, case.k), without_falls(tree)
    drawn = np.random.default_rng(seed)
    for level, (storey, price) in enumerate(zip(storeys, _prices(storeys, tree, Secrets(np.random.default_rng(seed))))):
        loss = losses[level][storey.place]
        if level < case.last:
            around = losses[level + 1][tree.within[level][storey.place]]
            loss = loss + 0.2 * drawn.random(len(storey)) * (around - loss)
        assert price.tolist() == loss.tolist()
    assert [price.tolist() for price in _prices(storeys, tree, None)] == [
        losses[level][storey.place].tolist() for level, storey in enumerate(storeys)
    ]
