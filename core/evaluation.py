"""Component 4, the measures of an aggregation, in all and region by region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .anonymity import check_k
from .crosswalk import Crosswalk
from .profile import Profile
from .regions import Regions


@dataclass(frozen=True)
class Measures:
    """The measures of Croft 2015, section 3.4.

    n_records counts every record, also those of no known area; compactness in metres; non_uniform_entropy in bits.
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
    """The same by aggregated region, arrays (n_regions,). Internal: suppressed counts follow from it.

    anonymity : the least class before suppression, 0 where nobody is recorded; compactness in metres
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


def grouped_counts(profile: Profile, crosswalk: Crosswalk) -> sparse.csr_matrix:
    """G[a, c]: records of each class in each aggregated region, (n_regions, C) sparse int64."""
    return (crosswalk.membership() @ profile.counts).tocsr()


def distances_to_sites(regions: Regions, crosswalk: Crosswalk, sites: np.ndarray) -> np.ndarray:
    """Distance from each area's point to its region's site, (n,) metres; 0 for areas that are left out."""
    inside = crosswalk.region_of >= 0
    distances = np.zeros(len(regions))
    distances[inside] = np.hypot(*(regions.points[inside] - sites[crosswalk.region_of[inside]]).T)
    return distances


def evaluate(
    regions: Regions,
    profile: Profile,
    crosswalk: Crosswalk,
    sites: np.ndarray,
    k: int,
    n_unmatched: int = 0,
) -> tuple[Measures, RegionAudit]:
    """Rate a crosswalk at k (Croft 2015, Eqs. 20 to 23).

    sites : (n_regions, 2), where compactness is measured from; n_unmatched : records of no known area, which count
    as suppressed. Records of areas that are left out count as suppressed and have no part in the entropy. Raises
    InputError for a k below 2.
    """
    check_k(k)
    grouped = grouped_counts(profile, crosswalk)
    small = grouped.copy()
    small.data = np.where(small.data < k, small.data, 0)
    kept = np.where(grouped.data >= k, grouped.data, 0).astype(float)
    suppressed = np.asarray(small.sum(axis=1)).ravel().astype(np.int64)
    records = np.asarray(grouped.sum(axis=1)).ravel().astype(np.int64)
    distances = distances_to_sites(regions, crosswalk, sites)
    audit = RegionAudit(
        areas=crosswalk.totals(np.ones(len(regions))).astype(np.int64),
        population=crosswalk.totals(regions.population),
        records=records,
        suppressed=suppressed,
        anonymity=_least_classes(grouped),
        classes=np.diff(grouped.indptr),
        compactness=crosswalk.totals(distances),
    )
    n_records = profile.n_records + n_unmatched
    n_suppressed = n_records - int(audit.released.sum())
    measures = Measures(
        n_regions=crosswalk.n_regions,
        n_records=n_records,
        n_suppressed=n_suppressed,
        suppression_percent=100.0 * n_suppressed / n_records if n_records else 0.0,
        compactness=float(distances.sum()),
        discernibility=float((kept**2).sum()),
        non_uniform_entropy=_non_uniform_entropy(profile, crosswalk, records),
    )
    return measures, audit


def _least_classes(grouped: sparse.csr_matrix) -> np.ndarray:
    """Least positive count in each row, 0 for an empty row."""
    least = np.zeros(grouped.shape[0], np.int64)
    filled = np.diff(grouped.indptr) > 0
    if filled.any():
        least[filled] = np.minimum.reduceat(grouped.data, grouped.indptr[:-1][filled])
    return least


def _non_uniform_entropy(profile: Profile, crosswalk: Crosswalk, records: np.ndarray) -> float:
    """- Σ over records of log2(n_i / n_a), both before suppression (Croft 2015, Eqs. 22, 23)."""
    sizes = profile.region_sizes
    used = (sizes > 0) & (crosswalk.region_of >= 0)
    own, whole = sizes[used].astype(float), records[crosswalk.region_of[used]].astype(float)
    return float((own * np.log2(whole / own)).sum())
