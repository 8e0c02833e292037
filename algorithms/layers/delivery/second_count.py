"""The second count: what was written is opened again, its rows, shapes and classes counted from there alone.

Files are read as they are, by another program than wrote them where there is one (SQLite itself, Python's CSV reader).
Values are distinguished by type and value, missing ones from all others. Where a format itself makes two values one
(CSV has no missing value, only empty text), they are one here too: so they are for whoever reads the file, and
classes only grow by it. Nothing here may merge what a reader of the file sees as two.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from itertools import chain, islice, repeat
from pathlib import Path

import shapely
from osgeo import gdal
from qgis.core import QgsFeature, QgsFeatureRequest, QgsVectorLayer
from qgis.PyQt.QtCore import QVariant

from ....core.dataclass import dataclass
from ....core.errors import InputError, PrivacyError, VbasError, first_values
from ....core.language import tr
from ....core.progress import Progress, silent
from ....core.publish.counting import ReadBack, SecondCount, names_there
from ....core.publish.geopackage.recounting import read_geopackage
from ...compat import kind_of
from ..tables import CHUNK, Table
from .exact_values import MOMENTS, changed_values, is_long_whole
from .opening import opened

FEATURES = 500  # read at once: Python's collector goes through all that are kept, again and again
LONGEST_FIELD = 2**31 - 1  # that every Python takes


@dataclass()
class _Classes:
    """Counts rows and classes as they come, by typed values."""

    check: SecondCount | None
    n_fields: int
    n_rows: int = 0
    sizes: Counter[tuple[object, ...]] = field(default_factory=Counter)
    values: list[set[object]] = field(default_factory=list)
    plain: list[type | None] = field(default_factory=list)
    """Of each field the type whose values stand for themselves; None as long as there was no value."""

    def __post_init__(self) -> None:
        self.values = [set() for _ in range(self.n_fields)]
        self.plain = [None] * self.n_fields

    def add(self, rows: Sequence[Sequence[object]], copies: Sequence[int] | None = None) -> None:
        """Some rows more; copies : how often each of them stands there, None for once."""
        # A short row would leave a column out of the classes, and make one of several.
        other = next((len(row) for row in rows if len(row) != self.n_fields), self.n_fields)
        if other != self.n_fields:
            raise VbasError.saying(
                "What was written cannot be read back: a row has {other} of {n} fields. Nothing was kept; choose "
                "another format, such as GeoPackage.",
                other=other,
                n=self.n_fields,
            )
        self.n_rows += len(rows) if copies is None else sum(copies)
        columns = [self._typed_column(position, column) for position, column in enumerate(zip(*rows))]
        for seen, column in zip(self.values, columns):
            seen.update(column)
        if self.check is None or not rows:
            return
        keys = zip(*columns[: self.check.n_class_fields])
        if self.check.count_field is None and copies is None:
            self.sizes.update(keys)
            return
        counts = repeat(1) if self.check.count_field is None else columns[self.check.count_field]
        for key, count, n_copies in zip(keys, counts, copies or repeat(1)):
            self.sizes[key] += n_copies * _records(_untyped(count))

    def _typed_column(self, position: int, column: Sequence[object]) -> Sequence[object]:
        """The values with their types, so that 1, 1.0, “1” and True are four, and a missing value is none of them.

        Values of the field's first type stand for themselves, None for what is missing, and all else is a pair.
        """
        kinds = set(map(type, column))
        if self.plain[position] is None:
            self.plain[position] = next((kind for kind in (str, int, float, bool) if kind in kinds), None)
        plain = self.plain[position]
        if kinds <= {plain, type(None)}:
            return column
        return [value if type(value) is plain else _typed(value) for value in column]

    def read_back(self, names: Sequence[str | None], n_shapes: int | None) -> ReadBack:
        smallest = min(self.sizes.values(), default=None)
        values = [[_untyped(value) for value in seen] for seen in self.values]
        return ReadBack(names, self.n_rows, n_shapes, smallest, values)


def check_file(output: str, file: Path, table: Table, check: SecondCount | None) -> None:
    """Reopen a written file and compare it with what was to be written; with a check recount its classes too.

    Raises VbasError where rows, shapes or fields are missing, InputError where values changed, PrivacyError for a class
    below k.
    """
    if file.suffix.lower() == ".gpkg":
        read_back: ReadBack | None = read_geopackage(file, _wanted(table), check, table.plain)
    elif file.suffix.lower() == ".csv":
        read_back = _of_csv(file, table, check)
    else:
        read_back = _through_qgis(file, table, check)
    _compare(output, read_back, table, check)


def check_layer(
    output: str, layer: QgsVectorLayer | None, table: Table, check: SecondCount | None, progress: Progress = silent
) -> None:
    """The same for a layer in memory or in a database; progress : by rows."""
    read_back = None if layer is None else _of_layer(layer, table, check, progress=progress)
    _compare(output, read_back, table, check)


def _compare(output: str, read_back: ReadBack | None, table: Table, check: SecondCount | None) -> None:
    kind = VbasError if check is None else PrivacyError
    if read_back is None:
        raise kind(
            tr(
                "{output} cannot be read back in this format: nothing was kept; choose another, such as GeoPackage.",
                output=output,
            )
        )
    if read_back.n_rows != len(table):
        raise kind(
            tr(
                "{output} was not written whole ({n_rows} of {n_expected} rows): nothing was kept.",
                output=output,
                n_rows=read_back.n_rows,
                n_expected=len(table),
            )
        )
    if read_back.n_shapes is not None and table.shapes is not None:
        n_shapes = int((~shapely.is_missing(table.shapes) & ~shapely.is_empty(table.shapes)).sum())
        if read_back.n_shapes != n_shapes:
            raise kind(
                tr(
                    "{output} was not written whole ({n_shapes} of {expected} rows with a shape): nothing was kept.",
                    output=output,
                    n_shapes=read_back.n_shapes,
                    expected=n_shapes,
                )
            )
    if not read_back.n_rows:
        return
    lost = [qgs_field.name() for qgs_field, name in zip(table.fields, read_back.names) if name is None]
    if lost:
        raise InputError.saying(
            "{output}: the format cannot hold a field named {first} (its characters are changed): rename it first or "
            "choose another format, such as GeoPackage.",
            output=output,
            first=first_values(lost),
        )
    if check is not None and (read_back.smallest is None or read_back.smallest < check.k):
        raise PrivacyError.saying(
            "The second count found a class of fewer than {k} records in {output}: nothing was kept.",
            k=check.k,
            output=output,
        )
    _compare_values(output, read_back, table)


def _compare_values(output: str, read_back: ReadBack, table: Table) -> None:
    if read_back.values is None:
        return
    for position, (qgs_field, values) in enumerate(zip(table.fields, read_back.values)):
        written = table.distinct(position)
        if kind_of(qgs_field) == "real" and not table.has_codes(position):
            # Of what was computed a last digit may go; long whole numbers may be the identifiers of areas.
            written = [value for value in written if isinstance(value, float) and is_long_whole(value)]
        changed = changed_values(written, values, str(kind_of(qgs_field))) if written else []
        if changed and kind_of(qgs_field) in MOMENTS:  # no format keeps each of them but as text
            raise InputError.saying(
                "{output}: the format does not keep the times {first} of field “{one}” as they are: round them, or "
                "make a field of text of them first.",
                output=output,
                first=first_values(changed),
                one=qgs_field.name(),
            )
        if changed:
            raise InputError.saying(
                "{output}: the format does not keep the values {first} of field “{one}” as they are: choose another "
                "format, such as GeoPackage, or round or shorten them.",
                output=output,
                first=first_values(changed),
                one=qgs_field.name(),
            )


def _of_csv(file: Path, table: Table, check: SecondCount | None) -> ReadBack:
    """By Python's own reader: each value is the text that stands in the file."""
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.reader(lines)
            there = next(reader, [])
            names = names_there(_wanted(table), there)
            if None in names or len(there) != len(table.fields):
                return ReadBack(names, sum(1 for row in reader if row))
            classes = _Classes(check, len(table.fields))
            while some := list(islice(lines, CHUNK)):
                copies = Counter(some)
                # Where the empty line that follows makes no row of its own, a row goes on over a line's end.
                different = list(csv.reader(chain(copies, ["\n"])))
                if len(different) != len(copies) + 1:
                    rows = filter(None, csv.reader(chain(some, lines)))
                    while chunk := list(islice(rows, CHUNK)):
                        classes.add(chunk)
                    break
                # GDAL, too, passes over empty lines.
                there_are = [(row, n) for row, n in zip(different, copies.values()) if row]
                classes.add([row for row, _ in there_are], [n for _, n in there_are])
    finally:
        csv.field_size_limit(before)
    return classes.read_back(names, None)


def _through_qgis(file: Path, table: Table, check: SecondCount | None) -> ReadBack | None:
    # The layer ends with this function: an error would keep it, and QGIS crashes on one that is left at its own end.
    with _headers_in_spreadsheets(), opened(file, file.stem) as layer:
        return _of_layer(layer, table, check, renamed=file.suffix.lower() in (".shp", ".dbf"))


def _of_layer(
    layer: QgsVectorLayer,
    table: Table,
    check: SecondCount | None,
    renamed: bool = False,
    progress: Progress = silent,
) -> ReadBack | None:
    """Through QGIS; renamed : the format shortens names, and keeps the order of the fields."""
    if not layer.isValid():
        return None
    there = layer.fields().names()
    in_order = renamed and len(there) == len(table.fields)
    names = there if in_order else names_there(_wanted(table), there)
    request = QgsFeatureRequest()
    spatial = layer.isSpatial()
    if not spatial:
        request.setFlags(QgsFeatureRequest.Flag.NoGeometry)
    features = layer.getFeatures(request)
    if None in names:
        return ReadBack(names, sum(1 for _ in features))
    positions = [there.index(name) for name in names]
    classes = _Classes(check, len(table.fields))
    n_shapes = 0
    as_it_is = positions == list(range(len(there)))
    while True:
        if classes.n_rows % CHUNK == 0:
            progress(min(classes.n_rows / max(len(table), 1), 1.0))
        if spatial:
            chunk = list(islice(features, FEATURES))
            n_shapes += sum(feature.hasGeometry() and not feature.geometry().isEmpty() for feature in chunk)
            rows = list(map(QgsFeature.attributes, chunk))
        else:
            rows = list(map(QgsFeature.attributes, islice(features, FEATURES)))
        if not rows:
            break
        classes.add(rows if as_it_is else [[row[position] for position in positions] for row in rows])
    return classes.read_back(names, n_shapes if spatial else None)


@contextmanager
def _headers_in_spreadsheets() -> Iterator[None]:
    """The first row of a spreadsheet holds the names: GDAL would guess, wrongly where all else is text or nothing."""
    names = ("OGR_XLSX_HEADERS", "OGR_ODS_HEADERS")
    before = [gdal.GetConfigOption(name) for name in names]
    for name in names:
        gdal.SetConfigOption(name, "FORCE")
    try:
        yield
    finally:
        for name, value in zip(names, before):
            gdal.SetConfigOption(name, value)


def _wanted(table: Table) -> list[str]:
    return [qgs_field.name() for qgs_field in table.fields]


def _typed(value: object) -> object:
    """A value and the name of its type; None for a missing one."""
    if value is None:
        return None
    if isinstance(value, QVariant):
        return None if value.isNull() else _typed(value.value())
    try:
        hash(value)
    except TypeError:
        return type(value).__name__, repr(value)
    return type(value).__name__, value


def _untyped(typed: object) -> object:
    return typed[1] if isinstance(typed, tuple) else typed


def _records(count: object) -> int:
    """How many records a row stands for; none where that cannot be read, so that its class shows too few."""
    try:
        return int(count)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return 0
