"""Maps of regions, with a key, a scale and north."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import shapely

from ...arrays import to_list
from ...language import plural, tr
from ..numbers import formatted
from .classes import CLASSES, classes_of
from .outlines import paths
from .svg import INK, QUIET, SERIES, caption, element, hint, legend, picture, words

# Light to dark, told apart with every kind of colour vision and in grey: ColorBrewer's sequential schemes (C. Brewer).
GREENS = ("#edf8e9", "#bae4b3", "#74c476", "#31a354", "#006d2c")
REDS = ("#fef0d9", "#fdcc8a", "#fc8d59", "#e34a33", "#b30000")
BLUES = ("#eff3ff", "#bdd7e7", "#6baed6", "#3182bd", "#08519c")
MAP_WIDTH, TALLEST = 640.0, 560.0
GRID = 4.0  # steps of a pixel's width that outlines are drawn in
SMALLEST_SEEN = 0.6  # pixels
MOST_POINTS = 8_000  # of all outlines on a map: a page stays below half a megabyte
MOST_SHAPES = 2_500  # more cannot be told apart, or pointed at
FONT = 18.0  # maps are drawn small on a page or a phone
FOOT = 50.0  # room for scale and north
EXAMPLE_WIDTH = 200.0


def region_map(
    shapes: np.ndarray,
    values: np.ndarray,
    labels: Sequence[str] | Callable[[int], str],
    text: str,
    ramp: Sequence[str] = GREENS,
    unit: str = "",
    north: float | None = None,
    like: np.ndarray | None = None,
    most: int = MOST_POINTS,
    most_shapes: int = MOST_SHAPES,
) -> str:
    """A map of polygons coloured by class of value; pointing at one shows its label.

    shapes : (m,) polygons in planar coordinates, metres; values : (m,) numbers; labels : m texts, or what gives that
    of each; text : what colours say, below the map; unit : of the values, above the key; north : degrees clockwise
    from the top, None for no arrow; like : the values of another map, whose classes and colours are taken; most :
    points of all outlines; most_shapes : where there are more, those of a class are drawn as one.
    """
    bounds = shapely.total_bounds(shapes) if len(shapes) else np.full(4, np.nan)
    if not np.isfinite(bounds).all():
        return caption(tr("{text}: no shapes to draw.", text=text))
    west, south, east, north_edge = bounds.tolist()
    scale = min(MAP_WIDTH / max(east - west, 1e-9), TALLEST / max(north_edge - south, 1e-9))
    width, height = max((east - west) * scale, 1.0), max((north_edge - south) * scale, 1.0)
    local = shapely.transform(shapes, lambda c: (c - (west, north_edge)) * (scale * GRID, -scale * GRID))
    place, names = classes_of(np.asarray(values, dtype=float), like)
    tones = _tones(ramp, len(names))
    if len(shapes) > most_shapes:
        used = np.unique(place)
        local = np.array([_united(local[place == region]) for region in to_list(used)], dtype=object)
        place, labels = used, [names[region] for region in to_list(used)]
    label_of = labels if callable(labels) else labels.__getitem__
    outlines = paths(local, SMALLEST_SEEN * GRID, min(most, MOST_POINTS))
    by_tone: dict[int, list[str]] = {}
    for position, (path, tone) in enumerate(zip(outlines, to_list(place))):
        if path:
            by_tone.setdefault(tone, []).append(element("path", hint(label_of(position)), d=path))
    drawn = "".join(element("g", "".join(own), fill=tones[tone]) for tone, own in sorted(by_tone.items()))
    # Outlines must not cover what they surround: thousands of regions on one map are a pixel each.
    line = min(0.5 * GRID, 0.08 * float(np.sqrt(np.median(shapely.area(local)))))
    frame = f'<g transform="translate(1 1) scale({1 / GRID:g})" stroke="{QUIET}" stroke-width="{line:.2f}"'
    content = f'{frame} stroke-linejoin="round" fill-rule="evenodd">{drawn}</g>'
    content += scale_bar(1.0, height + 14.0, scale, width)
    if north is not None:
        content += north_arrow(max(width, 160.0) - 16.0, height + 24.0, north)
    described = plural(
        "A map of {n} shape. {text}",
        "A map of {n} shapes. {text}",
        len(values),
        text=text,
    )
    key = [(tone, "area", name) for tone, name in zip(tones, names)]
    whole = picture(content, max(width, 160.0) + 2, height + FOOT, text, described, "map")
    return whole + legend(key, unit) + caption(text)


def in_hull(shape: shapely.Geometry, text: str) -> str:
    """A group inside its convex hull. shape : planar polygon or multipolygon."""
    west, south, east, north = shape.bounds
    scale = EXAMPLE_WIDTH / max(east - west, north - south) * GRID
    both = shapely.transform(
        np.array([shapely.convex_hull(shape), shape], dtype=object), lambda c: (c - (west, north)) * (scale, -scale)
    )
    width, height = (east - west) * scale / GRID, (north - south) * scale / GRID
    hull, own = (paths(both[i : i + 1], SMALLEST_SEEN * GRID, MOST_POINTS)[0] for i in range(2))
    dashes = f"{4 * GRID:g} {3 * GRID:g}"
    content = (
        f'<g transform="translate(2 2) scale({1 / GRID:g})" fill-rule="evenodd">'
        + element(
            "path",
            d=hull,
            fill=BLUES[0],
            stroke=SERIES[1],
            stroke_width=1.2 * GRID,
            stroke_dasharray=dashes,
        )
        + element("path", d=own, fill=BLUES[4])
        + "</g>"
    )
    return f"<div>{picture(content, width + 4, height + 4, text, text, 'small')}{caption(text)}</div>"


def scale_bar(x: float, y: float, scale: float, room: float) -> str:
    """A bar of round length, about a quarter of the room, with its length. scale : pixels per metre."""
    longest = max(room, 160.0) / 4 / scale
    step = 10.0 ** np.floor(np.log10(longest))
    metres = float(max(digit * step for digit in (0.5, 1, 2, 5) if digit * step <= longest * (1 + 1e-9)))
    end = x + metres * scale
    label = f"{formatted(metres / 1000)} km" if metres >= 1000 else f"{formatted(metres)} m"
    bar = element("path", d=f"M{x:.1f} {y:.1f}v8H{end:.1f}v-8", fill="none", stroke=INK, stroke_width=1.5)
    return bar + words(x, y + 28, label, FONT, fill=INK)


def north_arrow(x: float, y: float, degrees: float) -> str:
    """An arrow to the north, so many degrees clockwise from the top."""
    arrow = element("path", d="M0-13L5 9L0 5L-5 9z", fill=INK, transform=f"rotate({degrees:.1f})")
    return f'<g transform="translate({x:.1f} {y:.1f})">{arrow}{words(-24, 7, "N", FONT, fill=INK)}</g>'


def _tones(ramp: Sequence[str], n_classes: int) -> list[str]:
    """A colour per class, from the whole ramp."""
    return [ramp[round(i * (len(ramp) - 1) / max(n_classes - 1, 1))] for i in range(min(n_classes, CLASSES))]


def _united(shapes: np.ndarray) -> shapely.Geometry:
    """One shape of many."""
    try:
        united = shapely.coverage_union_all(shapes)
    except shapely.errors.GEOSException:
        united = None
    return shapely.union_all(shapes) if united is None or not shapely.is_valid(united) else united
