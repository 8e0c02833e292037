"""What an update may show of places and of their values: each step recounted place by place, in plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vbas.core.releases.holding_back import _beside
from vbas.core.releases.identical_rows import numbers_of_identical
from vbas.core.releases.keeping import NOBODY, Places, families
from vbas.core.releases.keeping import _Work as Keeping
from vbas.core.releases.update_said import say_what_changed
from vbas.core.releases.updating import FURTHER, UPDATED, Changed, Update
from vbas.core.releases.valued import (
    People,
    PlacesByValue,
    Wanted,
    by_changes,
    levels_with_values,
    n_rare,
    of_one_value,
)
from vbas.core.releases.valued import _Work as Valued

from ..each import for_each_seed

K, MANY = 3, np.iinfo(np.int64).max
N_PLACES, N_VALUES = (7, 4, 2), 4
PARTS = np.array([[0, 0, 1, 1], [0, 1, 1, 2]])  # of each value what it is in two fields


def drawn_work(rng, wanted=None):
    """Three levels of places, of which some are in none around, people with values there, and what was released."""
    wanted = Wanted(K) if wanted is None else wanted
    n_people, n_releases = int(rng.integers(10, 70)), int(rng.integers(1, 4))
    parents = [rng.integers(-1 if rng.random() < 0.3 else 0, N_PLACES[level + 1], N_PLACES[level]) for level in (0, 1)]
    parents.append(np.full(N_PLACES[2], NOBODY))
    value = rng.choice(N_VALUES, n_people, p=[0.5, 0.3, 0.1, 0.1])
    place = [rng.integers(0, N_PLACES[0], n_people)]
    for parent in parents[:2]:
        place.append(np.where(place[-1] >= 0, parent[place[-1]], NOBODY))
    # Everybody had the same values before, but for a few who came, left or have others now.
    earlier = [
        np.where(rng.random(n_people) < 0.1, rng.integers(0, N_VALUES, n_people), value) for _ in range(n_releases)
    ]
    levels, by_value = [], []
    grids = []
    for level in range(3):
        grid = np.zeros((N_PLACES[level], N_VALUES, 1 + 2 * n_releases), np.int64)
        there = place[level] >= 0
        np.add.at(grid, (place[level][there], value[there], 0), 1)
        grids.append(grid)
    for release, of in enumerate(earlier):
        shown = rng.integers(0, 4, n_people)  # 3 for nowhere
        gone = rng.random(n_people) < 0.05
        for level in range(3):
            there = (place[level] >= 0) & ~gone
            np.add.at(
                grids[level], (place[level][there & (shown == level)], of[there & (shown == level)], 1 + release), 1
            )
            inside = there & (shown <= level)
            np.add.at(grids[level], (place[level][inside], of[inside], 1 + n_releases + release), 1)
    position = [np.full((N_PLACES[level], N_VALUES), NOBODY) for level in range(3)]
    for level, grid in enumerate(grids):
        of, values = np.nonzero(grid.any(axis=2))
        position[level][of, values] = np.arange(len(of))
        released, within = grid[..., 1 : 1 + n_releases], grid[..., 1 + n_releases :]
        people = grid[..., 0].sum(axis=1)
        levels.append(
            Places(np.arange(N_PLACES[level]), people, parents[level], released.sum(axis=1), within.sum(axis=1))
        )
        pairs = grid[of, values]
        parts = tuple(part[values] for part in PARTS)
        by_value.append(
            PlacesByValue(of, values, pairs[:, 0], of, pairs[:, 1 : 1 + n_releases], pairs[:, 1 + n_releases :], parts)
        )
    for level in range(3):  # now that all positions are known
        own = by_value[level]
        up = levels[level].parent[own.place]
        around = position[level + 1][up, own.value] if level < 2 else np.full(len(up), NOBODY)
        by_value[level] = replace(own, parent=np.where(up >= 0, around, NOBODY))
    pair_of = [np.where(at >= 0, position[level][at, value], NOBODY) for level, at in enumerate(place)]
    work = Valued(levels, by_value, People(place, pair_of), wanted, rng)
    shown = rng.integers(0, 5, n_people)
    for level in range(3):  # what is shown so far
        for pair in pair_of[level][(shown == level) & (pair_of[level] >= 0)].tolist():
            work.values[level][pair] += 1
        for pair in pair_of[level][(shown <= level) & (pair_of[level] >= 0)].tolist():
            work.values_within[level][pair] += 1
        np.add.at(work.released[level], by_value[level].place, work.values[level])
        np.add.at(work.within[level], by_value[level].place, work.values_within[level])
    return work


def wanted_of(seed):
    of_values = Wanted(K, l_diversity=2), Wanted(K, max_share=33.0), Wanted(K, max_share=60.0)
    return (Wanted(K), Wanted(K, identical_rows=True), *of_values)[seed % 5]


def is_asked_of_values(wanted):
    return wanted.l_diversity == 2 or wanted.max_share in (33.0, 60.0)


def pairs_of(work, level, place):
    return np.flatnonzero(work.by_value[level].place == place).tolist()


def of_k(work, number):
    return number if not work.wanted.identical_rows or number >= K else 0


def shown_below(work, level, pair):
    if level == 0:
        return 0
    parent = work.by_value[level - 1].parent
    return sum(int(work.values_within[level - 1][at]) for at in np.flatnonzero(parent == pair))


def free_of(work, level, place):
    return {
        at: of_k(work, int(work.by_value[level].people[at]) - shown_below(work, level, at))
        for at in pairs_of(work, level, place)
    }


def as_before(work, level, place, people, fewer_than, all_within):
    """The most, of fewer, that an earlier release showed there, and that could be shown again."""
    places, by_value = work.places[level], work.by_value[level]
    most = 0
    for release in range(places.released.shape[1]):
        number = int((places.within if all_within else places.released)[place, release])
        valued = by_value.within if all_within else by_value.released
        common = sum(min(n, int(valued[at, release])) for at, n in people.items())
        if common == number < fewer_than:
            most = max(most, number)
    return most


def goal_of(work, level, place, values, now, all_within):
    """At most how many a place may show where what it shows tells of a few."""
    places, by_value, goal = work.places[level], work.by_value[level], now
    own = pairs_of(work, level, place)
    people = {at: of_k(work, int(by_value.people[at])) for at in own} if all_within else free_of(work, level, place)
    for release in range(places.released.shape[1]):
        before = int((places.within if all_within else places.released)[place, release])
        valued = {at: int((by_value.within if all_within else by_value.released)[at, release]) for at in own}
        came = [at for at in own if values[at] > valued[at]]
        left = [at for at in own if values[at] < valued[at]]
        n_came, n_left = (sum(abs(int(values[at]) - valued[at]) for at in some) for some in (came, left))
        bad = 0 < n_came < K or 0 < n_left < K or 0 < abs(now - before) < K
        if is_asked_of_values(work.wanted):
            for part in by_value.parts:
                bad |= any(len({int(part[at]) for at in some}) == 1 for some in (came, left))
        if not bad or not before or not now:
            continue
        common = sum(min(people[at], valued[at]) for at in own)
        back = before if common == before < now else min(common, before - K)
        goal = min(goal, max(min(back, now - 1), 0))
    return max(goal, as_before(work, level, place, people, now, all_within)) if goal < now else goal


@for_each_seed(25)
def test_how_many_a_place_may_show_beside_what_was_released(seed):
    work = drawn_work(np.random.default_rng(seed), wanted_of(seed))
    n_lower = 0
    for level in range(3):
        for all_within, values, now in (
            (False, work.values[level], work.released[level]),
            (True, work.values_within[level], work.within[level]),
        ):
            goal = work._goal(level, values, now, all_within)
            assert goal.tolist() == [
                goal_of(work, level, place, values, int(now[place]), all_within) for place in range(N_PLACES[level])
            ]
            n_lower += int((goal < now).sum())
    assert n_lower


@for_each_seed(25)
def test_how_many_each_place_shows_at_most_at_first(seed):
    work = drawn_work(np.random.default_rng(seed), wanted_of(seed))
    for level, (places, by_value) in enumerate(zip(work.places, work.by_value)):
        expected = []
        open_to = np.array([of_k(work, int(n)) for n in by_value.people], np.int64)
        for place in range(N_PLACES[level]):
            own, before = pairs_of(work, level, place), int(places.within[place, -1])
            people = int(open_to[own].sum())
            common = sum(min(int(open_to[at]), int(by_value.within[at, -1])) for at in own)
            lacks = before > 0 and common < before and people < before + K
            if lacks and goal_of(work, level, place, open_to, people, True) < people:
                again = as_before(work, level, place, {at: int(open_to[at]) for at in own}, people + 1, True)
                people = max(min(common, before - K), again)
            expected.append(people)
        assert work._first_caps(level).tolist() == expected


@for_each_seed(25)
def test_who_is_shown_before_others(seed):
    work = drawn_work(np.random.default_rng(seed), wanted_of(seed))
    for level, (places, by_value) in enumerate(zip(work.places, work.by_value)):
        n_releases = places.released.shape[1]
        below = work._values_below(level)
        assert below.tolist() == [shown_below(work, level, at) for at in range(len(by_value.place))]
        in_turn = work._in_turn(level, below)
        assert len(in_turn) == 1 + n_releases
        for place in range(N_PLACES[level]):
            free = free_of(work, level, place)
            again = [
                release
                for release in range(n_releases)
                if 0 < places.released[place, release] == work.released[level][place]
                and sum(min(n, int(by_value.released[at, release])) for at, n in free.items())
                == places.released[place, release]
            ]
            order = sorted(
                range(n_releases),
                key=lambda of: (places.within[place, of] != work.within[level][place], places.within[place, of], -of),
            )
            for at in free:
                assert in_turn[0][at] == (by_value.released[at, again[-1]] if again else 0)
                assert [of[at] for of in in_turn[1:]] == [by_value.within[at, of] - below[at] for of in order]


def lacks_values(work, level, place):
    """Whether too few values are shown, or one of too many."""
    for part in work.by_value[level].parts if is_asked_of_values(work.wanted) else ():
        shown: dict[int, int] = {}
        for at in pairs_of(work, level, place):
            if work.values[level][at]:
                shown[int(part[at])] = shown.get(int(part[at]), 0) + int(work.values[level][at])
        if len(shown) < work.wanted.l_diversity:
            return True
        if max(shown.values()) * 100 > work.wanted.max_share * int(work.released[level][place]):
            return True
    return False


@for_each_seed(35)
def test_where_something_tells_of_a_few_less_is_shown_next(seed):
    rng = np.random.default_rng(seed)
    work = drawn_work(rng, wanted_of(seed))
    for level in range(3):
        work.caps[level] = work.within[level] + rng.integers(0, 3, N_PLACES[level])
    top = families(work.places)
    some = [of for of in np.unique(np.concatenate(top)).tolist() if rng.random() < 0.7]
    goals: list[list[int]] = []
    for level in range(3):
        goals.append([MANY] * N_PLACES[level])
        for place in range(N_PLACES[level]):
            released, within = int(work.released[level][place]), int(work.within[level][place])
            if top[level][place] not in some:
                continue
            goal = goal_of(work, level, place, work.values[level], released, False)
            goal = 0 if released and lacks_values(work, level, place) else goal
            if goal < released:
                goals[level][place] = within - released + goal
            total = goal_of(work, level, place, work.values_within[level], within, True)
            if total < within:
                goals[level][place] = min(goals[level][place], total)
    wrong, caps = set(), [of.copy() for of in work.caps]
    for level in (2, 1, 0):
        for place in range(N_PLACES[level]):
            if goals[level][place] >= work.within[level][place]:
                continue
            wrong.add(int(top[level][place]))
            if work.released[level][place]:
                caps[level][place] = min(caps[level][place], goals[level][place])
            elif level:
                finer = [
                    at
                    for at in np.flatnonzero(work.places[level - 1].parent == place).tolist()
                    if work.within[level - 1][at]
                ]
                if finer:
                    largest = max(finer, key=lambda at: (work.within[level - 1][at], -at))
                    need = int(work.within[level][place]) - goals[level][place]
                    less = max(int(work.within[level - 1][largest]) - need, 0)
                    goals[level - 1][largest] = min(goals[level - 1][largest], less)
    assert work.lowered(np.array(some, np.int64)).tolist() == sorted(wrong)
    assert [of.tolist() for of in work.caps] == [of.tolist() for of in caps]


@for_each_seed(8)
def test_who_is_shown_is_as_many_as_are_to_be_and_those_of_an_earlier_release_first(seed):
    rng = np.random.default_rng(seed)
    work = drawn_work(rng)
    top = families(work.places)
    work.show(np.unique(np.concatenate(top)))
    for level in range(3):
        place, pair = work.people.place[level], work.people.pair[level]
        waits = (place >= 0) & ((work.level_of < 0) | (work.level_of >= level))
        here = work.level_of == level
        assert (place[here] >= 0).all()
        assert np.bincount(place[here], minlength=N_PLACES[level]).tolist() == work.released[level].tolist()
        assert np.bincount(pair[here], minlength=len(work.values[level])).tolist() == work.values[level].tolist()
        below = np.array([shown_below(work, level, at) for at in range(len(work.values[level]))])
        assert (work.values_within[level] == work.values[level] + below).all()
        in_turn = work._in_turn(level, below)[0]
        for of in range(N_PLACES[level]):
            own = pairs_of(work, level, of)
            first = {at: min(int(in_turn[at]), int((pair[waits] == at).sum())) for at in own}
            if sum(first.values()) >= work.released[level][of]:
                assert all(work.values[level][at] <= first[at] for at in own)
            else:
                assert all(work.values[level][at] >= first[at] for at in own)


def test_nothing_is_shown_of_families_that_are_to_show_nothing():
    work = drawn_work(np.random.default_rng(3))
    some = np.unique(np.concatenate(work.top))[::2]
    work.show_nothing(some)
    work.show(np.unique(np.concatenate(work.top)))
    for top, caps, released in zip(work.top, work.caps, work.released):
        assert not caps[np.isin(top, some)].any() and not released[np.isin(top, some)].any()
    assert any(released.any() for released in work.released)


def test_how_far_it_has_come_rises_to_the_end():
    work, fractions = drawn_work(np.random.default_rng(5)), [0.0]
    level_of = levels_with_values(
        work.places, work.by_value, work.people, work.wanted, np.random.default_rng(0), fractions.append
    )
    assert len(fractions) > 1 and all(before < after < 1 for before, after in zip(fractions, fractions[1:]))
    assert (level_of >= 0).any()


def test_what_values_tell_of_who_came_and_left():
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(1, 9))
        now, before, place = rng.integers(0, 4, n), rng.integers(0, 4, n), np.sort(rng.integers(0, 3, n))
        came, left = by_changes(now, before, place, 4)
        some, part = rng.random(n) < 0.5, rng.integers(0, 2, n)
        one = of_one_value(some, part, place, 4)
        for of in range(4):
            here = place == of
            assert came[of] == sum(max(a - b, 0) for a, b in zip(now[here], before[here]))
            assert left[of] == sum(max(b - a, 0) for a, b in zip(now[here], before[here]))
            assert one[of] == (len(set(part[here & some].tolist())) == 1)


@for_each_seed(8)
def test_how_many_have_rare_values(seed):
    rng = np.random.default_rng(seed)
    place, value = rng.integers(-1, 6, 40), rng.integers(0, 4, 40)
    together = list(zip(place.tolist(), value.tolist()))
    rare = sum(of >= 0 and together.count((of, own)) < K <= place.tolist().count(of) for of, own in together)
    assert 0 < rare == n_rare(place, value, K)


def test_where_fewer_live_than_were_shown_in_a_place_or_around_it():
    """As many are not fewer."""

    def level(people, within, parent):
        n = len(people)
        return Places(
            np.arange(n), np.array(people), np.array(parent), np.zeros((n, 1), int), np.array(within)[:, None]
        )

    finest, around = level([4, 5, 6, 5], [5, 5, 5, 5], [0, 1, 0, NOBODY]), level([9, 9], [9, 10], [NOBODY, NOBODY])
    assert _beside([finest]).tolist() == [True, False, False, False]
    assert _beside([finest, around]).tolist() == [True, True, False, False]


@for_each_seed(12)
def test_values_of_rows_that_look_alike_add_up_to_the_most_that_can_be(seed):
    """By trying all numbers of each value, of which each is nobody, or k and more."""
    rng = np.random.default_rng(seed)
    for _ in range(6):
        n, k = int(rng.integers(1, 4)), int(rng.integers(2, 4))
        place, around = np.zeros(n, np.int64), rng.random(1) < 0.5
        free, total = rng.integers(0, 9, n), int(rng.integers(0, 15))
        numbers = numbers_of_identical(
            place, free, [np.zeros(n, np.int64)], np.array([total]), around, k, rng.random(n)
        )
        sums = {0}
        for people in free.tolist():  # where nothing is around, who is not shown is not shown anywhere
            left = people - (k if around[0] else 0)
            choices = {0, *(number for number in range(k, people + 1) if number == people or number <= left)}
            sums = {one + number for one in sums for number in choices if number == 0 or people >= k}
        assert all(number == 0 or k <= number <= people for number, people in zip(numbers.tolist(), free.tolist()))
        assert numbers.sum() == max(one for one in sums if one <= total)


# ---- how many are kept, without values


def drawn_keeping(rng):
    work = drawn_work(rng)
    keeping = Keeping(work.places, K, rng)
    keeping.released, keeping.within = work.released, work.within
    return keeping


def right(number, earlier):
    """Whether a number changes by nobody or by k, beside all earlier ones."""
    return all(not number or not one or number == one or abs(number - one) >= K for one in earlier.tolist())


def around_of(keeping, level, place):
    """The places around one, itself first: level and place."""
    while place >= 0 and level < 3:
        yield level, place
        place, level = int(keeping.levels[level].parent[place]), level + 1


@for_each_seed(16)
def test_changes_of_a_place_and_of_all_around_it(seed):
    rng = np.random.default_rng(seed)
    keeping = drawn_keeping(rng)
    for level in range(3):
        spare = keeping._spare(level).tolist()
        for place in range(N_PLACES[level]):
            left = [
                int(keeping.levels[at].people[of] - keeping.within[at][of])
                for at, of in around_of(keeping, level, place)
            ]
            assert spare[place] == min(left)
            shown = min(int(keeping.within[at][of]) for at, of in around_of(keeping, level, place))
            for more in (some for some in (-K, -1, 1, K - 1, K, 2 * K) if shown + some >= 0):
                for until in (None, 2):
                    fits = keeping._fits(level, np.array([place]), np.array([more]), until)
                    assert fits.tolist() == [
                        all(
                            right(int(keeping.within[at][of]) + more, keeping.levels[at].within[of])
                            for at, of in around_of(keeping, level, place)
                            if until is None or at < until
                        )
                    ]
                now = int(keeping.released[level][place]) + more
                if now >= 0:
                    label = keeping._label_fits(level, np.array([place]), np.array([more]))
                    assert label.tolist() == [
                        now == 0 or (now >= K and right(now, keeping.levels[level].released[place]))
                    ]


@for_each_seed(16)
def test_where_people_of_others_come_from(seed):
    rng = np.random.default_rng(seed)
    keeping = drawn_keeping(rng)
    keeping.released = [of + rng.integers(0, 2 * K + 1, len(of)) for of in keeping.released]
    tops = np.arange(N_PLACES[2])
    expected = []
    for top in tops.tolist():
        inside = [
            (-level, -int(keeping.released[level][place]), place)
            for level in (0, 1)
            for place in range(N_PLACES[level])
            if keeping.released[level][place] >= 2 * K and (2, top) in around_of(keeping, level, place)
        ]
        expected.append([(-level, place) for level, _, place in sorted(inside)])
    for number in range(9):
        level, at = keeping._source(tops, number)
        assert list(zip(level.tolist(), at.tolist())) == [
            of[number] if number < len(of) else (NOBODY, NOBODY) for of in expected
        ]


@for_each_seed(16)
def test_who_is_moved_and_taken(seed):
    """As many as fit, and all that is shown around them is counted again."""
    rng = np.random.default_rng(seed)
    keeping = drawn_keeping(rng)
    n_taken = 0
    for level, source in ((0, 1), (0, 2), (1, 2)):
        for place in range(N_PLACES[level]):
            path = dict(around_of(keeping, level, place))
            before = [of.copy() for of in keeping.released], [of.copy() for of in keeping.within]
            most = min([int(keeping.left(at)[path[at]]) if at in path else 0 for at in range(level, source)])
            most = min(most, int(keeping.released[source][path[source]]) if source in path else 0, 3 * K)
            expected = 0
            for more in range(most, K - 1, -1):
                now, rest = int(before[0][level][place]) + more, int(before[0][source][path[source]]) - more
                fits = right(now, keeping.levels[level].released[place]) and now >= K
                fits &= rest == 0 or (rest >= K and right(rest, keeping.levels[source].released[path[source]]))
                fits &= all(
                    right(int(before[1][at][path[at]]) + more, keeping.levels[at].within[path[at]])
                    for at in range(level, source)
                )
                if fits:
                    expected = more
                    break
            assert keeping._taken(level, np.array([place]), source).tolist() == [expected > 0]
            n_taken += expected > 0
            for at in range(3):
                released, within = before[0][at], before[1][at]
                if expected and at == level:
                    released[place] += expected
                if expected and at == source:
                    released[path[at]] -= expected
                if expected and level <= at < source:
                    within[path[at]] += expected
                assert keeping.released[at].tolist() == released.tolist()
                assert keeping.within[at].tolist() == within.tolist()
    assert n_taken or seed


@for_each_seed(16)
def test_where_nothing_changed_nobody_is_gathered(seed):
    """Whoever is shown in a larger region stays there, though k live in a smaller one, until the class changes."""
    rng = np.random.default_rng(seed)
    keeping = drawn_keeping(rng)
    stay = rng.random(sum(N_PLACES)) < 0.5
    same = [stay[top] for top in keeping.top]
    for places, released, within, as_it_was in zip(keeping.levels, keeping.released, keeping.within, same):
        released[as_it_was], within[as_it_was] = places.released[as_it_was, -1], places.within[as_it_was, -1]
    before = [of.copy() for of in keeping.released]
    keeping.gather()
    for now, was, as_it_was in zip(keeping.released, before, same):
        assert now[as_it_was].tolist() == was[as_it_was].tolist()


class Told:
    """A log that keeps what it is told."""

    def __init__(self):
        self.infos: list[str] = []
        self.warnings: list[str] = []

    def info(self, *sentences):
        self.infos += sentences

    def warn(self, *sentences):
        self.warnings += sentences


@pytest.mark.parametrize("kind", [UPDATED, FURTHER])
@pytest.mark.parametrize(("up", "lost"), [(0, 0), (6, 4), (7, 4), (1, 10)])
def test_what_is_said_of_an_update_is_in_the_log_and_in_the_report(kind, up, lost):
    """Of 100 records; that another series shows more is a warning, where more than 10 % are moved or suppressed."""
    log = Told()
    said = say_what_changed(Changed(5, 4, 3, 2, up, lost, 100), Update(0, kind), 3, K, log)
    assert [*log.infos, *log.warnings] == list(said)
    for figures in ("shows: 12;", "were: 5;", "values: 4;", "no more: 3.", "New ones: 2.", "fewer than 3, came"):
        assert figures in " ".join(said)
    assert ["new series" in sentence for sentence in log.warnings] == [True] * (up + lost > 10)
    assert any("stand" in sentence and "beside" in sentence for sentence in log.infos) == (kind == FURTHER)
    assert any("takes the place" in sentence for sentence in log.infos) == (kind == UPDATED)
