"""A partition of cells, from start to finish: areas, restarts, the best of each, and the recount."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csgraph

from ..crosswalk import LEFT_OUT, Crosswalk, number_compactly
from ..errors import InputError, PrivacyError
from ..progress import Progress, part, silent
from .cells import Cells, Minimum, checked_minimums, weights_of
from .chunks import connected_areas, cut_into_chunks
from .lanes import Lanes
from .measures import PartitionMeasures, diagonals, loss_of, measure
from .options import PartitionOptions
from .restarts import best_of_restarts
from .solving import APPROACHES, Problem

TAKEN, TOO_FEW, NO_GROUP, TOO_WIDE = 0, 1, 2, 3
# Why a cell is left out, in words.
REASONS = (
    "",
    "too few people live in the cells it is connected with",
    "no group could take it",
    "the loss is better without its group",
)
# Of these approaches a group is left out in the end where the loss is better without it.
WEIGHS_GROUPS = {"compact growth"}


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition that was counted anew.

    crosswalk : group of each cell; reason : (n,) int8, position in REASONS; measures; n_areas : sets of cells that were
    partitioned on their own; seconds : running time; workers : processes that worked; notes : sentences about those
    that failed
    """

    crosswalk: Crosswalk
    reason: np.ndarray
    measures: PartitionMeasures
    n_areas: int
    seconds: float
    workers: int
    notes: tuple[str, ...] = ()


def partition_cells(
    cells: Cells,
    minimums: Sequence[Minimum],
    approach: str = "compact growth",
    options: PartitionOptions | None = None,
    progress: Progress = silent,
) -> Partition:
    """Disjoint connected groups of cells that reach every minimum in every year (Bjerre-Nielsen & Gandil 2018).

    approach : a key of APPROACHES. Raises InputError for unusable parameters and where no group is possible at all,
    PrivacyError should a recount of the finished groups find one below a minimum or in pieces.
    """
    started = time.perf_counter()
    options = options or PartitionOptions()
    _check(cells, minimums, approach, options)
    lanes = Lanes(minimums, options.empty_years)
    packed = lanes.pack(cells)
    area_of = connected_areas(cells, packed, lanes)
    if (area_of < 0).all():
        raise InputError(_nowhere(cells, minimums))
    too_few = area_of < 0
    if options.chunk_cells:
        chunking = part(progress, 0.0, 0.1)
        area_of = cut_into_chunks(cells, area_of, options.chunk_cells, packed, lanes, options.seed, chunking)
    problem = Problem(cells, tuple(minimums), area_of, approach, options)
    labels, workers, notes = best_of_restarts(problem, part(progress, 0.1 if options.chunk_cells else 0.0, 1.0))
    reason = np.where(too_few, TOO_FEW, np.where(labels < 0, NO_GROUP, TAKEN)).astype(np.int8)
    if approach in WEIGHS_GROUPS:
        wide = too_wide(cells.boxes, labels, weights_of(cells, minimums), options.beta)
        reason[wide] = TOO_WIDE
        labels = np.where(wide, LEFT_OUT, labels)
    crosswalk, _ = number_compactly(labels)
    recount(cells, minimums, crosswalk, options.empty_years)
    measures = measure(cells, minimums, crosswalk, options.beta)
    n_areas = int(area_of.max()) + 1
    return Partition(crosswalk, reason, measures, n_areas, time.perf_counter() - started, workers, notes)


def too_wide(boxes: np.ndarray, labels: np.ndarray, weights: np.ndarray, beta: float) -> np.ndarray:
    """Cells, (n,) bool, of groups whose diagonal costs more than leaving their people out.

    The longest groups are left out, down to the length at which the loss is best; one group is always kept.
    """
    crosswalk, _ = number_compactly(labels)
    if not crosswalk.n_regions:
        return np.zeros(len(labels), bool)
    people = crosswalk.totals(weights)
    length = diagonals(boxes, crosswalk)
    order = np.argsort(length, kind="stable")
    taken = np.cumsum(people[order])
    distance = np.cumsum((people * length)[order])
    everyone = float(weights.sum())
    losses = [loss_of(d, t, everyone, beta) for d, t in zip(distance.tolist(), taken.tolist())]
    keep = np.zeros(crosswalk.n_regions, bool)
    # Of equals the one that keeps more.
    keep[order[: len(losses) - int(np.argmax(losses[::-1]))]] = True
    return (crosswalk.region_of >= 0) & ~keep[crosswalk.region_of]


def recount(cells: Cells, minimums: Sequence[Minimum], crosswalk: Crosswalk, empty_years: bool) -> None:
    """Count every group anew, from the cells themselves. Raises PrivacyError where one is short or in pieces."""
    for minimum in minimums:
        for column in minimum.columns:
            people = crosswalk.totals(cells.population[:, column])
            short = people < minimum.k
            if empty_years:
                short &= people > 0
            if short.any():
                raise PrivacyError(
                    f"The recount found {int(short.sum())} groups below the minimum of {minimum.k:g} in "
                    f"“{cells.fields[column]}”: nothing was written."
                )
    inside = np.repeat(np.arange(len(cells)), np.diff(cells.starts))
    same = (crosswalk.region_of[inside] == crosswalk.region_of[cells.neighbours]) & (crosswalk.region_of[inside] >= 0)
    links = cells.adjacency().tocoo()
    links.data = links.data * same
    links.eliminate_zeros()
    pieces = csgraph.connected_components(links, directed=False)[1][crosswalk.region_of >= 0]
    if len(np.unique(pieces)) != crosswalk.n_regions:
        raise PrivacyError("The recount found a group in several pieces: nothing was written.")


def _check(cells: Cells, minimums: Sequence[Minimum], approach: str, options: PartitionOptions) -> None:
    if approach not in APPROACHES:
        raise InputError(f"There is no approach “{approach}”: choose one of {', '.join(APPROACHES)}.")
    if not 0 <= options.beta <= 1:
        raise InputError(f"BETA is {options.beta:g}: give a number from 0 to 1.")
    if options.restarts < 1 or options.attempts < 1:
        raise InputError("RESTARTS and ATTEMPTS are at least 1.")
    checked_minimums(cells, minimums)


def _nowhere(cells: Cells, minimums: Sequence[Minimum]) -> str:
    """The sentence for cells that no group can be made of."""
    _, component = csgraph.connected_components(cells.adjacency(), directed=False)
    worst = min(
        (
            (np.bincount(component, cells.population[:, column]).max() / minimum.k, minimum, column)
            for minimum in minimums
            for column in minimum.columns
        ),
        key=lambda one: one[0],
    )
    most = worst[0] * worst[1].k
    return (
        f"No connected set of cells reaches the minimum of {worst[1].k:g} in every field: in "
        f"“{cells.fields[worst[2]]}” the largest has {most:g}. Lower K, take larger cells, "
        "or let NEIGHBOURS meet in corners."
    )
