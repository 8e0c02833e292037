"""One restart over some areas: the piece of work that is done here or in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable

import numpy as np

from ..arrays import to_list
from ..progress import Progress, part, silent
from .cells import Cells, Minimum, weights_of
from .compact_growth import compact_growth
from .draws import Draws
from .grouping import Area, Grouping, make_area
from .lanes import Lanes
from .options import PartitionOptions
from .random_growth import random_growth

APPROACHES: dict[str, Callable[..., Grouping]] = {
    "random growth": random_growth,
    "compact growth": compact_growth,
}
# Areas are handed out in batches of about this many cells: thousands of islands are not worth a message each.
BATCH_CELLS = 1500


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be partitioned. area_of : (n,) int64, the area of each cell, negative for none."""

    cells: Cells
    minimums: tuple[Minimum, ...]
    area_of: np.ndarray
    approach: str
    options: PartitionOptions


@dataclass(frozen=True)
class Task:
    """One restart of the areas of a batch. size : cells."""

    restart: int
    batch: int
    size: int


@dataclass(frozen=True, eq=False)
class Solved:
    """The groups that a task found. labels, losses : per area of the batch, groups of its cells and its loss."""

    labels: Sequence[Sequence[int]]
    losses: Sequence[float]


class Solver:
    """Solves tasks of one problem; areas are made when first needed and kept."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        options = problem.options
        self._lanes = Lanes(problem.minimums, options.empty_years)
        self._packed = self._lanes.pack(problem.cells)
        self._weights = weights_of(problem.cells, problem.minimums)
        self._newly = newly_built(problem.cells, problem.minimums)
        self.members = _members(problem.area_of)
        self.batches = _batches([len(members) for members in self.members])
        self._areas: dict[int, Area] = {}

    def tasks(self) -> list[Task]:
        """All tasks, the largest first, so that none is left to one worker in the end."""
        sizes = [sum(len(self.members[area]) for area in batch) for batch in self.batches]
        all_tasks = [
            Task(restart, batch, size)
            for restart in range(self.problem.options.restarts)
            for batch, size in enumerate(sizes)
        ]
        return sorted(all_tasks, key=lambda task: -task.size)

    def solve(self, task: Task, progress: Progress = silent) -> Solved:
        """Run the approach on each area of the batch, with a seed of its own for each restart and area."""
        problem = self.problem
        approach = APPROACHES[problem.approach]
        labels, losses = [], []
        done = 0
        for area_number in self.batches[task.batch]:
            area = self._area(area_number)
            draws = Draws(np.random.default_rng([problem.options.seed, task.restart, area_number]))
            whole = part(progress, done / task.size, (done + len(area)) / task.size)
            grouping = approach(area, draws, problem.options, whole)
            labels.append(to_list(grouping.labels()))
            losses.append(grouping.loss())
            done += len(area)
        progress(1.0)
        return Solved(labels, losses)

    def _area(self, number: int) -> Area:
        if number not in self._areas:
            problem = self.problem
            self._areas[number] = make_area(
                problem.cells,
                self.members[number],
                self._packed,
                self._weights,
                self._newly,
                self._lanes,
                problem.options.beta,
            )
        return self._areas[number]


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


def _batches(sizes: list[int]) -> list[list[int]]:
    """Areas in batches, large ones alone."""
    batches: list[list[int]] = []
    open_batch: list[int] = []
    cells = 0
    for area, size in enumerate(sizes):
        if size >= BATCH_CELLS:
            batches.append([area])
            continue
        open_batch.append(area)
        cells += size
        if cells >= BATCH_CELLS:
            batches.append(open_batch)
            open_batch, cells = [], 0
    return [*batches, open_batch] if open_batch else batches
