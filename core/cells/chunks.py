"""What is partitioned on its own: connected cells, cut into chunks where there are many."""

from __future__ import annotations

from importlib import import_module
from threading import Thread
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import to_list
from ..errors import VbasError
from ..progress import Progress, part, silent
from .cells import Cells, PackedMinimums

NO_AREA = -1
ASK_EVERY = 0.2


def connected_areas(cells: Cells, packed: list[int], minimums: PackedMinimums) -> np.ndarray:
    """The connected set that each cell belongs to, (n,) int64; NO_AREA where the set has too few people for a group."""
    return _numbered_where_possible(cells.adjacency.components(), packed, minimums)


def cut_into_chunks(
    cells: Cells,
    area_of: np.ndarray,
    most: int,
    packed: list[int],
    minimums: PackedMinimums,
    seed: int,
    progress: Progress = silent,
) -> np.ndarray:
    """Areas of more than `most` cells cut into Louvain communities of their neighbour graph, (n,) int64.

    (Bjerre-Nielsen & Gandil 2018, 3.1, after Blondel et al. 2008.) A community with too few people joins the one it
    shares most borders with. Raises VbasError where the Python package networkx is needed but missing.
    """
    sizes = np.bincount(area_of[area_of >= 0])
    large = np.flatnonzero(sizes > most)
    if not len(large):
        return area_of
    chunk_of = area_of.copy()
    used = len(sizes)
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
        raise VbasError(
            "Cutting large areas into chunks needs the Python package networkx (version 3 or later): install it, or "
            "set CHUNK_CELLS to 0 to partition them whole, which is slower for “random growth” only."
        ) from error
    network = networkx.Graph()
    network.add_nodes_from(range(graph.shape[0]))
    network.add_edges_from(zip(graph.row.tolist(), graph.col.tolist()))
    found: list[Any] = []
    # networkx reports no progress: it runs in a thread of its own, so that the user can cancel.
    worker = Thread(target=lambda: found.append(louvain_communities(network, seed=seed)), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(ASK_EVERY)
        progress(0.0)
    if not found:
        raise VbasError("networkx could not find communities: set CHUNK_CELLS to 0.")
    community = np.empty(graph.shape[0], np.int64)
    for number, members in enumerate(found[0]):
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
        label = min(short, key=lambda one: int((community == one).sum()))
        across = (community[graph.row] == label) & (community[graph.col] != label)
        community[community == label] = np.bincount(community[graph.col[across]]).argmax()
