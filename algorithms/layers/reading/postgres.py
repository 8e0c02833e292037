"""A PostgreSQL layer without edits, read by GDAL: several times as fast as feature by feature.

What is not read here is read by features: fields of other types than text, whole numbers and booleans, which QGIS shows
in ways of its own, and whatever GDAL cannot open. Everything is asked in one transaction, which sees one state of the
table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from osgeo import gdal
from qgis.core import QgsDataSourceUri, QgsVectorLayer

from ....core.arrays import objects
from ....core.progress import Progress
from ....core.records.columns import Column
from ....core.records.sqlite_file import quoted
from ..gdal_errors import told_to_handlers
from .arrow import read_arrow
from .layer_file import count_again, rows_of

# How the fields are asked for, by the names that QGIS has for their types.
AS_TEXT, AS_NUMBER, AS_YES_OR_NO = "::text", "::int8", "::int4"
CASTS = {
    **dict.fromkeys(("text", "varchar"), AS_TEXT),
    **dict.fromkeys(("int2", "int4", "int8"), AS_NUMBER),
    "bool": AS_YES_OR_NO,
}
ROWS_AT_ONCE = "50000"  # that the server sends
ONE_STATE = "repeatable read"  # what the server calls a transaction that sees one state of all tables


@told_to_handlers()
def read_postgres(
    layer: QgsVectorLayer, names: Sequence[str], parameter: str, progress: Progress
) -> dict[str, Column] | None:
    """Columns by name; None where features must be read. Raises InputError where not all rows can be read."""
    fields, uri = layer.fields(), QgsDataSourceUri(layer.dataProvider().dataSourceUri())
    casts = [CASTS.get(fields.field(name).typeName()) for name in names]
    # QGIS takes the role after it has connected.
    if layer.providerType() != "postgres" or None in casts or uri.hasParam("session_role"):
        return None
    # What QGIS hides by the kind of a shape, or what it only estimates, shows in the number of rows.
    expected = count_again(layer)
    if expected is None:
        return None
    rows = rows_of(uri, layer.dataProvider().subsetString())
    asked = [f"{quoted(name)}{cast}" for name, cast in zip(names, casts)]
    with _connected(uri) as dataset:
        if dataset is None:
            return None
        size = _counted(dataset, asked, rows)
        if size is None or size[0] != expected:
            return None
        n_rows, widest = size
        aliases = [f"vbas_{i}" for i in range(len(names))]
        columns_sql = ", ".join(f"{column} AS {alias}" for column, alias in zip(asked, aliases))
        keys = ", ".join(quoted(fields[i].name()) for i in layer.dataProvider().pkAttributeIndexes())
        table = None
        with _silently():
            table = dataset.ExecuteSQL(" ".join(("SELECT", columns_sql, *rows, *(("ORDER BY", keys) if keys else ()))))
        # Of a connection that is lost meanwhile there is no answer, or one without fields.
        if not hasattr(table, "GetArrowStreamAsNumPy") or table.GetLayerDefn().GetFieldCount() < len(aliases):
            return None
        columns = read_arrow(table, aliases, n_rows, widest, parameter, progress)
        dataset.ReleaseResultSet(table)
    return {
        name: _as_booleans(columns[alias]) if cast == AS_YES_OR_NO else columns[alias]
        for name, alias, cast in zip(names, aliases, casts)
    }


def _counted(dataset: gdal.Dataset, asked: Sequence[str], rows: Sequence[str]) -> tuple[int, int] | None:
    """Rows, and the bytes of the longest text; None where they cannot be counted."""
    texts = ", ".join(f"max(octet_length({column}))" for column in asked if column.endswith(AS_TEXT))
    longest = f"coalesce(greatest(0, {texts}), 0)" if texts else "0"
    table = size = None
    counted = f"SELECT count(*)::int8, {longest}::int8, current_setting('transaction_isolation')"
    with _silently():
        table = dataset.ExecuteSQL(" ".join((counted, *rows)))
        row = table.GetNextFeature()
        if row.GetField(2) == ONE_STATE:
            size = row.GetField(0), row.GetField(1)
    if table is not None:
        dataset.ReleaseResultSet(table)
    return size


@contextmanager
def _connected(uri: QgsDataSourceUri) -> Iterator[gdal.Dataset | None]:
    """The database in a transaction, None where GDAL cannot reach it.

    The password goes to GDAL within this process, and nobody hears what GDAL says meanwhile: a message or what is told
    to who looks for faults (CPL_DEBUG) may hold the address.
    """
    before = gdal.GetThreadLocalConfigOption("OGR_PG_CURSOR_PAGE")
    gdal.SetThreadLocalConfigOption("OGR_PG_CURSOR_PAGE", ROWS_AT_ONCE)
    dataset = None
    try:
        with _silently():
            # No table is looked for but the one that is asked for.
            options = ["LIST_ALL_TABLES=NO", "TABLES=vbas"]
            dataset = gdal.OpenEx(f"PG:{uri.connectionInfo(True)}", gdal.OF_VECTOR, ["PostgreSQL"], options)
            dataset.StartTransaction()
            dataset.ExecuteSQL(f"SET TRANSACTION ISOLATION LEVEL {ONE_STATE}, READ ONLY")
        yield dataset
    finally:
        with _silently():
            if dataset is not None:
                dataset.RollbackTransaction()
            dataset = None
        gdal.SetThreadLocalConfigOption("OGR_PG_CURSOR_PAGE", before)


@contextmanager
def _silently() -> Iterator[None]:
    """Have GDAL fail without a word and without an error: what it gives shows that it did."""
    gdal.PushErrorHandler(lambda *_: None)
    try:
        with suppress(RuntimeError, AttributeError):  # GDAL's own errors, and None in the place of what it gives
            yield
    finally:
        gdal.PopErrorHandler()


def _as_booleans(column: Column) -> Column:
    values = [None if value is None else bool(value) for value in column.categories.tolist()]
    categories = objects(values)
    return Column(column.codes, categories)
