"""Nearest sites, mean centres and Voronoi cells."""

from __future__ import annotations

import numpy as np
import shapely

from .elementary import axes
from .scientific import spatial

LARGEST_OVERLAP = 1e-6  # of the faces of a diagram, as a share of its surface
FAR, FAR_POINTS = 100.0, 8
DECIMALS = 12  # decimals to which cosines are the same on every system


def nearest_site(points: np.ndarray, sites: np.ndarray) -> np.ndarray:
    """Position of the site nearest to each point, (n,) int64: membership in the Voronoi diagram of the sites.

    points : (n, 2); sites : (S, 2), same planar units. A point equally near to several sites goes to one of them,
    always the same one for the same input.
    """
    return spatial.cKDTree(sites).query(points)[1].astype(np.int64)


def mean_centres(points: np.ndarray, group_of: np.ndarray, n_groups: int) -> np.ndarray:
    """The unweighted mean of each group's points, (n_groups, 2); (0, 0) for a group without points.

    points : (n, 2); group_of : (n,), 0..n_groups - 1.
    """
    sizes = np.maximum(np.bincount(group_of, minlength=n_groups), 1)
    return np.column_stack([np.bincount(group_of, points[:, axis], n_groups) / sizes for axis in (0, 1)])


def halves(
    points: np.ndarray, group_of: np.ndarray, centres: np.ndarray, rounds: int, turn: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each group in two around two middles, as in Lloyd's k-means, begun along the axis in which points spread most.

    points : (n, 2); group_of : (n,), 0..m - 1; centres : (m, 2) of the groups; rounds : of moving the two middles;
    turn : (m,) by how much of its length each axis is turned.
    Returns the half of each point, (n,): twice its group, and one more for the far half; the middles, (2m, 2).
    """
    n_groups, offsets = len(centres), points - centres[group_of]
    x, y = offsets.T
    axis = axes(*(np.bincount(group_of, values, n_groups) for values in (x * x, x * y, y * y)))
    line = axis + turn[:, None] * np.column_stack([-axis[:, 1], axis[:, 0]])
    side = (offsets * line[group_of]).sum(axis=1) > 0
    for _ in range(rounds):
        middles = mean_centres(points, 2 * group_of + side, 2 * n_groups)
        near, far = (points - middles[2 * group_of + half] for half in (1, 0))
        side = (near * near).sum(axis=1) < (far * far).sum(axis=1)
    half_of = 2 * group_of + side
    return half_of, mean_centres(points, half_of, 2 * n_groups)


def weighted_centres(points: np.ndarray, weights: np.ndarray, group_of: np.ndarray, n_groups: int) -> np.ndarray:
    """The weighted mean of each group's points, (n_groups, 2).

    points : (n, 2); weights : (n,); group_of : (n,), 0..n_groups - 1. A group without weight gets (0, 0).
    """
    total = np.bincount(group_of, weights, n_groups)
    total[total == 0] = 1.0
    return np.column_stack([np.bincount(group_of, weights * points[:, axis], n_groups) / total for axis in (0, 1)])


def voronoi_cells(points: np.ndarray, clip: shapely.Geometry) -> np.ndarray:
    """The Voronoi cell of each distinct point, clipped to the polygon `clip`, (n,) array of polygons.

    points : (n, 2). Of points that coincide, the first gets the cell, the others get an empty polygon.
    """
    cells = np.full(len(points), shapely.Polygon(), dtype=object)
    unique, first = np.unique(points, axis=0, return_index=True)
    if len(unique) == 1:
        cells[first[0]] = clip
        return cells
    # Cells are drawn around the origin and scaled: GEOS loses neighbours among close points at seven-digit coordinates.
    shift, reach = unique.mean(axis=0), max(float(np.ptp(unique, axis=0).max()), 1e-9)
    local = (unique - shift) / reach
    frame = shapely.transform(shapely.envelope(clip), lambda c: (c - shift) / reach)
    faces = _faces_of_geos(local, shapely.buffer(frame, 0.5))
    point, face = shapely.STRtree(faces).query(shapely.points(local), predicate="intersects")
    point, first_face = np.unique(point, return_index=True)  # a point on a border lies in several faces
    shapes = shapely.transform(faces[face[first_face]], lambda c: c * reach + shift)
    shapely.prepare(clip)
    outside = ~shapely.contains_properly(clip, shapes)
    shapes[outside] = shapely.intersection(shapely.make_valid(shapes[outside]), clip)
    cells[first[point]] = shapes
    return cells


def _faces_of_geos(points: np.ndarray, frame: shapely.Geometry) -> np.ndarray:
    """The faces of the Voronoi diagram of distinct points, which cover the frame at least, (n,) polygons.

    Those of Qhull where GEOS draws some over each other.

    points : (n, 2), around the origin, within a few units
    """
    diagram = shapely.voronoi_polygons(shapely.multipoints(points), extend_to=frame)
    faces = shapely.get_parts(diagram)
    # GEOS 3.14 draws faces that lie over each other where more than three points are as good as on one circle.
    whole = shapely.area(shapely.envelope(diagram))
    overlap = abs(float(shapely.area(faces).sum()) - whole)
    good = len(faces) == len(points) and overlap <= LARGEST_OVERLAP * whole and shapely.is_valid(faces).all()
    return faces if good else _faces_of_qhull(points)


def _faces_of_qhull(points: np.ndarray) -> np.ndarray:
    """The same, by scipy's Qhull: slower, and of any points."""
    # Around the points lie others, so far away that all faces of the points themselves are closed.
    angle = np.linspace(0, 2 * np.pi, FAR_POINTS, endpoint=False)
    far = FAR * np.round(np.column_stack([np.cos(angle), np.sin(angle)]), DECIMALS)
    diagram = spatial.Voronoi(np.vstack([points, far]))
    # Of points that are one to rounding, only one has a face.
    of_points = diagram.point_region[: len(points)].tolist()
    corners = [diagram.vertices[diagram.regions[region]] if region >= 0 else np.empty((0, 2)) for region in of_points]
    return shapely.convex_hull(np.array([shapely.multipoints(corner) for corner in corners]))
