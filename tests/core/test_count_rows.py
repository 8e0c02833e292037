"""Tables of counts as they are read: their areas and values brought to those of the records."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.disclosure.count_tables import MANY
from vbas.core.errors import InputError
from vbas.core.generalising.rules import hierarchy_rule
from vbas.core.generalising.table import hierarchy_tables
from vbas.core.privacy.count_rows import CountRows, common_values, count_tables, rows_elsewhere
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values

AREAS = make_areas(["a", "b", "c"], [(0, 0), (100, 0), (900, 0)])
PEOPLE = [("a", "f", 20), ("a", "f", 30), ("a", "m", 20), ("b", "m", 30), ("b", None, 30), ("c", "f", 20)]


def profile(ages=None):
    area, sex, age = zip(*PEOPLE)
    columns = {"sex": column_from_values(sex), "age": column_from_values(ages or age)}
    return profile_records(AREAS.codes_of(np.array(area, object)), columns, 3)[0]


def tables(*rows, unit_of=None, sources=None, levels=None, ages=None):
    """rows : area, sex, age, count."""
    unit, sex, age, counts = zip(*rows)
    given = {
        name: values for name, values in (("sex", sex), ("age", age)) if any(value is not None for value in values)
    }
    return count_tables(CountRows(unit, given, counts, unit_of, sources or {}), AREAS, profile(ages), levels)


@pytest.mark.parametrize("names", [[], ["sex"], ["age"], ["age", "sex"]])
def test_combinations_are_those_that_classes_have_each_once(names):
    people = profile()
    of_class, combinations = people.combinations(names)
    columns = [people.quasi_identifiers.index(name) for name in names]
    assert combinations[of_class].tolist() == people.classes[:, columns].tolist()
    assert len(combinations) == len({*map(tuple, people.classes[:, columns].tolist())})


def test_a_table_may_count_all_people_of_an_area_and_nothing_else():
    """It ended the run with an exception that nobody foresaw."""
    (of_all,) = tables(("a", None, None, 3), ("b", None, None, 2))
    assert of_all.names == () and of_all.low.tolist() == of_all.high.tolist() == [[3], [2]]


def test_a_value_that_is_missing_stands_for_all_so_that_tables_may_stand_one_below_the_other():
    by_sex, of_all = sorted(
        tables(("a", "f", None, 2), ("a", "m", None, 1), ("a", None, None, 3), ("b", None, None, 2)),
        key=lambda table: -len(table.names),
    )
    assert by_sex.names == ("sex",) and by_sex.exact
    assert by_sex.zone_of.tolist() == [0, 1, -1]
    assert by_sex.high.tolist() == [[2, 1], [MANY, MANY]]  # of b it says nothing by sex
    missing = profile().classes[:, 0] == profile().categories[0].tolist().index(None)
    assert (by_sex.group_of[missing] == -1).all() and (by_sex.group_of[~missing] >= 0).all()
    assert of_all.names == () and of_all.low.tolist() == [[3], [2]]


def test_combinations_without_a_row_are_counts_of_nobody_and_empty_counts_say_nothing():
    for nobody in ([], [("b", "f", None, 0)]):  # said, or left out
        (table,) = tables(("a", "f", None, 2), ("a", "m", None, None), *nobody, ("b", "m", None, 1))
        assert table.low.tolist() == [[2, 0], [0, 1]] and table.high.tolist() == [[2, MANY], [0, 1]]


def test_counts_of_more_people_are_the_most_there_can_be_and_of_fewer_are_refused():
    (table,) = tables(("a", "f", None, 9), ("a", "m", None, 1), ("b", "m", None, 1))
    assert not table.exact and table.low.max() == 0 and table.high[0, 0] == 9
    with pytest.raises(InputError, match=r"1 count of fewer people than RECORDS have \(the first: 1 for 2 records\)"):
        tables(("a", "f", None, 1), ("a", "m", None, 1))


def test_units_are_those_of_the_areas_or_of_one_of_their_fields():
    unit_of = {"a": "west", "b": "west", "c": None}
    (table,) = tables(("west", "f", None, 2), ("west", "m", None, 2), ("east", "f", None, 7), unit_of=unit_of)
    assert table.zone_of.tolist() == [0, 0, -1] and table.low.tolist() == [[2, 2]] and table.exact
    with pytest.raises(InputError, match="PUBLISHED_COUNTS counts no area there is"):
        tables(("x", "f", None, 2))


def test_rows_of_other_areas_are_said():
    rows = CountRows(["a", "x", None, "x"], {}, [3, 1, 1, 1])
    says = "3 rows of PUBLISHED_COUNTS are of no area there is (first: “x”, (missing))"
    assert rows_elsewhere(rows, AREAS).startswith(says)
    assert rows_elsewhere(CountRows(["a", "b"], {}, [3, 2]), AREAS) == ""
    assert rows_elsewhere(CountRows(["west"], {}, [5], {"a": "west", "b": "west"}), AREAS) == ""


def test_areas_that_lost_their_leading_zeros_are_not_passed_over():
    """Else nothing would be held against the counts of some, and of the others it would."""
    areas = make_areas(["01", "02", "10"], AREAS.points)
    with pytest.raises(InputError, match=r"but for leading zeros or a “.0” .first: “1”, “2”; areas: “01”, “02”, “10”"):
        count_tables(CountRows([1, 2, 10], {}, [3, 2, 1]), areas, profile())
    both = CountRows(["01", "02", "10", 1, ""], {}, [3, 2, 1, 6, 6])  # of a county that is called 1, and of all
    assert len(count_tables(both, areas, profile())) == 1 and rows_elsewhere(both, areas).startswith("2 rows")


@pytest.mark.parametrize("count", ["many", -1, 1.5])
def test_counts_are_whole_numbers(count):
    with pytest.raises(InputError, match="no whole numbers"):
        tables(("a", "f", None, count))


def test_a_row_that_is_given_twice_is_refused():
    with pytest.raises(InputError, match="two rows for the same area and the same values"):
        tables(("a", "f", None, 2), ("a", "f", None, 2))


def test_ages_in_other_bands_are_added_up_or_records_seen_in_theirs():
    rule = {"age": hierarchy_rule("age", "bands 5 10 20")}
    theirs = [("a", None, "20-24", 2), ("a", None, "30-34", 1), ("b", None, "30-34", 2)]
    (table,) = tables(
        *theirs, sources=rule, levels={"age": 2}, ages=["20-29", "30-39", "20-29", "30-39", "30-39", "20-29"]
    )
    assert table.values == (("20-29",), ("30-39",)) and table.low.tolist() == [[2, 1], [0, 2]]
    (table,) = tables(("a", None, "20-39", 3), ("b", None, "20-39", 2), sources=rule)
    assert table.low.tolist() == [[3], [2]] and table.levels == {"age": 3}


def test_values_of_a_table_of_hierarchies_meet_at_the_finest_level_that_both_have():
    source = hierarchy_tables(["age"] * 3, ["1", "2", "3"], [["low", "low", "high"], ["*", "*", "*"]])["age"]
    assert common_values("age", ["1", "2", "3"], ["low", "high"], source, 0) == (
        {"1": "low", "2": "low", "3": "high"},
        {"low": "low", "high": "high"},
        1,
    )
    assert common_values("age", ["low", "high"], ["1", "3"], source, 1)[1] == {"1": "low", "3": "high"}
    with pytest.raises(
        InputError, match="“age” that do not fit those of the records \\(“x”; the records show “1”, “2”"
    ):
        common_values("age", ["1", "2"], ["x"], source, 0)
    with pytest.raises(InputError, match="do not fit"):
        common_values("age", ["1", "2"], ["low"], None, 0)


def test_values_of_a_table_that_the_records_show_are_compared_as_they_are():
    """Whatever a hierarchy knows of them."""
    source = hierarchy_tables(["age"] * 2, ["1", "2"], [["low", "high"], ["*", "*"]])["age"]
    for one in (None, source):
        for theirs in (["x"], ["y", "x"], []):
            same = {text: text for text in theirs}
            assert common_values("age", ["x", "y"], theirs, one, 0) == ({"x": "x", "y": "y"}, same, 0)
    assert common_values("age", ["x"], ["x", "y"], None, 0) == ({"x": "x"}, {"x": "x", "y": "y"}, 0)
    with pytest.raises(InputError, match="do not fit"):
        common_values("age", ["x"], ["x", "y"], source, 0)
