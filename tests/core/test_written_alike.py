"""Values that differ in writing alone are told of: each hides fewer, and two of them are no two diagnoses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import make_levels
from vbas.core.plain_text import without_writing
from vbas.core.preparing.roles import LEAVE_OUT, QUASI, SENSITIVE, column_summary
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.records.written_alike import written_in_several_ways


@pytest.mark.parametrize(
    ("values", "several"),
    [
        (["M", "m", " M", "F"], [[" M", "M", "m"]]),
        (["01", "1", "1.0", "10"], [["01", "1", "1.0"]]),
        (["a  b", "A b", "ab"], [["A b", "a  b"]]),
        (["b", "B", "a", "A"], [["A", "a"], ["B", "b"]]),
        (["", " ", None], []),
        ([1, 1.0, True, "1"], []),
        (["M", "M", "F"], []),
    ],
)
def test_writings_of_a_value(values, several):
    assert written_in_several_ways(values) == several


@given(st.lists(st.text("aA b0\t1", max_size=3)))
def test_every_two_that_are_the_same_without_their_writing_are_together(values):
    of = {value: set(same) for same in written_in_several_ways(values) for value in same}
    for value in {*values}:
        same = {other for other in values if without_writing(other) == without_writing(value)}
        assert of.get(value, {value}) == (same if without_writing(value) else {value})


class Heard:
    def __init__(self):
        self.warned = []

    def info(self, *sentences):
        pass

    def warn(self, *sentences):
        self.warned += sentences


def warned(sex, diagnosis=None):
    """What the log of a release of records of two areas is warned of; codes that no record has stand for nobody."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [1.0, 0.0]]))
    area = column_from_values([name for name in ("a", "b") for _ in range(len(sex) // 2)])
    kept = {} if diagnosis is None else {"diagnosis": column_from_values(diagnosis)}
    table = RecordTable(area, {"sex": sex}, kept, None, sensitive=tuple(kept))
    heard, levels = Heard(), make_levels(areas, [Crosswalk(np.zeros(2, np.int64), 1)])
    anonymise(areas, match_records(table, areas, k=2), levels, Ask(k=2), log=heard)
    return [sentence for sentence in heard.warned if "writing" in sentence]


def test_a_release_tells_of_quasi_identifiers_and_sensitive_fields():
    (of_sex,) = warned(column_from_values(["M", "m", "F", "F"] * 5))
    assert of_sex.startswith("“sex” has values that differ in writing alone (“M”, “m”): each makes classes of its own")
    alike = column_from_values(["M", "F"] * 10)
    (of_diagnosis,) = warned(alike, ["HIV", "hiv ", "flu", "flu"] * 5)
    assert of_diagnosis.startswith("“diagnosis” has values that differ in writing alone (“HIV”, “hiv ”), which count")
    assert not warned(alike, ["HIV", "flu"] * 10)


def test_what_no_record_has_is_not_told_of():
    categories = np.array(["M", "m", "F"], dtype=object)
    assert not warned(Column(np.array([0, 2] * 10), categories))


def test_more_than_a_few_are_cut_short():
    letters = [letter for small in "abcd" for letter in (small, small.upper())]
    (of_sex,) = warned(column_from_values(letters * 4))
    assert "(“A”, “a”; “B”, “b”; “C”, “c”; …)" in of_sex


@pytest.mark.parametrize(
    ("name", "role", "told"), [("sex", QUASI, True), ("hiv", SENSITIVE, True), ("sex", QUASI, False)]
)
def test_a_column_is_told_of_before_anything_is_made(name, role, told):
    summary = column_summary(name, column_from_values(["yes", "Yes" if told else "yes", "no"] * 20))
    assert summary.role == role
    assert summary.reason.endswith("(“Yes”, “yes”): write them alike first.") == told


def test_of_a_column_that_is_left_out_nothing_more_is_said():
    summary = column_summary("email", column_from_values([f"{i}@x.org" for i in range(30)] + ["1@X.org"]))
    assert summary.role == LEAVE_OUT and "alike" not in summary.reason
