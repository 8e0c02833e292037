"""What an output holds before it is a layer: fields, columns, shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Union

import numpy as np
from qgis.core import QgsCoordinateReferenceSystem, QgsField, QgsFields, QgsWkbTypes

from ...core.arrays import to_list
from ...core.dataclass import dataclass
from ...core.records.columns import Column, column_of_numbers, count_codes
from ...core.tables.schema import NUMBER, OWN, OutputField, OutputTable
from ..compat import field, is_text, kind_of

CHUNK = 50_000
SMALLEST_INTEGER = -(2**31)

GEOMETRY_TYPES = {
    "none": QgsWkbTypes.Type.NoGeometry,
    "points": QgsWkbTypes.Type.Point,
    "polygons": QgsWkbTypes.Type.MultiPolygon,
}


# What a table is made of, a column: an array, a list, or values by their codes.
TableColumn = Union[np.ndarray, Sequence[object], Column]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to be written.

    fields : QGIS fields; columns : one per field, arrays, lists or `Column`s of the same length
    shapes : shapely geometries, one a row (None where a row has none), None for a table
    geometry : a key of GEOMETRY_TYPES; copies : (R,) int64, how often each row is written, None for once
    """

    fields: Sequence[QgsField]
    columns: Sequence[TableColumn]
    geometry: str = "none"
    shapes: np.ndarray | None = None
    crs: QgsCoordinateReferenceSystem | None = None
    copies: np.ndarray | None = None

    def __len__(self) -> int:
        if self.copies is not None:
            return int(self.copies.sum())
        if self.columns:
            return len(self.columns[0])
        return 0 if self.shapes is None else len(self.shapes)

    @property
    def qgs_fields(self) -> QgsFields:
        """The fields as QGIS wants them, with room for their values, without what the source notes of them: comments
        may be internal, and QGIS 3.44 warns of each where a layer in memory cannot keep it."""
        fields = QgsFields()
        for position, original in enumerate(self.fields):
            made = QgsField(original)
            if is_text(original) and 0 < original.length() < self._longest(position):
                made.setLength(0)  # SQLite keeps texts that are longer than their field declares
            elif kind_of(original) == "integer" and SMALLEST_INTEGER in self.distinct(position):
                made = field(original.name(), "long")  # QGIS takes this one for too large
            made.setAlias("")
            made.setComment("")
            fields.append(made)
        return fields

    def _longest(self, position: int) -> int:
        """How long the longest text of a column is."""
        return max((len(value) for value in self.distinct(position) if isinstance(value, str)), default=0)

    @property
    def plain(self) -> bool:
        """Whether all values are numbers or text, which SQLite takes as they are."""
        return all(table_field.isNumeric() or is_text(table_field) for table_field in self.fields)

    def has_codes(self, position: int) -> bool:
        """Whether a column holds values of the input, not computed ones."""
        return position < len(self.columns) and isinstance(self.columns[position], Column)

    def distinct(self, position: int) -> list[object]:
        """The different values of a column; of a large array of whole numbers, the smallest and the largest."""
        column = self.columns[position]
        if isinstance(column, Column):
            if not len(column):
                return []
            return to_list(column.categories[count_codes(column.codes, len(column.categories)) > 0])
        if not isinstance(column, np.ndarray):
            return list(dict.fromkeys(column))
        if column.dtype.kind in "iu" and len(column):
            return [column.min().item(), column.max().item()]
        return list(dict.fromkeys(column.tolist()))

    def runs(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Runs of equal rows: the position of each in the columns, and how many rows, two arrays (R,) int64.

        None where that cannot be told at a glance.
        """
        if self.copies is not None:
            return np.arange(len(self.copies), dtype=np.int64), self.copies
        if self.shapes is not None or not all(isinstance(column, (Column, np.ndarray)) for column in self.columns):
            return None
        starts = np.zeros(len(self), bool)
        starts[:1] = True
        for column in self.columns:
            values = column.codes if isinstance(column, Column) else column
            starts[1:] |= values[1:] != values[:-1]
        first_rows = np.flatnonzero(starts)
        return first_rows, np.diff(first_rows, append=len(self))

    def coded(self) -> tuple[list[tuple[np.ndarray, list[object]]], np.ndarray | None] | None:
        """Of each column codes, (R,), and the values that they stand for; and `copies`. None where a column has neither
        codes nor whole numbers, or rows have shapes."""
        if self.shapes is not None or not all(map(_has_codes, self.columns)):
            return None
        return [_coded(column) for column in self.columns], self.copies

    def rows_at(self, positions: np.ndarray) -> list[tuple[object, ...]]:
        """Rows as tuples of Python values; positions : (m,) int64."""
        return list(zip(*(_values(column, positions) for column in self.columns)))

    def chunks(self) -> Iterator[tuple[int, list[tuple[object, ...]]]]:
        """Rows in chunks: (position of the first, rows as tuples of Python values)."""
        n_rows, stops = len(self), None if self.copies is None else np.cumsum(self.copies)
        for start in range(0, n_rows, CHUNK):
            part: slice | np.ndarray = slice(start, start + CHUNK)
            if stops is not None:
                part = np.searchsorted(
                    stops, np.arange(start, min(start + CHUNK, n_rows), dtype=np.int64), side="right"
                )
            rows = list(zip(*(_values(column, part) for column in self.columns)))
            yield start, rows if self.columns else [()] * min(CHUNK, n_rows - start)


@dataclass(frozen=True, eq=False)
class StreamedTable(Table):
    """Rows that are made while they are written: `parts` gives the columns a part at a time, n_rows in all.

    known : the different values of each column, where all are values of the input or whole numbers; empty for unknown
    """

    n_rows: int = 0
    parts: Callable[[], Iterator[Sequence[Column | np.ndarray]]] = lambda: iter(())
    known: Sequence[Sequence[object]] = ()

    def __len__(self) -> int:
        return self.n_rows

    def runs(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Nothing is known about rows before they are made."""
        return None

    def coded(self) -> None:
        """Nothing is known about rows before they are made."""
        return None

    def has_codes(self, position: int) -> bool:
        """Whether a column holds values of the input, not computed ones, as far as that is known."""
        return bool(self.known)

    def distinct(self, position: int) -> list[object]:
        """The different values of a column, as `Table.distinct` gives them; none where they are not known."""
        return list(self.known[position]) if self.known else []

    def chunks(self) -> Iterator[tuple[int, list[tuple[object, ...]]]]:
        """Rows in chunks, as `Table.chunks` gives them."""
        done = 0
        for columns in self.parts():
            for start, rows in Table(self.fields, columns).chunks():
                yield done + start, rows
            done += len(columns[0])


def number_fields(**kinds: str) -> list[QgsField]:
    """Fields by name and kind: `number_fields(vbas_region="long", area_km2="real")`."""
    return [field(name, kind) for name, kind in kinds.items()]


def filled(
    table: OutputTable,
    columns: Mapping[str, TableColumn | None],
    *measured: object,
    own: Sequence[tuple[QgsField, TableColumn]] = (),
    nested: bool = False,
    shapes: np.ndarray | None = None,
    crs: QgsCoordinateReferenceSystem | None = None,
) -> Table:
    """The rows of a table: each of its fields from `columns`, else from the first of `measured` that has its name.

    columns : by the names of fields; None for one that is not known; own : the user's own fields with their columns
    nested : whether they tell of nested levels. NaN is no value.
    Raises KeyError for a field of every such table that has no column, and for a column without a field.
    """
    unknown = [name for name in columns if not table.alias_of(name)]
    several = [declared for declared in table.fields_of(nested) if declared.several]
    filled_fields: list[tuple[QgsField, TableColumn]] = []
    for declared in table.fields_of(nested):
        if declared.name == OWN:
            filled_fields += own
        elif declared.several:  # fields of two kinds take turns, as their columns do
            turns = [(kind, name, of) for name, of in columns.items() for kind in several if kind.alias_of(name)]
            filled_fields += [
                _filled(kind, name, of) for kind, name, of in turns if declared is several[0] and of is not None
            ]
        else:
            held = (getattr(of, declared.name) for of in measured if hasattr(of, declared.name))
            column = columns[declared.name] if declared.name in columns else next(held, None)
            if column is not None:
                filled_fields.append(_filled(declared, declared.name, column))
            elif declared.always:
                unknown.append(declared.name)
    if unknown:
        raise KeyError(table.parameter, *unknown)
    fields, values = [output_field for output_field, _ in filled_fields], [column for _, column in filled_fields]
    return Table(fields, values, "none" if shapes is None else table.geometry, shapes, crs)


def of_rows(table: OutputTable, rows: Sequence[object]) -> dict[str, list[object]]:
    """The columns of a table from objects that have its fields by their names; those that they lack are left out."""
    names = [name for name in table.names if all(hasattr(row, name) for row in rows)]
    return {name: [getattr(row, name) for row in rows] for name in names}


def _filled(declared: OutputField, name: str, column: TableColumn) -> tuple[QgsField, TableColumn]:
    kind = declared.kind
    if kind == NUMBER:
        kind = "long" if isinstance(column, np.ndarray) and column.dtype.kind in "iu" else "real"
    if kind == "real" and not isinstance(column, Column):
        values = np.asarray(column, float)  # None is NaN
        if np.isnan(values).any():
            column = [None if value != value else value for value in values.tolist()]
    return field(name, kind), column


def _has_codes(column: object) -> bool:
    return isinstance(column, Column) or (isinstance(column, np.ndarray) and column.dtype.kind in "iu")


def _coded(column: TableColumn) -> tuple[np.ndarray, list[object]]:
    """The codes of a column, and the value of each."""
    coded = column if isinstance(column, Column) else column_of_numbers(np.asarray(column))
    return coded.codes, to_list(coded.categories)


def _values(column: TableColumn, part: slice | np.ndarray) -> list[object]:
    if isinstance(column, Column):
        return to_list(column.categories[column.codes[part]])
    if isinstance(column, np.ndarray):
        return to_list(column[part])
    return list(column[part]) if isinstance(part, slice) else [column[position] for position in to_list(part)]
