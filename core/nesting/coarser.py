"""The plan of a nested release whose last levels show quasi-identifiers coarser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..areas import Areas
from ..arrays import to_list
from ..configuration import chosen
from ..generalising.collapsing import generalise_table
from ..plan import Plan, area_of_cells
from ..privacy.requirement import Requirement
from ..progress import Progress, silent
from ..records.matching import check_no_area_copy
from ..records.table import RecordTable
from ..ties import Ties
from .coarser_places import Places
from .decoys import Conditions
from .losses import LOSSES
from .planning import nest_by_losses


def nest_coarser(
    areas: Areas,
    places: Places,
    k: int,
    loss: str = "mean distance",
    requirement: Requirement | None = None,
    progress: Progress = silent,
    ties: Ties = None,
    conditions: Conditions | None = None,
) -> Plan:
    """The plan that suppresses the fewest records, then shows the fewest coarser, then loses the least geography.

    Of the second it seldom shows a class more than has to be: 20 records coarser where 15 do, in one of some hundred
    drawn cases.

    areas : of the places' profile; the rest as for `nest`. A record whose values were made coarser n times counts n
    times, and more than any geography. The equivalence classes of the plan are places: `region` is a place, `class_of`
    the coarsest class. Raises what `nest` raises.
    """
    profile = places.profile
    kind = chosen(LOSSES, loss, "LOSS")
    metres = [kind(areas, profile, crosswalk) for crosswalk in places.levels.crosswalks]
    # No geography of all records of a class together is worth one record more that is shown coarser.
    most = max((float(of_regions.max(initial=0.0)) for of_regions in metres), default=0.0)
    step = 1.0 + most * float(places.cells.class_sizes.max(initial=0))
    losses = [
        of_regions[region] + step * n for of_regions, region, n in zip(metres, places.region, to_list(places.n_coarser))
    ]
    if conditions is not None:
        conditions = replace(conditions, people=_people_of_cells(places, conditions.people))
    return nest_by_losses(places.cells, places.of_cells, losses, k, requirement, progress, ties, conditions=conditions)


def _people_of_cells(places: Places, people: np.ndarray) -> np.ndarray:
    """The people of each cell, (m,), where cells stand in the place of areas: with the first cell of an area that comes
    to a coarsest class, those of the area, with the others nobody, so that nobody counts twice. people : (n,) of each
    area."""
    area, class_of = area_of_cells(places.profile), places.cells.counts.indices
    _, first = np.unique(area * max(places.cells.counts.shape[1], 1) + class_of, return_index=True)
    of_cells = np.zeros(len(area))
    of_cells[first] = people[area[first]]
    return of_cells


def check_no_area_released(places: Places, table: RecordTable, areas: Areas, area: np.ndarray) -> None:
    """Raises InputError where a coarser value of some level repeats the record's area.

    table : the rows, with the values of the places' profile; area : (N,) position of each row's area, -1 for none
    """
    for node in dict.fromkeys(places.nodes):
        check_no_area_copy(generalise_table(table, places.hierarchies, node), areas, area)
