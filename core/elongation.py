"""Elongation: how far areas and regions are from round, and which areas are so long that they distort distances."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import shapely

from .crosswalk import Crosswalk
from .dataclass import dataclass
from .errors import first_values
from .language import plural, tr

# A strip as long has five times its width: longer than any shape that anybody would call round.
ELONGATED = 2.0
# Per cent of the people: as many as may be suppressed by default. Fewer of them move no measure.
MENTIONED = 1.0
PAIRS_AT_ONCE = 1 << 18  # of corners
# What the region audit says of the areas of each region.
OF_AREAS = ("least_area_hull", "most_elongation", "distorting")


@dataclass(frozen=True, eq=False)
class Outlines:
    """The outlines of m shapes, of all pieces of a shape together.

    surface : (m,) in square units; hull : (m,) surface of the convex hull; longest : (m,) the longest distance between
    two points of the shape
    """

    surface: np.ndarray
    hull: np.ndarray
    longest: np.ndarray

    @cached_property
    def area_hull(self) -> np.ndarray:
        """Surface over that of the convex hull, (m,), 1 for a convex shape; NaN for one without a surface."""
        return _ratio(self.surface, self.hull)

    @cached_property
    def elongation(self) -> np.ndarray:
        """The longest distance over the diameter of a circle of the same surface, (m,): 1 for a circle, 1.25 for a
        square, 2 for a strip five times as long as wide; NaN for a shape without a surface."""
        return _ratio(self.longest, diameters(self.surface))


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """NaN where there is nothing below."""
    return np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)


def diameters(surface: np.ndarray) -> np.ndarray:
    """The diameters of circles of these surfaces."""
    return 2.0 * np.sqrt(surface / np.pi)


def outlines_of(shapes: np.ndarray) -> Outlines:
    """What is measured of the outlines of polygons, (m,) array, in a plane; one may have shrunk to a point there."""
    hulls = shapely.convex_hull(shapes)
    return Outlines(shapely.area(shapes), shapely.area(hulls), _longest(hulls))


def _longest(hulls: np.ndarray) -> np.ndarray:
    """The longest distance between two points of each hull, (m,): they are corners of it. Hulls of as many corners are
    looked at together."""
    corners, n_corners = shapely.get_coordinates(hulls), shapely.get_num_coordinates(hulls)
    starts, longest = np.cumsum(n_corners, dtype=np.int64) - n_corners, np.zeros(len(hulls))
    for n in np.unique(n_corners[n_corners > 1]).tolist():
        of_n = np.flatnonzero(n_corners == n)
        for some in np.array_split(of_n, len(of_n) * n * n // PAIRS_AT_ONCE + 1):
            points = corners[starts[some][:, None] + np.arange(n, dtype=np.int64)]
            offsets = points[:, :, None] - points[:, None]
            longest[some] = np.sqrt((offsets * offsets).sum(axis=-1).max(axis=(1, 2)))
    return longest


def distorting(areas: Outlines, crosswalk: Crosswalk) -> np.ndarray:
    """Which areas are elongated, and longer than a circle as large as their whole region, (n,) bool.

    Wherever such an area goes, its region cannot be round (Croft 2018, section 2, asks for areas of globular shape),
    and its people may be farther from the site than its point, from which distances are measured. In a larger region
    an elongated area does little. areas : n outlines; areas that are left out distort nothing.
    """
    of_region = np.append(diameters(crosswalk.totals(areas.surface)), np.inf)[crosswalk.region_of]
    return (areas.elongation > ELONGATED) & (areas.longest > of_region)


def distortion_sentence(
    areas: Outlines, crosswalk: Crosswalk, population: np.ndarray | None, identifiers: np.ndarray
) -> str:
    """The warning of areas that distort; empty where fewer than MENTIONED per cent of the people live there.

    population : (n,), None where it is not known, and areas are counted
    """
    those = distorting(areas, crosswalk)
    weights = np.ones(len(those)) if population is None or not population.sum() else population
    percent = 100.0 * weights[those].sum() / weights.sum() if those.any() else 0.0
    if percent < MENTIONED:
        return ""
    sentences = [
        plural(
            "{n} area of {n_areas} is more than {elongated:g} times as long as a circle of its surface is wide, and "
            "longer than a circle as large as its whole region ({first}).",
            "{n} areas of {n_areas} are more than {elongated:g} times as long as a circle of their surface is wide, "
            "and longer than a circle as large as their whole region ({first}).",
            int(those.sum()),
            n_areas=len(those),
            first=first_values(identifiers[those]),
            elongated=ELONGATED,
        ),
        tr(
            "Such areas distort: their people may live far from the point that stands for the area in all distances, "
            "and their regions cannot be compact. Rounder areas, or fewer regions, serve better."
        ),
    ]
    if population is not None:
        sentences.insert(1, tr("{percent:.2g} % of the people live there.", percent=percent))
    return " ".join(sentences)


def of_areas(areas: Outlines, crosswalk: Crosswalk) -> dict[str, np.ndarray]:
    """What the areas of each region are like, (n_regions,) each, by the fields of the region audit: the least
    `area_hull`, the largest `elongation`, NaN where none is known, and how many of them distort."""
    inside = crosswalk.region_of >= 0
    of = crosswalk.region_of[inside]
    least, most = np.full((2, crosswalk.n_regions), np.nan)
    np.fmin.at(least, of, areas.area_hull[inside])
    np.fmax.at(most, of, areas.elongation[inside])
    n_distorting = crosswalk.totals(distorting(areas, crosswalk).astype(float)).astype(np.int64)
    return dict(zip(OF_AREAS, (least, most, n_distorting)))
