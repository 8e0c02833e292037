"""All restarts of all areas; the best of each area is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable

import numpy as np

from ..crosswalk import LEFT_OUT
from ..progress import Progress, part
from .cells import Cells, Minimum, weights_of
from .draws import Draws
from .grouping import Grouping, make_area
from .lanes import Lanes
from .options import PartitionOptions


def best_of_restarts(
    cells: Cells,
    minimums: Sequence[Minimum],
    area_of: np.ndarray,
    approach: Callable[..., Grouping],
    options: PartitionOptions,
    progress: Progress,
) -> np.ndarray:
    """Labels of the best restart of each area by its own loss, (n,) int64; LEFT_OUT for cells in no group.

    area_of : (n,) int64, the area of each cell, negative for none. The first of equals is kept, and every restart of
    every area has a seed of its own, so that no area's groups depend on another's.
    """
    lanes = Lanes(minimums, options.empty_years)
    packed = lanes.pack(cells)
    weights = weights_of(cells, minimums)
    newly = newly_built(cells, minimums)
    label_of = np.full(len(cells), LEFT_OUT, np.int64)
    used = done = 0
    everything = max(int((area_of >= 0).sum()), 1) * options.restarts
    for number, members in enumerate(_members(area_of)):
        area = make_area(cells, members, packed, weights, newly, lanes, options.beta)
        best: Grouping | None = None
        for restart in range(options.restarts):
            draws = Draws(np.random.default_rng([options.seed, restart, number]))
            grouping = approach(
                area, draws, options, part(progress, done / everything, (done + len(area)) / everything)
            )
            done += len(area)
            if best is None or grouping.loss() > best.loss():
                best = grouping
        found = np.full(len(members), LEFT_OUT) if best is None else best.labels()
        label_of[members] = np.where(found >= 0, found + used, LEFT_OUT)
        used += int(found.max(initial=-1)) + 1
    return label_of


def newly_built(cells: Cells, minimums: Sequence[Minimum]) -> np.ndarray:
    """Whether a cell turns from empty to inhabited from one year to the next, (n,) bool, by the first minimum."""
    people = cells.population[:, list(minimums[0].columns)]
    return ((people[:, :-1] == 0) & (people[:, 1:] > 0)).any(axis=1)


def _members(area_of: np.ndarray) -> list[np.ndarray]:
    """The cells of each area, ascending."""
    order = np.argsort(area_of, kind="stable")
    n_areas = int(area_of.max(initial=-1)) + 1
    bounds = np.searchsorted(area_of[order], np.arange(n_areas + 1))
    return [order[bounds[area] : bounds[area + 1]] for area in range(n_areas)]
