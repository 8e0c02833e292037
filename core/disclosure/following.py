"""Small counts that follow from a release and the tables of counts that others publish."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dataclass import dataclass
from ..progress import Progress, silent
from .block import Block
from .block_flows import are_flows, freed_by_flows
from .exchanges import Exchanges, Places, freed_beyond, freed_by_exchange, left_places_of, places_of
from .undecided import freed_around, freed_by_programs, proven_to_follow

AREAS_AROUND = 24
# Unknowns of a program and turns: for what is open at first, and for the rest.
BEFORE_FLOWS, AT_ONCE, MOST_AT_ONCE = (2_500, 1), (2_500, 3), (20_000, 2)


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

    classes : (u,) bool, those of which something moved up since all counts were free: only what is left of regions is
    new then; None for all counts; progress : raises to cancel
    """
    asked = places_of(block) if classes is None else left_places_of(block, classes)
    exchanges = Exchanges(block, None if classes is None else np.flatnonzero(classes))
    left = [places.some(np.flatnonzero(~freed_beyond(exchanges, block, places))) for places in asked]
    if are_flows(block):
        left = _without(left, freed_by_programs(block, left, BEFORE_FLOWS, progress))
        coarser = [places.group_of is not None for places in left]
        left = _without(left, freed_by_flows(block, left, progress))
        freed = [
            _freed_one_by_one(block, places, progress) if of_groups else np.zeros(len(places), bool)
            for places, of_groups in zip(left, coarser)
        ]
    else:
        left = _without(left, freed_by_programs(block, left, AT_ONCE, progress))
        left = _without(left, [freed_by_exchange(block, places) for places in left])
        left = _without(left, [_freed_one_by_one(block, places, progress) for places in left])
        freed = freed_by_programs(block, left, MOST_AT_ONCE, progress)
    counts: dict[tuple[bytes, bytes], Open] = {}
    for places, done in zip(left, freed):
        for number in np.flatnonzero(~done).tolist():
            count = Open(places, number)
            counts.setdefault(count.key, count)
    return list(counts.values())


def _without(places: Sequence[Places], free: Sequence[np.ndarray]) -> list[Places]:
    return [some.some(np.flatnonzero(~done)) for some, done in zip(places, free)]


def _freed_one_by_one(block: Block, places: Places, progress: Progress) -> np.ndarray:
    freed = np.zeros(len(places), bool)
    for at in range(len(places)):
        progress(at / len(places))  # a program for each: they may be many
        freed[at] = freed_around(block, places, at, AREAS_AROUND)
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
    if are_flows(block):
        if freed_by_flows(block, [count.places.some(np.array([count.number], np.int64))], nearby=nearby)[0][0]:
            return True
        if count.places.group_of is None:
            return False
    if freed_by_exchange(block, count.places.some(np.array([count.number], np.int64)))[0]:
        return True
    return n_areas > 0 and freed_around(block, count.places, count.number, n_areas, also)


def follows_anyway(block: Block, counts: Sequence[Open]) -> list[bool]:
    """Whether each count is proven to follow from the tables alone, whatever is released."""
    alone = block.by_tables_alone()
    anyway = np.array([not is_free(alone, count) for count in counts], bool)
    some = [(counts[number].places, counts[number].number) for number in np.flatnonzero(anyway).tolist()]
    anyway[anyway] = proven_to_follow(alone, some)
    return [bool(is_so) for is_so in anyway]
