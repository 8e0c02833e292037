"""Files of plain rows, CSV and dBASE, counted without the reader that is to be checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..dataclass import dataclass
from ..errors import InputError, first_values

LONGEST_ROW = 5_000_000  # bytes: anything longer is an unclosed quotation mark, and more than readers can take
LINES_IN_A_VALUE = 100
_CHUNK = 1 << 24
_NEWLINE, _RETURN, _QUOTE = 10, 13, 34
_BESIDE_QUOTES = np.zeros(256, bool)  # what may stand next to the quotation marks of a value, outside of it
_BESIDE_QUOTES[list(b',;\t| "\r\n')] = True


@dataclass(frozen=True)
class CsvRows:
    """n_rows : rows that are not blank, the header among them; longest : bytes of the longest row."""

    n_rows: int
    longest: int


def scan_csv(path: Path, layer: str) -> CsvRows:
    """Count the rows of a CSV file by its line ends and quotation marks alone, some fifty times as fast as reading it.

    layer : the parameter, for messages. Raises InputError for a quotation mark without its partner, a row longer than
    `LONGEST_ROW` and for NUL characters, which would make a reader join, cut or lose rows, or crash it.
    """
    n_rows = longest = n_lines = 0
    rest = b""
    with path.open("rb") as file:
        while True:
            read = file.read(_CHUNK)
            if read.endswith(b"\r"):
                read += file.read(1)
            at_end = not read
            chunk = rest + (read or b"\n")
            if at_end and not rest:
                break
            if b"\0" in chunk:
                raise InputError.saying(
                    "{layer}: {name} holds NUL characters, so it is damaged or not in UTF-8 (perhaps in UTF-16): save "
                    "it as UTF-8 without them.",
                    layer=layer,
                    name=path.name,
                )
            lengths, blank, lines, end = _rows_of(chunk, path, layer, n_lines)
            n_rows += len(lengths) - blank
            longest = max(longest, int(lengths.max(initial=0)))
            rest = chunk[end:]
            if longest > LONGEST_ROW or len(rest) > LONGEST_ROW or (at_end and rest):
                within = n_lines + lines
                if longest > LONGEST_ROW:
                    within = n_lines + chunk[: int(lengths[: int(lengths.argmax())].sum())].count(b"\n")
                raise InputError.saying(
                    "{layer}: line {within:d} of {name} begins a row that does not end, or not within {longest_row} "
                    "million bytes, probably because a quotation mark is not closed: correct that line.",
                    layer=layer,
                    within=within + 1,
                    name=path.name,
                    longest_row=LONGEST_ROW // 1000000,
                )
            n_lines += lines
            if at_end:
                break
    return CsvRows(n_rows, longest)


def csv_rows(scan: CsvRows, path: Path, names: Sequence[str]) -> int:
    """Rows without the header, which GDAL takes for one unless it holds a number; then it names the fields itself."""
    with path.open("rb") as file:
        first = file.readline(1000)
    headless = bool(names) and names[0] == "field_1" and b"field_1" not in first
    return scan.n_rows if headless else max(scan.n_rows - 1, 0)


def _rows_of(chunk: bytes, path: Path, layer: str, n_lines: int) -> tuple[np.ndarray, int, int, int]:
    """(length of each whole row in the chunk, how many are blank, lines they take, where the last row ends)."""
    data = np.frombuffer(chunk, np.uint8)
    ends_line = data == _NEWLINE
    if b"\r" in chunk:
        # A return alone ends a line too.
        returns = data[:-1] == _RETURN
        ends_line[:-1] |= returns & (data[1:] != _NEWLINE)
    lines = np.flatnonzero(ends_line)
    ends = lines
    if b'"' in chunk:
        quotes = np.flatnonzero(data == _QUOTE)
        ends = lines[np.searchsorted(quotes, lines) % 2 == 0]
        _check_quotes(data, quotes, lines, path, layer, n_lines)
    if not len(ends):
        return np.empty(0, np.int64), 0, 0, 0
    lengths = np.diff(ends, prepend=-1)
    # A blank line may still have its return.
    blank = (lengths == 1) | ((lengths == 2) & (data[ends - 1] == _RETURN))
    return lengths, int(blank.sum()), int(np.searchsorted(lines, ends[-1], "right")), int(ends[-1]) + 1


def _check_quotes(
    data: np.ndarray, quotes: np.ndarray, lines: np.ndarray, path: Path, layer: str, n_lines: int
) -> None:
    """Refuse a quotation mark that pairs with one of another row, so that the rows between would become one value."""
    opening, closing = quotes[0::2], quotes[1::2]
    opening = opening[: len(closing)]
    within = np.searchsorted(lines, closing) - np.searchsorted(lines, opening)
    several = within > 0
    if not several.any():
        return
    opening, closing, within = opening[several], closing[several], within[several]
    before = _BESIDE_QUOTES[data[np.maximum(opening - 1, 0)]] | (opening == 0)
    after = _BESIDE_QUOTES[data[np.minimum(closing + 1, len(data) - 1)]] | (closing == len(data) - 1)
    wrong = ~before | ~after | (within > LINES_IN_A_VALUE)
    if wrong.any():
        first = int(np.argmax(wrong))
        line = n_lines + int(np.searchsorted(lines, opening[first])) + 1
        raise InputError.saying(
            "{layer}: a quotation mark in line {line:d} of {name} is closed in line {end:d} only, so that the rows "
            "between would be read as one value: correct the quotation marks there.",
            layer=layer,
            line=line,
            name=path.name,
            end=line + int(within[first]),
        )


_DELETED = ord("*")
_PLACES_OF_INTEGERS = 18  # GDAL reads wider fields as real numbers
_LARGEST_EXACT = 2**53
_IN_NUMBERS = np.zeros(256, bool)
_IN_NUMBERS[list(b"0123456789+-.,eE* \0")] = True  # asterisks: a number that did not fit, read as missing


def count_dbf(path: Path, names: Sequence[str], layer: str) -> int:
    """Rows of a .dbf that are not marked as deleted.

    names : fields that are read; layer : the parameter, for messages. Raises InputError where the file is shorter than
    its header says, and where a numeric field among `names` holds other text, which readers take for 0,
    or a whole number that they round.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        header = file.read(32)
        n_rows, start, width = (int.from_bytes(header[a:b], "little") for a, b in ((4, 8), (8, 10), (10, 12)))
        descriptions = file.read(max(start - 32, 0))
    if len(header) < 32 or width < 1 or size < start + n_rows * width:
        whole = max(size - start, 0) // max(width, 1)
        raise InputError.counting(
            "{layer}: {name} is cut short: its header says {n} row, but the file holds {whole}. Take it from a "
            "complete copy.",
            "{layer}: {name} is cut short: its header says {n} rows, but the file holds {whole}. Take it from a "
            "complete copy.",
            n_rows,
            layer=layer,
            name=path.name,
            whole=whole,
        )
    if not n_rows:
        return 0
    rows = np.memmap(path, np.uint8, "r", offset=start, shape=(n_rows, width))
    wanted = {name.lower() for name in names}
    for name, kind, first, length, decimals in _fields(descriptions):
        if kind in "NF" and name.lower() in wanted:
            values = rows[:, first : first + length]
            wrong = np.flatnonzero(~_IN_NUMBERS[values].all(axis=1))
            if len(wrong):
                raise InputError.counting(
                    "{layer}: the numeric field “{name}” holds other text in {n} row (first: {shown}): correct it.",
                    "{layer}: the numeric field “{name}” holds other text in {n} rows (first: {shown}): correct it.",
                    len(wrong),
                    layer=layer,
                    name=name,
                    shown=_shown(values, wrong),
                )
            if decimals == 0 and length > _PLACES_OF_INTEGERS:
                wrong = _rounded(values)
                if len(wrong):
                    raise InputError.saying(
                        "{layer}: field “{name}” holds whole numbers above {largest_exact}, which are rounded when "
                        "they are read (first: {shown}): make it a field of text.",
                        layer=layer,
                        name=name,
                        largest_exact=_LARGEST_EXACT,
                        shown=_shown(values, wrong),
                    )
    return int((rows[:, 0] != _DELETED).sum())


def _rounded(values: np.ndarray) -> np.ndarray:
    """Rows whose whole number no real number holds."""
    long = np.flatnonzero(((values >= ord("0")) & (values <= ord("9"))).sum(axis=1) >= len(str(_LARGEST_EXACT)))
    different, row_of = np.unique(values[long], axis=0, return_inverse=True)
    texts = [value.tobytes().decode("latin-1").strip() for value in different]
    too_large = np.array([abs(int(t)) > _LARGEST_EXACT if t.lstrip("+-").isdigit() else False for t in texts], bool)
    return long[too_large[row_of.reshape(-1)]] if len(long) else long


def _shown(values: np.ndarray, rows: np.ndarray) -> str:
    return first_values(values[i].tobytes().decode("latin-1").strip() for i in rows[:6].tolist())


def check_shp(path: Path, layer: str) -> None:
    """Refuse a .shp that is shorter than its header says. Raises InputError."""
    with path.open("rb") as file:
        header = file.read(28)
    if len(header) < 28 or path.stat().st_size < 2 * int.from_bytes(header[24:28], "big"):
        raise InputError.saying(
            "{layer}: {name} is cut short: take it from a complete copy.", layer=layer, name=path.name
        )


def _fields(descriptions: bytes) -> list[tuple[str, str, int, int, int]]:
    """(name, kind, first byte in a row, width, decimals) of each field."""
    fields = []
    first = 1
    for at in range(0, len(descriptions) - 31, 32):
        if descriptions[at] == 13:
            break
        name = descriptions[at : at + 11].split(b"\0")[0].decode("utf-8", "replace")
        kind, length, decimals = chr(descriptions[at + 11]), descriptions[at + 16], descriptions[at + 17]
        if kind == "C":
            length += 256 * decimals
        fields.append((name, kind, first, length, decimals))
        first += length
    return fields
