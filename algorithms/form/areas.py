"""The areas: declared and read."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import (
    QgsFeatureRequest,
    QgsProcessing,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
)

from ...core.aggregation import APPROACHES
from ...core.baselines import BASELINES
from ..compat import python_value
from ..layers.areas import AREA_POINTS, CENTROID, AreaLayer, read_areas
from ..layers.feedback import READ
from ..layers.fields import field_index
from .form import Form
from .parameters import NUMERIC_FIELD, described


def area_parameters(with_population: bool = True) -> Iterable[QgsProcessingParameterDefinition]:
    """REGIONS, REGION_ID, POPULATION, AREA_POINT."""
    yield described(
        QgsProcessingParameterFeatureSource(
            "REGIONS",
            "Areas",
            [QgsProcessing.SourceType.TypeVectorPolygon, QgsProcessing.SourceType.TypeVectorPoint],
        ),
        "The small areas, such as dissemination areas: polygons, or one point per area. Any coordinate reference "
        "system: a geographic one is projected for measuring.",
    )
    yield described(
        QgsProcessingParameterField("REGION_ID", "Identifier of the area", parentLayerParameterName="REGIONS"),
        "The field that names each area, once. Compared as text with the records' area.",
    )
    if with_population:
        yield described(
            QgsProcessingParameterField(
                "POPULATION",
                "Population",
                parentLayerParameterName="REGIONS",
                type=NUMERIC_FIELD,
                optional=True,
            ),
            "People in each area, which the regions are to balance. Without it the number of records is used.",
        )
    yield described(
        QgsProcessingParameterEnum(
            "AREA_POINT", "Point of an area", list(AREA_POINTS), defaultValue=CENTROID, usesStaticStrings=True
        ),
        "The point that stands for a polygon: its centroid, or a point on its surface for areas whose centroid falls "
        "outside.",
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
    """The areas with their neighbours, where one of these aggregations or baselines looks at them: finding them takes
    time."""
    if not any((APPROACHES | BASELINES)[name].neighbours for name in approaches):
        return layer
    return layer.with_neighbours(form.progress(0, READ))


def values_of(form: Form, name: str, field: str) -> list[object]:
    """The values of one field of a layer, in its order."""
    source = form.source(name)
    index = field_index(source.fields(), field, name, name)
    request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry).setSubsetOfAttributes([index])
    return [python_value(feature[index]) for feature in source.getFeatures(request)]
