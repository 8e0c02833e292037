"""The areas: declared and read."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsFeatureRequest, QgsProcessingParameterDefinition

from ...core.aggregation import APPROACHES
from ...core.baselines import BASELINES
from ...core.language import tr
from ..compat import python_value
from ..layers.feedback import READ
from ..layers.reading.fields import field_index
from ..layers.shapes.areas import AREA_POINTS, CENTROID, AreaLayer, read_areas
from .form import Form
from .parameters import POINTS, POLYGONS, choice, field, source


def area_parameters(with_population: bool = True) -> Iterable[QgsProcessingParameterDefinition]:
    """REGIONS, REGION_ID, POPULATION, AREA_POINT."""
    yield source(
        "REGIONS",
        tr("Areas"),
        tr(
            "The small areas, such as dissemination areas: polygons, or one point per area. Any coordinate reference "
            "system will do: geographic coordinates are projected for measuring."
        ),
        POLYGONS,
        POINTS,
    )
    yield field(
        "REGION_ID",
        tr("Field with the area code, in the areas"),
        "REGIONS",
        tr(
            "The field that identifies each area; no value may occur twice. It is compared as text with the "
            "records' area."
        ),
    )
    if with_population:
        yield field(
            "POPULATION",
            tr("Population"),
            "REGIONS",
            tr(
                "The number of people in each area, which the regions are to balance. Without it the number "
                "of records is used."
            ),
            numeric=True,
            optional=True,
        )
    yield choice(
        "AREA_POINT",
        tr("Polygons only: point of an area"),
        AREA_POINTS,
        CENTROID,
        tr(
            "The point that stands for a polygon: its centroid, or a point on its surface for areas whose "
            "centroid lies outside."
        ),
        advanced=True,
    )


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


def with_neighbours(form: Form, layer: AreaLayer, approaches: Iterable[str]) -> AreaLayer:
    """The areas; with their neighbours, which take time to find, where one of these aggregations or baselines needs
    them."""
    if not any((APPROACHES | BASELINES)[name].neighbours for name in approaches):
        return layer
    return layer.with_neighbours(form.progress(0, READ))


def values_of(form: Form, name: str, field: str) -> list[object]:
    """The values of one field of a layer, in its order."""
    source = form.source(name)
    index = field_index(source.fields(), field, name, name)
    request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry).setSubsetOfAttributes([index])
    return [python_value(feature[index]) for feature in source.getFeatures(request)]
