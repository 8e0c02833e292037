"""Columns and codes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas.core.areas import identifier_text
from vbas.core.errors import InputError
from vbas.core.records import columns
from vbas.core.records.columns import (
    ColumnBuilder,
    column_from_values,
    combine_codes,
    number_keys,
    number_or_missing,
    sum_by_key,
)

from .strategies import column_from_array

texts = st.lists(st.one_of(st.none(), st.text(max_size=12)), max_size=40)


@given(texts, st.integers(1, 7))
def test_values_come_back_however_they_are_chunked(values, size):
    builder = ColumnBuilder()
    for start in range(0, len(values), size):
        builder.add_values(values[start : start + size])
    column = builder.column()
    assert column.categories[column.codes].tolist() == values
    assert len(set(column.categories.tolist())) == len(column.categories)


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=1, max_size=40))
def test_arrays_and_values_give_the_same_column(values):
    missing = np.array([value is None for value in values])
    array = np.array([0 if value is None else value for value in values])
    one, other = column_from_values(values), column_from_array(array, missing)
    assert one.categories.tolist() == other.categories.tolist()
    assert one.codes.tolist() == other.codes.tolist()


@given(
    st.lists(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=9), max_size=40)
)
def test_bytes_are_decoded_and_equal_text(values):
    array = np.array([value.encode() for value in values], dtype="S")
    if not values:
        array = np.empty(0, "S1")
    one, other = column_from_values(values), column_from_array(array)
    assert one.categories.tolist() == other.categories.tolist()
    assert one.codes.tolist() == other.codes.tolist()


@given(
    st.one_of(
        texts,
        st.lists(st.one_of(st.none(), st.text("ab\0é\U0001f600", max_size=3))),
        st.lists(st.one_of(st.none(), st.integers(-(2**70), 2**70))),
        st.lists(st.one_of(st.none(), st.integers(-9, 9), st.booleans(), st.text(max_size=1), st.floats())),
        st.lists(st.floats()),
    )
)
def test_categories_stand_in_their_order_whatever_they_are_sorted_by(values):
    categories = column_from_values(values).categories.tolist()
    assert list(map(repr, categories)) == list(map(repr, sorted(categories, key=columns.category_order)))
    assert len(categories) == len({(type(value), value) for value in [None if v != v else v for v in values]})


@pytest.mark.parametrize("values", [[None, False, 0.0], np.array([True, False]), np.array([False, None, np.False_])])
def test_what_is_false_is_not_missing(values):
    column = column_from_values(values)
    assert column.categories[column.codes].tolist() == list(values)


def test_equal_values_of_different_types_stay_apart():
    assert column_from_values([1, 1.0, True, "1"]).codes.tolist() != [0, 0, 0, 0]
    assert len(column_from_values([1, 1.0, True, "1"]).categories) == 4


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 5)), min_size=1, max_size=50))
def test_combinations_are_numbered_in_order(rows):
    codes = [np.array(column) for column in zip(*rows)]
    for sizes in ([4, 2, 6], [2**40, 2**40, 2**40]):  # the second cannot be packed into 64 bits at once
        combination, distinct = combine_codes(codes, sizes)
        assert distinct.tolist() == [list(row) for row in sorted(set(rows))]
        assert [tuple(distinct[c]) for c in combination] == rows


@given(st.lists(st.integers(0, 8), max_size=30), st.sampled_from([9, 2**18, 2**31 + 9, 2**32, 2**62]), st.booleans())
def test_keys_are_numbered_in_order_however_many_are_possible(keys, reach, apart):
    """A table of the possible keys and sorting, by halves or whole, must give the very same."""
    keys = [key * ((reach - 1) // 8) for key in keys] if apart else keys
    unique, position = number_keys(np.array(keys, np.int64), reach)
    assert unique.tolist() == sorted(set(keys))
    assert unique[position].tolist() == keys
    assert unique.dtype == position.dtype == np.int64
    amounts = np.arange(1, len(keys) + 1)
    summed, totals = sum_by_key(np.array(keys, np.int64), amounts, reach)
    expected = dict.fromkeys(sorted(set(keys)), 0)
    for key, amount in zip(keys, amounts.tolist()):
        expected[key] += amount
    assert dict(zip(summed.tolist(), totals.tolist())) == expected and totals.dtype == np.int64


def test_many_fields_are_combined_in_order_without_a_table_of_all(monkeypatch):
    """The key is reduced on the way, before its table would grow beyond the rows."""
    monkeypatch.setattr(columns, "SMALL_LOOKUP", 1)
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, size, 50) for size in (3, 40, 1, 7, 2)]
    combination, distinct = combine_codes(codes, [3, 40, 1, 7, 2])
    rows = list(zip(*(code.tolist() for code in codes)))
    assert distinct.tolist() == [list(row) for row in sorted(set(rows))]
    assert [tuple(distinct[one]) for one in combination] == rows


@pytest.mark.parametrize(
    ("value", "text"),
    [(46110001, "46110001"), (46110001.0, "46110001"), ("0123", "0123"), (1.5, "1.5"), (None, None), ("", None)],
)
def test_identifiers_are_compared_as_text(value, text):
    assert identifier_text(value) == text


@given(
    st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 1), st.integers(0, 5), st.integers(0, 4)), max_size=50),
    st.integers(1, 60),
    st.booleans(),
)
def test_combinations_are_counted_some_rows_at_once_as_one_by_one(rows, at_once, weighted):
    codes = [np.array([row[j] for row in rows], np.int8) for j in range(3)]
    weights = np.array([row[3] for row in rows], np.int64) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "ROWS_AT_ONCE", at_once)
        numbers, counts, position = columns.count_combinations(codes, [4, 2, 6], weights, least=-1)
        assert columns.looked_up(numbers, position).tolist() == numbers[position].tolist()
    expected: dict[int, int] = {}
    for area, one, other, weight in rows:
        number = ((area + 1) * 2 + one) * 6 + other
        expected[number] = expected.get(number, 0) + (weight if weighted else 1)
    assert dict(zip(numbers.tolist(), counts.tolist())) == expected and numbers.tolist() == sorted(expected)
    assert [int(numbers[p]) for p in position] == [((a + 1) * 2 + one) * 6 + other for a, one, other, _ in rows]
    assert (numbers.dtype, counts.dtype, position.dtype) == (np.int32, np.int64 if weighted else np.int32, np.int32)


@given(
    st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 1), st.integers(0, 5), st.integers(0, 4)), max_size=50),
    st.integers(1, 60),
    st.booleans(),
    st.booleans(),
    st.sampled_from([columns.LARGEST_INT64, 40]),
)
def test_rows_that_differ_are_counted_without_those_that_are_left_out(rows, at_once, weighted, placed, largest):
    codes = [np.array([row[j] for row in rows], np.int8) for j in range(3)]
    weights = np.array([row[3] for row in rows], np.int64) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "ROWS_AT_ONCE", at_once)
        patch.setattr(columns, "LARGEST_INT64", largest)  # beyond it there is another way
        different, counts, shown_as = columns.different_rows(codes, [4, 2, 6], weights, placed)
    expected: dict[tuple[int, ...], int] = {}
    for *row, weight in rows:
        if row[0] >= 0:
            expected[tuple(row)] = expected.get(tuple(row), 0) + (weight if weighted else 1)
    shown = list(zip(*(column.tolist() for column in different)))
    assert list(zip(shown, counts.tolist())) == sorted(expected.items())
    assert {column.dtype for column in different} == {np.dtype(np.int8)} and counts.dtype == np.int64
    if placed:
        assert [shown[at] if at >= 0 else None for at in shown_as.tolist()] == [
            row[:3] if row[0] >= 0 else None for row in rows
        ]


@given(st.lists(st.integers(0, 5), max_size=50), st.integers(1, 60))
def test_codes_are_counted_some_at_once(codes, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "ROWS_AT_ONCE", at_once)
        once = columns.count_codes(np.array(codes, np.int8), 6)
        twice = columns.count_codes(np.array(codes, np.int8), 6, np.full(len(codes), 2))
    assert once.tolist() == [codes.count(code) for code in range(6)] and (twice == 2 * once).all()


@pytest.mark.parametrize(
    ("text", "advice"),
    [("2,5", "write decimals with a point, and nothing between thousands"), ("1_000", "choose a numeric field")],
)
def test_numbers_of_other_writings_are_named(text, advice):
    with pytest.raises(InputError, match=f"POPULATION field “people” holds what is no number .*“{text}”.*{advice}"):
        number_or_missing(["1", "2.5", " 3e2", None, "", text], "people", "POPULATION")
    assert number_or_missing(["2.5", " 3e2", 7, True], "people", "POPULATION").tolist() == [2.5, 300, 7, 1]
