"""Coarser quasi-identifiers: hierarchies nest, and a profile collapsed is the profile counted anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.crosswalk import number_compactly
from vbas.core.errors import InputError
from vbas.core.generalising import (
    entropy_given_up,
    generalise_profile,
    generalise_records,
    generalise_table,
    hierarchy_rule,
    hierarchy_tables,
    make_hierarchy,
    records_by_category,
    records_by_value,
)
from vbas.core.plan import area_of_cells, suppress
from vbas.core.privacy.requirement import members_of
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import SUPPRESS, match_areas, match_records, requirement_of
from vbas.core.records.table import RecordTable
from vbas.core.release import apply

from .strategies import regions, tables


def by_rule(words, values, records=None):
    column = column_from_values(values)
    counts = records_by_category(column, None) if records is None else np.asarray(records)
    return hierarchy_rule("a", words).hierarchy(column.categories, counts)


def shown(hierarchy, level):
    """The coarser value of each value at a level."""
    return {
        value: hierarchy.categories[level][code]
        for value, code in zip(hierarchy.values, hierarchy.codes[level].tolist())
    }


@st.composite
def random_hierarchies(draw, table):
    """A hierarchy of one to three levels for some of the columns; values join at random, missing ones too."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    found = {}
    for name, column in table.quasi_identifiers.items():
        if rng.random() < 0.2:
            continue
        group, levels = np.arange(len(column.categories)), []
        for level in range(rng.integers(1, 4)):
            group = rng.integers(0, max(1, len(column.categories) // 2), len(column.categories))[group]
            levels.append([f"{level}:{one}" for one in group.tolist()])
        found[name] = make_hierarchy(name, column.categories, levels)
    node = [int(rng.integers(0, len(found[name]))) if name in found else 0 for name in table.quasi_identifiers]
    return found, node


@pytest.mark.slow
@settings(deadline=None)
@given(data=st.data(), counted=st.booleans())
def test_a_collapsed_profile_is_the_profile_of_the_coarser_table(data, counted):
    areas = data.draw(regions())
    table = data.draw(tables(areas, counted=counted))
    hierarchies, node = data.draw(random_hierarchies(table))
    records = match_records(table, areas, SUPPRESS)
    profile, class_of = generalise_profile(records.profile, hierarchies, node)
    coarse = match_records(generalise_table(table, hierarchies, node), areas, SUPPRESS)
    # Classes that only rows of unknown areas or of no records have stand in one as in the other.
    assert profile.classes.tolist() == coarse.profile.classes.tolist()
    assert (profile.counts != coarse.profile.counts).nnz == 0
    assert profile.counts.has_sorted_indices
    assert profile.counts.dtype == np.int64
    assert [values.tolist() for values in profile.categories] == [
        values.tolist() for values in coarse.profile.categories
    ]
    for position, name in enumerate(records.profile.quasi_identifiers):
        fine = records.profile.classes[:, position]
        if name in hierarchies:
            fine = hierarchies[name].codes[node[position]][fine]
        assert (profile.classes[class_of, position] == fine).all()
    again = generalise_records(records, hierarchies, node, areas)
    some = np.ones(len(table), bool) if table.counts is None else table.counts > 0
    assert again.cell_of[some].tolist() == coarse.cell_of[some].tolist()
    for name, column in coarse.table.quasi_identifiers.items():
        assert again.table.quasi_identifiers[name].codes.tolist() == column.codes.tolist()


@pytest.mark.slow
@settings(deadline=None)
@given(data=st.data(), counted=st.booleans(), k=st.integers(2, 5))
def test_what_is_released_at_coarser_values_has_k_of_each_and_nothing_finer(data, counted, k):
    areas = data.draw(regions())
    # Without kept fields: drawn at random, one may by chance give an original value back, which is refused.
    table = replace(data.draw(tables(areas, counted=counted)), kept={})
    hierarchies, node = data.draw(random_hierarchies(table))
    fine = match_records(table, areas, SUPPRESS)
    records = generalise_records(fine, hierarchies, node, areas)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    crosswalk = number_compactly(rng.integers(0, 3, len(areas)))[0]
    release = apply(suppress(records.profile, crosswalk, k), records)
    rows = list(zip(release.region.tolist(), *(_texts(release.fields[name]) for name in table.quasi_identifiers)))
    size = {row: release.counts[[one == row for one in rows]].sum() for row in set(rows)}
    assert all(number >= k for number in size.values())
    # By hand, from the records: every class of k and more is there, by its coarser values.
    by_hand: dict = {}
    area = match_areas(table, areas, SUPPRESS)
    for row in range(len(table)):
        if area[row] < 0 or crosswalk.region_of[area[row]] < 0:
            continue
        values = []
        for (name, column), level in zip(table.quasi_identifiers.items(), node):
            value = column.categories[column.codes[row]]
            values.append(str(shown(hierarchies[name], level)[value] if level else value))
        key = (int(crosswalk.region_of[area[row]]), *values)
        by_hand[key] = by_hand.get(key, 0) + (1 if table.counts is None else int(table.counts[row]))
    assert {key: number for key, number in by_hand.items() if number >= k} == size


def _texts(column):
    return [str(column.categories[code]) for code in column.codes.tolist()]


def test_persons_are_counted_at_the_coarser_values():
    # Two persons with two rows each: apart by age, four rows of two persons once ages are joined.
    table = RecordTable(
        column_from_values(["a", "a", "a", "a", "b", "b"]),
        {"age": column_from_values([11, 12, 13, 14, 31, 32])},
        {},
        members={"persons": column_from_values([1, 1, 2, 2, 3, 3])},
    )
    areas = _areas("a", "b")
    fine = match_records(table, areas)
    rule = hierarchy_rule("age", "bands 10")
    found = {"age": rule.hierarchy(table.quasi_identifiers["age"].categories, np.ones(6, int))}
    records = generalise_records(fine, found, (1,), areas)
    requirement = requirement_of(records, 2)
    members = members_of("persons", records.cell_of, table.members["persons"].codes)
    assert requirement.members[0].cell.tolist() == members.cell.tolist() == [0, 0, 1]
    assert requirement.members_of_cells(records.profile.counts.data).tolist() == [2, 1]


def _areas(*names):
    from vbas.core.areas import make_areas

    return make_areas(names, np.arange(2.0 * len(names)).reshape(-1, 2))


def test_level_0_throughout_is_the_profile_itself():
    table = RecordTable(column_from_values(list("ab")), {"age": column_from_values([1, 2])}, {})
    records = match_records(table, _areas("a", "b"))
    profile, class_of = generalise_profile(records.profile, {}, (0,))
    assert profile is records.profile
    assert class_of.tolist() == [0, 1]
    assert area_of_cells(profile).tolist() == [0, 1]


def test_a_node_must_fit_the_hierarchies():
    table = RecordTable(column_from_values(list("ab")), {"age": column_from_values([1, 2])}, {})
    profile = match_records(table, _areas("a", "b")).profile
    with pytest.raises(InputError, match="nothing says what its coarser values are"):
        generalise_profile(profile, {}, (1,))
    hierarchies = {"age": by_rule("bands 5", [1, 2])}
    with pytest.raises(InputError, match=r"its levels are 0 .* to 1"):
        generalise_profile(profile, hierarchies, (2,))
    with pytest.raises(InputError, match="2 levels were given for 1"):
        generalise_profile(profile, hierarchies, (0, 0))


def test_coarser_values_must_not_repeat_the_area():
    table = RecordTable(
        column_from_values(["a", "a", "b", "b"]), {"code": column_from_values(["a1", "a2", "b1", "b2"])}, {}
    )
    areas = _areas("a", "b")
    records = match_records(table, areas)
    codes = table.quasi_identifiers["code"].categories
    hierarchy = make_hierarchy("code", codes, [["a", "a", "b", "b"]])
    with pytest.raises(InputError, match="“code” holds the identifier of the record's area"):
        generalise_records(records, {"code": hierarchy}, (1,), areas)


# Hierarchies


def test_levels_that_do_not_nest_are_refused_with_the_values():
    with pytest.raises(InputError, match=r"“age”.*level 1 .“x”: “1”, “2”. are several at level 2 .“p”, “q”."):
        make_hierarchy("age", np.array([1, 2, 3], object), [["x", "x", "y"], ["p", "q", "p"]])


def test_a_table_compares_as_text_and_keeps_missing_values():
    tables_ = hierarchy_tables(
        ["age", "age", "age", "sex", "sex"],
        ["1", 2.0, 3, "f", "m"],
        [["low", "low", "high", "*", "*"], ["any", "any", "any", None, None]],
    )
    found = tables_["age"].hierarchy(column_from_values([1, "2", 3.0, None, ""]).categories)
    assert len(found) == 3
    assert shown(found, 1) == {1: "low", "2": "low", 3.0: "high", None: None, "": None}
    assert shown(found, 2) == {1: "any", "2": "any", 3.0: "any", None: None, "": None}
    # Where a level says nothing of anybody, it does not tell that a value is missing either.
    assert shown(tables_["sex"].hierarchy(column_from_values(["f", None]).categories), 1) == {"f": "*", None: "*"}


def test_a_table_may_say_what_becomes_of_missing_values():
    tables_ = hierarchy_tables(["age"] * 2, ["1", None], [["low", "unknown"]])
    assert shown(tables_["age"].hierarchy(column_from_values([1, None]).categories), 1) == {1: "low", None: "unknown"}


def test_tables_that_leave_something_open_are_refused():
    with pytest.raises(InputError, match=r"1 value of “age” is not in the table .“7”"):
        hierarchy_tables(["age"], [1], [["low"]])["age"].hierarchy(column_from_values([1, 7]).categories)
    with pytest.raises(InputError, match="two different rows for the value “1”"):
        hierarchy_tables(["age", "age"], [1, "1"], [["low", "high"]])
    with pytest.raises(InputError, match=r"without one at level 2 .“2”"):
        hierarchy_tables(["age", "age"], [1, 2], [["low", "low"], ["any", None]])
    with pytest.raises(InputError, match="row 2 names no attribute"):
        hierarchy_tables(["age", None], [1, 2], [["low", "low"]])
    with pytest.raises(InputError, match="“age” has no coarser value"):
        hierarchy_tables(["age"], [1], [[None]])


# Rules


def test_bands_of_numbers():
    hierarchy = by_rule("bands 5, 10, *", [0, 4, 5, 19, -1, None])
    assert shown(hierarchy, 1) == {0: "0-4", 4: "0-4", 5: "5-9", 19: "15-19", -1: "-5 to -1", None: None}
    assert shown(hierarchy, 2) == {0: "0-9", 4: "0-9", 5: "0-9", 19: "10-19", -1: "-10 to -1", None: None}
    assert set(shown(hierarchy, 3).values()) == {"*"}


def test_bands_of_groups_and_open_ends():
    hierarchy = by_rule(
        "bands 10, 20", ["under 5", "5 to 9", "10 to 19", "20 to 24", "60 to 64", "65 and over", "80 and over"]
    )
    assert shown(hierarchy, 1) == {
        "under 5": "under 10",
        "5 to 9": "under 10",
        "10 to 19": "10 to 19",
        "20 to 24": "20 to 29",
        "60 to 64": "60 and over",
        "65 and over": "60 and over",
        "80 and over": "60 and over",
    }
    assert shown(hierarchy, 2)["20 to 24"] == "20 to 39"
    assert shown(hierarchy, 2)["10 to 19"] == "under 20"
    hierarchy = by_rule("bands 10", ["0-4", "5–9", "65+", ">=70", "<0"])
    assert shown(hierarchy, 1) == {"0-4": "0-9", "5–9": "0-9", "65+": "60+", ">=70": "60+", "<0": "<0"}


def test_bands_of_decimal_numbers_say_where_they_end():
    assert shown(by_rule("bands 5", [4.99, 5.0, 7]), 1) == {4.99: "0 to <5", 5.0: "5 to <10", 7: "5 to <10"}


@given(
    values=st.lists(st.integers(-200, 200), min_size=1, max_size=30),
    widths=st.lists(st.integers(2, 4), min_size=1, max_size=3),
    top=st.none() | st.integers(-50, 100),
)
def test_bands_nest_and_hold_their_values(values, widths, top):
    widths = np.cumprod(widths).tolist()
    texts = [str(value) for value in values] + ([] if top is None else [f"{top}+"])
    hierarchy = by_rule(f"bands {', '.join(map(str, widths))}", texts)
    for level, width in enumerate(widths, 1):
        bands = shown(hierarchy, level)
        opens = np.inf if top is None else top // width * width
        for value in values:
            first = value // width * width
            expected = f"{opens}+" if value >= opens else (f"{first}{' to ' if first < 0 else '-'}{first + width - 1}")
            assert bands[str(value)] == expected


def test_bands_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"bands of 10 cut through groups of “a” .“15-24”"):
        by_rule("bands 10", ["15-24", "0-9"])
    with pytest.raises(InputError, match="cut through groups"):
        by_rule("bands 20", ["<65", "65+"])
    with pytest.raises(InputError, match=r"1 value is neither .“old”"):
        by_rule("bands 10", [5, "old"])
    with pytest.raises(InputError, match="bands of “a” of 10 and then 15 do not nest"):
        hierarchy_rule("a", "bands 10, 15")


def test_leading_characters_say_that_something_was_cut():
    hierarchy = by_rule("leading characters 2, 1", ["R3A", "R3B", "R3", "R", 46, None])
    assert shown(hierarchy, 1) == {"R3A": "R3*", "R3B": "R3*", "R3": "R3*", "R": "R", 46: "46*", None: None}
    assert shown(hierarchy, 2) == {"R3A": "R*", "R3B": "R*", "R3": "R*", "R": "R*", 46: "4*", None: None}


def test_other_below_counts_records_and_keeps_missing_values():
    hierarchy = by_rule("other below 2, 4", [*"aaaabbbc", None])
    assert shown(hierarchy, 1) == {"a": "a", "b": "b", "c": "other", None: None}
    assert shown(hierarchy, 2) == {"a": "a", "b": "other", "c": "other", None: None}
    # Just as many as asked for are enough.
    assert shown(by_rule("other below 3", list("bbbc")), 1)["b"] == "b"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "band 5",
        "bands",
        "bands 0",
        "bands five",
        "bands 5-10",
        "leading characters 1, 2",
        "other below 9, 3",
        "bands -5",
    ],
)
def test_rules_that_are_none_are_refused(words):
    with pytest.raises(InputError, match="HIERARCHY_RULES"):
        hierarchy_rule("a", words)


def test_numbers_of_a_rule_may_be_written_without_commas():
    # A comma ends a cell of a table on the command line.
    assert hierarchy_rule("a", "Bands: 5;10 20 *") == hierarchy_rule("a", "bands 5, 10, 20, *")


def test_a_star_alone_gives_the_attribute_up():
    hierarchy = by_rule("*", ["x", None])
    assert shown(hierarchy, 1) == {"x": "*", None: "*"}
    assert entropy_given_up(hierarchy, 1, np.array([3, 3])) == 1.0


def test_entropy_given_up_by_hand():
    found = make_hierarchy("a", np.array(["w", "x", "y", "z"], object), [["p", "p", "q", "q"], ["*"] * 4])
    records = np.array([5, 5, 5, 5])
    assert entropy_given_up(found, 0, records) == 0.0
    assert entropy_given_up(found, 1, records) == pytest.approx(0.5)
    assert entropy_given_up(found, 2, records) == 1.0
    uneven = np.array([1, 1, 2, 0])  # 1.5 bits, then 1
    assert entropy_given_up(found, 1, uneven) == pytest.approx(1 / 3)
    assert entropy_given_up(found, 1, np.array([4, 0, 0, 0])) == 0.0


def test_records_by_value_are_those_of_the_profile():
    table = RecordTable(
        column_from_values(list("aab")), {"age": column_from_values([1, 2, 2])}, {}, np.array([4, 5, 6])
    )
    profile = match_records(table, _areas("a", "b")).profile
    assert [records.tolist() for records in records_by_value(profile)] == [[4, 11]]
