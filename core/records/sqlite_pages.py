"""Columns of a plain table straight from the pages of its SQLite file: the rows of many pages at once, as arrays.

The form of these files is documented and stays as it is (https://www.sqlite.org/fileformat2.html): a tree of pages, in
whose leaves the rows stand by their numbers, each with the kinds and lengths of its values before them. Here whole rows
are decoded, several times as fast as SQLite hands over their values. What is not plain is left to SQLite, such as a
value on pages of its own, a column that was added later, or a write-ahead log that holds something; so is whatever is
not as it must be, of which SQLite knows better what to say.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

import numpy as np

from .byte_texts import LONGEST, NotEncoded, TextEncoder, stretches
from .columns import LARGEST_INT64, Column, ColumnBuilder
from .sqlite_file import INTEGER, LONG, REAL, TEXT, log_size

BYTES_AT_ONCE = 1 << 21  # few enough to stay near the processor
HEADER, UTF_8 = 100, 1
HEADER_POSITIONS = (
    24,
    28,
    52,
    92,
)  # changes, pages, whether pages tell where they are used, changes when the pages were counted
LEAF, INTERIOR = 13, 5
LOCKED_BYTE = 1 << 30  # the page that holds it belongs to nobody
MOST_WITH_GAPS = 20  # pages of some thousand, beyond which SQLite says sooner whether all is well
DEEPEST = 20  # pages above another: more than a file of the largest size has
BEFORE, BEHIND = 8, LONGEST  # spare bytes around pages, so that words at their ends can be read
LONGEST_VARINT, LONGEST_LENGTH = 9, 4  # bytes of a number, and of one that says how long a row is
WHOLE, REAL_NUMBER, FIRST_BYTES, FIRST_TEXT = (1, 2, 3, 4, 5, 6, 8, 9), 7, 12, 13
# Bytes of a value by the kind that stands before it, as far as they do not follow from it; -1 for kinds that are none.
_SIZES = np.array([0, 1, 2, 3, 4, 6, 8, 8, 0, 0, -1, -1, *((kind - 12) // 2 for kind in range(12, 128))], np.int64)
_SMALL_SIZES, _NONE = _SIZES.astype(np.int16), np.empty((0, 0), np.uint8)


class NotPlain(Exception):
    """A table is not to be read from its pages."""


class PagesOfFile:
    """A file, open before any transaction on it begins, and closed after all have ended: closing a file gives up the
    locks that this process holds on it. A context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        # Whether `read_pages` has seen all that SQLite's own check of the table looks at, and nothing wrong.
        self.whole = False

    def __enter__(self) -> PagesOfFile:
        try:
            self._file = cast(BinaryIO, self._path.open("rb", buffering=0))
        except OSError:  # SQLite will say what it is
            self._file = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def begin(self) -> None:
        """Read how large the pages are, within a transaction. Raises NotPlain."""
        self.whole = False
        header = np.zeros(HEADER, np.uint8)
        if self._file is None or log_size(self._path) or not self._is_still_there(self._file):
            raise NotPlain
        self._read_into(header, 0)
        size = int.from_bytes(header[16:18].tobytes(), "big")
        self.size = 1 << 16 if size == 1 else size
        self.usable = self.size - int(header[20])
        if int.from_bytes(header[56:60].tobytes(), "big") != UTF_8 or self.size < 512 or self.usable < 480:
            raise NotPlain
        n_bytes = self._file.seek(0, 2)
        self.n_pages = n_bytes // self.size
        changes, said, vacuum, valid_for = (
            int.from_bytes(header[at : at + 4].tobytes(), "big") for at in HEADER_POSITIONS
        )
        self.is_as_told = changes == valid_for and said * self.size == n_bytes and not vacuum

    def content(self, pages: np.ndarray) -> np.ndarray:
        """The bytes of pages, one after another, with BEFORE spare bytes before and BEHIND behind; pages : (p,), from
        1 on. Raises NotPlain."""
        if len(pages) and (pages.min() < 2 or pages.max() > self.n_pages):  # the first holds the list of tables
            raise NotPlain
        if (pages == LOCKED_BYTE // self.size + 1).any():
            raise NotPlain
        content = np.empty(BEFORE + len(pages) * self.size + BEHIND, np.uint8)
        content[:BEFORE] = 0
        content[-BEHIND:] = 0
        starts = np.flatnonzero(np.diff(pages, prepend=-1) != 1)
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(pages)]):
            part = content[BEFORE + start * self.size : BEFORE + stop * self.size]
            self._read_into(part, (int(pages[start]) - 1) * self.size)
        return content

    def _is_still_there(self, file: BinaryIO) -> bool:
        """Whether no other file has taken the place of this one before SQLite opened it."""
        try:
            return os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except OSError:
            return False

    def _read_into(self, target: np.ndarray, position: int) -> None:
        if self._file is None:
            raise NotPlain
        view = target.data
        try:
            self._file.seek(position)
            while len(view):
                n_read = self._file.readinto(view)  # type: ignore[attr-defined]
                if not n_read:
                    raise NotPlain
                view = view[n_read:]
        except OSError as error:  # SQLite will say what it is
            raise NotPlain from error


def read_pages(
    pages: PagesOfFile,
    connection: sqlite3.Connection,
    table: str,
    key: str,
    kinds: Mapping[str, str],
    progress: Callable[[float], None],
) -> tuple[dict[str, Column], int]:
    """The columns of a table, in the order of its rows' numbers, and how many rows they have.

    connection : in a transaction, so that nobody changes the pages; key : the column that numbers the rows; kinds :
    INTEGER, LONG, REAL or TEXT by field; progress raises to cancel. Raises NotPlain.
    """
    pages.begin()
    positions = _positions(connection, table, list(kinds))
    root = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)", (table,)
    ).fetchall()
    if len(root) != 1:
        raise NotPlain
    leaves, bounds, whole = _leaves(pages, int(root[0][0]))
    whole = whole and pages.is_as_told and _has_no_rules(connection, table)
    declared = connection.execute("SELECT type FROM pragma_table_info(?) ORDER BY cid", (table,)).fetchall()
    affinities = [_affinity(kind) for (kind,) in declared]
    fields = {name: _Field(kind) for name, kind in kinds.items()}
    n_rows, last, at_once = 0, None, max(BYTES_AT_ONCE // pages.size, 1)
    for first in range(0, len(leaves), at_once):
        here = leaves[first : first + at_once]
        rows = _Rows(pages, pages.content(here), len(here), affinities)
        whole = whole and rows.are_within(bounds[max(first - 1, 0) : first + at_once], at_begin=not first)
        if len(rows.number):
            if (last is not None and rows.number[0] <= last) or (rows.number[1:] <= rows.number[:-1]).any():
                raise NotPlain
            last = int(rows.number[-1])
            numbered = {name: position for name, position in positions.items() if name != key}
            for name, kind, start, size in rows.values(numbered):
                fields[name].add(rows.content, kind, start, size)
            if key in fields:
                fields[key].add_numbers(rows.number)
            whole = whole and rows.whole
        n_rows += len(rows.number)
        progress(min((first + len(here)) / len(leaves), 1.0))
    columns = {name: fields.pop(name).column() for name in list(fields)}  # what it was made from goes at once
    pages.whole = whole
    return columns, n_rows


def _has_no_rules(connection: sqlite3.Connection, table: str) -> bool:
    """Whether SQLite's check of a table looks at its pages alone: not at indexes, nor at what values must be."""
    (indexes,) = connection.execute("SELECT COUNT(*) FROM pragma_index_list(?)", (table,)).fetchone()
    (never_missing,) = connection.execute(
        'SELECT COUNT(*) FROM pragma_table_info(?) WHERE "notnull" AND NOT pk', (table,)
    ).fetchone()
    (sql,) = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)", (table,)
    ).fetchone()
    return not indexes and not never_missing and not any(rule in sql.upper() for rule in ("CHECK", "STRICT"))


def _positions(connection: sqlite3.Connection, table: str, names: list[str]) -> dict[str, int]:
    """Where the values of fields stand in a row. Raises NotPlain for a table with columns that are computed."""
    info = connection.execute("SELECT name, cid, hidden FROM pragma_table_xinfo(?)", (table,)).fetchall()
    positions = {name: cid for name, cid, hidden in info if not hidden}
    if len(positions) != len(info) or any(name not in positions for name in names):
        raise NotPlain
    return {name: positions[name] for name in names}


def _leaves(pages: PagesOfFile, root: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """The pages in which rows stand, in their order, (p,); the number up to which each may hold rows, (p,); and whether
    the pages above them are filled without a gap. Raises NotPlain where the tree is none."""
    level, bounds, whole = np.array([root], np.int64), np.array([LARGEST_INT64], np.int64), True
    for _ in range(DEEPEST):
        content = pages.content(level[:1])
        if content[BEFORE] == LEAF:
            break
        parts = [_below(pages, level[i : i + 256], bounds[i : i + 256]) for i in range(0, len(level), 256)]
        level, bounds = (np.concatenate([part[which] for part in parts]) for which in (0, 1))
        whole = whole and all(part[2] for part in parts)
        if not len(level) or len(level) > pages.n_pages:
            raise NotPlain
    else:
        raise NotPlain
    if len(np.unique(level)) != len(level):
        raise NotPlain
    return level, bounds, whole


def _below(pages: PagesOfFile, level: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """The pages below others, and the rest as `_leaves` gives it. Raises NotPlain where these have none."""
    content = pages.content(level)
    start = BEFORE + np.arange(len(level), dtype=np.int64) * pages.size
    if (content[start] != INTERIOR).any():
        raise NotPlain
    page, cell = _cells(pages, content, start, 12)
    key, end = _varints(content, cell + 4)
    order = np.lexsort(
        (
            np.arange(len(page) + len(level), dtype=np.int64) >= len(page),
            np.append(page, np.arange(len(level), dtype=np.int64)),
        )
    )
    below = np.concatenate([_big(content, cell, 4), _big(content, start + 8, 4)])[order]
    return below, np.append(key, bounds)[order], _are_filled(pages, content, start, page, cell, end, len(level))


def _are_filled(
    pages: PagesOfFile,
    content: np.ndarray,
    start: np.ndarray,
    page: np.ndarray,
    cell: np.ndarray,
    end: np.ndarray,
    most: int,
) -> bool:
    """Whether the cells of pages take all the room from where a page says that they begin to its end, but for what it
    says is free. Raises nothing.

    start : (p,) where each page begins; page, cell, end : (n,) of each cell its page, where it begins and ends; most :
    pages that are looked at one by one, before it is False
    """
    first = np.flatnonzero(np.diff(page, prepend=-1))
    if len(first) != len(start):
        return False  # a page without a cell
    begin = _big(content, start + 5, 2)
    begin[begin == 0] = 1 << 16
    # Rows that came one after another lie from the end of the page to its beginning.
    above = np.append(start[0], cell[:-1])
    above[first] = start + pages.usable
    last = np.append(first[1:], len(cell))
    filled = (_big(content, start + 1, 2) == 0) & (content[start + 7] == 0) & (cell[last - 1] == start + begin)
    filled &= np.logical_and.reduceat(end == above, first)
    others = np.flatnonzero(~filled)
    return len(others) <= most and all(
        _is_accounted_for(
            content[start[i] : start[i] + pages.usable].tobytes(),
            int(begin[i]),
            [(int(a - start[i]), int(b - start[i])) for a, b in zip(cell[first[i] : last[i]], end[first[i] : last[i]])],
        )
        for i in others.tolist()
    )


def _is_accounted_for(content: bytes, begin: int, cells: list[tuple[int, int]]) -> bool:
    """Whether cells and free blocks lie apart from each other, and the rest is as much as the page says; cells : where
    each begins and ends."""
    taken, block = list(cells), int.from_bytes(content[1:3], "big")
    while block:
        following, size = (int.from_bytes(content[block + at : block + at + 2], "big") for at in (0, 2))
        if block < begin or size < 4 or block + size > len(content) or (following and following < block + size + 4):
            return False
        taken.append((block, block + size))
        block = following
    taken.sort()
    stops = [begin, *(stop for _, stop in taken)]
    gaps = [after - stop for stop, after in zip(stops, [*(begin_at for begin_at, _ in taken), len(content)])]
    return min(gaps) >= 0 and sum(gaps) == content[7]


def _cells(pages: PagesOfFile, content: np.ndarray, start: np.ndarray, header: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each cell of pages, in order, the number of its page, and where it begins; header : bytes of their headers."""
    n_cells = _big(content, start + 3, 2)
    if (header + 2 * n_cells > pages.usable).any():
        raise NotPlain
    page = np.repeat(np.arange(len(start), dtype=np.int64), n_cells)
    which = np.arange(len(page), dtype=np.int64) - np.repeat(np.cumsum(n_cells) - n_cells, n_cells)
    offset = _big(content, start[page] + header + 2 * which, 2)
    if ((offset < header + 2 * n_cells[page]) | (offset > pages.usable - 4)).any():
        raise NotPlain
    return page, start[page] + offset


def _big(content: np.ndarray, position: np.ndarray, n_bytes: int) -> np.ndarray:
    """Whole numbers of so many bytes, the largest first, int64."""
    at: np.ndarray = np.ndarray((len(content) - n_bytes + 1,), f">u{n_bytes}", content, strides=(1,))
    return at[position].astype(np.int64)


def _varints(content: np.ndarray, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of one to nine bytes, each seven bits and whether another follows; and where the next begins, int64."""
    byte = content[position]
    value = byte.astype(np.int64)
    after = position + 1
    more = np.flatnonzero(byte & 0x80)
    if len(more):
        value[more] &= 0x7F
    for n_read in range(2, LONGEST_VARINT + 1):
        if not len(more):
            break
        byte = content[after[more]]
        after[more] += 1
        if n_read == LONGEST_VARINT:
            value[more] = (value[more] << 8) | byte
        else:
            value[more] = (value[more] << 7) | (byte & 0x7F)
            more = more[byte >= 0x80]
    return value, after


class _Rows:
    """The rows of some leaves. content : their bytes; number : of each row, (n,) int64; whole : whether all looked at
    until now is as SQLite's check wants it"""

    def __init__(self, pages: PagesOfFile, content: np.ndarray, n_pages: int, affinities: Sequence[str]) -> None:
        start = BEFORE + np.arange(n_pages, dtype=np.int64) * pages.size
        if (content[start] != LEAF).any():
            raise NotPlain
        page, cell = _cells(pages, content, start, 8)
        n_bytes, after = _varints(content, cell)
        self.content = content
        self.number, self._header = _varints(content, after)
        self._end = self._header + n_bytes
        self._page, self._affinities = page, affinities
        # Of nine bytes SQLite takes other bits here than elsewhere, and of more than four it forgets the first.
        if (after - cell > LONGEST_LENGTH).any():
            raise NotPlain
        # A longer row goes on in other pages.
        if ((n_bytes < 1) | (n_bytes > pages.usable - 35) | (self._end > start[page] + pages.usable)).any():
            raise NotPlain
        self.whole = _are_filled(pages, content, start, page, cell, self._end, MOST_WITH_GAPS) and bool(
            (n_bytes > 1).all()
        )

    def are_within(self, bounds: np.ndarray, at_begin: bool) -> bool:
        """Whether the rows of each leaf have numbers up to its bound, and beyond that of the leaf before; bounds : of
        the leaf before, where these do not begin the table, and of these."""
        if not self.whole:
            return False
        first = np.flatnonzero(np.diff(self._page, prepend=-1))
        lowest, highest = self.number[first], self.number[np.append(first[1:], len(self.number)) - 1]
        own = bounds if at_begin else bounds[1:]
        before = lowest[1:] if at_begin else lowest
        return bool((highest <= own).all() and (before > bounds[: len(before)]).all())

    def values(self, positions: Mapping[str, int]) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
        """Of each field the kind of its value in every row, where it begins, and its bytes. Raises NotPlain."""
        n_header, kinds_at = _varints(self.content, self._header)
        kinds_end = self._header + n_header
        needed = max(positions.values(), default=-1) + 1
        if ((kinds_at + needed > kinds_end) | (kinds_end > self._end)).any():  # also of a column that was added later
            raise NotPlain
        # Rows with all columns are looked at whole, so that nothing is beyond them.
        whole = bool((kinds_at + len(self._affinities) <= kinds_end).all())
        n_columns = len(self._affinities) if whole else needed
        kinds = np.ascontiguousarray(stretches(self.content, kinds_at, n_columns).T) if n_columns else _NONE
        if (kinds >= 0x80).any():
            kinds, last = self._long_kinds(kinds_at, kinds_end, n_columns)
            in_table = np.clip(kinds, 0, len(_SIZES) - 1)
            sizes = np.where(kinds < len(_SIZES), _SIZES.take(in_table), (kinds - FIRST_BYTES) >> 1)
        else:
            sizes, last = _SMALL_SIZES.take(kinds), kinds_at + n_columns
        if (sizes[:needed] < 0).any() or (sizes[:needed] > len(self.content)).any():
            raise NotPlain
        # None is so long that together they are more than a number holds.
        whole = whole and bool((last == kinds_end).all() and ((sizes >= 0) & (sizes <= len(self.content))).all())
        self.whole = self.whole and whole and bool((kinds_end + sizes.sum(axis=0, dtype=np.int64) == self._end).all())
        self.whole = self.whole and all(map(_are_of, kinds, self._affinities))
        value_at = kinds_end
        for position in range(needed):
            following = value_at + sizes[position]
            if (following > self._end).any():
                raise NotPlain
            for name in (name for name, of in positions.items() if of == position):
                yield name, kinds[position], value_at, sizes[position]
            value_at = following

    def _long_kinds(self, kinds_at: np.ndarray, kinds_end: np.ndarray, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
        """The kinds of values, (n_columns, n) int64, where some take several bytes, and where they end. Raises
        NotPlain."""
        kinds = np.empty((n_columns, len(kinds_at)), np.int64)
        for position in range(n_columns):
            if (kinds_at >= kinds_end).any():
                raise NotPlain
            kinds[position], kinds_at = _varints(self.content, kinds_at)
        if (kinds_at > kinds_end).any() or (kinds < 0).any():
            raise NotPlain
        return kinds, kinds_at


def _affinity(declared: str) -> str:
    """Which values SQLite wants in a column that is declared so: TEXT, REAL for numbers of any kind, or empty for all
    (https://www.sqlite.org/datatype3.html)."""
    kind = declared.upper()
    if "INT" in kind:
        return REAL
    if any(word in kind for word in ("CHAR", "CLOB", "TEXT")):
        return TEXT
    return "" if not kind or "BLOB" in kind else REAL


def _are_of(kind: np.ndarray, affinity: str) -> bool:
    """Whether no value of a column is a text among numbers, or a number among texts; kind : (n,)"""
    if affinity == TEXT:
        return not ((kind > 0) & (kind < FIRST_BYTES)).any()
    return affinity != REAL or not ((kind >= FIRST_TEXT) & (kind & 1 == 1)).any()


class _Field:
    """One field of the table, encoded as its values come."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._builder = ColumnBuilder()
        self._texts = TextEncoder(self._builder.code_of)

    def add(self, content: np.ndarray, kind: np.ndarray, start: np.ndarray, size: np.ndarray) -> None:
        """Add the values of rows. Raises NotPlain where one is not of the field's kind."""
        missing = kind == 0
        there: slice | np.ndarray = np.flatnonzero(~missing) if missing.any() else slice(None)
        kind, start, size = kind[there], start[there], size[there]
        if self._kind == TEXT:
            if ((kind < FIRST_TEXT) | (kind & 1 == 0)).any():
                raise NotPlain
            try:
                codes = self._texts.codes(content, start, size)
            except (UnicodeDecodeError, NotEncoded) as error:
                raise NotPlain from error
            self._builder.add_codes(codes, None if isinstance(there, slice) else missing)
            return
        values = _numbers(content, kind, start, size, self._kind)
        if isinstance(there, slice):
            self._builder.add_array(values)
            return
        every = np.zeros(len(missing), values.dtype)
        every[there] = values
        self._builder.add_array(every, missing)

    def add_numbers(self, numbers: np.ndarray) -> None:
        """Add the numbers of the rows, where they are the field. Raises NotPlain for a field of another kind."""
        if self._kind not in (INTEGER, LONG):
            raise NotPlain
        self._builder.add_array(numbers)

    def column(self) -> Column:
        return self._builder.column()


def _numbers(content: np.ndarray, kind: np.ndarray, start: np.ndarray, size: np.ndarray, wanted: str) -> np.ndarray:
    """Numbers, int64, or float64 for REAL, where whole ones may stand as such. Raises NotPlain for all else."""
    is_whole = np.isin(kind, WHOLE)
    if not (is_whole | ((kind == REAL_NUMBER) & (wanted == REAL))).all():
        raise NotPlain
    # The word that ends where the value does, its sign brought to the front and all else shifted out.
    word = np.ndarray((len(content) - 7,), ">i8", content, strides=(1,))[start + size - 8].astype(np.int64)
    shift = np.where(size > 0, 64 - 8 * size, 0)
    whole = np.where(size > 0, (word << shift) >> shift, (kind == 9).astype(np.int64))
    if wanted != REAL:
        return whole
    return np.where(is_whole, whole.astype(float), word.view(float))
