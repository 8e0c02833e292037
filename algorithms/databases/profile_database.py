"""Counting records by area and class where they are."""

from __future__ import annotations

from ...core import counted
from ...core.language import as_data, tr
from ...core.tables.regions import PROFILE
from ..form import parameters as shared
from ..form.effective import Conditions
from ..form.form import Form
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.generalising import generalising_parameters
from .connection import CONDITIONS, InPlaceAlgorithm, connection_parameters, field_parameters, opened


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
        with opened(form) as engine:
            from .counting import counted as counted_in_place  # what these need is there once an engine is open
            from .profile_rows import profile_rows

            in_place = counted_in_place(form, engine, form.progress(0, 80)).shown
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
