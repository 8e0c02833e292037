"""Counting records by area and class where they are."""

from __future__ import annotations

import numpy as np
from qgis.core import QgsField

from ...core.arrays import to_list
from ...core.language import as_data, tr
from ...core.records.columns import Column
from ..compat import field
from ..form import parameters as shared
from ..form.effective import Counts
from ..form.form import Form
from ..form.generalising import COUNTS as GENERALISING
from ..form.generalising import generalising_parameters
from ..layers.tables import INTERNAL, Table, number_fields
from .connection import COUNTS, InPlaceAlgorithm, connection_parameters, field_parameters, opened

KINDS = {int: "long", float: "real", bool: "boolean", str: "text"}


class ProfileDatabase(InPlaceAlgorithm):
    """`vbas:profiledatabase`."""

    ID = "profiledatabase"
    TAGS = as_data("group by,count,duckdb,parquet,postgresql,spark,sql")
    SUMMARY = tr("Counts records by area and class in DuckDB, PostgreSQL or Spark, without loading them.")
    HELP = tr(
        "<p>The same as “Profile records” for a table that is too large to be loaded, or must not leave its database: "
        "the database counts, and only areas, classes and counts come back.</p>"
        "<p>The profile goes wherever records are asked for, with “records” as the records per row: anonymise it to "
        "find the regions, then give their crosswalk to “Release records in a database”.</p>"
    )

    def declare(self) -> None:
        text = tr("A row for each area and class that occurs: the area, the quasi-identifiers, “records”.")
        self.addParameters(
            *connection_parameters(),
            *field_parameters(False),
            *generalising_parameters(),
            shared.sink("PROFILE", tr("Profile"), INTERNAL, text),
        )
        self.addNumbers(N_RECORDS=tr("Records"), N_CLASSES=tr("Classes"))

    def counts(self) -> Counts:
        return {**COUNTS, **GENERALISING}

    def work(self, form: Form) -> dict[str, object]:
        with opened(form) as engine:
            from .counting import counted  # what it needs is there once an engine is open

            found = counted(form, engine, form.progress(0, 80)).shown
        table = found.table()
        order = np.lexsort((found.class_of, found.area))
        columns = {found.fields.area: table.area, **table.quasi_identifiers}
        shown = [Column(column.codes[order], _as_shown(column.categories)) for column in columns.values()]
        fields = [_field(name, column.categories) for name, column in zip(columns, shown)]
        form.outputs.add("PROFILE", Table([*fields, *number_fields(records="long")], [*shown, found.records[order]]))
        form.info(
            tr(
                "{title} counted {n_records} records, {n_classes} classes.",
                title=engine.title,
                n_records=table.n_records,
                n_classes=len(found.classes),
            )
        )
        return {"N_RECORDS": table.n_records, "N_CLASSES": len(found.classes)}


def _as_shown(categories: np.ndarray) -> np.ndarray:
    """Values of one kind that a layer holds; all others as their text."""
    kinds = {type(value) for value in categories if value is not None}
    if len(kinds) <= 1 and kinds <= set(KINDS):
        return categories
    return np.array([None if value is None else str(value) for value in to_list(categories)], dtype=object)


def _field(name: str, categories: np.ndarray) -> QgsField:
    kind = next((type(value) for value in categories if value is not None), str)
    return field(name, KINDS[kind])
