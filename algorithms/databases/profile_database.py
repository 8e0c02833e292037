"""Counting records by area and class where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from qgis.core import QgsField

from ...core import counted
from ...core.arrays import to_list
from ...core.language import as_data, tr
from ...core.plan import area_of_cells, stretches
from ...core.records.columns import Column
from ...core.tables.regions import PROFILE
from ..compat import field
from ..form import parameters as shared
from ..form.effective import Conditions
from ..form.form import Form
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.generalising import generalising_parameters
from ..layers.tables import StreamedTable, filled
from .connection import CONDITIONS, InPlaceAlgorithm, connection_parameters, field_parameters, opened

if TYPE_CHECKING:
    from ...core.engines.in_place import InPlace


class ProfileDatabase(InPlaceAlgorithm):
    """`vbas:profiledatabase`."""

    ID = "profiledatabase"
    TAGS = as_data("group by,count,duckdb,parquet,postgresql,spark,sql")
    SUMMARY = tr("Counts records by area and class in DuckDB, PostgreSQL or Spark, without loading them.")
    HELP = tr(
        "<p>The same as “Profile records” for a table that is too large to be loaded, or must not leave its database: "
        "the database counts, and only areas, classes and counts come back.</p>"
        "<p>The profile goes wherever records are asked for, with “records” as the record count field: anonymise it to "
        "find the regions, then give their crosswalk to “Release records in a database”.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *connection_parameters(),
            *field_parameters(False),
            *generalising_parameters(),
            shared.sink(PROFILE),
        )
        self.addNumbers(N_RECORDS=tr("Records"), N_CLASSES=tr("Classes"))

    def conditions(self) -> Conditions:
        return {**CONDITIONS, **GENERALISING}

    def work(self, form: Form) -> dict[str, object]:
        with opened(form.job) as engine:
            from .counting import counted as counted_in_place  # what these need is there once an engine is open

            in_place = counted_in_place(form.job, engine, form.progress(0, 80)).coarsened
        form.outputs.add("PROFILE", profile_rows(in_place))
        n_records, n_classes = in_place.n_records, len(in_place.classes)
        form.info(
            tr(
                "{title} counted {records}, {classes}.",
                title=engine.title,
                records=counted.records(n_records),
                classes=counted.classes(n_classes),
            )
        )
        return {"N_RECORDS": n_records, "N_CLASSES": n_classes}


KINDS = {int: "long", float: "real", bool: "boolean", str: "text"}


def profile_rows(in_place: InPlace) -> StreamedTable:
    """A row for each cell, by area and class, made while it is written: they may be nearly as many as the records."""
    profile = in_place.profile(np.arange(len(in_place.areas), dtype=np.int64), len(in_place.areas))
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
