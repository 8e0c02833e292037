"""The check of any table, class by class and at its edges."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.errors import InputError
from vbas.core.privacy.checking import check_release
from vbas.core.records.columns import column_from_values
from vbas.core.report.checking import check_report, said_of_fields
from vbas.core.report.provenance import Provenance

K = 5


@pytest.mark.parametrize(("people", "fails"), [(K - 1, True), (K, False), (K + 1, False)])
def test_a_class_falls_short_from_one_less_than_k_on(people, fails):
    sex = column_from_values(["F"] * people + ["M"] * (2 * K))
    check = check_release({"sex": sex}, {}, K)
    assert check.k_found == people
    assert (check.classes_below, check.records_below) == ((1, people) if fails else (0, 0))


@pytest.mark.parametrize(("persons", "fails"), [(K - 1, True), (K, False)])
def test_persons_are_counted_where_they_are_known(persons, fails):
    """Twice as many rows as persons."""
    person = column_from_values([f"person {i % persons}" for i in range(2 * persons)])
    check = check_release({"sex": column_from_values(["F"] * (2 * persons))}, {}, K, members={"persons": person})
    assert (check.k_found, bool(check.fails.any())) == (persons, fails)


def test_households_are_not_called_people():
    """Three homes of four people each are fewer households than asked, and more people."""
    columns = {"sex": column_from_values(["F"] * 12)}
    home = {"households": column_from_values([f"home {i % 3}" for i in range(12)])}
    check = check_release(columns, {}, K, members=home)
    assert check.counted(check.k_found) == "3 households"
    page = check_report(check, K, columns, Provenance())
    assert "the smallest class has 3 households" in page and "Smallest class, households" in page
    assert ">Households<" in page and "3 people" not in page and "Smallest class, people" not in page


def test_what_fields_tell_names_no_parameter_that_a_check_has_not():
    columns = {"sex": column_from_values(["F"] * 200)}
    check = check_release(columns, {"name": column_from_values([f"n{i}" for i in range(200)])}, K)
    (said,) = said_of_fields(check)
    assert "KEEP_FIELDS" in check.kept[0].refusal and said.startswith("“name” has a value of its own in 200")


def test_rows_of_nobody_and_persons_of_rows_with_counts_are_refused():
    """Rows without an identifier would be those of one person, who hides what all others have."""
    sex, ill = column_from_values(["F"] * 12), column_from_values(["flu"] * 3 + ["hiv"] * 9)
    nobody = {"persons": column_from_values(["a", "b", "c", *[None] * 9])}
    with pytest.raises(InputError, match="PERSON_ID is missing in 9 rows"):
        check_release({"sex": sex}, {}, 3, members=nobody, sensitive={"ill": ill}, max_share=75.0)
    persons = {"persons": column_from_values([f"p{i}" for i in range(12)])}
    with pytest.raises(InputError, match="PERSON_ID and RECORD_COUNT cannot go together"):
        check_release({"sex": sex}, {}, 3, members=persons, counts=np.zeros(12, np.int64))


@pytest.mark.parametrize(("values", "l_diversity", "fails"), [("aab", 2, False), ("aab", 3, True), ("aaa", 2, True)])
def test_different_values_are_asked_for_to_the_point(values, l_diversity, fails):
    diagnosis = column_from_values([values[i % 3] for i in range(9)])
    sex = column_from_values(["F"] * 9)
    check = check_release({"sex": sex}, {}, K, sensitive={"diagnosis": diagnosis}, l_diversity=l_diversity)
    assert (check.l_found, bool(check.fails.any())) == (len(set(values)), fails)


@pytest.mark.parametrize(
    ("people", "said"),
    [
        (1, "1 of 1 record is in 1 class that falls short of what is asked; the smallest class has 1 record (k = 5)."),
        (7, "The only class has at least 5 records: 7."),
    ],
)
def test_one_record_and_one_class_are_told_as_one(people, said):
    columns = {"sex": column_from_values(["F"] * people)}
    assert said in check_report(check_release(columns, {}, 5), 5, columns, Provenance())


@pytest.mark.parametrize("k", [1, 0, -3])
def test_a_k_with_which_nothing_would_be_hidden_is_refused(k):
    sex = column_from_values(["F", "M", "M"])
    with pytest.raises(InputError, match="K"):
        check_release({"sex": sex}, {}, k)
    assert check_release({"sex": sex}, {}, 2)
