"""Draw docs/pictures/nested.svg: one class of the demonstration city under one level and under nested levels.

PYTHONPATH=build/package .venv/bin/python scripts/nested_picture.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np
import shapely
from shapely.ops import polylabel

from vbas.benchmarks.nested_example import Example, make_example, whole
from vbas.core.drawing import dissolve
from vbas.core.evaluation import distance_of_equivalence_classes
from vbas.core.plan import Plan

PLACE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "nested.svg"
CLASS = ("80 and over", "female", "widowed", "university")
CAPTION = (
    "The numbers are the women shown in a region, where there is room. The darker, the smaller the region. White: none "
    "of them lives there."
)
WHO = "widows of 80 and over with a university degree"
PANEL, GAP, TOP, BOTTOM = 450, 24, 66, 78
# By level, from an area of its own to the whole city; told apart by the colour-blind, and in print by their lightness.
COLOURS = ("#08306b", "#0b559f", "#2b7bba", "#539ecd", "#89bedc", "#b4d3e9", "#d2e3f3", "#e7f1fa", *("#f4f9fd",) * 3)
ONE_LEVEL, NOT_SHOWN = COLOURS[5], "#f0c9a0"  # its regions have about as many people as those of level 6
SMALLEST_NUMBERED = 9.0  # pixels around the middle of a number


def picture(example: Example) -> str:
    """Two maps of the same class, as SVG."""
    class_of = _class_number(example)
    west, south, east, north = shapely.total_bounds(example.city.polygons)
    scale = PANEL / max(east - west, north - south)

    def on_page(left: float) -> np.ndarray:
        return shapely.transform(example.city.polygons, lambda xy: (xy - (west, north)) * (scale, -scale) + (left, TOP))

    single, nested = _counts(example.single, class_of), _counts(example.plan, class_of)
    n_women = int(example.single.profile.class_sizes[class_of])
    right, bottom = PANEL + GAP, TOP + PANEL
    titles = [
        _text(0, 20, f"Where the {whole(n_women)} {WHO} are shown, k = 5", 18, "bold"),
        _text(
            0,
            50,
            f"One level: {n_women - single.sum()} of them suppressed, mean distance "
            f"{whole(_distance(example, example.single, class_of))} m",
            15,
        ),
        _text(
            right,
            50,
            f"Nested levels: {n_women - nested.sum() or 'none'} suppressed, mean distance "
            f"{whole(_distance(example, example.plan, class_of))} m",
            15,
        ),
    ]
    maps = [_one_map(on_page(0), example.single, class_of), _nested_map(on_page(right), example.plan, class_of)]
    width, height = right + PANEL, bottom + BOTTOM
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -5 {width + 20} {height + 10}" width="{width + 20}" '
        f'font-family="sans-serif"><rect x="-10" y="-5" width="{width + 20}" height="{height + 10}" fill="#ffffff"/>\n'
        + "\n".join([*titles, *maps, *_legend(example, nested, bottom + 22)])
        + "\n</svg>\n"
    )


def _class_number(example: Example) -> int:
    profile = example.plan.profile
    codes = [categories.tolist().index(value) for categories, value in zip(profile.categories, CLASS)]
    (number,) = np.flatnonzero((profile.classes == codes).all(axis=1))
    return int(number)


def _equivalence_classes(plan: Plan, class_of: int) -> np.ndarray:
    return np.flatnonzero((plan.class_of == class_of) & plan.released)


def _counts(plan: Plan, class_of: int) -> np.ndarray:
    """Released records of the class by level."""
    equivalence_classes = _equivalence_classes(plan, class_of)
    return np.bincount(plan.level[equivalence_classes], plan.records[equivalence_classes], len(plan.levels)).astype(int)


def _distance(example: Example, plan: Plan, class_of: int) -> float:
    equivalence_classes = _equivalence_classes(plan, class_of)
    return float(
        np.average(
            distance_of_equivalence_classes(example.areas, plan)[equivalence_classes],
            weights=plan.records[equivalence_classes],
        )
    )


def _one_map(polygons: np.ndarray, plan: Plan, class_of: int) -> str:
    """Every region with the number of its records."""
    shapes, equivalence_classes = dissolve(polygons, plan.crosswalk), _equivalence_classes(plan, class_of)
    records = dict(zip(plan.region[equivalence_classes].tolist(), plan.records[equivalence_classes].tolist()))
    drawn = [_path(shape, ONE_LEVEL if region in records else NOT_SHOWN) for region, shape in enumerate(shapes)]
    return "".join(drawn + [_number(shapes[region], number) for region, number in records.items()])


def _nested_map(polygons: np.ndarray, plan: Plan, class_of: int) -> str:
    """The regions in which the class is shown, the finer on the coarser; what shows none of it is left white."""
    equivalence_classes = _equivalence_classes(plan, class_of)
    drawn, numbers, covered = [], [], shapely.Polygon()
    for equivalence_class in equivalence_classes:  # from fine to coarse
        crosswalk = plan.levels.crosswalks[plan.level[equivalence_class]]
        shape = shapely.union_all(polygons[crosswalk.region_of == plan.region[equivalence_class]])
        drawn.append(_path(shape, COLOURS[plan.level[equivalence_class]]))
        numbers.append(
            _number(
                shapely.difference(shape, covered),
                int(plan.records[equivalence_class]),
                plan.level[equivalence_class] < 4,
            )
        )
        covered = shapely.union(covered, shape)
    return "".join([_path(shapely.union_all(polygons), "#ffffff"), *reversed(drawn), *numbers])


def _number(shape: shapely.Geometry, number: int, light: bool = False) -> str:
    """A number in the widest place of a shape, where there is room."""
    parts = shapely.get_parts(shape)
    if not len(parts):
        return ""
    largest = parts[np.argmax(shapely.area(parts))]
    middle = polylabel(largest, tolerance=0.5)
    if shapely.distance(middle, largest.boundary) < SMALLEST_NUMBERED:
        return ""
    return _text(middle.x, middle.y + 4, str(number), 11, "normal", "middle", "#ffffff" if light else "#202124")


def _path(shape: shapely.Geometry, fill: str) -> str:
    rings = []
    for part in shapely.get_parts(shapely.simplify(shape, 0.3)):
        for ring in (part.exterior, *part.interiors):
            rings.append("M" + " ".join(f"{x:.1f},{y:.1f}" for x, y in shapely.get_coordinates(ring)[:-1]) + "Z")
    return f'<path d="{"".join(rings)}" fill="{fill}" stroke="#5b6470" stroke-width="0.5" fill-rule="evenodd"/>'


def _text(
    x: float, y: float, text: str, size: int, weight: str = "normal", anchor: str = "start", colour: str = "#202124"
) -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
        f'fill="{colour}">{escape(text)}</text>'
    )


def _legend(example: Example, nested: np.ndarray, top: float) -> list[str]:
    """A swatch for each level in use, with the people of its regions and the records shown there."""
    people = [example.areas.population.sum() / crosswalk.n_regions for crosswalk in example.levels.crosswalks]
    entries = [(NOT_SHOWN, ("too few:", "suppressed", ""))]
    for level in np.flatnonzero(nested).tolist():
        size = whole(float(f"{people[level]:.2g}"))
        entries.append((COLOURS[level], (f"level {level + 1}", f"{size} people", f"{nested[level]} shown")))
    drawn = []
    for number, (fill, (title, *lines)) in enumerate(entries):
        left = number * (2 * PANEL + GAP) / len(entries)
        drawn.append(
            f'<rect x="{left:.0f}" y="{top - 11:.0f}" width="22" height="14" fill="{fill}" stroke="#5b6470" '
            'stroke-width="0.5"/>'
        )
        drawn.append(_text(left + 28, top, title, 12))
        drawn += [_text(left, top + 18 + 16 * row, line, 12) for row, line in enumerate(lines)]
    return [*drawn, _text(0, top + 54, CAPTION, 12)]


if __name__ == "__main__":
    PLACE.parent.mkdir(exist_ok=True)
    PLACE.write_text(picture(make_example()), encoding="utf-8")
    print(f"{PLACE}: {PLACE.stat().st_size / 1000:.0f} kB")
