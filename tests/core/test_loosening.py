"""What would have to be known no more for a small count to be free: small cases that one can work out by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vbas.core.disclosure.block import Block, Storeys
from vbas.core.disclosure.count_tables import CountTable
from vbas.core.disclosure.exchanges import Places, places_of
from vbas.core.disclosure.undecided import areas_around, loosened
from vbas.core.plan import SUPPRESSED


def block_of(people: list[list[int]], level_of: list[list[int]], totals: list[int] | None = None) -> Block:
    """Areas, all of one region, shown at these levels; totals : what is known of all people of each area."""
    n, u = np.shape(people)
    storeys = Storeys([np.arange(n), np.zeros(n, np.int64)], [None, None], 3, zones=False, bounded=False)
    tables = []
    if totals is not None:
        known, all_alike = np.array(totals, np.int64)[:, None], np.zeros(u, np.int64)
        tables.append(CountTable("totals", (), np.arange(n), n, all_alike, 1, known, known, ((),)))
    return Block(np.array(people, np.int64), np.array(level_of, np.int8), storeys, tables, np.arange(u))


def of_areas(block: Block, *areas: int) -> tuple[Places, int]:
    """The count of the first class in exactly these areas."""
    for places in places_of(block):
        for number in range(len(places)):
            if places.class_of[number] == 0 and places.areas(number).tolist() == list(areas):
                return places, number
    raise AssertionError(areas)


@pytest.mark.parametrize(("dear", "gives_way"), [(1, (0, 1, 0)), (0, (1, 0, 0))])
def test_the_cheaper_sum_gives_way(dear, gives_way):
    """Five are shown in the second area and six in both: one is in the first. Which sum goes is a matter of price."""
    block = block_of([[1], [5]], [[1], [0]])
    places, number = of_areas(block, 0)

    def price(level, region, group):
        return np.full(len(region), 100.0 if level == dear else 1.0)

    ways = list(loosened(block, places, number, np.arange(2), price))
    assert len(ways) == 2 and all(gives_way in way for way in ways)  # nobody there, or three
    dear_sums = [sum_ for way in ways for sum_ in way if sum_[0] == dear]
    assert not dear_sums


def test_a_count_of_which_one_area_is_moved_needs_as_many_fewer_there():
    """One of each of two areas is in the count; three people live in the first: two of the class there make up k."""
    block = block_of([[1, 2], [1, 2], [5, 0]], [[1, SUPPRESSED], [1, SUPPRESSED], [0, SUPPRESSED]], [3, 3, 5])
    places, number = of_areas(block, 0, 1)
    ways = list(loosened(block, places, number, np.array([0]), lambda level, region, group: np.ones(len(region))))
    # Nobody at all cannot be, as the other area keeps its one; three can.
    assert len(ways) == 1


@pytest.mark.parametrize(
    ("area", "far", "near"), [(0, 9, [0, 1, 2, 3, 9]), (5, 11, [3, 4, 5, 6, 11]), (11, 2, [2, 8, 9, 10, 11])]
)
def test_areas_on_both_sides_of_a_count_are_looked_at_and_where_others_of_its_class_live(area, far, near):
    """A count whose own neighbours were left out would be taken to follow, and people be held back for nothing."""
    people = np.zeros((12, 1), np.int64)
    people[[area, far]] = 1
    block = block_of(people.tolist(), [[SUPPRESSED]] * 12)
    places, number = of_areas(block, area)
    assert areas_around(block, places, number, 4).tolist() == near


def test_areas_around_are_those_beside_in_order_and_the_nearest_of_the_count_and_of_its_class():
    rng = np.random.default_rng(4)
    for _ in range(60):
        n, n_areas = int(rng.integers(2, 14)), int(rng.integers(1, 6))
        people, order = rng.integers(0, 2, (n + 1, 2)), rng.permutation(n)
        place = np.argsort(order)
        own, also = rng.permutation(n)[: rng.integers(1, n + 1)], rng.permutation(n)[: rng.integers(0, 2)]
        classes = np.flatnonzero(rng.random(2) < 0.7)
        block: Any = SimpleNamespace(n=n, people=people, order=order, place=place)
        places: Any = SimpleNamespace(area=own[:1], classes=lambda _, of=classes: of, areas=lambda _, of=own: of)
        middle = int(place[own[0]])

        def nearest(some, place=place, middle=middle, n_areas=n_areas):
            return sorted(some, key=lambda at: (abs(int(place[at]) - middle), at))[:n_areas]

        first = max(0, min(middle - n_areas // 2, n - n_areas))
        lives = [area for area in range(n) if people[area, classes].any()]
        near = {*order[first : first + n_areas].tolist(), *nearest(set(lives) & {*own.tolist()})}
        near |= {*nearest(set(lives) - {*own.tolist()})}
        assert areas_around(block, places, 0, n_areas).tolist() == sorted(near)
        assert areas_around(block, places, 0, n_areas, also).tolist() == sorted(near | {*also.tolist()})
