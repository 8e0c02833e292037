"""From the shared parameters to core's nouns: what `parameters.py` declares is read here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from qgis.core import QgsFeatureRequest, QgsProcessingContext, QgsProcessingFeatureSource, QgsProcessingFeedback

from ..core.profile import Profile, profile_records
from ..core.records.table import RecordTable, check_no_area_copy, check_table, match_areas, release_warnings
from ..core.regions import Regions
from .base import VbasAlgorithm
from .compat import python_value
from .layers.areas import CENTROID, Areas, read_areas
from .layers.exact_values import check_types
from .layers.feedback import READ, progress_of
from .layers.fields import field_index
from .layers.records import plain_layer, read_area_counts, read_records
from .layers.stored_values import check_stored
from .parameters import STOP, SUPPRESS

LEAST_K = 2
# Invalid polygons are repaired where they matter; QGIS's own check would stop at the first of them.
SKIP_CHECK = QgsProcessingFeatureSource.Flag.FlagSkipGeometryValidityChecks


@dataclass(frozen=True, eq=False)
class Records:
    """The records, matched with the areas.

    table : the columns; region_codes, class_codes : (N,) of each row; profile : counts by region and class
    n_unmatched : records of no known area; warnings : sentences for the log and the report
    """

    table: RecordTable
    region_codes: np.ndarray
    class_codes: np.ndarray
    profile: Profile
    n_unmatched: int
    warnings: tuple[str, ...] = ()


def areas_of(
    algorithm: VbasAlgorithm,
    parameters: dict[str, object],
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> Areas:
    """REGIONS, REGION_ID, POPULATION and AREA_POINT, read."""
    has = algorithm.parameterDefinition
    fields = [algorithm.text(parameters, name, context) for name in ("REGION_ID", "POPULATION") if has(name)]
    check_stored(algorithm.layer(parameters, "REGIONS", context), fields, "REGIONS")
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
    layer = algorithm.layer(parameters, "RECORDS", context)
    source = algorithm.source(parameters, "RECORDS", context)
    area = algorithm.text(parameters, "RECORD_REGION", context)
    quasi_identifiers = algorithm.field_names(parameters, "QUASI_IDENTIFIERS", context)
    kept = algorithm.field_names(parameters, "KEEP_FIELDS", context) if has("KEEP_FIELDS") else []
    count = algorithm.text(parameters, "RECORD_COUNT", context)
    check_types(source, quasi_identifiers, "QUASI_IDENTIFIERS")
    check_types(source, kept, "KEEP_FIELDS")
    check_stored(layer, [area, *quasi_identifiers, *kept, *([count] if count else [])], "RECORDS")
    return read_records(
        source,
        plain_layer(parameters.get("RECORDS"), layer),
        area,
        quasi_identifiers,
        kept,
        count,
        algorithm.text(parameters, "REGION_ID", context) if has("REGION_ID") else None,
        feedback,
    )


def records_of(
    algorithm: VbasAlgorithm,
    parameters: dict[str, object],
    regions: Regions,
    k: int | None,
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> Records:
    """The table matched with the areas and counted; k is None for steps that do not suppress."""
    table = table_of(algorithm, parameters, context, feedback)
    check_table(table, LEAST_K if k is None else k)
    has_choice = algorithm.parameterDefinition("UNMATCHED")
    unmatched = algorithm.text(parameters, "UNMATCHED", context) if has_choice else STOP
    field = algorithm.text(parameters, "RECORD_REGION", context)
    region_codes = match_areas(table, regions, unmatched, field)
    check_no_area_copy(table, regions, region_codes)
    profile, class_codes = profile_records(region_codes, table.quasi_identifiers, len(regions), table.counts)
    n_unmatched = table.weights(region_codes < 0)
    feedback.pushInfo(
        f"{table.n_records} records in {int((profile.region_sizes > 0).sum())} of {len(regions)} areas, "
        f"{len(profile.classes)} classes of quasi-identifiers."
    )
    warnings = release_warnings(table, region_codes)
    if n_unmatched:
        warnings.append(f"{n_unmatched} records have no known area and are suppressed.")
    for warning in warnings:
        feedback.pushWarning(warning)
    return Records(table, region_codes, class_codes, profile, n_unmatched, tuple(warnings))


def profile_of(
    algorithm: VbasAlgorithm,
    parameters: dict[str, object],
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> tuple[Profile, np.ndarray]:
    """The table counted by the areas that occur in it, and their identifiers."""
    table = table_of(algorithm, parameters, context, feedback)
    check_table(table, LEAST_K)
    areas = table.area.categories
    return profile_records(table.area.codes, table.quasi_identifiers, len(areas), table.counts)[0], areas


def populated(areas: Areas, records: Records) -> Regions:
    """The regions with the population to balance: the user's field, else the number of records."""
    return areas.regions if areas.has_population else areas.regions.with_population(records.profile.region_sizes)


def populated_by_records(
    algorithm: VbasAlgorithm,
    parameters: dict[str, object],
    areas: Areas,
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> Regions:
    """The regions with the population field, else the number of records if RECORDS is given, else one each."""
    source = algorithm.parameterAsSource(parameters, "RECORDS", context)
    if areas.has_population or source is None:
        return areas.regions
    layer = algorithm.layer(parameters, "RECORDS", context)
    count = algorithm.text(parameters, "RECORD_COUNT", context)
    area = algorithm.text(parameters, "RECORD_REGION", context)
    check_stored(layer, [area, *([count] if count else [])], "RECORDS")
    table = read_area_counts(source, plain_layer(parameters.get("RECORDS"), layer), area, count, feedback)
    codes = match_areas(table, areas.regions, SUPPRESS, area)
    inside = codes >= 0
    weights = None if table.counts is None else table.counts[inside]
    return areas.regions.with_population(np.bincount(codes[inside], weights, len(areas.regions)))


def with_neighbours(areas: Areas, approaches: Iterable[str], feedback: QgsProcessingFeedback) -> Areas:
    """The areas with their neighbours, where one of these aggregations or baselines looks at them: finding them takes
    time."""
    from ..core.aggregation import CONTIGUOUS
    from ..core.baselines import MERGING

    if (CONTIGUOUS | MERGING).isdisjoint(approaches):
        return areas
    return areas.with_neighbours(progress_of(feedback, 0, READ))


def values_of(
    algorithm: VbasAlgorithm, parameters: dict[str, object], name: str, field: str, context: QgsProcessingContext
) -> list[object]:
    """The values of one field of a layer, in its order."""
    source = algorithm.source(parameters, name, context)
    index = field_index(source.fields(), field, name, name)
    request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry).setSubsetOfAttributes([index])
    return [python_value(feature[index]) for feature in source.getFeatures(request, SKIP_CHECK)]
