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

from collections.abc import Iterator

import numpy as np

from ..areas import Areas
from ..dataclass import dataclass
from ..plan import Plan
from ..scientific import special
from .possible_tables import PossibleTables

MOST_ZONES, MOST_AREAS, MOST_RECORDS = 2_000, 40, 400  # of the sample, of each of its zones
MOST_PAIRS = 3_000_000  # zones x areas of their regions that are looked through
FITTED_ON = 150  # zones of either kind
PLACE_WEIGHTS = (1.0, 0.3, 0.1, 0.02, 1e-3)
NONE_WEIGHTS = (1.0, 0.3, 0.1, 0.01, 0.0)
SUREST = (1.0, 5.0, 20.0)  # per cent of the guesses
CLASS_SIZES = (50, 500)  # records of a class in all, that part small, middling and large classes
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
    """Zones with the people and the true records of their areas.

    count, class_of : (zones,), the records that the region shows, and their class
    zone, people, records : (areas,), of each area the zone it is of, ascending, its people and its true records
    parts : from the finest level, (areas,) the region of each area, negative where the zone's level is no coarser
    of_zones : zones of several areas that there are
    """

    count: np.ndarray
    class_of: np.ndarray
    zone: np.ndarray
    people: np.ndarray
    records: np.ndarray
    parts: tuple[np.ndarray, ...]
    of_zones: int

    def of(self, some: np.ndarray) -> ZoneSample:
        """Some of the zones, ascending."""
        number = np.full(len(self.count), -1, np.int64)
        number[some] = np.arange(len(some), dtype=np.int64)
        areas = np.flatnonzero(number[self.zone] >= 0)
        return ZoneSample(
            self.count[some],
            self.class_of[some],
            number[self.zone[areas]],
            self.people[areas],
            self.records[areas],
            tuple(of_level[areas] for of_level in self.parts),
            self.of_zones,
        )


def guesses(areas: Areas, plan: Plan) -> Guesses | None:
    """What guesses are worth for a nested release, by a sample of its zones; None where no zone has several areas."""
    sample = sample_of(areas, plan)
    if not len(sample.count):
        return None
    holds = (sample.records >= 1) & (sample.records < plan.k)
    by_people = by_people_alone(sample, plan.k)
    by_method = _by_the_method(sample, holds, plan.k)
    sizes = plan.profile.class_sizes[sample.class_of][sample.zone]
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
    n_areas = np.empty(len(released), np.int64)
    for level, (region_of, crosswalk) in enumerate(zip(regions, plan.levels.crosswalks)):
        inside = inhabited[region_of[inhabited] >= 0]
        here = plan.level[released] == level
        n_areas[here] = np.bincount(region_of[inside], minlength=crosswalk.n_regions)[plan.region[released[here]]]
    several = n_areas > 1
    released, n_areas = released[several], n_areas[several]
    order = np.random.default_rng(SEED).permutation(len(released))
    order = released[np.sort(order[np.cumsum(n_areas[order]) <= MOST_PAIRS][:MOST_ZONES])]
    zone, area = [], []  # equivalence classes are in the order of their levels
    for level in range(len(regions)):
        first, last = np.searchsorted(plan.level[order], [level, level + 1])
        zone_here, area_here = _areas_of_zones(areas, plan, order[first:last], level)
        zone.append(zone_here + first)
        area.append(area_here)
    return _examined(areas, plan, order, np.concatenate(zone), np.concatenate(area), len(released))


def _areas_of_zones(areas: Areas, plan: Plan, zones: np.ndarray, level: int) -> tuple[np.ndarray, np.ndarray]:
    """The zone and the number of each inhabited area of some zones of a level, ascending by zone.

    zones : positions of their equivalence classes
    """
    inhabited = np.flatnonzero((areas.population > 0) & (plan.levels.region_of[level] >= 0))
    region_of = plan.levels.region_of[level][inhabited]
    by_region = np.argsort(region_of, kind="stable")
    starts = np.searchsorted(
        region_of[by_region], np.arange(plan.levels.crosswalks[level].n_regions + 1, dtype=np.int64)
    )
    first, number = starts[plan.region[zones]], np.diff(starts)[plan.region[zones]]
    zone = np.repeat(np.arange(len(zones), dtype=np.int64), number)
    area = inhabited[
        by_region[np.arange(len(zone), dtype=np.int64) + np.repeat(first - (np.cumsum(number) - number), number)]
    ]
    class_of = plan.class_of[zones][zone]
    for finer in range(level):
        at = plan.equivalence_classes_of_places(finer, plan.levels.region_of[finer][area], class_of)
        stays = ~np.append(plan.released, False)[at]
        zone, area, class_of = zone[stays], area[stays], class_of[stays]
    return zone, area


def _examined(
    areas: Areas, plan: Plan, zones: np.ndarray, zone: np.ndarray, area: np.ndarray, of_zones: int
) -> ZoneSample:
    """The zones that are neither of one area nor too large to be examined."""
    size = np.bincount(zone, minlength=len(zones))
    records = np.asarray(plan.profile.counts[area, plan.class_of[zones][zone]]).ravel() if len(area) else np.empty(0)
    parts = tuple(
        np.where(plan.level[zones][zone] > finer, plan.levels.region_of[finer][area], -1)
        for finer in range(len(plan.levels) - 1)
    )
    sample = ZoneSample(
        plan.records[zones].astype(np.int64),
        plan.class_of[zones],
        zone,
        areas.population[area],
        records.astype(np.int64),
        parts,
        of_zones,
    )
    return sample.of(np.flatnonzero((size > 1) & (size <= MOST_AREAS) & (sample.count <= MOST_RECORDS)))


def by_people_alone(sample: ZoneSample, k: int) -> np.ndarray:
    """The chance that each area of a zone holds 1 to k - 1 of its records, by people alone, (areas,)."""
    count = sample.count[sample.zone]
    share = sample.people / np.bincount(sample.zone, sample.people)[sample.zone]
    # Of scipy.special: scipy.stats takes six times as long to load.
    return np.asarray(special.bdtr(np.minimum(k - 1, count), count, share) - special.bdtr(0, count, share))


def _by_the_method(sample: ZoneSample, holds: np.ndarray, k: int) -> np.ndarray:
    """The same for somebody who knows the method, by the weights that fit best: those of zones of which each area may
    hold none though no other has k, and those of the others; holds : (areas,), whether it is so."""
    n_areas = np.bincount(sample.zone)
    chances = np.empty(len(sample.zone))
    kind = sample.count > (k - 1) * (n_areas - 1)
    for of_kind in (False, True):
        own = np.flatnonzero(kind == of_kind)
        if not len(own):
            continue
        fitted_on = own[:FITTED_ON]
        place, part, none = _fitted(sample.of(fitted_on), holds[np.isin(sample.zone, fitted_on)], k)
        tables = _tables(sample.of(own), k)
        chances[np.isin(sample.zone, own)] = tables.chances(tables.weighed([0.0, place], [0.0, part]), 1, none)
    return chances


def _tables(sample: ZoneSample, k: int) -> PossibleTables:
    return PossibleTables(sample.count, sample.zone, sample.people, sample.parts, k)


def _fitted(sample: ZoneSample, holds: np.ndarray, k: int) -> tuple[float, float, float]:
    """The weights of places, parts and tables without either by which the records of some zones are likeliest."""
    tables, weights = _tables(sample, k), list(_weights())
    weighed = tables.weighed([0.0, *(place for place, _ in weights)], [0.0, *(part for _, part in weights)])
    best, least = (1.0, 1.0, 1.0), np.inf
    for row, (place, part) in enumerate(weights):
        for none in NONE_WEIGHTS:
            chance = tables.chances(weighed, row + 1, none).clip(1e-6, 1 - 1e-6)
            loss = -float(np.log(np.where(holds, chance, 1 - chance)).mean())
            if loss < least:
                best, least = (place, part, none), loss
    return best


def _weights() -> Iterator[tuple[float, float]]:
    for place in PLACE_WEIGHTS:
        yield place, 1.0
        if place < 1:
            yield place, place
