"""What an update shows of a sensitive field: between any two releases the people of an equivalence class who are told
to have come, or to have gone, by their values too, are nobody or at least k.

An equivalence class may have as many people as before, and a value one more and another one less: that is one who left
and one who came. So an equivalence class stays only where people with the same values live there still, and else loses
k or more at once, as where somebody leaves whom nobody replaces. The same is asked of all who are shown in a region or
in one within.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import turns
from ..dataclass import dataclass
from ..plan import SUPPRESSED
from ..privacy.diversity import Tally
from ..progress import Progress, silent
from .identical_rows import enough, numbers_of_identical
from .keeping import NOBODY, Places, families, kept, largest

# Times that an equivalence class shows as many fewer as it has to: one alone could go on so for ever, and its family
# with it. Then it shows nothing, and a region around shows its people; where there is none, k fewer, 2 k, and so on.
MOST_LOWERED = 4
MOST_TURNS = 64  # in which a family of regions may show fewer and fewer, before it shows nothing
MOST_LOOKS = 4  # at an equivalence class of which no numbers of its values add up to what it may show


@dataclass(frozen=True, eq=False)
class PlacesByValue:
    """The places of one level by value: P pairs of a place and a value that anybody has there now, or had.

    A value is what a row shows in all its fields beside quasi-identifiers together.

    place, value : (P,) int64, ascending; people : (P,) int64, who live there now and have it
    parent : (P,) int64, the position of the same value at the place around, NOBODY for none
    released : (P, R) int64, what each earlier release shows with this equivalence class; within : (P, R), and in the
    regions within
    parts : for each sensitive field (P,) int64, which of its values that is
    """

    place: np.ndarray
    value: np.ndarray
    people: np.ndarray
    parent: np.ndarray
    released: np.ndarray
    within: np.ndarray
    parts: Sequence[np.ndarray] = ()


@dataclass(frozen=True)
class Wanted:
    """What is asked of the values of an equivalence class.

    k : the smallest equivalence class and the smallest change; l_diversity : its values; max_share : of one of them,
    per cent
    identical_rows : whether each row of an equivalence class looks like k - 1 others of it
    """

    k: int
    l_diversity: int = 1
    max_share: float = 100.0
    identical_rows: bool = False

    @property
    def of_values(self) -> bool:
        """Whether anything is asked of values, so that k people and more of one value are given away, too."""
        return self.l_diversity > 1 or self.max_share < 100


@dataclass(frozen=True, eq=False)
class People:
    """N people of now. place : by level (N,) int64, where each lives, NOBODY for no region; pair : by level (N,) int64,
    the position of place and value in PlacesByValue"""

    place: Sequence[np.ndarray]
    pair: Sequence[np.ndarray]


def levels_with_values(
    places: Sequence[Places],
    by_value: Sequence[PlacesByValue],
    people: People,
    wanted: Wanted,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> np.ndarray:
    """The level at which each person is shown, (N,) int8, SUPPRESSED for none.

    places, by_value : by level, the finest first; rng : draws who is shown, among those with the same value each as
    likely as the others, and which place is the first to show newcomers
    """
    work = _Work(places, by_value, people, wanted, rng)
    families = np.unique(np.concatenate(work.top))
    turn = 0
    while len(families):
        if turn >= MOST_TURNS:
            work.show_nothing(families)
        work.show(families)
        families = work.lowered(families)
        turn += 1
        progress(1.0 - 0.8**turn)
    return work.level_of


def n_rare(place: np.ndarray, value: np.ndarray, k: int) -> int:
    """How many people have values that fewer than k of their place have, where k and more are.

    place : (N,) of each person the class in the largest region around, NOBODY for none; value : (N,) what a row shows
    """
    inside = place >= 0
    _, of, people = np.unique(place[inside], return_inverse=True, return_counts=True)
    n_values = int(value.max(initial=0)) + 1
    _, pair, with_value = np.unique(of.reshape(-1) * n_values + value[inside], return_inverse=True, return_counts=True)
    return int(((with_value[pair.reshape(-1)] < k) & (people[of.reshape(-1)] >= k)).sum())


def by_changes(now: np.ndarray, before: np.ndarray, place: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Of n places the people who came and who left by what values tell: two (n,).

    now, before, place : (P,), of each value of a place
    """
    more, fewer = np.maximum(now - before, 0), np.maximum(before - now, 0)
    return np.bincount(place, more, n).astype(np.int64), np.bincount(place, fewer, n).astype(np.int64)


def of_one_value(some: np.ndarray, part: np.ndarray, place: np.ndarray, n: int) -> np.ndarray:
    """Of n places whether all of some rows show the same value of a field, (n,) bool; not so where there are none.

    some : (P,) bool, of each value of a place; part : (P,) which value of the field that is
    """
    least, largest = np.full(n, np.iinfo(np.int64).max, np.int64), np.full(n, NOBODY, np.int64)
    np.minimum.at(least, place[some], part[some])
    np.maximum.at(largest, place[some], part[some])
    return np.asarray(least == largest)


class _Work:
    """Places by value, and what they show so far."""

    def __init__(
        self,
        places: Sequence[Places],
        by_value: Sequence[PlacesByValue],
        people: People,
        wanted: Wanted,
        rng: np.random.Generator,
    ) -> None:
        self.places, self.by_value, self.people, self.wanted, self.rng = places, by_value, people, wanted, rng
        self.level_of = np.full(len(people.place[0]), SUPPRESSED, np.int8)
        self.released = [np.zeros(len(of_level), np.int64) for of_level in places]
        self.within = [np.zeros(len(of_level), np.int64) for of_level in places]
        self.values = [np.zeros(len(of_level.place), np.int64) for of_level in by_value]
        self.values_within = [np.zeros(len(of_level.place), np.int64) for of_level in by_value]
        self.top = families(places)
        self.priority = [rng.random(len(of_level.place)) for of_level in by_value]
        self.seed = int(rng.integers(2**62))
        self.caps = [self._first_caps(level) for level in range(len(places))]
        self.lowered_times = [np.zeros(len(of_level), np.int64) for of_level in places]

    def _first_caps(self, level: int) -> np.ndarray:
        """The people of each place, or fewer where these cannot all be shown, nor as many as before, as a value is
        lacking."""
        places, by_value, k = self.places[level], self.by_value[level], self.wanted.k
        open_to = self._of_k(by_value.people)
        people = self._by_place(level, open_to)
        before = places.within[:, -1]
        common = self._common(level, open_to, by_value.within[:, -1])
        lacks = (before > 0) & (common < before) & (people < before + k)
        lacks &= self._goal(level, open_to, people, True) < people
        back = np.maximum(np.minimum(common, before - k), self._as_before(level, open_to, people + 1, True))
        return np.where(lacks, back, people)

    def _of_k(self, people: np.ndarray) -> np.ndarray:
        """The people of each value whom an equivalence class may show: none of fewer than k, where rows have to be
        alike."""
        return enough(people, self.wanted.k) if self.wanted.identical_rows else people

    def _free(self, level: int, below: np.ndarray) -> np.ndarray:
        """The people of each value whom an equivalence class may show, of those whom no finer level shows."""
        return self._of_k(self.by_value[level].people - below)

    def _common(self, level: int, people: np.ndarray, before: np.ndarray) -> np.ndarray:
        """People of each place whom an earlier release could have shown with their values, (K,)."""
        return self._by_place(level, np.minimum(people, before))

    def _as_before(self, level: int, people: np.ndarray, fewer_than: np.ndarray, all_within: bool) -> np.ndarray:
        """The most, of fewer, that an earlier release showed of each place and that could be shown again, (K,)."""
        places, by_value = self.places[level], self.by_value[level]
        before, valued = (places.within, by_value.within) if all_within else (places.released, by_value.released)
        most = np.zeros(len(places), np.int64)
        for number, of_value in zip(before.T, valued.T):
            there = (self._common(level, people, of_value) == number) & (number < fewer_than)
            most = np.maximum(most, np.where(there, number, 0))
        return most

    def show_nothing(self, families: np.ndarray) -> None:
        """Let some families of regions show nothing."""
        for caps, top in zip(self.caps, self.top):
            caps[np.isin(top, families)] = 0

    def show(self, families: np.ndarray) -> None:
        """Work out what the places of some families show, and draw who is shown there."""
        some = [np.flatnonzero(np.isin(top, families)) for top in self.top]
        parts = []
        for level, at in enumerate(some):
            places, parent = self.places[level], self.places[level].parent[at]
            own = np.full(len(at), NOBODY, np.int64)
            if level < len(some) - 1:
                own = np.where(parent >= 0, np.searchsorted(some[level + 1], parent), NOBODY)
            caps = self.caps[level][at]
            parts.append(Places(places.key[at], caps, own, places.released[at], places.within[at]))
        rng = np.random.default_rng(self.seed) if self.wanted.identical_rows else self.rng
        numbers = kept(parts, self.wanted.k, rng)
        for level, at in enumerate(some):
            self.released[level][at], self.within[level][at] = numbers.released[level], numbers.within[level]
        outermost = np.full(len(self.level_of), NOBODY, np.int64)
        for place, top in reversed(list(zip(self.people.place, self.top))):
            outermost = np.where(place >= 0, top[place], outermost)
        waiting = np.flatnonzero(np.isin(outermost, families))
        self.level_of[waiting] = SUPPRESSED
        for level in range(len(self.places)):
            self._draw(level, waiting, some[level])
            waiting = waiting[self.level_of[waiting] == SUPPRESSED]

    def _draw(self, level: int, waiting: np.ndarray, some: np.ndarray) -> None:
        """Draw who of those who wait is shown at some places of a level."""
        by_value, n = self.by_value[level], len(self.by_value[level].place)
        here = waiting[self.people.place[level][waiting] >= 0]
        below = self._values_below(level)
        pair = self.people.pair[level][here]
        order = np.lexsort((self.rng.random(len(here)), pair))
        here, pair = here[order], pair[order]
        rank = turns(pair)
        in_turn = self._in_turn(level, below)
        if self.wanted.identical_rows:
            in_turn = [self._identical(level, in_turn, below, some)]
        first = np.full(len(here), len(in_turn), np.int64)
        for turn, wanted in reversed(list(enumerate(in_turn))):
            first[rank < wanted[pair]] = turn
        place = by_value.place[pair]
        order = np.lexsort((self.rng.random(len(here)), first, place))
        here, pair, place = here[order], pair[order], place[order]
        chosen = (first[order] == 0) if self.wanted.identical_rows else turns(place) < self.released[level][place]
        self.level_of[here[chosen]] = level
        touched = np.isin(by_value.place, some)
        self.values[level][touched] = np.bincount(pair[chosen], minlength=n)[touched]
        self.values_within[level][touched] = (below + self.values[level])[touched]
        if self.wanted.identical_rows:
            self.released[level][some] = self._by_place(level, self.values[level])[some]
            self.within[level][some] = self._by_place(level, self.values_within[level])[some]

    def _by_place(self, level: int, people: np.ndarray) -> np.ndarray:
        """The sum of each place, (K,); people : of each value of a place."""
        return np.bincount(self.by_value[level].place, people, len(self.places[level])).astype(np.int64)

    def _identical(self, level: int, in_turn: Sequence[np.ndarray], below: np.ndarray, some: np.ndarray) -> np.ndarray:
        """How many of each value equivalence classes show, each of nobody or of k and more; in all as many as they were
        to show, with what finer levels show less than they were to, or the most that may be below that."""
        places, by_value, k = self.places[level], self.by_value[level], self.wanted.k
        free, inside = self._free(level, below), self._by_place(level, below)
        people, around = self._by_place(level, free), places.parent >= 0
        number, lacks = np.zeros(len(by_value.place), np.int64), some
        limit = np.minimum(np.minimum(self.within[level], self.caps[level]) - inside, people)[some]
        for _ in range(MOST_LOOKS):
            asked = np.zeros(len(places), np.int64)
            most = largest(limit, inside[lacks], places.released[lacks], places.within[lacks], k)
            asked[lacks] = np.maximum(most, 0)
            homogeneous = numbers_of_identical(by_value.place, free, in_turn, asked, around, k, self.priority[level])
            number = np.where(np.isin(by_value.place, lacks), homogeneous, number)
            released_there = self._by_place(level, number)
            lacks = lacks[released_there[lacks] < asked[lacks]]
            limit = released_there[lacks]
        return number

    def _values_below(self, level: int) -> np.ndarray:
        """Who is shown in the regions within each place, by value."""
        n = len(self.by_value[level].place)
        if level == 0:
            return np.zeros(n, np.int64)
        parent = self.by_value[level - 1].parent
        inside = parent >= 0
        return np.bincount(parent[inside], self.values_within[level - 1][inside], n).astype(np.int64)

    def _in_turn(self, level: int, below: np.ndarray) -> list[np.ndarray]:
        """How many of each value are shown before others, in turn: those of a release that shows as many with the
        equivalence class; of one that shows as many there and within; of the others, the smallest first. (P,) each."""
        places, by_value = self.places[level], self.by_value[level]
        n_releases = places.released.shape[1]
        number = np.arange(n_releases, dtype=np.int64)
        there = [self._common(level, self._free(level, below), of_release) for of_release in by_value.released.T]
        same = (
            (places.released == self.released[level][:, None])
            & (places.released > 0)
            & (np.transpose(there) == places.released)
        )
        last = np.where(same, number, NOBODY).max(axis=1, initial=NOBODY)[by_value.place]
        own = np.where(last >= 0, by_value.released[np.arange(len(last), dtype=np.int64), last], 0)
        other = places.within != self.within[level][:, None]
        order = np.lexsort((-np.broadcast_to(number, other.shape), places.within, other), axis=1)[by_value.place]
        return [
            own,
            *(
                by_value.within[np.arange(len(own), dtype=np.int64), order[:, turn]] - below
                for turn in range(n_releases)
            ),
        ]

    def lowered(self, families: np.ndarray) -> np.ndarray:
        """The families of which something tells of a few, or shows too few values, after their caps were lowered."""
        wrong = [np.zeros(0, np.int64)]
        goals = []
        for level, top in enumerate(self.top):
            goal = self._goal(level, self.values[level], self.released[level], False)
            goal[self._lacks_values(level)] = 0
            total = self._goal(level, self.values_within[level], self.within[level], True)
            below = self.within[level] - self.released[level]
            goals.append(np.where(np.isin(top, families), np.minimum(below + goal, total), self.within[level]))
        for level in reversed(range(len(self.places))):
            higher = np.flatnonzero(goals[level] < self.within[level])
            wrong.append(self.top[level][higher])
            own = higher[self.released[level][higher] > 0]
            self.lowered_times[level][own] += 1
            beyond = np.maximum(self.lowered_times[level][own] - MOST_LOWERED, 0)
            outermost = self.places[level].parent[own] == NOBODY
            fewer = np.where(outermost | (beyond == 0), np.maximum(goals[level][own] - self.wanted.k * beyond, 0), 0)
            self.caps[level][own] = np.minimum(self.caps[level][own], fewer)
            if level:
                self._hand_down(level, higher[self.released[level][higher] == 0], goals)
        return np.unique(np.concatenate(wrong))

    def _hand_down(self, level: int, places: np.ndarray, goals: Sequence[np.ndarray]) -> None:
        """Where a place shows nothing itself, ask the place within that shows most to show as much less."""
        finer = level - 1
        parent = self.places[finer].parent
        inside = np.flatnonzero(np.isin(parent, places) & (self.within[finer] > 0))
        inside = inside[np.lexsort((-self.within[finer][inside], parent[inside]))]
        largest = inside[np.flatnonzero(np.diff(parent[inside], prepend=NOBODY))]
        need = self.within[level][parent[largest]] - goals[level][parent[largest]]
        goals[finer][largest] = np.minimum(goals[finer][largest], np.maximum(self.within[finer][largest] - need, 0))

    def _goal(self, level: int, values: np.ndarray, now: np.ndarray, all_within: bool) -> np.ndarray:
        """At most how many a place may show where its values tell of a few beside an earlier release, (K,); as many as
        it does where they do not. all_within : of all who are shown there or within, else of the equivalence class."""
        places, by_value, k = self.places[level], self.by_value[level], self.wanted.k
        people = self._of_k(by_value.people) if all_within else self._free(level, self._values_below(level))
        goal = now.copy()
        for release in range(places.released.shape[1]):
            before = (places.within if all_within else places.released)[:, release]
            valued = (by_value.within if all_within else by_value.released)[:, release]
            came, left = by_changes(values, valued, by_value.place, len(now))
            bad = ((came > 0) & (came < k)) | ((left > 0) & (left < k))
            if self.wanted.of_values:
                for part in by_value.parts:
                    bad |= of_one_value(values > valued, part, by_value.place, len(now))
                    bad |= of_one_value(values < valued, part, by_value.place, len(now))
            bad |= (now != before) & (np.abs(now - before) < k)
            bad &= (before > 0) & (now > 0)
            common = self._common(level, people, valued)
            back = np.where((common == before) & (now > before), before, np.minimum(common, before - k))
            goal = np.where(bad, np.minimum(goal, np.maximum(np.minimum(back, now - 1), 0)), goal)
        return np.where(goal < now, np.maximum(goal, self._as_before(level, people, now, all_within)), goal)

    def _lacks_values(self, level: int) -> np.ndarray:
        """Whether an equivalence class shows other values than are asked for, (K,) bool."""
        some, by_value = np.flatnonzero(self.values[level] > 0), self.by_value[level]
        lacks = np.zeros(len(self.released[level]), bool)
        for part in by_value.parts if self.wanted.of_values else ():
            width = int(part.max(initial=0)) + 1
            keys, at = np.unique(by_value.place[some] * width + part[some], return_inverse=True)
            number = np.bincount(at.reshape(-1), self.values[level][some], len(keys)).astype(np.int64)
            tally = Tally(*np.divmod(keys, width), number, number, np.maximum(self.released[level], 1))
            lacks |= tally.largest_share() > self.wanted.max_share * (1 + 1e-12)
            if self.wanted.l_diversity > 1:
                lacks |= tally.fewest_values() < self.wanted.l_diversity
        return lacks & (self.released[level] > 0)
