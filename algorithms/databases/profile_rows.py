"""A profile counted in place as the rows of an output."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from qgis.core import QgsField

from ...core.arrays import to_list
from ...core.engines.in_place import InPlace
from ...core.plan import area_of_cells, stretches
from ...core.records.columns import Column
from ...core.tables.regions import PROFILE
from ..compat import field
from ..layers.tables import StreamedTable, filled

KINDS = {int: "long", float: "real", bool: "boolean", str: "text"}


def profile_rows(in_place: InPlace) -> StreamedTable:
    """A row for each cell, by area and class, made while it is written: they may be nearly as many as the records."""
    profile = in_place.profile(np.arange(len(in_place.areas)), len(in_place.areas))
    counts, categories = profile.counts, [*map(_as_shown, (in_place.areas, *in_place.categories))]
    used = np.flatnonzero(np.diff(counts.indptr)), *map(np.unique, in_place.classes.T)
    known = [to_list(values[codes]) for values, codes in zip(categories, used)]
    names = in_place.fields.area, *in_place.fields.quasi_identifiers
    fields = [_field(name, values) for name, values in zip(names, categories)]
    bounds = [int(counts.data.min()), int(counts.data.max())] if counts.nnz else []

    def parts() -> Iterator[list[Column | np.ndarray]]:
        for cells in stretches(counts.nnz):
            codes = area_of_cells(profile, cells), *in_place.classes[counts.indices[cells]].T
            yield [*(Column(code, values) for code, values in zip(codes, categories)), counts.data[cells]]

    every = filled(PROFILE, {"records": ()}, own=[(field, ()) for field in fields]).fields
    return StreamedTable(every, (), n_rows=counts.nnz, parts=parts, known=[*known, bounds])


def _as_shown(categories: np.ndarray) -> np.ndarray:
    """Values of one kind that a layer holds; all others as their text."""
    kinds = {type(value) for value in categories if value is not None}
    if len(kinds) <= 1 and kinds <= set(KINDS):
        return categories
    return np.array([None if value is None else str(value) for value in to_list(categories)], dtype=object)


def _field(name: str, categories: np.ndarray) -> QgsField:
    kind = next((type(value) for value in categories if value is not None), str)
    return field(name, KINDS[kind])
