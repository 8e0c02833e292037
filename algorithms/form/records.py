"""From the shared parameters to core's nouns: what `parameters.py` declares is read here."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from qgis.core import QgsFeatureRequest

from ..core.aggregation import CONTIGUOUS
from ..core.areas import Areas
from ..core.baselines import MERGING
from ..core.errors import InputError
from ..core.profile import Profile, profile_records
from ..core.records.matching import STOP, SUPPRESS, Records, match_areas, match_records
from ..core.records.table import RecordTable, check_table
from .compat import python_value
from .form import Form
from .layers.areas import CENTROID, AreaLayer, read_areas
from .layers.checked_source import CheckedSource
from .layers.feedback import READ
from .layers.fields import field_index
from .layers.records import read_area_counts, read_records

LEAST_K = 2


def areas_of(form: Form) -> AreaLayer:
    """REGIONS, REGION_ID, POPULATION and AREA_POINT, read."""
    return read_areas(
        form.source("REGIONS"),
        form.text("REGION_ID"),
        form.text("POPULATION") if form.has("POPULATION") else "",
        form.text("AREA_POINT") if form.has("AREA_POINT") else CENTROID,
        form.context,
        form.feedback,
    )


def table_of(form: Form) -> RecordTable:
    """RECORDS and its fields, read; KEEP_FIELDS where the algorithm has it."""
    source = form.source("RECORDS")
    _refuse_row_numbers(form, source)
    return read_records(
        source,
        form.text("RECORD_REGION"),
        form.field_names("QUASI_IDENTIFIERS"),
        form.field_names("KEEP_FIELDS") if form.has("KEEP_FIELDS") else [],
        form.text("RECORD_COUNT"),
        form.text("REGION_ID") if form.has("REGION_ID") else None,
        form.feedback,
    )


def _refuse_row_numbers(form: Form, source: CheckedSource) -> None:
    """Refuse the number of the row as the record's area: both tables have one, and they would even seem to match."""
    field = form.text("RECORD_REGION")
    counted = bool(form.text("RECORD_COUNT"))
    index = source.fields().lookupField(field) if field else -1
    if counted or index < 0 or source.layer is None or index not in source.layer.primaryKeyAttributes():
        return
    area = form.text("REGION_ID") if form.has("REGION_ID") else ""
    both = "RECORD_REGION and REGION_ID are both" if area == field else "RECORD_REGION is"
    raise InputError(
        f"{both} “{field}”, which numbers the rows of a table and identifies no area: choose the field that holds the "
        "identifiers of the areas."
    )


def records_of(form: Form, areas: Areas, k: int | None) -> Records:
    """The table matched with the areas and counted; k is None for steps that do not suppress."""
    table = table_of(form)
    unmatched = form.text("UNMATCHED") if form.has("UNMATCHED") else STOP
    field = form.text("RECORD_REGION")
    records = match_records(table, areas, unmatched, LEAST_K if k is None else k, field)
    form.info(
        f"{table.n_records} records in {int((records.profile.area_sizes > 0).sum())} of {len(areas)} areas, "
        f"{len(records.profile.classes)} classes of quasi-identifiers."
    )
    for warning in records.warnings:
        form.warn(warning)
    return records


def profile_of(form: Form) -> tuple[Profile, np.ndarray]:
    """The table counted by the areas that occur in it, and their identifiers."""
    table = table_of(form)
    check_table(table, LEAST_K)
    identifiers = table.area.categories
    return profile_records(table.area.codes, table.quasi_identifiers, len(identifiers), table.counts)[0], identifiers


def populated(layer: AreaLayer, records: Records) -> Areas:
    """The regions with the population to balance: the user's field, else the number of records."""
    return layer.areas if layer.has_population else layer.areas.with_population(records.profile.area_sizes)


def populated_by_records(form: Form, layer: AreaLayer) -> Areas:
    """The regions with the population field, else the number of records if RECORDS is given, else one each."""
    source = form.optional_source("RECORDS")
    if layer.has_population or source is None:
        return layer.areas
    count = form.text("RECORD_COUNT")
    area = form.text("RECORD_REGION")
    table = read_area_counts(source, area, count, form.feedback)
    codes = match_areas(table, layer.areas, SUPPRESS, area)
    inside = codes >= 0
    weights = None if table.counts is None else table.counts[inside]
    return layer.areas.with_population(np.bincount(codes[inside], weights, len(layer.areas)))


def with_neighbours(form: Form, layer: AreaLayer, approaches: Iterable[str]) -> AreaLayer:
    """The areas with their neighbours, where one of these aggregations or baselines looks at them: finding them takes
    time."""
    if (CONTIGUOUS | MERGING).isdisjoint(approaches):
        return layer
    return layer.with_neighbours(form.progress(0, READ))


def values_of(form: Form, name: str, field: str) -> list[object]:
    """The values of one field of a layer, in its order."""
    source = form.source(name)
    index = field_index(source.fields(), field, name, name)
    request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry).setSubsetOfAttributes([index])
    return [python_value(feature[index]) for feature in source.getFeatures(request)]
