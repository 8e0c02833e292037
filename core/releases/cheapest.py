"""The fewest records without which nothing is told: for every count that is given away, what proves it.

A count is given away because some sums bound it from below, and some from above. Which do, the dual values of two
linear programs say; of the sums of the new release among them at least one must go. The cheapest choice that breaks
every proof known so far is an integer program; what the rest gives away still has other proofs, and so on. Once nothing
is given away, nothing is cheaper: every proof that was broken had to be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import to_list
from ..disclosure.counts import Count
from ..disclosure.overlay import NONE, UNBOUNDED, Overlay, Sums
from ..scientific import optimize, sparse

DUAL = 1e-7
NODES = 2_000
MOST_UNKNOWNS = 20_000


def proofs_of(over: Overlay, counts: Sequence[Count], k: int) -> list[np.ndarray | None]:
    """Of each count of fewer than k, the equivalence classes of the last release that prove it, positions in it,
    ascending.

    None where a linear program over all sums does not prove it: it needs whole numbers, or sensitive values.
    """
    by_groups: dict[tuple[int, ...], list[int]] = {}
    for number, count in enumerate(counts):
        # People of one value may be of several groups, which share no sum.
        groups = np.unique(over.group_of[count.joint])
        by_groups.setdefault(tuple(groups.tolist()), []).append(number)
    proofs: list[np.ndarray | None] = [None] * len(counts)
    for of_counts, numbers in by_groups.items():
        sums = _GroupSums(over, np.flatnonzero(np.isin(over.group_of, of_counts)))
        for number in numbers:
            proofs[number] = sums.proof(counts[number], k)
    return proofs


class _GroupSums:
    """All that is known of joint classes that share sums, as rows of unknowns: a column is a cell of a joint class."""

    def __init__(self, over: Overlay, joint: np.ndarray) -> None:
        self._over, self._joint = over, joint
        self._last = len(over.releases) - 1
        n = over.n_cells * len(joint)
        self._too_large = n > MOST_UNKNOWNS
        rows, low, high, released_classes = [], [], [], []
        for family in over.sums(joint):
            n_classes = family.low.shape[1]
            region = np.where(family.region >= 0, family.region, family.n_regions)
            column = np.where(family.class_of >= 0, family.class_of, n_classes - 1)
            key = (region[:, None] * n_classes + column[None, :]).ravel()
            ones = np.ones(n, np.int64)
            members = sparse.csr_matrix((ones, (key, np.arange(n, dtype=np.int64))), shape=(family.low.size, n))
            known = np.flatnonzero((family.low.ravel() > 0) | (family.high.ravel() < UNBOUNDED))
            rows.append(members[known])
            low.append(family.low.ravel()[known])
            high.append(family.high.ravel()[known])
            released_classes.append(self._showing(family)[known])
        self._rows = sparse.vstack(rows).tocsr()
        self._low, self._high = np.concatenate(low), np.concatenate(high)
        of_row = np.concatenate(released_classes)
        nobody = np.tile(over.nobody[joint].any(axis=1), over.n_cells)
        self._bounds = np.column_stack([np.zeros(n), np.where(nobody, 0.0, np.inf)])
        bounded = self._high < UNBOUNDED
        self._below = sparse.vstack([self._rows[bounded], -self._rows]).tocsr()
        self._numbers = np.concatenate([self._high[bounded], -self._low]).astype(float)
        self._of_row = np.concatenate([of_row[bounded], of_row])

    def _showing(self, family: Sums) -> np.ndarray:
        """The equivalence class of the last release that shows each sum of a family, NONE for none."""
        released_classes = np.full(family.low.shape, NONE, np.int64)
        if family.release == self._last:
            published = self._over.releases[self._last]
            used = np.unique(self._over.entries[self._joint, self._over.schema_of[self._last]])
            own = self._over.own_class[self._last][used[used >= 0]]
            column_of = np.full(len(published.classes) + 1, NONE, np.int64)
            column_of[own[own >= 0]] = np.flatnonzero(own >= 0)
            here = np.flatnonzero((published.level == family.level) & (column_of[published.class_of] >= 0))
            released_classes[published.region[here], column_of[published.class_of[here]]] = here
        return released_classes.ravel()

    def proof(self, count: Count, k: int) -> np.ndarray | None:
        """The equivalence classes that prove a count of fewer than k, None where these rows do not."""
        if self._too_large:
            return None
        asked = np.zeros((self._over.n_cells, len(self._joint)))
        asked[np.ix_(count.cells, np.searchsorted(self._joint, count.joint))] = 1.0
        parts = [count.taken] if count.releases == (self._last,) else []
        for sign, enough in ((1.0, count.less + DUAL), (-1.0, -(count.less + k) + DUAL)):
            solution = optimize.linprog(
                sign * asked.ravel(), A_ub=self._below, b_ub=self._numbers, bounds=self._bounds, method="highs"
            )
            if solution.status != 0 or solution.fun < enough:
                return None
            parts.append(self._of_row[np.abs(solution.ineqlin.marginals) > DUAL])
        proof = np.unique(np.concatenate(parts))
        return proof[proof >= 0]


def cheapest(proofs: Sequence[np.ndarray], records: np.ndarray) -> np.ndarray | None:
    """The equivalence classes, (L,) bool, of the fewest records, of which every proof has one; None where not found.

    records : (L,) what each costs
    """
    chosen = np.zeros(len(records), bool)
    sizes = [len(proof) for proof in proofs]
    rows = sparse.csr_matrix(
        (np.ones(sum(sizes)), (np.repeat(np.arange(len(proofs), dtype=np.int64), sizes), np.concatenate(proofs))),
        shape=(len(proofs), len(records)),
    )
    used = np.unique(rows.indices)
    rows = rows[:, used]
    graph = sparse.bmat([[None, rows], [rows.T, None]])
    component = sparse.csgraph.connected_components(graph, directed=False)[1]
    for own in to_list(np.unique(component)):
        columns = np.flatnonzero(component[len(proofs) :] == own)
        part = rows[np.flatnonzero(component[: len(proofs)] == own)][:, columns]
        solution = optimize.milp(
            records[used[columns]],
            integrality=np.ones(len(columns)),
            bounds=optimize.Bounds(0, 1),
            constraints=[optimize.LinearConstraint(part, 1, np.inf)],
            options={"node_limit": NODES, "mip_rel_gap": 0.0},
        )
        if solution.x is None:
            return None
        chosen[used[columns[solution.x > 0.5]]] = True
    return chosen
