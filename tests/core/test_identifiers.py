"""A quasi-identifier that hides nobody is told of before anything long begins."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas.core.errors import InputError
from vbas.core.library.anonymizing import made_of
from vbas.core.records.columns import column_from_values
from vbas.core.records.identifiers import refuse_identifiers

NAMES = column_from_values([f"n{i}" for i in range(100)])
SEX = column_from_values(["F", "M"] * 50)


def test_a_value_for_each_record_is_refused_by_its_name():
    with pytest.raises(InputError, match=r"“name” is different in every record\. It is an identifier: leave it out"):
        refuse_identifiers({"sex": SEX, "name": NAMES})
    assert refuse_identifiers({"sex": SEX}) == []
    assert refuse_identifiers({"sex": SEX, "name": NAMES}, coarser=["name"]) == []


def test_records_per_row_count():
    with pytest.raises(InputError, match="every record"):
        refuse_identifiers({"name": NAMES}, np.ones(100, np.int64))
    assert refuse_identifiers({"name": NAMES}, np.full(100, 5)) == []


def test_a_value_for_each_person_is_refused_however_many_rows_each_has():
    visits = column_from_values([f"n{i // 4}" for i in range(100)])
    person = column_from_values([i // 4 for i in range(100)])
    assert refuse_identifiers({"name": visits}) == []
    with pytest.raises(InputError, match="different for every person"):
        refuse_identifiers({"name": visits}, persons=person)


def test_a_value_for_most_records_is_warned_of():
    (warning,) = refuse_identifiers({"name": column_from_values([*range(90), *[0] * 10])})
    assert "“name” has a value of its own in 89 of 100 records" in warning


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12))
def test_what_is_refused_is_where_no_value_occurs_twice(values):
    twice = max(Counter(values).values()) > 1 or len(values) == 1
    try:
        refuse_identifiers({"one": column_from_values(values)})
    except InputError:
        assert not twice
    else:
        assert twice


def test_values_of_one_person_are_no_identifiers():
    """Nor are those of rows whose person is missing, of which another sentence tells."""
    assert refuse_identifiers({"sex": SEX}, persons=column_from_values(["p"] * 100)) == []
    assert refuse_identifiers({"sex": SEX}, persons=column_from_values([None] * 100)) == []


@pytest.mark.parametrize("member", ["PERSON_ID", "HOUSEHOLD_ID"])
def test_a_field_that_tells_fewer_than_k_apart_is_named(member):
    areas = {"area": ["a", "b"], "x": [0, 900], "y": [0, 0]}
    records = {"area": ["a", "b"] * 10, "sex": ["F"] * 10 + ["M"] * 10, "who": ["p", "q"] * 10, "none": [None] * 20}
    given = {"REGION_ID": "area", "RECORD_REGION": "area", "QUASI_IDENTIFIERS": "sex"}
    with pytest.raises(InputError, match=f"K is 5, and {member} has only 2 values in 20 records, so nothing could be"):
        made_of(areas, records, {**given, member: "who"})
    with pytest.raises(InputError, match=f"{member} is missing in 20 rows"):
        made_of(areas, records, {**given, member: "none"})
