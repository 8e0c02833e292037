"""The outputs that describe regions: crosswalk, released regions, audit, sites, Voronoi diagram."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import shapely
from qgis.core import QgsProcessingParameterDefinition

from ...core.aggregation import Aggregation
from ...core.areas import Areas
from ...core.crosswalk import Crosswalk
from ...core.drawing import buffered_hull, dissolve, pieces, voronoi_cells_of
from ...core.evaluation import Measures, RegionAudit, distances_to_sites
from ...core.language import tr
from ...core.levels import Levels
from ...core.progress import Progress
from ...core.voronoi import voronoi_cells
from ..layers.reading.crosswalks import has_levels, read_crosswalk, read_levels
from ..layers.shapes.areas import AreaLayer
from ..layers.shapes.surfaces import PopulatedLayer
from ..layers.tables import FOR_RELEASE, INTERNAL, Table, TableColumn, number_fields
from .form import Form
from .parameters import POINTS, POLYGONS, field, sink, source

NUMBERS = {
    "N_SITES": tr("Regions"),
    "N_RECORDS": tr("Records"),
    "N_SUPPRESSED": tr("Records suppressed"),
    "SUPPRESSION_PERCENT": tr("Records suppressed, per cent"),
    "COMPACTNESS": tr("Compactness: sum of distances from areas to their site, metres"),
    "DISCERNIBILITY": tr("Discernibility"),
    "NON_UNIFORM_ENTROPY": tr("Non-uniform entropy, bits"),
    "RUNNING_TIME": tr("Running time, seconds"),
}
# Of a crosswalk without records.
CROSSWALK_NUMBERS = {name: NUMBERS[name] for name in ("N_SITES", "COMPACTNESS")}
# Of one that may leave areas out.
PARTIAL_NUMBERS = {"N_SITES": tr("Regions"), "N_LEFT_OUT": tr("Areas left out"), "COMPACTNESS": NUMBERS["COMPACTNESS"]}


def crosswalk_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """CROSSWALK and CROSSWALK_ID."""
    yield source(
        "CROSSWALK",
        tr("Crosswalk"),
        tr(
            "A row per area with the area's identifier and vbas_region, the number of its region (empty: the "
            "area is left out and its records are suppressed). With nested levels, as “Nest levels” makes "
            "them: vbas_region_1 (the finest), vbas_region_2, …"
        ),
    )
    text = tr("Needed only if the crosswalk has further fields.")
    yield field("CROSSWALK_ID", tr("Field with the area code, in the crosswalk"), "CROSSWALK", text, optional=True)


def crosswalk_of(form: Form, areas: Areas | None = None) -> tuple[Areas, Crosswalk]:
    """CROSSWALK for these areas, or for those it names itself (which have no points then)."""
    return read_crosswalk(form.source("CROSSWALK"), form.text("CROSSWALK_ID"), areas, form.feedback)


def levels_of_crosswalk(form: Form, areas: Areas | None = None) -> tuple[Areas, Levels]:
    """The same for a crosswalk of nested levels."""
    return read_levels(form.source("CROSSWALK"), form.text("CROSSWALK_ID"), areas, form.feedback)


def has_levels_in_crosswalk(form: Form) -> bool:
    """Whether CROSSWALK has nested levels."""
    return has_levels(form.source("CROSSWALK"))


def sites_parameter(text: str) -> QgsProcessingParameterDefinition:
    """SITES."""
    return source("SITES", tr("Sites"), text, POINTS, optional=True)


def released_regions() -> QgsProcessingParameterDefinition:
    """RELEASED_REGIONS."""
    return sink(
        "RELEASED_REGIONS",
        tr("Released regions"),
        FOR_RELEASE,
        tr(
            "The regions as polygons, with their number (vbas_region), how many areas each joins, its surface "
            "in km² and the records released from it. For areas given as points: their Voronoi cells."
        ),
        POLYGONS,
        optional=True,
    )


def crosswalk_output() -> QgsProcessingParameterDefinition:
    """CROSSWALK."""
    return sink(
        "CROSSWALK",
        tr("Crosswalk"),
        FOR_RELEASE,
        tr(
            "The region (vbas_region) that each area belongs to, to link other statistics of the areas with "
            "the release. Areas that a method leaves out have an empty vbas_region."
        ),
        optional=True,
    )


def region_audit() -> QgsProcessingParameterDefinition:
    """REGION_AUDIT."""
    return sink(
        "REGION_AUDIT",
        tr("Region audit"),
        INTERNAL,
        tr(
            "The regions with what they cost: population, records, suppressed records, the smallest class before "
            "suppression (anonymity), number of classes, compactness, and pieces that do not touch."
        ),
        POLYGONS,
        optional=True,
    )


def site_points(optional: bool = True) -> QgsProcessingParameterDefinition:
    """SITE_POINTS."""
    text = tr("The points that draw the regions.")
    return sink("SITE_POINTS", tr("Sites"), INTERNAL, text, POINTS, optional, not optional)


def site_outputs() -> Iterable[QgsProcessingParameterDefinition]:
    """SITE_POINTS and VORONOI."""
    yield site_points()
    yield sink(
        "VORONOI",
        tr("Voronoi diagram"),
        INTERNAL,
        tr(
            "The cells of the sites. An area joins the site nearest to its point, so regions follow the cells "
            "along the borders of the areas."
        ),
        POLYGONS,
        optional=True,
        by_default=False,
    )


def region_outputs() -> Iterable[QgsProcessingParameterDefinition]:
    """RELEASED_REGIONS, CROSSWALK, REGION_AUDIT, SITE_POINTS, VORONOI."""
    yield released_regions()
    yield crosswalk_output()
    yield region_audit()
    yield from site_outputs()


def region_shapes(layer: AreaLayer, crosswalk: Crosswalk, progress: Progress) -> np.ndarray:
    """The dissolved regions in the CRS of REGIONS."""
    if not layer.are_points:
        return dissolve(layer.shapes, crosswalk, progress)
    return layer.to_layer(dissolve(voronoi_cells_of(layer.areas.points), crosswalk, progress))


def crosswalk_table(layer: AreaLayer | PopulatedLayer, crosswalk: Crosswalk) -> Table:
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
    columns: list[TableColumn] = [crosswalk.numbers, *_sizes(layer, crosswalk, shapes)]
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
    kinds = {
        "vbas_region": "long",
        "areas": "integer",
        "area_km2": "real",
        "released": "long",
        "population": "real",
        "records": "long",
        "suppressed": "long",
        "anonymity": "long",
        "classes": "integer",
        "compactness": "real",
        "parts": "integer",
    }
    measured = [getattr(audit, name) for name in list(kinds)[3:-1]]
    columns = [crosswalk.numbers, *_sizes(layer, crosswalk, shapes), *measured, pieces(shapes)]
    return Table(number_fields(**kinds), columns, "polygons", shapes, layer.crs)


def sites_table(layer: AreaLayer, sites: np.ndarray) -> Table:
    """SITE_POINTS."""
    return _numbered(layer, "points", shapely.points(sites))


def voronoi_table(layer: AreaLayer, aggregation: Aggregation) -> Table:
    """VORONOI: the cells of the sites, clipped to the areas' surroundings."""
    around = buffered_hull(np.vstack([layer.areas.points, aggregation.sites]))
    return _numbered(layer, "polygons", voronoi_cells(aggregation.sites, around))


def _numbered(layer: AreaLayer, geometry: str, shapes: np.ndarray) -> Table:
    """Planar shapes with the numbers of their regions."""
    numbers = np.arange(1, len(shapes) + 1)
    return Table(number_fields(vbas_region="long"), [numbers], geometry, layer.to_layer(shapes), layer.crs)


def add_aggregation(
    form: Form, layer: AreaLayer, aggregation: Aggregation, names: Sequence[object] | None = None
) -> dict[str, object]:
    """Write the outputs that describe an aggregation without records, and return its numbers."""
    form.info(*aggregation.notes)
    crosswalk = aggregation.crosswalk
    form.outputs.add("CROSSWALK", crosswalk_table(layer, crosswalk))
    if form.outputs.wanted("RELEASED_REGIONS"):
        shapes = region_shapes(layer, crosswalk, form.progress(70, 95))
        form.outputs.add("RELEASED_REGIONS", regions_table(layer, crosswalk, shapes, None, names))
    add_sites(form, layer, aggregation)
    compactness = float(distances_to_sites(layer.areas, crosswalk, aggregation.sites).sum())
    found: dict[str, object] = {"N_SITES": crosswalk.n_regions, "COMPACTNESS": compactness}
    if form.declares("N_LEFT_OUT"):
        found["N_LEFT_OUT"] = int((crosswalk.region_of < 0).sum())
    return found


def add_sites(form: Form, layer: AreaLayer, aggregation: Aggregation) -> None:
    """Write SITE_POINTS and VORONOI where they are wanted."""
    form.outputs.add("SITE_POINTS", sites_table(layer, aggregation.sites))
    if form.outputs.wanted("VORONOI"):
        form.outputs.add("VORONOI", voronoi_table(layer, aggregation))


def numbers(measures: Measures) -> dict[str, object]:
    """The numeric outputs but RUNNING_TIME."""
    found = {name: getattr(measures, name.lower()) for name in NUMBERS if name not in ("N_SITES", "RUNNING_TIME")}
    return {"N_SITES": measures.n_regions, **found}


def _sizes(layer: AreaLayer, crosswalk: Crosswalk, shapes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of areas and km² of each region."""
    count = crosswalk.totals(np.ones(len(crosswalk.region_of))).astype(np.int64)
    square_metres = layer.square_metres_of(shapes) if layer.are_points else crosswalk.totals(layer.square_metres)
    return count, square_metres / 1e6
