"""Component 4: the measures of an aggregation, overall and by region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable

import numpy as np

from . import counted
from .areas import Areas
from .crosswalk import Crosswalk
from .elementary import log2, norms
from .language import tr
from .plain_text import value_in_data, value_text
from .plan import SUPPRESSED, Plan, area_of_cells, stretches
from .profile import Profile
from .voronoi import weighted_centres

ABOUT = 1.5  # a share that is less than so many times another one is about as large


@dataclass(frozen=True)
class Measures:
    """The measures of Croft 2015, section 3.4.

    n_records counts every record, including those of no known area; compactness in metres; non_uniform_entropy in bits.
    mean_distance : metres, over the released records, of `mean_distances` of the region that each shows (ours)
    """

    n_regions: int
    n_records: int
    n_suppressed: int
    suppression_percent: float
    compactness: float
    discernibility: float
    non_uniform_entropy: float
    mean_distance: float


@dataclass(frozen=True, eq=False)
class RegionAudit:
    """The measures by aggregated region, arrays (n_regions,). Internal: suppressed counts follow from them.

    anonymity : the smallest class before suppression (in persons where these are counted), 0 where there are no
    records; compactness in metres
    """

    areas: np.ndarray
    population: np.ndarray
    records: np.ndarray
    suppressed: np.ndarray
    anonymity: np.ndarray
    classes: np.ndarray
    compactness: np.ndarray

    @property
    def released(self) -> np.ndarray:
        """Records released from each region, (n_regions,) int64."""
        return self.records - self.suppressed


def distances_to_sites(areas: Areas, crosswalk: Crosswalk, sites: np.ndarray) -> np.ndarray:
    """Distance from each area's point to its region's site, (n,) metres; 0 for areas that are left out."""
    inside = crosswalk.region_of >= 0
    distances = np.zeros(len(areas))
    distances[inside] = norms(areas.points[inside] - sites[crosswalk.region_of[inside]])
    return distances


def mean_distances(areas: Areas, crosswalk: Crosswalk) -> np.ndarray:
    """The mean distance in metres of the people of each region from its population-weighted centre, (n_regions,).

    A region without people takes its areas as equal (methods: section 12).
    """
    inside = crosswalk.region_of >= 0
    points, region_of = areas.points[inside], crosswalk.region_of[inside]
    people = people_within(areas, crosswalk)[inside]
    centres = weighted_centres(points, people, region_of, crosswalk.n_regions)
    sums = np.bincount(region_of, people * norms(points - centres[region_of]), crosswalk.n_regions)
    total = np.bincount(region_of, people, crosswalk.n_regions)
    return sums / np.where(total > 0, total, 1.0)


def people_within(areas: Areas, crosswalk: Crosswalk) -> np.ndarray:
    """The population of each area, (n,); 1 in regions where nobody lives."""
    population = areas.population.copy()
    inside = crosswalk.region_of >= 0
    populated = crosswalk.totals(population)[crosswalk.region_of[inside]] > 0
    population[inside] = np.where(populated, population[inside], 1.0)
    return population


def distance_of_equivalence_classes(areas: Areas, plan: Plan) -> np.ndarray:
    """`mean_distances` of the region of each equivalence class, (L,) metres."""
    distances = np.zeros(len(plan.records))
    for level, crosswalk in enumerate(plan.levels.crosswalks):
        here = plan.level == level
        distances[here] = mean_distances(areas, crosswalk)[plan.region[here]]
    return distances


def mean_distance_released(areas: Areas, plan: Plan) -> float:
    """The mean over the released records of `mean_distances` of the region that each shows, metres; 0 for none."""
    released = plan.released
    metres = plan.records[released] * distance_of_equivalence_classes(areas, plan)[released]
    return float(metres.sum() / max(plan.n_released, 1))


@dataclass(frozen=True, eq=False)
class ByValue:
    """Who loses: for each value of each quasi-identifier, its records, those suppressed, and the mean distance.

    quasi_identifiers, values : (V,) lists; records, suppressed : (V,) int64; mean_distance : (V,) metres, over the
    released records, NaN where there are none. Internal: suppressed counts are shown
    """

    quasi_identifiers: list[str]
    values: list[object]
    records: np.ndarray
    suppressed: np.ndarray
    mean_distance: np.ndarray


def evaluate_by_value(areas: Areas, plan: Plan) -> ByValue:
    """Rate a plan for each value of each quasi-identifier."""
    profile = plan.profile
    released = np.bincount(plan.class_of, np.where(plan.released, plan.records, 0), len(profile.classes))
    metres = np.where(plan.released, plan.records, 0) * distance_of_equivalence_classes(areas, plan)
    by_class = np.bincount(plan.class_of, metres, len(profile.classes))
    names: list[str] = []
    values: list[object] = []
    columns: list[tuple[np.ndarray, ...]] = []
    for name, codes, categories in zip(profile.quasi_identifiers, profile.classes.T, profile.categories):
        sums = [np.bincount(codes, weights, len(categories)) for weights in (profile.class_sizes, released, by_class)]
        used = sums[0] > 0
        names += [name] * int(used.sum())
        values += categories[used].tolist()
        columns.append(tuple(total[used] for total in sums))
    records, released_by_value, distance = (np.concatenate(parts) for parts in zip(*columns))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(released_by_value > 0, distance / released_by_value, np.nan)
    return ByValue(names, values, records.astype(np.int64), (records - released_by_value).astype(np.int64), mean)


@dataclass(frozen=True, eq=False)
class ByArea:
    """Where records are lost: of each area its records and those suppressed, (n,) int64, and the mean distance over
    those released, (n,) metres, NaN where there are none. Internal: suppressed counts are shown"""

    records: np.ndarray
    suppressed: np.ndarray
    mean_distance: np.ndarray


def evaluate_by_area(areas: Areas, plan: Plan) -> ByArea:
    """Rate a plan for each area."""
    counts, n = plan.profile.counts, len(areas)
    released, metres = np.zeros(n), np.zeros(n)
    distance = np.append(distance_of_equivalence_classes(areas, plan), 0.0)  # the last: of cells that are suppressed
    for cells in stretches(counts.nnz):
        of_class, area = plan.equivalence_class_of[cells], area_of_cells(plan.profile, cells)
        out = np.where(of_class == SUPPRESSED, 0, counts.data[cells])
        released += np.bincount(area, out, n)
        metres += np.bincount(area, out * distance[of_class], n)
    records = plan.profile.area_sizes.astype(np.int64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(released > 0, metres / released, np.nan)
    return ByArea(records, records - released.astype(np.int64), mean)


def people_shown(areas: Areas, plan: Plan, shares: Sequence[float]) -> list[float]:
    """Of the regions that released records show: so many people at most for such a share of these records.

    shares : from 0 to 1. Without released records all are 0
    """
    people = np.zeros(len(plan.records))
    for level, crosswalk in enumerate(plan.levels.crosswalks):
        here = plan.level == level
        people[here] = crosswalk.totals(areas.population)[plan.region[here]]
    order = np.flatnonzero(plan.released)
    order = order[np.argsort(people[order], kind="stable")]
    reached = np.cumsum(plan.records[order])
    if not len(order):
        return [0.0] * len(shares)
    at = np.searchsorted(reached, np.array(shares) * reached[-1])
    return [float(people[order[min(position, len(order) - 1)]]) for position in at]


@dataclass(frozen=True)
class WorstGroup:
    """The value of a quasi-identifier that loses most: per cent of its records that are suppressed; and its records."""

    quasi_identifier: str
    value: object
    percent: float
    records: int

    @property
    def name(self) -> str:
        """The quasi-identifier and the value, as data say them."""
        return f"{self.quasi_identifier}: {value_in_data(self.value)}"

    @property
    def in_words(self) -> str:
        """The same for people."""
        return tr("{name} {value}", name=self.quasi_identifier, value=value_text(self.value))

    def sentence(self, mean: float) -> str:
        """How much it loses against the mean, which is per cent of all records."""
        records = counted.records(self.records)
        if mean <= 0 or self.percent < ABOUT * mean:
            return tr(
                "The group that loses most is {group}: {percent:.3g} % of its {records} are suppressed, of all records "
                "{mean:.3g} %.",
                group=self.in_words,
                percent=self.percent,
                records=records,
                mean=mean,
            )
        if self.percent == 100.0:
            return tr(
                "The group that loses most is {group}: all its {records} are suppressed, {times:.2g} times the share "
                "of all records ({mean:.3g} %).",
                group=self.in_words,
                records=records,
                times=self.percent / mean,
                mean=mean,
            )
        return tr(
            "The group that loses most is {group}: {percent:.3g} % of its {records} are suppressed, {times:.2g} times "
            "the share of all records ({mean:.3g} %).",
            group=self.in_words,
            percent=self.percent,
            records=records,
            times=self.percent / mean,
            mean=mean,
        )


def worst_group(by_value: ByValue, k: int) -> WorstGroup | None:
    """The value that loses the largest share, of equals the first; None where no value has k records.

    Values of fewer records cannot be released whatever is done, and what the log says of a group must not be about few.
    """
    counted = np.flatnonzero(by_value.records >= k)
    if not len(counted):
        return None
    percent = 100.0 * by_value.suppressed[counted] / by_value.records[counted]
    worst = int(percent.argmax())
    position = int(counted[worst])
    return WorstGroup(
        by_value.quasi_identifiers[position],
        by_value.values[position],
        float(percent[worst]),
        int(by_value.records[position]),
    )


def evaluate(areas: Areas, plan: Plan, sites: np.ndarray, n_unmatched: int = 0) -> tuple[Measures, RegionAudit]:
    """Rate the plan of a release (Croft 2015, Eqs. 20 to 23).

    Records of areas that are left out count as suppressed and are left out of the entropy.

    Parameters
    ----------
    areas : Areas
        Those of the plan's profile.
    plan : Plan
        Of one level.
    sites : ndarray of shape (n_regions, 2)
        Metres, from which compactness is measured.
    n_unmatched : int
        Records of no known area, which count as suppressed.

    Returns
    -------
    Measures
        Of the release.
    RegionAudit
        By region. Internal: suppressed counts follow from it.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.evaluation import evaluate
    >>> from vbas.core.plan import suppress
    >>> plan = suppress(records.profile, crosswalk, k=2)
    >>> measures, audit = evaluate(areas, plan, crosswalk.mean_centres(areas.points))
    >>> measures.n_suppressed, measures.compactness, measures.discernibility, measures.non_uniform_entropy
    (1, 200.0, 17.0, 8.0)
    >>> audit.anonymity.tolist(), audit.population.tolist()
    ([2, 1], [70.0, 30.0])
    """
    crosswalk, profile = plan.crosswalk, plan.profile
    records = _by_region(plan, plan.records)
    distances = distances_to_sites(areas, crosswalk, sites)
    audit = RegionAudit(
        areas=crosswalk.totals(np.ones(len(areas))).astype(np.int64),
        population=crosswalk.totals(areas.population),
        records=records,
        suppressed=_by_region(plan, np.where(plan.released, 0, plan.records)),
        anonymity=_by_region(plan, plan.sizes, np.minimum.reduceat),
        classes=np.bincount(plan.region, minlength=crosswalk.n_regions),
        compactness=crosswalk.totals(distances),
    )
    n_records = profile.n_records + n_unmatched
    n_suppressed = n_records - plan.n_released
    measures = Measures(
        n_regions=crosswalk.n_regions,
        n_records=n_records,
        n_suppressed=n_suppressed,
        suppression_percent=100.0 * n_suppressed / n_records if n_records else 0.0,
        compactness=float(distances.sum()),
        discernibility=float((plan.records[plan.released].astype(float) ** 2).sum()),
        non_uniform_entropy=_non_uniform_entropy(profile, crosswalk, records),
        mean_distance=mean_distance_released(areas, plan),
    )
    return measures, audit


def _by_region(plan: Plan, values: np.ndarray, reduce: Callable[..., np.ndarray] = np.add.reduceat) -> np.ndarray:
    """Sums (or minima) of whole numbers by region, (n_regions,) int64, 0 where there are none; values : (L,)."""
    starts = np.searchsorted(plan.region, np.arange(plan.crosswalk.n_regions + 1))
    used = starts[1:] > starts[:-1]
    of_regions = np.zeros(plan.crosswalk.n_regions, np.int64)
    if used.any():
        of_regions[used] = reduce(values, starts[:-1][used])
    return of_regions


def _non_uniform_entropy(profile: Profile, crosswalk: Crosswalk, records: np.ndarray) -> float:
    """- Σ over records of log2(n_i / n_a), both before suppression (Croft 2015, Eqs. 22, 23)."""
    sizes = profile.area_sizes
    used = (sizes > 0) & (crosswalk.region_of >= 0)
    own, whole = sizes[used].astype(float), records[crosswalk.region_of[used]].astype(float)
    return float((own * log2(whole / own)).sum())
