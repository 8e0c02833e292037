"""Which plane distances are measured in, where coordinates are not metres on the ground: whoever projects them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import shapely

from .dataclass import dataclass
from .errors import InputError
from .language import tr

# Statistics Canada's own projection: conformal, so that which site is nearest holds over the width of the country.
CANADA = "EPSG:3347"
# From here on more than one area in a hundred has another nearest site than on the globe (benchmarks/plane_width.py).
WIDE_KM = 6_000.0
EARTH_KM = 6_371.0
# The ellipsoid of WGS 84: its larger half axis in metres, and the square of its eccentricity.
HALF_AXIS, ECCENTRICITY_SQUARED = 6_378_137.0, 0.00669437999014
# Projections that count in metres which are not metres on the ground, by PROJ's name.
WARPED = {"merc": "Mercator's", "eqc": tr("a plate carrée")}


@dataclass(frozen=True, eq=False)
class Extent:
    """Where shapes lie on the globe.

    vectors : (n, 3), for each the direction from the middle of the globe to its middle: the mean over its vertices;
    centre : (3,), that of all. Directions, and not longitudes, so that a shape in two pieces beside the antimeridian
    has its middle there.
    """

    vectors: np.ndarray
    centre: np.ndarray

    @cached_property
    def projection(self) -> str:
        """What distances are measured in: `CANADA` where all shapes lie there, else `equal_area`."""
        return CANADA if in_canada(_degrees_of(self.vectors)) else self.equal_area

    @property
    def equal_area(self) -> str:
        """Lambert's azimuthal equal-area projection around the centre, as PROJ is told it."""
        ((longitude, latitude),) = _degrees_of(self.centre[None, :])
        return f"+proj=laea +lat_0={latitude:.4f} +lon_0={longitude:.4f} +x_0=0 +y_0=0 +datum=WGS84 +units=m +no_defs"

    @property
    def square_kilometre(self) -> tuple[float, float, float, float]:
        """West, south, east and north, in degrees, of a kilometre by a kilometre on the ground around the centre."""
        ((longitude, latitude),) = _degrees_of(self.centre[None, :])
        bent = 1 - ECCENTRICITY_SQUARED * np.sin(np.radians(latitude)) ** 2
        across = HALF_AXIS / np.sqrt(bent) * np.cos(np.radians(latitude))  # radius of the circle of latitude
        along = HALF_AXIS * (1 - ECCENTRICITY_SQUARED) / bent**1.5  # radius of curvature of the meridian
        right, up = np.degrees(500 / across), np.degrees(500 / along)
        return float(longitude - right), float(latitude - up), float(longitude + right), float(latitude + up)

    def too_wide(self, layer: str = "REGIONS") -> str:
        """A warning of an extent that no plane can hold, empty where one can."""
        width = 2 * EARTH_KM * float(np.arccos(np.clip(self.vectors @ self.centre, -1, 1)).max())
        if width <= WIDE_KM:
            return ""
        return tr(
            "{layer} is about {width:,.0f} km wide: over more than {most:,.0f} km no plane keeps distances well "
            "enough, and more than one area in a hundred may join a region that is not its nearest. Anonymise its "
            "parts one by one.",
            layer=layer,
            width=width,
            most=WIDE_KM,
        )


def nowhere_on_the_globe(layer: str, crs: str) -> InputError:
    """What is said of a layer of an engineer's own system, in feet, say: neither does it know metres, nor is it known
    where it lies; crs : its name, may be empty."""
    return InputError.saying(
        "{layer} is in {crs}, which is not in metres and not tied to the globe, so that distances cannot be measured: "
        "assign the layer the coordinate reference system that it was made in.",
        layer=layer,
        crs=crs or tr("a CRS of its own"),
    )


def extent_of(degrees: np.ndarray, owner: np.ndarray, n: int) -> Extent:
    """Where n >= 1 shapes lie; degrees : (m, 2) longitudes and latitudes; owner : (m,) whose vertex each is."""
    longitude, latitude = np.radians(degrees).T
    each = (np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude))
    sums = np.column_stack([np.bincount(owner, part, n) for part in each])
    vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    return Extent(vectors, mean / length if length > 1e-9 else vectors[0])  # of directions that cancel out the first


def _degrees_of(vectors: np.ndarray) -> np.ndarray:
    """Longitudes and latitudes of directions, (n, 3) to (n, 2)."""
    x, y, z = vectors.T
    return np.degrees(np.column_stack([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))]))


def in_canada(degrees: np.ndarray) -> bool:
    """Whether all points, (n, 2) longitudes and latitudes, lie in Canada or hardly beyond its border."""
    country = shapely.buffer(shapely.Polygon(_OUTLINE), _TOLERANCE)
    shapely.prepare(country)
    return bool(shapely.contains_xy(country, degrees).all())


# Longitudes and latitudes along the border, from Alaska down the Pacific, along the United States, up the Atlantic.
_OUTLINE = (
    (-141.1, 84.0), (-141.1, 60.2), (-139.1, 60.0), (-137.5, 58.9), (-135.5, 59.7), (-133.5, 58.4), (-131.9, 56.7),
    (-130.1, 56.0), (-130.2, 54.9), (-133.8, 54.6), (-133.8, 51.5), (-129.2, 50.3), (-125.5, 48.3), (-124.7, 48.4),
    (-123.5, 48.25), (-123.15, 48.4), (-123.0, 48.8), (-123.3, 49.0), (-95.15, 49.0), (-94.6, 48.7), (-93.4, 48.55),
    (-92.3, 48.25), (-90.8, 48.15), (-89.5, 48.0), (-88.4, 48.2), (-86.5, 47.5), (-84.9, 46.8), (-84.4, 46.5),
    (-84.1, 46.2), (-83.6, 46.0), (-83.5, 45.8), (-82.5, 45.3), (-82.15, 43.6), (-82.43, 43.0), (-82.5, 42.6),
    (-82.85, 42.4), (-83.1, 42.31), (-83.12, 42.2), (-83.1, 41.9), (-82.7, 41.65), (-81.2, 42.2), (-79.0, 42.8),
    (-78.92, 42.95), (-79.05, 43.1), (-79.06, 43.3), (-79.2, 43.45), (-78.7, 43.63), (-76.8, 43.63), (-76.3, 44.15),
    (-75.3, 44.8), (-74.7, 45.0), (-71.5, 45.0), (-71.0, 45.3), (-70.4, 45.8), (-70.0, 46.7), (-69.2, 47.45),
    (-68.9, 47.2), (-68.3, 47.35), (-67.8, 47.07), (-67.8, 45.7), (-67.45, 45.3), (-67.0, 44.85), (-67.0, 44.2),
    (-66.5, 43.0), (-60.0, 43.3), (-52.0, 46.0), (-52.0, 52.0), (-60.0, 61.0), (-61.0, 67.0), (-65.0, 74.0),
    (-75.0, 77.0), (-73.5, 78.5), (-67.0, 80.7), (-60.5, 82.2), (-58.0, 84.0),
)  # fmt: skip
# Degrees: towns on a river that is the border are not to be lost for a coarse outline.
_TOLERANCE = 0.05
