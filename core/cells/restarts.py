"""All restarts of all areas, shared among processes where that pays; the best of each area is kept."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import numpy as np

from ..crosswalk import LEFT_OUT
from ..progress import Progress, part
from .solving import Problem, Solved, Solver, Task
from .workers import Workers, python_program

# Starting processes takes about half a second: less work than this is done here.
WORTH_SHARING_SECONDS = 2.0


def best_of_restarts(problem: Problem, progress: Progress) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Labels of the best restart of each area by its own loss, (n,) int64; processes that worked; what went wrong.

    The first of equals is kept, and every restart of every area has a seed of its own: the result does not depend on
    how the work was shared.
    """
    solver = Solver(problem)
    best: dict[int, tuple[float, int, np.ndarray]] = {}
    shared = Shared(solver)
    for task, solved in shared.results(progress):
        for area, labels, loss in zip(solver.batches[task.batch], solved.labels, solved.losses):
            if area not in best or (-loss, task.restart) < best[area][:2]:
                best[area] = (-loss, task.restart, np.asarray(labels, np.int64))
    label_of = np.full(len(problem.cells), LEFT_OUT, np.int64)
    used = 0
    for area, members in enumerate(solver.members):
        found = best[area][2]
        label_of[members] = np.where(found >= 0, found + used, LEFT_OUT)
        used += int(found.max(initial=-1)) + 1
    return label_of, shared.workers, shared.notes


class Shared:
    """The tasks of a problem, solved here or shared.

    workers : processes that worked, 1 where all was done here; notes : a sentence where some of them failed
    """

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self.workers = 1
        self.notes: tuple[str, ...] = ()

    def results(self, progress: Progress) -> Iterator[tuple[Task, Solved]]:
        """Every task with what was found, in any order."""
        tasks = self._solver.tasks()
        # The smallest task tells how long the others will take.
        first = tasks.pop() if tasks else None
        if first is None:
            return
        everything = first.size + sum(task.size for task in tasks)
        started = time.perf_counter()
        share = first.size / everything
        yield first, self._solver.solve(first, part(progress, 0.0, share))
        rest = part(progress, share, 1.0)
        expected = (time.perf_counter() - started) * (everything - first.size) / first.size
        count = min(self._solver.problem.options.workers or os.cpu_count() or 1, len(tasks))
        program = python_program() if count > 1 and expected > WORTH_SHARING_SECONDS else None
        if program is None:
            yield from self._here(tasks, rest)
            return
        with Workers(self._solver.problem, tasks, count, program) as workers:
            solved = 0
            for task, found in workers.results(rest):
                solved += 1
                yield task, found
            left, failures = list(workers.left), list(workers.failures)
        self.workers = max(count - len(failures), 1) if solved else 1
        if failures:
            self.notes = (
                f"{len(failures)} of {count} worker processes failed; their work was done without them. The first "
                f"said: {failures[0]}.",
            )
        yield from self._here(left, rest)

    def _here(self, tasks: list[Task], progress: Progress) -> Iterator[tuple[Task, Solved]]:
        everything = sum(task.size for task in tasks)
        done = 0
        for task in tasks:
            yield task, self._solver.solve(task, part(progress, done / everything, (done + task.size) / everything))
            done += task.size
