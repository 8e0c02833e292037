"""The lattice of coarsenings: a level for each quasi-identifier, and which nodes are looked at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Callable

from ..generalising import Hierarchy

Node = tuple[int, ...]
MOST_NODES = 400  # of a larger lattice not all are looked at
BEAM = 12


def heights(quasi_identifiers: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> Node:
    """The highest level of each quasi-identifier, 0 for those without a hierarchy."""
    return tuple(len(hierarchies[name]) - 1 if name in hierarchies else 0 for name in quasi_identifiers)


def n_nodes(top: Node) -> int:
    """Nodes of the lattice; top : its highest node."""
    return math.prod(height + 1 for height in top)


def above(node: Node, top: Node) -> Iterator[Node]:
    """The nodes with one attribute one level coarser."""
    for position, (level, height) in enumerate(zip(node, top)):
        if level < height:
            yield (*node[:position], level + 1, *node[position + 1 :])


def below(node: Node) -> Iterator[Node]:
    """The nodes with one attribute one level finer."""
    for position, level in enumerate(node):
        if level:
            yield (*node[:position], level - 1, *node[position + 1 :])


def walk(top: Node, worth: Callable[[Node], float], most: int = MOST_NODES) -> Iterator[Node]:
    """The nodes to look at, finer ones before coarser ones: all where there are at most so many, else a beam.

    worth : of a node that was looked at, more is better. Of each step up the beam keeps the BEAM best nodes, and goes
    to all that have one more attribute coarser; it ends with `most` nodes.
    """
    if n_nodes(top) <= most:
        yield from sorted(product(*(range(height + 1) for height in top)), key=lambda node: (sum(node), node))
        return
    step, looked_at = [(0,) * len(top)], 0
    while step:
        for node in step:
            if looked_at == most:
                return
            looked_at += 1
            yield node
        best = sorted(step, key=lambda node: (-worth(node), node))[:BEAM]
        step = sorted({coarser for node in best for coarser in above(node, top)})
