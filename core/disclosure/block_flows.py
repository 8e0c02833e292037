"""Small counts beside one table of counts, decided as flows.

The people of each zone and kind of the table flow to their areas and classes, on to the regions of the first level
that show these classes, and so from level to level; what is known of any sum bounds one such flow. The people as they
are in truth are one flow. A count is free where it can be changed by a circulation of what is left beneath these
bounds until nobody is in it, or k people are: where the most that can flow past it is enough. Without tables of other
kinds that decides it, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..dataclass import dataclass
from ..progress import Progress, part, silent
from ..scientific import sparse
from .block import Block, Family
from .count_tables import MANY
from .exchanges import Places
from .overlay import NONE

OUTSIDE = 0  # the node where all flows begin and end
STRETCHES = (50, 400, 3_200)  # areas beside each other
FEW = 5_000  # areas times classes, below which all people may move at once
AROUND = 1  # stretches wider than the first in which a count lies, where those nearby are asked alone
FEW_LEAVES = 4  # areas of a count that are tried by themselves, where it is no flow of its own


def are_flows(block: Block) -> bool:
    """Whether what is known of a block are bounds of flows."""
    return len(block.tables) <= 1


@dataclass(frozen=True, eq=False)
class _Arcs:
    """Flows between nodes, (m,) arrays; down, up : how much less or more each may be."""

    start: np.ndarray
    end: np.ndarray
    down: np.ndarray
    up: np.ndarray

    def other(self, start: np.ndarray, end: np.ndarray, down: np.ndarray) -> _Arcs:
        """The same of which some have other nodes."""
        return replace(self, start=start, end=end, down=down)


class Flows:
    """The flows of some areas and classes, the people of all others staying where they are.

    opened : where all others may come and go as if nothing were known of them, so that a count of these areas and
    classes that is not free then is not free at all
    """

    def __init__(
        self,
        block: Block,
        areas: np.ndarray | None = None,
        classes: np.ndarray | None = None,
        opened: bool = False,
    ) -> None:
        """areas, classes : ascending; all where None."""
        self._block = block
        self._areas = np.arange(block.n, dtype=np.int64) if areas is None else areas
        self._classes = np.arange(block.u, dtype=np.int64) if classes is None else classes
        n, u = len(self._areas), len(self._classes)
        tail, head = np.full((n, u), OUTSIDE, np.int64), np.full((n, u), OUTSIDE, np.int64)
        arcs: list[_Arcs] = []
        self._first_arc: list[int] = []  # of each level, those of its regions
        self._regions: list[np.ndarray] = []
        self._groups: list[np.ndarray] = []
        first = OUTSIDE + 1
        for family in block.tables:
            zones = _used(family.region[self._areas], family.n_regions)
            groups = _used(family.group[self._classes], family.n_groups)
            node = _nodes(first, zones, groups, family)
            tail = node[family.region[self._areas]][:, family.group[self._classes]]
            first += len(zones) * len(groups)
            at = np.ix_(zones, groups)
            to = node[at].ravel()
            arcs.append(_Arcs(np.full(len(to), OUTSIDE, np.int64), to, family.down[at].ravel(), family.up[at].ravel()))
            if opened:
                arcs.append(self._to_others(family, at, to))
        nodes = []
        for family in block.families:
            regions = _used(family.region[self._areas], family.n_regions)
            groups = _used(family.group[self._classes], family.n_groups)
            nodes.append(_nodes(first, regions, groups, family))
            self._regions.append(regions)
            self._groups.append(groups)
            first += len(regions) * len(groups)
        n_arcs = n * u + sum(len(some.start) for some in arcs)
        for level, (family, node) in enumerate(zip(block.families, nodes)):
            at = np.ix_(self._regions[level], self._groups[level])
            begin = node[at]
            to = np.full(begin.shape, OUTSIDE, np.int64)
            if level + 1 < len(nodes):
                around = block.parent[level][self._regions[level]]
                above = nodes[level + 1]
                around = np.where(around < 0, len(above) - 1, around)
                to = above[around][:, block.groups_at(level, level + 1)[self._groups[level]]]
            self._first_arc.append(n_arcs)
            n_arcs += begin.size
            arcs.append(_Arcs(begin.ravel(), to.ravel(), family.down[at].ravel(), family.up[at].ravel()))
            if opened:
                arcs.append(self._to_others(family, at, begin.ravel()))
                n_arcs += len(arcs[-1].start)
        if nodes:
            family = block.families[0]
            head = nodes[0][family.region[self._areas]][:, family.group[self._classes]]
        people = block.people[np.ix_(self._areas, self._classes)].ravel()
        leaves = _Arcs(tail.ravel(), head.ravel(), people, np.full(n * u, MANY, np.int64))
        every = [leaves, *arcs]
        self._arcs = _Arcs(
            *(np.concatenate([getattr(some, name) for some in every]) for name in ("start", "end", "down", "up"))
        )
        self._n_nodes = first

    def _to_others(self, family: Family, at: tuple[np.ndarray, ...], node: np.ndarray) -> _Arcs:
        """Between these nodes and outside, without a bound, where others than these areas and classes count in them."""
        leaves = np.outer(_members(family.region[:-1], family.n_regions), _members(family.group[:-1], family.n_groups))
        own = np.outer(
            _members(family.region[self._areas], family.n_regions),
            _members(family.group[self._classes], family.n_groups),
        )
        shared = node[(leaves > own)[at].ravel()]
        many = np.full(len(shared), MANY, np.int64)
        return _Arcs(np.full(len(shared), OUTSIDE, np.int64), shared, many, many)

    def hold(self, places: Places, number: int) -> bool:
        """Whether all areas and classes of a count are among these."""
        areas = np.delete(places.inside(number), self._areas, axis=0)
        return not areas.any() and bool(np.isin(places.classes(number), self._classes).all())

    def free(self, places: Places, number: int) -> bool:
        """Whether a count can be of nobody, or of k people."""
        more = self._block.k - int(places.people[number])
        inside, classes = places.inside(number), places.classes(number)
        here = np.searchsorted(classes, self._classes)
        own = np.flatnonzero(np.append(classes, NONE)[here] == self._classes)
        at, of = np.nonzero(inside[self._areas][:, here[own]])
        leaves = at * len(self._classes) + own[of]
        if self._nobody(leaves, int(places.people[number])):
            return True
        if places.group_of is not None:
            return self._more_by_itself(leaves, more)
        return self._enough(leaves, np.flatnonzero(inside[:, 0]), places, number, more)

    def _nobody(self, leaves: np.ndarray, people: int) -> bool:
        """Whether these flows can be 0, which make up so many people together."""
        arcs = self._arcs
        number = arcs.down[leaves]
        if int(number.sum()) < people:
            return False  # the rest are people of areas where they stay
        fixed = np.zeros(len(arcs.start), bool)
        fixed[leaves] = True
        return self._flows(arcs, fixed, arcs.start[leaves], arcs.end[leaves], number, people)

    def _enough(self, leaves: np.ndarray, areas: np.ndarray, places: Places, number: int, more: int) -> bool:
        """Whether so many people more can be in a count."""
        block, arcs, level = self._block, self._arcs, places.within
        if not len(leaves):
            return False
        if len(areas) == 1:
            return self._more(arcs, int(leaves[0]), more)
        class_of = int(places.class_of[number])
        if level is None:  # of a zone, of which all are: a flow of its own, from the zone to a node that is added
            if len(np.unique(arcs.start[leaves])) == 1 and arcs.start[leaves[0]] != OUTSIDE:
                start, tail = arcs.start.copy(), int(arcs.start[leaves[0]])
                start[leaves] = self._n_nodes
                return self._added(arcs.other(start, arcs.end, arcs.down), tail, self._n_nodes, more)
            return self._more_by_itself(leaves, more)
        if level < 0 or not block.families:
            return self._more_by_itself(leaves, more)
        region = int(block.families[level].region[areas[0]])
        if int((block.families[level].region[:-1] == region).sum()) == len(areas):
            return self._more(arcs, self._arc(level, region, class_of), more)
        rewired = self._past_smaller(leaves, level, class_of)
        if rewired is None:
            return self._more_by_itself(leaves, more)
        return self._added(rewired, self._n_nodes, int(arcs.start[self._arc(level, region, class_of)]), more)

    def _past_smaller(self, leaves: np.ndarray, level: int, class_of: int) -> _Arcs | None:
        """The flows, of which these go straight to a node that is added, past smaller regions than those of a level.

        Of such regions nothing is known that their other flows do not fulfil, as they do not show the class; None
        where that is not so.
        """
        block, arcs = self._block, self._arcs
        end, down = arcs.end.copy(), arcs.down.copy()
        area = self._areas[leaves // len(self._classes)]
        for between in range(level):
            family = block.families[between]
            if family.n_groups != block.u:
                return None
            regions, of = np.unique(family.region[area], return_inverse=True)
            if (family.high[regions, family.group[class_of]] < MANY).any():
                return None
            at = np.array([self._arc(between, region, class_of) for region in regions.tolist()], np.int64)
            down[at] -= np.bincount(of.reshape(-1), arcs.down[leaves], len(regions)).astype(np.int64)
        end[leaves] = self._n_nodes
        return arcs.other(arcs.start, end, down)

    def _more_by_itself(self, leaves: np.ndarray, more: int) -> bool:
        """Whether one of these flows alone can be so much more, while none of the others is less."""
        arcs = self._arcs
        down = arcs.down.copy()
        down[leaves] = 0
        kept = arcs.other(arcs.start, arcs.end, down)
        # What all of them together cannot none can alone.
        nothing, number = np.zeros(len(down), bool), np.full(len(leaves), more, np.int64)
        if not self._flows(kept, nothing, arcs.end[leaves], arcs.start[leaves], number, more):
            return False
        order = leaves[np.argsort(-arcs.down[leaves], kind="stable")]
        return any(self._more(kept, int(leaf), more) for leaf in order[:FEW_LEAVES].tolist())

    def _more(self, arcs: _Arcs, arc: int, more: int) -> bool:
        """Whether a flow can be so much more."""
        fixed = np.zeros(len(arcs.start), bool)
        fixed[arc] = True
        if arcs.up[arc] < more:
            return False
        return self._flows(arcs, fixed, arcs.end[[arc]], arcs.start[[arc]], np.array([more], np.int64), more)

    def _added(self, arcs: _Arcs, start: int, end: int, more: int) -> bool:
        """Whether a flow that is not among the others can be so much more."""
        return self._flows(
            arcs,
            np.zeros(len(arcs.start), bool),
            np.array([end], np.int64),
            np.array([start], np.int64),
            np.array([more], np.int64),
            more,
        )

    def _arc(self, level: int, region: int, class_of: int) -> int:
        at, groups = int(np.searchsorted(self._regions[level], region)), self._groups[level]
        group = int(np.searchsorted(groups, self._block.families[level].group[class_of]))
        return self._first_arc[level] + at * len(groups) + group

    def _flows(
        self,
        arcs: _Arcs,
        fixed: np.ndarray,
        sources: np.ndarray,
        sinks: np.ndarray,
        number: np.ndarray,
        needed: int,
    ) -> bool:
        """Whether so much can flow from sources to sinks, of each this number; fixed : (m,) bool, what stays."""
        source, sink = self._n_nodes + 1, self._n_nodes + 2
        down, up = (np.where(fixed, 0, np.minimum(room, needed)) for room in (arcs.down, arcs.up))
        start = np.concatenate([arcs.start, arcs.end, np.full(len(number), source, np.int64), sinks])
        end = np.concatenate([arcs.end, arcs.start, sources, np.full(len(number), sink, np.int64)])
        most = np.concatenate([up, down, number, number])
        there = (most > 0) & (start != end)
        size = self._n_nodes + 3
        graph = sparse.csr_matrix((most[there].astype(np.int32), (start[there], end[there])), shape=(size, size))
        return int(sparse.csgraph.maximum_flow(graph, source, sink).flow_value) >= needed


def _used(region: np.ndarray, n_regions: int) -> np.ndarray:
    used = np.unique(region)
    return used[used < n_regions]


def _members(which: np.ndarray, number: int) -> np.ndarray:
    """How many there are of each, (number,)."""
    return np.bincount(which, minlength=number + 1)[:number]


def _nodes(first: int, regions: np.ndarray, groups: np.ndarray, family: Family) -> np.ndarray:
    """(n_regions + 1, n_groups + 1) the node of each region and group, that outside for none and for those not used."""
    node = np.full((family.n_regions + 1, family.n_groups + 1), OUTSIDE, np.int64)
    node[np.ix_(regions, groups)] = first + np.arange(len(regions) * len(groups), dtype=np.int64).reshape(
        len(regions), len(groups)
    )
    return node


def freed_by_flows(
    block: Block, places: Sequence[Places], progress: Progress = silent, nearby: bool = False
) -> list[np.ndarray]:
    """Which counts are free, (q,) bool for each; progress : raises to cancel; nearby : whether it is enough to ask of
    the first areas in which a count lies, and of some more around them.

    Those that are free where a few people may move are so where more may: first people of classes that a table counts
    as one, of ever more areas beside each other, then of all classes. Those that are not free where all others may come
    and go need not be asked again. Where people are few anyway all may move at once.
    """
    made: dict[_Movable, Flows] = {}
    n = len(places)
    return [
        _freed_of(block, some, made, part(progress, number / n, (number + 1) / n), nearby)
        for number, some in enumerate(places)
    ]


@dataclass(frozen=True)
class _Movable:
    """Whose people may move: of a stretch of so many areas, and of the classes of a kind; NONE for all of either.

    opened : whether all others may come and go
    """

    size: int
    stretch: int
    kind: int
    opened: bool = False


def _freed_of(
    block: Block, places: Places, made: dict[_Movable, Flows], progress: Progress, nearby: bool
) -> np.ndarray:
    free, follows = np.zeros(len(places), bool), np.zeros(len(places), bool)
    held = np.zeros(len(places), np.int64)  # in how many stretches a count lies that was asked about

    def flows(who: _Movable) -> Flows:
        if who not in made:
            made[who] = Flows(block, _beside(block, who), _counted_as_one(block, who.kind), who.opened)
        return made[who]

    everybody = _who_may_move(block, places)
    for turn, (size, stretches, kinds) in enumerate(everybody):
        for number in np.flatnonzero(~(free | follows)).tolist():
            progress((turn + number / len(places)) / len(everybody))
            who = _Movable(size, int(stretches[number]), int(kinds[number]))
            free[number] = flows(who).free(places, number)
            some_stay = who.stretch != NONE or who.kind != NONE
            if not free[number] and some_stay and flows(who).hold(places, number):
                held[number] += 1
                far = nearby and held[number] > AROUND
                follows[number] = far or not flows(replace(who, opened=True)).free(places, number)
    return free


def _who_may_move(block: Block, places: Places) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """One after the other the areas of a stretch, and for each count which of them and the kind of classes, (q,) int64,
    NONE for all."""
    everybody = np.full(len(places), NONE, np.int64)
    if block.n * block.u <= FEW:
        return [(NONE, everybody, everybody)]
    kind = block.tables[0].group[places.class_of] if block.tables else places.class_of
    place = block.place[places.area]
    areas = [(size, place // size) for size in STRETCHES if 3 * size < block.n] + [(NONE, everybody)]
    of_one_kind = block.u == 1 or (bool(block.tables) and len(np.unique(block.tables[0].group[:-1])) == 1)
    kinds = [everybody] if of_one_kind else [kind, everybody]
    return [(size, stretch, classes) for classes in kinds for size, stretch in areas]


def _beside(block: Block, who: _Movable) -> np.ndarray | None:
    """The areas of a stretch and half of those around it, ascending; None for all."""
    if who.stretch == NONE:
        return None
    first = who.stretch * who.size
    return np.sort(block.order[max(first - who.size // 2, 0) : first + 3 * who.size // 2])


def _counted_as_one(block: Block, kind: int) -> np.ndarray | None:
    """The classes of a kind of the table, of a class itself without one, ascending; None for NONE: all."""
    if kind == NONE:
        return None
    return np.flatnonzero(block.tables[0].group[:-1] == kind) if block.tables else np.array([kind], np.int64)
