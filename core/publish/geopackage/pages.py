"""Many rows into the empty table of a new GeoPackage as the pages of its file: whole pages, made as arrays.

The form of these files is documented and stays as it is (https://www.sqlite.org/fileformat2.html). Row by row, handing
the values of a million rows over to SQLite takes three times as long as all that SQLite then does with them. What is
not plain is left to SQLite. Nobody reads the file yet, and SQLite itself counts what is in it before it goes anywhere.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ...arrays import objects, to_list
from ...dataclass import dataclass
from ...errors import VbasError
from ...progress import Progress, silent
from ...records.columns import different_rows, smallest_integers
from ...records.sqlite_file import quoted
from ...records.sqlite_pages import LOCKED_BYTE
from ..files import DISK

Coded = Sequence[tuple[np.ndarray, Sequence[object]]]
"""Of each column its codes, (R,), and the values that they stand for."""

ROWS_AT_ONCE = 30_000
LOOKED_AT = 2_000  # rows, and of each field values, that are read once more
READ_AT_ONCE = 1_000
WORD = 8  # bytes
FEWEST_TEXTS, ROWS_A_TEXT = 1_000, 16  # columns are put together where as many rows have the same cells, on average
LEAF, INTERIOR, LEAF_HEADER, INTERIOR_HEADER = 13, 5, 8, 12
UTF_8, PLAIN_HEADER = 1, 127  # up to so many bytes, the length of a row's header is one byte
AT_KEPT_BACK, AT_CHANGES, AT_PAGES, AT_ENCODING, AT_VALID_FOR, HEADER = 20, 24, 28, 56, 92, 100
INTEGERS, REALS, TEXTS = "integer", "real", "text"
_WIDTHS = ((1, 1, 7), (2, 2, 15), (3, 3, 23), (4, 4, 31), (5, 6, 47), (6, 8, 63))  # kind, bytes, bits of a number


@dataclass(frozen=True)
class Target:
    """An empty table to be filled.

    root : its page; page_size : of the file; affinities : of each field, INTEGERS, REALS or TEXTS
    """

    root: int
    page_size: int
    affinities: Sequence[str]


def plain_target(file: Path, table: str, names: Sequence[str]) -> Target | None:
    """The table as it is to be filled from its pages; None where SQLite is to fill it.

    names : of all its fields, in their order, beside one that numbers the rows. Raises OSError, sqlite3.Error.
    """
    with closing(sqlite3.connect(file)) as connection:
        info = connection.execute(
            'SELECT name, type, pk, hidden, "notnull" FROM pragma_table_xinfo(?) ORDER BY cid', (table,)
        ).fetchall()
        roots = connection.execute(
            "SELECT rootpage, sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
        ).fetchall()
        (indexes,) = connection.execute("SELECT COUNT(*) FROM pragma_index_list(?)", (table,)).fetchone()
        (page_size,) = connection.execute("PRAGMA page_size").fetchone()
        (vacuum,) = connection.execute("PRAGMA auto_vacuum").fetchone()
        there = connection.execute(" ".join(("SELECT 1 FROM", quoted(table), "LIMIT 1"))).fetchone()
    affinities = [_affinity(kind) for _, kind, *_ in info[1:]]
    numbered = bool(info) and (info[0][1].upper(), info[0][2]) == ("INTEGER", 1)
    # A column that is a key, hidden, or never empty, is no plain one.
    plain = [name for name, *_ in info[1:]] == list(names) and not any(any(rules) for _, _, *rules in info[1:])
    if not (numbered and plain and len(roots) == 1 and all(affinities)) or indexes or vacuum or there is not None:
        return None
    if "CHECK" in roots[0][1].upper() or "ROWID" in roots[0][1].upper():
        return None
    with DISK.read(file) as read:
        header = read.read(HEADER)
    # Something is kept back at the end of a page, or texts are not in UTF-8.
    if header[AT_KEPT_BACK] or int.from_bytes(header[AT_ENCODING : AT_ENCODING + 4], "big") != UTF_8:
        return None
    return Target(int(roots[0][0]), int(page_size), [affinity for affinity in affinities if affinity])


def cells_of(
    coded: Coded, target: Target, copies: np.ndarray | None = None, progress: Progress = silent
) -> Cells | None:
    """The rows as the table's pages hold them; None where a value is to be left to SQLite.

    copies : (R,) how often each row is to be written, None for once; progress : by fields, raises to cancel. Raises
    UnicodeError for a text that is none.
    """
    columns: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for (codes, values), affinity in zip(coded, target.affinities):
        held = [cell for cell in (_held(value, affinity) for value in values) if cell is not None]
        if len(held) < len(values):
            return None
        columns.append((codes, objects([kind for kind, _ in held]), objects([text for _, text in held])))
    if not columns:
        return None
    n_rows = len(columns[0][0]) if copies is None else int(copies.sum())
    together = _put_together(columns, n_rows, progress)
    cells = Cells(list(together))
    longest = cells.longest()
    if cells.longest_header() > PLAIN_HEADER or longest > target.page_size - 35:
        return None
    return cells


def write_pages(file: Path, target: Target, cells: Cells, copies: np.ndarray | None, progress: Progress) -> int:
    """Fill the table, and say how many rows it has. Raises OSError.

    copies : (R,) int64, how often each row is written, None for once; progress : by rows
    """
    stops = np.cumsum(copies) if copies is not None else None
    n_rows = cells.n_rows if stops is None else int(stops[-1]) if len(stops) else 0
    with DISK.written_into(file) as out:
        out.seek(0)
        header = bytearray(out.read(HEADER))
        leaves = _Leaves(out, target, n_rows)
        first = 0
        while first < n_rows:
            progress(first / n_rows)
            first = leaves.add(cells, _rows_between(first, min(first + ROWS_AT_ONCE, n_rows), stops), first)
        leaves.end()
        changes = (int.from_bytes(header[AT_CHANGES : AT_CHANGES + 4], "big") + 1) & 0xFFFFFFFF
        for at, value in ((AT_CHANGES, changes), (AT_VALID_FOR, changes), (AT_PAGES, leaves.n_pages)):
            header[at : at + 4] = value.to_bytes(4, "big")
        out.seek(0)
        out.write(header)
    return n_rows


def _rows_between(first: int, last: int, stops: np.ndarray | None) -> np.ndarray:
    """Which of the different rows each written one is, from one on to before another, int64; stops : (R,) up to which
    each is written, None where each is written once"""
    if stops is None:
        return np.arange(first, last, dtype=np.int64)
    begin, end = np.searchsorted(stops, [first, last - 1], side="right").tolist()
    until = np.minimum(stops[begin : end + 1], last)
    return np.repeat(np.arange(begin, end + 1, dtype=np.int64), np.diff(until, prepend=first))


def compare_some(
    file: Path,
    table: str,
    names: Sequence[str],
    coded: Coded,
    copies: np.ndarray | None,
    progress: Progress = silent,
) -> None:
    """Have SQLite read rows in which each value stands, and others all over the table, and compare them with what was
    to be written; progress raises to cancel. Raises VbasError where one is another, or SQLite finds none.

    Values that are too many to be read all, such as those of a field that differs in every row, are read in part.
    """
    n_different = len(coded[0][0])
    if not n_different:
        return
    looked_at = [np.linspace(0, n_different - 1, LOOKED_AT).astype(np.int64)]
    for i, (codes, values) in enumerate(coded):
        progress(0.5 * i / len(coded))
        first = np.full(len(values), -1, np.int64)
        first[codes[::-1]] = np.arange(n_different - 1, -1, -1, dtype=np.int64)
        first = first[first >= 0]
        looked_at.append(first[:: max(len(first) // LOOKED_AT, 1)])
    positions = np.unique(np.concatenate(looked_at))
    number = positions + 1
    if copies is not None:
        positions = positions[copies[positions] > 0]
        number = np.cumsum(copies)[positions]
    expected = zip(*([values[code] for code in to_list(codes[positions])] for codes, values in coded))
    # Names cannot be bound: they are those of the table that was just made, quoted. The values are bound.
    fields = ", ".join(map(quoted, names))
    statement = " ".join(("SELECT", fields, "FROM", quoted(table), "WHERE _rowid_ = ?"))
    with closing(sqlite3.connect(file)) as connection:
        for i, (row, values) in enumerate(zip(to_list(number), expected)):
            if not i % READ_AT_ONCE:
                progress(0.5 + 0.5 * i / len(number))
            stored = connection.execute(statement, (row,)).fetchone()
            if stored != values or list(map(type, stored)) != list(map(type, values)):
                raise VbasError.saying("{name} was not written whole: nothing was kept.", name=file.name)


def page_numbers(after: int, n: int, page_size: int) -> list[int]:
    """The numbers of the next n pages of a file that has so many; one page belongs to nobody.

    Examples
    --------
    >>> page_numbers(3, 2, 4096), page_numbers(262143, 2, 4096)
    ([4, 5], [262144, 262146])
    """
    nobody = LOCKED_BYTE // page_size + 1
    numbers = range(after + 1, after + n + 2)
    return [number for number in numbers if number != nobody][:n]


class Cells:
    """Rows as pages hold them, but for their numbers: of stretches of columns the kinds and the values."""

    def __init__(self, stretches: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> None:
        """stretches : of each which, (R,), of its kinds and values, (m,) object, stand for a row"""
        self._parts = [_Part(which, _Texts(kinds), _Texts(values)) for which, kinds, values in stretches]
        self.n_rows = len(self._parts[0].which)
        # Where one stretch is all, its kinds and values follow each other, and are put at once.
        self._whole = _Texts(stretches[0][1] + stretches[0][2]) if len(stretches) == 1 else None

    def longest_header(self) -> int:
        """Bytes of the longest header of a row."""
        return 2 + sum(int(part.kinds.lengths.max(initial=0)) for part in self._parts)

    def longest(self) -> int:
        """Bytes of the longest row, at most."""
        return self.longest_header() + sum(int(part.values.lengths.max(initial=0)) for part in self._parts)

    def pieces(self, rows: np.ndarray) -> list[tuple[_Texts, np.ndarray]]:
        """What each row is made of, one after another: kinds, then values; rows : (n,) int64"""
        which = [part.which[rows] for part in self._parts]
        if self._whole is not None:
            return [(self._whole, which[0])]
        kinds = [(part.kinds, of) for part, of in zip(self._parts, which)]
        return kinds + [(part.values, of) for part, of in zip(self._parts, which)]

    def header_lengths(self, rows: np.ndarray) -> np.ndarray:
        """Bytes of the header of each row, (n,) int64, with the byte that says so and that of the number."""
        lengths = np.full(len(rows), 2, np.int64)
        for part in self._parts:
            lengths += part.kinds.lengths[part.which[rows]]
        return lengths


class _Texts:
    """Byte strings, (m,) object, to be put where they belong: those of one length at once."""

    def __init__(self, texts: np.ndarray) -> None:
        self.lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self._sources: dict[int, np.ndarray] = {}
        self._place = np.zeros(len(texts), np.int64)
        for length in to_list(np.unique(self.lengths)):
            own = np.flatnonzero(self.lengths == length)
            self._place[own] = np.arange(len(own), dtype=np.int64)
            if length:
                self._sources[length] = np.frombuffer(b"".join(texts[own]), f"V{length}")

    def put(self, target: np.ndarray, at: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Put the texts into a buffer of bytes at these places; where each ends. at, which : (n,) int64"""
        lengths = self.lengths[which]
        for length, source in self._sources.items():
            rows = slice(None) if len(self._sources) == 1 and lengths.all() else np.flatnonzero(lengths == length)
            _at_places(target, length)[at[rows]] = source[self._place[which[rows]]]
        return at + lengths


@dataclass(frozen=True, eq=False)
class _Part:
    """Columns that follow each other. which : (R,) of each row, the kinds and values that stand for its cells"""

    which: np.ndarray
    kinds: _Texts
    values: _Texts


class _Leaves:
    """The pages of a table, made and written one stretch after another; then those above them."""

    def __init__(self, out: BinaryIO, target: Target, n_rows: int) -> None:
        self._out, self._target, self._n_rows = out, target, n_rows
        self.n_pages = out.seek(0, 2) // target.page_size
        self._pages: list[int] = []
        self._last: list[int] = []

    def add(self, cells: Cells, rows: np.ndarray, first: int) -> int:
        """Make pages of rows, of which the first has the number `first` + 1; which row comes next: the last page is
        only written where no more rows come. rows : (n,) int64, positions among the cells"""
        size, number = self._target.page_size, first + 1 + np.arange(len(rows), dtype=np.int64)
        pieces = cells.pieces(rows)
        payload = np.full(len(rows), 2, np.int64)
        for texts, which in pieces:
            payload += texts.lengths[which]
        heads = [_varint(payload), _varint(number)]
        before_payload = heads[0][1] + heads[1][1]
        length = payload + before_payload
        ends = np.cumsum(length + 2)
        starts, stops, room = [0], to_list(ends), size - LEAF_HEADER
        while starts[-1] < len(rows):
            reached = stops[starts[-1] - 1] if starts[-1] else 0
            starts.append(bisect_right(stops, reached + room, starts[-1]))
        if first + len(rows) < self._n_rows:
            starts.pop()  # the last page may have room for rows that come next
        page_of = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
        taken = slice(0, starts[-1])
        within = np.cumsum(length[taken])
        before = np.append(0, within)[np.asarray(starts[:-1], np.int64)]
        offset = size - (within - before[page_of])
        content = np.zeros((len(starts) - 1) * size, np.uint8)
        at = page_of * size + offset
        header = cells.header_lengths(rows[taken])
        if len(at) and int(before_payload.max()) + 2 <= WORD and int(length.min()) >= WORD:
            # What follows in the word is written over below: every row is as long.
            word = header << 8 * before_payload[taken]
            word |= _varint_word(number[taken], heads[1][1][taken]) << 8 * heads[0][1][taken]
            word |= _varint_word(payload[taken], heads[0][1][taken])
            _at_places(content, WORD)[at] = word.astype("<i8", copy=False).view(f"V{WORD}")
            place = at + before_payload[taken]
        else:
            place = at
            for value, width in heads:
                place = _put_varints(content, place, value[taken], width[taken])
            content[place] = header
        place = place + 2  # the number of the row is no value
        for texts, which in pieces:
            place = texts.put(content, place, which[taken])
        page = np.arange(len(starts) - 1, dtype=np.int64) * size
        content[page] = LEAF
        numbers: np.ndarray = np.ndarray((len(content) - 1,), ">u2", content, strides=(1,))
        numbers[page + 3] = np.diff(starts)
        numbers[page + 5] = offset[np.asarray(starts[1:], np.int64) - 1] % (1 << 16)
        nth = np.arange(starts[-1], dtype=np.int64) - np.asarray(starts[:-1], np.int64)[page_of]
        numbers[page_of * size + LEAF_HEADER + 2 * nth] = offset
        self._append(content, to_list(first + np.asarray(starts[1:], np.int64)))
        return first + starts[-1]

    def end(self) -> None:
        """Make the pages above, up to the root."""
        size = self._target.page_size
        pages, last = self._pages, self._last
        if not pages:
            return
        if len(pages) == 1:  # it takes the place of the root, and the page is taken back
            self._out.seek((pages[0] - 1) * size)
            content = self._out.read(size)
            self._out.truncate((pages[0] - 1) * size)
            self.n_pages -= 1
            self._write(self._target.root, content)
            return
        fan_out = (size - INTERIOR_HEADER) // (4 + len(_varint_of(last[-1])) + 2) + 1
        while len(pages) > 1:
            n_groups = -(-len(pages) // fan_out)
            cuts = [len(pages) * i // n_groups for i in range(n_groups + 1)]
            above = [_interior(pages[a:b], last[a:b], size) for a, b in zip(cuts, cuts[1:])]
            if n_groups == 1:
                self._write(self._target.root, above[0].tobytes())
                return
            self._pages, self._last = [], []
            self._append(np.concatenate(above), [last[b - 1] for b in cuts[1:]])
            pages, last = self._pages, self._last

    def _append(self, content: np.ndarray, last: list[int]) -> None:
        """Append pages, and note of each the largest number in it."""
        size = self._target.page_size
        numbers = page_numbers(self.n_pages, len(last), size)
        self._out.seek(self.n_pages * size)
        gap = next((i for i, number in enumerate(numbers) if number != self.n_pages + 1 + i), len(numbers))
        self._out.write(content[: gap * size].data)
        if gap < len(numbers):
            self._out.write(bytes(size))
            self._out.write(content[gap * size :].data)
        self._pages += numbers
        self._last += last
        self.n_pages = numbers[-1] if numbers else self.n_pages

    def _write(self, number: int, content: bytes) -> None:
        self._out.seek((number - 1) * self._target.page_size)
        self._out.write(content)


def _interior(pages: Sequence[int], last: Sequence[int], size: int) -> np.ndarray:
    """A page that leads to others, (size,) bytes; last : the largest number below each."""
    content = np.zeros(size, np.uint8)
    of_two: np.ndarray = np.ndarray((size - 1,), ">u2", content, strides=(1,))
    of_four: np.ndarray = np.ndarray((size - 3,), ">u4", content, strides=(1,))
    key, width = _varint(np.asarray(last[:-1], np.int64))
    begin = size - np.cumsum(4 + width)
    content[0] = INTERIOR
    of_two[3] = len(key)
    of_two[5] = int(begin.min(initial=size)) % (1 << 16)
    of_four[LEAF_HEADER] = pages[-1]
    of_two[INTERIOR_HEADER + 2 * np.arange(len(key), dtype=np.int64)] = begin
    of_four[begin] = pages[:-1]
    _put_varints(content, begin + 4, key, width)
    return content


def _put_together(
    columns: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], n_rows: int, progress: Progress
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Columns of which many rows have the same cells as one: codes, (R,), and the kinds and bytes of their cells.

    n_rows : how many are written, each different one as often as it is there
    """
    most = max(n_rows // ROWS_A_TEXT, FEWEST_TEXTS)
    which, kinds, texts = columns[0]
    for i, (codes, own_kinds, own_texts) in enumerate(columns[1:], 1):
        progress(i / len(columns))
        (first, second), _, both = different_rows([which, codes], [len(kinds), len(own_kinds)], placed=True)
        if len(first) > most:
            yield which, kinds, texts
            which, kinds, texts = codes, own_kinds, own_texts
        else:
            which, kinds, texts = (
                smallest_integers(both, len(first)),
                kinds[first] + own_kinds[second],
                texts[first] + own_texts[second],
            )
    yield which, kinds, texts


def _held(value: object, affinity: str) -> tuple[bytes, bytes] | None:
    """The kind and the bytes of a value; None for one that SQLite would change, or is to say what it is."""
    if value is None:
        return b"\0", b""
    if affinity == TEXTS and type(value) is str:
        text = value.encode("utf-8")
        return _varint_of(13 + 2 * len(text)), text
    if affinity == REALS and type(value) is float and value == value:
        return b"\7", np.array(value + 0.0, ">f8").tobytes()
    if affinity == INTEGERS and type(value) is int:
        if value in (0, 1):
            return bytes([8 + value]), b""
        for kind, n_bytes, bits in _WIDTHS:
            if -(1 << bits) <= value < 1 << bits:
                return bytes([kind]), value.to_bytes(n_bytes, "big", signed=True)
    return None


def _affinity(declared: str) -> str | None:
    """What SQLite makes of values in a column that is declared so, as far as it is plain."""
    kind = declared.upper()
    if "INT" in kind:
        return INTEGERS
    if "CHAR" in kind or "TEXT" in kind:
        return TEXTS
    if "BLOB" not in kind and ("REAL" in kind or "FLOA" in kind or "DOUB" in kind):
        return REALS
    return None


def _varint_of(value: int) -> bytes:
    """A number in as many bytes as it needs, seven bits in each, those before the last marked."""
    digits = [value & 0x7F]
    while value := value >> 7:
        digits.append(value & 0x7F | 0x80)
    return bytes(reversed(digits))


def _varint(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, and how many bytes each takes as `_varint_of` it, two arrays (n,) int64."""
    limits = 1 << 7 * np.arange(1, 9, dtype=np.int64)
    return values, 1 + np.searchsorted(limits, values, side="right")


def _varint_word(values: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Numbers as `_varint_of` them, the first byte the lowest of a word, (n,) int64; widths : in so many bytes each."""
    least, most = int(widths.min(initial=1)), int(widths.max(initial=1))
    word = np.zeros(len(values), np.int64)
    for width in range(least, most + 1):
        of_width: slice | np.ndarray = slice(None) if least == most else np.flatnonzero(widths == width)
        own = values[of_width]
        digits = own & 0x7F
        for j in range(1, width):
            digits = digits << 8 | (own >> 7 * j & 0x7F | 0x80)
        word[of_width] = digits
    return word


def _put_varints(target: np.ndarray, at: np.ndarray, values: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Put numbers into a buffer of bytes; where each ends."""
    for width in range(int(widths.min(initial=1)), int(widths.max(initial=0)) + 1):
        of_width = widths == width
        rows = slice(None) if of_width.all() else np.flatnonzero(of_width)
        for j in range(width):
            digit = values[rows] >> 7 * (width - 1 - j) & 0x7F
            target[at[rows] + j] = digit | (0x80 if j < width - 1 else 0)
    return at + widths


def _at_places(target: np.ndarray, length: int) -> np.ndarray:
    """So many bytes from each place of a buffer on."""
    return np.ndarray((len(target) - length + 1,), f"V{length}", target, strides=(1,))
