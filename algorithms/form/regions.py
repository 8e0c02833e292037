"""The outputs that describe regions: crosswalk, released regions, audit, sites, Voronoi diagram."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import shapely
from qgis.core import QgsProcessingParameterDefinition

from ...core import drawing
from ...core.aggregation import Aggregation
from ...core.areas import Areas
from ...core.arrays import to_list
from ...core.crosswalk import Crosswalk
from ...core.drawing import buffered_hull, pieces
from ...core.elongation import OF_AREAS, distortion_sentence, of_areas
from ...core.evaluation import Measures, RegionAudit, distances_to_sites
from ...core.language import tr
from ...core.levels import Levels
from ...core.progress import Progress
from ...core.tables.regions import CROSSWALK, REGION_AUDIT, RELEASED_REGIONS, SITE_POINTS, VORONOI
from ...core.tables.schema import OutputTable
from ...core.voronoi import voronoi_cells
from ..layers.reading.crosswalks import LEVEL, NUMBER, has_levels, read_levels
from ..layers.shapes.areas import AreaLayer
from ..layers.shapes.surfaces import PopulatedLayer
from ..layers.tables import Table, TableColumn, filled
from .form import Form, FormJob
from .parameters import POINTS, field, sink, source

PARENT = "vbas_parent"
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


def crosswalk_parameters(optional: bool = False) -> Iterable[QgsProcessingParameterDefinition]:
    """CROSSWALK and CROSSWALK_ID; optional : whether a run can do without."""
    yield source(
        "CROSSWALK",
        tr("Crosswalk"),
        tr(
            "A row per area with the area's identifier and vbas_region, the number of its region (empty: the "
            "area is left out and its records are suppressed). With nested levels, as “Nest levels” makes "
            "them: vbas_region_1 (the finest), vbas_region_2, …"
        ),
        optional=optional,
    )
    text = tr("Needed only if the crosswalk has further fields.")
    yield field("CROSSWALK_ID", tr("Field with the area code, in the crosswalk"), "CROSSWALK", text, optional=True)


def levels_of_crosswalk(job: FormJob, areas: Areas | None = None) -> tuple[Areas, Levels]:
    """CROSSWALK for these areas, or for those it names itself (which have no points then), as levels."""
    return read_levels(job.layers.source("CROSSWALK"), job.text("CROSSWALK_ID"), areas, job.layers.feedback)


def has_levels_in_crosswalk(job: FormJob) -> bool:
    """Whether CROSSWALK has nested levels."""
    return has_levels(job.layers.source("CROSSWALK"))


def sites_parameter(text: str) -> QgsProcessingParameterDefinition:
    """SITES."""
    return source("SITES", tr("Sites"), text, POINTS, optional=True)


def released_regions() -> QgsProcessingParameterDefinition:
    """RELEASED_REGIONS."""
    return sink(RELEASED_REGIONS, optional=True)


def crosswalk_output() -> QgsProcessingParameterDefinition:
    """CROSSWALK."""
    return sink(CROSSWALK, optional=True)


def region_audit() -> QgsProcessingParameterDefinition:
    """REGION_AUDIT."""
    return sink(REGION_AUDIT, optional=True)


def site_points(optional: bool = True) -> QgsProcessingParameterDefinition:
    """SITE_POINTS."""
    return sink(SITE_POINTS, optional, not optional)


def site_outputs() -> Iterable[QgsProcessingParameterDefinition]:
    """SITE_POINTS and VORONOI."""
    yield site_points()
    yield sink(VORONOI, optional=True, by_default=False)


def region_outputs() -> Iterable[QgsProcessingParameterDefinition]:
    """RELEASED_REGIONS, CROSSWALK, REGION_AUDIT, SITE_POINTS, VORONOI."""
    yield released_regions()
    yield crosswalk_output()
    yield region_audit()
    yield from site_outputs()


def region_shapes(layer: AreaLayer, crosswalk: Crosswalk, progress: Progress) -> np.ndarray:
    """The dissolved regions in the CRS of REGIONS."""
    return level_shapes(layer, Levels((crosswalk,)), progress)[0]


def level_shapes(layer: AreaLayer, levels: Levels, progress: Progress) -> list[np.ndarray]:
    """Of each level, its dissolved regions in the CRS of REGIONS; every level is drawn from the one below."""
    drawn = drawing.level_shapes(layer.drawn_as, levels, progress)
    return [layer.to_layer(shape) for shape in drawn] if layer.are_points else drawn


def crosswalk_table(
    layer: AreaLayer | PopulatedLayer, regions: Crosswalk | Levels, table: OutputTable = CROSSWALK
) -> Table:
    """A row per area or cell, in the order of the layer, with its region, or that at each level."""
    levels, nested = _levels(regions)
    columns: dict[str, TableColumn] = {}
    for level, crosswalk in enumerate(levels.crosswalks):
        numbers = [*crosswalk.numbers.tolist(), None]  # the last, -1, is that of areas that are left out
        name = f"{NUMBER}_{level + 1}" if nested else NUMBER
        columns[name] = [numbers[region] for region in to_list(crosswalk.region_of)]
    return filled(table, columns, own=[(layer.id_field, layer.identifiers)], nested=nested)


def regions_table(
    layer: AreaLayer,
    regions: Crosswalk | Levels,
    shapes: np.ndarray | list[np.ndarray],
    audit: RegionAudit | None = None,
    names: Sequence[object] | None = None,
    values: Sequence[str] = (),
) -> Table:
    """RELEASED_REGIONS: the regions, of all levels the finest first; with what is released where that is known.

    shapes : of the regions, or of those of each level; names : of regions that have names, which levels know themselves
    values : what each level shows of the quasi-identifiers, where levels differ in that
    """
    levels, _ = _levels(regions)
    values_of_regions = [of for of, crosswalk in zip(values, levels.crosswalks) for _ in range(crosswalk.n_regions)]
    if any(of is not None for of in levels.names):
        each = zip(levels.names, levels.crosswalks)
        names = [name for of, crosswalk in each for name in ([None] * crosswalk.n_regions if of is None else of)]
    called = None if names is None else [None if name is None else str(name) for name in names]
    return _table(
        RELEASED_REGIONS, layer, regions, shapes, audit, {"name": called, "vbas_values": values_of_regions or None}
    )


def audit_table(
    layer: AreaLayer,
    regions: Crosswalk | Levels,
    shapes: np.ndarray | list[np.ndarray],
    audit: RegionAudit,
) -> Table:
    """REGION_AUDIT: what the regions cost; of several levels who is shown in each region, and who elsewhere."""
    drawn = np.concatenate(_by_level(shapes))
    outlines, levels = layer.outlines_of(drawn), _levels(regions)[0]
    columns: dict[str, TableColumn | None] = {
        "parts": pieces(drawn),
        "area_hull": outlines.area_hull,
        "elongation": outlines.elongation,
        **dict.fromkeys(OF_AREAS),
    }
    areas = layer.outlines
    if areas is not None:
        of_level = [of_areas(areas, crosswalk) for crosswalk in levels.crosswalks]
        columns.update({name: np.concatenate([of[name] for of in of_level]) for name in OF_AREAS})
    return _table(REGION_AUDIT, layer, regions, shapes, audit, columns)


def warn_of_elongated(form: Form, layer: AreaLayer, crosswalk: Crosswalk, population: np.ndarray | None) -> None:
    """Warn where areas are so long that distances and regions are distorted; population : (n,), None if not known."""
    if layer.outlines is not None:
        sentence = distortion_sentence(layer.outlines, crosswalk, population, layer.areas.identifiers)
        form.warn(*filter(None, [sentence]))


def _table(
    table: OutputTable,
    layer: AreaLayer,
    regions: Crosswalk | Levels,
    shapes: np.ndarray | list[np.ndarray],
    audit: RegionAudit | None,
    columns: Mapping[str, TableColumn | None],
) -> Table:
    """A row per region, level after level: where it stands, how large it is, and what is measured of it."""
    levels, nested = _levels(regions)
    crosswalks, drawn = levels.crosswalks, _by_level(shapes)
    surfaces = [_square_metres(layer, crosswalk, of) for crosswalk, of in zip(crosswalks, drawn)]
    own_columns: dict[str, TableColumn] = {
        NUMBER: np.concatenate([crosswalk.numbers for crosswalk in crosswalks]),
        "areas": np.concatenate(
            [crosswalk.totals(np.ones(len(crosswalk.region_of))) for crosswalk in crosswalks]
        ).astype(np.int64),
        "area_km2": np.concatenate(surfaces) / 1e6,
    }
    if nested:
        above = [[*crosswalk.numbers.tolist(), None] for crosswalk in crosswalks[1:]] + [[None]]
        own_columns[LEVEL] = np.repeat(np.arange(len(levels)) + 1, [crosswalk.n_regions for crosswalk in crosswalks])
        own_columns[PARENT] = [
            own_numbers[parent] for i, own_numbers in enumerate(above) for parent in to_list(levels.parents(i))
        ]
    return filled(
        table,
        {**own_columns, **columns},
        audit,
        nested=nested,
        shapes=np.concatenate(drawn),
        crs=layer.crs,
    )


def _levels(regions: Crosswalk | Levels) -> tuple[Levels, bool]:
    """The regions as levels, and whether they are levels of a nested release."""
    return (regions, True) if isinstance(regions, Levels) else (Levels((regions,)), False)


def _by_level(shapes: np.ndarray | list[np.ndarray]) -> list[np.ndarray]:
    return shapes if isinstance(shapes, list) else [shapes]


def _square_metres(layer: AreaLayer, crosswalk: Crosswalk, shapes: np.ndarray) -> np.ndarray:
    return layer.square_metres_of(shapes) if layer.are_points else crosswalk.totals(layer.square_metres)


def names_of_regions(crosswalk: Crosswalk, labels: Sequence[object]) -> list[object]:
    """The label of each region's first area, n_regions of them; labels : of each area."""
    areas, first = np.unique(crosswalk.region_of, return_index=True)
    return [labels[area] for area in first[areas >= 0].tolist()]


def sites_table(layer: AreaLayer, sites: np.ndarray) -> Table:
    """SITE_POINTS."""
    return _numbered(SITE_POINTS, layer, shapely.points(sites))


def voronoi_table(layer: AreaLayer, aggregation: Aggregation) -> Table:
    """VORONOI: the cells of the sites, clipped to the areas' surroundings."""
    around = buffered_hull(np.vstack([layer.areas.points, aggregation.sites]))
    return _numbered(VORONOI, layer, voronoi_cells(aggregation.sites, around))


def _numbered(table: OutputTable, layer: AreaLayer, shapes: np.ndarray) -> Table:
    """Planar shapes with the numbers of their regions."""
    return filled(table, {NUMBER: np.arange(1, len(shapes) + 1)}, shapes=layer.to_layer(shapes), crs=layer.crs)


def add_aggregation(
    form: Form, layer: AreaLayer, aggregation: Aggregation, names: Sequence[object] | None = None
) -> dict[str, object]:
    """Write the outputs that describe an aggregation without records, and return its numbers."""
    form.info(*aggregation.notes)
    crosswalk = aggregation.crosswalk
    warn_of_elongated(form, layer, crosswalk, layer.areas.population if layer.has_population else None)
    form.outputs.add("CROSSWALK", crosswalk_table(layer, crosswalk))
    if form.outputs.wanted("RELEASED_REGIONS"):
        shapes = region_shapes(layer, crosswalk, form.progress(70, 95))
        form.outputs.add("RELEASED_REGIONS", regions_table(layer, crosswalk, shapes, None, names))
    add_sites(form, layer, aggregation)
    compactness = float(distances_to_sites(layer.areas, crosswalk, aggregation.sites).sum())
    values: dict[str, object] = {"N_SITES": crosswalk.n_regions, "COMPACTNESS": compactness}
    if form.declares("N_LEFT_OUT"):
        values["N_LEFT_OUT"] = int((crosswalk.region_of < 0).sum())
    return values


def add_sites(form: Form, layer: AreaLayer, aggregation: Aggregation) -> None:
    """Write SITE_POINTS and VORONOI where they are wanted."""
    if form.outputs.wanted("SITE_POINTS"):
        form.outputs.add("SITE_POINTS", sites_table(layer, aggregation.sites))
    if form.outputs.wanted("VORONOI"):
        form.outputs.add("VORONOI", voronoi_table(layer, aggregation))


def numbers(measures: Measures) -> dict[str, object]:
    """The numeric outputs but RUNNING_TIME."""
    values = {name: getattr(measures, name.lower()) for name in NUMBERS if name not in ("N_SITES", "RUNNING_TIME")}
    return {"N_SITES": measures.n_regions, **values}
