"""The areas as programs have them: a frame with shapes or points, in metres or in a reference system."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from .. import counted
from ..areas import Areas, checked_identifiers, look_like_degrees, make_areas
from ..dataclass import dataclass
from ..drawing import joined_at_antimeridian, level_shapes, split_at_antimeridian, voronoi_cells_of
from ..errors import InputError, first_values
from ..job.values import POINT_ON_SURFACE, field_named, position_of
from ..language import tr
from ..levels import Levels
from ..log import Log
from ..neighbours import polygon_neighbours
from ..package.table import Crs
from ..plane import WARPED, extent_of, nowhere_on_the_globe
from ..progress import Progress, silent
from ..records.columns import number_or_missing
from ..shapes import SURFACES, check_degrees, refuse_empty, repaired, shapes_of
from .frames import Frame, frame_of

GEOMETRY, X, Y = ("geometry", "geom", "shape"), "x", "y"
REGIONS = "REGIONS"


@dataclass(frozen=True, eq=False)
class Places:
    """The areas, and what is needed to draw them again.

    frame : their fields; areas : points in metres; has_population : whether a field says how many people they have;
    shapes : (n,) polygons or points in `crs`, repaired; crs, planar : reference systems of pyproj, None for metres
    """

    frame: Frame
    given: object
    id_field: str
    areas: Areas
    has_population: bool
    shapes: np.ndarray
    crs: Any = None
    planar: Any = None

    @property
    def are_points(self) -> bool:
        """Whether they have no surfaces."""
        return bool((shapely.get_type_id(self.shapes) == shapely.GeometryType.POINT).all())

    @cached_property
    def drawn_as(self) -> np.ndarray:
        """The polygons that regions are made of, (n,): areas in their own CRS, or cells of points in the plane."""
        return voronoi_cells_of(self.areas.points) if self.are_points else self.shapes

    def with_neighbours(self, progress: Progress = silent) -> Places:
        """The same areas, knowing which polygons share a border; points are asked by core itself."""
        if self.are_points:
            return self
        shapes = joined_at_antimeridian(self.shapes) if self._in_degrees else self.shapes
        neighbours = polygon_neighbours(shapes, self.to_planar, progress)
        return replace(self, areas=replace(self.areas, neighbours=neighbours))

    def to_planar(self, shapes: np.ndarray) -> np.ndarray:
        """Shapes of the areas' own reference system in metres, (m,)."""
        return moved(shapes, self.crs, self.planar)

    def level_shapes(self, levels: Levels, progress: Progress = silent) -> list[np.ndarray]:
        """Of each level the dissolved regions, in the areas' own reference system."""
        drawn = level_shapes(self.drawn_as, levels, progress)
        if not self.are_points or self.crs is self.planar:
            return drawn
        back = [moved(shapes, self.planar, self.crs) for shapes in drawn]
        return [split_at_antimeridian(shapes) for shapes in back] if self._in_degrees else back

    @cached_property
    def described_crs(self) -> Crs | None:
        """The reference system as a release's folder tells it; None for metres of nobody knows where."""
        if self.crs is None:
            return None
        authority = self.crs.to_authority()
        name = ":".join(authority) if authority else ""
        return Crs(name, self.crs.to_wkt(), self.crs.to_json())

    @property
    def _in_degrees(self) -> bool:
        return self.crs is not None and bool(self.crs.is_geographic)


def places_of(regions: object, id_field: str, population: str, area_point: str, crs: object, log: Log) -> Places:
    """The areas of a frame, checked, repaired and projected to metres.

    regions : a frame with a geometry (GeoDataFrame, or a field “geometry” of shapes or WKB), or with x and y; id_field,
    population : its fields, population empty for none; area_point : what stands for a polygon; crs : of frames that do
    not say it themselves, None for metres
    Raises InputError.
    """
    frame = frame_of(regions, REGIONS)
    id_field = field_named(frame.names, id_field, "REGION_ID", REGIONS)
    identifiers = frame.values(id_field)
    texts = (
        checked_identifiers(identifiers, tr("Field “{field}” of {layer}", field=id_field, layer=REGIONS))
        if identifiers
        else np.empty(0, object)
    )
    shapes = _shapes(frame, texts)
    system = _system(frame.crs if frame.crs is not None else crs)
    if system is not None and system.is_geographic:
        check_degrees(shapely.get_coordinates(shapes), ":".join(system.to_authority() or ()), REGIONS)
    kinds = set(shapely.get_type_id(shapes).tolist())
    points = kinds <= {shapely.GeometryType.POINT}
    if not points:
        if kinds.isdisjoint({*SURFACES, shapely.GeometryType.GEOMETRYCOLLECTION}):
            raise InputError.saying(
                "{layer} has neither polygons nor points: give a layer of {many}, or of one point per {noun}.",
                layer=REGIONS,
                many=tr("areas"),
                noun=tr("area"),
            )
        shapes = repaired(shapes, texts, log.info, REGIONS)
    planar = _plane(system, shapes, log)
    measured = moved(shapes, system, planar)
    middle = shapely.point_on_surface(measured) if area_point == POINT_ON_SURFACE else shapely.centroid(measured)
    people = None
    if population:
        population = field_named(frame.names, population, "POPULATION", REGIONS)
        people = number_or_missing(frame.values(population), population, "POPULATION")
    coordinates = shapely.get_coordinates(middle) if len(middle) else np.empty((0, 2))
    if system is None and look_like_degrees(coordinates):
        raise InputError.saying(
            "{layer} has longitudes and latitudes, it seems, and no coordinate reference system: give one, in the file "
            "(a GeoPackage, say) or as {crs}, or metres.",
            layer=REGIONS,
            crs='crs="EPSG:4326"',
        )
    areas = make_areas(identifiers, coordinates, people, id_field, in_metres=True)
    return Places(frame, regions, id_field, areas, bool(population), shapes, system, planar)


def moved(shapes: np.ndarray, source: Any, target: Any) -> np.ndarray:
    """Shapes of one reference system in another, (m,). Raises InputError for coordinates that it cannot hold."""
    if source is target:
        return shapes
    from pyproj import Transformer

    transformer = Transformer.from_crs(source, target, always_xy=True)

    def move(coordinates: np.ndarray) -> np.ndarray:
        there = np.column_stack(transformer.transform(*coordinates.T))
        if not np.isfinite(there).all():
            raise InputError.saying(
                "Coordinates are outside what {name} can hold: check that the layer has the right coordinate reference "
                "system.",
                name=":".join(source.to_authority() or ()),
            )
        return there

    return np.asarray(shapely.transform(shapes, move))


def _shapes(frame: Frame, texts: np.ndarray) -> np.ndarray:
    """The shapes of the areas, (n,)."""
    name: str | None = frame.geometry
    if name not in frame.names:
        name = next((field for field in GEOMETRY if position_of(frame.names, field) >= 0), None)
    if name is not None:
        values = np.asarray(frame.array(frame.names[position_of(frame.names, name)]), dtype=object)
        try:
            wkbs = [
                value if value is None or isinstance(value, bytes) else shapely.to_wkb(value)
                for value in values.tolist()
            ]
        except TypeError:
            raise InputError.saying(
                "{layer}: field “{name}” holds no shapes, but {first}: give shapes or WKB there, or rename the field "
                "and give “x” and “y”.",
                layer=REGIONS,
                name=name,
                first=first_values(values[:3]),
            ) from None
    elif min(position_of(frame.names, X), position_of(frame.names, Y)) >= 0:
        axes = [frame.names[position_of(frame.names, axis)] for axis in (X, Y)]
        both = [number_or_missing(frame.values(axis), axis, REGIONS) for axis in axes]
        wkbs = shapely.to_wkb(shapely.points(np.column_stack(both))).tolist()
    else:
        raise InputError.saying(
            "{layer} has neither a field “geometry” nor fields “x” and “y”; its fields are {fields}: give the shapes "
            "of the areas, or a point for each.",
            layer=REGIONS,
            fields=first_values(frame.names, 12),
        )
    shapes = shapes_of(wkbs, texts, REGIONS)
    refuse_empty(shapes, texts, REGIONS, counted.areas)
    return shapes


def _system(crs: object) -> Any:
    """A reference system of pyproj; None for metres that nobody says more of."""
    if crs is None:
        return None
    if not find_spec("pyproj"):
        raise InputError.saying(
            "A coordinate reference system needs pyproj, which is not installed: install the extra “geo”, or give "
            "metres without one."
        )
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    _find_definitions()
    try:
        return CRS.from_user_input(crs)
    except CRSError as error:
        raise InputError.saying(
            "{layer}: “{crs}” is no coordinate reference system that is known.", layer=REGIONS, crs=str(crs)
        ) from error


def _find_definitions() -> None:
    """Point pyproj to PROJ's definitions where the distribution's own pyproj is used from a virtual environment, whose
    prefix it looks under. Raises InputError where there are none."""
    from pyproj import datadir
    from pyproj.exceptions import DataDirError

    try:
        datadir.get_data_dir()
    except DataDirError as error:
        there = Path(sys.base_prefix) / "share" / "proj"
        if not (there / "proj.db").is_file():
            raise InputError.saying(
                "pyproj does not find PROJ's definitions of coordinate reference systems: set PROJ_DATA to the folder "
                "that holds “proj.db”, or install pyproj with pip."
            ) from error
        datadir.set_data_dir(str(there))


def _plane(system: Any, shapes: np.ndarray, log: Log) -> Any:
    """What distances are measured in, as the toolbox chooses it: the areas' own system if it is planar in metres."""
    if system is None or not len(shapes):
        return system
    warped = WARPED.get(_projection(system), "")
    metres = all(axis.unit_name in ("metre", "meter") for axis in system.axis_info[:2])
    if not system.is_geographic and not warped and metres:
        return system
    from pyproj import CRS, Transformer
    from pyproj.exceptions import ProjError

    try:
        degrees = Transformer.from_crs(system, "EPSG:4326", always_xy=True)
    except ProjError as error:
        raise nowhere_on_the_globe(REGIONS, system.name) from error
    coordinates, owner = shapely.get_coordinates(shapes, return_index=True)
    extent = extent_of(np.column_stack(degrees.transform(*coordinates.T)), owner, len(shapes))
    say = log.warn if warped else log.info
    say(
        tr(
            "{layer} is not in metres on the ground: distances are measured in {projection}.",
            layer=REGIONS,
            projection=extent.projection,
        )
    )
    log.warn(*filter(None, [extent.too_wide()]))
    return CRS.from_user_input(extent.projection)


def _projection(system: Any) -> str:
    """How PROJ calls the projection of a reference system; empty for none."""
    import warnings

    from pyproj.exceptions import CRSError

    parameters: Mapping[str, object] = {}
    with warnings.catch_warnings(), suppress(CRSError):  # systems that are not tied to the globe have none
        warnings.simplefilter("ignore")  # that a name in PROJ's words says less than the system: its projection it says
        parameters = system.to_dict()
    return str(parameters.get("proj", ""))
