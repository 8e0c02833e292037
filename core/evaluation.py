"""Component 4: the measures of an aggregation, overall and by region."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from . import counted
from .areas import Areas
from .arrays import to_list
from .crosswalk import Crosswalk
from .dataclass import dataclass
from .elementary import log2, norms
from .language import tr
from .levels import Levels
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
    """The measures by region, level after level, the finest first: arrays (R,). Internal: suppressed counts are shown.

    level, region, parent : 0-based; parent is the region of the next level, -1 at the last
    areas, population, records : of the region, whatever is shown of them
    shown, finer, coarser, suppressed : its records that are shown here, in a smaller region within, in a larger one, or
    not at all; they add up to `records`
    classes, smallest : the classes that are shown here, and the records of the smallest, 0 where there are none; of one
    level all classes are counted, those too that are suppressed
    anonymity : of one level, the smallest class before suppression (in persons where these are counted), 0 where there
    are no records
    compactness : of one level, the sum of the distances of its areas from its site, metres
    distance : mean distance of its people from its centre, metres
    """

    level: np.ndarray
    region: np.ndarray
    parent: np.ndarray
    areas: np.ndarray
    population: np.ndarray
    records: np.ndarray
    shown: np.ndarray
    finer: np.ndarray
    coarser: np.ndarray
    suppressed: np.ndarray
    classes: np.ndarray
    smallest: np.ndarray
    distance: np.ndarray
    anonymity: np.ndarray = field(default_factory=lambda: np.empty(0))
    compactness: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def released(self) -> np.ndarray:
        """Records released with each region, (R,) int64."""
        return self.shown

    @property
    def within(self) -> np.ndarray:
        """Records released with each region or with one within, (R,) int64."""
        return self.shown + self.finer


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
    return distances_where_shown(areas, plan.levels, plan.level, plan.region)


def distances_where_shown(areas: Areas, levels: Levels, level: np.ndarray, region: np.ndarray) -> np.ndarray:
    """`mean_distances` of some regions, (R,) metres; level, region : (R,) their positions."""
    distances = np.zeros(len(region))
    for at, crosswalk in enumerate(levels.crosswalks):
        here = level == at
        distances[here] = mean_distances(areas, crosswalk)[region[here]]
    return distances


def mean_distance_released(areas: Areas, plan: Plan) -> float:
    """The mean over the released records of `mean_distances` of the region that each shows, metres; 0 for none.

    Summed exactly, so that it does not hang on the numbers that regions have: the same regions are equally good, and
    none of two configurations that make them beats the other.
    """
    metres: list[float] = []
    for level, crosswalk in enumerate(plan.levels.crosswalks):
        here = plan.released & (plan.level == level)
        records = np.bincount(plan.region[here], plan.records[here], crosswalk.n_regions)
        metres += to_list(records * mean_distances(areas, crosswalk))
    return math.fsum(metres) / max(plan.n_released, 1)


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

    @property
    def n_records(self) -> int:
        """Records that have a known area: each has one value of the first quasi-identifier."""
        return int(self.records[self._of_first].sum())

    @property
    def percent(self) -> float:
        """Per cent of these that are suppressed, 0 of none."""
        return 100.0 * int(self.suppressed[self._of_first].sum()) / max(self.n_records, 1)

    @property
    def _of_first(self) -> np.ndarray:
        return np.array([name == self.quasi_identifiers[0] for name in self.quasi_identifiers], bool)


def evaluate_by_value(areas: Areas, plan: Plan, everybody: Profile | None = None) -> ByValue:
    """Rate a plan for each value of each quasi-identifier.

    everybody : the records of whom the plan shows some, by the same values; those of the plan where None
    """
    profile = plan.profile
    whole = profile if everybody is None else everybody
    released = np.bincount(plan.class_of, np.where(plan.released, plan.records, 0), len(profile.classes))
    metres = np.where(plan.released, plan.records, 0) * distance_of_equivalence_classes(areas, plan)
    by_class = np.bincount(plan.class_of, metres, len(profile.classes))
    names: list[str] = []
    values: list[object] = []
    columns: list[tuple[np.ndarray, ...]] = []
    for name, codes, all_codes, categories in zip(
        profile.quasi_identifiers, profile.classes.T, whole.classes.T, profile.categories
    ):
        sums = [np.bincount(all_codes, whole.class_sizes, len(categories))]
        sums += [np.bincount(codes, weights, len(categories)) for weights in (released, by_class)]
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


def placed(metres: float) -> str:
    """How far people live from the middle of the region that a record shows, in a sentence; metres :
    `Measures.mean_distance`"""
    if round(metres) < 1:
        return tr(
            "On average the people of the region that a released record shows live less than 1 m from its middle: "
            "each area counts as one point, so that this says nothing of where in it they live."
        )
    return tr(
        "On average the people of the region that a released record shows live {metres:,.0f} m from its middle: "
        "each area counts as one point, so that this says nothing of where in it they live.",
        metres=metres,
    )


def people_are_records(areas: Areas, plan: Plan) -> bool:
    """Whether the areas have no population of their own: their people are the records in them."""
    return bool(np.array_equal(areas.population, plan.profile.area_sizes))


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
    """The value of a quasi-identifier that loses most: per cent of its records that are suppressed; and its records.

    of_all : the same per cent of all records that have a known area, as these have; None where that is not known
    """

    quasi_identifier: str
    value: object
    percent: float
    records: int
    of_all: float | None = None

    @property
    def name(self) -> str:
        """The quasi-identifier and the value, as data say them."""
        return f"{self.quasi_identifier}: {value_in_data(self.value)}"

    @property
    def in_words(self) -> str:
        """The same for people."""
        return tr("{name} {value}", name=self.quasi_identifier, value=value_text(self.value))

    def sentence(self, mean: float) -> str:
        """How much it loses against the mean, which is per cent of all records.

        Records of no known area are in no group: where there are any, the mean is that of the others.
        """
        records, among = counted.records(self.records), tr("all records")
        if self.of_all is not None and abs(self.of_all - mean) > 1e-9:
            mean, among = self.of_all, tr("all records of a known area")
        if mean <= 0 or self.percent < ABOUT * mean:
            return tr(
                "The group that loses most is “{group}”: {percent:.3g} % of its {records} are suppressed, of {among} "
                "{mean:.3g} %.",
                group=self.in_words,
                percent=self.percent,
                records=records,
                among=among,
                mean=mean,
            )
        if self.percent == 100.0:
            return tr(
                "The group that loses most is “{group}”: all its {records} are suppressed, {times:.2g} times the share "
                "of {among} ({mean:.3g} %).",
                group=self.in_words,
                records=records,
                times=self.percent / mean,
                among=among,
                mean=mean,
            )
        return tr(
            "The group that loses most is “{group}”: {percent:.3g} % of its {records} are suppressed, {times:.2g} "
            "times the share of {among} ({mean:.3g} %).",
            group=self.in_words,
            percent=self.percent,
            records=records,
            times=self.percent / mean,
            among=among,
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
        by_value.percent,
    )


def who_is_lost(by_value: ByValue, measures: Measures, k: int) -> str:
    """The group that loses most, or that none does, in a sentence; empty where nothing is suppressed."""
    if not measures.n_suppressed:
        return ""
    if not by_value.suppressed.any():
        return tr("All suppressed records have an area that is not known.")
    worst = worst_group(by_value, k)
    if worst is None:
        return tr("No value of a quasi-identifier has {k} records.", k=k)
    if not worst.percent:
        return tr(
            "No group of {k} records and more loses any: whoever is suppressed has rarer values, or an area that is "
            "not known.",
            k=k,
        )
    return worst.sentence(measures.suppression_percent)


def evaluate(
    areas: Areas, plan: Plan, sites: np.ndarray | None = None, n_unmatched: int = 0
) -> tuple[Measures, RegionAudit]:
    """Rate the plan of a release (Croft 2015, Eqs. 20 to 23).

    Of one level, records of areas that are left out count as suppressed and are left out of the entropy. Of several,
    compactness sums the distance of each area's point from the mean centre of the regions that its records show, each
    by its share of the area's released records; the entropy is that of the released records, and the number of regions
    that of the finest level.

    Parameters
    ----------
    areas : Areas
        Those of the plan's profile.
    plan : Plan
        Of one level, or of several.
    sites : ndarray of shape (n_regions, 2), optional
        Metres, from which compactness of one level is measured; None where each record shows a level of its own.
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
    if sites is None:
        by_level = records_by_level(plan)
        audit = _audit(areas, plan, by_level)
        compactness, entropy = _by_what_is_shown(areas, plan, by_level)
    else:
        distances = distances_to_sites(areas, plan.crosswalk, sites)
        audit = replace(
            _audit(areas, plan),
            classes=np.bincount(plan.region, minlength=plan.crosswalk.n_regions),
            anonymity=_smallest_classes(plan, np.arange(len(plan.region), dtype=np.int64), plan.crosswalk.n_regions),
            compactness=plan.crosswalk.totals(distances),
        )
        compactness, entropy = float(distances.sum()), _non_uniform_entropy(plan, audit.records)
    n_records = plan.profile.n_records + n_unmatched
    n_suppressed = n_records - plan.n_released
    measures = Measures(
        n_regions=plan.crosswalk.n_regions,
        n_records=n_records,
        n_suppressed=n_suppressed,
        suppression_percent=100.0 * n_suppressed / n_records if n_records else 0.0,
        compactness=compactness,
        discernibility=float((plan.records[plan.released].astype(float) ** 2).sum()),
        non_uniform_entropy=entropy,
        mean_distance=mean_distance_released(areas, plan),
    )
    return measures, audit


def records_by_level(plan: Plan) -> np.ndarray:
    """The records of each area that are shown at each level, (levels + 1, n) int64; the last row: suppressed."""
    counts, n_rows = plan.profile.counts, len(plan.levels) + 1
    sums, level_of = np.zeros((n_rows, counts.shape[0])), plan.levels_of_cells
    for cells in stretches(counts.nnz):
        row = np.where(level_of[cells] >= 0, level_of[cells], n_rows - 1).astype(np.int64)
        key = row * counts.shape[0] + area_of_cells(plan.profile, cells)
        sums += np.bincount(key, counts.data[cells], sums.size).reshape(sums.shape)
    return sums.astype(np.int64)


def _audit(areas: Areas, plan: Plan, by_level: np.ndarray | None = None) -> RegionAudit:
    """The audit up to `distance`; by_level : as for `_where_shown`"""
    parts = [_audit_of_level(areas, plan, level, by_level) for level in range(len(plan.levels))]
    return RegionAudit(*(np.concatenate(columns) for columns in zip(*parts)))


def _audit_of_level(areas: Areas, plan: Plan, level: int, by_level: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """Its columns for one level."""
    crosswalk = plan.levels.crosswalks[level]
    n_regions, where = crosswalk.n_regions, _where_shown(plan, level, by_level)
    equivalence_classes = np.flatnonzero(plan.released & (plan.level == level))
    return (
        np.full(n_regions, level, np.int64),
        np.arange(n_regions, dtype=np.int64),
        plan.levels.parents(level),
        crosswalk.totals(np.ones(len(areas))).astype(np.int64),
        crosswalk.totals(areas.population),
        np.sum(where, axis=0),
        *where,
        np.bincount(plan.region[equivalence_classes], minlength=n_regions),
        _smallest_classes(plan, equivalence_classes, n_regions),
        mean_distances(areas, crosswalk),
    )


def _where_shown(plan: Plan, level: int, by_level: np.ndarray | None) -> list[np.ndarray]:
    """The records of each region of a level that are shown there, finer, coarser, and not at all, (n_regions,) int64.

    by_level : as `records_by_level` gives them; None for one level, whose regions show all records of a class or none
    """
    crosswalk = plan.levels.crosswalks[level]
    if by_level is not None:
        rows = (by_level[level : level + 1], by_level[:level], by_level[level + 1 : -1], by_level[-1:])
        return [crosswalk.totals(of.sum(axis=0)).astype(np.int64) for of in rows]
    here = plan.released
    shown = np.bincount(plan.region[here], plan.records[here], crosswalk.n_regions).astype(np.int64)
    nowhere_else = np.zeros_like(shown)
    return [shown, nowhere_else, nowhere_else, crosswalk.totals(plan.profile.area_sizes).astype(np.int64) - shown]


def _smallest_classes(plan: Plan, equivalence_classes: np.ndarray, n_regions: int) -> np.ndarray:
    """The people of the smallest of some classes of one level in each region, (n_regions,) int64, 0 for none."""
    smallest = np.full(n_regions, np.iinfo(np.int64).max, np.int64)
    np.minimum.at(smallest, plan.region[equivalence_classes], plan.sizes[equivalence_classes])
    return np.where(smallest < np.iinfo(np.int64).max, smallest, 0)


def _by_what_is_shown(areas: Areas, plan: Plan, by_level: np.ndarray) -> tuple[float, float]:
    """Compactness and entropy of what each record shows; by_level : as `records_by_level` gives them."""
    sizes, released_of_area = plan.profile.area_sizes, by_level[:-1].sum(axis=0)
    compactness = entropy = 0.0
    for released_here, crosswalk in zip(by_level, plan.levels.crosswalks):
        of_area, region = np.flatnonzero(released_here), crosswalk.region_of[released_here > 0]
        metres = norms(areas.points[of_area] - crosswalk.mean_centres(areas.points)[region])
        compactness += float((metres * released_here[of_area] / released_of_area[of_area]).sum())
        whole = crosswalk.totals(sizes)
        entropy += float((released_here[of_area] * log2(whole[region] / sizes[of_area])).sum())
    return compactness, entropy


def _non_uniform_entropy(plan: Plan, records: np.ndarray) -> float:
    """- Σ over records of log2(n_i / n_a), both before suppression (Croft 2015, Eqs. 22, 23); records : by region"""
    sizes, region_of = plan.profile.area_sizes, plan.crosswalk.region_of
    used = (sizes > 0) & (region_of >= 0)
    own, whole = sizes[used].astype(float), records[region_of[used]].astype(float)
    return float((own * log2(whole / own)).sum())
