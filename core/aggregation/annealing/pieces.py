"""Whether a region stays in one piece when an area leaves it, for many areas at once."""

from __future__ import annotations

import numpy as np

from ...adjacency import Adjacency, connected_parts
from ...arrays import runs

# Areas around one are kept as the bits of a whole number.
MOST_AROUND = 62


class Surroundings:
    """Each area's neighbours and their neighbours, as far as MOST_AROUND of them, and which of these are neighbours.

    What an area leaves is still in one piece if the neighbours it had there are connected with each other through its
    surroundings. They may be connected farther around, which is not looked for: such a move is not made.
    """

    def __init__(self, adjacency: Adjacency) -> None:
        n = len(adjacency)
        owner, other, near, place = _around(adjacency)
        width = 8
        while width <= place.max(initial=0):
            width *= 2
        bits_type = np.dtype(f"<u{width // 8}")
        self._bits = np.array([1 << position for position in range(width)], bits_type)
        self._areas = np.zeros((n, width), np.int64)
        self._areas[owner, place] = other
        self._links = np.zeros((n, width), bits_type)
        self._links[owner, place] = _links(adjacency, owner, other, place)
        # Neighbours come first, then the other places that are taken, then none.
        self._near, self._taken = (_lowest(np.bincount(owner[of], minlength=n)) for of in (near, slice(None)))
        self._near, self._taken = self._near.astype(bits_type), self._taken.astype(bits_type)
        self._whole = np.bincount(owner[near], minlength=n) == np.diff(adjacency.starts)

    def leave_whole(self, areas: np.ndarray, region_of: np.ndarray) -> np.ndarray:
        """Whether each area (m,) can leave its region alone, whose number of pieces does not grow then, (m,) bool."""
        same = region_of.take(self._areas.take(areas, axis=0)) == region_of[areas][:, None]
        there = np.packbits(same, axis=1, bitorder="little").view(self._bits.dtype).reshape(-1) & self._taken[areas]
        wanted, links = there & self._near[areas], self._links.take(areas, axis=0)
        reached = wanted & (~wanted + self._bits[0])
        while True:
            from_these = links * ((reached[:, None] & self._bits) != 0)
            further = (np.bitwise_or.reduce(from_these, axis=1) | reached) & there
            if (further == reached).all():
                return ((reached & wanted) == wanted) & self._whole[areas]
            reached = further


def _lowest(counts: np.ndarray) -> np.ndarray:
    """Whole numbers with so many of the lowest bits set, (n,) uint64; fewer than 64 each."""
    return (np.uint64(1) << counts.astype(np.uint64)) - np.uint64(1)


def _around(adjacency: Adjacency) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of an area and one around it (p,), (p,); whether they are neighbours; the place of the pair, from 0.

    Neighbours come first.
    """
    n = len(adjacency)
    first = adjacency.matrix().astype(np.int32)
    both = (first + first @ first).tocsr()
    owner, other = np.repeat(np.arange(n, dtype=np.int64), np.diff(both.indptr)), both.indices.astype(np.int64)
    apart = owner != other
    owner, other = owner[apart], other[apart]
    near = np.isin(owner * n + other, adjacency.owners * n + adjacency.others)
    order = np.lexsort([other, ~near, owner])
    owner, other, near = owner[order], other[order], near[order]
    place = np.arange(len(owner), dtype=np.int64) - np.searchsorted(owner, owner)
    kept = place < MOST_AROUND
    return owner[kept], other[kept], near[kept], place[kept]


def _links(adjacency: Adjacency, owner: np.ndarray, other: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Of each pair the bits of the places around the owner that the other one is a neighbour of, (p,) uint64."""
    n = len(adjacency)
    lengths = np.diff(adjacency.starts)[other]
    step = runs(adjacency.starts[other], lengths)
    pair = np.repeat(np.arange(len(other), dtype=np.int64), lengths)
    order = np.lexsort([other, owner])
    keys = (owner * n + other)[order]
    wanted = owner[pair] * n + adjacency.others[step]
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    is_link = keys[at] == wanted if len(keys) else np.zeros(0, bool)
    bits = np.zeros(len(other), np.uint64)
    np.bitwise_or.at(bits, pair[is_link], np.uint64(1) << place[order[at[is_link]]].astype(np.uint64))
    return bits


def pieces_of(adjacency: Adjacency, region_of: np.ndarray, n_regions: int) -> np.ndarray:
    """How many pieces each region is in, (n_regions,) int64."""
    first, second = adjacency.pairs()
    same = region_of[first] == region_of[second]
    piece = connected_parts(first[same], second[same], len(region_of))
    heads = np.unique(piece, return_index=True)[1]
    return np.bincount(region_of[heads], minlength=n_regions)
