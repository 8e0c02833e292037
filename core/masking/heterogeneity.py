"""How unevenly people are spread within an area: the variance of density in its sub-areas (Allshouse 2010, sec. 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from scipy.stats import spearmanr

from .placing import NO_AREA, own_areas


@dataclass(frozen=True, eq=False)
class Heterogeneity:
    """How unevenly people are spread in each of m areas.

    n_parts : (m,) int64, sub-areas; variance : (m,) of their densities, (people per km²)²; variation : (m,) standard
    deviation over mean, without unit; both NaN where there are fewer than two sub-areas, variation also where nobody
    lives
    """

    n_parts: np.ndarray
    variance: np.ndarray
    variation: np.ndarray


def heterogeneity(shapes: np.ndarray, finer_shapes: np.ndarray, finer_people: np.ndarray) -> Heterogeneity:
    """Variance of population density over the sub-areas of each area.

    shapes : (m,), finer_shapes : (f,) polygons in planar metres; finer_people : (f,) people, NaN counts as none. A
    sub-area belongs to the area that holds its point on surface.
    """
    inner_points = shapely.get_coordinates(shapely.point_on_surface(finer_shapes))
    area_of = own_areas(inner_points, shapes)
    inside = area_of != NO_AREA
    density = np.nan_to_num(finer_people[inside]) / (shapely.area(finer_shapes[inside]) / 1e6)
    owner, n = area_of[inside], len(shapes)
    parts = np.bincount(owner, minlength=n)
    enough = parts > 1
    divisor = np.where(enough, parts, 1)
    mean = np.bincount(owner, weights=density, minlength=n) / divisor
    variance = np.bincount(owner, weights=(density - mean[owner]) ** 2, minlength=n) / divisor
    variance = np.where(enough, variance, np.nan)
    variation = np.where(mean > 0, np.sqrt(variance) / np.where(mean > 0, mean, 1.0), np.nan)
    return Heterogeneity(parts, variance, variation)


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's rank correlation of two arrays (n,), NaN where one of them does not vary."""
    if len(first) < 2 or min(np.ptp(first), np.ptp(second)) == 0:
        return float("nan")
    return float(spearmanr(first, second)[0])
