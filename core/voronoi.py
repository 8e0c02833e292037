"""Nearest sites, mean centres and Voronoi cells."""

from __future__ import annotations

import numpy as np
import shapely
from scipy.spatial import cKDTree


def nearest_site(points: np.ndarray, sites: np.ndarray) -> np.ndarray:
    """Position of the site nearest to each point, (n,) int64: membership in the Voronoi diagram of the sites.

    points : (n, 2); sites : (S, 2), same planar units. A point equally near to several sites goes to one of them,
    always the same one for the same input.
    """
    return cKDTree(sites).query(points)[1].astype(np.int64)


def mean_centres(points: np.ndarray, group_of: np.ndarray, n_groups: int) -> np.ndarray:
    """The unweighted mean of each group's points, (n_groups, 2); (0, 0) for a group without points.

    points : (n, 2); group_of : (n,), 0..n_groups - 1.
    """
    sizes = np.maximum(np.bincount(group_of, minlength=n_groups), 1)
    return np.column_stack([np.bincount(group_of, points[:, axis], n_groups) / sizes for axis in (0, 1)])


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
    diagram = shapely.voronoi_polygons(shapely.multipoints(local), extend_to=shapely.buffer(frame, 0.5))
    faces = shapely.get_parts(diagram)
    point, face = shapely.STRtree(faces).query(shapely.points(local), predicate="intersects")
    point, one = np.unique(point, return_index=True)  # a point on a border lies in several faces
    shapes = shapely.transform(faces[face[one]], lambda c: c * reach + shift)
    shapely.prepare(clip)
    outside = ~shapely.contains_properly(clip, shapes)
    shapes[outside] = shapely.intersection(shapely.make_valid(shapes[outside]), clip)
    cells[first[point]] = shapes
    return cells
