"""Narrowing: where in a region the people live whom it shows of a class.

A nested release shows a class in small regions and in larger ones around them. Whoever leaves out of a larger region
the smaller ones inside it that show the class themselves is left with the areas in which the larger one's people live.
"""

from __future__ import annotations

import numpy as np

from ..dataclass import dataclass
from ..levels import Levels


@dataclass(frozen=True, eq=False)
class Narrowed:
    """What is left of the regions that show a class, arrays (E,) by equivalence class in the order that was given.

    areas, people : of the whole region; left_areas, left_people : of what is left of it. Areas are those with people.
    """

    areas: np.ndarray
    people: np.ndarray
    left_areas: np.ndarray
    left_people: np.ndarray


def can_be_narrowed(levels: Levels, in_zones: bool) -> bool:
    """Whether it is known of some region that shows a class that the regions around it show none of its people.

    So it is of all regions of a release in zones, and of areas that are regions of their own: an area's records of a
    class are shown together. Any other region may show a part, and promote the rest.
    """
    return in_zones or _own_regions(levels)


def narrow(
    levels: Levels, people: np.ndarray, level: np.ndarray, region: np.ndarray, class_of: np.ndarray, in_zones: bool
) -> Narrowed:
    """What is left of each region that shows a class, from what is published alone.

    people : (n,) of each area; level, region, class_of : (E,) of the equivalence classes that are shown, each once;
    in_zones : whether each shows all records of its class in its region that no region within shows
    """
    inhabited = (people > 0).astype(float)
    sizes = [(crosswalk.totals(inhabited), crosswalk.totals(people)) for crosswalk in levels.crosswalks]
    areas, persons, gone_areas, gone_people = np.zeros((4, len(level)))
    n_classes = int(class_of.max(initial=-1)) + 1
    # Of the equivalence classes below: their number, and the region of the level at hand that they lie in.
    pending, within = np.empty(0, np.int64), np.empty(0, np.int64)
    for at in range(len(levels)):
        here = np.flatnonzero(level == at)
        areas[here], persons[here] = (of_regions[region[here]] for of_regions in sizes[at])
        order = here[np.argsort(region[here] * n_classes + class_of[here])]
        keys = region[order] * n_classes + class_of[order]
        position = np.searchsorted(keys, within * n_classes + class_of[pending])
        inside = np.append(keys, -1)[position] == within * n_classes + class_of[pending]
        around = order[position[inside]]
        np.add.at(gone_areas, around, areas[pending[inside]])
        np.add.at(gone_people, around, persons[pending[inside]])
        join = here if in_zones or (at == 0 and _own_regions(levels)) else here[:0]
        if in_zones:
            pending, within = pending[~inside], within[~inside]
        pending, within = np.concatenate([pending, join]), np.concatenate([within, region[join]])
        above = levels.parents(at)[within]
        pending, within = pending[above >= 0], above[above >= 0]
    return Narrowed(areas, persons, areas - gone_areas, persons - gone_people)


def _own_regions(levels: Levels) -> bool:
    """Whether each region of the finest level is one area."""
    crosswalk = levels.crosswalks[0]
    return bool((np.bincount(crosswalk.region_of[crosswalk.region_of >= 0]) <= 1).all())
