"""What says how areas become regions: crosswalks, the sites that draw regions, and hierarchies of larger units."""

from __future__ import annotations

import re

import numpy as np
import shapely
from qgis.core import QgsFeatureRequest, QgsProcessingFeatureSource, QgsProcessingFeedback

from ....core.areas import Areas, identifier_text, make_areas
from ....core.crosswalk import Crosswalk, crosswalk_from_table
from ....core.errors import InputError, first_values
from ....core.language import plural, tr
from ....core.levels import Levels, make_levels
from ....core.shapes import shapes_of
from ...compat import python_value
from ..feedback import check_cancelled
from ..shapes.areas import AreaLayer
from ..shapes.projection import check_degrees
from .checked_source import CheckedSource, field_index
from .records import read_columns

NUMBER, LEVEL = "vbas_region", "vbas_level"


def read_crosswalk(
    source: QgsProcessingFeatureSource, id_field: str, areas: Areas | None, feedback: QgsProcessingFeedback
) -> tuple[Areas, Crosswalk]:
    """CROSSWALK for the given areas, or for those it names itself (which have no points then).

    id_field : the areas' identifier; where it is empty, the only field beside vbas_region. Raises InputError.
    """
    areas, levels = read_levels(source, id_field, areas, feedback)
    if len(levels) > 1:
        raise InputError.saying(
            "CROSSWALK has several levels (vbas_region_1, vbas_region_2, …): one with vbas_region is needed."
        )
    return areas, levels.crosswalks[0]


def has_levels(source: QgsProcessingFeatureSource) -> bool:
    """Whether a crosswalk has nested levels: vbas_region_1, the finest, and so on."""
    return source.fields().lookupField(f"{NUMBER}_1") >= 0


def read_levels(
    source: QgsProcessingFeatureSource, id_field: str, areas: Areas | None, feedback: QgsProcessingFeedback
) -> tuple[Areas, Levels]:
    """The same for a crosswalk of nested levels; one of a single level gives that."""
    fields = source.fields()
    numbered = [name for name in fields.names() if re.fullmatch(rf"{NUMBER}_[0-9]+", name.lower())]
    numbered.sort(key=lambda name: int(name.rsplit("_", 1)[1]))
    wanted = [f"{NUMBER}_{level + 1}" for level in range(len(numbered))]
    lost = [name for name in wanted if name not in map(str.lower, numbered)]
    if lost:
        raise InputError.saying(
            "CROSSWALK has {numbered}, but no {lost}: give all its levels, numbered from 1, the finest.",
            numbered=", ".join(numbered),
            lost=lost[0],
        )
    if not numbered and fields.names() and fields.lookupField(NUMBER) < 0:
        raise InputError.saying(
            "CROSSWALK is no crosswalk: it has no field “{wanted}”, but {names}. Give the table that says which region "
            "each area is in, as it came with the release.",
            wanted=NUMBER,
            names=first_values(fields.names()),
        )
    names = numbered or [NUMBER]
    indices = [field_index(fields, name, "CROSSWALK", "CROSSWALK") for name in names]
    if not id_field:
        others = [name for name in fields.names() if name.lower() not in (*map(str.lower, names), "fid", "ogc_fid")]
        if len(others) != 1:
            raise InputError.saying(
                "CROSSWALK has the fields {names}: say in CROSSWALK_ID which holds the areas.",
                names=", ".join(fields.names()),
            )
        id_field = others[0]
    id_index = field_index(fields, id_field, "CROSSWALK_ID", "CROSSWALK")
    request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry)
    identifiers: list[object] = []
    numbers: list[list[object]] = [[] for _ in indices]
    for feature in source.getFeatures(request):
        check_cancelled(feedback)
        identifiers.append(python_value(feature[id_index]))
        for column, index in zip(numbers, indices):
            number = python_value(feature[index])
            column.append(None if number == "" else number)
    if not identifiers:
        raise InputError.saying("CROSSWALK is empty: it needs a row per area.")
    if areas is None:  # an identifier that stands twice is reported below
        once = list(dict.fromkeys(identifiers))
        areas = make_areas(once, np.zeros((len(once), 2)), None, id_field, "CROSSWALK")
    crosswalks = [crosswalk_from_table(areas, identifiers, column) for column in numbers]
    return areas, make_levels(areas, crosswalks, titles=[tr("“{name}”", name=name) for name in names], keep_all=True)


def read_sites(source: QgsProcessingFeatureSource, layer: AreaLayer, feedback: QgsProcessingFeedback) -> np.ndarray:
    """SITES in the areas' planar coordinates, (S, 2). Raises InputError for none, too many, or none near the areas."""
    sites, _ = _sites_and_numbers(source, layer, feedback)
    n = len(layer.areas)
    if len(sites) > n:
        raise InputError.saying(
            "SITES has {n_sites} points for {n_areas} areas: give at most one site per area.",
            n_sites=len(sites),
            n_areas=n,
        )
    low, high = layer.areas.points.min(axis=0), layer.areas.points.max(axis=0)
    around = max((high - low).max(), 1.0)  # of areas in a row, too
    outside = ((sites < low - around) | (sites > high + around)).any(axis=1)
    if outside.all():
        raise InputError.saying(
            "All SITES lie far outside the areas: check the coordinate reference systems of SITES and REGIONS."
        )
    if outside.any():
        feedback.pushWarning(
            plural(
                "{n} of {n_sites} sites lies far outside the areas.",
                "{n} of {n_sites} sites lie far outside the areas.",
                int(outside.sum()),
                n_sites=len(sites),
            )
        )
    return sites


def read_numbered_sites(
    source: QgsProcessingFeatureSource, layer: AreaLayer, crosswalk: Crosswalk, feedback: QgsProcessingFeedback
) -> np.ndarray:
    """The site of each region of a crosswalk, (n_regions, 2), by the field vbas_region. Raises InputError."""
    if source.fields().lookupField(NUMBER) < 0:
        raise InputError.saying(
            "SITES has no field “{number}” that says which region each belongs to: leave SITES empty.", number=NUMBER
        )
    sites, numbers = _sites_and_numbers(source, layer, feedback)
    position = {number: i for i, number in enumerate(numbers)}
    wanted = [str(number) for number in crosswalk.numbers.tolist()]
    lost = [number for number in wanted if number not in position]
    if lost:
        raise InputError.counting(
            "SITES has no point for {n} region of the crosswalk (first: {first}): use the sites that were made with "
            "it, or leave SITES empty.",
            "SITES has no point for {n} regions of the crosswalk (first: {first}): use the sites that were made with "
            "it, or leave SITES empty.",
            len(lost),
            first=first_values(lost),
        )
    return sites[[position[number] for number in wanted]]


def _sites_and_numbers(
    source: QgsProcessingFeatureSource, layer: AreaLayer, feedback: QgsProcessingFeedback
) -> tuple[np.ndarray, list[str | None]]:
    index = source.fields().lookupField(NUMBER)
    wkbs, numbers = [], []
    for feature in source.getFeatures():
        check_cancelled(feedback)
        if feature.geometry().isNull() or feature.geometry().isEmpty():
            raise InputError.saying("SITES has a row without a point: remove it.")
        wkbs.append(bytes(feature.geometry().asWkb()))
        numbers.append(identifier_text(python_value(feature[index])) if index >= 0 else None)
    if not wkbs:
        raise InputError.saying("SITES is empty: give at least one point.")
    if not source.sourceCrs().isValid():
        raise InputError.saying("SITES has no coordinate reference system: assign the layer its CRS first.")
    rows = np.arange(1, len(wkbs) + 1, dtype=np.int64)
    shapes = shapely.centroid(shapes_of(wkbs, rows, "SITES"))
    check_degrees(shapely.get_coordinates(shapes), source.sourceCrs(), "SITES")
    return shapely.get_coordinates(layer.to_planar(shapes, source.sourceCrs())), numbers


def read_units(
    source: CheckedSource, id_field: str, level: str, areas: Areas, feedback: QgsProcessingFeedback
) -> list[object]:
    """The larger unit of each area, in the order of the areas; None for areas that HIERARCHY_TABLE does not name.

    Areas that the table names beyond these do no harm: it may hold a whole country. Raises InputError for areas that
    lie in two units, and where the table names none of the areas.
    """
    field_index(source.fields(), id_field, "HIERARCHY_ID", "HIERARCHY_TABLE")
    field_index(source.fields(), level, "HIERARCHY_LEVEL", "HIERARCHY_TABLE")
    columns = read_columns(source, list(dict.fromkeys([id_field, level])), feedback)
    identifier, unit = columns[id_field], columns[level]
    texts = np.array([identifier_text(value) for value in identifier.categories.tolist()], dtype=object)
    units: list[object] = [None] * len(areas)
    known = areas.codes_of(texts)[identifier.codes] if len(texts) else np.empty(0, np.int64)
    # A row for each area and unit once: a table of postal codes names an area many times.
    once = np.unique(np.column_stack([known, unit.codes]), axis=0)
    once = once[once[:, 0] >= 0]
    if not len(once):
        raise InputError.saying(
            "HIERARCHY_TABLE names none of the areas in “{field}” (first: {first}; areas: {areas}): choose the field "
            "that holds the areas' identifiers.",
            field=id_field,
            first=first_values(texts),
            areas=first_values(areas.identifiers),
        )
    times = np.bincount(once[:, 0], minlength=len(areas))
    if (times > 1).any():
        raise InputError.counting(
            "HIERARCHY_TABLE puts {n} area into several units of “{level}” ({first}): choose a level in which each "
            "area has one unit.",
            "HIERARCHY_TABLE puts {n} areas into several units of “{level}” ({first}): choose a level in which each "
            "area has one unit.",
            int((times > 1).sum()),
            level=level,
            first=first_values(areas.identifiers[times > 1]),
        )
    for area, code in once.tolist():
        units[area] = unit.categories[code]
    return units
