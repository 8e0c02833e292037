"""What rows in an engine show of their quasi-identifiers: the values they were counted by, or those of their level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..arrays import objects, to_list
from ..nesting.coarser_places import Places
from ..nesting.views import CoarserLevels
from ..plan import Plan
from ..profile import Profile
from ..records.columns import category_order, typed
from . import steps
from .coarsening import class_numbers, values_by_code
from .engine import Expression
from .in_place import InPlace


@dataclass(frozen=True, eq=False)
class Showing:
    """Columns to write for each released row.

    dictionaries, sizes : of the values of each quasi-identifier that are shown, as `InPlace` has them
    class_keys : (C,) the number in the engine of each class of the plan; maps : as `steps.coarsened` by level; none
    where all levels show the values that the rows were counted by
    """

    dictionaries: Mapping[str, Expression]
    sizes: Mapping[str, int]
    class_keys: np.ndarray
    maps: Mapping[str, Expression]

    def of(self, placed: Expression) -> Expression:
        """Placed rows with what they show."""
        return steps.coarsened(placed, self.maps, self.sizes, list(self.sizes), True) if self.maps else placed


def showing(in_place: InPlace, plan: Plan, coarser: CoarserLevels | None) -> Showing:
    """What rows show by a plan, the one that is released; coarser : where its last levels show coarser values."""
    dictionaries, sizes = {key: in_place.dictionaries[key] for key in in_place.quasi}, dict(in_place.sizes)
    if coarser is None:
        return Showing(dictionaries, sizes, in_place.class_keys, {})
    places, maps, codes = coarser.places, {}, []
    for position, key in enumerate(in_place.quasi):
        known = {
            typed(value): code for value, code in zip(in_place.categories[position], to_list(in_place.codes[position]))
        }
        if places.nodes[-1][position]:
            values = _values_of_all_levels(places, position)
            known = {typed(value): code for code, value in enumerate(to_list(values))}
            sizes[key] = sum(value is not None for value in to_list(values))
            dictionaries[key] = in_place.engine.upload(f"vbas_shown_values_{key}", values_by_code(key, values))
            maps[key] = in_place.engine.upload(f"vbas_shown_{key}", _map(in_place, places, position, known))
        categories = plan.profile.categories[position]
        codes.append(np.array([known[typed(value)] for value in to_list(categories)], np.int64))
    return Showing(dictionaries, sizes, class_numbers(plan.profile.classes, codes, list(sizes.values())), maps)


def equivalence_classes_of_cells(plan: Plan, coarser: CoarserLevels | None) -> tuple[Profile, np.ndarray]:
    """The profile that records were counted in, and the equivalence class in the plan of each of its cells, (m,)."""
    if coarser is None:
        return plan.profile, plan.equivalence_class_of
    return coarser.places.profile, coarser.plan.equivalence_class_of


def _values_of_all_levels(places: Places, position: int) -> np.ndarray:
    """The values of a quasi-identifier that any level shows, in the order of every column, the missing one last."""
    every = {typed(value): value for level in range(len(places.levels)) for value in places.categories(level, position)}
    return objects(sorted(every.values(), key=category_order))


def _map(
    in_place: InPlace, places: Places, position: int, known: Mapping[tuple[type, object], int]
) -> dict[str, np.ndarray]:
    """What each code shows at each level; known : the code of each value that is shown."""
    key, original = in_place.quasi[position], in_place.codes[position].astype(np.int32)
    levels = range(len(places.levels))
    values = np.concatenate([places.categories(i, position)[places.codes(i, position)] for i in levels])
    return {
        f"s_{key}": np.repeat(np.arange(1, len(levels) + 1, dtype=np.int16), len(original)),
        f"o_{key}": np.tile(original, len(levels)),
        f"c_{key}": np.array([known[typed(value)] for value in to_list(values)], np.int32),
        f"v_{key}": values,
    }
