"""Small counts that follow from a release and the tables of counts that others publish."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..dataclass import dataclass
from ..progress import Progress, part, silent
from .block import Block
from .block_flows import are_flows, freed_by_flows
from .exchanges import Places, freed_by_exchange, left_places_of, places_of
from .moves import freed_by_moves
from .undecided import freed_around, freed_by_programs, proven_to_follow

AREAS_AROUND = 24
# Unknowns of a program and turns: for what is open at first, and for the rest.
BEFORE_FLOWS, AT_ONCE, MOST_AT_ONCE = (2_500, 1), (2_500, 3), (20_000, 2)
BY_MOVES, OF_JOINED = 0.3, 0.65  # of the time, until so much is done


@dataclass(frozen=True, eq=False)
class Open:
    """A count that no table of people was found to free: one of `places`, by its number."""

    places: Places
    number: int

    @property
    def area(self) -> int:
        """The area that has most of its people."""
        return int(self.places.area[self.number])

    @property
    def class_of(self) -> int:
        """Its class, a position in the block."""
        return int(self.places.class_of[self.number])

    @property
    def people(self) -> int:
        """How many people it counts."""
        return int(self.places.people[self.number])

    @property
    def key(self) -> tuple[bytes, bytes]:
        """What tells it from counts of other people."""
        return self.places.inside(self.number).tobytes(), self.places.classes(self.number).tobytes()


def following(block: Block, classes: np.ndarray | None = None, progress: Progress = silent) -> list[Open]:
    """The counts of 1 to k - 1 people that follow, or of which it is not found that they do not.

    classes : as for `asked_about`
    """
    return open_of(block, asked_about(block, classes, part(progress, 0.0, 0.0)), progress)


def asked_about(block: Block, classes: np.ndarray | None = None, progress: Progress = silent) -> list[Places]:
    """The counts of 1 to k - 1 people that may follow.

    classes : (u,) bool, those of which something moved up since all counts were free: only what is left of regions is
    new then; None for all counts; progress : raises to cancel
    """
    asked = []
    for places in places_of(block) if classes is None else left_places_of(block, classes):
        progress(0.0)
        asked.append(places)
    return asked


def open_of(block: Block, asked: Sequence[Places], progress: Progress = silent) -> list[Open]:
    """Those of some counts that follow, or of which it is not found that they do not."""
    left = _without(asked, freed_by_moves(block, asked, part(progress, 0.0, BY_MOVES)))
    where = [_where_fewest(block, places) for places in left]
    freed = [np.zeros(len(places), bool) for places in left]
    for of, start, stop in ((block.joined().block, BY_MOVES, OF_JOINED), (block, OF_JOINED, 1.0)):
        numbers = [number for number, (own, _) in enumerate(where) if own is of]
        within = part(progress, start, stop)
        for number, done in zip(numbers, _freed(of, [where[number][1] for number in numbers], within)):
            freed[number] = done
    counts: dict[tuple[bytes, bytes], Open] = {}
    for places, done in zip(left, freed):
        for number in np.flatnonzero(~done).tolist():
            count = Open(places, number)
            counts.setdefault(count.key, count)
    return list(counts.values())


def _freed(block: Block, places: Sequence[Places], progress: Progress) -> list[np.ndarray]:
    """Which counts programs, flows and exchanges free, (q,) bool for each."""
    left = [np.arange(len(some), dtype=np.int64) for some in places]
    for look in _looks(block, progress):
        if not any(len(at) for at in left):
            break
        done = look([some.some(at) for some, at in zip(places, left)])
        left = [at[~free] for at, free in zip(left, done)]
    return [~np.isin(np.arange(len(some), dtype=np.int64), at) for some, at in zip(places, left)]


def _looks(block: Block, progress: Progress) -> Iterator[Callable[[Sequence[Places]], list[np.ndarray]]]:
    """What is asked of the counts that are left, one after the other."""
    first, second, third = (part(progress, look / 3, (look + 1) / 3) for look in range(3))
    if are_flows(block):
        yield lambda left: freed_by_programs(block, left, BEFORE_FLOWS, first)
        yield lambda left: freed_by_flows(block, left, second)
        yield lambda left: _freed_one_by_one(block, left, third, coarser_alone=True)
        return
    yield lambda left: freed_by_programs(block, left, AT_ONCE, first)
    yield lambda left: [freed_by_exchange(block, some) for some in left]
    yield lambda left: _freed_one_by_one(block, left, second)
    yield lambda left: freed_by_programs(block, left, MOST_AT_ONCE, third)


def _without(places: Sequence[Places], free: Sequence[np.ndarray]) -> list[Places]:
    return [some.some(np.flatnonzero(~done)) for some, done in zip(places, free)]


def _where_fewest(block: Block, places: Places) -> tuple[Block, Places]:
    """Where to ask about counts, and these: among as few areas as can be."""
    joined = block.joined()
    of_joined = places.joined(joined)
    return (block, places) if of_joined is None else (joined.block, of_joined)


def _freed_one_by_one(
    block: Block, places: Sequence[Places], progress: Progress, coarser_alone: bool = False
) -> list[np.ndarray]:
    """Which counts a program of its own frees; coarser_alone : whether only those of coarser classes are asked about"""
    freed = [np.zeros(len(some), bool) for some in places]
    asked = [number for number, some in enumerate(places) if some.group_of is not None or not coarser_alone]
    n_counts, done = sum(len(places[number]) for number in asked), 0
    for number in asked:
        for at in range(len(places[number])):
            progress(done / n_counts)
            freed[number][at] = freed_around(block, places[number], at, AREAS_AROUND)
            done += 1
    return freed


def is_free(
    block: Block,
    count: Open,
    n_areas: int = AREAS_AROUND,
    also: np.ndarray | None = None,
    nearby: bool = False,
) -> bool:
    """Whether some table of people frees a count, where these are no flows one that is much like the true one; n_areas,
    also : as for `freed_around`; nearby : as for `freed_by_flows`.
    """
    places = count.places.some(np.array([count.number], np.int64))
    joined, places = _where_fewest(block, places)
    if joined is not block:
        also, block = None if also is None else np.unique(block.joined().kind[also]), joined
    if are_flows(block):
        if freed_by_flows(block, [places], nearby=nearby)[0][0]:
            return True
        if places.group_of is None:
            return False
    if freed_by_exchange(block, places)[0]:
        return True
    return n_areas > 0 and freed_around(block, places, 0, n_areas, also)


def follows_anyway(block: Block, counts: Sequence[Open]) -> list[bool]:
    """Whether each count is proven to follow from the tables alone, whatever is released."""
    alone = block.by_tables_alone()
    anyway = np.array([not is_free(alone, count) for count in counts], bool)
    some = [counts[number] for number in np.flatnonzero(anyway).tolist()]
    where = [_where_fewest(alone, count.places.some(np.array([count.number], np.int64))) for count in some]
    proven = np.zeros(len(some), bool)
    for of in (alone, alone.joined().block):
        at = np.array([number for number, (own, _) in enumerate(where) if own is of], np.int64)
        proven[at] = proven_to_follow(of, [(where[number][1], 0) for number in at.tolist()])
    anyway[anyway] = proven
    return [bool(is_so) for is_so in anyway]
