"""What the maps of a report draw: the areas before, the regions after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely

from .. import counted
from ..arrays import to_list
from ..dataclass import dataclass
from ..language import plural, tr
from .numbers import formatted
from .page import Section
from .pictures import REDS, region_map

METRES_PER_KM = 1000.0
PER_KM2 = tr("Records per km²")


@dataclass(frozen=True, eq=False)
class MapData:
    """What is drawn, in planar coordinates, metres.

    areas : (n,) polygons, empty where areas are not drawn; levels : of each level the polygons of its regions; north :
    degrees clockwise from the top, None where not known
    """

    areas: np.ndarray
    levels: Sequence[np.ndarray]
    north: float | None = None


def drawn(shapes: np.ndarray) -> np.ndarray:
    """Which shapes have something to draw, (m,) bool."""
    return ~(shapely.is_empty(shapes) | shapely.is_missing(shapes))


def density(counts: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Records per km², (m,)."""
    return counts * METRES_PER_KM**2 / np.maximum(shapely.area(shapes), 1e-9)


def before_and_after(
    map_data: MapData, identifiers: np.ndarray, records: np.ndarray, numbers: np.ndarray, released: np.ndarray
) -> Section:
    """The records where they live, and the released ones as they are shown. Internal: the first map shows all records.

    identifiers, records : (n,) of the areas; numbers, released : (n_regions,)
    """
    text = tr("Same colour scale in both maps: all records by area, then released records by region.")
    pictures = []
    here = drawn(map_data.areas)
    before = density(records[here], map_data.areas[here])
    if here.any():
        names, counts = identifiers[here].tolist(), to_list(records[here])

        def label(area: int) -> str:
            return tr("{name}: {value}", name=names[area], value=counted.records(counts[area]))

        caption = tr("Before: {n_records} areas, all records.", n_records=formatted(len(records)))
        pictures.append(region_map(map_data.areas[here], before, label, caption, unit=PER_KM2, north=map_data.north))
    pictures.append(released_map(map_data, numbers, released, before if here.any() else None))
    return Section(tr("Before and after"), (text,) if len(pictures) > 1 else (), pictures=pictures)


def released_map(map_data: MapData, numbers: np.ndarray, released: np.ndarray, like: np.ndarray | None = None) -> str:
    """The released records by region of the finest level; like : values whose classes are taken."""
    shapes = map_data.levels[0]
    there = drawn(shapes)
    labels = [
        tr(
            "Region {number}: {released}",
            number=number,
            released=plural("{n} record released", "{n} records released", count),
        )
        for number, count in zip(to_list(numbers[there]), to_list(released[there]))
    ]
    return region_map(
        shapes[there],
        density(released[there], shapes[there]),
        labels,
        plural(
            "After: {n} region, released records.",
            "After: {n} regions, released records.",
            len(numbers),
        ),
        unit=PER_KM2,
        north=map_data.north,
        like=like,
    )


def lost_map(map_data: MapData, labels: Sequence[str], share: np.ndarray) -> str:
    """The share of suppressed records by region, per cent."""
    shapes = map_data.levels[0]
    there = drawn(shapes)
    own = [label for label, is_drawn in zip(labels, to_list(there)) if is_drawn]
    text = tr("Records suppressed, by region.")
    return region_map(shapes[there], share[there], own, text, REDS, tr("% of the region's records"), map_data.north)
