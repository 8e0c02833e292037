"""Drawing: the shapes of regions, the cells of points, and shapes cut where a map ends."""

from __future__ import annotations

import numpy as np
import shapely

from .adjacency import connected_parts
from .crosswalk import Crosswalk
from .levels import Levels
from .progress import Progress, part, silent
from .voronoi import voronoi_cells


def dissolve(shapes: np.ndarray, crosswalk: Crosswalk, progress: Progress = silent) -> np.ndarray:
    """The union of each region's areas, (n_regions,) polygons or multipolygons.

    shapes : (n,) valid polygons. A coverage (areas that share edges and do not overlap) is dissolved along its edges,
    which is exact and fast; where the result's surface or validity shows that the areas overlap, they are united
    as polygons.
    """
    regions = np.empty(crosswalk.n_regions, dtype=object)
    surface = shapely.area(shapes)
    order = np.argsort(crosswalk.region_of, kind="stable")
    starts = np.searchsorted(crosswalk.region_of[order], np.arange(crosswalk.n_regions + 1))
    # Borders that were digitised twice differ by rounding: so fine a grid closes such gaps and moves nothing visibly.
    grid = 1e-9 * float(np.abs(shapely.total_bounds(shapes)).max())
    for region in range(crosswalk.n_regions):
        members = order[starts[region] : starts[region + 1]]
        united = _coverage_union(shapes[members], surface[members].sum())
        if united is None:
            united = surface_of(shapely.union_all(shapes[members], grid_size=grid))
        regions[region] = united
        progress((region + 1) / crosswalk.n_regions)
    return regions


def level_shapes(cells: np.ndarray, levels: Levels, progress: Progress = silent) -> list[np.ndarray]:
    """Of each level its dissolved regions; every level is drawn from the one below.

    cells : (n,) the polygons of the areas, or those around points that stand for them
    """
    drawn: list[np.ndarray] = []
    for level, crosswalk in enumerate(levels.crosswalks):
        joined = crosswalk if not level else Crosswalk(levels.parents(level - 1), crosswalk.n_regions)
        step = part(progress, level / len(levels), (level + 1) / len(levels))
        drawn.append(dissolve(drawn[-1] if drawn else cells, joined, step))
    return drawn


def _coverage_union(shapes: np.ndarray, surface: float) -> shapely.Geometry | None:
    """The union along shared edges; None where the shapes overlap or their edges do not match."""
    try:
        with np.errstate(invalid="ignore"):  # whatever comes of it is looked at below
            united = surface_of(shapely.coverage_union_all(shapes))
    except shapely.errors.GEOSException:
        return None
    return united if shapely.is_valid(united) and abs(united.area - surface) <= 1e-9 * surface else None


def surface_of(shape: shapely.Geometry) -> shapely.Geometry:
    """The polygons in a shape, without the lines and points that GEOS leaves where they are thin; none may be left."""
    if shape.geom_type in ("Polygon", "MultiPolygon"):
        return shape
    parts = shapely.get_parts(shapely.get_parts(shape))
    surfaces = parts[shapely.get_dimensions(parts) == 2]
    return shapely.union_all(surfaces) if len(surfaces) else shapely.MultiPolygon()


def voronoi_cells_of(points: np.ndarray) -> np.ndarray:
    """The Voronoi cell of each area given as a point, clipped to the points' buffered hull, (n,) polygons."""
    return voronoi_cells(points, buffered_hull(points))


def buffered_hull(points: np.ndarray) -> shapely.Geometry:
    """The convex hull of the points, in metres, widened by a typical distance between neighbours."""
    hull = shapely.convex_hull(shapely.multipoints(points))
    spacing = np.sqrt(hull.area / len(points)) if hull.area > 0 else hull.length / len(points)
    return shapely.buffer(hull, max(spacing, 1.0))


def pieces(shapes: np.ndarray) -> np.ndarray:
    """Number of pieces of each shape that do not touch, not even in a point, (m,) int64."""
    counts = np.zeros(len(shapes), np.int64)
    parts, owner = shapely.get_parts(shapes, return_index=True)
    if len(parts):
        first, second = shapely.STRtree(parts).query(parts, predicate="intersects")
        same = owner[first] == owner[second]
        piece = connected_parts(first[same], second[same], len(parts))
        heads = np.unique(piece, return_index=True)[1]
        counts += np.bincount(owner[heads], minlength=len(shapes))
    return counts


TURN = 360.0
# A line that spans more than this goes around the other side of the globe.
HALF_TURN = 180.0


def split_at_antimeridian(shapes: np.ndarray) -> np.ndarray:
    """The same surfaces, (n,) array, as pieces within longitudes -180 to 180.

    shapes : (n,) polygons, multipolygons or points in degrees, as they come from a plane: a line that crosses the
    antimeridian jumps by a whole turn. A polygon around a pole gets the pole's parallel as a border.
    """
    shapes = shapes.copy()
    coordinates, owner = shapely.get_coordinates(shapes, return_index=True)
    jumps = (np.abs(np.diff(coordinates[:, 0])) > HALF_TURN) & (owner[1:] == owner[:-1])
    for position in np.unique(owner[1:][jumps]).tolist():
        if shapely.get_dimensions(shapes[position]) == 2:
            shapes[position] = _split(shapes[position])
    return shapes


def joined_at_antimeridian(shapes: np.ndarray) -> np.ndarray:
    """Shapes on both sides of the antimeridian at longitudes 0 to 360, (n,) array, so that they touch there.

    shapes : (n,) polygons in degrees. Others stay as they are, as do all where one of them reaches Greenwich.
    """
    west, _, east, _ = shapely.bounds(shapes).T
    crosses = (west <= -HALF_TURN) & (east >= HALF_TURN)
    both_sides = (west <= -HALF_TURN).any() and (east >= HALF_TURN).any()
    if not both_sides or ((west < 0) & (east >= 0) & ~crosses).any():
        return shapes
    turned = shapely.transform(shapes, lambda c: np.column_stack([c[:, 0] % TURN, c[:, 1]]))
    # The pieces of one shape now share a border, which is not a border of its own.
    turned[crosses] = [shapely.union_all(shapely.get_parts(shape)) for shape in turned[crosses]]
    return turned


def _split(shape: shapely.Geometry) -> shapely.Geometry:
    """One polygon or multipolygon, cut."""
    pieces = []
    for polygon in shapely.get_parts(shape).tolist():
        rings = [_unwrapped(np.asarray(ring.coords)) for ring in (polygon.exterior, *polygon.interiors)]
        middle = rings[0][:, 0].mean()
        # A hole lies in the same turn as the border around it.
        holes = [hole - [TURN * np.round((hole[:, 0].mean() - middle) / TURN), 0.0] for hole in rings[1:]]
        whole = shapely.Polygon(rings[0], holes)
        whole = whole if shapely.is_valid(whole) else shapely.make_valid(whole)
        west, _, east, _ = shapely.bounds(whole)
        for turn in range(int(np.floor((west + HALF_TURN) / TURN)), int(np.ceil((east - HALF_TURN) / TURN)) + 1):
            window = shapely.box(TURN * turn - HALF_TURN, -90.0, TURN * turn + HALF_TURN, 90.0)
            piece = shapely.intersection(whole, window)
            pieces.append(shapely.transform(piece, lambda c, turn=turn: c - [TURN * turn, 0.0]))
    parts = shapely.get_parts(shapely.get_parts(np.array(pieces, dtype=object)))
    return shapely.union_all(parts[shapely.get_dimensions(parts) == 2])


def _unwrapped(ring: np.ndarray) -> np.ndarray:
    """A closed ring, (m, 2), whose longitudes go on beyond 180 where it crosses the antimeridian."""
    longitude = ring[:, 0].copy()
    longitude[1:] -= TURN * np.cumsum(np.round(np.diff(longitude) / TURN))
    ring = np.column_stack([longitude, ring[:, 1]])
    if abs(longitude[-1] - longitude[0]) < HALF_TURN:
        return ring
    # It goes once around the globe: around the pole that is nearer.
    pole = np.copysign(90.0, ring[:, 1].mean())
    return np.vstack([ring, [longitude[-1], pole], [longitude[0], pole], ring[0]])
