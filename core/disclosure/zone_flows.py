"""Tables of records by zone and area, as flows: from zones to their areas, and on to the people who live there.

Each zone has its records, and no area more than live there. Another table is looked for among some of the areas at a
time, the records of all others staying where they are: what it shows to be possible is possible, and takes no longer
the larger the territory. That something is impossible is said of all areas alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..scientific import sparse

MOST_PEOPLE = 2**31 - 1  # of an area, what a flow can hold
PAIRS_AT_ONCE = 500_000  # of a zone and an area, in a flow that need not be of all areas
OTHER_ZONES = 0.3  # of those that a table need not differ in, the share that it does


class Tables:
    """Tables that fit some zones.

    zone, area : (p,) the areas of each zone, ascending; count : (z,) records of each; room : (n,) people of each area
    order : (n,) the areas, neighbours after each other; table : (p,) one that is known; where it does not fit, or where
    none is given, one is looked for
    """

    def __init__(
        self,
        zone: np.ndarray,
        area: np.ndarray,
        count: np.ndarray,
        room: np.ndarray,
        order: np.ndarray,
        table: np.ndarray | None = None,
    ) -> None:
        self.zone, self.area, self.count, self.room, self._order = zone, area, count, room, order
        self._rng = np.random.default_rng(0)
        self.starts = np.searchsorted(zone, np.arange(len(count) + 1, dtype=np.int64))
        self.table: np.ndarray | None = None
        self.spare = room  # people of each area whom the table at hand leaves, (n,)
        if table is not None and self._fits(table):
            self._hold(table)

    def _fits(self, table: np.ndarray) -> bool:
        records, people = np.bincount(self.zone, table, len(self.count)), self._loads(table)
        return bool((records == self.count).all() and (people <= self.room).all() and (table >= 0).all())

    def _loads(self, table: np.ndarray) -> np.ndarray:
        return np.bincount(self.area, table, len(self.room)).astype(np.int64)

    def _hold(self, table: np.ndarray) -> None:
        self.table, self.spare = table, self.room - self._loads(table)

    def _change(self, pairs: np.ndarray, records: np.ndarray) -> None:
        """Hold another number of records of some pairs."""
        table, area = self.held, self.area[pairs]
        self.spare = self.spare + np.bincount(area, table[pairs] - records, len(self.room)).astype(np.int64)
        table[pairs] = records

    @property
    def held(self) -> np.ndarray:
        """The table at hand. Raises LookupError where there is none."""
        if self.table is None:
            raise LookupError("table")
        return self.table

    def find(self) -> bool:
        """Look for a table where none is known yet; whether there is one."""
        if self.table is None:
            table = self._flow(np.arange(len(self.zone), dtype=np.int64))
            if table is not None:
                self._hold(table)
        return self.table is not None

    def drawn(self, concerned: np.ndarray, neighbours: bool, check: Callable[[], None]) -> np.ndarray:
        """Another table by chance, which then is the one at hand; concerned : (z,) bool, zones where it should differ.

        It differs in some others, too; areas are drawn some at a time: those beside each other, or any. check : called
        each time, raises to cancel
        """
        chosen = concerned | (self._rng.random(len(concerned)) < OTHER_ZONES)
        among = np.flatnonzero(chosen[self.zone])
        for pairs in self._blocks(among, neighbours):
            check()
            records = self._flow(pairs)
            if records is not None:  # as it always is, since the one at hand fits
                self._change(pairs, records)
        return self.held

    def _blocks(self, among: np.ndarray, neighbours: bool) -> Iterator[np.ndarray]:
        """Some pairs, those of some areas at a time."""
        if len(among) <= PAIRS_AT_ONCE:
            yield among
            return
        n = len(self.room)
        order = np.roll(self._order, int(self._rng.integers(n))) if neighbours else self._rng.permutation(n)
        behind = np.cumsum(np.bincount(self.area[among], minlength=n)[order])
        block = np.empty(n, np.int64)
        block[order] = behind // PAIRS_AT_ONCE
        of_pair = block[self.area[among]]
        by_block = np.argsort(of_pair, kind="stable")
        yield from np.split(among[by_block], np.flatnonzero(np.diff(of_pair[by_block])) + 1)

    def with_number(self, zone: int, pairs: np.ndarray, number: int) -> np.ndarray | None:
        """A table with so many records of a zone in some of its areas; pairs : their positions; None where none is."""
        return self._asked(np.arange(len(self.zone), dtype=np.int64), zone, pairs, number)

    def with_number_near(self, zone: int, pairs: np.ndarray, number: int, n_beside: int) -> np.ndarray | None:
        """The same, looked for among so many areas of the zone in these and beside them: None says nothing."""
        every = np.arange(self.starts[zone], self.starts[zone + 1], dtype=np.int64)
        sides = (pairs, np.setdiff1d(every, pairs))
        near = np.zeros(len(self.room), bool)
        for side in sides:
            used = side[self.held[side] > 0]
            for some in (used, side):
                some = some if len(some) <= n_beside else self._rng.choice(some, n_beside, replace=False)
                near[self.area[some]] = True
        return self._asked(np.flatnonzero(near[self.area]), zone, pairs, number)

    def _asked(self, among: np.ndarray, zone: int, pairs: np.ndarray, number: int) -> np.ndarray | None:
        """A table that differs among some pairs alone."""
        asked = np.zeros(len(self.zone), bool)
        asked[pairs] = True
        there = asked[among]
        number -= int(self.held[pairs].sum()) - int(self.held[among[there]].sum())
        whole = int(self.held[among[self.zone[among] == zone]].sum())
        records = self._flow(among, there, zone, number) if 0 <= number <= whole else None
        if records is None:
            return None
        table = self.held.copy()
        table[among] = records
        return table

    def stuck(self, zone: int, pairs: np.ndarray, fewer: bool) -> bool:
        """Whether some areas of a zone can have not one record fewer (or more) of it than in the table at hand.

        A record that comes to an area takes the place of another there, of any zone, which goes to another of its
        areas, and so on: until there is room, or where a record of the zone left.
        """
        table, spare = self.held, self.spare
        every = np.arange(self.starts[zone], self.starts[zone + 1], dtype=np.int64)
        others = np.setdiff1d(every, pairs)
        to, left = (others, pairs) if fewer else (pairs, others)
        ends = spare > 0
        ends[self.area[left[table[left] > 0]]] = True
        reached, zones = np.zeros(len(self.room), bool), np.zeros(len(self.count), bool)
        reached[self.area[to]] = True
        zones[zone] = True
        filled = table > 0
        while not ends[reached].any():
            more = zones.copy()
            more[self.zone[filled & reached[self.area]]] = True
            if (more == zones).all():
                return True
            fresh = more & ~zones
            reached[self.area[fresh[self.zone]]] = True
            zones = more
        return False

    def _flow(
        self, among: np.ndarray, asked: np.ndarray | None = None, zone: int = 0, number: int = 0
    ) -> np.ndarray | None:
        """The records of some pairs in a table that differs among these alone, (len(among),); None where there is none.

        asked : bool, for each of them, those of a zone that are to have this number together
        """
        own = self.zone[among]
        numbered = np.zeros(len(self.count) + 1, np.int64)
        numbered[own] = 1
        zones = np.flatnonzero(numbered)
        numbered = np.cumsum(numbered) - 1
        in_area = np.zeros(len(self.room), np.int64)
        in_area[self.area[among]] = 1
        areas = np.flatnonzero(in_area)
        in_area = np.cumsum(in_area) - 1
        from_zone, to_area = numbered[own], in_area[self.area[among]]
        n_zones, n_areas = len(zones) + 1, len(areas)  # the last zone stands for what is asked about
        count, room = np.append(self.count[zones], 0), self.room[areas]
        if self.table is not None:
            held = self.table[among]
            count[:-1] = np.bincount(from_zone, held)
            room = self.spare[areas] + np.bincount(to_area, held).astype(np.int64)
        if asked is not None:
            count[numbered[zone]] -= number
            count[-1] = number
            from_zone = np.where(asked, n_zones - 1, from_zone)
        zone_at, area_at = self._rng.permutation(n_zones), self._rng.permutation(n_areas)
        source, sink = n_zones + n_areas, n_zones + n_areas + 1
        at = np.flatnonzero(count > 0)
        start = np.concatenate([np.full(len(at), source, np.int64), zone_at[from_zone], n_zones + area_at])
        end = np.concatenate([zone_at[at], n_zones + area_at[to_area], np.full(n_areas, sink, np.int64)])
        most = np.concatenate([count[at], np.minimum(count[from_zone], room[to_area]), room])
        there = most > 0
        graph = sparse.csr_matrix(
            (most[there].astype(np.int32), (start[there], end[there])), shape=(sink + 1, sink + 1)
        )
        maximum = sparse.csgraph.maximum_flow(graph, source, sink)
        if maximum.flow_value < count.sum():
            return None
        return np.asarray(maximum.flow[zone_at[from_zone], n_zones + area_at[to_area]]).reshape(-1).astype(np.int64)
