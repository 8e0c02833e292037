"""RELEASED_RECORDS: declared and filled, for every algorithm that releases."""

from __future__ import annotations

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core.crosswalk import Crosswalk
from ...core.records.matching import Records
from ...core.release import Release
from ..layers.tables import FOR_RELEASE, SecondCount, Table, number_fields
from .form import Form
from .parameters import sink


def released_records() -> QgsProcessingParameterDefinition:
    """RELEASED_RECORDS."""
    return sink(
        "RELEASED_RECORDS",
        "Released records",
        FOR_RELEASE,
        "The records with their region (vbas_region) in place of their area, the quasi-identifiers and the further "
        "fields you named, and nothing else. Rows are sorted by what they show, so that their order reveals nothing. "
        "Where the records were already counted, “records” says how many each row stands for.",
    )


def release_table(
    form: Form, release: Release, crosswalk: Crosswalk, records: Records, k: int
) -> tuple[Table, SecondCount]:
    """The table, and what it is recounted by: region and quasi-identifiers make a class."""
    fields = form.source("RECORDS").fields()
    shown = [*number_fields(vbas_region="long"), *(fields.field(name) for name in release.fields)]
    columns = [crosswalk.numbers[release.region], *release.fields.values()]
    if release.counts is not None:
        shown += number_fields(records="long")
        columns.append(np.asarray(release.counts))
    count_field = len(shown) - 1 if release.counts is not None else None
    return Table(shown, columns), SecondCount(k, 1 + len(records.table.quasi_identifiers), count_field)
