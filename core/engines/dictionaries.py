"""The values of fields and their codes: worked out in the engine, and fetched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import objects
from ..records.columns import category_order
from . import steps
from .engine import Arrow, Engine, Expression


def kept_dictionary(engine: Engine, source: Expression, column: str) -> tuple[Expression, np.ndarray]:
    """The values of a field with their codes, which the engine made and keeps, and the values by code."""
    kept = engine.keep(f"vbas_{column}", steps.dictionary(source, column))
    return kept, values_of(engine, kept, column)


def values_of(engine: Engine, dictionary: Expression, name: str) -> np.ndarray:
    """The values of a dictionary by code, (n,) object."""
    batches = [(batch[f"c_{name}"].to_pylist(), batch[f"v_{name}"].to_pylist()) for batch in engine.fetch(dictionary)]
    codes = [code for part, _ in batches for code in part]
    values = np.empty(len(codes), dtype=object)
    values[codes] = np.fromiter((value for _, part in batches for value in part), object, len(codes))
    return values


def coded_values(batches: Sequence[Arrow], field: int, name: str) -> tuple[Arrow, np.ndarray]:
    """The values of one of the fields of `steps.distinct_values`, as a dictionary that is coded here, and by code.

    batches : of that expression; field : its position. The codes ascend as the values of a column do.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = batches[0].schema.field("value").type if batches else pa.string()
    parts = [batch.filter(pc.equal(batch["field"], field))["value"] for batch in batches]
    every = pa.chunked_array(parts, kind).combine_chunks()
    known = every.to_pylist()
    order = sorted(range(len(known)), key=lambda i: category_order(known[i]))
    values = objects([known[i] for i in order])
    codes = pa.array(np.arange(len(known), dtype=np.int32))
    return pa.table({f"v_{name}": every.take(pa.array(order, pa.int64())), f"c_{name}": codes}), values


def listed(values: Arrow) -> Arrow:
    """A table of one row, whose field `listed` is the list of these values."""
    import pyarrow as pa

    ends = pa.array([0, len(values)], pa.int32())
    return pa.table({"listed": pa.ListArray.from_arrays(ends, values)})
