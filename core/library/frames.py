"""Frames as programs have them: of pandas, Arrow, polars, or arrays by name; read as columns, given back in kind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any, Protocol

import numpy as np
import shapely

from ..arrays import objects, to_list
from ..errors import InputError, first_values
from ..installing import is_there
from ..language import tr
from ..plain_text import is_missing, with_none
from ..records.columns import Column, category_order, column_from_values, smallest_integers

PLAIN = (str, int, float, bool)


class Frame(Protocol):
    """A table of a program.

    geometry : the field of its shapes, where it says which; crs : their reference system, None where it says none
    """

    geometry: str
    crs: object

    @property
    def names(self) -> list[str]:
        """Its fields."""

    def column(self, name: str) -> Column:
        """A field as codes and categories, missing values as None."""

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        """Several fields, which are read together."""

    def values(self, name: str) -> list[object]:
        """The values of a field in the order of the table, missing ones as None."""

    def array(self, name: str) -> np.ndarray:
        """The values of a field as an array, of objects where they are not numbers."""

    def like(self, columns: Mapping[str, Column], kept: Sequence[str] = ()) -> Any:
        """A frame of the same kind from columns; kept : names of those that hold values of this frame, whose type they
        keep."""


def frame_of(table: object, what: str) -> Frame:
    """A table of a program. what : its name in messages. Raises InputError for what is none."""
    if isinstance(table, OwnFrame):
        return table
    kind = type(table).__module__.partition(".")[0]
    if kind in ("pandas", "geopandas") and hasattr(table, "columns"):
        return PandasFrame(table, what)
    if isinstance(table, Mapping):
        return ArrayFrame(table, what)
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__dataframe__"):
        return ArrowFrame(table, what)
    raise InputError.saying(
        "{what}: give a frame of pandas, geopandas, Arrow or polars, or arrays by name; this is “{type}”.",
        what=what,
        type=type(table).__name__,
    )


class OwnFrame:
    """What all frames share; those of files, too."""

    names: list[str]
    what: str = ""  # what it is called in messages
    geometry: str = ""
    crs: object = None

    def column(self, name: str) -> Column:
        """A field as codes and categories."""
        raise NotImplementedError

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        """Several fields, which are read together. Raises InputError for values that are no single ones, or no text."""
        return {name: self._of_single_values(name) for name in names}

    def _of_single_values(self, name: str) -> Column:
        try:
            column = self.column(name)
            if any(isinstance(value, (bytes, shapely.Geometry)) for value in column.categories):
                raise TypeError
        except (TypeError, NotImplementedError):  # what Python and Arrow cannot tell apart
            raise InputError.saying(
                "{parameter}: field “{name}” holds {kind}, not single values: put them into fields of text or numbers.",
                parameter=self.what,
                name=name,
                kind=tr("lists, maps, bytes or shapes"),
            ) from None
        texts = [value for value in to_list(column.categories) if isinstance(value, str)]
        try:
            "".join(texts).encode()
        except UnicodeEncodeError:
            whole = (text.encode("utf-8", "replace").decode() for text in texts)
            wrong = (shown for text, shown in zip(texts, whole) if text != shown)
            raise InputError.saying(
                "{parameter}: field “{name}” holds text with bytes of another encoding (first: {shown}): read it in "
                "that.",
                parameter=self.what,
                name=name,
                shown=first_values(wrong),
            ) from None
        return column

    def values(self, name: str) -> list[object]:
        """The values of a field in the order of the table, missing ones as None."""
        column = self._of_single_values(name)
        listed: list[object] = column.categories[column.codes].tolist()
        return listed

    def array(self, name: str) -> np.ndarray:
        """The values of a field."""
        column = self.column(name)
        return column.categories[column.codes]

    def like(self, columns: Mapping[str, Column], kept: Sequence[str] = ()) -> Any:
        """Arrays by name."""
        made = {}
        for name, column in columns.items():
            shown = _of_rows(column)
            values = to_list(shown.categories)
            kinds = {type(value) for value in values}
            array = np.array(values) if len(kinds) == 1 and kinds <= set(PLAIN) else shown.categories
            # Of whole numbers above 2**63 numpy makes real ones, and it takes zeros off the end of a text.
            made[name] = (array if array.tolist() == values else shown.categories)[shown.codes]
        return made


class PandasFrame(OwnFrame):
    """A frame of pandas or geopandas."""

    def __init__(self, frame: Any, what: str) -> None:
        self._frame = frame
        self.what = what
        self.geometry = str(getattr(frame, "_geometry_column_name", None) or "")
        self.crs = getattr(frame, "crs", None) if self.geometry else None
        self.names = [str(name) for name in frame.columns]
        refuse_twice(self.names, what)

    def column(self, name: str) -> Column:
        """A field as codes and categories."""
        import pandas as pd

        series = self._series(name)
        if isinstance(series.dtype, np.dtype) and not series.dtype.isnative:  # which pandas cannot tell apart
            series = series.astype(series.dtype.newbyteorder("="))
        if isinstance(series.dtype, pd.CategoricalDtype):
            return column_of_codes(series.cat.codes.to_numpy(), series.cat.categories.tolist())
        if series.dtype == object and pd.api.types.infer_dtype(series, skipna=True) not in ("string", "empty"):
            return _of_objects(series)  # of several types, which equal values would hide
        codes, uniques = pd.factorize(series, use_na_sentinel=True)
        return column_of_codes(codes, uniques.tolist())

    def array(self, name: str) -> np.ndarray:
        """The values of a field."""
        return np.asarray(self._series(name).array)

    def like(self, columns: Mapping[str, Column], kept: Sequence[str] = ()) -> Any:
        """A frame of pandas."""
        import pandas as pd

        made = {}
        for name, column in columns.items():
            dtype = self._series(name).dtype if name in kept else None
            # Of categories that are no plain values, such as bands, the text was read.
            own = dtype.categories.tolist() if isinstance(dtype, pd.CategoricalDtype) else []
            of_text = {plain_value(value): value for value in own}
            shown = _of_rows(column)
            values = pd.Series([of_text.get(value, value) for value in to_list(shown.categories)], dtype=object)
            with suppress(TypeError, ValueError):  # coarser values of a number are text
                values = values.infer_objects() if dtype is None else values.astype(dtype)
            if isinstance(values.dtype, pd.CategoricalDtype):  # which would list the values of suppressed rows, too
                values = values.cat.remove_unused_categories()
            made[name] = values.array.take(shown.codes.astype(np.intp))
        return pd.DataFrame(made)

    def _series(self, name: str) -> Any:
        return self._frame.iloc[:, self.names.index(name)]


class ArrowFrame(OwnFrame):
    """A table of Arrow, or of what hands its data over as Arrow does, such as polars; shapes as GeoParquet has them."""

    def __init__(self, table: object, what: str) -> None:
        if not is_there("pyarrow"):
            raise InputError.saying("{what}: pyarrow reads this frame, and is not installed.", what=what)
        import pyarrow as pa

        self.what = what
        self._is_polars = type(table).__module__.partition(".")[0] == "polars"
        if isinstance(table, pa.Table):
            self._table = table
        elif hasattr(table, "__arrow_c_stream__"):
            self._table = pa.table(table)
        else:
            from pyarrow.interchange import from_dataframe

            self._table = from_dataframe(table)
        self.names = list(self._table.column_names)
        self.geometry, self.crs = _shapes_of((self._table.schema.metadata or {}).get(b"geo", b"{}"), what)
        refuse_twice(self.names, what)

    def column(self, name: str) -> Column:
        """A field as codes and categories."""
        import pyarrow as pa

        values = self._table.column(name)
        if "view" in str(values.type):  # as polars has text, which Arrow computes little with
            values = values.cast(pa.large_string())
        if pa.types.is_float16(values.type):  # of which Arrow finds no different values
            values = values.cast(pa.float64())
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # of no chunk at all
            values = pa.array([], values.type)
        if not pa.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        return column_of_codes(_codes_of(values), _listed(values.dictionary))

    def array(self, name: str) -> np.ndarray:
        """The values of a field."""
        return np.asarray(self._table.column(name).to_numpy())

    def like(self, columns: Mapping[str, Column], kept: Sequence[str] = ()) -> Any:
        """A table of Arrow, or a frame of polars where one was given."""
        import pyarrow as pa

        made = {}
        for name, column in columns.items():
            values, kind = to_list(column.categories), None
            if name in kept:
                kind = self._table.schema.field(name).type
                kind = kind.value_type if pa.types.is_dictionary(kind) else kind
                kind = pa.large_string() if "view" in str(kind) else kind
            try:
                categories = pa.array(values, kind)
            except (pa.ArrowInvalid, pa.ArrowTypeError):  # coarser values of a number are text
                categories = pa.array([None if value is None else str(value) for value in values])
            made[name] = categories.take(pa.array(column.codes.astype(np.int64)))
        table = pa.table(made)
        if not self._is_polars:
            return table
        import polars  # type: ignore[import-not-found, unused-ignore]

        return polars.from_arrow(table)


class ArrayFrame(OwnFrame):
    """Arrays, lists or series by name."""

    def __init__(self, columns: Mapping[str, object], what: str) -> None:
        # Values of Arrow's own say of none that it is missing.
        self._given = {str(name): of.to_pylist() if hasattr(of, "to_pylist") else of for name, of in columns.items()}
        self.what = what
        self.names = [str(name) for name in columns]
        refuse_twice(self.names, what)
        lengths = {}
        for name, values in columns.items():
            try:
                lengths[name] = len(values)  # type: ignore[arg-type]
            except TypeError:
                raise InputError.saying("{what}: field “{name}” is no list of values.", what=what, name=name) from None
        if len(set(lengths.values())) > 1:
            raise InputError.saying(
                "{what} has arrays of different lengths ({lengths}): give as many values for each field.",
                what=what,
                lengths=", ".join(f"{name} {n}" for name, n in lengths.items()),
            )

    def column(self, name: str) -> Column:
        """A field as codes and categories."""
        values: Any = self._given[name]
        if isinstance(values, np.ma.MaskedArray):  # of which numpy tells no different values apart from masked ones
            values = values.filled(np.datetime64("NaT")) if values.dtype.kind == "M" else values.tolist()
        kind = values.dtype.kind if isinstance(values, np.ndarray) else ""
        if kind and values.ndim > 1:
            raise TypeError
        if kind == "M":  # whose nanoseconds would become numbers
            cut = values.astype("datetime64[us]")
            listed, more = cut.astype(object), cut != values
            listed[more] = [str(value).replace("T", " ") if value == value else None for value in values[more]]
            return column_from_values(listed)
        if kind and kind in "iufbU":
            uniques, codes = np.unique(values, return_inverse=True)
            return column_of_codes(codes.reshape(-1), uniques.tolist())
        return _of_objects(values)

    def array(self, name: str) -> np.ndarray:
        """The values of a field."""
        values: Any = self._given[name]
        # Of bytes numpy would make an array that ends them at their last zeros.
        return values if isinstance(values, np.ndarray) else np.fromiter(values, object, len(values))


def _codes_of(values: Any) -> np.ndarray:
    """The codes of a dictionary of Arrow, -1 where a value is missing."""
    return np.asarray(values.indices.fill_null(-1).to_numpy(zero_copy_only=False))


def _listed(values: Any) -> list[object]:
    """The values of an array of Arrow; moments of more digits than Python has as text, as pandas writes them."""
    import pyarrow as pa

    kind = values.type
    if not pa.types.is_timestamp(kind) or kind.unit != "ns":
        return values.to_pylist()
    try:
        return values.cast(pa.timestamp("us", kind.tz)).to_pylist()
    except pa.ArrowInvalid:
        texts = values.cast(pa.timestamp("ns")).cast(pa.string()).to_pylist()
    zone = "+00:00" if kind.tz else ""
    # Three digits or six at the end that are 0 are not written.
    return [text and text.removesuffix("000").removesuffix(".000000") + zone for text in texts]


def refuse_twice(names: Sequence[str], what: str) -> None:
    """Refuse two fields of one name. what : the table's name in messages. Raises InputError."""
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise InputError.saying("{what} has two fields “{name}”: rename one of them.", what=what, name=twice[0])


def free_name(names: Sequence[str]) -> str:
    """A name for the shapes that no other field has."""
    name = "geometry"
    while name in names:
        name += "_"
    return name


def column_of_codes(codes: np.ndarray, values: Sequence[object]) -> Column:
    """A column from codes, below 0 for a missing value, and the value of each, as `column_from_values` makes it.

    codes : (N,) integers; values : some of which may be equal, missing, or of no row
    """
    used = np.zeros(len(values) + 1, bool)
    used[codes] = True  # the last is for codes of -1
    plain = [
        None if not there or is_missing(value) else plain_value(value)
        for there, value in zip(used[:-1].tolist(), values)
    ]
    in_use = {(type(value), value): value for there, value in zip(used.tolist(), [*plain, None]) if there}
    ordered = sorted(in_use.values(), key=category_order)
    position = {(type(value), value): i for i, value in enumerate(ordered)}
    at = np.array([position.get((type(value), value), 0) for value in [*plain, None]], np.int64)
    categories = objects(ordered)
    return Column(smallest_integers(at, max(len(ordered), 1))[codes], categories)


def _of_rows(column: Column) -> Column:
    """A column without the values that no row of it has, such as those of suppressed rows."""
    used = np.bincount(column.codes, minlength=len(column.categories)) > 0
    return Column((np.cumsum(used, dtype=np.int64) - 1)[column.codes], column.categories[used])


def _shapes_of(geo: bytes, what: str) -> tuple[str, object]:
    """The field of the shapes by what GeoParquet says, empty where it says none, and their reference system.

    what : the table's name in messages. Raises InputError.
    """
    try:
        described = json.loads(geo)
        name = str(described.get("primary_column", ""))
        # Where GeoParquet says nothing the coordinates are longitudes and latitudes.
        return name, described["columns"][name].get("crs", "OGC:CRS84") if name else None
    except (ValueError, AttributeError, KeyError, TypeError):
        raise InputError.saying(
            "{what}: what its GeoParquet metadata say of shapes is damaged: write it anew, or give a GeoPackage.",
            what=what,
        ) from None


def _of_objects(values: Any) -> Column:
    """A column of values of any types. Raises TypeError for arrays, which are no single values."""
    listed = list(values)
    if any(issubclass(kind, np.ndarray) for kind in set(map(type, listed))):
        raise TypeError
    return column_from_values([value if type(value) in PLAIN else plain_value(value) for value in with_none(listed)])


def plain_value(value: Any) -> object:
    """A value as the toolbox reads it: Python's own, and what has no such type as text.

    A moment with a time zone is in UTC, as engines have it, and one that Python's would cut is text to its last digit.
    """
    if isinstance(value, PLAIN) and type(value) in PLAIN:
        return value
    if isinstance(value, np.generic):
        return value.item()
    if getattr(value, "nanosecond", 0):
        return str(value)
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if isinstance(value, datetime) and value.tzinfo is not None:
        with suppress(OverflowError):  # of the first and the last day that Python has
            value = value.astimezone(timezone.utc)
        return value
    kind = type(value).__module__.partition(".")[0]
    return str(value) if kind == "pandas" else value
