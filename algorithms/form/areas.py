"""The areas: declared and read."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core.job.making import need_neighbours
from ...core.job.values import AREA_POINTS, CENTROID
from ...core.language import tr
from ..layers.feedback import READ
from ..layers.shapes.areas import AreaLayer, read_areas
from .form import FormJob
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


def areas_of(job: FormJob) -> AreaLayer:
    """REGIONS, REGION_ID, POPULATION and AREA_POINT, read."""
    return read_areas(
        job.layers.source("REGIONS"),
        job.text("REGION_ID"),
        job.text("POPULATION") if job.has("POPULATION") else "",
        job.text("AREA_POINT") if job.has("AREA_POINT") else CENTROID,
        job.layers.context,
        job.layers.feedback,
    )


def with_neighbours(job: FormJob, layer: AreaLayer, approaches: Iterable[str]) -> AreaLayer:
    """The areas; with their neighbours, which take time to find, where one of these aggregations or baselines needs
    them."""
    if not need_neighbours(approaches):
        return layer
    return layer.with_neighbours(job.progress(0, READ))
