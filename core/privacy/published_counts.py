"""A release held against tables of counts that others publish: what would follow is shown more coarsely.

Whoever takes what a release shows of an area away from a published total of it is left with the classes that it does
not show there. Where only one can be left, its count is known. Another class of the same total goes up a level to keep
it company, the one that loses least, until nothing follows; what no larger region hides is suppressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..areas import Areas
from ..crosswalk import Crosswalk
from ..dataclass import dataclass
from ..disclosure.block import Block, Change, Storeys
from ..disclosure.block_flows import are_flows
from ..disclosure.count_tables import CountTable, blocks_of
from ..disclosure.following import AREAS_AROUND, Open, asked_about, following, follows_anyway, is_free, open_of
from ..disclosure.overlay import NONE
from ..disclosure.undecided import areas_around, freed_within, loosened
from ..nesting.losses import LOSSES, MEAN_DISTANCE
from ..nesting.promoting import promote
from ..nesting.series import keep_together, together
from ..plan import SUPPRESSED, Plan, area_of_cells, with_levels
from ..profile import Profile
from ..progress import Progress, halves, part, rising, silent
from ..ties import Ties, ranks
from .margins import hold_against_totals
from .released_cells import ReleasedCells, in_rows
from .requirement import Requirement
from .series import Series

MOST_TRIED = 150  # ways to mend a count, the cheapest first
FEW_TRIED, MANY_TRIED = 4, 20  # those of which more is tried, where one way is known and where none is
MOST_LOOSENED = 60  # moves found by programs for a count, before ways are tried one by one
AREAS_LOOSENED = 48
LEAST_LOSS = 1.0
MOST_SIBLINGS = 6
MOST_ROUNDS = 20
LOOKING = 0.5  # of the time of a round, until it is found what follows
OF_A_SUPPRESSED_RECORD = 1e9  # metres: more than any region is wide


@dataclass(frozen=True, eq=False)
class HeldAgainstCounts:
    """A plan from which no small count follows beside tables of counts.

    n_followed : counts that would have followed; n_anyway : counts that follow from the tables alone, and are not ours
    n_left : counts that follow still, as nothing is left to be coarsened; n_coarser, n_suppressed : records shown in
    larger regions, and no more, for it; n_tried : counts of 1 to k - 1 people that were looked at
    """

    plan: Plan
    n_followed: int = 0
    n_anyway: int = 0
    n_left: int = 0
    n_coarser: int = 0
    n_suppressed: int = 0
    n_tried: int = 0


def hold_against_counts(
    plan: Plan,
    tables: Sequence[CountTable],
    areas: Areas,
    loss: str = MEAN_DISTANCE,
    requirement: Requirement | None = None,
    progress: Progress = silent,
    ties: Ties = None,
    everybody: Profile | None = None,
) -> HeldAgainstCounts:
    """The plan, with equivalence classes moved up a level, or suppressed, until no count of 1 to k - 1 follows.

    A count is of a class: in an area, in a region of any level, in what smaller regions that show the class leave of
    it, or in a zone of a table; and of a class of each level that shows coarser values in an area, region or zone. It
    follows where it lies within 1 to k - 1 in every table of people that fits the tables and what is released; where no
    table of people is found that says otherwise, it counts as following too.

    Parameters
    ----------
    plan : Plan
        Of one level or several.
    tables : sequence of CountTable
        Of the profile that records were counted in.
    areas : Areas
        Those of the profile.
    loss : str
        A key of LOSSES: what moves up first is what loses least of it.
    requirement : Requirement, optional
        What is asked of equivalence classes beside k records.
    progress : callable
        Called with the fraction that is done; raises to cancel.
    ties : Ties, optional
        Decides among ways of the same loss.
    everybody : Profile, optional
        Of a plan that shows classes in part, such as that of an update: the areas and classes of all people, those too
        who are in no cell of the plan. The tables are of these.

    Returns
    -------
    HeldAgainstCounts
        The plan that holds, and what it cost.
    """
    if not tables:
        return HeldAgainstCounts(plan)
    before = plan.counted.levels_of_cells
    level_of, followed, joined = before, 0, False
    heard = rising(progress)
    while True:
        if not plan.levels.coarser and everybody is None:
            waiting = part(heard, 0.0, 0.0)
            level_of = _suppressed_by_totals(with_levels(plan, level_of), tables, waiting, ties).levels_of_cells
        cells = _released_cells(plan, level_of, None if requirement is None else requirement.series)
        losses = _losses(cells, areas, loss)
        if everybody is None:
            held, (more, anyway, left, tried) = _mended(cells, tables, losses, heard, ties)
        else:
            rows = in_rows(cells, everybody, tables, losses)
            held, (more, anyway, left, tried) = _mended(rows.cells, rows.tables, rows.losses, heard, ties)
            held = rows.levels_of(held)
        followed += more
        level_of = _holding(plan.counted, held, requirement)
        if np.array_equal(level_of, held):
            break
        joined = True
    records = cells.profile.counts.data
    moved = int(records[(level_of > before) & (before >= 0)].sum())
    suppressed = int(records[(level_of == SUPPRESSED) & (before >= 0)].sum())
    if not moved and not suppressed:
        return HeldAgainstCounts(plan, followed, anyway, left, n_tried=tried)
    new = with_levels(plan.counted, level_of, requirement)
    new = replace(new, in_zones=new.in_zones and not joined)
    return HeldAgainstCounts(plan.shown_by(new), followed, anyway, left, moved, suppressed, tried)


def _released_cells(plan: Plan, level_of: np.ndarray, series: Series | None) -> ReleasedCells:
    in_zones = plan.counted.in_zones
    return ReleasedCells(
        plan.profile_of_records, plan.levels, plan.classes_at_levels, plan.k, level_of, in_zones, series, plan.in_part
    )


def _losses(cells: ReleasedCells, areas: Areas, loss: str) -> list[np.ndarray]:
    """Of each level what a record loses in each region; where values are coarser, more than any geography."""
    own = [LOSSES[loss](areas, cells.profile, crosswalk) for crosswalk in cells.levels.crosswalks]
    most = max(float(of_level.max(initial=0.0)) for of_level in own) + 1.0
    return [
        of_level + most * number
        for of_level, number in zip(own, np.cumsum([of is not None for of in cells.class_of], dtype=np.int64))
    ]


def _suppressed_by_totals(plan: Plan, tables: Sequence[CountTable], progress: Progress, ties: Ties) -> Plan:
    """The plan, with the fewest classes suppressed that the totals of coarsest regions tell of.

    Of a table these are known whose zones lie in one region and make up all of it.
    """
    coarsest = plan.levels.crosswalks[-1]
    groupings = [_by_class(table.group_of) for table in tables if table.is_full and _adds_up(table, coarsest)]
    return hold_against_totals(plan, groupings, progress, ties)[0]


def _adds_up(table: CountTable, coarsest: Crosswalk) -> bool:
    inside = (coarsest.region_of >= 0) | (table.zone_of >= 0)
    pairs = np.unique(np.column_stack([table.zone_of[inside], coarsest.region_of[inside]]), axis=0)
    return bool((pairs >= 0).all() and len(pairs) == len(np.unique(pairs[:, 0])))


def _by_class(group_of: np.ndarray) -> np.ndarray:
    """The totals in which classes count; those of which a table says nothing, each in one of its own."""
    return np.where(
        group_of >= 0, group_of, int(group_of.max(initial=NONE)) + 1 + np.arange(len(group_of), dtype=np.int64)
    )


def _holding(plan: Plan, level_of: np.ndarray, requirement: Requirement | None) -> np.ndarray:
    """The level of each cell once what is asked of equivalence classes holds of those that were joined, too."""
    series = None if requirement is None else requirement.series
    if requirement is not None and series is not None:
        if plan.level_of is None:
            return keep_together(with_levels(plan, level_of), requirement).levels_of_cells
        return together(plan.profile, plan.levels, level_of, requirement, series)
    if requirement is None or not requirement.asks_for_more or plan.level_of is None:
        return level_of
    return promote(plan.profile, plan.levels, level_of, requirement.holds)


def _mended(
    cells: ReleasedCells,
    tables: Sequence[CountTable],
    losses: Sequence[np.ndarray],
    progress: Progress,
    ties: Ties,
) -> tuple[np.ndarray, tuple[int, int, int, int]]:
    """The level of each cell, and how many counts followed, follow anyway, are left, and were looked at."""
    divisions = [table.group_of for table in tables] + [of for of in cells.class_of if of is not None]
    blocks = blocks_of(divisions, len(cells.profile.classes))
    storeys = Storeys(
        cells.levels.region_of, cells.class_of, cells.k, cells.in_zones, cells.bounded, cells.mates, cells.areas_first
    )
    new, numbers = cells.level_of.copy(), np.zeros(4, np.int64)
    for done, classes in enumerate(blocks):
        work = _Work(cells, tables, classes, storeys, losses, ties)
        work.mend(part(progress, done / len(blocks), (done + 1) / len(blocks)))
        work.write(new)
        numbers += (work.n_followed, work.n_anyway, work.n_left, work.n_tried)
        progress((done + 1) / len(blocks))
    followed, anyway, left, tried = (int(number) for number in numbers)
    return new, (followed, anyway, left, tried)


@dataclass(frozen=True)
class _Way:
    """Equivalence classes to move up one after the other, (level, region, group), and what that loses."""

    loss: float
    steps: tuple[tuple[int, int, int], ...]


class _Work:
    """The classes of one block, mended."""

    def __init__(
        self,
        of_release: ReleasedCells,
        tables: Sequence[CountTable],
        classes: np.ndarray,
        storeys: Storeys,
        losses: Sequence[np.ndarray],
        ties: Ties,
    ) -> None:
        counts = of_release.profile.counts
        self.losses, self.ties = losses, ties
        self.cells = np.flatnonzero(np.isin(counts.indices, classes))
        position = np.empty(counts.shape[1], np.int64)
        position[classes] = np.arange(len(classes), dtype=np.int64)
        self.at = (area_of_cells(of_release.profile)[self.cells], position[counts.indices[self.cells]])
        people = np.zeros((counts.shape[0], len(classes)), np.int64)
        people[self.at] = counts.data[self.cells]
        levels = np.full(people.shape, SUPPRESSED, np.int8)
        levels[self.at] = of_release.level_of[self.cells]
        self.block = Block(people, levels, storeys, tables, classes)
        self.n_tried = self.n_followed = self.n_anyway = self.n_left = 0
        self._progress: Progress = silent

    def write(self, level_of: np.ndarray) -> None:
        """Write the level of each cell of the block into those of all."""
        level_of[self.cells] = self.block.level_of[self.at]

    def mend(self, progress: Progress = silent) -> None:
        """Move up what must, until nothing of the block follows that does not follow anyway; progress raises to
        cancel."""
        self._progress = progress
        settled: set[tuple[bytes, bytes]] = set()
        classes: np.ndarray | None = None
        for turn, of_turn in zip(range(MOST_ROUNDS), halves(progress)):
            looking, hiding = part(of_turn, 0.0, LOOKING), part(of_turn, LOOKING, 1.0)
            asked = asked_about(self.block, classes, part(looking, 0.0, 0.0))
            disclosed = [count for count in open_of(self.block, asked, looking) if count.key not in settled]
            anyway = follows_anyway(self.block, disclosed)
            settled.update(count.key for count, is_so in zip(disclosed, anyway) if is_so)
            self.n_anyway += sum(anyway)
            ours = [count for count, is_so in zip(disclosed, anyway) if not is_so]
            if not turn:
                self.n_tried, self.n_followed = sum(map(len, asked)), len(ours)
            if not ours:
                return
            before = self.block.level_of.copy()
            self.block.stronger = False
            order = sorted(ours, key=lambda count: (-count.places.level, count.area, count.class_of))
            for done, count in enumerate(order):
                hiding(done / len(order))
                if not self._hidden(count):
                    settled.add(count.key)
                    self.n_left += 1
            classes = None if self.block.stronger else (before != self.block.level_of).any(axis=0)
        self.n_left += sum(count.key not in settled for count in following(self.block, None, part(progress, 1.0, 1.0)))

    def _hidden(self, count: Open) -> bool:
        """Move up what hides a count; whether that could be done."""
        done: list[tuple[_Way, list[Change]]] = []
        while not is_free(self.block, count, also=self._touched(done)):
            way = self._cheapest(count, len(done) < MOST_LOOSENED)
            if way is None:
                return False
            if not way.steps:
                break
            for step in self._one_by_one(way):
                changes = self._do(step)
                if changes:
                    done.append((step, changes))
        if len(done) > 1:
            self._without_what_need_not_be(done, count)
        return True

    def _cheapest(self, count: Open, loosened: bool) -> _Way | None:
        """What to move up next for a count: the cheapest that frees it of what is tried, or what may help to; nothing
        where it is free as it is."""
        several, frees = self._loosened(count) if loosened else (None, False)
        if several is not None and not several.steps:
            return several
        ways = self._by_loss(self._ways(count))
        if several is not None and frees:
            single = self._first_that_frees(
                [way for way in ways[:MOST_TRIED] if way.loss < several.loss], count, FEW_TRIED
            )
            return several if single is None else single
        if not ways:
            return several
        chosen = self._first_that_frees(ways[:MOST_TRIED], count, MANY_TRIED)
        if chosen is None:
            more = self._by_loss(self._with_company(ways[:MANY_TRIED], count))
            chosen = self._first_that_frees(more[:MOST_TRIED], count, MANY_TRIED)
        if chosen is None:
            chosen = ways[0] if several is None else several
        return chosen

    def _loosened(self, count: Open) -> tuple[_Way | None, bool]:
        """The equivalence classes that the cheapest tables of people miss, and whether without them a count is free."""
        block, best = self.block, None
        areas = areas_around(block, count.places, count.number, AREAS_LOOSENED)
        for some in (areas, np.arange(block.n, dtype=np.int64)):
            every = loosened(block, count.places, count.number, some, self._price)
            for way in self._by_loss(self._way_without(sums) for sums in every):
                changes = self._do(way)
                if not changes:
                    if not way.steps and freed_within(block, count.places, count.number, some):
                        return way, True  # more areas than `is_free` looks at
                    continue
                frees = is_free(block, count, 0) or (
                    not are_flows(block) and freed_within(block, count.places, count.number, some)
                )
                block.take_back(changes)
                if frees:
                    return way, True
                best = way if best is None else best
        return best, False

    def _way_without(self, sums: Sequence[tuple[int, int, int]]) -> _Way:
        """The equivalence classes of these sums of levels moved up, those of the last level suppressed."""
        last = len(self.block.released) - 1
        loss, steps = 0.0, []
        for level, region, group in sums:
            loss += float(self._price(level, np.array([region], np.int64), np.array([group], np.int64))[0])
            # All that is shown within joins there first, and then it is suppressed.
            steps += [(level, region, group)] * (2 if level == last else 1)
        return _Way(loss, tuple(steps))

    def _price(self, level: int, region: np.ndarray, group: np.ndarray) -> np.ndarray:
        """What it loses to tell sums of a level no more: to show their classes one level up, or no more."""
        block, last = self.block, len(self.block.released) - 1
        if level == last:
            return OF_A_SUPPRESSED_RECORD * block.families[last].low[region, group]
        released = block.released[level][region, group]
        target, around, its = level + 1, block.parent[level][region], block.groups_at(level, level + 1)[group]
        lost = self.losses[target][around] - self.losses[level][region]
        if block.storeys.zones:
            # What no region shows tells nothing of its own; the rest joins the next region around that shows the class.
            goes_on = np.ones(len(region), bool)
            while target < last:
                goes_on &= block.released[target][around, its] == 0
                around, its = block.parent[target][around], block.groups_at(target, target + 1)[its]
                target += 1
                lost = np.where(goes_on, self.losses[target][around] - self.losses[level][region], lost)
            return np.maximum(released * lost, LEAST_LOSS)
        return np.maximum(np.where(released > 0, released, block.k) * lost, LEAST_LOSS)

    def _one_by_one(self, way: _Way) -> list[_Way]:
        """The steps of a way, each a way of its own."""
        each = {step: way.steps.count(step) for step in way.steps}
        losses = [
            float(self._price(step[0], np.array([step[1]], np.int64), np.array([step[2]], np.int64))[0])
            for step in each
        ]
        return [_Way(loss, (step,) * times) for loss, (step, times) in zip(losses, each.items())]

    def _touched(self, done: Sequence[tuple[_Way, list[Change]]]) -> np.ndarray:
        """Some areas of what was moved up."""
        levels = self.block.level_of
        at = [np.atleast_1d(at[0]) for _, changes in done for array, at, _ in changes if array is levels]
        return np.unique(np.concatenate([np.empty(0, np.int64), *at]))[:AREAS_AROUND]

    def _without_what_need_not_be(self, done: list[tuple[_Way, list[Change]]], count: Open) -> None:
        """Take back the moves without which a count is hidden too, the dearest first."""
        touched = self._touched(done)
        for _, changes in reversed(done):
            self.block.take_back(changes)
        kept = [way for way, _ in done]
        for way in sorted(kept, key=lambda way: -way.loss):
            fewer = [other for other in kept if other is not way]
            changes = [change for other in fewer for change in self._do(other)]
            if is_free(self.block, count, also=touched):
                kept = fewer
            self.block.take_back(changes)
        for way in kept:
            self._do(way)

    def _by_loss(self, ways: Iterable[_Way]) -> list[_Way]:
        """The ways, the cheapest first; of the same loss by chance where ties are secret."""
        every = list(ways)
        return [every[i] for i in np.lexsort((ranks(len(every), self.ties), np.array([way.loss for way in every])))]

    def _first_that_frees(self, ways: Sequence[_Way], count: Open, by_programs: int) -> _Way | None:
        """The cheapest way that frees a count: by an exchange at once, or of the first few by any table of people."""
        for number, way in enumerate(ways):
            self._progress(0.0)  # raises to cancel
            changes = self._do(way)
            if not changes:
                continue
            frees = is_free(
                self.block, count, AREAS_AROUND if number < by_programs else 0, self._touched([(way, changes)]), True
            )
            self.block.take_back(changes)
            if frees:
                return way
        return None

    def _do(self, way: _Way) -> list[Change]:
        changes: list[Change] = []
        last = len(self.block.released) - 1
        for level, region, group in way.steps:
            if self.block.released[level][region, group] or (
                level == last and self.block.families[level].low[region, group]
            ):
                changes += self.block.moved_up(level, region, group)
        return changes

    def _ways(self, count: Open) -> Iterator[_Way]:
        """Equivalence classes that show people of the areas of a count, moved up beyond these areas."""
        block, last = self.block, len(self.block.released) - 1
        areas = count.places.areas(count.number)
        for level in range(last + 1):
            region = np.unique(block.storeys.region_of[level][areas])
            region = region[region >= 0]
            released = block.released[level][region]
            at, of = np.nonzero(released)
            for own, group in zip(region[at].tolist(), of.tolist()):
                beyond = max(level, count.places.level)
                for target in range(beyond + 1, min(beyond + 3, last) + 1):
                    yield self._way_up(level, own, group, target)
                if beyond == last:
                    around = block.region_at(level, own, last)
                    yield self._way_without([(last, around, int(block.groups_at(level, last)[group]))])

    def _way_up(self, level: int, region: int, group: int, target: int) -> _Way:
        """An equivalence class moved up to a level."""
        block, before = self.block, self.losses[level][region]
        records, steps = int(block.released[level][region, group]), []
        for between in range(level, target):
            steps.append((between, region, group))
            region, group = int(block.parent[between][region]), block.group_above(between, group)
        return _Way(records * float(self.losses[target][region] - before), tuple(steps))

    def _with_company(self, ways: Sequence[_Way], count: Open) -> Iterator[_Way]:
        """Ways together with another equivalence class of the class, of other areas, moved up to the same region."""
        block = self.block
        inside = np.zeros(block.n, bool)
        inside[count.places.areas(count.number)] = True
        for way in ways:
            level, region, group = way.steps[-1]
            if level + 1 == len(block.released):
                continue
            target, around = level + 1, int(block.parent[level][region])
            its = block.group_above(level, group)
            others = []
            for fine in range(target):
                own = np.unique(block.storeys.region_of[fine][(block.storeys.region_of[target] == around) & ~inside])
                at, of = np.nonzero(block.released[fine][own] * (block.groups_at(fine, target) == its))
                others += [self._way_up(fine, int(own[i]), int(j), target) for i, j in zip(at, of)]
            for other in sorted(others, key=lambda other: other.loss)[:MOST_SIBLINGS]:
                yield _Way(way.loss + other.loss, (*way.steps, *other.steps))
