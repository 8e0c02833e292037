"""Where zones show their class, of all ways the cheapest, by going through them."""

from __future__ import annotations

from itertools import product

import numpy as np

from vbas.core.crosswalk import number_compactly
from vbas.core.nesting.optimum import ProfileCells
from vbas.core.nesting.tree import tree_of
from vbas.core.nesting.zone_optimum import Allowed, _last_part, _with_part, cheapest_release
from vbas.core.nesting.zones import storeys_of, zones_of

from ..each import for_each_seed


def drawn_case(rng, n_levels):
    """Records of a class in nested regions, and what each place that has k or more of it may do, at a price."""
    n, k = int(rng.integers(3, 10)), int(rng.integers(2, 5))
    region_of = [np.arange(n), number_compactly(rng.integers(0, 5, n))[0].region_of]
    region_of.append(number_compactly(rng.integers(0, 2, 5))[0].region_of[region_of[1]])
    region_of.append(np.zeros(n, np.int64))
    region_of = [*region_of[: n_levels - 1], region_of[-1]]
    records = rng.integers(0, k, n) + k * (rng.random(n) < 0.3)
    records[0] += k
    tree = tree_of(region_of, [np.zeros(int(of.max()) + 1) for of in region_of])
    area = np.flatnonzero(records)
    storeys = storeys_of(ProfileCells(area, np.zeros_like(area), records[area]), tree, k)
    if sum(len(storey) for storey in storeys) > 8:
        return drawn_case(rng, n_levels)
    allowed, equal, step = [], rng.random() < 0.5, int(rng.integers(0, 4))
    for level, storey in enumerate(storeys):
        shows, alone = rng.random(len(storey)) < 0.8, rng.random(len(storey)) < 0.5
        price = rng.integers(0, 3, len(storey)) if equal else rng.random(len(storey)) * 4
        allowed.append(Allowed(1.0 * step * level + price, shows, alone))
    return k, storeys, allowed


def inside(storeys, place):
    """The places within one, level and row, and itself."""
    level, row = place
    parts = range(int(storeys[level].first[row]), int(storeys[level].first[row] + storeys[level].number[row]))
    return {place}.union(*(inside(storeys, (level - 1, part)) for part in parts if level))


def ways(storeys, allowed, k):
    """All choices of places that may show the class: what is left over in the end, counted up to k, what it costs, and
    which they are; of each place in between that passes on k and more, what costs that and is shown within."""
    places = [(level, row) for level, storey in enumerate(storeys) for row in range(len(storey))]
    within, last = {place: inside(storeys, place) for place in places}, len(storeys) - 1
    for chosen in product((False, True), repeat=len(places)):
        shown = {place for place, here in zip(places, chosen) if here}
        released = [np.array([(level, row) in shown for row in range(len(of))]) for level, of in enumerate(storeys)]
        zones = zones_of(storeys, released, [np.zeros(9)] * len(storeys))
        arrived = {(level, row): int(zones.arrived[level][row]) for level, row in places}
        if not all(
            arrived[level, row] >= k
            and allowed[level].shows[row]
            and (allowed[level].alone[row] or not level or zones.from_part[level][row] >= k)
            for level, row in shown
        ):
            continue
        cost = {(level, row): arrived[level, row] * float(allowed[level].price[row]) for level, row in places}
        left = [place for place in places if place[0] == last and place not in shown]
        passing = {
            place: (cost[place] + sum(cost[one] for one in shown & within[place]), frozenset(shown & within[place]))
            for place in places
            if 0 < place[0] < last and place not in shown and arrived[place] >= k
        }
        whole = sum(cost[place] for place in shown.union(left))
        yield sum(min(arrived[place], k) for place in left), whole, shown, passing


def settled(every, level, last):
    """The choices in which what passes k and more up to some level does so in the cheapest way, one of those that cost
    the same wherever it is passed."""
    if level == last:
        yield every
        return
    cheapest: dict[tuple[int, int], dict[frozenset[object], float]] = {}
    for *_, passing in every:
        for place, (cost, shown) in passing.items():
            if place[0] == level:
                cheapest.setdefault(place, {})[shown] = cost
    choices = [
        [(place, shown) for shown, cost in of.items() if np.isclose(cost, min(of.values()))]
        for place, of in cheapest.items()
    ]
    for chosen in product(*choices):
        own = dict(chosen)
        fits = [one for one in every if all(own.get(place, shown) == shown for place, (_, shown) in one[3].items())]
        yield from settled(fits, level + 1, last)


def is_cheapest(seed, n_levels):
    """What is found leaves the fewest over, and costs least of the choices that do."""
    k, storeys, allowed = drawn_case(np.random.default_rng(seed), n_levels)
    found = cheapest_release(storeys, allowed, k)
    places = {(level, int(row)) for level, of in enumerate(found) for row in np.flatnonzero(of)}
    for every in settled(list(ways(storeys, allowed, k)), 1, n_levels - 1):
        fewest = min(left for left, *_ in every)
        least = min(cost for left, cost, *_ in every if left == fewest)
        if any(left == fewest and np.isclose(cost, least) and shown == places for left, cost, shown, _ in every):
            return
    raise AssertionError(f"{sorted(places)} is not the cheapest")


@for_each_seed(30)
def test_of_two_levels_nothing_is_cheaper_nor_leaves_fewer(seed):
    is_cheapest(seed, 2)


@for_each_seed(25)
def test_of_three_levels_neither_where_what_passes_k_and_more_does_so_in_the_cheapest_way(seed):
    is_cheapest(seed, 3)


@for_each_seed(20)
def test_nor_of_four_levels(seed):
    is_cheapest(seed, 4)


@for_each_seed(60)
def test_what_a_part_more_costs_and_how_many_those_are_is_what_is_walked_back_to(seed):
    """Each state joined with each number that the part may pass; k and more, with a decoy from then on, are one."""
    rng = np.random.default_rng(seed)
    k, n, equal = int(rng.integers(2, 5)), 4, seed % 2
    costs = rng.integers(0, 4, (2 * k + 3, n)) if equal else rng.random((2 * k + 3, n))
    states, charge = np.split(np.where(rng.random(costs.shape) < 0.7, costs, np.inf), [k + 2])
    counts, many = k + rng.integers(0, 9, (2, n)), k + rng.integers(0, 9, n)
    new, new_counts = _with_part(states, counts.astype(float), charge, many.astype(float), k)
    for row in range(n):
        count = [*range(k), *counts[:, row].tolist()]
        ways: dict[int, list[tuple[float, int]]] = {state: [] for state in range(k + 2)}
        for (state, its), passed in product(enumerate(count), range(k + 1)):
            cost = float(states[state, row] + charge[passed, row])
            number = its + (int(many[row]) if passed == k else passed)
            to = k + 1 if k + 1 == state or passed == k else min(number, k)
            if np.isfinite(cost):
                ways[to].append((cost, number))
        for state, of in ways.items():
            assert new[state, row] == min((cost for cost, _ in of), default=np.inf)
            if of:
                (passed,), (before,) = _last_part(states[:, [row]], charge[:, [row]], np.array([state]), k)
                number = count[before] + (int(many[row]) if passed == k else passed)
                assert (states[before, row] + charge[passed, row], number) in of
                assert states[before, row] + charge[passed, row] == new[state, row]
                assert state < k or number == new_counts[state - k, row]
