"""The plan of a release: the equivalence class under which each cell of the profile is shown, or that it is suppressed.

A cell is an area and a class that occur together in some record; an equivalence class is what a record shows of them: a
region of a level and the class. The plan is all it takes to release records, to rate what that costs and to report it.
It is small compared with the records: whoever holds them, in arrays or a database, applies it by one join.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .crosswalk import Crosswalk
from .dataclass import dataclass
from .levels import Levels
from .parameters import K
from .privacy.requirement import Requirement
from .privacy.series import whole_series
from .profile import Profile
from .records.columns import Column, looked_up, smallest_integers
from .scientific import sparse

if TYPE_CHECKING:
    from .generalising.hierarchies import Hierarchy

SUPPRESSED = -1
CELLS_AT_ONCE = 1 << 18  # of a profile that is gone through, so that nothing of its size is held as 64 bits
EVERY_CELL = slice(None)


@dataclass(frozen=True, eq=False)
class Plan:
    """The equivalence classes of a profile under nested levels of regions, or under one, and where each cell is shown.

    All levels show the values that records were counted by, but for those of `nesting.views.CoarserPlan`.

    profile, levels : what the plan was made from; k : the minimum of records behind every equivalence class in use
    level, region, class_of, records : (L,) int64, of each equivalence class, ordered by level, region, class: its level
    and its region (both 0-based, the finest level first), its class in the profile, and the number of its records.
    Under one level these are all there are, released or not
    released : (L,) bool, whether each is released: it has at least k records, and whatever more is asked
    level_of : (m,) int8, the level at which each cell is shown, SUPPRESSED where it is not; None under one level
    people : (L,) int64, who is behind each: its records, or fewer persons or households; None for the records
    in_zones : whether a region shows all records of a class that no region within shows: nobody passes it by
    in_part : whether classes that are shown may lack some of their people, as those of an update do
    """

    profile: Profile
    levels: Levels
    k: int
    level: np.ndarray
    region: np.ndarray
    class_of: np.ndarray
    records: np.ndarray
    released: np.ndarray
    level_of: np.ndarray | None = None
    people: np.ndarray | None = None
    in_zones: bool = False
    in_part: bool = False

    @property
    def counted(self) -> Plan:
        """The plan over the cells that records were counted in, which has these equivalence classes, one for one."""
        return self

    @property
    def profile_of_records(self) -> Profile:
        """The profile that records were counted in, whose classes are shown as they are or coarser."""
        return self.profile

    @property
    def by_value(self) -> Plan:
        """The same records where the plan shows them, under the values of level 1: for what is said by value."""
        return self

    @property
    def values_of_levels(self) -> tuple[str, ...]:
        """What each level shows of the quasi-identifiers, as data say it; none where all levels show the same."""
        return ()

    @property
    def values_in_words(self) -> tuple[str, ...]:
        """The same for people."""
        return ()

    @property
    def hierarchies_of_levels(self) -> Mapping[str, Hierarchy]:
        """By quasi-identifier, how its values become coarser from level to level."""
        return {}

    @property
    def classes_at_levels(self) -> tuple[np.ndarray | None, ...]:
        """Of each level, the class there of each class that records were counted in, (C,); None where it is itself."""
        return (None,) * len(self.levels)

    def all_levels(self, position: int) -> tuple[np.ndarray, np.ndarray]:
        """Every value of a quasi-identifier that some level shows, in the order of every column, the missing one last;
        and the position among them of what each level shows for each value that records have, (L, n_values)."""
        categories = self.profile.categories[position]
        return categories, np.tile(np.arange(len(categories), dtype=np.int64), (len(self.levels), 1))

    def shown(self, columns: Mapping[str, Column], level: np.ndarray) -> Mapping[str, Column]:
        """The quasi-identifiers of rows as their levels show them; level : (N,), SUPPRESSED for those that are not."""
        shown = dict(columns)
        for position, (name, column) in enumerate(columns.items()):
            if name in self.levels.coarser:
                categories, codes = self.all_levels(position)
                shown[name] = Column(smallest_integers(codes, len(categories))[level, column.codes], categories)
        return shown

    def shown_by(self, counted: Plan) -> Plan:
        """What another plan over the same cells shows; see `counted`."""
        return counted

    @property
    def levels_of_cells(self) -> np.ndarray:
        """The level at which each cell is shown, (m,) int8, SUPPRESSED for none."""
        return np.append(self.level, SUPPRESSED).astype(np.int8)[self.equivalence_class_of]

    @property
    def sizes(self) -> np.ndarray:
        """What k is asked of, (L,) int64: the people behind each equivalence class, or its records."""
        return self.records if self.people is None else self.people

    @property
    def crosswalk(self) -> Crosswalk:
        """The finest level, or the only one."""
        return self.levels.crosswalks[0]

    @cached_property
    def n_released(self) -> int:
        """Number of records that are released."""
        return int(self.records[self.released].sum())

    @cached_property
    def equivalence_class_of(self) -> np.ndarray:
        """The position of each cell's equivalence class, (m,) int32, or int64 of very many; SUPPRESSED for none.

        The cells are those that `Profile.counts` stores, in its order.
        """
        nowhere = np.zeros(self.profile.counts.nnz, np.int8)
        return self._equivalence_classes(nowhere if self.level_of is None else self.level_of, self.released)

    def equivalence_classes_at(self, level_of: np.ndarray) -> np.ndarray:
        """The position of each cell's equivalence class at these levels, released or not, (m,); SUPPRESSED for none."""
        return self._equivalence_classes(level_of, np.ones(len(self.records), bool))

    def equivalence_classes_of_places(self, level: int, region: np.ndarray, class_of: np.ndarray) -> np.ndarray:
        """The position of the equivalence class of each region of a level and class, SUPPRESSED where there is none."""
        keys, n_classes = self._keys(), _n_classes(self.profile)
        first = sum(crosswalk.n_regions for crosswalk in self.levels.crosswalks[:level])
        key = np.where(region >= 0, (first + region) * n_classes + class_of, -1)
        at = np.searchsorted(keys, key)
        return np.where(np.append(keys, -2)[at] == key, at, SUPPRESSED)

    def _keys(self) -> np.ndarray:
        """A number for each equivalence class, (L,) int64, ascending."""
        first = self.levels.first_regions()
        return (first[self.level] + self.region) * _n_classes(self.profile) + self.class_of

    def _equivalence_classes(self, level_of: np.ndarray, released: np.ndarray) -> np.ndarray:
        """The position of each cell's equivalence class, SUPPRESSED for no level and for one not released."""
        class_of, n_classes = self.profile.counts.indices, _n_classes(self.profile)
        keys = self._keys()
        there = np.append(released, False)  # the last entry is for no level
        equivalence_classes = np.empty(len(class_of), np.int32 if len(keys) < 2**31 else np.int64)
        for cells in stretches(len(class_of)):
            area = area_of_cells(self.profile, cells)
            key = equivalence_class_keys(self.levels, area, class_of[cells], level_of[cells], n_classes)
            equivalence_class = np.where(key >= 0, np.searchsorted(keys, key), SUPPRESSED)
            equivalence_classes[cells] = np.where(there[equivalence_class], equivalence_class, SUPPRESSED)
        return equivalence_classes


def suppress(profile: Profile, crosswalk: Crosswalk, k: int, requirement: Requirement | None = None) -> Plan:
    """The plan that releases every equivalence class of at least k records and suppresses the rest (Croft 2015, 3.3).

    Parameters
    ----------
    profile : Profile
        n areas by C classes.
    crosswalk : Crosswalk
        Of the same areas, in the same order.
    k : int
        The smallest class that is released, at least 2.
    requirement : Requirement, optional
        What more is asked of a class, for the cells of this profile.

    Returns
    -------
    Plan
        With every equivalence class, released or not.

    Raises
    ------
    InputError
        For a k below 2.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.plan import suppress
    >>> plan = suppress(records.profile, crosswalk, k=2)
    >>> list(zip(plan.region.tolist(), plan.class_of.tolist(), plan.records.tolist(), plan.released.tolist()))
    [(0, 0, 2, True), (0, 1, 2, True), (1, 0, 3, True), (1, 1, 1, False)]
    """
    K.check(k)
    # There and back sorts the classes of each region in linear time, which `sort_indices` does not.
    grouped = (crosswalk.membership() @ profile.counts).tocsc().tocsr()
    region = np.repeat(np.arange(crosswalk.n_regions, dtype=np.int64), np.diff(grouped.indptr))
    class_of, records = grouped.indices.astype(np.int64), grouped.data.astype(np.int64)
    level, released = np.zeros_like(region), records >= k
    plan = Plan(profile, Levels((crosswalk,)), k, level, region, class_of, records, released)
    if requirement is None:
        return plan
    people = None
    if requirement.asks_for_more:
        equivalence_class = plan.equivalence_classes_at(np.zeros(profile.counts.nnz, np.int64))
        cells = np.flatnonzero(equivalence_class != SUPPRESSED)
        released &= requirement.holds(cells, equivalence_class[cells], len(records))
        people = requirement.people(equivalence_class, records)
    if requirement.series is not None:
        released = whole_series(requirement.series, region, class_of, released)
    return replace(plan, released=released, people=people)


def holding(plan: Plan, requirement: Requirement) -> Plan:
    """The plan without equivalence classes that fail what is asked beside k rows, and with who is behind the others.

    requirement : for the cells of the plan's profile
    """
    if not requirement.asks_for_more:
        return plan
    equivalence_class_of = plan.equivalence_class_of
    cells = np.flatnonzero(equivalence_class_of != SUPPRESSED)
    released = plan.released & requirement.holds(cells, equivalence_class_of[cells], len(plan.records))
    people = requirement.people(equivalence_class_of, plan.records) if plan.people is None else plan.people
    if plan.level_of is None or released.sum() == plan.released.sum():
        return replace(plan, released=released, people=people)
    level_of = plan.level_of.copy()
    level_of[cells[~released[equivalence_class_of[cells]]]] = SUPPRESSED
    return replace(plan, released=released, people=people, level_of=level_of, in_zones=False)


def plan_by_levels(profile: Profile, levels: Levels, k: int, level_of: np.ndarray) -> Plan:
    """The plan that shows each cell at a level of its own; level_of : (m,), SUPPRESSED where it is not shown."""
    counts, n_equivalence_classes = profile.counts, 0
    by_class, in_order = cells_by_class(profile, levels)
    region_of = [crosswalk.region_of[in_order].astype(np.int32) for crosswalk in levels.crosswalks]
    equivalence_class_of = np.full(counts.nnz, SUPPRESSED, by_class.data.dtype)
    equivalence_classes: list[list[tuple[np.ndarray, ...]]] = [
        [(np.empty(0, equivalence_class_of.dtype),) * 4] for _ in region_of
    ]
    for first, last in class_stretches(by_class.indptr, CELLS_AT_ONCE):
        start, stop = by_class.indptr[[first, last]]
        cells, area = by_class.data[start:stop], by_class.indices[start:stop]
        classes = np.repeat(np.arange(first, last, dtype=np.int32), np.diff(by_class.indptr[first : last + 1]))
        level_here = level_of[cells]
        for level, of_areas in enumerate(region_of):
            here = np.flatnonzero(level_here == level)
            here = here[of_areas[area[here]] >= 0]
            region, class_of, cells_here = of_areas[area[here]], classes[here], cells[here]
            starts = np.flatnonzero((np.diff(region, prepend=-1) != 0) | (np.diff(class_of, prepend=-1) != 0))
            number = np.arange(
                n_equivalence_classes, n_equivalence_classes + len(starts), dtype=equivalence_class_of.dtype
            )
            equivalence_class_of[cells_here] = np.repeat(number, np.diff(starts, append=len(here)))
            records = np.add.reduceat(counts.data[cells_here], starts, dtype=np.int64) if len(starts) else starts
            equivalence_classes[level].append((number, region[starts], class_of[starts], records))
            n_equivalence_classes += len(starts)
    del by_class
    columns: list[list[np.ndarray]] = []
    for crosswalk in levels.crosswalks:
        of_level = [np.concatenate(parts) for parts in zip(*equivalence_classes.pop(0))]
        # As the rows of a matrix, equivalence classes are in the order of their regions in linear time.
        there, at = np.arange(len(of_level[0]), dtype=np.int64), (of_level[1], of_level[2])
        order = sparse.csr_matrix((there, at), shape=(crosswalk.n_regions, counts.shape[1])).data
        columns.append([column[order] for column in of_level])
    in_order_of, at_region, of_class, behind = (np.concatenate(parts).astype(np.int64) for parts in zip(*columns))
    of_levels = np.repeat(np.arange(len(levels), dtype=np.int64), [len(column[0]) for column in columns])
    plan = Plan(profile, levels, k, of_levels, at_region, of_class, behind, behind >= k, level_of)
    position = np.empty(n_equivalence_classes + 1, equivalence_class_of.dtype)
    position[in_order_of] = np.where(plan.released, np.arange(n_equivalence_classes, dtype=np.int64), SUPPRESSED)
    position[SUPPRESSED] = SUPPRESSED
    for cells in stretches(counts.nnz):
        equivalence_class_of[cells] = position[equivalence_class_of[cells]]
    vars(plan)["equivalence_class_of"] = equivalence_class_of  # which is known by now, so that none has to be looked up
    return plan


def with_levels(plan: Plan, level_of: np.ndarray, requirement: Requirement | None = None) -> Plan:
    """The plan with its cells shown at other levels, (m,), SUPPRESSED for none; under one level, shown or not.

    requirement : for the cells of the plan's profile, which says who is behind each equivalence class
    """
    if plan.level_of is None:
        released = np.zeros(len(plan.records), bool)
        released[plan.equivalence_class_of[level_of >= 0]] = True
        return replace(plan, released=released)
    new = plan_by_levels(plan.profile, plan.levels, plan.k, level_of)
    new = replace(new, in_zones=plan.in_zones, in_part=plan.in_part)
    if requirement is None or not requirement.members:
        return new
    return replace(new, people=requirement.people(new.equivalence_class_of, new.records))


def around(plan: Plan, equivalence_classes: np.ndarray) -> np.ndarray:
    """The level at which the cells of some equivalence classes are shown if these are given up, (m,) int8.

    equivalence_classes : (L,) bool, not of the coarsest level. Of a plan in zones it is that of the next region around
    that shows the class, or else the coarsest, so that zones stay zones; of another the next level. Other cells stay.
    """
    level_of, last = plan.levels_of_cells, len(plan.levels) - 1
    cells = np.flatnonzero((level_of >= 0) & equivalence_classes[plan.equivalence_class_of])
    if not plan.in_zones:
        level_of[cells] += 1
        return level_of
    area, class_of = area_of_cells(plan.profile)[cells], plan.profile.counts.indices[cells]
    stays = np.append(plan.released & ~equivalence_classes, False)
    target = np.full(len(cells), last, np.int8)
    for level in range(last - 1, 0, -1):
        at = plan.equivalence_classes_of_places(level, plan.levels.crosswalks[level].region_of[area], class_of)
        target = np.where(stays[at] & (level_of[cells] < level), level, target)
    level_of[cells] = target
    return level_of


def cells_by_class(profile: Profile, levels: Levels) -> tuple[sparse.csc_matrix, np.ndarray]:
    """The positions of the cells class by class, and within each region by region at every level, in linear time.

    Returns a matrix of the profile's shape, whose rows are areas in another order, and that order, (n,).
    """
    counts, in_order = profile.counts, np.lexsort(levels.region_of)
    positions = np.arange(counts.nnz, dtype=np.int32 if counts.nnz < 2**31 else np.int64)
    by_area = sparse.csr_matrix((positions, counts.indices, counts.indptr), shape=counts.shape)
    del positions  # each of these takes four bytes a cell
    by_area = by_area[in_order]
    return by_area.tocsc(), in_order


def class_stretches(starts: np.ndarray, at_once: int) -> Iterator[tuple[int, int]]:
    """Stretches of whole classes that hold about `at_once` cells; starts : (C + 1,), the first cell of each class."""
    first = 0
    while first < len(starts) - 1:
        last = max(int(np.searchsorted(starts, starts[first] + at_once, side="right")) - 1, first + 1)
        yield first, last
        first = last


def stretches(n_cells: int) -> Iterator[slice]:
    """The cells of a profile, many at a time."""
    return (slice(start, min(start + CELLS_AT_ONCE, n_cells)) for start in range(0, n_cells, CELLS_AT_ONCE))


def equivalence_class_keys(
    levels: Levels, area: np.ndarray, class_of: np.ndarray, level_of: np.ndarray, n_classes: int = 0
) -> np.ndarray:
    """A number for the equivalence class of each cell, (m,) int64, ascending by level, region, class; -1 for none.

    area, class_of, level_of : (m,), of each cell; n_classes : of the whole profile, where the cells are some of it
    """
    key = np.full(len(area), -1, np.int64)
    n_classes = n_classes or int(class_of.max(initial=0)) + 1
    first = 0
    for level, crosswalk in enumerate(levels.crosswalks):
        here = np.flatnonzero(level_of == level)
        region = crosswalk.region_of[area[here]]
        key[here] = np.where(region >= 0, (first + region) * n_classes + class_of[here], -1)
        first += crosswalk.n_regions
    return key


def area_of_cells(profile: Profile, cells: slice = EVERY_CELL) -> np.ndarray:
    """The area of each cell, or of those of a stretch, (m,) int64, in the order of `Profile.counts`."""
    first, last, _ = cells.indices(profile.counts.nnz)
    here = np.clip(profile.counts.indptr, first, last)
    return np.repeat(np.arange(profile.counts.shape[0], dtype=np.int64), np.diff(here))


def areas_at(profile: Profile, cells: np.ndarray) -> np.ndarray:
    """The area of each of some cells, (r,) int64."""
    return np.searchsorted(profile.counts.indptr, cells, side="right") - 1


def of_rows(of_cell: np.ndarray, cell_of: np.ndarray) -> np.ndarray:
    """What holds of the cell of each row, (N,); SUPPRESSED for rows in no cell. of_cell : (m,), signed"""
    return looked_up(np.append(of_cell, of_cell.dtype.type(SUPPRESSED)), cell_of)


def _n_classes(profile: Profile) -> int:
    return int(profile.counts.indices.max(initial=0)) + 1
