"""Shapes as they come from a layer: whole, with coordinates that can be what they are said to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import shapely

from .drawing import surface_of
from .errors import Counted, InputError, first_values
from .language import plural, tr

# Layers around the Pacific count longitudes on to 360.
MOST_LONGITUDE, MOST_LATITUDE = 360.0, 90.0
ROUNDING = 1e-6
# No map reaches that far, in whatever unit. Squares of larger numbers overflow, and repairing such shapes never ends.
LARGEST = 1e12
SURFACES = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)


def shapes_of(wkbs: Sequence[bytes | None], texts: np.ndarray, layer: str) -> np.ndarray:
    """The shapes, flat, (n,), None where there is none.

    wkbs : as the layer has them; texts : (n,) what names each for messages; layer : the parameter. Raises InputError
    for shapes that are none, such as a ring that does not end where it begins, and for coordinates that are none.
    """
    with np.errstate(invalid="ignore"):  # coordinates that are no numbers are looked for next
        shapes = shapely.from_wkb(np.array(wkbs, dtype=object), on_invalid="ignore")
    broken = shapely.is_missing(shapes) & np.array([wkb is not None for wkb in wkbs], bool)
    if broken.any():
        raise InputError.counting(
            "{n} shape of {layer} cannot be read ({first}): a ring that does not end where it begins, or too few "
            "points. Run “Fix geometries” on the layer, or remove it.",
            "{n} shapes of {layer} cannot be read ({first}): a ring that does not end where it begins, or too few "
            "points. Run “Fix geometries” on the layer, or remove them.",
            int(broken.sum()),
            layer=layer,
            first=first_values(texts[broken]),
        )
    # Z and M are not used, whatever they hold.
    shapes = shapely.force_2d(shapes)
    coordinates, owner = shapely.get_coordinates(shapes, return_index=True)
    check_finite(coordinates, texts[owner], layer)
    return shapes


def refuse_empty(shapes: np.ndarray, texts: np.ndarray, layer: str, things: Counted) -> None:
    """Refuse shapes that are none; arguments as for `shapes_of`; things : says how many of them. Raises InputError."""
    # A point may be missing a coordinate as well as a whole geometry.
    absent = shapely.is_missing(shapes) | shapely.is_empty(shapes)
    if absent.any():
        raise InputError.saying(
            "{layer} has {things} with an empty geometry ({first}): repair or remove them.",
            layer=layer,
            things=things(int(absent.sum())),
            first=first_values(texts[absent]),
        )


def check_finite(coordinates: np.ndarray, texts: np.ndarray, layer: str) -> None:
    """Refuse coordinates, (m, 2), that are missing, infinite or larger than any map; texts : (m,) whose each is.

    Raises InputError.
    """
    # A comparison with NaN is false.
    wrong = ~(np.abs(coordinates) <= LARGEST).all(axis=1)
    if wrong.any():
        names = list(dict.fromkeys(texts[wrong].tolist()))
        raise InputError.counting(
            "{n} shape of {layer} has coordinates that are missing, infinite or beyond {largest:g} ({first}): repair "
            "or remove it.",
            "{n} shapes of {layer} have coordinates that are missing, infinite or beyond {largest:g} ({first}): repair "
            "or remove them.",
            len(names),
            layer=layer,
            largest=LARGEST,
            first=first_values(names),
        )


def check_degrees(coordinates: np.ndarray, crs: str, layer: str) -> None:
    """Refuse metres that are declared as degrees: everything measured from them would be wrong without a word.

    coordinates : (n, 2) that are said to be degrees, NaN where there are none; crs : its name, may be empty; layer :
    the parameter, for the message. Raises InputError.
    """
    there = coordinates[np.isfinite(coordinates).all(axis=1)]
    if not len(there):
        return
    (west, south), (east, north) = there.min(axis=0), there.max(axis=0)
    if (
        max(-west, east) > MOST_LONGITUDE + ROUNDING
        or max(-south, north) > MOST_LATITUDE + ROUNDING
        or east - west > MOST_LONGITUDE + ROUNDING
    ):
        raise InputError.saying(
            "{layer} is declared to be in {crs}, in degrees, but reaches from {west:.10g} to {east:.10g} and from "
            "{south:.10g} to {north:.10g}, which degrees never do: assign the layer the coordinate reference system "
            "that it was made in.",
            layer=layer,
            crs=crs or tr("a geographic CRS"),
            west=west,
            east=east,
            south=south,
            north=north,
        )


def repaired(shapes: np.ndarray, texts: np.ndarray, info: Callable[[str], None], layer: str) -> np.ndarray:
    """Invalid polygons made valid, and of collections their polygons; what is left of one must still be a surface.

    texts : (n,) what names each; info : hears that some were repaired; layer : the parameter. Raises InputError.
    """
    invalid = ~shapely.is_valid(shapes)
    changed = invalid | ~np.isin(shapely.get_type_id(shapes), SURFACES)
    if not changed.any():
        return shapes
    shapes = shapes.copy()
    shapes[changed] = [surface_of(shape) for shape in shapely.make_valid(shapes[changed])]
    flat = shapely.area(shapes) == 0
    if flat.any():
        raise InputError.counting(
            "{n} area of {layer} has no surface ({first}): repair or remove it.",
            "{n} areas of {layer} have no surface ({first}): repair or remove them.",
            int(flat.sum()),
            layer=layer,
            first=first_values(texts[flat]),
        )
    if not invalid.any():
        return shapes
    info(
        plural(
            "{n} area has an invalid polygon ({first}) and was repaired for measuring and "
            "drawing; {layer} itself is unchanged.",
            "{n} areas have an invalid polygon ({first}) and were repaired for measuring and "
            "drawing; {layer} itself is unchanged.",
            int(invalid.sum()),
            first=first_values(texts[invalid]),
            layer=layer,
        )
    )
    return shapes
