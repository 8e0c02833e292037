"""The outputs that describe regions: crosswalk, released regions, audit, sites, Voronoi diagram."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import shapely
from qgis.core import QgsProcessingParameterDefinition

from ...core import drawing
from ...core.aggregation import Aggregation
from ...core.areas import Areas
from ...core.arrays import objects, to_list
from ...core.crosswalk import Crosswalk
from ...core.drawing import buffered_hull, pieces
from ...core.elongation import OF_AREAS, distortion_sentence, of_areas, outlines_of
from ...core.evaluation import Measures, RegionAudit, distances_to_sites
from ...core.language import tr
from ...core.levels import Levels
from ...core.progress import Progress
from ...core.records.columns import Column
from ...core.tables.of_levels import crosswalk_columns, region_columns
from ...core.tables.regions import CROSSWALK, REGION_AUDIT, RELEASED_REGIONS, SITE_POINTS, VORONOI
from ...core.tables.schema import OutputTable
from ...core.voronoi import voronoi_cells
from ..layers.reading.crosswalks import NUMBER, has_levels, read_levels, read_numbered_sites
from ..layers.shapes.areas import AreaLayer, DrawnRegions
from ..layers.shapes.surfaces import PopulatedLayer
from ..layers.tables import Table, TableColumn, filled
from .form import Form, FormJob
from .parameters import POINTS, field, report, sink, source

ROUNDING = 1e-4  # of the surface of a region, which its shape may lack though its areas do not overlap
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
# Of records that are released by a crosswalk.
RECORD_NUMBERS = {
    name: NUMBERS[name]
    for name in ("N_RECORDS", "N_SUPPRESSED", "SUPPRESSION_PERCENT", "DISCERNIBILITY", "NON_UNIFORM_ENTROPY")
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


def measured_from() -> QgsProcessingParameterDefinition:
    """SITES that are there already, from which a release is measured."""
    return sites_parameter(
        tr(
            "Points with the field vbas_region, which compactness is measured from; without them the mean centre of "
            "each region's areas."
        )
    )


def sites_of(job: FormJob, layer: AreaLayer | None, levels: Levels, nested: bool) -> np.ndarray | None:
    """SITES in the order of the regions, (n_regions, 2) metres; None where none are given, or there are no areas."""
    if not job.given("SITES"):
        return None
    if nested:
        job.warn(tr("Nested levels have no sites: SITES is not looked at."))
    elif layer is not None:
        return read_numbered_sites(job.layers.source("SITES"), layer, levels.crosswalks[0], job.layers.feedback)
    return None


def released_regions() -> QgsProcessingParameterDefinition:
    """RELEASED_REGIONS."""
    return sink(RELEASED_REGIONS, optional=True)


def crosswalk_output() -> QgsProcessingParameterDefinition:
    """CROSSWALK."""
    return sink(CROSSWALK, optional=True)


def region_audit(by_default: bool = True) -> QgsProcessingParameterDefinition:
    """REGION_AUDIT; by_default : whether a form makes it unasked."""
    return sink(REGION_AUDIT, optional=True, by_default=by_default)


def measures_outputs(by_default: bool = True) -> Iterable[QgsProcessingParameterDefinition]:
    """REGION_AUDIT, and REPORT about crosswalk and records; by_default : whether a form makes them unasked."""
    yield region_audit(by_default)
    yield report(tr("A page with the measures, all parameters and maps of the regions."), by_default)


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


def drawn_regions(layer: AreaLayer, levels: Levels, progress: Progress) -> DrawnRegions:
    """The dissolved regions of each level; every level is drawn from the one below."""
    return DrawnRegions(layer, drawing.level_shapes(layer.drawn_as, levels, progress))


def crosswalk_table(
    layer: AreaLayer | PopulatedLayer, levels: Levels, nested: bool, table: OutputTable = CROSSWALK
) -> Table:
    """A row per area or cell, in the order of the layer, with its region, or that at each level."""
    columns = {name: _values(column) for name, column in crosswalk_columns(levels, nested).items()}
    return filled(table, columns, own=[(layer.id_field, layer.identifiers)], nested=nested)


def regions_table(
    regions: DrawnRegions,
    levels: Levels,
    nested: bool,
    audit: RegionAudit | None = None,
    values: Sequence[str] = (),
) -> Table:
    """RELEASED_REGIONS: the regions, of all levels the finest first; with what is released where that is known.

    values : as for `region_columns`
    """
    return _table(RELEASED_REGIONS, regions, levels, nested, audit, {}, values)


def audit_table(regions: DrawnRegions, levels: Levels, nested: bool, audit: RegionAudit) -> Table:
    """REGION_AUDIT: what the regions cost; of several levels who is shown in each region, and who elsewhere."""
    outlines = outlines_of(np.concatenate(regions.in_plane))
    columns: dict[str, TableColumn | None] = {
        "parts": pieces(np.concatenate(regions.in_layer)),
        "area_hull": outlines.area_hull,
        "elongation": outlines.elongation,
        **dict.fromkeys(OF_AREAS),
    }
    areas = regions.layer.outlines
    if areas is not None:
        of_level = [of_areas(areas, crosswalk) for crosswalk in levels.crosswalks]
        columns.update({name: np.concatenate([of[name] for of in of_level]) for name in OF_AREAS})
    return _table(REGION_AUDIT, regions, levels, nested, audit, columns)


def warn_of_elongated(form: Form, layer: AreaLayer, crosswalk: Crosswalk, population: np.ndarray | None) -> None:
    """Warn where areas are so long that distances and regions are distorted; population : (n,), None if not known."""
    if layer.outlines is not None:
        sentence = distortion_sentence(layer.outlines, crosswalk, population, layer.areas.identifiers)
        form.warn(*filter(None, [sentence]))


def _table(
    table: OutputTable,
    regions: DrawnRegions,
    levels: Levels,
    nested: bool,
    audit: RegionAudit | None,
    columns: Mapping[str, TableColumn | None],
    values: Sequence[str] = (),
) -> Table:
    """A row per region, level after level: where it stands, how large it is, and what is measured of it."""
    layer, shapes = regions.layer, regions.in_layer
    surfaces = [_square_metres(layer, crosswalk, of) for crosswalk, of in zip(levels.crosswalks, shapes)]
    described = region_columns(levels, nested, values)
    own_columns: dict[str, TableColumn | None] = {
        name: _values(column) for name, column in described.items() if table.alias_of(name)
    }
    own_columns |= {"area_km2": np.concatenate(surfaces) / 1e6, **columns}
    return filled(table, own_columns, audit, nested=nested, shapes=np.concatenate(shapes), crs=layer.crs)


def _values(column: Column) -> list[object]:
    """The value of each row."""
    return to_list(column.categories[column.codes])


def _square_metres(layer: AreaLayer, crosswalk: Crosswalk, shapes: np.ndarray) -> np.ndarray:
    """The surface of each region, (n_regions,); shapes : of the regions, in the CRS of the layer.

    That of its areas together, less what they share where they overlap.
    """
    if layer.are_points:  # whose cells do not overlap
        return crosswalk.totals(layer.surfaces_square_metres)
    together, apart = crosswalk.totals(layer.square_metres), crosswalk.totals(shapely.area(layer.shapes))
    share = np.divide(shapely.area(shapes), apart, out=np.ones(len(apart)), where=apart > 0)
    return np.where(share < 1 - ROUNDING, share * together, together)


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
    return filled(
        table, {NUMBER: np.arange(1, len(shapes) + 1, dtype=np.int64)}, shapes=layer.to_layer(shapes), crs=layer.crs
    )


def add_aggregation(
    form: Form, layer: AreaLayer, aggregation: Aggregation, names: Sequence[object] | None = None
) -> dict[str, object]:
    """Write the outputs that describe an aggregation without records, and return its numbers."""
    form.info(*aggregation.notes)
    crosswalk = aggregation.crosswalk
    warn_of_elongated(form, layer, crosswalk, layer.areas.population if layer.has_population else None)
    levels = Levels((crosswalk,), (None if names is None else objects(names),))
    form.outputs.add("CROSSWALK", crosswalk_table(layer, levels, False))
    if form.outputs.wanted("RELEASED_REGIONS"):
        regions = drawn_regions(layer, levels, form.progress(70, 95))
        form.outputs.add("RELEASED_REGIONS", regions_table(regions, levels, False))
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
