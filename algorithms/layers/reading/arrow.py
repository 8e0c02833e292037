"""Columns from a stream of GDAL's: many rows at once, as arrays of numbers and of bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from osgeo import ogr

from ....core.records.columns import Column, ColumnBuilder
from ....core.records.table_file import check_rows
from ..gdal_errors import told_to_handlers
from .unreadable import errors_of_readers, undecoded

MOST_ROWS = 65_536
# A batch of text is an array as wide as its longest value.
BYTES_AT_ONCE = 1 << 26


@told_to_handlers()
def read_arrow(
    table: ogr.Layer, names: Sequence[str], n_rows: int, widest: int, parameter: str, progress: Callable[[float], None]
) -> dict[str, Column]:
    """Columns by field name.

    n_rows : rows there are, counted without GDAL; widest : bytes that no value exceeds; progress raises to cancel.
    Raises InputError where not every row can be read, or text is not UTF-8.
    """
    definition = table.GetLayerDefn()
    others = [definition.GetFieldDefn(i).GetName() for i in range(definition.GetFieldCount())]
    table.SetIgnoredFields([name for name in others if name not in names] + ["OGR_GEOMETRY", "OGR_STYLE"])
    text = {name: definition.GetFieldDefn(definition.GetFieldIndex(name)).GetType() == ogr.OFTString for name in names}
    builders = {name: ColumnBuilder() for name in names}
    rows_at_once = max(1, min(MOST_ROWS, BYTES_AT_ONCE // max(widest, 1)))
    batches = iter(table.GetArrowStreamAsNumPy(options=["INCLUDE_FID=NO", f"MAX_FEATURES_IN_BATCH={rows_at_once}"]))
    done = 0
    while True:
        with errors_of_readers(parameter):
            batch = next(batches, None)
        # A stream that fails gives empty batches for ever.
        n_here = len(batch[names[0]]) if batch else 0
        done += n_here
        if not batch or not n_here or done > n_rows:
            break
        for name, builder in builders.items():
            _add(builder, batch[name], text[name], name, parameter)
        progress(done / n_rows)
    check_rows(done, n_rows, parameter)
    return {name: builder.column() for name, builder in builders.items()}


def _add(builder: ColumnBuilder, values: np.ndarray, is_text: bool, name: str, parameter: str) -> None:
    missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    plain = np.ma.getdata(values)
    try:
        if is_text and plain.dtype.kind == "O":
            builder.add_values([_decoded(value) for value in plain.tolist()])
            return
        if plain.dtype.kind == "f":
            lost = np.isnan(plain)
            missing = lost if missing is None else missing | lost
        builder.add_array(plain, missing)
    except UnicodeDecodeError as error:
        raise undecoded(parameter, name, [error.object.decode("utf-8", "replace")]) from error


def _decoded(value: object) -> object:
    return value.decode("utf-8") if isinstance(value, bytes) else value
