"""Cutting areas in two, and each part again, so that all parts keep a population floor and stay connected."""

from __future__ import annotations

import numpy as np

from ..adjacency import connected_parts
from ..dataclass import dataclass
from ..progress import Progress, silent

ANGLES = np.arange(16, dtype=np.int64) * np.pi / 16
# To twelve digits they are the same on every system.
DIRECTIONS = np.round(np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]), 12)
TRIES = 16
# A cut leaves each side at least this share of the regions: slivers are not compact.
SMALLEST_SHARE = 0.3
NO_CUT = -1.0
# What a cut is worth: regions first, then compactness; see `prospect`.
COMPACTNESS = 1.0
SURE, SPARE = 0.5, 0.1


@dataclass(frozen=True, eq=False)
class Territory:
    """The areas that are cut: their points (n, 2), population (n,), pairs of neighbours (b,), and the floor."""

    points: np.ndarray
    population: np.ndarray
    first: np.ndarray
    second: np.ndarray
    floor: float


def cut(territory: Territory, part_of: np.ndarray, progress: Progress = silent) -> np.ndarray:
    """Cut every part as long as both sides keep the floor and stay connected, (n,) labels from 0.

    part_of : (n,) int64, connected parts; one below the floor stays as it is.
    Level by level: all parts with twice the floor are cut along the straight line, out of those in 16 directions, that
    promises the most regions and leaves the parts most compact (the most of the squared distances from the centre gone,
    as in Ward's clustering).
    """
    part_of = part_of.copy()
    whole = np.zeros(0, np.int64)
    level = 0
    while True:
        worth = np.floor(np.bincount(part_of, territory.population) / territory.floor).astype(np.int64)
        worth[whole] = 0
        open_parts = np.flatnonzero(worth >= 2)
        if not len(open_parts):
            break
        sides, was_cut = _cut_once(territory, part_of, open_parts)
        fresh = np.flatnonzero(was_cut)
        number = np.full(len(worth), -1, np.int64)
        number[open_parts[fresh]] = len(worth) + np.arange(len(fresh), dtype=np.int64)
        moved = sides & (number[part_of] >= 0)
        part_of[moved] = number[part_of[moved]]
        whole = np.union1d(whole, open_parts[~was_cut])
        level += 1
        progress(1.0 - 0.5**level)
    return np.unique(part_of, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _cut_once(territory: Territory, part_of: np.ndarray, open_parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut each open part in two: (which areas are on the new side (n,) bool, whether a part could be cut (m,) bool)."""
    position = np.full(part_of.max() + 1, -1, np.int64)
    position[open_parts] = np.arange(len(open_parts), dtype=np.int64)
    areas = np.flatnonzero(position[part_of] >= 0)
    part = position[part_of[areas]]
    ranks = np.empty((len(ANGLES), len(areas)), np.int64)
    values = np.full((len(ANGLES), len(open_parts)), NO_CUT, float)
    ends = np.zeros((len(ANGLES), len(open_parts)), np.int64)
    for i, direction in enumerate(DIRECTIONS):
        along = (territory.points[areas] * direction).sum(axis=1)
        order = np.lexsort([along, part])
        ranks[i, order] = np.arange(len(areas), dtype=np.int64)
        values[i], ends[i] = _best_cuts(territory, areas[order], part[order], len(open_parts))
    sides = np.zeros(len(part_of), bool)
    preferred = np.argsort(-values, axis=0, kind="stable")
    done = np.zeros(len(open_parts), bool)
    kept_worth = np.zeros(len(open_parts))
    for attempt in range(TRIES):
        angle = preferred[attempt]
        value = values[angle, np.arange(len(open_parts), dtype=np.int64)]
        # A cut whose sides were not connected lost something: another may lose less.
        trying = ~done & (value > NO_CUT)
        if not trying.any():
            break
        mine = trying[part]
        own_areas = areas[mine]
        side = (
            ranks[angle[part[mine]], np.flatnonzero(mine)]
            <= ends[angle, np.arange(len(open_parts), dtype=np.int64)][part[mine]]
        )
        side = _hanging_together(territory, own_areas, part[mine], side)
        worth = _worth(territory, own_areas, part[mine], side, len(open_parts))
        worth[worth > 0] += COMPACTNESS
        better = trying & (worth > kept_worth)
        kept_worth[better] = worth[better]
        sides[own_areas[better[part[mine]]]] = side[better[part[mine]]]
        done |= trying & (worth >= value)
    return sides, kept_worth > 0


def _best_cuts(
    territory: Territory, areas: np.ndarray, part: np.ndarray, n_parts: int
) -> tuple[np.ndarray, np.ndarray]:
    """The best place to cut each part that is sorted along a direction: (value (m,), rank of the last area before it).

    The value is the regions both sides promise, plus a part of the share of the squared distances from the part's
    centre that is gone with the cut; NO_CUT where no place leaves both sides the floor.
    """
    starts = np.searchsorted(part, np.arange(n_parts, dtype=np.int64))
    sizes = np.diff(np.append(starts, len(part)))

    def running_sums(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = np.cumsum(values)
        before = np.where(starts > 0, total[starts - 1], 0.0)
        return total - before[part], (total[starts + sizes - 1] - before)[part]

    people, all_people = running_sums(territory.population[areas])
    count = np.arange(len(part), dtype=np.int64) - starts[part] + 1.0
    rest = sizes[part] - count
    scatter, gone = np.zeros(len(part)), np.zeros(len(part))
    for axis in (0, 1):
        values = territory.points[areas, axis]
        values = values - (np.bincount(part, values) / sizes)[part]
        total, _ = running_sums(values)
        scatter += np.bincount(part, values**2)[part]
        gone += total**2 * (1 / count + 1 / np.maximum(rest, 1))
    size, other = people / territory.floor, (all_people - people) / territory.floor
    smallest = np.maximum(1, np.floor(SMALLEST_SHARE * np.floor(size + other)))
    value = prospect(size) + prospect(other) + COMPACTNESS * gone / np.maximum(scatter, np.finfo(float).tiny)
    value[(np.minimum(size, other) < smallest) | (rest == 0)] = NO_CUT
    best = np.maximum.reduceat(value, starts)
    ranks = np.flatnonzero(value == best[part])
    first = np.unique(part[ranks], return_index=True)[1]
    return best, ranks[first]


def prospect(floors: np.ndarray) -> np.ndarray:
    """Expected number of regions in a part whose population is `floors` minimums, any shape of array.

    Areas are not cut, so that a region takes more than the floor: the more is left over, the likelier is the last of k
    regions. SURE and SPARE were found by trial on 4 480 areas of six to a region.
    """
    whole = np.floor(floors)
    likely = SURE + (1 - SURE) * (floors - whole) / np.maximum(SPARE * (whole - 1), np.finfo(float).tiny)
    return np.where(whole < 2, whole, whole - 1 + np.minimum(likely, 1.0))


def _hanging_together(territory: Territory, areas: np.ndarray, part: np.ndarray, side: np.ndarray) -> np.ndarray:
    """The sides after whatever is not connected with the main piece of its side has changed sides.

    All parts are connected, so two passes suffice: what is cut off from one side touches the other, and what is cut
    off there in turn touches the first.
    """
    position = np.full(len(territory.population), -1, np.int64)
    position[areas] = np.arange(len(areas), dtype=np.int64)
    first, second = position[territory.first], position[territory.second]
    inside = (first >= 0) & (second >= 0)
    first, second = first[inside], second[inside]
    inside = part[first] == part[second]
    first, second = first[inside], second[inside]
    side = side.copy()
    for looked_at in (True, False):
        same = (side[first] == looked_at) & (side[second] == looked_at)
        piece = connected_parts(first[same], second[same], len(areas))
        people = np.bincount(piece, territory.population[areas] + 1e-9)
        # The largest piece of each part stays: of those sorted by part and people the last.
        there = np.flatnonzero(side == looked_at)
        order = there[np.lexsort([piece[there], people[piece[there]], part[there]])]
        last = np.append(part[order][1:] != part[order][:-1], True)
        main = np.full(part.max() + 1, -1, np.int64)
        main[part[order][last]] = piece[order][last]
        side[there[piece[there] != main[part[there]]]] = not looked_at
    return side


def _worth(territory: Territory, areas: np.ndarray, part: np.ndarray, side: np.ndarray, n_parts: int) -> np.ndarray:
    """The regions both sides of each part promise, 0 where a side is below the floor, (n_parts,) float."""
    population = territory.population[areas]
    size = np.bincount(part, population * side, n_parts) / territory.floor
    other = np.bincount(part, population * ~side, n_parts) / territory.floor
    return np.where(np.minimum(size, other) >= 1, prospect(size) + prospect(other), 0.0)
