"""What masking leaves of the pattern: displacement, and neighbours and clustering before and after."""

from __future__ import annotations

import numpy as np
import shapely

from ..dataclass import dataclass
from ..scientific import spatial
from .placing import own_areas

# Pairs are counted among at most this many points, drawn at random: more would not make the curves smoother.
MOST_PAIRED = 20_000
N_DISTANCES = 20


@dataclass(frozen=True, eq=False)
class Utility:
    """The pattern of n points before and after.

    mean_displacement, median_displacement : metres
    neighbour_before, neighbour_after : mean distance to the nearest other point, metres
    index_before, index_after : the same, divided by that of random points of this density (Clark and Evans 1954):
        below 1 clustered, 1 random, above 1 spread out
    distances : (t,) metres; k_before, k_after : (t,) Ripley's K, square metres
    percent_in_own_area : masked points that lie in the same area as the true point
    """

    mean_displacement: float
    median_displacement: float
    neighbour_before: float
    neighbour_after: float
    index_before: float
    index_after: float
    distances: np.ndarray
    k_before: np.ndarray
    k_after: np.ndarray
    percent_in_own_area: float


def utility(
    points: np.ndarray, masked: np.ndarray, area_of: np.ndarray, shapes: np.ndarray, rng: np.random.Generator
) -> Utility | None:
    """Compare the points with their masked places; None for fewer than three points, which have no pattern.

    points, masked : (n, 2) planar metres, only points that were masked; area_of : (n,) positions in `shapes`.
    Densities refer to the surface of the areas that hold the points, both before and after.
    """
    if len(points) < 3:
        return None
    square_metres = float(shapely.area(shapes[np.unique(area_of)]).sum())
    moved = np.hypot(*(masked - points).T)
    near = [nearest_neighbour(pattern) for pattern in (points, masked)]
    random = 0.5 / np.sqrt(len(points) / square_metres)
    some: np.ndarray = np.arange(len(points), dtype=np.int64)
    if len(some) > MOST_PAIRED:
        some = rng.choice(len(points), MOST_PAIRED, replace=False)
    distances = ripley_distances(points[some], square_metres)
    curves = [ripley_k(pattern[some], distances, square_metres) for pattern in (points, masked)]
    return Utility(
        float(moved.mean()),
        float(np.median(moved)),
        near[0],
        near[1],
        near[0] / random,
        near[1] / random,
        distances,
        curves[0],
        curves[1],
        100.0 * float(np.mean(own_areas(masked, shapes) == area_of)),
    )


def nearest_neighbour(points: np.ndarray) -> float:
    """Mean distance from each point (n, 2) to the nearest other point, in the points' unit."""
    return float(spatial.cKDTree(points).query(points, k=2)[0][:, 1].mean())


def ripley_distances(points: np.ndarray, square_metres: float) -> np.ndarray:
    """The distances of the curve, (t,): up to a quarter of the shorter side, or to about a thousand neighbours.

    They are denser where they are short, since that is where masking blurs.
    """
    width, height = np.ptp(points, axis=0)
    thousand = np.sqrt(1000.0 * square_metres / (np.pi * len(points)))
    longest = min(0.25 * min(width, height), thousand)
    if longest <= 0:
        longest = thousand  # points in one row
    return longest * np.linspace(0.0, 1.0, N_DISTANCES + 1)[1:] ** 2


def ripley_k(points: np.ndarray, distances: np.ndarray, square_metres: float) -> np.ndarray:
    """Ripley's K (1976) at each distance, (t,) square metres, without correction for the edge.

    K(t) = surface / (n (n - 1)) · ordered pairs not farther apart than t; π t² where points are random. Both patterns
    that are compared lie in the same areas, so the edge affects both equally.
    points : (n, 2); distances : (t,) metres.
    """
    tree = spatial.cKDTree(points)
    pairs = tree.count_neighbors(tree, distances) - len(points)
    return square_metres * pairs / (len(points) * (len(points) - 1.0))
