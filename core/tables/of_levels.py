"""What tables say of levels, field by field: the regions, and the region of each area, as every door writes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import to_list
from ..crosswalk import Crosswalk
from ..levels import Levels
from ..records.columns import Column, column_from_values, column_of_numbers


def crosswalk_columns(levels: Levels, nested: bool) -> dict[str, Column]:
    """The number of each area's region, or of that at each level; missing where it is left out.

    nested : whether what is released says its level
    """
    names = [f"vbas_region_{level + 1}" for level in range(len(levels))] if nested else ["vbas_region"]
    return {name: _numbers(crosswalk, crosswalk.region_of) for name, crosswalk in zip(names, levels.crosswalks)}


def region_columns(levels: Levels, nested: bool, values: Sequence[str] = ()) -> dict[str, Column]:
    """What is known of each region, level after level; names where any region has one.

    values : what each level shows of the quasi-identifiers, where levels differ in that
    """
    crosswalks = levels.crosswalks
    n_regions = [crosswalk.n_regions for crosswalk in crosswalks]
    areas = [crosswalk.totals(np.ones(len(crosswalk.region_of))) for crosswalk in crosswalks]
    columns = {
        "vbas_region": column_of_numbers(np.concatenate([crosswalk.numbers for crosswalk in crosswalks])),
        "areas": column_of_numbers(np.concatenate(areas).astype(np.int64)),
    }
    if nested:
        columns["vbas_level"] = column_of_numbers(np.repeat(np.arange(len(levels), dtype=np.int64) + 1, n_regions))
        columns["vbas_parent"] = _parents(levels)
    if values:
        columns["vbas_values"] = column_from_values([shown for shown, n in zip(values, n_regions) for _ in range(n)])
    if any(names is not None for names in levels.names):
        each = [[None] * n if names is None else to_list(names) for names, n in zip(levels.names, n_regions)]
        columns["name"] = column_from_values([None if name is None else str(name) for of in each for name in of])
    return columns


def _numbers(crosswalk: Crosswalk, regions: np.ndarray) -> Column:
    """The numbers of some regions by their positions, missing where these are below 0."""
    return column_of_numbers(np.append(crosswalk.numbers, 0)[regions], regions < 0)


def _parents(levels: Levels) -> Column:
    """The number of the region of the next level that holds each, missing at the last."""
    parents = [levels.parents(level) for level in range(len(levels))]
    numbers = [np.append(of.numbers, 0)[above] for of, above in zip(levels.crosswalks[1:], parents)]
    numbers.append(np.zeros(len(parents[-1]), np.int64))
    return column_of_numbers(np.concatenate(numbers), np.concatenate(parents) < 0)
