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
from collections.abc import Mapping

import numpy as np

from ..arrays import to_list
from .table import BOOLEAN, INTEGER, NUMBER, DataTable

AT_ONCE = 100_000  # rows


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
    rows = _rows(table)
    # Text is in the order of its code points, which is that of the bytes of UTF-8.
    order = np.argsort(rows, kind="stable")
    rows, copies = rows[order], table.copies[order]
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1])[: len(rows)])
    rows, copies = rows[starts], np.add.reduceat(copies, starts) if len(starts) else copies
    there = copies > 0
    rows, copies = rows[there], copies[there]
    for first in range(0, len(rows), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        lines = map("{}\t{}\n".format, rows[part].tolist(), copies[part].tolist())
        digest.update("".join(lines).encode("utf-8", "surrogatepass"))
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


def _rows(table: DataTable) -> np.ndarray:
    """Each row as a line without its count, (R,) object."""
    rows = np.full(len(table.copies), "[", dtype=object)
    for position, (field, column) in enumerate(zip(table.fields, table.columns)):
        cells = np.empty(len(column.categories), dtype=object)
        cells[:] = [("," if position else "") + cell(value, field.type) for value in to_list(column.categories)]
        rows = rows + cells[column.codes]
    return rows + "]"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
