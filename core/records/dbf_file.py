"""The rows of a dBASE file, counted by its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import InputError, first_values

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
        raise InputError(
            f"{layer}: {path.name} is cut short: its header says {n_rows} rows, but the file holds {whole}. Take it "
            "from a complete copy."
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
                raise InputError(
                    f"{layer}: the numeric field “{name}” holds other text in {len(wrong)} rows (first: "
                    f"{_shown(values, wrong)}): correct it."
                )
            if decimals == 0 and length > _PLACES_OF_INTEGERS:
                wrong = _rounded(values)
                if len(wrong):
                    raise InputError(
                        f"{layer}: field “{name}” holds whole numbers above {_LARGEST_EXACT}, which are rounded when "
                        f"they are read (first: {_shown(values, wrong)}): make it a field of text."
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
        raise InputError(f"{layer}: {path.name} is cut short: take it from a complete copy.")


def _fields(descriptions: bytes) -> list[tuple[str, str, int, int, int]]:
    """(name, kind, first byte in a row, width, decimals) of each field."""
    found = []
    first = 1
    for at in range(0, len(descriptions) - 31, 32):
        if descriptions[at] == 13:
            break
        name = descriptions[at : at + 11].split(b"\0")[0].decode("utf-8", "replace")
        kind, length, decimals = chr(descriptions[at + 11]), descriptions[at + 16], descriptions[at + 17]
        if kind == "C":
            length += 256 * decimals
        found.append((name, kind, first, length, decimals))
        first += length
    return found
