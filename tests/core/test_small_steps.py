"""Small steps of the rooms that decide what may be published, each by hand."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from vbas.core.areas import make_areas
from vbas.core.arrays import runs, turns
from vbas.core.crosswalk import Crosswalk, number_compactly
from vbas.core.disclosure import asked, zone_flows
from vbas.core.disclosure.asked import _one_value
from vbas.core.disclosure.block import Block, Storeys
from vbas.core.disclosure.count_tables import own_totals, published_table
from vbas.core.disclosure.disclosed import find_disclosed
from vbas.core.disclosure.exchanges import _of_one_class
from vbas.core.disclosure.exchanges import places_of as places_asked_about
from vbas.core.disclosure.overlay import overlay
from vbas.core.disclosure.published import publish
from vbas.core.disclosure.small_counts import pairs_by_row
from vbas.core.disclosure.undecided import freed_within, proven_to_follow
from vbas.core.disclosure.values import as_text, as_value
from vbas.core.disclosure.zone_flows import Tables
from vbas.core.generalising import make_hierarchy
from vbas.core.generalising.rules import hierarchy_rule
from vbas.core.levels import make_levels, own_regions, with_coarser_values
from vbas.core.nesting.coarser import nest_coarser
from vbas.core.nesting.coarser_places import places_of
from vbas.core.nesting.planning import nest
from vbas.core.nesting.views import as_released
from vbas.core.plan import SUPPRESSED, suppress
from vbas.core.privacy.association import NOTHING_DISCLOSED, Disclosed, disclosed_by_prefix
from vbas.core.privacy.checking import _identifiers_in
from vbas.core.privacy.published_counts import _adds_up
from vbas.core.privacy.released_cells import ReleasedCells
from vbas.core.privacy.series import series_of
from vbas.core.progress import silent
from vbas.core.publish.geopackage import filling
from vbas.core.publish.geopackage.filling import fill_geopackage
from vbas.core.publish.register.listing import releases_in
from vbas.core.publish.register.published_releases import new_entry
from vbas.core.records.columns import Column
from vbas.core.releases.comparable import values_at_levels
from vbas.core.releases.examining import _of_the_same_people
from vbas.core.releases.holding_back import _some
from vbas.core.releases.matching import Matched
from vbas.core.releases.relating import Relating

from .release_cases import profile_over
from .test_geopackage_pages import NAMES, Given, held, made
from .test_published_counts import block_of, plans, town_of

AREAS = make_areas(["a", "b", "c"], [(0, 0), (900, 0), (0, 900)])


def test_a_table_is_full_where_all_of_it_is_counted_and_says_nothing_of_what_it_does_not_show():
    profile = profile_over(np.array([[3, 1], [2, 4], [1, 1]]), [("x",), ("y",)], ("p",))
    table = own_totals(profile, own_regions(3), ["p"], "a table")
    less = replace(table, low=table.low - np.eye(3, 2, dtype=np.int64))
    assert table.is_full and not less.is_full
    assert not published_table(table, AREAS, 3).bounded


def test_as_many_pairs_as_may_be_are_one_block(monkeypatch):
    tables: Any = SimpleNamespace(
        room=np.zeros(3), area=np.arange(3), _order=np.arange(3), _rng=np.random.default_rng(0)
    )
    for most, n_blocks in ((3, 1), (2, 2)):
        monkeypatch.setattr(zone_flows, "PAIRS_AT_ONCE", most)
        assert len(list(Tables._blocks(tables, np.arange(3), True))) == n_blocks


def test_of_some_people_no_more_are_held_back_than_there_are():
    held_back = _some(np.array([0, 1, 2] * 200), 1.0, np.random.default_rng(0)).reshape(-1, 3)
    assert [sorted(set(of.tolist())) for of in held_back.T] == [[0], [1], [1, 2]]


def test_what_is_shown_in_some_period_is_shown_by_its_level_and_by_the_last_in_all_of_them():
    profile = profile_over(np.array([[3, 3], [2, 1], [4, 5]]), [("x", "1"), ("x", "2")], ("p", "year"))
    levels = make_levels(AREAS, [own_regions(3), Crosswalk(np.array([0, 0, 1]), 2)])
    level_of = np.array([0, 0, SUPPRESSED, SUPPRESSED, 1, 1], np.int8)
    cells = ReleasedCells(profile, levels, [None, None], 2, level_of, False, series_of(profile, "year"))
    assert cells.mates is not None and cells.mates[0].tolist() == [0, 0]
    assert [of.toarray().ravel().tolist() for of in cells.mates[1]] == [[1, 0, 0], [1, 1]]


def test_releases_are_taken_to_be_of_the_same_people_until_an_update_comes():
    """Every set of updates among four releases, by the sentence."""
    pairs = [(i, j) for j in range(4) for i in range(j)]
    for chosen in product((False, True), repeat=len(pairs)):
        updates = [pair for pair, there in zip(pairs, chosen) if there]
        then = [tuple(i for i in range(n + 1) if not any(j <= n for of, j in updates if of == i)) for n in range(4)]
        expected = [then[3]]
        for some in (then[2], then[1], then[0]):
            if len(some) > 1 and not any(set(some) <= set(other) for other in expected):
                expected.append(some)
        assert _of_the_same_people(4, updates) == expected


def test_where_nothing_could_be_lost_nothing_is():
    assert (NOTHING_DISCLOSED.rows, NOTHING_DISCLOSED.placed_share, NOTHING_DISCLOSED.narrowing_share) == (0, 0.0, 0.0)


def test_one_class_that_is_shown_coarser_is_one_class():
    profile = profile_over(np.array([[9], [9], [9]]), [("x",)], ("p",))
    hierarchy = make_hierarchy("p", profile.categories[0], [["any"]])
    whole = Crosswalk(np.zeros(3, np.int64), 1)
    for steps in ([], [("p", 1)]):
        levels = make_levels(AREAS, [whole])
        levels = with_coarser_values(levels, steps) if steps else levels
        places = places_of(profile, levels, {"p": hierarchy})
        plan = as_released(nest_coarser(AREAS, places, 3), places)
        assert plan.profile.counts.shape == (3, len(plan.profile.classes)) and plan.n_released == 27


def test_whose_people_are_taken_away_is_told_by_equivalence_class_and_not_by_region():
    """Nine of x live in the second region, of whom the other release shows eight: its third class there."""
    people = np.array([[5, 5, 5], [5, 1, 8], [5, 5, 5]])
    profile = profile_over(people, [("w", "y"), ("x", "n"), ("x", "y")], ("p", "q"))
    by_p = profile_over(np.column_stack([people[:, 0], people[:, 1:].sum(axis=1)]), [("w",), ("x",)], ("p",))
    fine, wide = (publish(suppress(of, own_regions(3), 3), AREAS) for of in (profile, by_p))
    found = find_disclosed([replace(wide, held_back=None), replace(fine, bounded=False, held_back=None)])
    taken = {(one.less, tuple(fine.records[one.taken].tolist())) for one in found.counts if one.less}
    assert taken and all(less == sum(of) for less, of in taken)


@pytest.fixture
def two_in_a_register(tmp_path):
    """A register of a release and its update."""
    profile = profile_over(np.array([[9, 8], [9, 7], [9, 6]]), [("x",), ("y",)], ("p",))
    release = publish(suppress(profile, own_regions(3), 5), AREAS)
    register = tmp_path / "register.gpkg"
    for n, updates in enumerate((None, (0, "a further period"))):
        added = new_entry(register, replace(release, updates=updates), n)
        added.put()
        with pytest.raises(sqlite3.ProgrammingError):
            added.connection.execute("SELECT 1")  # nobody waits for it any more
    return register


def test_a_register_lists_what_an_update_carries_on(two_in_a_register):
    first, second = releases_in(two_in_a_register)
    assert (first.updates, second.updates) == ("", f"1: {first.title} ({first.time[:10]})")


@pytest.mark.parametrize("n_rows", range(1_180, 1_330, 25))
def test_pages_above_as_many_as_fit_into_one_are_whole(n_rows, tmp_path, monkeypatch):
    """Some sixty pages of 512 bytes: a page above them has room for no more than 63."""
    monkeypatch.setattr(filling, "WORTH_PAGES", 1)
    monkeypatch.setattr(filling, "CELLS_A_VALUE", 0)
    file = made(tmp_path / "people.gpkg", 512)
    fill_geopackage(file, list(NAMES), Given([("abcdefgh", 1, 0.5, "x")] * n_rows), silent)
    rows, _ = held(file)
    assert len(rows) == n_rows
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("select count(*) from people where home = 'abcdefgh'").fetchone() == (n_rows,)


def test_what_is_left_of_a_class_is_told_though_of_another_nobody_can_be_taken_away():
    """Of the second class 18 are in the areas that show it in the first release: of 17 of them the other says where."""
    counts = np.array([[1, 5, 5], [0, 6, 0], [1, 0, 1], [2, 6, 1], [2, 5, 6], [0, 1, 1], [2, 0, 4]])
    areas = make_areas([f"a{at}" for at in range(7)], np.arange(14.0).reshape(7, 2) * 900.0)
    profile = profile_over(counts, [("0",), ("1",), ("2",)], ("q",))
    shown = []
    for regions in ([[0, 3, 2, 1, 0, 0, 0], [2, 0, 1, 1, 2, 2, 2]], [[1, 0, 2, 1, 0, 2, 1], [0] * 7]):
        levels = make_levels(areas, [own_regions(7), *(number_compactly(np.array(of))[0] for of in regions)])
        shown.append(replace(publish(nest(areas, profile, levels, 4), areas), held_back=None))
    found = find_disclosed(shown)
    told = {
        (tuple(found.overlay.areas[np.isin(found.overlay.cell_of, one.cells)]), one.low, one.less)
        for one in found.counts
    }
    assert (("a0", "a1", "a3", "a5", "a6"), 1, 17) in told


def test_nothing_is_assumed_where_no_fields_have_other_names():
    assert Matched([], [], []).assumption == ""
    assert "sex / gender" in Matched([], [], [], [("sex", "gender")]).assumption


def test_the_values_of_a_rule_are_known_level_by_level_unless_they_depend_on_the_records():
    own = {"code": ["115", "127"], "job": ["a", "b"]}
    rules = {"code": hierarchy_rule("code", "leading characters 2 1"), "job": hierarchy_rule("job", "other below 5")}
    known = values_at_levels({}, rules, own)
    assert [sorted(values) for values in known["code"]] == [["115", "127"], ["11*", "12*"], ["1*"]]
    assert [sorted(values) for values in known["job"]] == [["a", "b"]]


def test_an_empty_text_is_a_value_like_others_where_releases_show_it_at_other_levels():
    people = np.array([[5, 5], [5, 5], [5, 5]])
    whole = Crosswalk(np.zeros(3, np.int64), 1)
    fine = publish(suppress(profile_over(people, [("",), ("12",)], ("c",)), whole, 3), AREAS)
    coarse = profile_over(people, [("",), ("1*",)], ("c",))
    near = publish(suppress(coarse, own_regions(3), 3), AREAS, coarsened={"c": 1})
    relate = Relating([fine, near], {"c": hierarchy_rule("c", "leading characters 1")}, {"c": ["", "12"]})
    assert relate(fine).values_of_classes() == [("''", "''"), ("12", "1*")]
    assert relate(near).values_of_classes() == [("''",), ("1*",)]
    assert [as_value(text) for text in as_text(["", "''", "a''", "'"])] == ["", "''", "a''", "'"]


def two_releases():
    """By p and q in two regions, and by p in other ones."""
    people = np.array([[5, 1, 8], [5, 5, 5], [4, 4, 4]])
    fine = profile_over(people, [("w", "y"), ("x", "n"), ("x", "y")], ("p", "q"))
    wide = profile_over(np.column_stack([people[:, 0], people[:, 1:].sum(axis=1)]), [("w",), ("x",)], ("p",))
    plans = suppress(fine, Crosswalk(np.array([0, 1, 1]), 2), 3), suppress(wide, Crosswalk(np.array([0, 0, 1]), 2), 3)
    return [replace(publish(plan, AREAS), held_back=None) for plan in plans]


def test_of_two_sets_of_fields_all_classes_that_their_values_make_are_looked_at():
    over = overlay(two_releases())
    assert over.schemas[0].classes == [("w", "n"), ("w", "y"), ("x", "n"), ("x", "y")]


def test_of_counts_that_are_too_large_to_be_decided_nothing_is_known_but_that_they_may_be_small(monkeypatch):
    monkeypatch.setattr(asked, "MOST_MEMBERS", 0)
    found = find_disclosed(two_releases())
    assert found.n_undecided and {(one.low, one.high) for one in found.undecided} == {(0, 2)}


def test_pairs_of_a_row_of_one_matrix_and_one_of_another():
    cells, joint = (sparse.csr_matrix(np.array(of)) for of in ([[1, 0, 1], [0, 1, 0]], [[1, 1, 0, 1], [0, 0, 1, 1]]))
    pairs = pairs_by_row(cells, joint, 4).toarray()
    assert pairs.tolist() == [np.outer(*of).ravel().tolist() for of in zip(cells.toarray(), joint.toarray())]


def test_totals_that_leave_out_an_area_of_a_region_do_not_add_up_to_it():
    profile = profile_over(np.array([[3, 1], [2, 4], [1, 1]]), [("x",), ("y",)], ("p",))
    pairs, whole = Crosswalk(np.array([0, 0, 1]), 2), Crosswalk(np.zeros(3, np.int64), 1)
    table = own_totals(profile, own_regions(3), ["p"])
    assert _adds_up(table, pairs) and _adds_up(own_totals(profile, pairs, []), pairs)
    assert not _adds_up(own_totals(profile, whole, []), pairs)
    assert not _adds_up(replace(table, zone_of=np.array([0, -1, 2])), pairs)


def test_areas_of_which_a_table_says_nothing_are_no_zone_of_it():
    profile = profile_over(np.array([[3, 5], [1, 1], [1, 0]]), [("x",), ("y",)], ("p",))
    table = replace(own_totals(profile, Crosswalk(np.zeros(3, np.int64), 1), []), zone_of=np.array([0, -1, -1]))
    storeys = Storeys([np.zeros(3, np.int64)], [np.zeros(2, np.int64)], 4, False, True)
    block = Block(profile.counts.toarray(), np.zeros((3, 2), np.int8), storeys, [table], np.arange(2))
    areas = [some.areas(number).tolist() for some in places_asked_about(block) for number in range(len(some))]
    assert [1] in areas and [1, 2] not in areas


@pytest.mark.parametrize("seed", range(2))
def test_a_count_is_free_among_all_areas_where_it_is_not_proven_to_follow(seed):
    """Beside two tables: a program looks for people who free it, and another one bounds it."""
    areas, profile = town_of(np.random.default_rng(seed), 4, 5)
    tables = [own_totals(profile, own_regions(4), [name]) for name in ("sex", "job")]
    block, n_free = block_of(next(plans(areas, profile)), *tables), 0
    for some in places_asked_about(block):
        follow = proven_to_follow(block, [(some, number) for number in range(len(some))])
        free = [freed_within(block, some, number, np.arange(4)) for number in range(len(some))]
        assert free == (~follow).tolist()
        n_free += sum(free)
    assert n_free


def test_who_is_exchanged_may_be_all_who_are_there():
    people = np.array([[1, 2, 0], [2, 0, 0], [3, 3, 3], [0, 0, 0]])
    elsewhere = np.array([False, True, True, False])
    others, companies = _of_one_class(people, 0, 0, elsewhere, 2)
    assert (others.tolist(), companies.tolist()) == ([1, 2], [1, 1])


def test_values_that_no_row_has_do_not_hide_identifiers():
    areas = make_areas(["a1", "a2", "a3"], [(0, 0), (900, 0), (0, 900)])
    categories = np.array(["a1", "a2", "none", *(f"v{at}" for at in range(9))], dtype=object)
    home = Column(np.array([0, 1, 0, 1, 2] * 4), categories)
    assert len(_identifiers_in({"home": home}, areas)) == 1 and not _identifiers_in({"home": home}, None)


def test_fields_of_which_all_who_share_sums_have_one_value():
    over = overlay(two_releases())
    every = np.arange(len(over.entries))
    assert _one_value(over, every, "p", over.group_of) and not _one_value(over, every, "q", over.group_of)


def test_of_a_class_that_is_shown_in_another_period_a_missing_number_is_nobody():
    people, level_of = np.array([[5, 0], [0, 0]]), np.array([[0, SUPPRESSED], [SUPPRESSED, SUPPRESSED]], np.int8)
    region_of, shown = [np.zeros(2, np.int64)], sparse.csr_matrix(np.ones((1, 1), np.int64))
    for mates, most in (((np.zeros(2, np.int64), [shown]), [5, 0]), (None, [5, 2])):
        storeys = Storeys(region_of, [None], 3, False, True, mates)
        (family,) = Block(people, level_of, storeys, [], np.arange(2)).families
        assert family.high[:-1, :-1].tolist() == [most]


def test_leading_characters_stand_for_the_area_from_the_share_on_that_is_asked_for():
    half: Any = SimpleNamespace(disclosed_by=lambda value: Disclosed(10, 5, 0))
    codes, categories = np.array([0, 1]), np.array(["ab", "cd"], dtype=object)
    assert [disclosed_by_prefix(categories, half, codes, exposed)[0] for exposed in (0.5, 0.51)] == [1, 0]


def test_entries_of_a_key_are_counted_and_runs_follow_each_other():
    assert turns(np.array([4, 4, 4, -1, 7, 7])).tolist() == [0, 1, 2, 0, 0, 1]
    assert turns(np.empty(0, np.int64)).tolist() == []
    assert runs(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    assert runs(np.empty(0, np.int64), np.empty(0, np.int64)).tolist() == []
