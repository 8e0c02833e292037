"""Balanced density: rows, then cells, of about equal population; a site at the mean centre of each cell."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from ..areas import Areas
from ..arrays import round_half_up
from ..profile import Profile
from ..progress import Progress, silent
from .options import DEFAULTS, LocationOptions, SiteLocation


def balanced_density(
    areas: Areas,
    profile: Profile | None,
    n_sites: int,
    options: LocationOptions = DEFAULTS,
    progress: Progress = silent,
) -> SiteLocation:
    """The sites are spread like the population, each in the middle of a cell of about equal population (Croft 2015,
    section 3.2.1, Eqs. 7 to 13).

    areas : n areas with points (metres) and population; 1 <= n_sites <= n, exactly so many sites are placed. The
    profile is not used.
    """
    points, population, rank = areas.points, areas.population, areas.rank
    upwards = np.lexsort((rank, points[:, 0], points[:, 1]))
    rows = _rows(population[upwards], n_sites)
    cells = _cells_per_row(rows, population[upwards], n_sites)
    in_order, sizes = np.empty(len(upwards), np.int64), []
    for row, (start, stop) in enumerate(rows):
        members = upwards[start:stop]
        members = members[np.lexsort((rank[members], points[members, 1], points[members, 0]))]
        in_order[start:stop] = members
        sizes += [last - first for first, last in _cells(population[members], int(cells[row]))]
        progress(len(sizes) / n_sites)
    site = np.repeat(np.arange(n_sites, dtype=np.int64), sizes)
    return SiteLocation(np.column_stack([np.bincount(site, column) / sizes for column in points[in_order].T]))


Stretch = tuple[int, int]


def _rows(population: np.ndarray, n_sites: int) -> list[Stretch]:
    """Stretches of the points, walked upwards, of about the ideal row population (Eqs. 7 to 9)."""
    ideal = max(round_half_up(population.sum() / round_half_up(np.sqrt(n_sites))), 1)
    rows, last_reached = _walk(population, ideal)
    if len(rows) > 1 and not last_reached:
        rows[-2:] = [(rows[-2][0], rows[-1][1])]
    while len(rows) > n_sites:  # only for a handful of sites among very unequal areas
        totals = np.array([population[start:stop].sum() for start, stop in rows])
        lower = int(np.argmin(totals[:-1] + totals[1:]))
        rows[lower : lower + 2] = [(rows[lower][0], rows[lower + 1][1])]
    return rows


def _walk(population: np.ndarray, ideal: float) -> tuple[list[Stretch], bool]:
    """Cut the points, in order, where the running sum comes nearest to `ideal` (Eq. 9), until they run out.

    Returns the stretches and whether the last one reached the ideal.
    """
    total = [0.0, *np.cumsum(population).tolist()]
    wanted = ideal * (1 - 1e-12)  # sums of fractions may fall short by rounding
    stretches: list[Stretch] = []
    start, reached = 0, True
    while start < len(population):
        last = bisect_left(total, total[start] + wanted, start + 1) - 1
        reached = last < len(population)
        if not reached:
            stop = len(population)
        else:
            over, under = total[last + 1] - total[start] - ideal, ideal - (total[last] - total[start])
            stop = last + 1 if over <= under or last == start else last
        stretches.append((start, stop))
        start = stop
    return stretches, reached


def _cells_per_row(rows: list[Stretch], population: np.ndarray, n_sites: int) -> np.ndarray:
    """Cells of each row by its population: at least 1, at most its points, n_sites in all (Eqs. 10, 11).

    The largest remainders decide who gets one more or gives one up; of equals the lower row.
    """
    points = np.array([stop - start for start, stop in rows], np.int64)
    everyone = population.sum() or 1.0  # of a part of areas nobody may live in any
    # Times the whole population, so that remainders of whole numbers that are equal compare as equal.
    share = np.array([population[start:stop].sum() for start, stop in rows]) * n_sites
    cells = np.clip(np.floor(share / everyone + 0.5).astype(np.int64), 1, points)
    while (surplus := int(cells.sum()) - n_sites) != 0:
        step = 1 if surplus < 0 else -1
        may_change = cells < points if step == 1 else cells > 1
        want = np.where(may_change, (share - cells * everyone) * step, -np.inf)
        cells[int(np.argmax(want))] += step
    return cells


def _cells(population: np.ndarray, n_cells: int) -> list[Stretch]:
    """Cut one row, in order, into exactly n_cells stretches of about equal population, none empty."""
    cells, _ = _walk(population, population.sum() / n_cells)
    if len(cells) > n_cells:
        cells[n_cells - 1 :] = [(cells[n_cells - 1][0], len(population))]
    totals = [_divisible(population, cell) for cell in cells] if len(cells) < n_cells else []
    while len(cells) < n_cells:
        fullest = totals.index(max(totals))
        halves = _halves(population, cells[fullest])
        cells[fullest : fullest + 1] = halves
        totals[fullest : fullest + 1] = [_divisible(population, half) for half in halves]
    return cells


def _divisible(population: np.ndarray, cell: Stretch) -> float:
    """The population of a stretch, -1 where it is of one point alone."""
    start, stop = cell
    return float(population[start:stop].sum()) if stop - start > 1 else -1.0


def _halves(population: np.ndarray, cell: Stretch) -> list[Stretch]:
    """The two stretches, neither empty, whose populations differ least."""
    start, stop = cell
    running = np.cumsum(population[start:stop])
    middle = start + 1 + int(np.argmin(np.abs(2 * running[:-1] - running[-1])))
    return [(start, middle), (middle, stop)]
