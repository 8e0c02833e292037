"""The outputs that describe regions: crosswalk, released regions, audit, sites, Voronoi diagram."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import shapely
from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
)

from ...core.aggregation import Aggregation
from ...core.crosswalk import Crosswalk
from ...core.drawing import buffered_hull, dissolve, pieces, voronoi_cells_of
from ...core.evaluation import Measures, RegionAudit, distances_to_sites
from ...core.progress import Progress
from ...core.voronoi import voronoi_cells
from ..layers.areas import AreaLayer
from ..layers.cells import CellLayer
from ..layers.tables import FOR_RELEASE, INTERNAL, Table, number_fields
from .form import Form
from .parameters import described, sink

TABLE = QgsProcessing.SourceType.TypeVector
POLYGONS = QgsProcessing.SourceType.TypeVectorPolygon
POINTS = QgsProcessing.SourceType.TypeVectorPoint

NUMBERS = {
    "N_SITES": "Regions",
    "N_RECORDS": "Records",
    "N_SUPPRESSED": "Records suppressed",
    "SUPPRESSION_PERCENT": "Records suppressed, per cent",
    "COMPACTNESS": "Compactness: sum of distances from areas to their site, metres",
    "DISCERNIBILITY": "Discernibility",
    "NON_UNIFORM_ENTROPY": "Non-uniform entropy, bits",
    "RUNNING_TIME": "Running time, seconds",
}
# Of a crosswalk without records.
CROSSWALK_NUMBERS = {name: NUMBERS[name] for name in ("N_SITES", "COMPACTNESS")}


def crosswalk_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """CROSSWALK and CROSSWALK_ID."""
    yield described(
        QgsProcessingParameterFeatureSource("CROSSWALK", "Crosswalk", [QgsProcessing.SourceType.TypeVector]),
        "A row per area with the area's identifier and vbas_region, the number of its region (empty: the area is left "
        "out and its records are suppressed).",
    )
    yield described(
        QgsProcessingParameterField(
            "CROSSWALK_ID",
            "Identifier of the area in the crosswalk",
            parentLayerParameterName="CROSSWALK",
            optional=True,
        ),
        "Needed only if the crosswalk has further fields.",
    )


def released_regions(optional: bool = True) -> QgsProcessingParameterDefinition:
    """RELEASED_REGIONS."""
    return sink(
        "RELEASED_REGIONS",
        "Released regions",
        FOR_RELEASE,
        "The aggregated regions as polygons, with their number vbas_region, how many areas each joins, its surface in "
        "km² and the records released from it. For areas given as points: their Voronoi cells.",
        POLYGONS,
        optional=optional,
    )


def crosswalk_output() -> QgsProcessingParameterDefinition:
    """CROSSWALK."""
    return sink(
        "CROSSWALK",
        "Crosswalk",
        FOR_RELEASE,
        "Which region (vbas_region) each area belongs to: to link other statistics of the areas with the release. "
        "Areas a method leaves out have an empty vbas_region.",
        TABLE,
        optional=True,
    )


def region_audit() -> QgsProcessingParameterDefinition:
    """REGION_AUDIT."""
    return sink(
        "REGION_AUDIT",
        "Region audit",
        INTERNAL,
        "The regions with what they cost: population, records, suppressed records, the least class before "
        "suppression (anonymity), number of classes, compactness, and pieces that do not touch.",
        POLYGONS,
        optional=True,
    )


def site_points(optional: bool = True) -> QgsProcessingParameterDefinition:
    """SITE_POINTS."""
    return sink(
        "SITE_POINTS",
        "Sites",
        INTERNAL,
        "The points that draw the regions.",
        POINTS,
        optional=optional,
        by_default=not optional,
    )


def site_outputs() -> Iterable[QgsProcessingParameterDefinition]:
    """SITE_POINTS and VORONOI."""
    yield site_points()
    yield sink(
        "VORONOI",
        "Voronoi diagram",
        INTERNAL,
        "The cells of the sites. An area joins the site nearest to its point, so regions follow the cells "
        "along the borders of the areas.",
        POLYGONS,
        optional=True,
        by_default=False,
    )


def region_shapes(layer: AreaLayer, crosswalk: Crosswalk, progress: Progress) -> np.ndarray:
    """The dissolved regions in the CRS of REGIONS."""
    if not layer.are_points:
        return dissolve(layer.shapes, crosswalk, progress)
    return layer.to_layer(dissolve(voronoi_cells_of(layer.areas.points), crosswalk, progress))


def crosswalk_table(layer: AreaLayer | CellLayer, crosswalk: Crosswalk) -> Table:
    """A row per area or cell, in the order of the layer."""
    of_region = crosswalk.numbers.tolist()
    numbers = [of_region[region] if region >= 0 else None for region in crosswalk.region_of.tolist()]
    return Table([layer.id_field, *number_fields(vbas_region="long")], [layer.identifiers, numbers])


def regions_table(
    layer: AreaLayer,
    crosswalk: Crosswalk,
    shapes: np.ndarray,
    released: np.ndarray | None,
    names: Sequence[object] | None = None,
) -> Table:
    """RELEASED_REGIONS; without `released` where no records were given; with `name` where the regions have names."""
    kinds = {"vbas_region": "long", "areas": "integer", "area_km2": "real"}
    columns = [crosswalk.numbers, *_sizes(layer, crosswalk, shapes)]
    if released is not None:
        kinds["released"] = "long"
        columns.append(released)
    if names is not None:
        kinds["name"] = "text"
        columns.append([str(name) for name in names])
    return Table(number_fields(**kinds), columns, "polygons", shapes, layer.crs)


def names_of_regions(crosswalk: Crosswalk, labels: Sequence[object]) -> list[object]:
    """The label of each region's first area, n_regions of them; labels : of each area."""
    areas, first = np.unique(crosswalk.region_of, return_index=True)
    return [labels[area] for area in first[areas >= 0].tolist()]


def audit_table(layer: AreaLayer, crosswalk: Crosswalk, shapes: np.ndarray, audit: RegionAudit) -> Table:
    """REGION_AUDIT."""
    fields = number_fields(
        vbas_region="long",
        layer="integer",
        area_km2="real",
        released="long",
        population="real",
        records="long",
        suppressed="long",
        anonymity="long",
        classes="integer",
        compactness="real",
        parts="integer",
    )
    columns = [
        crosswalk.numbers,
        *_sizes(layer, crosswalk, shapes),
        audit.released,
        audit.population,
        audit.records,
        audit.suppressed,
        audit.anonymity,
        audit.classes,
        audit.compactness,
        pieces(shapes),
    ]
    return Table(fields, columns, "polygons", shapes, layer.crs)


def sites_table(layer: AreaLayer, sites: np.ndarray) -> Table:
    """SITE_POINTS."""
    return Table(
        number_fields(vbas_region="long"),
        [np.arange(1, len(sites) + 1)],
        "points",
        layer.to_layer(shapely.points(sites)),
        layer.crs,
    )


def voronoi_table(layer: AreaLayer, aggregation: Aggregation) -> Table:
    """VORONOI: the cells of the sites, clipped to the areas' surroundings."""
    around = buffered_hull(np.vstack([layer.areas.points, aggregation.sites]))
    cells = voronoi_cells(aggregation.sites, around)
    return Table(
        number_fields(vbas_region="long"),
        [np.arange(1, len(cells) + 1)],
        "polygons",
        layer.to_layer(cells),
        layer.crs,
    )


def add_aggregation(
    form: Form, layer: AreaLayer, aggregation: Aggregation, names: Sequence[object] | None = None
) -> dict[str, object]:
    """Write what describes an aggregation without records: its numbers."""
    for note in aggregation.notes:
        form.info(note)
    crosswalk = aggregation.crosswalk
    form.outputs.add("CROSSWALK", crosswalk_table(layer, crosswalk))
    if form.outputs.wanted("RELEASED_REGIONS"):
        shapes = region_shapes(layer, crosswalk, form.progress(70, 95))
        form.outputs.add("RELEASED_REGIONS", regions_table(layer, crosswalk, shapes, None, names))
    form.outputs.add("SITE_POINTS", sites_table(layer, aggregation.sites))
    if form.outputs.wanted("VORONOI"):
        form.outputs.add("VORONOI", voronoi_table(layer, aggregation))
    compactness = float(distances_to_sites(layer.areas, crosswalk, aggregation.sites).sum())
    return {"N_SITES": crosswalk.n_regions, "COMPACTNESS": compactness}


def numbers(measures: Measures) -> dict[str, object]:
    """The numeric outputs but RUNNING_TIME."""
    return {
        "N_SITES": measures.n_regions,
        "N_RECORDS": measures.n_records,
        "N_SUPPRESSED": measures.n_suppressed,
        "SUPPRESSION_PERCENT": measures.suppression_percent,
        "COMPACTNESS": measures.compactness,
        "DISCERNIBILITY": measures.discernibility,
        "NON_UNIFORM_ENTROPY": measures.non_uniform_entropy,
    }


def _sizes(layer: AreaLayer, crosswalk: Crosswalk, shapes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of areas and km² of each region."""
    count = crosswalk.totals(np.ones(len(crosswalk.region_of))).astype(np.int64)
    square_metres = layer.square_metres_of(shapes) if layer.are_points else crosswalk.totals(layer.square_metres)
    return count, square_metres / 1e6
