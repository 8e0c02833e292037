"""Linked tables that stay where the persons are: declared."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core.errors import InputError
from ...core.job.linked import KEEP, KEY, KNOWN, SENSITIVE
from ...core.language import tr
from ...core.linked.source import refused_together
from ..form.effective import GIVEN, Conditions
from ..form.form import FormJob
from ..form.linked import COUNT_KNOWN, KNOWN_OF, LINKED_K, LINKED_KEYS, LINKED_TABLES, linked_parameters
from ..form.parameters import text

NOT_HERE = (KEY, LINKED_TABLES, "NEW_KEY")
CONDITIONS: Conditions = {
    **{
        name: [{LINKED_TABLES: GIVEN}]
        for name in (KEY, KNOWN, KNOWN_OF, KEEP, SENSITIVE, COUNT_KNOWN, LINKED_K, LINKED_KEYS)
    },
    **{name: [{"SENSITIVE": GIVEN, SENSITIVE: GIVEN}] for name in ("L_DIVERSITY", "MAX_SHARE")},
}


def linked_parameters_in_place() -> Iterable[QgsProcessingParameterDefinition]:
    """LINKED_TABLES, KEY, and what is known and released of them."""
    yield text(
        LINKED_TABLES,
        tr("Linked tables: their names"),
        None,
        tr(
            "Tables that belong to the persons and are in the same database, such as stays;drugs or other.stays with "
            "its schema; beside files, the paths of files. The records are then persons, one row each. The rows of a "
            "table are written beside those of the persons: DESTINATION released gives released_stays. Where rows have "
            "to be left out, those of the last table go first. In DuckDB and PostgreSQL."
        ),
        advanced=True,
        optional=True,
    )
    yield text(
        KEY,
        tr("Linked tables: key of the persons"),
        None,
        tr(
            "The field that says which person a row of the linked tables belongs to: one row of the records for each "
            "value. It is not released; a new key, vbas_person, is drawn for it."
        ),
        advanced=True,
        optional=True,
    )
    for parameter in linked_parameters():
        if parameter.name() not in NOT_HERE:
            parameter.setFlags(parameter.flags() | QgsProcessingParameterDefinition.Flag.FlagAdvanced)
            yield parameter


def key_of(job: FormJob) -> str:
    """KEY where there are linked tables, else empty. Raises InputError where it is missing, and for what cannot go
    with linked tables."""
    if not job.given(LINKED_TABLES):
        return ""
    for name in ("RECORD_COUNT", "PERSON_ID"):
        if job.given(name):
            raise refused_together(name)
    key = job.text(KEY).strip()
    if not key:
        raise InputError.saying(
            "KEY is empty: name the field that says which person a row of LINKED_TABLES belongs to."
        )
    return key
