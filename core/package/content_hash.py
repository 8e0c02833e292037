"""The content hash of a table: the same on every system, in every format and order of rows, for the same rows.

SHA-256 of lines of UTF-8, each ended by a line feed. The first is the JSON array of the names of the fields. Then comes
every different row once, as a compact JSON array, with a tab and how often the row occurs, in the order of its bytes.
A cell is null where it is missing; whole numbers are digits, others what Python's repr writes of them (1.0, 1e-05;
never -0.0), booleans true and false, text JSON's own, not escaped beyond need; dates are text, ISO 8601. Which of these
a cell is, the schema says. Shapes are no part of it: what draws them differs from version to version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import objects, to_list
from ..records.columns import different_rows, looked_up, smallest_integers, sortable
from .table import BOOLEAN, INTEGER, NUMBER, DataTable

AT_ONCE = 20_000  # rows
FEWEST_TEXTS, ROWS_A_TEXT = (
    1_000,
    8,
)  # cells of several columns are put together where as many rows have them, on average


def content_hash(table: DataTable) -> str:
    """The content hash of a table, 64 hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> from vbas.core.package.content_hash import content_hash
    >>> from vbas.core.package.table import DataField, DataTable
    >>> from vbas.core.records.columns import column_from_values
    >>> fields = DataField("vbas_region", "integer"), DataField("sex", "string")
    >>> columns = column_from_values([2, 1]), column_from_values(["F", None])
    >>> table = DataTable("records", "", "", fields, columns, np.array([5, 7]))
    >>> content_hash(table) == hashlib.sha256(b'["vbas_region","sex"]\\n[1,null]\\t7\\n[2,"F"]\\t5\\n').hexdigest()
    True
    """
    digest = hashlib.sha256((_json(list(table.names)) + "\n").encode("utf-8", "surrogatepass"))
    codes, cells, copies = _different_rows(table)
    parts = [_cells_of(codes[columns], cells[columns], len(copies)) for columns in _stretches(codes, len(copies))]
    line = "{}" * len(parts) + "\t{}\n"
    for first in range(0, len(copies), AT_ONCE):
        rows = slice(first, first + AT_ONCE)
        columns = [texts[which[rows]].tolist() for which, texts in parts]
        digest.update("".join(map(line.format, *columns, copies[rows].tolist())).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def hash_of_all(hashes: Mapping[str, str]) -> str:
    """One hash for several tables: SHA-256 of a line for each, in the order of the names: name, tab, content hash."""
    lines = "".join(f"{name}\t{value}\n" for name, value in sorted(hashes.items()))
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()


def cell(value: object, kind: str) -> str:
    """A cell as the content hash takes it; kind : the type of its field."""
    if value is None:
        return "null"
    if kind == BOOLEAN:
        return "true" if value else "false"
    if kind == INTEGER:
        return str(int(value))  # type: ignore[call-overload]
    if kind == NUMBER:
        return repr(float(value) + 0.0)  # type: ignore[arg-type]
    return _json(value)


def _different_rows(table: DataTable) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Every different row once, in the order of its bytes: of each column the codes of its cells, (R,), the texts they
    stand for, with what is before and behind them in a line; and how often each row occurs, (R,) int64.

    No text of a cell, with the comma or bracket behind it, begins another of its column: so rows are in the order of
    their first cells, then of their second, and so on. Text is in the order of its code points, as the bytes of UTF-8.
    """
    if not table.columns:
        n_rows = int(table.copies.sum())
        return [], [], np.array([n_rows][: min(n_rows, 1)], np.int64)
    there = None if (table.copies > 0).all() else np.flatnonzero(table.copies > 0)
    ranks, cells = [], []
    for position, (field, column) in enumerate(zip(table.fields, table.columns)):
        begin, end = "" if position else "[", "," if position < len(table.columns) - 1 else "]"
        texts = [begin + cell(value, field.type) + end for value in to_list(column.categories)]
        array = sortable(texts)
        unique, rank = np.unique(objects(texts) if array is None else array, return_inverse=True)
        ranks.append(
            looked_up(
                smallest_integers(rank.reshape(-1), len(unique)), column.codes if there is None else column.codes[there]
            )
        )
        cells.append(objects(unique))
    copies = table.copies if there is None else table.copies[there]
    codes, copies, _ = different_rows(ranks, [len(unique) for unique in cells], copies)
    return codes, cells, copies


def _stretches(codes: Sequence[np.ndarray], n_rows: int) -> list[slice]:
    """Columns that follow each other and together have few different cells, of which lines are put together faster."""
    most, stretches, first, reach = max(n_rows // ROWS_A_TEXT, FEWEST_TEXTS), [], 0, 1
    sizes = [int(of_column.max(initial=0)) + 1 for of_column in codes]
    for position, size in enumerate(sizes):
        if position > first and reach * size > most:
            together = slice(first, position + 1)
            reach = len(different_rows(codes[together], sizes[together])[1])
            if reach > most:
                stretches.append(slice(first, position))
                first, reach = position, size
        else:
            reach *= size
    return [*stretches, slice(first, len(codes))]


def _cells_of(codes: Sequence[np.ndarray], cells: Sequence[np.ndarray], n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each row which text stands for its cells of some columns, (R,), and these texts, (m,) object."""
    if not codes:
        return np.zeros(n_rows, np.int8), np.array(["[]"], dtype=object)
    different, _, which = different_rows(codes, [len(texts) for texts in cells], placed=True)
    joined = cells[0][different[0]]
    for of_column, texts in zip(different[1:], cells[1:]):
        joined = joined + texts[of_column]
    return smallest_integers(which, len(joined)), joined


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
