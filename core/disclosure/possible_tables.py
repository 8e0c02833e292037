"""How likely the tables of counts are that a zone may have, summed up over all of them.

A zone is the areas for which a class is shown in one region; of its count is known, of its areas are not. A table says
how many records each area holds. Without more it weighs what independent counts by people weigh; each area that holds
k or more multiplies that by `place`, each part of several areas that does by `part`. Of a place, an area or a part, the
weights of 0, 1, 2, … records are a polynomial; of places side by side it is the product of theirs. So a zone is a
binary tree of products. The trees of many zones are worked out side by side, products of equal height and of about
equal length together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dataclass import dataclass
from ..scientific import special

NEVER = 1e-60  # numbers of records in an area that are less likely are left out


@dataclass(frozen=True, eq=False)
class _Products:
    """Products of equal height and of about equal length.

    left, right, product : (b, length), where the weights of each number of records are, or the unused place
    partial : (b,) bool, whether the product is a part that counts `part` with k or more
    """

    left: np.ndarray
    right: np.ndarray
    product: np.ndarray
    partial: np.ndarray


@dataclass(frozen=True, eq=False)
class Weighed:
    """What tables weigh, by the weights of places and parts, a row each.

    total : (w, zones), all tables of a zone; small : (w, areas), those with 1 to k - 1 records in the area
    """

    total: np.ndarray
    small: np.ndarray


class PossibleTables:
    """The tables of some zones.

    count : (zones,) records of each, k and more; zone : (areas,) ascending, each zone with two areas or more;
    people : (areas,); parts : from the finest, (areas,) the part of each area, negative where its zone has none
    """

    def __init__(
        self, count: np.ndarray, zone: np.ndarray, people: np.ndarray, parts: Sequence[np.ndarray], k: int
    ) -> None:
        self.zone, self.k = zone, k
        chance, length = _chances(count, zone, people, k)
        tree = _Trees(count, zone, length)
        for of_level in parts:
            tree.join(of_level, partial=True)
        tree.join(np.zeros(len(zone), np.int64), partial=False)
        self._first = np.cumsum(tree.length) - tree.length
        self._unused = int(tree.length.sum())
        self._chance, self._area = chance, np.repeat(np.arange(len(zone), dtype=np.int64), length)
        self._records = np.arange(len(chance), dtype=np.int64) - np.repeat(self._first[: len(zone)], length)
        root = tree.root
        self._at_count = np.where(count < tree.length[root], self._first[root] + count, self._unused)
        self._products = [self._batch(tree, some) for some in tree.side_by_side()]

    def _batch(self, tree: _Trees, some: np.ndarray) -> _Products:
        left, right, product = (self._places(tree, nodes) for nodes in tree.of_products(some))
        return _Products(left, right, product, tree.partial[some])

    def _places(self, tree: _Trees, nodes: np.ndarray) -> np.ndarray:
        records = np.arange(tree.length[nodes].max(), dtype=np.int64)
        at = self._first[nodes][:, None] + records
        return np.where(records < tree.length[nodes][:, None], at, self._unused)

    def weighed(self, place: Sequence[float], part: Sequence[float]) -> Weighed:
        """What tables weigh; place, part : (w,), what an area and a part of several areas with k or more count.

        By derivatives: what all tables weigh is linear in the weight of each number of records of each area.
        """
        of_place, of_part = np.array(place)[:, None], np.array(part)[:, None]
        weight = np.zeros((len(of_place), self._unused + 1))
        many = self._records >= self.k
        weight[:, : len(many)] = np.where(many, self._chance * of_place, self._chance)
        for products in self._products:
            left, right = weight[:, products.left], weight[:, products.right]
            weight[:, products.product] = _convolved(left, right, products.product.shape[1])
            weight[:, products.product] *= self._factor(products, of_part)
            weight[:, self._unused] = 0.0
        around = np.zeros_like(weight)  # what all else weighs where a node holds 0, 1, 2, … records
        around[:, self._at_count] = 1.0
        around[:, self._unused] = 0.0
        for products in self._products[::-1]:
            beside = around[:, products.product] * self._factor(products, of_part)
            around[:, products.left] = _correlated(beside, weight[:, products.right], products.left.shape[1])
            around[:, products.right] = _correlated(beside, weight[:, products.left], products.right.shape[1])
            around[:, self._unused] = 0.0
        few = np.flatnonzero((self._records >= 1) & ~many)
        small = [np.bincount(self._area[few], row, len(self.zone)) for row in weight[:, few] * around[:, few]]
        return Weighed(weight[:, self._at_count], np.array(small))

    def _factor(self, products: _Products, part: np.ndarray) -> np.ndarray:
        """(w, b, length) by which the weights of products are multiplied; part : (w, 1)."""
        of_many = np.where(products.partial, part, 1.0)
        return np.where(np.arange(products.product.shape[1], dtype=np.int64) < self.k, 1.0, of_many[..., None])

    def chances(self, weighed: Weighed, row: int, none: float) -> np.ndarray:
        """The chance that each area holds 1 to k - 1, (areas,), one half where no table is possible.

        weighed : in its first row tables without any place of k or more; row : of the weights of all tables;
        none : what a table without any such place counts of what it would
        """
        total = weighed.total[row] - (1 - none) * weighed.total[0]
        small = weighed.small[row] - (1 - none) * weighed.small[0]
        possible = (total > 0)[self.zone]
        return np.where(possible, small / np.where(possible, total[self.zone], 1.0), 0.5)


class _Trees:
    """Areas, and products of two nodes that make parts and, in the end, each zone. Nodes are the areas, then products.

    count : (zones,); zone, length : (nodes,), length the numbers of records that a node may hold, from 0
    left, right, partial, height : (products,)
    """

    def __init__(self, count: np.ndarray, zone: np.ndarray, length: np.ndarray) -> None:
        self.count, self.zone, self.length, self.n_areas = count, zone, length, len(zone)
        self.left = self.right = np.empty(0, np.int64)
        self.partial, self.height = np.empty(0, bool), np.empty(0, np.int64)
        self.root = np.arange(self.n_areas, dtype=np.int64)  # nodes that no product is made of yet
        self._area = np.arange(self.n_areas, dtype=np.int64)  # one of the areas of each of these
        self._height = np.zeros(self.n_areas, np.int64)  # of each node

    def join(self, part_of: np.ndarray, partial: bool) -> None:
        """Join the nodes of a zone that are in the same part, two by two until one is left.

        part_of : (areas,), negative where no node is joined; partial : whether parts count as such
        """
        order = np.lexsort((part_of[self._area], self.zone[self.root]))
        self.root, self._area = self.root[order], self._area[order]
        while True:
            zone, part = self.zone[self.root], part_of[self._area]
            opens = np.append(True, (zone[1:] != zone[:-1]) | (part[1:] != part[:-1]))
            first = np.flatnonzero(opens)
            size = np.diff(np.append(first, len(part)))
            position = np.arange(len(part), dtype=np.int64) - np.repeat(first, size)
            size = np.repeat(size, size)
            left = np.flatnonzero((position % 2 == 0) & (position + 1 < size) & (part >= 0))
            if not len(left):
                break
            self._multiply(left, (size[left] == 2) & partial)
        if not partial:  # what is all of a zone is no part of it
            last = self.root[self.root >= self.n_areas] - self.n_areas
            self.partial[last] = False

    def _multiply(self, left: np.ndarray, partial: np.ndarray) -> None:
        """Multiply nodes with the next ones; left : positions among those that are left."""
        first, second = self.root[left], self.root[left + 1]
        most = self.count[self.zone[first]] + 1
        product = len(self.zone) + np.arange(len(left), dtype=np.int64)
        self.left, self.right = np.append(self.left, first), np.append(self.right, second)
        self.partial = np.append(self.partial, partial)
        height = np.maximum(self._height[first], self._height[second]) + 1
        self.height = np.append(self.height, height)
        self._height = np.append(self._height, height)
        self.zone = np.append(self.zone, self.zone[first])
        self.length = np.append(self.length, np.minimum(self.length[first] + self.length[second] - 1, most))
        self.root[left] = product
        self.root, self._area = np.delete(self.root, left + 1), np.delete(self._area, left + 1)

    def of_products(self, some: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The nodes that some products are made of, and their own."""
        return self.left[some], self.right[some], self.n_areas + some

    def side_by_side(self) -> list[np.ndarray]:
        """Products that may be worked out together, in an order in which what they are made of comes before."""
        left, right = (np.ceil(np.log2(self.length[nodes])).astype(np.int64) for nodes in (self.left, self.right))
        key = (self.height * 64 + left) * 64 + right
        order = np.argsort(key, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if len(order) else []


def _chances(count: np.ndarray, zone: np.ndarray, people: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The chance of 0, 1, 2, … records in each area by its people, one area after the other, and how many of each."""
    full = count[zone] + 1
    first = np.cumsum(full) - full
    area = np.repeat(np.arange(len(zone), dtype=np.int64), full)
    records = np.arange(len(area), dtype=np.int64) - first[area]
    rate = count[zone] * people / np.bincount(zone, people, len(count))[zone]
    chance = np.exp(records * np.log(rate)[area] - special.gammaln(records + 1.0))
    chance /= np.add.reduceat(chance, first)[area]
    last = np.maximum.reduceat(np.where(chance > NEVER, records, 0), first)
    length = np.maximum(last + 1, k)
    return chance[records < length[area]], length


def _convolved(left: np.ndarray, right: np.ndarray, length: int) -> np.ndarray:
    """The first of the products of polynomials, (w, b, length); left, right : (w, b, …)."""
    if left.shape[2] < right.shape[2]:
        left, right = right, left
    n = right.shape[2]
    padded = np.zeros((*left.shape[:2], n - 1 + max(length, left.shape[2])))
    padded[:, :, n - 1 : n - 1 + left.shape[2]] = left
    windows = np.lib.stride_tricks.sliding_window_view(padded, n, axis=2)[:, :, :length]
    product: np.ndarray = np.einsum("wbnm,wbm->wbn", windows, right[:, :, ::-1])
    return product


def _correlated(beside: np.ndarray, other: np.ndarray, length: int) -> np.ndarray:
    """What all but a node weighs where it holds 0, 1, 2, … records, (w, b, length).

    beside : the same of the node and the other one together; other : weights of the other
    """
    n = other.shape[2]
    padded = np.zeros((*beside.shape[:2], max(length + n - 1, beside.shape[2])))
    padded[:, :, : beside.shape[2]] = beside
    windows = np.lib.stride_tricks.sliding_window_view(padded, n, axis=2)[:, :, :length]
    around: np.ndarray = np.einsum("wbnm,wbm->wbn", windows, other)
    return around
