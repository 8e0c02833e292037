"""Drawing: the shapes of regions, the cells of points, and shapes cut where a map ends."""

from __future__ import annotations

import numpy as np
import shapely

from .adjacency import connected_parts
from .crosswalk import Crosswalk
from .levels import Levels
from .progress import Progress, part, silent
from .voronoi import voronoi_cells

MULTI_POLYGON = shapely.GeometryType.MULTIPOLYGON
SURFACES = (shapely.GeometryType.POLYGON, MULTI_POLYGON)
ROUNDING = 1e-12  # of the largest coordinate: corners so close to each other are one that was computed twice
MIXED = np.uint64(0x9E3779B97F4A7C15)  # odd, and of no pattern
POINTS_AT_ONCE = 30_000  # coordinates that GEOS dissolves in one call, which cannot be cancelled


def dissolve(shapes: np.ndarray, crosswalk: Crosswalk, progress: Progress = silent) -> np.ndarray:
    """The union of each region's areas, (n_regions,) polygons or multipolygons.

    shapes : (n,) valid polygons. A coverage (areas that share edges and do not overlap) is dissolved along its edges,
    which is exact and fast; where the result's surface or validity shows that the areas overlap, they are united
    as polygons.
    """
    regions = np.empty(crosswalk.n_regions, dtype=object)
    surface = shapely.area(shapes)
    order = np.argsort(crosswalk.region_of, kind="stable")
    starts = np.searchsorted(crosswalk.region_of[order], np.arange(crosswalk.n_regions + 1, dtype=np.int64))
    # Borders that were digitised twice differ by rounding: so fine a grid closes such gaps and moves nothing visibly.
    grid = 1e-9 * float(np.abs(shapely.total_bounds(shapes)).max())
    has_areas = np.diff(starts) > 0
    regions[~has_areas] = shapely.MultiPolygon()
    n_points = shapely.get_num_coordinates(shapes)
    for some in _at_once(np.flatnonzero(has_areas), starts, n_points[order]):
        progress(some[0] / crosswalk.n_regions)
        members = [order[starts[region] : starts[region + 1]] for region in some.tolist()]
        regions[some] = _coverage_unions(shapes, surface, members)
        for region, areas in zip(some.tolist(), members):
            if regions[region] is None:
                regions[region] = surface_of(shapely.union_all(shapes[areas], grid_size=grid))
                progress((region + 1) / crosswalk.n_regions)
    progress(1.0)
    return regions


def _at_once(regions: np.ndarray, starts: np.ndarray, n_points: np.ndarray) -> list[np.ndarray]:
    """The regions in turn, as many at once as are dissolved within a fraction of a second.

    starts : (n_regions + 1,) of each region in n_points, the coordinates of its areas
    """
    if not len(regions):
        return []
    before = np.concatenate([[0], np.cumsum(n_points, dtype=np.int64)])
    reached = np.cumsum(before[starts[regions + 1]] - before[starts[regions]])
    return np.split(regions, np.flatnonzero(np.diff(reached // POINTS_AT_ONCE)) + 1)


def _coverage_unions(shapes: np.ndarray, surface: np.ndarray, members: list[np.ndarray]) -> np.ndarray:
    """The union of each set of shapes along their shared edges, (m,); None where they overlap or edges do not match.

    surface : (n,) of the shapes; members : of each set its positions, one at least
    """
    which, sizes = np.concatenate(members), np.array([len(areas) for areas in members], np.int64)
    of_set = np.repeat(np.arange(len(members), dtype=np.int64), sizes)
    together = shapely.geometrycollections(shapes[which], indices=of_set)
    try:
        with np.errstate(invalid="ignore"):  # whatever comes of it is looked at below
            united = shapely.coverage_union_all(together[:, None], axis=1)
    except shapely.errors.GEOSException:
        if len(members) == 1:
            return np.full(1, None, dtype=object)
        return np.concatenate([_coverage_unions(shapes, surface, [areas]) for areas in members])
    thin = ~_are_surfaces(united)
    united[thin] = [surface_of(shape) for shape in united[thin]]
    expected = np.bincount(of_set, surface[which], len(members))
    whole = shapely.is_valid(united) & (np.abs(shapely.area(united) - expected) <= 1e-9 * expected)
    united[~whole | (sizes > 1) & _have_seams(united)] = None
    return united


def _have_seams(shapes: np.ndarray) -> np.ndarray:
    """Whether corners of each shape, (m,), differ by rounding alone, as along an edge that did not match another."""
    coordinates, owner = shapely.get_coordinates(shapes, return_index=True)
    if not len(owner):
        return np.zeros(len(shapes), bool)
    spacing = ROUNDING * max(float(np.abs(coordinates).max()), 1e-300)
    rounded = np.rint(coordinates / spacing).astype(np.int64).view(np.uint64)
    # One number for each corner of each shape: what has the same by accident is united once more, and no worse for it.
    key = (rounded[:, 0] * MIXED + rounded[:, 1]) * MIXED + owner.astype(np.uint64)
    order = np.argsort(key)
    close = key[order[1:]] == key[order[:-1]]
    close &= (coordinates[order[1:]] != coordinates[order[:-1]]).any(axis=1)
    seams = np.zeros(len(shapes), bool)
    seams[owner[order[1:][close]]] = True
    return seams


def _are_surfaces(shapes: np.ndarray) -> np.ndarray:
    """Whether each shape, (n,), is a polygon or a multipolygon that is not empty."""
    return np.isin(shapely.get_type_id(shapes), SURFACES) & ~shapely.is_empty(shapes)


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
    n_parts = shapely.get_num_geometries(shapes).astype(np.int64)
    several = np.flatnonzero(n_parts > 1)  # only their parts have to be looked at: which touch
    parts, owner = shapely.get_parts(shapes[several], return_index=True)
    if len(parts):
        first, second = shapely.STRtree(parts).query(parts, predicate="intersects")
        same = owner[first] == owner[second]
        piece = connected_parts(first[same], second[same], len(parts))
        heads = np.unique(piece, return_index=True)[1]
        n_parts[several] = np.bincount(owner[heads], minlength=len(several))
    return n_parts


def multi_polygons(shapes: np.ndarray) -> np.ndarray:
    """The same surfaces as multipolygons, (n,) array, None where there is none: what an output holds is of one kind."""
    several = np.array(shapes, dtype=object)
    single = np.flatnonzero(~shapely.is_missing(several) & (shapely.get_type_id(several) != MULTI_POLYGON))
    empty = shapely.is_empty(several[single])
    several[single[empty]] = shapely.MultiPolygon()
    single = single[~empty]
    if len(single):
        several[single] = shapely.multipolygons(several[single], indices=np.arange(len(single), dtype=np.int64))
    return several


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
