"""The measures of a nested release, overall and by region of every level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..areas import Areas
from ..elementary import log2, norms
from ..evaluation import Measures, mean_distance_released, mean_distances
from ..plan import SUPPRESSED, Plan, area_of_cells, stretches


@dataclass(frozen=True, eq=False)
class LevelAudit:
    """The measures by region, level after level, the finest first: arrays (R,). Internal: suppressed counts are shown.

    level, region, parent : 0-based; parent is the region of the next level, -1 at the last
    areas, population, records : of the region, whatever is shown of them
    shown, finer, coarser, suppressed : its records that are shown here, in a smaller region within, in a larger one,
    or not at all; they add up to `records`
    classes, smallest : the classes that are shown here, and the records of the smallest, 0 where there are none
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

    @property
    def released(self) -> np.ndarray:
        """Records released with each region, (R,) int64."""
        return self.shown

    @property
    def within(self) -> np.ndarray:
        """Records released with each region or with one within, (R,) int64."""
        return self.shown + self.finer


def evaluate_levels(areas: Areas, plan: Plan, n_unmatched: int = 0) -> tuple[Measures, LevelAudit]:
    """Rate the plan of a nested release by the measures of one level (Croft 2015, Eqs. 20 to 23).

    areas : those of the plan's profile; n_unmatched : records of no known area, which count as suppressed.
    Compactness sums the distance of each area's point from the mean centre of the regions that its records show, each
    by its share of the area's released records. The entropy is that of the released records; the number of regions is
    that of the finest level.
    """
    profile, levels = plan.profile, plan.levels
    by_level = records_by_level(plan)
    sizes = profile.area_sizes
    released_of_area = by_level[:-1].sum(axis=0)
    compactness = entropy = 0.0
    parts = []
    for level, crosswalk in enumerate(levels.crosswalks):
        released_here = by_level[level]
        of_area, region = np.flatnonzero(released_here), crosswalk.region_of[released_here > 0]
        metres = norms(areas.points[of_area] - crosswalk.mean_centres(areas.points)[region])
        compactness += float((metres * released_here[of_area] / released_of_area[of_area]).sum())
        whole = crosswalk.totals(sizes)
        entropy += float((released_here[of_area] * log2(whole[region] / sizes[of_area])).sum())
        parts.append(_audit_of_level(areas, plan, level, by_level))
    n_records = profile.n_records + n_unmatched
    n_suppressed = n_records - plan.n_released
    measures = Measures(
        n_regions=levels.crosswalks[0].n_regions,
        n_records=n_records,
        n_suppressed=n_suppressed,
        suppression_percent=100.0 * n_suppressed / n_records if n_records else 0.0,
        compactness=compactness,
        discernibility=float((plan.records[plan.released].astype(float) ** 2).sum()),
        non_uniform_entropy=entropy,
        mean_distance=mean_distance_released(areas, plan),
    )
    return measures, LevelAudit(*(np.concatenate(columns) for columns in zip(*parts)))


def records_by_level(plan: Plan) -> np.ndarray:
    """The records of each area that are shown at each level, (levels + 1, n) int64; the last row: suppressed."""
    counts, n_rows = plan.profile.counts, len(plan.levels) + 1
    sums = np.zeros((n_rows, counts.shape[0]))
    for cells in stretches(counts.nnz):
        released = plan.equivalence_class_of[cells] != SUPPRESSED
        level = np.zeros(len(released)) if plan.level_of is None else plan.level_of[cells]
        row = np.where(released, level, n_rows - 1).astype(np.int64)
        key = row * counts.shape[0] + area_of_cells(plan.profile, cells)
        sums += np.bincount(key, counts.data[cells], sums.size).reshape(sums.shape)
    return sums.astype(np.int64)


def _audit_of_level(areas: Areas, plan: Plan, level: int, by_level: np.ndarray) -> tuple[np.ndarray, ...]:
    """The columns of LevelAudit for one level; by_level : as `records_by_level` gives them."""
    crosswalk = plan.levels.crosswalks[level]

    def total(rows: np.ndarray) -> np.ndarray:
        return crosswalk.totals(rows.sum(axis=0)).astype(np.int64)

    equivalence_classes = np.flatnonzero(plan.released & (plan.level == level))
    smallest = np.full(crosswalk.n_regions, np.iinfo(np.int64).max)
    np.minimum.at(smallest, plan.region[equivalence_classes], plan.sizes[equivalence_classes])
    classes = np.bincount(plan.region[equivalence_classes], minlength=crosswalk.n_regions)
    return (
        np.full(crosswalk.n_regions, level),
        np.arange(crosswalk.n_regions),
        plan.levels.parents(level),
        crosswalk.totals(np.ones(len(areas))).astype(np.int64),
        crosswalk.totals(areas.population),
        total(by_level),
        total(by_level[level : level + 1]),
        total(by_level[:level]),
        total(by_level[level + 1 : -1]),
        total(by_level[-1:]),
        classes,
        np.where(classes > 0, smallest, 0),
        mean_distances(areas, crosswalk),
    )
