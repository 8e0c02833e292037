"""What rows in an engine show of their quasi-identifiers: the values they were counted by, or those of their level."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..plan import Plan
from ..records.columns import typed
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


def showing(in_place: InPlace, plan: Plan) -> Showing:
    """What rows show by a plan."""
    dictionaries, sizes = {key: in_place.dictionaries[key] for key in in_place.quasi}, dict(in_place.sizes)
    maps, codes = {}, []
    for position, (key, name) in enumerate(zip(in_place.quasi, in_place.fields.quasi_identifiers)):
        known = {
            typed(value): code for value, code in zip(in_place.categories[position], to_list(in_place.codes[position]))
        }
        if name in plan.levels.coarser:
            values, at_levels = plan.all_levels(position)
            known = {typed(value): code for code, value in enumerate(to_list(values))}
            sizes[key] = sum(value is not None for value in to_list(values))
            dictionaries[key] = in_place.engine.upload(f"vbas_shown_values_{key}", values_by_code(key, values))
            shown = _map(key, in_place.codes[position], values, at_levels)
            maps[key] = in_place.engine.upload(f"vbas_shown_{key}", shown)
        categories = plan.profile.categories[position]
        codes.append(np.array([known[typed(value)] for value in to_list(categories)], np.int64))
    return Showing(dictionaries, sizes, class_numbers(plan.profile.classes, codes, list(sizes.values())), maps)


def _map(key: str, code: np.ndarray, values: np.ndarray, at_levels: np.ndarray) -> dict[str, np.ndarray]:
    """What each code shows at each level; code : (n,) in the engine; values, at_levels : as `Places.all_levels`."""
    n_levels, position = len(at_levels), at_levels.ravel()
    return {
        f"s_{key}": np.repeat(np.arange(1, n_levels + 1, dtype=np.int16), len(code)),
        f"o_{key}": np.tile(code.astype(np.int32), n_levels),
        f"c_{key}": position.astype(np.int32),
        f"v_{key}": values[position],
    }
