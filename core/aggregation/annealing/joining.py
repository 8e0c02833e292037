"""Joining neighbouring regions and splitting regions in two, where that is worth its price."""

from __future__ import annotations

import numpy as np

from ...arrays import runs
from ...dataclass import dataclass
from ...elementary import norms
from ...voronoi import halves
from .pieces import pieces_of
from .regions import Regions

TURN = 0.4  # the tangent of the angle of the first line of a split around the principal axis
ROUNDS = 6  # of moving the two middles of a split
AT_ONCE = 512  # pairs of regions whose counts are added up at once


@dataclass(frozen=True, eq=False)
class Divisions:
    """Joins and splits. first, second : (c,) the regions that become one, the same one for a split; length, lost :
    (c,) by how much the sum of distances and the weight of what is suppressed change"""

    first: np.ndarray
    second: np.ndarray
    length: np.ndarray
    lost: np.ndarray


def join_and_split(
    regions: Regions, price: float, share: float, most_lost: float, draws: np.random.Generator
) -> tuple[int, int]:
    """Make the joins and splits that lower distance and suppression at that price, the best first, no region twice.

    price : metres that a record of weight 1 is worth; share : of the regions that may change; most_lost : no split is
    made that brings what is suppressed above it. Returns the number of joins and of splits.
    """
    regions.divide(regions.region_of)
    side, splits = _splits(regions, draws)
    joins = joins_of(regions)
    first, second, length, lost = (
        np.concatenate([getattr(joins, name), getattr(splits, name)]) for name in ("first", "second", "length", "lost")
    )
    gain = -(length + price * lost)
    order = np.argsort(-gain, kind="stable")
    region_of, n_regions, n_before = regions.region_of.copy(), regions.n_regions, regions.n_regions
    touched, n_joins, n_splits, now = np.zeros(n_regions, bool), 0, 0, regions.lost
    for change in order[gain[order] > 0].tolist():
        region, other = int(first[change]), int(second[change])
        if touched[region] or touched[other] or (region == other and now + lost[change] > most_lost):
            continue
        if n_joins + n_splits >= max(1.0, share * n_before):
            break
        touched[[region, other]] = True
        now += float(lost[change])
        if region == other:
            region_of[(regions.region_of == region) & side] = n_regions
            n_regions, n_splits = n_regions + 1, n_splits + 1
        else:
            region_of[regions.region_of == other] = region
            n_joins += 1
    if n_joins + n_splits:
        regions.divide(region_of)
    return n_joins, n_splits


def joins_of(regions: Regions) -> Divisions:
    """Every pair of neighbouring regions, and what becomes of them when they are one."""
    territory, n_regions = regions.territory, regions.n_regions
    pairs = np.sort(regions.region_of[np.column_stack(territory.adjacency.pairs())], axis=1)
    key = np.unique((pairs @ np.array([n_regions, 1], np.int64))[pairs[:, 0] != pairs[:, 1]])
    first, second = np.divmod(key, n_regions)
    of_region = territory.lost_of_regions(regions.counts)
    lost = -(of_region[first] + of_region[second]).astype(float)
    for begin in range(0, len(key), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        lost[some] += territory.lost_of_regions(regions.counts[first[some]] + regions.counts[second[some]])
    sizes = regions.sizes
    centres = regions.centres[first] * sizes[first, None] + regions.centres[second] * sizes[second, None]
    centres /= (sizes[first] + sizes[second])[:, None]
    own = np.bincount(regions.region_of, regions.distances, n_regions)
    length = -(own[first] + own[second])
    members = np.argsort(regions.region_of, kind="stable")
    begins = np.cumsum(sizes) - sizes
    for region in (first, second):
        position = runs(begins[region], sizes[region])
        offsets = territory.points[members[position]] - np.repeat(centres, sizes[region], axis=0)
        pair = np.repeat(np.arange(len(key), dtype=np.int64), sizes[region])
        length += np.bincount(pair, norms(offsets), len(key))
    return Divisions(first, second, length, lost)


def _splits(regions: Regions, draws: np.random.Generator) -> tuple[np.ndarray, Divisions]:
    """Each region in two around two middles: which areas are on the new side (n,) bool, and what becomes of them.

    Regions that cannot be split in two connected halves so are left out.
    """
    territory, region_of, n_regions = regions.territory, regions.region_of, regions.n_regions
    points, turn = territory.points, draws.normal(0.0, TURN, n_regions)
    half_of, middles = halves(points, region_of, regions.centres, ROUNDS, turn)
    length = np.bincount(region_of, norms(points - middles[half_of]) - regions.distances, n_regions)
    of_halves = territory.lost_of_rows(territory.grouped(half_of, 2 * n_regions))
    lost = of_halves.reshape(-1, 2).sum(axis=1) - territory.lost_of_regions(regions.counts)
    pieces = pieces_of(territory.adjacency, half_of, 2 * n_regions).reshape(-1, 2)
    before = pieces_of(territory.adjacency, region_of, n_regions)
    cut = np.flatnonzero((pieces.min(axis=1) > 0) & (pieces.sum(axis=1) <= before + 1))
    return half_of > 2 * region_of, Divisions(cut, cut, length[cut], lost[cut])
