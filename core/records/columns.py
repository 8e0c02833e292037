"""A column of records as small integers: a code per record, a category per code."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from math import prod
from typing import Any

import numpy as np

from ..areas import identifier_text
from ..arrays import objects
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import tr
from ..plain_text import is_missing, with_none


@dataclass(frozen=True, eq=False)
class Column:
    """One field of the records.

    codes : (N,) integer array, position of the record's value in `categories`
    categories : (m,) object array of the distinct values; None is the missing value, a category of its own
    """

    codes: np.ndarray
    categories: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, rows: np.ndarray) -> Column:
        """The values of some rows, by their positions or a bool for each row."""
        return Column(self.codes[rows], self.categories)


MOST_KNOWN = 1 << 16
# Values of one type are sorted as an array, texts no longer than these, of which so many are put into it at once.
LONGEST_SORTED, PUT_AT_ONCE = 64, 20_000
# How many possible keys `number_keys` keeps a table of: some for each key, and as many as cost nothing.
LOOKUP_PER_KEY, SMALL_LOOKUP = 4, 1 << 16
ROWS_AT_ONCE = 1 << 18
GROWTH = 8  # one in so many rows more than there are, where an array must grow
HALF = 16  # bits of which numpy sorts numbers in linear time
LARGEST_INT32, LARGEST_INT64 = 2**31 - 1, 2**63 - 1


class ColumnBuilder:
    """Encodes a column chunk by chunk, so that tens of millions of records are never in memory as objects."""

    def __init__(self) -> None:
        self._position: dict[tuple[type, object], int] = {}
        self._seen: dict[type, dict[object, int]] = {}
        self._texts: dict[object, int] = {}
        self._known: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._codes_so_far, self._n_rows = np.empty(0, np.int8), 0

    def add_values(self, values: Sequence[object] | np.ndarray) -> None:
        """Append any hashable values; None is missing, as is all that `is_missing` tells."""
        values = with_none(values)
        kinds = set(map(type, values)) - {type(None)}
        if len(kinds) > 1:
            codes = map(self._code, values)
        else:
            # Values of one type, as in most fields, need no type in the key: each distinct value is encoded once.
            seen = self._seen.setdefault(kinds.pop() if kinds else type(None), {})
            for value in set(values).difference(seen):
                seen[value] = self._code(value)
            codes = map(seen.__getitem__, values)
        self._append(np.fromiter(codes, np.int32, len(values)))

    def add_texts(self, values: Sequence[object]) -> None:
        """Append texts, None where one is missing, twice as fast; nor may other values equal one of another type."""
        try:
            codes = np.fromiter(map(self._texts.__getitem__, values), np.int32, len(values))
        except KeyError:
            self._texts.update((value, self._code(value)) for value in set(values).difference(self._texts))
            codes = np.fromiter(map(self._texts.__getitem__, values), np.int32, len(values))
        self._append(codes)

    def add_array(self, values: np.ndarray, missing: np.ndarray | None = None) -> None:
        """Append a numpy array of numbers or text (str, or UTF-8 bytes); `missing` (m,) bool marks missing values, as
        NaN does itself."""
        if values.dtype.kind == "f":
            missing = np.isnan(values) if missing is None else missing | np.isnan(values)
        if missing is None or not missing.any():
            self._append(self._codes(values))
            return
        codes = np.empty(len(values), np.int32)
        codes[~missing] = self._codes(values[~missing])
        codes[missing] = self._code(None)
        self._append(codes)

    def code_of(self, value: object) -> int:
        """The code by which `add_codes` appends a value."""
        return self._code(value)

    def add_codes(self, codes: np.ndarray, missing: np.ndarray | None = None) -> None:
        """Append values by their codes, as `code_of` gives them; missing : (m,) bool marks missing values, for which
        there are none among the codes."""
        if missing is None:
            self._append(codes)
            return
        every = np.full(len(missing), self._code(None), np.int32)
        every[~missing] = codes
        self._append(every)

    def column(self) -> Column:
        """All that was appended, the categories in the order of `category_order`."""
        values = [value for _, value in self._position]
        order = _in_order(values)
        categories = objects([values[i] for i in order.tolist()])
        rank = smallest_integers(np.argsort(order), len(values))
        return Column(looked_up(rank, self._codes_so_far[: self._n_rows]), categories)

    def _append(self, codes: np.ndarray) -> None:
        """Keep codes, as small as they can be by the values met so far, in one array that grows in its place: chunks
        of many columns beside each other would leave gaps in memory that nothing else fits into."""
        kept, n_rows = self._codes_so_far, self._n_rows + len(codes)
        kind = np.min_scalar_type(-max(len(self._position), 1))
        if kept.dtype != kind:
            kept = self._codes_so_far = kept.astype(kind)
        if n_rows > len(kept):
            kept.resize(n_rows + n_rows // GROWTH, refcheck=False)
        kept[self._n_rows : n_rows] = codes
        self._n_rows = n_rows

    def _codes(self, values: np.ndarray) -> np.ndarray:
        """A code for each value; those met before are looked up, several times as fast as sorting them once more."""
        keys = _keys(values)
        nothing = (keys[:0], np.empty(0, np.int32))
        kind = values.dtype.kind + keys.dtype.kind
        known, codes = self._known.get(kind, nothing)
        if not len(known):
            unique, at = np.unique(keys, return_inverse=True)
            known, codes = unique, self._codes_of_unique(unique, kind)
            at = at.reshape(-1)
        else:
            at = np.searchsorted(known, keys)
            at[at == len(known)] = 0
            new = known[at] != keys
            if new.any():
                unique = np.unique(keys[new])
                codes = np.concatenate([codes, self._codes_of_unique(unique, kind)])
                known = np.concatenate([known, unique])
                order = np.argsort(known, kind="stable")
                known, codes = known[order], codes[order]
                at = np.searchsorted(known, keys)
        # A column of ever new values is not worth remembering.
        self._known[kind] = (known, codes) if len(known) <= MOST_KNOWN else nothing
        return codes[at]

    def _codes_of_unique(self, unique: np.ndarray, kind: str) -> np.ndarray:
        values = (unique.view("S8") if kind == "Su" else unique).tolist()
        decoded = [value.decode("utf-8") if isinstance(value, bytes) else value for value in values]
        return np.array([self._code(value) for value in decoded], dtype=np.int32)

    def _code(self, value: object) -> int:
        if isinstance(value, (np.number, np.bool_, np.str_)):  # shown as the plain value is
            value = value.item()
        return self._position.setdefault(typed(value), len(self._position))


def typed(value: object) -> tuple[type, object]:
    """What a column tells values apart by: those of different types are different, even where they are equal."""
    return type(value), value


def column_from_values(values: Sequence[object] | np.ndarray) -> Column:
    """Encode any hashable values as a column, such as a list, an array or a column of pandas.

    None, NaN, NaT and pandas' NA are one missing value. Equal values of different types (1, 1.0 and True) are kept
    apart here; for a release, what reads alike is one value (`match_records`).

    Parameters
    ----------
    values : sequence of N values
        One of each record.

    Returns
    -------
    Column
        N codes, and the category of each code: numbers by size, all else by type and text, the missing value last.

    Examples
    --------
    >>> from vbas.core.records.columns import column_from_values
    >>> ages = column_from_values([34, 7, None, 34, float("nan")])
    >>> ages.categories.tolist(), ages.codes.tolist()
    ([7, 34, None], [1, 0, 2, 1, 2])
    """
    builder = ColumnBuilder()
    builder.add_values(values)
    return builder.column()


def column_of_numbers(values: np.ndarray, missing: np.ndarray | None = None) -> Column:
    """A column of whole numbers; missing : (N,) bool, of those that are not known, None for none."""
    known = values if missing is None else values[~missing]
    distinct = np.unique(known)
    categories = distinct.tolist() + [None] * (len(known) < len(values))
    codes = np.empty(len(values), np.min_scalar_type(-max(len(categories), 1)))
    for rows in stretches(len(values)):
        codes[rows] = np.searchsorted(distinct, values[rows])
    if missing is not None:
        codes[missing] = len(distinct)
    return Column(codes, objects(categories))


def codes_of_labels(labels: Sequence[object]) -> np.ndarray:
    """Labels compared as text, as numbers in ascending order of the text, (n,) int64; -1 where one is missing."""
    column = column_from_values([identifier_text(label) for label in labels])
    known = np.array([label is not None for label in column.categories], bool)
    number = np.where(known, np.cumsum(known, dtype=np.int64) - 1, -1)
    return number[column.codes].astype(np.int64)


def category_order(value: object) -> tuple[bool, str, Any, str, str]:
    """Sort key of categories: numbers by size whatever their types, all else by type and text, the missing one last."""
    kind, size = type(value).__name__, 0
    if isinstance(value, (int, float, Decimal, np.number)) and not isinstance(value, bool):
        return (False, "", value, kind, str(value))
    return (is_missing(value), kind, size, kind, str(value))


def _in_order(values: Sequence[object]) -> np.ndarray:
    """The positions of distinct values in the order of `category_order`, (m,) int64.

    Texts or numbers of one type are sorted as an array: ten times as fast, and without keeping other threads, such as
    that of a window, from going on meanwhile.
    """
    present = [i for i, value in enumerate(values) if value is not None]
    array = sortable([values[i] for i in present])
    if array is None:
        return np.array(sorted(range(len(values)), key=lambda i: category_order(values[i])), np.int64)
    missing = [i for i, value in enumerate(values) if value is None]
    order = np.array(present, np.int64)[np.argsort(array, kind="stable")]
    return np.concatenate([order, np.array(missing, np.int64)])


def sortable(values: Sequence[Any]) -> np.ndarray | None:
    """Values of one type as an array that sorts as they do; None of others."""
    kinds = set(map(type, values))
    if kinds == {str}:
        width = max(map(len, values))
        if width > LONGEST_SORTED or any(text.endswith("\0") for text in values):
            return None
        dtype: Any = f"U{max(width, 1)}"
    elif kinds == {int}:
        if min(values) < -LARGEST_INT64 or max(values) > LARGEST_INT64:
            return None
        dtype = np.int64
    elif kinds == {float}:
        dtype = np.float64
    else:
        return None
    array = np.empty(len(values), dtype)
    for start in range(0, len(values), PUT_AT_ONCE):
        array[start : start + PUT_AT_ONCE] = values[start : start + PUT_AT_ONCE]
    return None if array.dtype.kind == "f" and np.isnan(array).any() else array


def _keys(values: np.ndarray) -> np.ndarray:
    """What values are compared by: up to eight bytes of text as one integer, ten times as fast as byte by byte."""
    if values.dtype.kind != "S" or values.dtype.itemsize > 8:
        return values
    return values.astype("S8").view(np.uint64)


def smallest_integers(codes: np.ndarray, n_codes: int) -> np.ndarray:
    """The codes 0..n_codes - 1 in the smallest integer type that holds them: memory matters at tens of millions."""
    return codes.astype(smallest_integer(n_codes), copy=False)


def smallest_integer(n_codes: int) -> np.dtype:
    """The smallest type of integers that holds 0..n_codes - 1, and -1."""
    return np.min_scalar_type(-max(n_codes, 1))


def combine_codes(codes: Sequence[np.ndarray], sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Number the combinations that occur.

    codes : arrays (N,), the j-th with values 0..sizes[j] - 1. Returns (combination of each record (N,) int64,
    the combinations as rows of codes (C, len(codes)), in lexicographic order).
    """
    if not codes:
        raise ValueError("combine_codes needs at least one array of codes")
    # The mixed-radix key is reduced to the combinations that occur before it could exceed 64 bits, or a table of keys.
    key = codes[0].astype(np.int64)
    reach = max(int(sizes[0]), 1)
    for column, size in zip(codes[1:], sizes[1:]):
        size = max(int(size), 1)
        if reach * size > LARGEST_INT64 or reach <= _most_looked_up(key) < reach * size:
            unique, key = number_keys(key, reach)
            reach = len(unique)
        key *= size
        key += column
        reach *= size
    unique, combination = number_keys(key, reach)
    one_of = np.empty(len(unique), np.int64)
    one_of[combination] = np.arange(len(combination), dtype=np.int64)  # any record of a combination has its codes
    rows = np.column_stack([column[one_of].astype(np.int64) for column in codes])
    return combination, rows


def combine_columns(columns: Collection[Column]) -> tuple[np.ndarray, np.ndarray]:
    """`combine_codes` of the values of columns."""
    return combine_codes([column.codes for column in columns], [len(column.categories) for column in columns])


def columns_at(columns: Mapping[str, Column], rows: np.ndarray) -> dict[str, Column]:
    """Columns by name as `Column.at` gives them."""
    return {name: column.at(rows) for name, column in columns.items()}


def count_combinations(
    codes: Sequence[np.ndarray],
    sizes: Sequence[int],
    weights: np.ndarray | None = None,
    least: int = 0,
    placed: bool = True,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The combinations that occur, as one number each, (C,) in ascending order; how many records have each, (C,); and
    where it is asked for the position of each row's among them, (N,), -1 for rows that are left out. Each int32 where
    that holds them, else int64.

    codes : arrays (N,), the j-th with values 0..sizes[j] - 1, but the first from `least` on, 0 or -1, which is counted
    from there: rows where it is less are left out; all sizes together must be in LARGEST_INT64. weights : (N,), None
    for ones; placed : whether positions are asked for
    """
    # The numbers of tens of millions of rows, and what sorts them, are never in memory together.
    n_rows, reach = len(codes[0]), (int(sizes[0]) - least) * prod(map(int, sizes[1:]))
    number, total = integer_up_to(reach), integer_up_to(n_rows) if weights is None else np.int64
    position = np.full(n_rows if placed else 0, -1, integer_up_to(n_rows))
    of_stretches: list[tuple[np.ndarray, np.ndarray]] = []
    for rows in stretches(n_rows):
        of_rows = [column[rows] for column in codes] + ([] if weights is None else [weights[rows]])
        there = of_rows[0] >= least
        if not there.all():
            of_rows = [column[there] for column in of_rows]
        key = of_rows[0].astype(np.int64) - least
        for column, size in zip(of_rows[1:], sizes[1:]):
            key *= size
            key += column
        if placed or weights is not None:
            unique, own = number_keys(key, reach)
            # bincount adds in floating point: exact up to 2**53 records.
            counts = np.bincount(own, None if weights is None else of_rows[-1], len(unique))
            if placed:
                position[rows][there] = own
        else:
            unique, counts = count_keys(key, reach)
        most = int(counts.max(initial=0))
        of_stretches.append((unique.astype(number), counts.astype(smallest_integer(most + 1))))
    occurring = _sorted_once(np.concatenate([np.empty(0, number), *(unique for unique, _ in of_stretches)]))
    totals = np.zeros(len(occurring), total)
    for i, rows in enumerate(stretches(n_rows)):
        unique, counts = of_stretches[i]
        of_stretches[i] = (unique[:0], counts[:0])
        place = np.searchsorted(occurring, unique)
        totals[place] += counts
        if placed:
            # The last is for those that are left out.
            position[rows] = np.append(place, -1).astype(position.dtype)[position[rows]]
    return occurring, totals, position


def _sorted_once(numbers: np.ndarray) -> np.ndarray:
    """Each of the numbers once, ascending; what they are given in is used for it, so that no copy is in memory."""
    numbers.sort()
    n, last = 0, None
    for rows in stretches(len(numbers)):
        some = numbers[rows]
        new = np.ones(len(some), bool)
        np.not_equal(some[1:], some[:-1], out=new[1:])
        new[0] = last is None or some[0] != last
        last, kept = some[-1], some[new]
        numbers[n : n + len(kept)] = kept
        n += len(kept)
    numbers.resize(n, refcheck=False)
    return numbers


def different_rows(
    codes: Sequence[np.ndarray],
    sizes: Sequence[int],
    weights: np.ndarray | None = None,
    placed: bool = False,
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Of each column its codes in the rows that differ, (R,), as small as can be, in lexicographic order; how many
    records show each, (R,) int64; and where it is asked for, which of them each row shows, (N,), -1 for those left out.

    codes : arrays (N,), the j-th with values 0..sizes[j] - 1; rows of which the first is below 0 are left out;
    weights : (N,), None for ones
    """
    sizes = [max(int(size), 1) for size in sizes]
    if prod(sizes) <= LARGEST_INT64:
        numbers, counts, shown_as = count_combinations(codes, sizes, weights, placed=placed)
        different = [np.empty(len(numbers), smallest_integer(size)) for size in sizes]
        for some in stretches(len(numbers)):
            left = numbers[some]
            for position in reversed(range(1, len(sizes))):
                left, different[position][some] = np.divmod(left, sizes[position])
            different[0][some] = left
        del numbers
        return different, counts.astype(np.int64, copy=False), shown_as
    there = np.flatnonzero(codes[0] >= 0)
    which, rows = combine_codes([column[there] for column in codes], sizes)
    # bincount adds in floating point: exact up to 2**53 records.
    counts = np.bincount(which, None if weights is None else weights[there], len(rows)).astype(np.int64)
    shown_as = np.full(len(codes[0]), -1, np.int64)
    shown_as[there] = which
    return [smallest_integers(code, size) for code, size in zip(rows.T, sizes)], counts, shown_as


def count_codes(codes: np.ndarray, n_codes: int, weights: np.ndarray | None = None) -> np.ndarray:
    """How often each code occurs, or its weights together, (n_codes,), without making all codes longer at once."""
    counts = np.zeros(n_codes, np.int64 if weights is None else float)
    for rows in stretches(len(codes)):
        counts += np.bincount(codes[rows], None if weights is None else weights[rows], n_codes)
    return counts


def integer_up_to(most: int) -> type[np.signedinteger]:
    """The type of numbers up to this."""
    return np.int32 if most <= LARGEST_INT32 else np.int64


def stretches(n_rows: int) -> Iterator[slice]:
    """All rows, some at once."""
    return (slice(first, first + ROWS_AT_ONCE) for first in range(0, n_rows, ROWS_AT_ONCE))


def looked_up(values: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """`values[positions]`, (N,), without all positions as long as numpy makes them; positions : (N,) integers."""
    looked_up_values = np.empty(len(positions), values.dtype)
    for rows in stretches(len(positions)):
        looked_up_values[rows] = values[positions[rows]]
    return looked_up_values


def number_keys(keys: np.ndarray, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct keys in ascending order, (C,) int64, and the position of each key among them, (N,) int64.

    keys : (N,) int64, from 0 to reach - 1. Where there are few possible keys they are looked up in a table of them, in
    linear time; else sorted.
    """
    if reach > _most_looked_up(keys):
        if reach <= 1 << 2 * HALF and len(keys):
            return _number_sorted(keys)
        unique, position = np.unique(keys, return_inverse=True)
        return unique, position.reshape(-1).astype(np.int64, copy=False)
    occurs = np.zeros(reach, bool)
    occurs[keys] = True
    unique = np.flatnonzero(occurs)
    number = np.cumsum(occurs, dtype=integer_up_to(reach))
    position = number[keys].astype(np.int64)
    position -= 1
    return unique, position


def _number_sorted(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`number_keys` of keys below 2**32, one at least: sorted by each half in turn, which numpy does in linear time."""
    order = np.argsort((keys & ((1 << HALF) - 1)).astype(np.uint16), kind="stable")
    order = order[np.argsort((keys >> HALF).astype(np.uint16)[order], kind="stable")]
    in_order = keys[order]
    new = np.ones(len(keys), bool)
    np.not_equal(in_order[1:], in_order[:-1], out=new[1:])
    position = np.empty(len(keys), np.int64)
    position[order] = np.cumsum(new, dtype=np.int64) - 1
    return in_order[new], position


def count_keys(keys: np.ndarray, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct keys in ascending order, and how often each occurs, two arrays (C,) int64.

    keys : (N,) int64, from 0 to reach - 1; they may be sorted in place. As `number_keys`, in linear time where there
    are few possible keys.
    """
    if reach <= _most_looked_up(keys):
        counts = np.bincount(keys)
        unique = np.flatnonzero(counts)
        return unique, counts[unique]
    keys.sort()
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[starts], np.diff(starts, append=len(keys))


def sum_by_key(keys: np.ndarray, amounts: np.ndarray, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct keys in ascending order, (C,) int64, and the sum of what goes with each, (C,) int64.

    keys : (N,) int64, from 0 to reach - 1; amounts : (N,) whole numbers from 1, which sum to less than 2**53. As
    `number_keys`, in linear time where there are few possible keys.
    """
    if reach <= _most_looked_up(keys):
        sums = np.bincount(keys, amounts)
        unique = np.flatnonzero(sums)
        return unique, sums[unique].astype(np.int64)
    unique, at = number_keys(keys, reach)
    return unique, np.bincount(at, amounts, len(unique)).astype(np.int64)


def _most_looked_up(keys: np.ndarray) -> int:
    """Up to how many possible keys a table of them is faster than sorting."""
    return SMALL_LOOKUP + LOOKUP_PER_KEY * len(keys)


def column_numbers(column: Column, field: str, parameter: str) -> np.ndarray:
    """`number_or_missing` of a column, (N,) float: its categories are converted, not its rows. Raises InputError."""
    return number_or_missing(column.categories.tolist(), field, parameter)[column.codes]


def number_or_missing(values: Sequence[object], field: str, parameter: str) -> np.ndarray:
    """Numbers from a numeric or text field, NaN where missing, (n,) float.

    Raises InputError for text that is no number, naming the first values.
    """
    numbers = np.full(len(values), np.nan)
    wrong = []
    for i, value in enumerate(values):
        if value is None or value == "":
            continue
        try:
            if isinstance(value, str) and "_" in value:  # which Python passes over
                raise ValueError(value)
            numbers[i] = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            wrong.append(value)
    if wrong:
        raise InputError.saying(
            "{parameter} field “{field}” holds what is no number (first: {first}): {advice}.",
            parameter=parameter,
            field=field,
            first=first_values(wrong),
            advice=tr("write decimals with a point, and nothing between thousands")
            if any("," in str(value) for value in wrong)
            else tr("choose a numeric field or correct it"),
        )
    return numbers
