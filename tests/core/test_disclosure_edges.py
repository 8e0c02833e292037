"""What an attacker is told by, on its edges: recounted by trying everything, or by plain loops."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.count_tables import MANY
from vbas.core.disclosure.counts import DISCLOSED_BY_VALUES
from vbas.core.disclosure.disclosed import find_disclosed
from vbas.core.disclosure.method_bounds import _bounds, _numbers
from vbas.core.disclosure.possible_tables import _convolved
from vbas.core.disclosure.programs import Problem, tables_of
from vbas.core.disclosure.published import publish
from vbas.core.disclosure.row_values import _n_rare, row_values_in
from vbas.core.disclosure.undecided import rows_of
from vbas.core.disclosure.values import KeptValues, Values, _text
from vbas.core.disclosure.zone_tables import Parts, Zones, _Open
from vbas.core.errors import InputError
from vbas.core.plan import suppress
from vbas.core.privacy.diversity import shares_of

from ..each import for_each_seed
from .release_cases import profile_over
from .test_exchanges import block_of
from .test_register_packs import release_of


def allowed(held):
    few, least, most = held
    return {*range(few + 1), *range(least, most + 1)}


@for_each_seed(40)
def test_bounds_of_parts_are_those_of_all_that_add_up(seed):
    rng = np.random.default_rng(seed)
    records = int(rng.integers(0, 12))
    held = []
    for _ in range(int(rng.integers(1, 4))):
        few, least = int(rng.integers(0, 5)), int(rng.integers(0, 9))
        held.append((few, least, least + int(rng.integers(-1, 4))) if rng.random() < 0.7 else (few, 0, -1))
    for own in held:
        assert set(_numbers(own)) == allowed(own)
    fitting = [some for some in product(*(sorted(allowed(own)) for own in held)) if sum(some) == records]
    low, high = _bounds(records, tuple(held))
    columns = list(zip(*fitting)) or [()] * len(held)
    assert low == [min(column, default=0) for column in columns]
    assert high == [max(column, default=records) for column in columns]


@for_each_seed(5)
def test_tables_fit_all_sums_and_say_of_which_unknowns_they_say_something(seed):
    rng = np.random.default_rng(seed)
    rows = (rng.random((3, 8)) < 0.4).astype(np.int64)
    rows[:, 6:] = 0  # of these two no sum is known
    high = rng.integers(1, 5, 8)
    sums = rows @ rng.integers(0, high + 1)
    nothing = sparse.csr_matrix((0, 8), dtype=np.int64)
    problem = Problem(sparse.csr_matrix(rows), sums, sums, np.zeros(8, np.int64), high, nothing, np.zeros(0, np.int64))
    tables = tables_of(problem)
    assert len(tables) > 2
    for table in tables:
        assert (rows @ table.people == sums).all() and (table.people >= 0).all() and (table.people <= high).all()
        assert not table.open.any()


@for_each_seed(6)
def test_rows_of_rare_values_are_those_of_fewer_than_k_of_their_class(seed):
    rng, release = np.random.default_rng(seed), release_of(seed)
    at = np.repeat(np.arange(len(release.records)), 4)
    value, number = np.tile(np.arange(4), len(release.records)), rng.integers(0, 3, len(at))
    here = number > 0
    values = Values("ill", np.array(["", "a", "b", "c"], object), at[here], value[here], number[here])
    release = replace(release, sensitive=(values,))
    assert row_values_in(release, ("ill",)) is values
    alike: Counter[tuple[int, int]] = Counter()
    rows = list(
        zip(release.class_of[values.equivalence_class].tolist(), values.value.tolist(), values.records.tolist())
    )
    for of, text, n in rows:
        alike[of, text] += n
    for k in (2, 5, 9):
        assert _n_rare(release, ("ill",), k) == sum(n for of, text, n in rows if alike[of, text] < k)


@for_each_seed(10)
def test_the_people_of_all_areas_are_bound_by_what_is_known_of_every_sum(seed):
    block = block_of(np.random.default_rng(seed))
    block.storeys = replace(block.storeys, bounded=True)
    block.build()
    areas = np.arange(block.n)
    for family in block.known:
        rows, low, high, *at = rows_of(block, family, areas)
        sums = rows @ block.people[areas][:, :-1].ravel()
        assert ((low <= sums) & (sums <= high)).all()
        assert (low == family.low[tuple(at)]).all() and (
            np.minimum(high, MANY) == np.minimum(family.high[tuple(at)], MANY)
        ).all()


def told(block):
    """What is known of all sums, and how far each may move."""
    return [
        [(family.low.copy(), family.high.copy(), family.down.copy(), family.up.copy()) for family in block.families],
        [shown.copy() for shown in block.released],
        block.level_of.copy(),
    ]


def same(one, other):
    return all(
        np.array_equal(mine, its)
        for mine, its in zip(
            (array for part in one[0] for array in part), (array for part in other[0] for array in part)
        )
    ) and all(np.array_equal(mine, its) for mine, its in zip([*one[1], one[2]], [*other[1], other[2]]))


@for_each_seed(25)
def test_what_moves_up_leaves_what_would_be_known_had_it_been_shown_so_from_the_beginning(seed):
    rng = np.random.default_rng(seed)
    block = block_of(rng)
    block.storeys = replace(block.storeys, bounded=bool(seed % 2))
    block.build()
    for _ in range(6):
        shown = [(level, *at) for level, of in enumerate(block.released) for at in np.argwhere(of > 0).tolist()]
        if not shown:
            break
        before, what = told(block), shown[int(rng.integers(len(shown)))]
        block.take_back(block.moved_up(*what))
        assert same(told(block), before)
        block.moved_up(*what)
        after = told(block)
        block.build()
        assert same(told(block), after)


def test_parts_and_rests_are_free_by_a_table_and_where_records_may_move_to_others_there():
    rng, k = np.random.default_rng(5), 4
    n_freed = n_kept = 0
    for _ in range(200):
        n_pairs = 6
        zone = np.sort(rng.integers(0, 2, n_pairs))
        zones = Zones(np.arange(2), np.zeros(2, int), zone, np.arange(n_pairs), np.zeros(n_pairs, int))
        table, spare = rng.integers(0, 4, n_pairs), rng.integers(0, 3, n_pairs)
        pairs = (rng.random((5, n_pairs)) < 0.5).astype(np.int64)
        of_zone = rng.integers(0, 2, 5)
        pairs *= zone[None] == of_zone[:, None]
        parts = Parts(sparse.csr_matrix(pairs), of_zone, np.full(5, -1), np.zeros(5, int), 5, 0, 5)
        whole = np.array([int(table[zone == of].sum()) for of in of_zone])
        by_table, open_ = (_Open(parts, whole, np.ones(5, bool), k) for _ in range(2))
        by_table.free(table)
        open_.free_by_room(table, spare, zones)
        for part in range(5):
            inside = pairs[part] > 0
            records, room, around = (
                int(table[inside].sum()),
                int(spare[inside].sum()),
                int(spare[zone == of_zone[part]].sum()),
            )
            rest = int(whole[part]) - records
            assert (by_table.parts[part], by_table.rests[part]) == (1 <= records < k, 1 <= rest < k)
            to_part, to_rest = min(rest, room), min(records, around - room)
            nobody, enough = records - to_rest <= 0, records + to_part >= k
            no_rest, enough_rest = rest - to_part <= 0, rest + to_rest >= k
            if spare.any():
                assert open_.parts[part] == (not nobody and not enough)
                assert open_.rests[part] == (not no_rest and not enough_rest)
            n_freed, n_kept = n_freed + (not open_.rests[part]), n_kept + bool(open_.rests[part])
    assert n_freed > 100 and n_kept > 30


def test_one_person_whom_values_alone_tell_is_told():
    """Who has a cold in a and b is not in a, and who is in d beside has what nobody has in a and b: one person in b, of
    whom numbers alone say nobody to three; and with that the one in c and the two in d."""
    counts, k = np.array([[3], [1], [1], [2]]), 3
    areas = make_areas(list("abcd"), [(float(i), 0.0) for i in range(4)], np.ones(4))
    profile = profile_over(counts, [("F",)], ("sex",))
    ill = np.array([0, 0, 0, 1, 0, 2, 2])
    shares = shares_of("ill", np.repeat(np.arange(4), counts[:, 0]), ill, np.ones_like(ill))
    values = [KeptValues(shares, np.array(["flu", "cold", "measles"], dtype=object))]
    releases = [
        publish(suppress(profile, Crosswalk(np.array(of), 1), k), areas, title, values)
        for title, of in (("a and b", [0, 0, -1, -1]), ("a and c", [0, -1, 0, -1]), ("b and d", [-1, 0, -1, 0]))
    ]
    found = [count for count in find_disclosed(releases).counts if count.kind == DISCLOSED_BY_VALUES]
    assert sorted((count.low, count.high) for count in found) == [(1, 1), (1, 1), (2, 2)]


def test_without_programs_nothing_of_two_releases_alike_is_open():
    """Four or more are shown in two areas each; what one shows less what the other shows is nobody."""
    areas = make_areas(list("abcd"), [(float(i), 0.0) for i in range(4)], np.ones(4))
    profile = profile_over(np.array([[4], [1], [3], [2]]), [("F",)], ("sex",))
    plan = suppress(profile, Crosswalk(np.array([0, 0, 1, 1]), 2), 4)
    found = find_disclosed([publish(plan, areas, title) for title in ("first", "second")], programs=False)
    assert (found.counts, found.n_undecided, found.n_by_programs) == ([], 0, 0)


def test_texts_of_quotes_stay_apart_from_an_empty_one_and_from_each_other():
    quotes = ["'" * n for n in range(9)]
    assert len({_text(text) for text in quotes}) == len(quotes)


def test_releases_of_other_places_are_not_held_against_each_other():
    profile, crosswalk = profile_over(np.array([[4], [4]]), [("F",)], ("sex",)), Crosswalk(np.arange(2), 2)
    releases = [
        publish(suppress(profile, crosswalk, 4), make_areas(list(names), [(0.0, 0.0), (9.0, 0.0)]), names)
        for names in ("ab", "cd")
    ]
    with pytest.raises(InputError, match="no area in common"):
        find_disclosed(releases)


@for_each_seed(20)
def test_the_first_of_a_product_of_polynomials(seed):
    rng = np.random.default_rng(seed)
    left, right = (rng.integers(0, 5, (2, 3, int(rng.integers(1, 7)))).astype(float) for _ in range(2))
    length = int(rng.integers(1, 15))
    found = _convolved(left, right, length)
    for at in np.ndindex(2, 3):
        product = np.convolve(left[at], right[at])
        assert found[at].tolist() == [*product, *np.zeros(length)][: found.shape[2]]
    assert found.shape[2] >= min(length, left.shape[2] + right.shape[2] - 1)
