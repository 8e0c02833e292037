"""How often the best guess is right that an area holds 1 to k - 1 records of a class.

What cannot be proven can be guessed. The guesser knows the release, the crosswalk, the people of each area, the method
and its parameters; not what was drawn, nor who lives where. Of a zone (the areas for which a class is shown in one
region) the count is known. Without more, each of its records lives in each area by its people: that is the base rate.
Who knows the method adds that an area or a part of the region that had k records would as a rule have shown the class
itself (Bayes): each such place counts `place` of what it would count without that, each such part of several areas
`part`, and a table without any such place `none` of what it would count. These three weights are the guesser's estimate
of what was drawn; here they are those that fit the records best, better than any guesser can know them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Union

import numpy as np

from ..areas import Areas
from ..plan import Plan
from ..scientific import special

MOST_ZONES, MOST_AREAS, MOST_RECORDS = 2_000, 40, 400  # of the sample, of each of its zones
MOST_PAIRS = 3_000_000  # zones x areas of their regions that are looked through
FITTED_ON = 150  # zones of either kind
PLACE_WEIGHTS = (1.0, 0.3, 0.1, 0.02, 1e-3)
NONE_WEIGHTS = (1.0, 0.3, 0.1, 0.01, 0.0)
SUREST = (1.0, 5.0, 20.0)  # per cent of the guesses
CLASS_SIZES = (50, 500)  # records of a class in all, that part small, middling and large classes
NEVER = 1e-60  # numbers of records in an area that are less likely are left out
LEAST_GUESSES = 20  # by which a share of right ones is told
SEED = 0  # of the sample: nothing that is released depends on it


@dataclass(frozen=True)
class Surest:
    """The guesses that somebody is surest of.

    percent : of the guesses; n : how many; right : the share of them that are right, by the method; by_people : of as
    many guesses, the surest by people alone
    """

    percent: float
    n: int
    right: float
    by_people: float


@dataclass(frozen=True)
class Guesses:
    """What guesses that an area holds 1 to k - 1 records of a class are worth.

    n_zones, n_areas : of the sample, and its areas, a guess each; of_zones : zones of several areas that there are
    so_many : the share of the areas that do hold 1 to k - 1
    surest : by share of the guesses; by_class_size : the same by records of the class in all, (at least, at most)
    """

    k: int
    n_zones: int
    of_zones: int
    n_areas: int
    so_many: float
    surest: tuple[Surest, ...]
    by_class_size: tuple[tuple[int, int | None, tuple[Surest, ...]], ...]


@dataclass(frozen=True, eq=False)
class ZoneSample:
    """Zones with the people and the true records of their areas, lists by zone.

    count : records that the region shows; class_of : their class; people, records : (areas,) of each of its areas;
    parts : of each level below the zone's, from the coarsest, (areas,) the region of each area
    of_zones : zones of several areas that there are
    """

    count: list[int]
    class_of: list[int]
    people: list[np.ndarray]
    records: list[np.ndarray]
    parts: list[list[np.ndarray]]
    of_zones: int


def guesses(areas: Areas, plan: Plan) -> Guesses | None:
    """What guesses are worth for a nested release, by a sample of its zones; None where no zone has several areas."""
    sample = sample_of(areas, plan)
    if not sample.count:
        return None
    holds = np.concatenate([(records >= 1) & (records < plan.k) for records in sample.records])
    by_people = np.concatenate(
        [by_people_alone(count, people, plan.k) for count, people in zip(sample.count, sample.people)]
    )
    by_method = _by_the_method(sample, plan.k)
    n_areas = [len(people) for people in sample.people]
    sizes = np.repeat(plan.profile.class_sizes[np.array(sample.class_of)], n_areas)
    bands = []
    for least, below in zip((0, *CLASS_SIZES), (*CLASS_SIZES, None)):
        here = (sizes >= least) & (sizes < (np.inf if below is None else below))
        if here.sum() >= LEAST_GUESSES:
            most = None if below is None else below - 1
            bands.append((least, most, _surest(holds[here], by_method[here], by_people[here])))
    return Guesses(
        plan.k,
        len(sample.count),
        sample.of_zones,
        len(holds),
        float(holds.mean()),
        _surest(holds, by_method, by_people),
        tuple(bands),
    )


def _surest(holds: np.ndarray, by_method: np.ndarray, by_people: np.ndarray) -> tuple[Surest, ...]:
    """The share of right ones among the surest guesses; of equal ones as many as there are on average."""
    surest = []
    for percent in SUREST:
        n = min(max(round(percent / 100 * len(holds)), LEAST_GUESSES), len(holds))
        surest.append(Surest(percent, n, _right(holds, by_method, n), _right(holds, by_people, n)))
    return tuple(surest)


def _right(holds: np.ndarray, sure: np.ndarray, n: int) -> float:
    least = -np.partition(-sure, n - 1)[n - 1]
    above, equal = sure > least, sure == least
    return float((holds[above].sum() + holds[equal].mean() * (n - above.sum())) / n)


def sample_of(areas: Areas, plan: Plan) -> ZoneSample:
    """A sample of the zones of several inhabited areas, the same each time."""
    regions = plan.levels.region_of
    released = np.flatnonzero(plan.released)
    inhabited = np.flatnonzero(areas.population > 0)
    size = [
        np.bincount(region_of[inhabited][region_of[inhabited] >= 0], minlength=crosswalk.n_regions)
        for region_of, crosswalk in zip(regions, plan.levels.crosswalks)
    ]
    n_areas = np.array(
        [size[level][region] for level, region in zip(plan.level[released], plan.region[released])], np.int64
    )
    released, n_areas = released[n_areas > 1], n_areas[n_areas > 1]
    order = np.random.default_rng(SEED).permutation(len(released))
    order = released[np.sort(order[np.cumsum(n_areas[order]) <= MOST_PAIRS][:MOST_ZONES])]
    sample = ZoneSample([], [], [], [], [], len(released))
    for level in range(len(regions)):
        _add_zones(sample, areas, plan, order[plan.level[order] == level], level)
    return sample


def _add_zones(sample: ZoneSample, areas: Areas, plan: Plan, zones: np.ndarray, level: int) -> None:
    """Add the zones of a level to the sample; zones : positions of their equivalence classes."""
    inhabited = np.flatnonzero((areas.population > 0) & (plan.levels.region_of[level] >= 0))
    region_of = plan.levels.region_of[level][inhabited]
    by_region = np.argsort(region_of, kind="stable")
    starts = np.searchsorted(region_of[by_region], np.arange(plan.levels.crosswalks[level].n_regions + 1))
    first, number = starts[plan.region[zones]], np.diff(starts)[plan.region[zones]]
    zone = np.repeat(np.arange(len(zones)), number)
    area = inhabited[by_region[np.arange(len(zone)) + np.repeat(first - (np.cumsum(number) - number), number)]]
    class_of = plan.class_of[zones][zone]
    for finer in range(level):
        at = plan.equivalence_classes_of_places(finer, plan.levels.region_of[finer][area], class_of)
        stays = ~np.append(plan.released, False)[at]
        zone, area, class_of = zone[stays], area[stays], class_of[stays]
    records = np.asarray(plan.profile.counts[area, class_of]).ravel() if len(area) else np.empty(0)
    ends = np.searchsorted(zone, np.arange(len(zones) + 1))
    for number_, (start, stop) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist())):
        count, here = int(plan.records[zones[number_]]), slice(start, stop)
        if 1 < stop - start <= MOST_AREAS and count <= MOST_RECORDS:
            sample.count.append(count)
            sample.class_of.append(int(plan.class_of[zones[number_]]))
            sample.people.append(areas.population[area[here]])
            sample.records.append(records[here].astype(np.int64))
            sample.parts.append([plan.levels.region_of[finer][area[here]] for finer in range(level - 1, -1, -1)])


def by_people_alone(count: int, people: np.ndarray, k: int) -> np.ndarray:
    """The chance that each area of a zone holds 1 to k - 1 of its records, by people alone, (areas,)."""
    share = people / people.sum()
    # Of scipy.special: scipy.stats takes six times as long to load.
    return np.asarray(special.bdtr(min(k - 1, count), count, share) - special.bdtr(0, count, share))


def _by_the_method(sample: ZoneSample, k: int) -> np.ndarray:
    """The same for somebody who knows the method, by the weights that fit best: those of zones of which each area may
    hold none though no other has k, and those of the others."""
    kind = [count > (k - 1) * (len(people) - 1) for count, people in zip(sample.count, sample.people)]
    trees = [_Tree(count, people, parts, k) for count, people, parts in zip(sample.count, sample.people, sample.parts)]
    chances: list[np.ndarray] = [np.empty(0)] * len(trees)
    for of_rests in (False, True):
        own = [number for number, of_kind in enumerate(kind) if of_kind is of_rests]
        if own:
            weights = _fitted([(trees[number], sample.records[number]) for number in own[:FITTED_ON]], k)
            for number in own:
                chances[number] = trees[number].chances(*weights)
    return np.concatenate(chances)


def _fitted(zones: Sequence[tuple[_Tree, np.ndarray]], k: int) -> tuple[float, float, float]:
    """The weights of places, parts and tables without either by which the records of some zones are likeliest."""
    holds = np.concatenate([(records >= 1) & (records < k) for _, records in zones])
    best, least = (1.0, 1.0, 1.0), np.inf
    for place, part in _weights():
        with_any = [tree.with_any(place, part) for tree, _ in zones]
        for none in NONE_WEIGHTS:
            chance = np.concatenate([tree.combined(every, none) for (tree, _), every in zip(zones, with_any)]).clip(
                1e-6, 1 - 1e-6
            )
            loss = -float(np.log(np.where(holds, chance, 1 - chance)).mean())
            if loss < least:
                best, least = (place, part, none), loss
    return best


def _weights() -> Iterator[tuple[float, float]]:
    for place in PLACE_WEIGHTS:
        yield place, 1.0
        if place < 1:
            yield place, place


_Node = Union[int, "list[_Node]"]  # an area of a zone, or parts of it
Marginals = tuple[float, np.ndarray]  # the weight of all tables, and (areas,) of those with 1 to k - 1 there


class _Tree:
    """A zone and its parts down to the areas, and how likely its tables are. Weights are of sums of independent counts
    by people, given their sum."""

    def __init__(self, count: int, people: np.ndarray, parts: list[np.ndarray], k: int) -> None:
        self.count, self.k = count, k
        counts = np.arange(count + 1)
        rate = np.log(count * people / people.sum())
        chance = np.exp(counts * rate[:, None] - _log_factorials(count))
        chance /= chance.sum(axis=1, keepdims=True)
        self.chance = [of_area[: max(int(np.flatnonzero(of_area > NEVER)[-1]) + 1, k)] for of_area in chance]
        self.root = _grouped(np.arange(len(people)), parts)
        self.none = self._marginals(0.0, 0.0)

    def chances(self, place: float, part: float, none: float) -> np.ndarray:
        """The chance that each area holds 1 to k - 1."""
        return self.combined(self.with_any(place, part), none)

    def with_any(self, place: float, part: float) -> Marginals:
        """All tables, a place with k or more counting `place`, a part of several areas with k or more `part`."""
        return self._marginals(place, part)

    def combined(self, every: Marginals, none: float) -> np.ndarray:
        """The chance of 1 to k - 1, tables without any place of k or more counting `none`."""
        total = every[0] - (1 - none) * self.none[0]
        small: np.ndarray = every[1] - (1 - none) * self.none[1]
        return small / total if total > 0 else np.full(len(self.chance), 0.5)

    def _marginals(self, place: float, part: float) -> Marginals:
        """By derivatives: what all tables weigh is linear in the weight of each number of records of each area."""
        size = self.count + 1
        few = np.arange(size) < self.k
        of_area = [np.where(few[: len(of_one)], of_one, of_one * place) for of_one in self.chance]
        of_parts, small = np.where(few, 1.0, part), np.zeros(len(of_area))
        products: dict[int, list[np.ndarray]] = {}  # by the node: of its first 0, 1, 2, … children

        def weight(node: _Node) -> np.ndarray:
            """The weight of 0, 1, 2, … records in a node."""
            if isinstance(node, int):
                return of_area[node]
            product = up_to(node)[-1]
            return product * of_parts[: len(product)]

        def up_to(node: list[_Node]) -> list[np.ndarray]:
            if id(node) not in products:
                products[id(node)] = own = [weight(node[0])]
                for child in node[1:]:
                    own.append(np.convolve(own[-1], weight(child))[:size])
            return products[id(node)]

        def hand_down(node: list[_Node], around: np.ndarray) -> float:
            """The weight of all tables; around : (size,) of all else where the node holds …, 2, 1, 0."""
            own = [np.ones(1), *up_to(node)]
            for child, before in zip(node[::-1], own[-2::-1]):
                of_child = weight(child)
                beside = np.convolve(around, before)[:size]
                if isinstance(child, int):
                    small[child] = of_child[1 : self.k] @ beside[::-1][1 : min(self.k, len(of_child))]
                else:
                    hand_down(child, beside * of_parts[::-1])
                around = np.convolve(around, of_child)[:size]
            return float(around[-1])

        return hand_down(self.root, (np.arange(size) == 0).astype(float)), small


def _grouped(areas: np.ndarray, parts: list[np.ndarray]) -> list[_Node]:
    """Areas in their parts, parts of one member left out; parts : of each level, from the coarsest, of all areas."""
    if not parts:
        return list(areas.tolist())
    regions = parts[0][areas]
    groups: list[_Node] = []
    for region in np.unique(regions).tolist():
        own = areas[regions == region]
        groups.append(int(own[0]) if len(own) == 1 else _grouped(own, parts[1:]))
    return groups[0] if len(groups) == 1 and isinstance(groups[0], list) else groups


@lru_cache(maxsize=MOST_RECORDS + 1)
def _log_factorials(most: int) -> np.ndarray:
    return special.gammaln(np.arange(most + 1) + 1.0)
