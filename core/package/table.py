"""A table of a release as it is described and written: fields with their types, and each different row once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

import numpy as np

from ..arrays import objects, to_list
from ..dataclass import dataclass
from ..plain_text import plain_text
from ..records.columns import Column, column_from_values, smallest_integers

# Types of Frictionless Table Schema.
INTEGER, NUMBER, STRING, BOOLEAN, DATE, DATETIME = "integer", "number", "string", "boolean", "date", "datetime"
TYPES = (INTEGER, NUMBER, STRING, BOOLEAN, DATE, DATETIME)
# What a field is for.
LEVEL, REGION, AREA, QUASI, SENSITIVE, KEPT, COUNT, PARENT, PERSON, FLAG = (
    *("level", "region", "area", "quasi-identifier", "sensitive", "kept", "count", "parent", "person", "shown"),
)
BEYOND = 2**63  # the first whole number that 64 bits do not hold
NAMES = {"QDate": DATE, "QDateTime": DATETIME}  # of types that are known by their name alone
KINDS = {int: INTEGER, float: NUMBER, str: STRING, bool: BOOLEAN, date: DATE, datetime: DATETIME}


@dataclass(frozen=True)
class DataField:
    """A field.

    name : in the file; type : one of TYPES; title, description, unit : for people; role : what it is for, empty for
    nothing of the above; coarser : how much coarser than in the records its values are, as a level of their hierarchy
    """

    name: str
    type: str
    title: str = ""
    description: str = ""
    unit: str = ""
    role: str = ""
    coarser: int = 0


@dataclass(frozen=True)
class Crs:
    """A coordinate reference system: name, such as EPSG:3347; wkt, and projjson, empty where that is not known."""

    name: str
    wkt: str
    projjson: str = ""

    @property
    def epsg(self) -> int | None:
        """Its number at EPSG, None where it has none."""
        authority, _, number = self.name.partition(":")
        return int(number) if authority.upper() == "EPSG" and number.isdigit() else None


@dataclass(frozen=True, eq=False)
class DataTable:
    """A table.

    name : of the file; title, description : for people; fields : in their order; columns : one per field, (R,) codes
    each, whose categories are values of the field's type: int, float, bool, None for missing, or text, which dates are
    too (ISO 8601)
    copies : (R,) int64, how often each row stands in the table
    shapes : (R,) shapely polygons or None, and crs, of a table that is drawn
    """

    name: str
    title: str
    description: str
    fields: tuple[DataField, ...]
    columns: tuple[Column, ...]
    copies: np.ndarray
    shapes: np.ndarray | None = None
    crs: Crs | None = None

    def __len__(self) -> int:
        """Number of rows, each as often as it stands in the table."""
        return int(self.copies.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(field.name for field in self.fields)

    def column(self, name: str) -> Column:
        """The column of a field. Raises ValueError where there is none of that name."""
        return self.columns[self.names.index(name)]

    def of_role(self, role: str) -> tuple[DataField, ...]:
        """The fields that are for something."""
        return tuple(field for field in self.fields if field.role == role)


def typed(column: Column) -> tuple[str, Column]:
    """The type of a column's values, and the column with values of that type alone; unused values are gone.

    Values of several types, or of one that no schema knows, and whole numbers of more than 64 bits become text.
    """
    used = np.flatnonzero(np.bincount(column.codes, minlength=len(column.categories)))
    position = np.zeros(len(column.categories), np.int64)
    position[used] = np.arange(len(used), dtype=np.int64)
    values = to_list(column.categories[used])
    kinds = {KINDS.get(type(value), NAMES.get(type(value).__name__, "")) for value in values if value is not None} or {
        STRING
    }
    kind = kinds.pop() if len(kinds) == 1 else ""
    if not kind and all(value is None or isinstance(value, Decimal) for value in values):
        floats = [None if value is None else float(str(value)) for value in values]
        if all(value is None or Decimal(repr(value)) == of for value, of in zip(floats, values)):
            kind, values = NUMBER, floats
    if kind == INTEGER and not all(value is None or -BEYOND <= value < BEYOND for value in values):
        kind = STRING  # as GeoPackage and Parquet have no such number
    kind = kind or STRING
    plain = [None if value is None else _plain(kind, value) for value in values]
    codes = smallest_integers(position[column.codes], max(len(used), 1))
    categories = objects(plain)
    return kind, Column(codes, categories)


def _plain(kind: str, value: object) -> object:
    if kind in (DATE, DATETIME) and isinstance(value, date):
        return value.isoformat()
    return value if kind in (INTEGER, NUMBER, BOOLEAN) else plain_text(value)


def column_of(values: Sequence[object] | np.ndarray) -> Column:
    """A column of whole numbers, texts and None."""
    return column_from_values(to_list(values) if isinstance(values, np.ndarray) else values)
