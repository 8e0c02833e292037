"""Groups that stay within units, such as municipalities, and cells of no group that fall back to theirs.

(Bjerre-Nielsen & Gandil 2018: 3.1 divides the country by municipalities; section 5 says of those left out that “they
would still have a parish available”.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .. import counted
from ..adjacency import adjacency_of_pairs
from ..areas import identifier_text
from ..crosswalk import LEFT_OUT, Crosswalk, number_compactly
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import plural
from ..levels import Levels
from .cells import Cells
from .measures import Minimum, diagonals, measure_partition, weights_of
from .partition import COMPLETES_REST, TAKEN, UNIT_TOO_SMALL, Partition, recount_people


@dataclass(frozen=True, eq=False)
class Units:
    """The units of n cells. names : (u,) object array of str; unit_of : (n,) int64; field : what they are called"""

    names: np.ndarray
    unit_of: np.ndarray
    field: str

    def __len__(self) -> int:
        return len(self.names)


def make_units(cells: Cells, values: Sequence[object], field: str) -> Units:
    """Units from a value per cell, compared as text, in the order of the texts. Raises InputError where one is
    missing."""
    texts = [identifier_text(value) for value in values]
    lost = [cell for cell, text in zip(cells.identifiers.tolist(), texts) if text is None]
    if lost:
        raise InputError.saying(
            "WITHIN: field “{field}” is empty in {cells} (first: {first}): give each cell its unit.",
            field=field,
            cells=counted.cells(len(lost)),
            first=first_values(lost),
        )
    names, unit_of = np.unique(np.array(texts, dtype=str), return_inverse=True)
    return Units(names.astype(object), unit_of.reshape(-1).astype(np.int64), field)


def within_units(cells: Cells, units: Units) -> Cells:
    """The cells without the borders between units: groups of them cannot cross one, since they are connected."""
    first, second = cells.adjacency.pairs()
    same = units.unit_of[first] == units.unit_of[second]
    borders = np.full(int(same.sum()), np.nan)
    return replace(cells, adjacency=adjacency_of_pairs(first[same], second[same], borders, len(cells)))


@dataclass(frozen=True, eq=False)
class UnitMeasures:
    """Arrays of length u.

    cells, groups : int64; left_out : share of the people, NaN where nobody lives
    distance : mean diagonal of a person's group, in cells, NaN where there is no group
    """

    cells: np.ndarray
    groups: np.ndarray
    left_out: np.ndarray
    distance: np.ndarray


def measure_units(cells: Cells, minimums: Sequence[Minimum], crosswalk: Crosswalk, units: Units) -> UnitMeasures:
    """The measures of each unit on its own, people counted as person-years of the first minimum's fields."""
    weights, n = weights_of(cells, minimums), len(units)
    inside = crosswalk.region_of >= 0
    length = np.where(inside, np.append(diagonals(cells.boxes, crosswalk), 0.0)[crosswalk.region_of], 0.0)
    everyone = np.bincount(units.unit_of, weights, n)
    taken = np.bincount(units.unit_of[inside], weights[inside], n)
    of_group = np.zeros(crosswalk.n_regions, np.int64)
    of_group[crosswalk.region_of[inside]] = units.unit_of[inside]
    with np.errstate(invalid="ignore", divide="ignore"):
        return UnitMeasures(
            np.bincount(units.unit_of, minlength=n),
            np.bincount(of_group, minlength=n),
            1.0 - taken / everyone,
            np.bincount(units.unit_of, weights * length, n) / taken,
        )


@dataclass(frozen=True, eq=False)
class FallBack:
    """A partition as two nested levels: the groups and, of each unit, its rest; above them, the units.

    partition : without the groups that complete a rest; levels : the regions of level 1 are its groups, in their order,
    then the rests; rest_of : (r,) int64, the unit of each rest; n_completing : groups that complete a rest
    """

    partition: Partition
    levels: Levels
    rest_of: np.ndarray
    n_completing: int

    @property
    def n_cells(self) -> int:
        """Cells in no group that have a region on both levels."""
        fine = self.levels.crosswalks[0].region_of
        return int((fine >= self.partition.crosswalk.n_regions).sum())

    def sentence(self) -> str:
        """How many cells fall back, and what that took."""
        return plural(
            "{n} cell falls back to its unit. Groups given up so that each rest reaches the minimums: {given_up}.",
            "{n} cells fall back to their unit. Groups given up so that each rest reaches the minimums: {given_up}.",
            self.n_cells,
            given_up=self.n_completing,
        )


def fall_back(
    cells: Cells, minimums: Sequence[Minimum], partition: Partition, units: Units, beta: float, empty_years: bool
) -> FallBack:
    """Give the cells of no group their unit: the rest of each unit becomes a region, and the units a coarser level.

    The people of a unit but for its groups can be counted by whoever has both levels: so each rest must reach the
    minimums, too. Where it falls short, the group with the fewest people of that unit is given up to complete it, and
    the next, until it does. Where none of that helps, the groups stay and the cells of no group are left out: of a unit
    that has too few people altogether, and, where years may be empty, of one that has a few in some year.
    partition : of cells whose groups lie within the units. Raises PrivacyError where a recount finds a region short.
    """
    reason, region_of = partition.reason.copy(), partition.crosswalk.region_of.copy()
    weights = weights_of(cells, minimums)
    completing = 0
    rest = np.full(len(cells), LEFT_OUT, np.int64)
    lost = np.flatnonzero(region_of < 0)
    for unit in np.unique(units.unit_of[lost]).tolist():
        members = np.flatnonzero(units.unit_of == unit)
        left = members[region_of[members] < 0]
        if not cells.population[left].any():
            continue  # nobody falls back
        before, needed = (region_of[members], reason[members]), 0
        while not reaches(cells.population[left].sum(axis=0), minimums, empty_years):
            groups = region_of[members][region_of[members] >= 0]
            if not len(groups):
                break
            people = np.bincount(groups, weights[members][region_of[members] >= 0])
            fewest = min(np.unique(groups).tolist(), key=lambda group: people[group])
            given_up = members[region_of[members] == fewest]
            region_of[given_up] = LEFT_OUT
            reason[given_up] = COMPLETES_REST
            left = np.union1d(left, given_up)
            needed += 1
        if reaches(cells.population[left].sum(axis=0), minimums, empty_years):
            rest[left] = unit
            completing += needed
        elif needed:
            region_of[members], reason[members] = before
        else:
            reason[left] = UNIT_TOO_SMALL
    groups_left, _ = number_compactly(region_of)
    rests, rest_of = number_compactly(rest)
    fine = np.where(rests.region_of >= 0, groups_left.n_regions + rests.region_of, groups_left.region_of)
    coarse, _ = number_compactly(np.where(fine >= 0, units.unit_of, LEFT_OUT))
    levels = Levels((Crosswalk(fine, groups_left.n_regions + rests.n_regions), coarse))
    for level in levels.crosswalks:
        recount_people(cells, minimums, level, empty_years)
    measures = measure_partition(cells, minimums, groups_left, beta)
    mended = replace(partition, crosswalk=groups_left, reason=np.where(groups_left.region_of >= 0, TAKEN, reason))
    return FallBack(replace(mended, measures=measures), levels, rest_of, completing)


def reaches(people: np.ndarray, minimums: Sequence[Minimum], empty_years: bool) -> np.ndarray:
    """Whether people by field reach every minimum in every year, or are none in a year, where that is allowed.

    people : (m,) or (r, m), people of m fields; returns a bool, or (r,) bool. Nobody in any year is not enough.
    """
    enough = people.any(axis=-1)
    for minimum in minimums:
        of = people[..., list(minimum.columns)]
        enough = enough & ((of >= minimum.k) | (empty_years & (of == 0))).all(axis=-1)
    return np.asarray(enough)
