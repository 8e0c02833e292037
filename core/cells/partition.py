"""A partition of cells from start to finish: connected areas, the best restart of each, and the recount."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from threading import Thread
from typing import Any

import numpy as np

from ..adjacency import connected_parts
from ..approach import Approach
from ..arrays import to_list
from ..crosswalk import LEFT_OUT, Crosswalk, number_compactly
from ..dataclass import dataclass
from ..errors import InputError, PrivacyError, VbasError
from ..language import as_data, tr
from ..parameters import BETA, check_choice
from ..progress import Progress, part, silent
from ..scientific import sparse
from .cells import Cells, PartitionOptions
from .compact_growth import compact_growth
from .grouping import Draws, Grouping, connect_cells
from .measures import (
    Minimum,
    PackedMinimums,
    PartitionMeasures,
    checked_minimums,
    diagonals,
    loss_of,
    measure_partition,
    weights_of,
)
from .random_growth import random_growth

APPROACHES: dict[str, Approach[Grouping]] = {
    "random growth": Approach(random_growth, ("attempts", "newly_built_first", "exchanges")),
    "compact growth": Approach(compact_growth, ("regroupings", "exchanges"), leaves_out_wide_groups=True),
}
TAKEN, TOO_FEW, NO_GROUP, TOO_WIDE, COMPLETES_REST, UNIT_TOO_SMALL, BRANCHES_OUT = range(7)
# Why a cell is left out, in words.
REASONS = (
    "",
    as_data("too few people live in the cells it is connected with"),
    as_data("no group could take it"),
    as_data("the loss is better without its group"),
    as_data("its group completes the rest of the unit"),
    as_data("too few people live in the whole unit"),
    as_data("its group fills too little of its hull"),
)


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition whose groups were recounted.

    crosswalk : group of each cell; reason : (n,) int8, position in REASONS; measures; n_areas : sets of cells that were
    partitioned on their own; seconds : running time
    """

    crosswalk: Crosswalk
    reason: np.ndarray
    measures: PartitionMeasures
    n_areas: int
    seconds: float


def partition_cells(
    cells: Cells,
    minimums: Sequence[Minimum],
    approach: str = "compact growth",
    options: PartitionOptions | None = None,
    progress: Progress = silent,
) -> Partition:
    """Disjoint connected groups of cells that reach every minimum in every year (Bjerre-Nielsen & Gandil 2018).

    approach : a key of APPROACHES. Raises InputError for unusable parameters and where no group is possible or found,
    PrivacyError should a recount of the finished groups find one below a minimum or in pieces.
    """
    started = time.perf_counter()
    options = options or PartitionOptions()
    _check(cells, minimums, approach, options)
    packed_minimums = PackedMinimums(minimums, options.empty_years)
    packed = packed_minimums.pack(cells)
    area_of = connected_areas(cells, packed, packed_minimums)
    if (area_of < 0).all():
        raise InputError(_no_group_possible(cells, minimums))
    too_few = area_of < 0
    cutting = bool(options.chunk_cells or options.chunk_km2)
    if cutting:
        chunking, large = part(progress, 0.0, 0.1), large_areas(cells, area_of, options)
        area_of = cut_into_chunks(cells, area_of, large, packed, packed_minimums, options.seed, chunking)
    searching = part(progress, 0.1 if cutting else 0.0, 1.0)
    labels = best_of_restarts(cells, minimums, area_of, APPROACHES[approach], options, searching)
    if (labels == LEFT_OUT).all():
        raise InputError.saying(
            "No group that reaches every minimum in every year was found: lower K, leave out years with few people, or "
            "let more RESTARTS and another APPROACH look for one."
        )
    reason = np.where(too_few, TOO_FEW, np.where(labels < 0, NO_GROUP, TAKEN)).astype(np.int8)
    if APPROACHES[approach].leaves_out_wide_groups:
        wide = too_wide(cells.boxes, labels, weights_of(cells, minimums), options.beta)
        reason[wide] = TOO_WIDE
        labels = np.where(wide, LEFT_OUT, labels)
    crosswalk, _ = number_compactly(labels)
    recount(cells, minimums, crosswalk, options.empty_years)
    measures = measure_partition(cells, minimums, crosswalk, options.beta)
    n_areas = int(area_of.max()) + 1
    return Partition(crosswalk, reason, measures, n_areas, time.perf_counter() - started)


def best_of_restarts(
    cells: Cells,
    minimums: Sequence[Minimum],
    area_of: np.ndarray,
    approach: Approach[Grouping],
    options: PartitionOptions,
    progress: Progress,
) -> np.ndarray:
    """Labels of the best restart of each area by its own loss, (n,) int64; LEFT_OUT for cells in no group.

    area_of : (n,) int64, the area of each cell, negative for none. The first of equals is kept, and every restart of
    every area has a seed of its own, so that no area's groups depend on another's.
    """
    packed_minimums = PackedMinimums(minimums, options.empty_years)
    packed = packed_minimums.pack(cells)
    weights = weights_of(cells, minimums)
    newly = newly_built(cells, minimums)
    label_of = np.full(len(cells), LEFT_OUT, np.int64)
    used = done = 0
    everything = max(int((area_of >= 0).sum()), 1) * options.restarts
    for number, members in enumerate(_members(area_of)):
        area = connect_cells(cells, members, packed, weights, newly, packed_minimums, options.beta)
        best: Grouping | None = None
        for restart in range(options.restarts):
            draws = Draws(np.random.default_rng([options.seed, restart, number]))
            grouping = approach(
                area, draws, options, part(progress, done / everything, (done + len(area)) / everything)
            )
            done += len(area)
            if best is None or grouping.loss() > best.loss():
                best = grouping
        labels = np.full(len(members), LEFT_OUT, np.int64) if best is None else best.labels()
        label_of[members] = np.where(labels >= 0, labels + used, LEFT_OUT)
        used += int(labels.max(initial=-1)) + 1
    return label_of


def newly_built(cells: Cells, minimums: Sequence[Minimum]) -> np.ndarray:
    """Whether a cell turns from empty to inhabited from one year to the next, (n,) bool, by the first minimum."""
    people = cells.population[:, list(minimums[0].columns)]
    return ((people[:, :-1] == 0) & (people[:, 1:] > 0)).any(axis=1)


def _members(area_of: np.ndarray) -> list[np.ndarray]:
    """The cells of each area, ascending."""
    order = np.argsort(area_of, kind="stable")
    return np.split(order, np.searchsorted(area_of[order], np.arange(area_of.max(initial=-1) + 2, dtype=np.int64)))[
        1:-1
    ]


def too_wide(boxes: np.ndarray, labels: np.ndarray, weights: np.ndarray, beta: float) -> np.ndarray:
    """Cells, (n,) bool, of groups whose diagonal costs more than leaving their people out.

    The groups with the longest diagonals are left out, down to the length that gives the best loss; one group is always
    kept.
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
    # Of equal losses, the one that keeps more.
    keep[order[: len(losses) - int(np.argmax(losses[::-1]))]] = True
    return (crosswalk.region_of >= 0) & ~keep[crosswalk.region_of]


def recount(cells: Cells, minimums: Sequence[Minimum], crosswalk: Crosswalk, empty_years: bool) -> None:
    """Recount every group from the cells themselves. Raises PrivacyError where one is short or in pieces."""
    recount_people(cells, minimums, crosswalk, empty_years)
    first, second = cells.adjacency.pairs()
    same = crosswalk.region_of[first] == crosswalk.region_of[second]
    pieces = connected_parts(first[same], second[same], len(cells))[crosswalk.region_of >= 0]
    if len(np.unique(pieces)) != crosswalk.n_regions:
        raise PrivacyError.saying("The recount found a group in several pieces: nothing was written.")


def recount_people(cells: Cells, minimums: Sequence[Minimum], crosswalk: Crosswalk, empty_years: bool) -> None:
    """Recount the people of every group or other region of cells. Raises PrivacyError where one is short."""
    for minimum in minimums:
        for column in minimum.columns:
            people = crosswalk.totals(cells.population[:, column])
            short = people < minimum.k
            if empty_years:
                short &= people > 0
            if short.any():
                raise PrivacyError.counting(
                    "The recount found {n} group below the minimum of {k:g} in “{fields}”: nothing was written.",
                    "The recount found {n} groups below the minimum of {k:g} in “{fields}”: nothing was written.",
                    int(short.sum()),
                    k=minimum.k,
                    fields=cells.fields[column],
                )


def _check(cells: Cells, minimums: Sequence[Minimum], approach: str, options: PartitionOptions) -> None:
    check_choice("APPROACH", approach, APPROACHES)
    BETA.check(options.beta)
    if options.restarts < 1 or options.attempts < 1:
        raise InputError.saying("RESTARTS and ATTEMPTS are at least 1.")
    checked_minimums(cells, minimums)


def _no_group_possible(cells: Cells, minimums: Sequence[Minimum]) -> str:
    """The sentence for cells of which no group can be made."""
    component = cells.adjacency.components()
    worst = min(
        (
            (np.bincount(component, cells.population[:, column]).max() / minimum.k, minimum, column)
            for minimum in minimums
            for column in minimum.columns
        ),
        key=lambda shortfall: shortfall[0],
    )
    most = worst[0] * worst[1].k
    return tr(
        "No connected set of cells reaches the minimum of {k:g} in every field: in "
        "“{fields}” the largest has {most:g}. Lower K, take larger cells, "
        "or let NEIGHBOURS meet in corners.",
        k=worst[1].k,
        fields=cells.fields[worst[2]],
        most=most,
    )


NO_AREA = -1
ASK_EVERY = 0.2


def connected_areas(cells: Cells, packed: list[int], minimums: PackedMinimums) -> np.ndarray:
    """The connected set that each cell belongs to, (n,) int64; NO_AREA where the set has too few people for a group."""
    return _numbered_where_possible(cells.adjacency.components(), packed, minimums)


def large_areas(cells: Cells, area_of: np.ndarray, options: PartitionOptions) -> np.ndarray:
    """The areas that have more cells, or a larger surface, than the options allow; their numbers, ascending."""
    inside = area_of >= 0
    large = np.zeros(int(area_of.max()) + 1, bool)
    if options.chunk_cells:
        large |= np.bincount(area_of[inside], minlength=len(large)) > options.chunk_cells
    if options.chunk_km2:
        if cells.surface is None:
            raise InputError.saying("The surface of the cells is not known: give the most cells of a chunk instead.")
        square_km = np.bincount(area_of[inside], cells.surface[inside] / 1e6, len(large))
        large |= square_km > options.chunk_km2 * (1.0 + 1e-9)
    return np.flatnonzero(large)


def leave_out_branching(
    cells: Cells, minimums: Sequence[Minimum], partition: Partition, hull_share: np.ndarray, least: float, beta: float
) -> Partition:
    """The partition without the groups that fill less than a share of their convex hull.

    (Bjerre-Nielsen & Gandil 2018, 4.1: such groups branch out; the paper suggests 0.4.) hull_share : (n_groups,) area
    over the area of the hull. Raises InputError where no group is left.
    """
    keep = hull_share >= least
    if not keep.any():
        raise InputError.saying(
            "No group fills {least:g} of its convex hull (largest: {largest:.2f}): lower LEAST_HULL_SHARE.",
            least=least,
            largest=float(hull_share.max()),
        )
    region_of = partition.crosswalk.region_of
    out = (region_of >= 0) & ~keep[region_of]
    crosswalk, _ = number_compactly(np.where(out, LEFT_OUT, region_of))
    reason = np.where(out, BRANCHES_OUT, partition.reason).astype(np.int8)
    return replace(
        partition, crosswalk=crosswalk, reason=reason, measures=measure_partition(cells, minimums, crosswalk, beta)
    )


def cut_into_chunks(
    cells: Cells,
    area_of: np.ndarray,
    large: np.ndarray,
    packed: list[int],
    minimums: PackedMinimums,
    seed: int,
    progress: Progress = silent,
) -> np.ndarray:
    """These areas, by number, cut into Louvain communities of their neighbour graph, (n,) int64.

    (Bjerre-Nielsen & Gandil 2018, 3.1, after Blondel et al. 2008.) A community with too few people joins the one it
    shares most borders with. Raises VbasError where the Python package networkx is needed but missing.
    """
    if not len(large):
        return area_of
    chunk_of = area_of.copy()
    used = int(area_of.max()) + 1
    for done, area in enumerate(to_list(large)):
        members = np.flatnonzero(area_of == area)
        graph = cells.adjacency.matrix()[members][:, members].tocoo()
        community = _communities(graph, seed, part(progress, done / len(large), (done + 1) / len(large)))
        community = _joined_until_possible(community, graph, [packed[cell] for cell in to_list(members)], minimums)
        chunk_of[members] = used + community
        used += int(community.max()) + 1
    return _numbered_where_possible(chunk_of, packed, minimums)


def _numbered_where_possible(labels: np.ndarray, packed: list[int], minimums: PackedMinimums) -> np.ndarray:
    """Labels renumbered in the order of their first cells; NO_AREA for those that cannot hold a group."""
    totals: dict[int, int] = {}
    for label, people in zip(to_list(labels), packed):
        totals[label] = totals.get(label, 0) + people
    totals.pop(NO_AREA, None)
    able = [label for label, total in totals.items() if minimums.may_hold_group(total)]
    number = {label: i for i, label in enumerate(able)}
    return np.fromiter((number.get(label, NO_AREA) for label in to_list(labels)), np.int64, len(labels))


def _communities(graph: sparse.coo_matrix, seed: int, progress: Progress) -> np.ndarray:
    """Louvain community of each cell, (n,) int64, by networkx."""
    try:
        networkx: Any = import_module("networkx")
        louvain_communities = networkx.community.louvain_communities
    except (ImportError, AttributeError) as error:
        raise VbasError.saying(
            "Cutting large areas into chunks needs the Python package networkx (version 3 or later): install it, or "
            "set CHUNK_CELLS to 0 to partition them whole, which is slower for “random growth” only."
        ) from error
    network = networkx.Graph()
    network.add_nodes_from(range(graph.shape[0]))
    network.add_edges_from(zip(graph.row.tolist(), graph.col.tolist()))
    communities: list[Any] = []
    # networkx reports no progress: it runs in a thread of its own, so that the user can cancel.
    worker = Thread(target=lambda: communities.append(louvain_communities(network, seed=seed)), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(ASK_EVERY)
        progress(0.0)
    if not communities:
        raise VbasError.saying("networkx could not find communities: set CHUNK_CELLS to 0.")
    community = np.empty(graph.shape[0], np.int64)
    for number, members in enumerate(communities[0]):
        community[list(members)] = number
    return community


def _joined_until_possible(
    community: np.ndarray, graph: sparse.coo_matrix, packed: list[int], minimums: PackedMinimums
) -> np.ndarray:
    """Communities with too few people joined, smallest first, to the neighbour they share most borders with."""
    community = community.copy()
    while True:
        labels, community = np.unique(community, return_inverse=True)
        community = community.reshape(-1)
        totals = [0] * len(labels)
        for label, people in zip(to_list(community), packed):
            totals[label] += people
        short = [label for label, total in enumerate(totals) if not minimums.may_hold_group(total)]
        if not short or len(labels) == 1:
            return community
        label = min(short, key=lambda candidate: int((community == candidate).sum()))
        across = (community[graph.row] == label) & (community[graph.col] != label)
        community[community == label] = np.bincount(community[graph.col[across]]).argmax()
