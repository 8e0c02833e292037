"""Columns of a plain CSV file, found by its separators and line ends alone: several times as fast as by rows.

Only where nothing is to be interpreted: no quotation marks but a pair around a whole value, as many values in every
row, texts as they stand, whole numbers as Python writes them and others with a decimal point. Of any other file nothing
is given, and a reader of CSV files has to read it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..progress import Progress, silent
from .byte_texts import LONGEST, NotEncoded, TextEncoder
from .columns import Column, ColumnBuilder
from .sqlite_file import INTEGER, LONG, REAL, TEXT
from .table_file import TableFile

SEPARATORS = (",", ";", "\t")
AT_ONCE = 1 << 22
_NEWLINE, _QUOTE = 10, 34
_BLANK = np.zeros(256, bool)
_BLANK[[9, 32]] = True
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
_DECIMAL = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?")
_LARGEST = {INTEGER: 2**31 - 1, LONG: 2**63 - 1}


def read_plain_csv(file: TableFile, n_rows: int, progress: Progress = silent) -> dict[str, Column] | None:
    """The fields that are read, None where the file is not as plain as that.

    n_rows : rows there are, the header aside, counted in another way; progress raises to cancel
    """
    kinds = [file.kinds.get(name) for name in file.read]
    separator = _separator_of(file)
    if separator is None or any(kind not in (TEXT, REAL, *_LARGEST) for kind in kinds):
        return None
    builders = {name: ColumnBuilder() for name in file.read}
    encoders = {file.fields.index(name): TextEncoder(builder.code_of) for name, builder in builders.items()}
    done = 0
    try:
        for rows in _stretches(file.path):
            places = _places(rows, ord(separator), len(file.fields))
            buffer = np.frombuffer(rows + bytes(LONGEST), np.uint8)
            for (field, encoder), builder in zip(encoders.items(), builders.values()):
                start, length = places[0][:, field], places[1][:, field]
                _refuse_blanks(buffer, start, length)
                builder.add_codes(encoder.codes(buffer, start, length))
            done += len(places[0])
            progress(min(done / max(n_rows, 1), 1.0))
        columns = {name: _of_kind(builders[name].column(), str(kind)) for name, kind in zip(file.read, kinds)}
    except (NotPlain, NotEncoded, UnicodeDecodeError):
        return None
    return columns if done == n_rows else None


def separator_of(header: str) -> str:
    """What separates the fields of a CSV file, by its first line, as GDAL finds it: the one of SEPARATORS that stands
    there outside of quotation marks, and a comma where several or none do."""
    outside = "".join(header.split('"')[::2])
    there = [sign for sign in SEPARATORS if sign in outside]
    return there[0] if len(there) == 1 else ","


class NotPlain(Exception):
    """Something in the file is to be interpreted."""


def _separator_of(file: TableFile) -> str | None:
    """What separates the names of the fields in the first line, all of them; None where nothing does."""
    declared = file.path.with_suffix(".csvt")
    if len(file.fields) < 2 or (declared.is_file() and b"(" in declared.read_bytes()):
        return None
    with file.path.open("rb") as lines:
        first = lines.readline(AT_ONCE)
    try:
        header = first.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        return None
    names = list(file.fields)
    if len({name.lower() for name in names}) < len(names) or any(sign in name for name in names for sign in SEPARATORS):
        return None
    return next((sign for sign in SEPARATORS if _names_in(header, sign) == names), None)


def _names_in(header: str, separator: str) -> list[str]:
    """The names of the fields in a line; none where that is no line of names, each with quotation marks or without."""
    try:
        return next(csv.reader([header], delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def _stretches(path: Path) -> Iterator[bytes]:
    """Whole rows, many at once, each with its line end. Raises NotPlain."""
    with path.open("rb") as file:
        file.readline()
        rest = b""
        while chunk := file.read(AT_ONCE):
            rows = rest + chunk
            end = rows.rfind(b"\n") + 1
            rows, rest = rows[:end], rows[end:]
            if rows:
                yield _with_newlines(rows)
        if rest:
            yield _with_newlines(rest + b"\n")


def _with_newlines(rows: bytes) -> bytes:
    if rows.count(b"\r") != rows.count(b"\r\n"):
        raise NotPlain
    return rows.replace(b"\r\n", b"\n")


def _places(rows: bytes, separator: int, n_fields: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the values of each row begin, and how long they are, (n_rows, n_fields) int64. Raises NotPlain."""
    data = np.frombuffer(rows, np.uint8)
    is_end = data == _NEWLINE
    stop = np.flatnonzero(is_end | (data == separator))
    quotes = np.flatnonzero(data == _QUOTE)
    if len(quotes):
        stop = _outside(data, stop, quotes, separator)
    if np.count_nonzero(is_end) * n_fields != len(stop) or not is_end[stop[n_fields - 1 :: n_fields]].all():
        raise NotPlain
    start = np.concatenate([[0], stop[:-1] + 1])
    if len(quotes):
        in_quotes = data[start] == _QUOTE
        start, stop = start + in_quotes, stop - in_quotes
    return start.reshape(-1, n_fields), (stop - start).reshape(-1, n_fields)


def _outside(data: np.ndarray, stop: np.ndarray, quotes: np.ndarray, separator: int) -> np.ndarray:
    """The ends of values, of which those are left out that stand between quotation marks. Raises NotPlain where these
    are not a pair around a whole value, within a line."""
    if len(quotes) % 2:
        raise NotPlain
    opening, closing = quotes[::2], quotes[1::2]
    before, after = data[np.maximum(opening - 1, 0)], data[closing + 1]
    begins = (opening == 0) | (before == separator) | (before == _NEWLINE)
    ends = (after == separator) | (after == _NEWLINE)
    within = np.searchsorted(quotes, stop) % 2 == 1
    if not (begins & ends).all() or (data[stop[within]] == _NEWLINE).any():
        raise NotPlain
    return stop[~within]


def _refuse_blanks(buffer: np.ndarray, start: np.ndarray, length: np.ndarray) -> None:
    """Raise NotPlain where a value begins or ends with a blank, of which readers may think differently."""
    filled = length > 0
    first, last = buffer[start[filled]], buffer[(start + length - 1)[filled]]
    if _BLANK[first].any() or _BLANK[last].any():
        raise NotPlain


def _of_kind(column: Column, kind: str) -> Column:
    """Texts as the numbers that they are, where the field holds such; an empty text is a missing one then. Raises
    NotPlain where one is no such number."""
    if kind == TEXT:
        return column
    builder, codes = ColumnBuilder(), []
    for text in column.categories.tolist():
        codes.append(builder.code_of(_number(text, kind) if text else None))
    builder.add_codes(np.array(codes, np.int32)[column.codes])
    return builder.column()


def _number(text: str, kind: str) -> float:
    if kind == REAL:
        if _DECIMAL.fullmatch(text) is None or (text[0] == "-" and not float(text)):
            raise NotPlain
        return float(text)
    if _WHOLE.fullmatch(text) is None or abs(int(text)) > _LARGEST[kind]:
        raise NotPlain
    return int(text)
