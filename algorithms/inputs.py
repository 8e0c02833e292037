"""From the shared parameters to core's nouns: what `parameters.py` declares is read here."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from qgis.core import QgsFeatureRequest, QgsProcessingContext, QgsProcessingFeedback

from ..core.areas import Areas
from ..core.errors import InputError
from ..core.profile import Profile, profile_records
from ..core.records.matching import STOP, SUPPRESS, Records, match_areas, match_records
from ..core.records.table import RecordTable, check_table
from .base import VbasAlgorithm
from .compat import python_value
from .layers.areas import CENTROID, AreaLayer, read_areas
from .layers.checked_source import CheckedSource
from .layers.feedback import READ, progress_of
from .layers.fields import field_index
from .layers.records import read_area_counts, read_records

LEAST_K = 2


def areas_of(
    algorithm: VbasAlgorithm,
    parameters: dict[str, object],
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> AreaLayer:
    """REGIONS, REGION_ID, POPULATION and AREA_POINT, read."""
    has = algorithm.parameterDefinition
    return read_areas(
        algorithm.source(parameters, "REGIONS", context),
        algorithm.text(parameters, "REGION_ID", context),
        algorithm.text(parameters, "POPULATION", context) if has("POPULATION") else "",
        algorithm.text(parameters, "AREA_POINT", context) if has("AREA_POINT") else CENTROID,
        context,
        feedback,
    )


def table_of(
    algorithm: VbasAlgorithm,
    parameters: dict[str, object],
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> RecordTable:
    """RECORDS and its fields, read; KEEP_FIELDS where the algorithm has it."""
    has = algorithm.parameterDefinition
    source = algorithm.source(parameters, "RECORDS", context)
    _refuse_row_numbers(algorithm, parameters, source, context)
    return read_records(
        source,
        algorithm.text(parameters, "RECORD_REGION", context),
        algorithm.field_names(parameters, "QUASI_IDENTIFIERS", context),
        algorithm.field_names(parameters, "KEEP_FIELDS", context) if has("KEEP_FIELDS") else [],
        algorithm.text(parameters, "RECORD_COUNT", context),
        algorithm.text(parameters, "REGION_ID", context) if has("REGION_ID") else None,
        feedback,
    )


def _refuse_row_numbers(
    algorithm: VbasAlgorithm, parameters: dict[str, object], source: CheckedSource, context: QgsProcessingContext
) -> None:
    """Refuse the number of the row as the record's area: both tables have one, and they would even seem to match."""
    field = algorithm.text(parameters, "RECORD_REGION", context)
    counted = bool(algorithm.text(parameters, "RECORD_COUNT", context))
    index = source.fields().lookupField(field) if field else -1
    if counted or index < 0 or source.layer is None or index not in source.layer.primaryKeyAttributes():
        return
    has = algorithm.parameterDefinition
    area = algorithm.text(parameters, "REGION_ID", context) if has("REGION_ID") else ""
    both = "RECORD_REGION and REGION_ID are both" if area == field else "RECORD_REGION is"
    raise InputError(
        f"{both} “{field}”, which numbers the rows of a table and identifies no area: choose the field that holds the "
        "identifiers of the areas."
    )


def records_of(
    algorithm: VbasAlgorithm,
    parameters: dict[str, object],
    areas: Areas,
    k: int | None,
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> Records:
    """The table matched with the areas and counted; k is None for steps that do not suppress."""
    table = table_of(algorithm, parameters, context, feedback)
    has_choice = algorithm.parameterDefinition("UNMATCHED")
    unmatched = algorithm.text(parameters, "UNMATCHED", context) if has_choice else STOP
    field = algorithm.text(parameters, "RECORD_REGION", context)
    records = match_records(table, areas, unmatched, LEAST_K if k is None else k, field)
    feedback.pushInfo(
        f"{table.n_records} records in {int((records.profile.area_sizes > 0).sum())} of {len(areas)} areas, "
        f"{len(records.profile.classes)} classes of quasi-identifiers."
    )
    for warning in records.warnings:
        feedback.pushWarning(warning)
    return records


def profile_of(
    algorithm: VbasAlgorithm,
    parameters: dict[str, object],
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> tuple[Profile, np.ndarray]:
    """The table counted by the areas that occur in it, and their identifiers."""
    table = table_of(algorithm, parameters, context, feedback)
    check_table(table, LEAST_K)
    identifiers = table.area.categories
    return profile_records(table.area.codes, table.quasi_identifiers, len(identifiers), table.counts)[0], identifiers


def populated(layer: AreaLayer, records: Records) -> Areas:
    """The regions with the population to balance: the user's field, else the number of records."""
    return layer.areas if layer.has_population else layer.areas.with_population(records.profile.area_sizes)


def populated_by_records(
    algorithm: VbasAlgorithm,
    parameters: dict[str, object],
    layer: AreaLayer,
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> Areas:
    """The regions with the population field, else the number of records if RECORDS is given, else one each."""
    source = algorithm.optional_source(parameters, "RECORDS", context)
    if layer.has_population or source is None:
        return layer.areas
    count = algorithm.text(parameters, "RECORD_COUNT", context)
    area = algorithm.text(parameters, "RECORD_REGION", context)
    table = read_area_counts(source, area, count, feedback)
    codes = match_areas(table, layer.areas, SUPPRESS, area)
    inside = codes >= 0
    weights = None if table.counts is None else table.counts[inside]
    return layer.areas.with_population(np.bincount(codes[inside], weights, len(layer.areas)))


def with_neighbours(layer: AreaLayer, approaches: Iterable[str], feedback: QgsProcessingFeedback) -> AreaLayer:
    """The areas with their neighbours, where one of these aggregations or baselines looks at them: finding them takes
    time."""
    from ..core.aggregation import APPROACHES
    from ..core.baselines import BASELINES

    if not any((APPROACHES | BASELINES)[name].neighbours for name in approaches):
        return layer
    return layer.with_neighbours(progress_of(feedback, 0, READ))


def values_of(
    algorithm: VbasAlgorithm, parameters: dict[str, object], name: str, field: str, context: QgsProcessingContext
) -> list[object]:
    """The values of one field of a layer, in its order."""
    source = algorithm.source(parameters, name, context)
    index = field_index(source.fields(), field, name, name)
    request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry).setSubsetOfAttributes([index])
    return [python_value(feature[index]) for feature in source.getFeatures(request)]
