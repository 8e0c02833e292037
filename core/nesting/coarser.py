"""The nested release whose last levels show quasi-identifiers coarser: its plan, its rows, and their recount."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..areas import Areas
from ..arrays import objects, to_list
from ..configuration import chosen
from ..errors import PrivacyError
from ..generalising.collapsing import generalise_table
from ..language import plural, tr
from ..plan import Plan, area_of_cells, areas_at, of_rows
from ..privacy.kept_field import KeptField
from ..privacy.kept_fields import examine_values, rows_looked_at
from ..privacy.requirement import Requirement
from ..progress import Progress, silent
from ..records.columns import Column, category_order, combine_codes, typed
from ..records.matching import Records, check_no_area_copy
from ..records.table import RecordTable
from ..release import Release, apply
from ..ties import Ties
from .coarser_places import Places
from .decoys import Conditions
from .flattening import flatten
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


def release_coarser(
    plan: Plan,
    places: Places,
    records: Records,
    kept: Sequence[KeptField] | None = None,
    requirement: Requirement | None = None,
) -> Release:
    """The rows that such a plan shows: level, region, and the quasi-identifiers as their level shows them.

    kept : what `examine_coarser` found; looked at here where None; requirement : as for `apply`.
    Raises what `apply` raises; the recount of each class is of what is shown.
    """
    kept_fields = examine_coarser(plan, places, records) if kept is None else kept
    table = _shown(plan, places, records)
    release = apply(plan, replace(records, table=table, profile=places.cells), kept_fields, requirement)
    region = np.zeros_like(release.region)
    for level, of_places in enumerate(places.region):
        here = release.level == level
        region[here] = of_places[release.region[here]]
    return replace(release, region=region)


def examine_coarser(plan: Plan, places: Places, records: Records) -> list[KeptField]:
    """Look at every kept field of such a release."""
    table = records.table
    if not table.kept:
        return []
    equivalence_class = of_rows(plan.equivalence_class_of, records.cell_of)
    rows = rows_looked_at(equivalence_class, len(plan.records))
    area = areas_at(places.profile, records.cell_of[rows])
    quasi = {name: column.codes[rows] for name, column in table.quasi_identifiers.items()}
    originals = {name: column.original.codes[rows] for name, column in table.coarsened.items()}
    columns = {name: Column(column.codes[rows], column.categories) for name, column in table.kept.items()}
    return examine_coarser_rows(plan, places, equivalence_class[rows], area, columns, quasi, originals)


def examine_coarser_rows(
    plan: Plan,
    places: Places,
    equivalence_class: np.ndarray,
    area: np.ndarray,
    columns: Mapping[str, Column],
    quasi: Mapping[str, np.ndarray],
    originals: Mapping[str, np.ndarray],
    group: np.ndarray | None = None,
) -> list[KeptField]:
    """Look at fields of released rows; equivalence_class, area : (r,) int64, of each row.

    quasi : the codes of each row's values among the categories of the places' profile; originals : of the
    quasi-identifiers that all records show coarser, the code of the value as it was read; group : (r,) int64, who looks
    alike where rows show more than their class; what `quasi` has beyond the places' profile is shown as it is.
    Few rows may show coarser values, of which hardly a pair differs. So what a field gives back of a quasi-identifier
    is measured over all rows, as if each showed the last level, against the values as they were read; and whether it is
    a finer value, against the finest values shown.
    """
    first = np.cumsum([0, *(crosswalk.n_regions for crosswalk in places.levels.crosswalks)])
    n_places = np.cumsum([0, *(len(regions) for regions in places.region)])
    level, place = plan.level[equivalence_class], plan.region[equivalence_class]
    region = first[level] + np.concatenate(places.region)[n_places[level] + place]
    coarsened = {
        name: (places.codes(len(places.levels) - 1, position)[codes], originals.get(name, codes))
        for position, (name, codes) in enumerate(quasi.items())
        if position < len(places.nodes[-1]) and (places.nodes[-1][position] or name in originals)
    }
    return examine_values(
        equivalence_class if group is None else group, region, area, columns, quasi, plan.k, coarsened
    )


def check_no_area_released(places: Places, table: RecordTable, areas: Areas, area: np.ndarray) -> None:
    """Raises InputError where a coarser value of some level repeats the record's area.

    table : the rows, with the values of the places' profile; area : (N,) position of each row's area, -1 for none
    """
    for node in dict.fromkeys(places.nodes):
        check_no_area_copy(generalise_table(table, places.hierarchies, node), areas, area)


def check_coarser(release: Release, places: Places, whole: bool = True) -> None:
    """Compare such a release with the profile, region by region at every level, as `check_where_released` does.

    At each level the rows shown there or finer are brought to its regions and values, by the hierarchies alone. No
    region may show more records of a class than live there. whole : at the last level, all of them or none.
    Raises PrivacyError where that is not so.
    """
    profile, levels = places.profile, places.levels
    area, records = area_of_cells(profile), profile.counts.data
    for target, crosswalk in enumerate(levels.crosswalks):
        region = flatten(levels, release.level, release.region, target)
        there = np.flatnonzero(region >= 0)
        live = np.flatnonzero(crosswalk.region_of[area] >= 0)
        columns, sizes = [np.concatenate([crosswalk.region_of[area[live]], region[there]])], [crosswalk.n_regions]
        for position, name in enumerate(profile.quasi_identifiers):
            of_cells = places.codes(target, position)[profile.classes[profile.counts.indices[live], position]]
            of_rows = _brought_to(places, release.fields[name], release.level, target, position)[there]
            columns.append(np.concatenate([of_cells, of_rows]))
            sizes.append(len(places.categories(target, position)))
        key, keys = combine_codes(columns, sizes)
        have = np.bincount(key[: len(live)], records[live], len(keys))
        show = np.bincount(key[len(live) :], release.counts[there], len(keys))
        wrong = show > have
        if whole and target == len(levels) - 1:
            wrong |= (show > 0) & (show < have)
        if wrong.any():
            raise PrivacyError(
                plural(
                    "The release would show {n} class of level {target} where not as many such records "
                    "live: nothing was written.",
                    "The release would show {n} classes of level {target} where not as many such records "
                    "live: nothing was written.",
                    int(wrong.sum()),
                    target=target + 1,
                )
            )


def _brought_to(places: Places, column: Column, level: np.ndarray, target: int, position: int) -> np.ndarray:
    """The value at a level of each row that shows that level or a finer one, (R,) codes; of others it is 0.

    Raises PrivacyError for a value that its level does not have.
    """
    codes = np.zeros(len(level), np.int64)
    for shown_at in range(target + 1):
        here = np.flatnonzero(level == shown_at)
        fine = {typed(value): code for code, value in enumerate(places.categories(shown_at, position))}
        above = np.zeros(len(fine), np.int64)
        above[places.codes(shown_at, position)] = places.codes(target, position)
        used = np.unique(column.codes[here])
        if any(typed(column.categories[code]) not in fine for code in used.tolist()):
            raise PrivacyError(tr("The release would show a value that its level does not have: nothing was written."))
        coarser = np.zeros(len(column.categories), np.int64)
        coarser[used] = [above[fine[typed(column.categories[code])]] for code in used.tolist()]
        codes[here] = coarser[column.codes[here]]
    return codes


def _shown(plan: Plan, places: Places, records: Records) -> RecordTable:
    """The table with the quasi-identifiers of each row as its level shows them; suppressed rows as they are."""
    table = records.table
    level = np.append(np.append(plan.level, 0)[plan.equivalence_class_of], 0)[records.cell_of]
    columns = {}
    for position, (name, column) in enumerate(table.quasi_identifiers.items()):
        every = {
            typed(value): value
            for own_level in range(len(places.levels))
            for value in places.categories(own_level, position)
        }
        order = sorted(every, key=lambda key: category_order(every[key]))
        at = {key: i for i, key in enumerate(order)}
        categories = objects([every[key] for key in order])
        codes = np.zeros(len(table), np.int64)
        for own_level in range(len(places.levels)):
            here = np.flatnonzero(level == own_level)
            number = np.array([at[typed(value)] for value in places.categories(own_level, position)], np.int64)
            codes[here] = number[places.codes(own_level, position)][column.codes[here]]
        columns[name] = Column(codes, categories)
    return replace(table, quasi_identifiers=columns)
