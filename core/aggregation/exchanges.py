"""Moving and exchanging areas between neighbouring regions, so that the regions become more compact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..adjacency import Adjacency
from ..areas import Areas
from ..arrays import runs, to_list
from ..elementary import norms
from ..progress import Progress, silent
from ..voronoi import mean_centres

SWEEPS = 40
WORTHWHILE = 1e-4  # a sweep that gains less than this share of the distances is the last


def exchange(
    areas: Areas, adjacency: Adjacency, region_of: np.ndarray, floor: float, progress: Progress = silent
) -> np.ndarray:
    """Regions (n,) int64 with less distance to the mean centres, each as connected and above the floor as before.

    areas : n areas; region_of : labels from 0. In a sweep each region gives an area to a neighbour, or exchanges one
    for another, at most once: the best first, by the distances to the centres at the start of the sweep.
    """
    best = region_of.copy()
    shortest = current = _distances(areas, best).sum()
    labels = to_list(best)
    starts, others = to_list(adjacency.starts), to_list(adjacency.others)
    beside = [others[a:b] for a, b in zip(starts[:-1], starts[1:])]
    for sweep in range(SWEEPS):
        gains, moves = _candidates(areas, adjacency, np.array(labels, np.int64), floor)
        touched: set[int] = set()
        for position in to_list(np.argsort(-gains, kind="stable")):
            area, source, target, back = to_list(moves[:, position])
            if source in touched or target in touched:
                continue
            if _keeps_connected(labels, beside, area, source, target, back):
                touched |= {source, target}
        now = _distances(areas, np.array(labels, np.int64)).sum()
        if now < shortest:
            best, shortest = np.array(labels, np.int64), now
        if not touched or current - now < WORTHWHILE * current:
            break
        current = now
        progress((sweep + 1) / SWEEPS)
    return best


def _keeps_connected(
    labels: list[int], beside: list[list[int]], area: int, source: int, target: int, back: int
) -> bool:
    """Make the move where both regions stay in one piece; back : the area given in exchange, -1 for none."""
    labels[area] = target
    if back >= 0:
        labels[back] = source
    moved = (area,) if back < 0 else (area, back)
    if stays_connected(labels, beside, source, moved) and stays_connected(labels, beside, target, moved):
        return True
    labels[area] = source
    if back >= 0:
        labels[back] = target
    return False


def _distances(areas: Areas, region_of: np.ndarray) -> np.ndarray:
    """Distance of each area from its region's mean centre, (n,) metres."""
    centres = mean_centres(areas.points, region_of, int(region_of.max()) + 1)
    return norms(areas.points - centres[region_of])


def _candidates(
    areas: Areas, adjacency: Adjacency, region_of: np.ndarray, floor: float
) -> tuple[np.ndarray, np.ndarray]:
    """All moves and exchanges that shorten distances and keep the floor: gains (m,), moves (4, m).

    The rows of moves are the area, its region, the region it goes to, and the area that comes back (-1 for none).
    """
    people = np.bincount(region_of, areas.population)
    n_regions = len(people)
    centres = mean_centres(areas.points, region_of, n_regions)
    owners, others = adjacency.owners, adjacency.others
    across = region_of[owners] != region_of[others]
    area, target = np.divmod(np.unique(owners[across] * n_regions + region_of[others[across]]), n_regions)
    source = region_of[area]
    points, weight = areas.points[area], areas.population[area]
    gain = norms(points - centres[source]) - norms(points - centres[target])
    single = np.flatnonzero((gain > 0) & (people[source] - weight >= floor))
    alone = np.bincount(region_of)[source[single]] == 1
    single = single[~alone]
    forth, other = _opposites(source, target, n_regions)
    spare = people[source] - floor
    change = weight[other] - weight[forth]
    fits = (gain[forth] + gain[other] > 0) & (spare[forth] + change >= 0) & (spare[other] - change >= 0)
    forth, other = forth[fits], other[fits]
    back = np.concatenate([np.full(len(single), -1, np.int64), area[other]])
    moves = np.vstack([area, source, target])[:, np.concatenate([single, forth])]
    return np.concatenate([gain[single], gain[forth] + gain[other]]), np.vstack([moves, back])


def _opposites(source: np.ndarray, target: np.ndarray, n_regions: int) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of one entry from region a to b, a < b, and one from b to a: positions (m,) and (m,)."""
    forth, back = np.flatnonzero(source < target), np.flatnonzero(source > target)
    forth_key = source[forth] * n_regions + target[forth]
    back_key = target[back] * n_regions + source[back]
    order = np.argsort(back_key, kind="stable")
    low = np.searchsorted(back_key[order], forth_key, side="left")
    count = np.searchsorted(back_key[order], forth_key, side="right") - low
    return np.repeat(forth, count), back[order[runs(low, count)]]


def stays_connected(
    labels: Sequence[int], beside: Sequence[Sequence[int]], region: int, changed: Sequence[int]
) -> bool:
    """Whether a region that was in one piece still is after the areas in `changed` left or joined it.

    labels : region of each of n areas, after the change; beside : neighbours of each area
    Only the neighbours of the changed areas can have been cut off: all must be reached from one of them.
    """
    wanted = {other for area in changed for other in beside[area] if labels[other] == region}
    wanted |= {area for area in changed if labels[area] == region}
    if len(wanted) <= 1:
        # A region of one area, or one whose only link to the others is where nothing changed.
        return bool(wanted)
    reached = {wanted.pop()}
    waiting = list(reached)
    while waiting and wanted:
        for other in beside[waiting.pop()]:
            if labels[other] == region and other not in reached:
                reached.add(other)
                wanted.discard(other)
                waiting.append(other)
    return not wanted
