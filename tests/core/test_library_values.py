"""The library takes columns as pandas and numpy have them, and does not take degrees for metres."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas.benchmarks import demonstration
from vbas.core.areas import identifier_text, look_like_degrees, make_areas
from vbas.core.errors import InputError
from vbas.core.plain_text import is_missing, with_none
from vbas.core.records.columns import ColumnBuilder, column_from_values

MISSING = [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")]


@pytest.mark.parametrize("nothing", MISSING, ids=repr)
def test_whatever_stands_for_a_missing_value_is_one(nothing):
    column = column_from_values([nothing, "a", None, nothing, "b"])
    assert column.categories.tolist() == ["a", "b", None]
    assert column.codes.tolist() == [2, 0, 2, 2, 1]
    assert is_missing(nothing)
    assert identifier_text(nothing) is None


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from([*MISSING, 1, 1.5, "x", True, False, np.bool_(False), np.int64(7), datetime.date(2021, 1, 1)]),
        max_size=30,
    )
)
def test_missing_values_are_found_one_by_one_as_all_together(values):
    assert [one is None for one in with_none(values)] == [is_missing(value) for value in values]
    column = column_from_values(values)
    assert sum(is_missing(category) for category in column.categories) == int(any(map(is_missing, values)))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3.5, None, 1.0, np.nan]),
        pd.Series(["c", None, "a", np.nan]),
        pd.Series([3, None, 1, None], dtype="Int64"),
        pd.Series(["c", None, "a", None], dtype="category"),
        pd.Series(["c", None, "a", None], dtype="string"),
        pd.Series(pd.to_datetime(["2021-05-03", None, "2020-01-01", None])),
        pd.Series([3.5, None, 1.0, np.nan]).to_numpy(),
    ],
    ids=lambda column: str(column.dtype),
)
def test_columns_of_pandas_and_numpy_are_taken_as_they_are(column):
    found = column_from_values(column)
    assert found.codes.tolist() == [1, 2, 0, 2]
    assert found.categories[2] is None


def test_missing_numbers_of_a_chunk_are_those_of_the_next():
    builder = ColumnBuilder()
    for _ in range(3):
        builder.add_values([1.5, float("nan")])
        builder.add_array(np.array([float("nan"), 1.5]))
    assert builder.column().categories.tolist() == [1.5, None]


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint16, np.float32, int, float, Decimal])
def test_numbers_stand_in_the_order_of_numbers(kind):
    column = column_from_values([kind(one) for one in (10, 100, 20, 5)])
    assert column.categories.tolist() == [5, 10, 20, 100]
    assert column.codes.tolist() == [1, 3, 2, 0]


def test_numbers_of_several_types_stand_in_one_order():
    assert column_from_values([10, 2.5, np.int32(3), Decimal("2.7"), None]).categories.tolist()[:4] == [
        2.5,
        Decimal("2.7"),
        3,
        10,
    ]
    array = np.array([10, 100, 20, 5])
    assert column_from_values(array).categories.tolist() == column_from_values(array.tolist()).categories.tolist()
    assert {type(category) for category in column_from_values(array).categories} == {int}  # written as a number is


N_AREAS = 3_000


def areas_at(x, y, step, **given):
    rng = np.random.default_rng(0)
    points = np.column_stack([x + step * rng.uniform(0, 20, N_AREAS), y + step * rng.uniform(0, 10, N_AREAS)])
    return make_areas([f"a{i}" for i in range(N_AREAS)], points, **given)


@pytest.mark.parametrize(
    ("x", "y", "step"),
    [
        (-73.9, 45.4, 0.03),  # Montréal
        (-0.5, 51.3, 0.03),  # London, on the meridian
        (-0.3, 5.5, 0.01),  # Accra
        (32.5, 0.2, 0.01),  # Kampala, on the equator
        (6.4, -0.1, 0.02),  # São Tomé
        (-125.0, 25.0, 2.5),  # the counties of the USA
        (170.0, -47.0, 0.5),  # New Zealand
    ],
)
def test_degrees_are_not_taken_for_metres(x, y, step):
    with pytest.raises(InputError, match=r"longitudes and latitudes.*in_metres=True"):
        areas_at(x, y, step)
    assert len(areas_at(x, y, step, in_metres=True)) == N_AREAS


@pytest.mark.parametrize(
    ("x", "y", "step"), [(0, 0, 0.05), (0, 0, 5_000), (-100, -50, 100), (500_000, 5_000_000, 0.01)]
)
def test_towns_in_metres_are_taken_for_what_they_are(x, y, step):
    assert len(areas_at(x, y, step)) == N_AREAS


@pytest.mark.slow
def test_made_up_towns_are_in_metres():
    assert not look_like_degrees(demonstration.city().areas().points)
    assert not look_like_degrees(np.array([[x, y] for x in range(9) for y in range(9)], float))
    assert not look_like_degrees(np.zeros((5, 2)))  # where distances count for nothing
