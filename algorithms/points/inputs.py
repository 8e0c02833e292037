"""What the two forms of donut masking share: parameters, and from layers to core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from qgis.core import QgsCoordinateReferenceSystem, QgsProcessingParameterDefinition

from ...core.areas import identifier_text
from ...core.dataclass import dataclass
from ...core.errors import InputError, first_values
from ...core.language import tr
from ...core.masking import DISTANCES
from ...core.masking.donut import check_no_coordinates
from ...core.masking.homes import Homes, homes_of
from ...core.masking.placing import NO_AREA, own_areas
from ...core.masking.populations import Households, Populations, categories_of, make_households, make_populations
from ...core.records.columns import Column
from ..form.form import Form
from ..form.parameters import POINTS, POLYGONS, choice, field, source
from ..layers.shapes.points import Points, moved_coordinates, read_points
from ..layers.shapes.surfaces import AREA, FieldOf, PopulatedLayer, read_populated


@dataclass(frozen=True, eq=False)
class PlacedPoints:
    """Points in the areas' planar metres. coordinates : (N, 2), NaN for none; area_of : (N,), -1 for none."""

    layer: Points
    coordinates: np.ndarray
    area_of: np.ndarray


@dataclass(frozen=True, eq=False)
class MaskingInputs:
    """All that vbas:donutmask works on: N points in H homes, which move as one; households may be None.

    populations : of the areas; category_of : (N,) column of them, -1 for none; None without categories
    """

    points: PlacedPoints
    areas: PopulatedLayer
    homes: Homes
    households: Households | None
    kept: dict[str, Column]
    category: Column | None
    populations: Populations
    category_of: np.ndarray | None


def points() -> Iterable[QgsProcessingParameterDefinition]:
    """POINTS."""
    text = tr("The true places, one person or case each, in any coordinate reference system.")
    yield source("POINTS", tr("Points"), text, POINTS)
    text = tr(
        "Points at the same place are one home and share one move: moved each on its own, their average would show the "
        "home. Name a field here if members of one household may have places that differ by up to 100 m: they all move "
        "as the place of most of them. It is not released."
    )
    yield field("HOUSEHOLD_ID", tr("Household of the point"), "POINTS", text, optional=True, advanced=True)


def areas(population_help: str) -> Iterable[QgsProcessingParameterDefinition]:
    """AREAS, AREA_ID, POPULATION."""
    yield source(
        "AREAS",
        tr("Areas"),
        tr(
            "The areas that points stay in, as polygons: small areas with known population, such as "
            "dissemination areas or block groups. Any coordinate reference system will do: geographic "
            "coordinates are projected for measuring."
        ),
        POLYGONS,
    )
    text = tr("The field that names an area in the internal outputs; without it they are numbered.")
    yield field("AREA_ID", tr("Field with the area code, in the areas"), "AREAS", text, optional=True)
    yield field("POPULATION", tr("Population"), "AREAS", population_help, numeric=True, optional=True)


def households(optional: bool) -> Iterable[QgsProcessingParameterDefinition]:
    """HOUSEHOLDS, HOUSEHOLD_COUNT."""
    yield source(
        "HOUSEHOLDS",
        tr("Households"),
        tr(
            "Where households really are, a point each, such as an address or emergency-call register: the actual "
            "anonymity is counted among them."
        ),
        POINTS,
        optional=optional,
    )
    yield field(
        "HOUSEHOLD_COUNT",
        tr("Households per point"),
        "HOUSEHOLDS",
        tr("How many households (or people) a point stands for; one each without it."),
        numeric=True,
        optional=True,
        advanced=True,
    )


def distance() -> QgsProcessingParameterDefinition:
    """DISTANCE."""
    return choice(
        "DISTANCE",
        tr("Law of the distance"),
        DISTANCES,
        next(iter(DISTANCES)),
        tr(
            "How far a point moves within its ring: every distance alike (“uniform in distance”, nearer spots "
            "are likelier than spots farther out), or every spot of the ring alike (“uniform in area”)."
        ),
        advanced=True,
    )


def households_of(form: Form, read: PopulatedLayer) -> Households:
    """HOUSEHOLDS in planar metres."""
    count = form.text("HOUSEHOLD_COUNT")
    names = [(count, "HOUSEHOLD_COUNT")] if count else []
    layer = read_points(form.layers.source("HOUSEHOLDS"), names, "HOUSEHOLDS", form.feedback)
    weights = layer.numbers(count, "HOUSEHOLD_COUNT") if count else None
    return make_households(moved_coordinates(layer.coordinates, layer.crs, read.planar, form.context), weights, count)


def mask_areas_of(form: Form, population_fields: Sequence[FieldOf]) -> PopulatedLayer:
    """AREAS with the populations that are asked for."""
    identifier = form.text("AREA_ID")
    return read_areas_with_people(form, "AREAS", (identifier, "AREA_ID") if identifier else None, population_fields)


def read_areas_with_people(
    form: Form,
    name: str,
    id_field: FieldOf | None,
    populations: Sequence[FieldOf],
    planar: QgsCoordinateReferenceSystem | None = None,
) -> PopulatedLayer:
    """A layer of polygons with people; planar : the CRS to measure in, where another layer has chosen it already."""
    source, context = form.layers.source(name), form.context
    return read_populated(
        source, name, AREA, id_field, populations, context, form.feedback, (), planar, as_text=str, points=False
    )


def populations_of(read: PopulatedLayer, categories: tuple[str, ...], counted: Households | None) -> Populations:
    """The areas' populations: their fields, or the households in them where no field was named."""
    if counted is None or read.people.shape[1]:
        return make_populations(read.people, read.names, categories)
    area_of = own_areas(counted.points, read.planar_shapes)
    inside = area_of != NO_AREA
    n = len(read.planar_shapes)
    return Populations(np.bincount(area_of[inside], weights=counted.weights[inside], minlength=n)[:, None])


def case_of(form: Form) -> MaskingInputs:
    """POINTS, AREAS, HOUSEHOLDS and their fields, read, checked and projected."""
    category = form.text("CATEGORY_FIELD")
    population = form.text("POPULATION")
    kept = form.field_names("KEEP_FIELDS")
    named = [(name, "KEEP_FIELDS") for name in kept]
    household = form.text("HOUSEHOLD_ID")
    if household and household in kept:
        raise InputError.saying(
            "KEEP_FIELDS: “{household}” is HOUSEHOLD_ID, which is not released: take it out.", household=household
        )
    asked = {"CATEGORY_FIELD": category, "HOUSEHOLD_ID": household}
    if form.given("EARLIER"):
        asked["EARLIER_ID"] = form.text("EARLIER_ID")
    named += [(name, parameter) for parameter, name in asked.items() if name and name not in kept]
    layer = read_points(form.layers.source("POINTS"), named, "POINTS", form.feedback)
    if not len(layer):
        raise InputError.saying("POINTS is empty: there is nothing to mask.")
    by_category = _category_fields(form, layer, category)
    if not category and not population and not form.given("HOUSEHOLDS"):
        raise InputError.saying(
            "POPULATION is empty: choose the field of AREAS with their population, or give HOUSEHOLDS to be counted."
        )
    fields = [(name, "CATEGORY_POPULATIONS") for name in by_category.values()] or [(population, "POPULATION")]
    read = mask_areas_of(form, fields if fields[0][0] else [])
    households = households_of(form, read) if form.given("HOUSEHOLDS") else None
    coordinates = moved_coordinates(layer.coordinates, layer.crs, read.planar, form.context)
    degrees = moved_coordinates(layer.coordinates, layer.crs, QgsCoordinateReferenceSystem("EPSG:4326"), form.context)
    columns = {name: layer.columns[name] for name in kept}
    check_no_coordinates(columns, layer.coordinates, coordinates, degrees)
    area_of = own_areas(coordinates, read.planar_shapes, form.progress(0, 10))
    populations = populations_of(read, tuple(by_category), households)
    codes = categories_of(layer.columns[category], tuple(by_category), category) if category else None
    people = populations.of_points(area_of, codes)
    homes = homes_of(coordinates, area_of, people, layer.columns[household] if household else None, household)
    return MaskingInputs(
        PlacedPoints(layer, coordinates, area_of),
        read,
        homes,
        households,
        columns,
        layer.columns[category] if category else None,
        populations,
        codes,
    )


def _category_fields(form: Form, layer: Points, category: str) -> dict[str, str]:
    """Field of AREAS by category: as the user says, else the fields that have the categories' names."""
    pairs = [str(value).strip() for value in form.cells("CATEGORY_POPULATIONS")]
    if len(pairs) % 2:
        raise InputError.saying(
            "CATEGORY_POPULATIONS has a category without a field: write category and field in turn."
        )
    if not category:
        if pairs:
            raise InputError.saying(
                "CATEGORY_POPULATIONS needs CATEGORY_FIELD: choose the field of POINTS they belong to."
            )
        return {}
    if pairs:
        return dict(zip(pairs[::2], pairs[1::2]))
    there = form.layers.source("AREAS").fields().names()
    texts = [identifier_text(value) for value in layer.columns[category].categories.tolist()]
    field_of = {text: text for text in texts if text is not None and text in there}
    if not field_of:
        raise InputError.saying(
            "CATEGORY_FIELD “{category}” has the values {first}, but AREAS has no fields of these names: say in "
            "CATEGORY_POPULATIONS which field belongs to which category.",
            category=category,
            first=first_values(text for text in texts if text),
        )
    return field_of
