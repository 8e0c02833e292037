"""Component 4: the measures of an aggregation, overall and by region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np

from .areas import Areas
from .crosswalk import Crosswalk
from .plan import Plan
from .profile import Profile


@dataclass(frozen=True)
class Measures:
    """The measures of Croft 2015, section 3.4.

    n_records counts every record, including those of no known area; compactness in metres; non_uniform_entropy in bits.
    """

    n_regions: int
    n_records: int
    n_suppressed: int
    suppression_percent: float
    compactness: float
    discernibility: float
    non_uniform_entropy: float


@dataclass(frozen=True, eq=False)
class RegionAudit:
    """The measures by aggregated region, arrays (n_regions,). Internal: suppressed counts follow from them.

    anonymity : the smallest class before suppression, 0 where there are no records; compactness in metres
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
    distances[inside] = np.hypot(*(areas.points[inside] - sites[crosswalk.region_of[inside]]).T)
    return distances


def evaluate(areas: Areas, plan: Plan, sites: np.ndarray, n_unmatched: int = 0) -> tuple[Measures, RegionAudit]:
    """Rate the plan of a release (Croft 2015, Eqs. 20 to 23).

    areas : those of the plan's profile; sites : (n_regions, 2), from which compactness is measured; n_unmatched :
    records of no known area, which count as suppressed. Records of areas that are left out count as suppressed and are
    left out of the entropy.
    """
    crosswalk, profile = plan.crosswalk, plan.profile
    records = _by_region(plan, plan.records)
    distances = distances_to_sites(areas, crosswalk, sites)
    audit = RegionAudit(
        areas=crosswalk.totals(np.ones(len(areas))).astype(np.int64),
        population=crosswalk.totals(areas.population),
        records=records,
        suppressed=_by_region(plan, np.where(plan.shown, 0, plan.records)),
        anonymity=_by_region(plan, plan.records, np.minimum.reduceat),
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
        discernibility=float((plan.records[plan.shown].astype(float) ** 2).sum()),
        non_uniform_entropy=_non_uniform_entropy(profile, crosswalk, records),
    )
    return measures, audit


def _by_region(plan: Plan, values: np.ndarray, reduce: Callable[..., np.ndarray] = np.add.reduceat) -> np.ndarray:
    """Sums (or minima) of whole numbers by region, (n_regions,) int64, 0 where there are none; values : (L,)."""
    starts = np.searchsorted(plan.region, np.arange(plan.crosswalk.n_regions + 1))
    used = starts[1:] > starts[:-1]
    found = np.zeros(plan.crosswalk.n_regions, np.int64)
    if used.any():
        found[used] = reduce(values, starts[:-1][used])
    return found


def _non_uniform_entropy(profile: Profile, crosswalk: Crosswalk, records: np.ndarray) -> float:
    """- Σ over records of log2(n_i / n_a), both before suppression (Croft 2015, Eqs. 22, 23)."""
    sizes = profile.area_sizes
    used = (sizes > 0) & (crosswalk.region_of >= 0)
    own, whole = sizes[used].astype(float), records[crosswalk.region_of[used]].astype(float)
    return float((own * np.log2(whole / own)).sum())
