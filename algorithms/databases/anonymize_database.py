"""Regions and release of records where they are, in one run."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core.errors import InputError
from ...core.language import as_data, tr
from ..anonymize import Anonymize
from ..form import parameters as shared
from ..form.areas import area_parameters
from ..form.effective import GIVEN, Conditions
from ..form.form import Form, FormJob
from ..form.generalising import generalising_parameters
from ..form.guarantees import protection_settings
from ..form.published import published_parameters
from ..form.records import unmatched
from ..handed_over import Handed
from .connection import CONDITIONS, InPlaceAlgorithm, connection_parameters, field_parameters, opened
from .release_database import destination, where_the_rows_are

FOLDED = ("POPULATION", "SCHEMA", "KEEP_FIELDS", "PERSON_ID")
OF_A_RELEASE = ("REGISTER", "PUBLISHED_MARGINS", "PUBLISHED_COUNTS")
PAGES_OF_A_RELEASE = ("RELEASE_REPORT", "RELEASE_FOLDER", "SIGN_PAGE")


def _folded(
    parameters: Iterable[QgsProcessingParameterDefinition],
) -> Iterable[QgsProcessingParameterDefinition]:
    """The parameters, of which some more fold than in forms that have fewer."""
    for parameter in parameters:
        yield shared.advanced(parameter) if parameter.name() in FOLDED else parameter


class AnonymizeDatabase(InPlaceAlgorithm, Anonymize):
    """`vbas:anonymizedatabase`."""

    ID = "anonymizedatabase"
    TAGS = as_data("suppression,release,k-anonymity,aggregation,duckdb,parquet,postgresql,spark,sql")
    SUMMARY = tr("Anonymises records in DuckDB, PostgreSQL or Spark in one run, without loading them.")
    HELP = tr(
        "<p>The same as “Anonymise records” for a table that is too large to be loaded, or must not leave its "
        "database: “Profile records in a database”, the regions, and “Release records in a database” in one. The "
        "engine counts once, here the regions are made and it is decided what is shown, and the engine writes the "
        "rows, counts them once more and gives the release its name; any failure leaves nothing.</p>"
        "<p>Where “Where the release goes” is empty nothing is written in the database: the crosswalk and the report "
        "say what a release would be. Linked tables, and releases that carry an earlier one on, are for “Release "
        "records in a database”.</p>"
    )
    IN_PLACE = True

    def of_areas_and_records(self) -> Iterable[QgsProcessingParameterDefinition]:
        yield from _folded(area_parameters())
        yield from _folded(connection_parameters())
        yield from _folded(field_parameters(True))
        yield from generalising_parameters()

    def of_what_is_released(self) -> Iterable[QgsProcessingParameterDefinition]:
        yield from protection_settings()
        yield from published_parameters()
        yield unmatched()

    def of_rows(self) -> QgsProcessingParameterDefinition:
        return destination(tr("Empty where only the crosswalk and what it would cost are wanted."), optional=True)

    def declare(self) -> None:
        super().declare()
        self.addOutput(where_the_rows_are())

    def conditions(self) -> Conditions:
        return {**super().conditions(), **CONDITIONS, "KEEP_FIELDS": [{"DESTINATION": GIVEN}]}

    def work(self, form: Form) -> Handed:
        if not form.text("DESTINATION").strip():
            _refuse_without_release(form)
        job = FormJob(form, form.layers, form)
        engine = form.outputs.hold(opened(job))
        from .releasing import anonymised  # what this needs is there once an engine is open

        return anonymised(job, engine)


def _refuse_without_release(form: Form) -> None:
    """Refuse what is held against a release, or told of one, where none is made. Raises InputError."""
    asked = [name for name in OF_A_RELEASE if form.given(name)]
    asked += [name for name in PAGES_OF_A_RELEASE if form.outputs.wanted(name)]
    if asked:
        raise InputError.saying(
            "{names}: without DESTINATION nothing is released. Give DESTINATION, or leave this empty.",
            names=", ".join(asked),
        )
