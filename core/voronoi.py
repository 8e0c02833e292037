"""Nearest sites and Voronoi cells."""

from __future__ import annotations

import numpy as np
import shapely
from scipy.spatial import cKDTree


def nearest_site(points: np.ndarray, sites: np.ndarray) -> np.ndarray:
    """Position of the site nearest to each point, (n,) int64: membership in the Voronoi diagram of the sites.

    points : (n, 2); sites : (S, 2), same planar units. Points as near to several sites go to one of them, always the
    same one for the same input.
    """
    return cKDTree(sites).query(points)[1].astype(np.int64)


def voronoi_cells(points: np.ndarray, clip: shapely.Geometry) -> np.ndarray:
    """The Voronoi cell of each distinct point, clipped to the polygon `clip`, (n,) array of polygons.

    points : (n, 2). Of points that coincide the first has the cell, the others have an empty polygon.
    """
    cells = np.full(len(points), shapely.Polygon(), dtype=object)
    unique, first = np.unique(points, axis=0, return_index=True)
    if len(unique) == 1:
        cells[first[0]] = clip
        return cells
    # Cells are drawn around the origin and scaled: GEOS loses neighbours of near points at seven-digit coordinates.
    shift, reach = unique.mean(axis=0), max(float(np.ptp(unique, axis=0).max()), 1e-9)
    local = (unique - shift) / reach
    frame = shapely.transform(shapely.envelope(clip), lambda c: (c - shift) / reach)
    diagram = shapely.voronoi_polygons(shapely.multipoints(local), extend_to=shapely.buffer(frame, 0.5))
    faces = shapely.get_parts(diagram)
    tree = shapely.STRtree(faces)
    face_of_point, point_index = _one_face_each(tree, faces, local)
    shapes = shapely.transform(faces[face_of_point], lambda c: c * reach + shift)
    shapely.prepare(clip)
    outside = ~shapely.contains_properly(clip, shapes)
    shapes[outside] = shapely.intersection(shapely.make_valid(shapes[outside]), clip)
    cells[first[point_index]] = shapes
    return cells


def _one_face_each(tree: shapely.STRtree, faces: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each point the face that contains it; (faces, points) index arrays."""
    point_index, face_index = tree.query(shapely.points(points), predicate="intersects")
    _, first = np.unique(point_index, return_index=True)
    return face_index[first], point_index[first]
