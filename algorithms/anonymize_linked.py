"""Persons and the tables that belong to them, in one step."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ..core.areas import Areas
from ..core.language import as_data, tr
from ..core.records.matching import Records
from ..core.source import Source
from .anonymize import Anonymize
from .form.areas import area_parameters
from .form.effective import GIVEN, Condition, Conditions
from .form.form import FormJob
from .form.linked import linked_of, linked_parameters, released_tables
from .form.records import record_parameters, released_fields

NOT_YET = ("RECORD_COUNT", "PERSON_ID")  # a row is a person


class AnonymizeLinked(Anonymize):
    """`vbas:anonymizelinked`."""

    ID = "anonymizelinked"
    TAGS = as_data("suppression,release,relational,join,stays,prescriptions")
    SUMMARY = tr("Releases persons and the tables that belong to them, k-anonymously together, in one geography.")
    HELP = tr(
        "<p>Takes a table of persons, one row each, and tables that belong to them by a key, such as stays, drugs or "
        "tests. The persons are released as “Anonymise records” does it; a person is in one region in all "
        "tables.</p><p>A person's rows of a linked table are shown where at least k people are alike in all that "
        "others may know of them, in all tables together. Elsewhere they are left out, and the person's row "
        "says so. Nobody is suppressed because of a linked table.</p><p>Name few and coarse fields as known, and "
        "choose a k that is larger than LINKED_K: then more rows are shown. The report says how many.</p>"
        "<p>Outputs marked “for release” may be published under your rules; those marked “internal” may not.</p>"
    )

    ABOUT_REPORT = tr(
        "A page for a privacy officer: the verdict, what it means for a person, who is suppressed, which "
        "rows of the linked tables are shown, and the command that does it again."
    )

    def of_areas_and_records(self) -> Iterable[QgsProcessingParameterDefinition]:
        yield from area_parameters()
        yield from (parameter for parameter in record_parameters() if parameter.name() not in NOT_YET)
        yield from linked_parameters()

    def of_what_is_released(self) -> Iterable[QgsProcessingParameterDefinition]:
        return (parameter for parameter in released_fields() if parameter.name() not in NOT_YET)

    def of_rows(self) -> QgsProcessingParameterDefinition:
        return released_tables()

    def conditions(self) -> Conditions:
        asked: Condition = {"SENSITIVE": GIVEN, "LINKED_SENSITIVE": GIVEN}
        return {**super().conditions(), "L_DIVERSITY": [asked], "MAX_SHARE": [asked]}

    def source(self, job: FormJob, records: Records, areas: Areas) -> Source:
        return linked_of(job, records, areas)
