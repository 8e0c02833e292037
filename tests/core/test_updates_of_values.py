"""Updates that show a sensitive field: nobody who has all months learns of a few who came or left by their values."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import Levels, make_levels
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.keeping import Places
from vbas.core.releases.updating import FOLLOWED, HELD_BACK, SHOWN, Update
from vbas.core.releases.valued import People, PlacesByValue, Wanted, levels_with_values

from .nested_cases import random_levels
from .rows_told import assert_no_few_came_or_left, carried, told

CLASSES, ILL = np.array(["u", "v"], dtype=object), np.array(["flu", "cold", None], dtype=object)
Person = tuple[int, int, int]  # area, class, value


def town_of(people: list[Person], areas: Areas, counted: bool = False) -> Records:
    """Records of people, who show what they have."""
    rows = sorted(set(people)) if counted else people
    counts = np.array([people.count(row) for row in rows], np.int64) if counted else None
    area = column_from_values([areas.identifiers[a] for a, _, _ in rows])
    ill = Column(np.array([value for _, _, value in rows], np.int64), ILL)
    shown = {"q": Column(np.array([of for _, of, _ in rows], np.int64), CLASSES)}
    return match_records(RecordTable(area, shown, {"ill": ill}, counts, sensitive=("ill",)), areas)


@st.composite
def towns(draw):
    """Areas, levels, k, what is asked of values, the people of several months, whether rows stand for several of them,
    and what becomes of rare values."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(2, 6)), draw(st.integers(2, 4))
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 99, (n, 2)).astype(float), np.ones(n))
    levels = random_levels(areas, rng, draw(st.integers(1, 3)), draw(st.booleans()))
    rare = draw(st.sampled_from([0.1, 0.5]))

    def person() -> Person:
        return int(rng.integers(n)), int(rng.random() < 0.3), int((rng.random(2) < rare).sum())

    months = [[person() for _ in range(draw(st.integers(3 * k, 90)))]]
    for _ in range(draw(st.integers(1, 3))):
        stay = [one for one in months[-1] if rng.random() < 0.95]
        moved = [(int(rng.integers(n)), *one[1:]) if rng.random() < 0.04 else one for one in stay]
        months.append(moved + [person() for _ in range(rng.integers(0, 9))])
    asked = draw(st.sampled_from([{}, {"l_diversity": 2}, {"max_share": 70.0}]))
    months = [month for month in months if len(month) >= k]
    return areas, levels, k, asked, months, draw(st.booleans()), draw(st.sampled_from(FOLLOWED))


def accounts_of(case):
    """The release of each month, which carries on the one before."""
    areas, levels, k, asked, months, counted, followed = case
    return carried(areas, levels, k, [town_of(month, areas, counted) for month in months], followed, **asked)


@pytest.mark.slow
@settings(max_examples=15)
@given(towns())
def test_no_few_came_or_left_by_their_values_between_any_two_months(case):
    _, _, k, asked, _, _, _ = case
    assert_no_few_came_or_left([told(account, ["ill"]) for account in accounts_of(case)], k, [0] if asked else [])


@pytest.mark.slow
@settings(max_examples=15)
@given(towns())
def test_each_month_shows_people_of_now_with_their_values_as_diverse_as_asked(case):
    _, levels, k, asked, months, _, _ = case
    for month, account in zip(months, accounts_of(case)):
        shown = told(account, ["ill"])
        for (what, level, region, code), values in shown.items():
            inside = levels.crosswalks[level].region_of
            there = [(repr(ILL[v]),) for a, c, v in month if c == code and inside[a] == region]
            assert not values - Counter(there)
            if what == "label":
                assert values.total() >= k and len(values) >= asked.get("l_diversity", 1)
                assert 100 * max(values.values()) <= asked.get("max_share", 100.0) * values.total() * (1 + 1e-9)
        n_shown = sum(values.total() for (what, *_), values in shown.items() if what == "label")
        assert account.measures.n_suppressed == len(month) - n_shown


@pytest.mark.slow
@settings(max_examples=10)
@given(towns())
def test_who_has_not_changed_is_shown_as_before(case):
    """Of classes in coarsest regions of which all are shown; of others somebody is held back now and then."""
    areas, levels, k, asked, months, counted, _ = case
    accounts = accounts_of((areas, levels, k, asked, [months[0], months[0]], counted, SHOWN))
    top, last = levels.crosswalks[-1].region_of, len(levels) - 1
    there = Counter((int(top[a]), c) for a, c, _ in months[0] if top[a] >= 0)
    all_shown = [
        key[2:]
        for account in accounts[:1]
        for key, values in told(account, ["ill"]).items()
        if key[:2] == ("all", last) and values.total() == there[key[2:]]
    ]

    def of_these(account):
        around = {
            key: (int(top[np.argmax(levels.crosswalks[key[1]].region_of == key[2])]), key[3])
            for key in told(account, ["ill"])
        }
        return {key: values for key, values in told(account, ["ill"]).items() if around[key] in all_shown}

    assert len(accounts) != 1 and all(of_these(account) == of_these(accounts[0]) for account in accounts)


def halved(side: int) -> tuple[Areas, Levels]:
    """Areas on a grid, and levels of regions each twice as large as those before, up to all of it."""
    x, y = np.divmod(np.arange(side * side), side)
    areas = make_areas([f"a{i}" for i in range(side * side)], np.column_stack([x, y]).astype(float), np.ones(side**2))
    sides = range(2 * (side - 1).bit_length() + 1)
    parts = [np.unique((x >> (step + 1) // 2) * side + (y >> step // 2), return_inverse=True)[1] for step in sides]
    return areas, make_levels(areas, [Crosswalk(part, int(part.max()) + 1) for part in parts])


@pytest.mark.slow
@pytest.mark.parametrize(("followed", "n_updates"), [(HELD_BACK, 1), (SHOWN, 3)])
def test_a_class_that_cannot_stay_does_not_take_all_of_its_kind_with_it(followed, n_updates, monkeypatch):
    """Of a few regions it is seen again and again that one fewer must be shown; the others are shown meanwhile.

    Who is drawn is the same in each run: with these draws all of the town were suppressed once.
    """
    areas, levels = halved(16)
    drawn = np.random.default_rng
    rng = drawn(3)
    months = [np.column_stack([rng.integers(0, 256, 20_000), np.zeros(20_000, int), rng.choice(3, 20_000)])]
    for _ in range(n_updates):
        month = months[-1].copy()
        moves, changes = rng.random((2, len(month))) < 0.02
        month[moves, 0], month[changes, 2] = rng.integers(0, 256, moves.sum()), rng.choice(3, changes.sum())
        months.append(month)
    towns = [town_of([tuple(person) for person in month.tolist()], areas) for month in months]
    monkeypatch.setattr(np.random, "default_rng", lambda *seed: drawn(*(seed or (1,))))
    accounts = carried(areas, levels, 5, towns, followed)
    assert len(accounts) == n_updates + 1
    assert max(account.measures.n_suppressed for account in accounts) < 1_000


def shown_of(people: np.ndarray, earlier: np.ndarray, k: int, seed: int, wanted: Wanted | None = None) -> np.ndarray:
    """What regions of one level show of a class, (K, V) by value; people : (K, V); earlier : (K, V, R)."""
    n, n_values = people.shape
    sums, none = people.sum(axis=1), np.full(n, -1)
    before = earlier.sum(axis=1)
    pair = np.arange(n * n_values)
    place, value = np.divmod(pair, n_values)
    by_value = earlier.reshape(n * n_values, -1)
    of_level = PlacesByValue(place, value, people.reshape(-1), np.full(len(pair), -1), by_value, by_value, (value,))
    each = np.repeat(pair, people.reshape(-1))
    level_of = levels_with_values(
        [Places(np.arange(n), sums, none, before, before)],
        [of_level],
        People([place[each]], [each]),
        Wanted(k) if wanted is None else wanted,
        np.random.default_rng(seed),
    )
    return np.bincount(each[level_of == 0], minlength=len(pair)).reshape(n, n_values)


@pytest.mark.parametrize(("k", "most"), [(2, 4), (3, 3)])
def test_who_knows_the_method_cannot_rule_out_that_all_are_shown(k, most):
    """Every series of three months of a class with two values. Whatever is shown, the people who are shown would be
    shown so if they were all there are; and between these months nobody came or left, or k and more."""
    people = np.array(list(product(range(most + 1), repeat=6))).reshape(-1, 2, 3)
    first = people[:, :, 0] * (people[:, :, 0].sum(axis=1) >= k)[:, None]
    shown = first[:, :, None]
    for month in (1, 2):
        now = shown_of(people[:, :, month], shown, k, month)
        assert (now == shown_of(now, shown, k, 7)).all()
        for before in np.moveaxis(shown, 2, 0):
            both = (now.sum(axis=1) > 0) & (before.sum(axis=1) > 0)
            for change in (now - before, before - now):
                number = np.maximum(change[both], 0).sum(axis=1)
                assert not ((number > 0) & (number < k)).any()
        shown = np.concatenate([shown, now[:, :, None]], axis=2)
    assert (shown[:, :, 2].sum(axis=1) > 0).mean() > 0.2


def test_a_value_that_is_lacking_takes_k_along_and_a_stand_in_with_the_same_value_none():
    """k = 3, 7 with flu and 2 with a cold. One with flu left and one with flu came: as before. One with flu left and
    one with a cold came: 6 or fewer remain, and no more of either value than before."""
    before = np.array([[7, 2], [7, 2], [7, 2]])[:, :, None]
    same, lacking, many = shown_of(np.array([[7, 2], [6, 3], [6, 12]]), before, 3, 0)
    assert same.tolist() == [7, 2]
    assert lacking.sum() == 6 and (lacking <= [6, 2]).all()
    assert many.sum() <= 6 or (many - [7, 2]).max() >= 3


def test_as_many_are_shown_as_an_older_release_showed_where_that_can_be_shown_again():
    """k = 3. Of 5 with flu and 4 with a cold now 4 and 4 were shown first, and then 1 and 10: all but one are shown."""
    before = np.array([[[4, 1], [4, 10]]])
    (shown,) = shown_of(np.array([[5, 4]]), before, 3, 0)
    assert shown.tolist() == [4, 4]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ({}, [[4, 0], [3, 1], [2, 2]]),
        ({"l_diversity": 2}, [[0, 0], [3, 1], [2, 2]]),
        ({"max_share": 50}, [[0, 0]] * 2 + [[2, 2]]),
    ],
)
def test_where_values_are_asked_for_a_region_shows_them_or_nothing(asked, shown):
    people = np.array([[4, 0], [3, 1], [2, 2]])
    for months in (1, 2):  # in which nobody was shown
        assert shown_of(people, np.zeros((3, 2, months), np.int64), 3, 0, Wanted(3, **asked)).tolist() == shown


def test_what_is_not_known_of_values_is_refused():
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    town = town_of([(0, 0, i % 3) for i in range(9)], areas)
    bare = match_records(replace(town.table, kept={}, sensitive=()), areas)
    plain = anonymise(areas, bare, levels, Ask(3, earlier=Earlier([]))).published
    with_ill = anonymise(areas, town, levels, Ask(3, earlier=Earlier([]))).published
    assert plain is not None and with_ill is not None
    ill = town.table.kept["ill"]
    who, twice = column_from_values(list("abcdefghi")), column_from_values(list("abcdefghh"))
    both = {"kept": {"ill": ill, "job": ill}, "sensitive": ("ill", "job")}
    for before, changes, words in (
        (with_ill, both, "does not keep what its rows showed in “ill” and “job”"),
        (plain, {}, "does not keep what its rows showed in “ill”"),
        (replace(with_ill, of_persons=True), {}, "counts persons, who may have several rows"),
        (with_ill, {"members": {"persons": twice}}, "1 row is of a person who has another"),
        (with_ill, {"members": {"households": who}}, "not households"),
    ):
        ask = Ask(3, earlier=Earlier([before]), update=Update(0))
        with pytest.raises(InputError, match=words):
            anonymise(areas, match_records(replace(town.table, **changes), areas), levels, ask)
    # An update is known to show nothing that the register does not keep.
    ask = Ask(3, earlier=Earlier([with_ill]), update=Update(0))
    without = anonymise(areas, bare, levels, ask).published
    assert without is not None and without.updates == (0, Update(0).kind)
    later = anonymise(areas, town, levels, replace(ask, earlier=Earlier([with_ill, without]), update=Update(1)))
    assert later.release.n_records == 9
    again = anonymise(areas, match_records(replace(town.table, members={"persons": who}), areas), levels, ask)
    assert again.release.n_records == 9 and not any("counts rows" in note for note in again.notes)
