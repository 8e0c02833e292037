"""What a nested release is compared with: single levels, a plain rule, the exact optimum; see nested_release.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from vbas.benchmarks.best_approaches import AGGREGATIONS, CAPACITY_FACTORS
from vbas.core.areas import Areas
from vbas.core.comparison import configurations_of
from vbas.core.configuration import Configuration, LocatedSites, aggregate
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import Levels
from vbas.core.nesting.losses import mean_distance
from vbas.core.plan import SUPPRESSED, Plan, area_of_cells, plan_by_levels, suppress
from vbas.core.profile import Profile
from vbas.core.site_number import SiteNumberOptions

# With two site numbers these are the 38 configurations of Croft et al. 2018; the number of regions is given here.
SITE_LOCATIONS = ("balanced density", "anonymity-driven clustering", "anonymity-driven clustering (2015)")
OPTIMAL_GAP = 1e-6
TIME_LIMIT_REACHED = 1  # what milp calls it


def losses_of(areas: Areas, profile: Profile, levels: Levels) -> list[np.ndarray]:
    """The mean distance in each region of each level."""
    return [mean_distance(areas, profile, crosswalk) for crosswalk in levels.crosswalks]


def by_class(plan: Plan, losses: Sequence[np.ndarray]) -> np.ndarray:
    """The sum of losses of each class's released records, (C,)."""
    of_equivalence_class = np.concatenate(losses)[_first_regions(plan.levels)[plan.level] + plan.region]
    released = plan.released
    return np.bincount(
        plan.class_of[released], (plan.records * of_equivalence_class)[released], minlength=plan.profile.counts.shape[1]
    )


def mean_loss(plan: Plan, losses: Sequence[np.ndarray]) -> float:
    """Over the released records."""
    return float(by_class(plan, losses).sum() / max(plan.n_released, 1))


def _first_regions(levels: Levels) -> np.ndarray:
    return np.cumsum([0, *(crosswalk.n_regions for crosswalk in levels.crosswalks)])


def bottom_up(profile: Profile, levels: Levels, k: int) -> Plan:
    """At each level, the finest first, every class of at least k pending records is released; the rest goes up."""
    area, class_of = area_of_cells(profile), profile.counts.indices.astype(np.int64)
    level_of = np.full(len(area), SUPPRESSED, np.int64)
    pending = np.arange(len(area))
    for level, crosswalk in enumerate(levels.crosswalks):
        key = crosswalk.region_of[area[pending]] * profile.counts.shape[1] + class_of[pending]
        _, equivalence_class = np.unique(key, return_inverse=True)
        enough = np.bincount(equivalence_class, profile.counts.data[pending])[equivalence_class] >= k
        level_of[pending[enough]] = level
        pending = pending[~enough]
    return plan_by_levels(profile, levels, k, level_of)


@dataclass(frozen=True)
class Exact:
    """The least loss of a class without suppression. bound : no way is better; equal to `loss` where `finished`."""

    loss: float
    bound: float
    finished: bool


def least_loss(
    areas_of: np.ndarray, records: np.ndarray, levels: Levels, losses: Sequence[np.ndarray], k: int, seconds: float
) -> Exact:
    """The exact optimum of one class that has k records or more in one region of the last level.

    areas_of, records : of its cells. An integer programme: how many cells of a kind are shown at each level, and which
    equivalence classes are in use. Cells are of one kind if they have as many records and meet in the finest region in
    which either could be shown; a region whose cells are all in one of its sub-regions is the same equivalence class,
    at the lower loss.
    """
    region = np.array([region_of[areas_of] for region_of in levels.region_of])
    loss = np.array([of_region[row] for of_region, row in zip(losses, region)])
    usable, n_inside = np.empty(region.shape, bool), np.empty(region.shape, np.int64)
    for level, row in enumerate(region):
        usable[level] = np.bincount(row, records)[row] >= k
        n_inside[level] = np.bincount(row)[row]
    for level in range(len(levels) - 1):
        same = usable[level] & (n_inside[level] == n_inside[level + 1])
        loss[level + 1, same] = np.minimum(loss[level, same], loss[level + 1, same])
        usable[level, same] = False
    finest = usable.argmax(axis=0)
    kinds, one_of, size = np.unique(
        np.column_stack([finest, region[finest, np.arange(len(records))], records]),
        axis=0,
        return_index=True,
        return_counts=True,
    )[0:3]
    return _solved(region[:, one_of], usable[:, one_of], loss[:, one_of], kinds[:, 2], size, k, seconds)


def _solved(
    region: np.ndarray,
    usable: np.ndarray,
    loss: np.ndarray,
    records: np.ndarray,
    size: np.ndarray,
    k: int,
    seconds: float,
) -> Exact:
    """region, usable, loss : (levels, kinds); records, size : (kinds,), of a cell, and how many cells."""
    level, kind = np.nonzero(usable)
    equivalence_class_key = level * (region.max() + 1) + region[level, kind]
    equivalence_classes, equivalence_class = np.unique(equivalence_class_key, return_inverse=True)
    n_x, n_equivalence_classes = len(kind), len(equivalence_classes)
    x = np.arange(n_x)
    ones = np.ones(n_x)

    def rows(x_part: sparse.spmatrix, y_part: sparse.spmatrix) -> sparse.csr_matrix:
        return sparse.hstack([x_part, y_part]).tocsr()

    placed = rows(
        sparse.csr_matrix((ones, (kind, x)), (len(records), n_x)),
        sparse.csr_matrix((len(records), n_equivalence_classes)),
    )
    enough = rows(
        sparse.csr_matrix((records[kind], (equivalence_class, x)), (n_equivalence_classes, n_x)),
        -k * sparse.identity(n_equivalence_classes),
    )
    opened = rows(
        sparse.identity(n_x), sparse.csr_matrix((-size[kind], (x, equivalence_class)), (n_x, n_equivalence_classes))
    )
    cost = loss[level, kind] * records[kind]
    result = milp(
        np.concatenate([cost, np.zeros(n_equivalence_classes)]),
        integrality=np.ones(n_x + n_equivalence_classes),
        bounds=Bounds(0, np.concatenate([size[kind], np.ones(n_equivalence_classes)])),
        constraints=[
            LinearConstraint(placed, size, size),
            LinearConstraint(enough, 0, np.inf),
            LinearConstraint(opened, -np.inf, 0),
        ],
        options={"time_limit": seconds, "mip_rel_gap": OPTIMAL_GAP},
    )
    if result.status not in (0, TIME_LIMIT_REACHED):
        raise RuntimeError(f"HiGHS: {result.message}")
    if result.x is None:
        return Exact(np.inf, float(result.mip_dual_bound or 0.0), False)
    released = np.round(result.x[:n_x])
    at_equivalence_class = np.bincount(equivalence_class, released * records[kind], n_equivalence_classes)
    if (np.bincount(kind, released, len(records)) != size).any() or (
        (at_equivalence_class > 0) & (at_equivalence_class < k)
    ).any():
        raise RuntimeError("HiGHS: what it found, rounded, is no release.")
    objective, finished = float(cost @ released), result.status == 0
    return Exact(objective, objective if finished else float(result.mip_dual_bound), finished)


@dataclass(frozen=True)
class SingleLevel:
    """What one level of regions gives. title : of the configuration; share : suppressed, of 1; distance : metres."""

    title: str
    n_regions: int
    share: float
    distance: float


def single_level(title: str, areas: Areas, profile: Profile, crosswalk: Crosswalk, k: int) -> SingleLevel:
    """One level of regions, rated like a nested release."""
    plan = suppress(profile, crosswalk, k)
    distance = mean_loss(plan, [mean_distance(areas, profile, crosswalk)]) if plan.n_released else np.inf
    return SingleLevel(title, crosswalk.n_regions, 1 - plan.n_released / profile.n_records, distance)


def single_levels(areas: Areas, profile: Profile, numbers: Sequence[int], k: int) -> Iterator[SingleLevel]:
    """The paper's configurations, each with every number of regions."""
    configurations = configurations_of(
        ("given number",), SITE_LOCATIONS, AGGREGATIONS, CAPACITY_FACTORS, Configuration()
    )
    for number in numbers:
        located: LocatedSites = {}
        for configuration in configurations:
            given = replace(configuration, number_options=SiteNumberOptions(n_sites=number))
            crosswalk = aggregate(areas, profile, given, located=located).aggregation.crosswalk
            yield single_level(configuration.title, areas, profile, crosswalk, k)


def front(singles: Sequence[SingleLevel]) -> list[SingleLevel]:
    """Those that no other one beats in suppression and distance, by ascending suppression."""
    kept: list[SingleLevel] = []
    for level in sorted(singles, key=lambda level: (level.share, level.distance)):
        if not kept or level.distance < kept[-1].distance:
            kept.append(level)
    return kept


def at_share(singles: Sequence[SingleLevel], share: float) -> float:
    """The distance of a front at a share of suppressed records, interpolated; its ends hold beyond them."""
    return float(np.interp(share, [level.share for level in singles], [level.distance for level in singles]))
