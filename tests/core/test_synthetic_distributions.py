"""Distributions: what is read, scaled and refused; and the made-up shares of Canada."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas.core.errors import InputError
from vbas.core.site_number.cutoff import PROVINCES as STATCAN_PROVINCES
from vbas.core.synthetic.canada import canadian_distributions
from vbas.core.synthetic.distributions import make_distributions, province_rows

TABLE = [
    ("46", "sex", "f", 0.5),
    ("46", "sex", "m", 0.5),
    ("47", "sex", "f", 0.6),
    ("47", "sex", "m", 0.4),
    ("46", "age", 1, 1.0),
    ("47", "age", 1, 0.25),
    ("47", "age", None, 0.75),
]


def read(rows):
    return make_distributions(*zip(*rows)) if rows else make_distributions([], [], [], [])


def changed(row: int, **new):
    names = ("province", "attribute", "category", "share")
    rows = [dict(zip(names, values)) for values in TABLE]
    rows[row].update(new)
    return [tuple(values.values()) for values in rows]


def test_the_table_is_read_as_it_stands():
    found = read(TABLE)
    assert found.provinces.tolist() == ["46", "47"]
    assert list(found.attributes) == ["sex", "age"]
    assert found.attributes["sex"].shares.tolist() == [[0.5, 0.5], [0.6, 0.4]]
    # A category that a province does not list has share 0; None is a category, numbers stay numbers.
    assert found.attributes["age"].categories.tolist() == [1, None]
    assert found.attributes["age"].shares.tolist() == [[1.0, 0.0], [0.25, 0.75]]
    assert found.notes == ()


@given(st.permutations(TABLE))
def test_the_order_of_the_rows_means_nothing_and_rows_come_back(rows):
    found = read(rows)
    assert sorted(map(repr, found.rows())) == sorted(map(repr, TABLE))
    assert sorted(map(repr, read(found.rows()).rows())) == sorted(map(repr, TABLE))


def test_numbers_and_texts_name_the_same_province():
    found = read([(46, "sex", "f", 1.0), ("47", "sex", "f", 1.0)])
    assert province_rows(found.provinces, ["47", 46.0, 46]).tolist() == [1, 0, 0]


def test_rounded_shares_are_scaled_with_a_note():
    found = read(changed(0, share=0.49))
    assert found.attributes["sex"].shares[0] == pytest.approx([0.49 / 0.99, 0.5 / 0.99])
    assert found.notes == ("The shares of 1 combination of province and attribute were scaled to add up to 1.",)


def test_per_cent_are_read_as_per_cent():
    found = read([(*row, 100 * share) for *row, share in TABLE])
    assert found.attributes["sex"].shares == pytest.approx(np.array([[0.5, 0.5], [0.6, 0.4]]))
    assert found.notes == ("The shares add up to 100: they were read as per cent.",)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "DISTRIBUTIONS is empty"),
        (changed(0, share=-0.1), "“share” .* negative in 1 row .*“46, sex”"),
        (changed(2, share=None), "“share” .* missing in 1 row .*“47, sex”"),
        (changed(2, share="many"), "“share” .* not a number"),
        (changed(0, share=0.3), "do not add up to 1 in 1 combination .*“46, sex”, which adds up to 0.8"),
        (changed(0, share=0.8), "add up to more than 1 in 1 combination .*“46, sex”, which adds up to 1.3"),
        (changed(0, category="m"), "1 category more than once .*“46, sex, m”"),
        (changed(0, province=None), "Field “province” .* missing in 1 row"),
        (TABLE[:5], "lacks 1 combination .*“47, age”"),
    ],
)
def test_unusable_tables_are_refused_in_one_sentence(rows, words):
    with pytest.raises(InputError, match=words) as refusal:
        read(rows)
    assert str(refusal.value).endswith(".")
    assert "\n" not in str(refusal.value)


def test_unknown_provinces_and_attributes_are_named():
    with pytest.raises(
        InputError, match=r"province of 3 areas .*first: “48”, \(missing\); known are “46”, “47”\): give"
    ):
        province_rows(read(TABLE).provinces, ["46", "48", None, "48"])
    with pytest.raises(InputError, match="no attribute “income”: choose among “sex”, “age”"):
        read(TABLE).selection(["age", "income"])


def test_the_made_up_shares_of_canada_are_whole():
    found = canadian_distributions()
    assert set(found.provinces) == set(STATCAN_PROVINCES)
    assert len(found.attributes) == 11
    # Every column of the table adds up to 100 per cent: no scaling was needed.
    assert found.notes == ()
    for attribute in found.attributes.values():
        assert attribute.shares.sum(axis=1) == pytest.approx(1)
        assert (attribute.shares > 0).all()
        # Provinces differ in every attribute.
        assert np.ptp(attribute.shares, axis=0).max() > 0.02
