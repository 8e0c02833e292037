"""Records in an engine: how they are declared, opened and read."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import (
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterMatrix,
)

from ...core.engines import MEMORY, open_engine
from ...core.engines.engine import Engine
from ...core.engines.fields import OPERATORS
from ...core.errors import InputError, VbasError
from ...core.job.reading import quasi_identifiers_of
from ...core.language import tr
from ...core.records.fields import Filter, RecordFields
from ...core.records.table import MEMBER_FIELDS
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, Conditions
from ..form.form import FormJob
from ..form.guarantees import HOUSEHOLD_HELP, PERSON_HELP
from ..form.parameters import described, text, whole
from ..form.records import PERIOD_HELP, PERIOD_LABEL
from ..form.understanding import with_labels
from ..layers.feedback import check_cancelled
from .choosing import address_of, check_address, with_list

# Where these parameters count.
CONDITIONS: Conditions = {"SCHEMA": [{"TABLE": GIVEN}]}
FILTER_COLUMNS = (tr("Field"), tr("Operator"), tr("Value"))


class InPlaceAlgorithm(VbasAlgorithm):
    """A form over records that stay in an engine.

    An address with a password is refused before anything is logged, and before QGIS writes it into its history: that it
    does with what `checkParameterValues` has taken.
    """

    def checkParameterValues(self, parameters: dict[str, object], context: QgsProcessingContext) -> tuple[bool, str]:
        problem = self._refused(parameters, context)
        return (False, problem) if problem else super().checkParameterValues(parameters, context)

    def processAlgorithm(self, parameters: dict, context: QgsProcessingContext, feedback: object) -> dict[str, object]:
        # Headless and in scripts nobody need have asked checkParameterValues.
        problem = self._refused(parameters, context)
        if problem:
            raise QgsProcessingException(problem)
        return super().processAlgorithm(parameters, context, feedback)

    def _refused(self, parameters: dict[str, object], context: QgsProcessingContext) -> str:
        """Why CONNECTION cannot be taken; empty where it can, or is not given."""
        connection = self.parameterAsString(parameters, "CONNECTION", context).strip()
        try:
            if connection:
                check_address(connection)
        except VbasError as error:
            return with_labels(self, str(error))
        return ""

    def addParameters(self, *parameters: QgsProcessingParameterDefinition) -> None:
        super().addParameters(*map(with_list, parameters))


def connection_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """CONNECTION, SCHEMA, TABLE, FILTER, MEMORY."""
    yield text(
        "CONNECTION",
        tr("Where the records are"),
        None,
        tr(
            "A Parquet or CSV file, a folder of Parquet files or a pattern such as /data/*.parquet; a .duckdb "
            "file; the name of a PostgreSQL connection of this QGIS, which the arrow lists, or "
            "postgresql://user@host/database; for Spark sc://host:15002 or spark://host:7077. Never a password: "
            "PostgreSQL takes it from the connection of QGIS, from ~/.pgpass or from the environment. Needs optional "
            "packages: see docs/large-tables.md."
        ),
    )
    yield text(
        "SCHEMA", tr("Schema"), None, tr("Of a database: where the table is, if not in its usual place."), optional=True
    )
    table = tr(
        "Of a database: the table or view with the records; for Spark also a folder of Parquet files as the cluster "
        "sees it, such as /data/people."
    )
    yield text("TABLE", tr("Table"), None, table, optional=True)
    matrix = QgsProcessingParameterMatrix(
        "FILTER", tr("Only these rows"), 0, False, list(FILTER_COLUMNS), optional=True
    )
    yield described(
        matrix,
        tr(
            "Rows of the table that are meant, others count as if they were not there: a field, an operator "
            "({operators}) and a value in each line; all lines must hold. Fields of text compare as text.",
            operators=", ".join(OPERATORS),
        ),
        advanced=True,
    )
    memory = tr(
        "How much DuckDB may use before it goes on in a temporary folder, and what a driver of Spark that is started "
        "here gets, in MB. Nested levels are worked out for as many cells at a time as fit into so much."
    )
    yield whole("MEMORY", tr("Memory for the engine, MB"), MEMORY, memory, 256, advanced=True)


def field_parameters(released: bool) -> Iterable[QgsProcessingParameterDefinition]:
    """RECORD_REGION, QUASI_IDENTIFIERS, PERIOD, RECORD_COUNT; where released KEEP_FIELDS, and what protects persons."""
    yield text(
        "RECORD_REGION",
        tr("Field with the area code, in the records"),
        None,
        tr("The field that says which area a person lives in, by its name."),
    )
    yield text(
        "QUASI_IDENTIFIERS",
        tr("Quasi-identifiers"),
        None,
        tr(
            "What an outsider could know about a person, as names of fields: sex;age_group;ethnicity. People "
            "who share all of these in one region hide each other. A missing value counts as a value of its "
            "own; an empty text is another. The values are released as they are."
        ),
    )
    yield text("PERIOD", PERIOD_LABEL, None, PERIOD_HELP, optional=True, advanced=True)
    counted = tr("For a table that is already counted: the field that says how many records each row stands for.")
    yield text(
        "RECORD_COUNT", tr("Record count field (tables already counted)"), None, counted, optional=True, advanced=True
    )
    if not released:
        return
    yield text(
        "KEEP_FIELDS",
        tr("Additional fields to release"),
        None,
        tr(
            "Names of fields that researchers need and that identify nobody: diagnosis;year. They are "
            "released unchanged and are not protected by k: leave out names, numbers, dates and anything "
            "finer than the region. Each field is looked at by itself, value by value: the run stops where its "
            "values stand for the area in one released row of a hundred or more, or number persons. Of a date or an "
            "amount that many rows have alone it only warns. What several fields tell together is not looked at."
        ),
        optional=True,
    )
    yield text("PERSON_ID", tr("Person identifier (if people have several rows)"), None, PERSON_HELP, optional=True)
    yield text("HOUSEHOLD_ID", tr("Household identifier"), None, HOUSEHOLD_HELP, optional=True, advanced=True)
    sensitive = tr(
        "Names of fields such as a diagnosis that a class must not have in common. They are released like further "
        "fields; the two settings below can ask for more."
    )
    yield text("SENSITIVE", tr("Sensitive fields"), None, sensitive, optional=True, advanced=True)


def opened(job: FormJob) -> Engine:
    """The engine over the table of the job, to be used as a context."""
    return open_engine(
        address_of(job.text("CONNECTION").strip()),
        job.text("TABLE"),
        job.text("SCHEMA"),
        job.whole("MEMORY"),
        lambda fraction: check_cancelled(job.layers.feedback),
    )


def fields_of(job: FormJob) -> RecordFields:
    """The fields that the form names. Raises InputError for lines of FILTER that are not whole."""
    kept, sensitive = _names(job, "KEEP_FIELDS"), _names(job, "SENSITIVE")
    members = {kind: job.text(name) for kind, name in MEMBER_FIELDS.items() if job.given(name)}
    cells = [str(cell).strip() if cell is not None else "" for cell in job.several("FILTER")]
    if len(cells) % len(FILTER_COLUMNS):
        raise InputError.saying(
            "FILTER has lines of {filter_columns}: fill each line, the value may be empty.",
            filter_columns=", ".join(FILTER_COLUMNS),
        )
    quasi_identifiers, period = quasi_identifiers_of(job, _names(job, "QUASI_IDENTIFIERS"))
    return RecordFields(
        job.text("RECORD_REGION").strip(),
        quasi_identifiers,
        (*kept, *(name for name in sensitive if name not in kept)),
        job.text("RECORD_COUNT").strip(),
        members,
        sensitive,
        tuple(Filter(*cells[start : start + 3]) for start in range(0, len(cells), 3)),
        period,
        job.text("KEY").strip() if job.given("LINKED_TABLES") else "",
    )


def _names(job: FormJob, parameter: str) -> tuple[str, ...]:
    return tuple(job.several(parameter)) if job.has(parameter) else ()
