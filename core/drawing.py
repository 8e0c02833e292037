"""The shapes of aggregated regions."""

from __future__ import annotations

import numpy as np
import shapely

from .adjacency import connected_parts
from .crosswalk import Crosswalk
from .progress import Progress, silent
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
        regions[region] = shapely.union_all(shapes[members], grid_size=grid) if united is None else united
        progress((region + 1) / crosswalk.n_regions)
    return regions


def _coverage_union(shapes: np.ndarray, surface: float) -> shapely.Geometry | None:
    """The union along shared edges; None where the shapes overlap or their edges do not match."""
    try:
        united = shapely.coverage_union_all(shapes)
    except shapely.errors.GEOSException:
        return None
    return united if shapely.is_valid(united) and abs(united.area - surface) <= 1e-9 * surface else None


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
