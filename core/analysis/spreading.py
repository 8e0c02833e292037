"""Where released rows may live: the weight of each row in each area of the region that it shows.

All is estimated, from what is published alone. A row's weights add up to 1, so that no class gains or loses anybody;
they follow the people of the areas, so that a group which lives elsewhere than people do is pulled towards them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..dataclass import dataclass
from ..errors import InputError
from ..language import as_data
from ..levels import without_last_repeats
from ..records.columns import combine_codes
from ..scientific import sparse
from .released import ReleasedRows

NONE, AT_LEVEL_1, IN_ZONES = as_data("none"), as_data("where level 1 shows the class"), as_data("in zones")
LEAVE_OUT = (NONE, AT_LEVEL_1, IN_ZONES)


@dataclass(frozen=True, eq=False)
class Spread:
    """The weights of R rows in n areas. Many rows share theirs: what is kept is P profiles of weights.

    profiles : (P, n) sparse, each row adds up to 1; stored where the row may live, 0 where nobody is known to live
    profile_of : (R,) int64, the profile of each row
    records : (R,) float, how many records each row stands for; level : (R,) int64, where it is shown, 0-based
    """

    profiles: sparse.csr_matrix
    profile_of: np.ndarray
    records: np.ndarray
    level: np.ndarray

    @property
    def in_one_area(self) -> np.ndarray:
        """Whether a profile knows its area: all of its weight is in one, (P,) bool."""
        return np.asarray(np.bincount(self._row_of[self.profiles.data > 0], minlength=self.profiles.shape[0]) == 1)

    @property
    def _row_of(self) -> np.ndarray:
        """The profile of each weight that is stored."""
        return np.repeat(np.arange(self.profiles.shape[0], dtype=np.int64), np.diff(self.profiles.indptr))

    def counts(self, group_of: np.ndarray | None = None, n_groups: int = 1) -> AreaCounts:
        """How many records of each group are estimated to live in each area, with what is behind the number.

        group_of : (R,) int64, 0..n_groups - 1; None for a single group of all rows
        """
        group_of = np.zeros(len(self.profile_of), np.int64) if group_of is None else group_of
        n = self.profiles.shape[0]

        def by_area(weights: sparse.csr_matrix, of_rows: np.ndarray) -> np.ndarray:
            of_profiles = sparse.csr_matrix((of_rows, (group_of, self.profile_of)), shape=(n_groups, n))
            return (of_profiles @ weights).toarray()

        squared, present, known = (self.profiles.copy() for _ in range(3))
        squared.data **= 2
        present.data = (present.data > 0).astype(float)
        known.data *= self.in_one_area[self._row_of]
        return AreaCounts(*(by_area(weights, self.records) for weights in (self.profiles, present, squared, known)))

    def total(self, of_rows: ArrayLike) -> np.ndarray:
        """A quantity of the rows, (R,), spread over the areas by their weights and added up there, (n,)."""
        of_profiles = np.bincount(self.profile_of, np.asarray(of_rows, float), self.profiles.shape[0])
        return np.asarray(self.profiles.T @ of_profiles)

    def exposure(self, values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The mean of a quantity of the areas over where each row may live, and its standard deviation there, (R,).

        values : (n,); the deviation says how little is known of the row's own exposure: 0 where its area is known.
        Raises InputError where a row may live in an area without a value.
        """
        values = np.asarray(values, float)
        lost = ~np.isfinite(values)
        used = np.asarray(self.profiles[:, lost].sum(axis=1)).ravel() > 0
        if used.any():
            raise InputError.counting(
                "{n} area has no exposure, but rows may live there: give it a value, or leave these rows out.",
                "{n} areas have no exposure, but rows may live there: give them values, or leave these rows out.",
                int(lost.sum()),
            )
        middle = float(values[~lost].mean()) if (~lost).any() else 0.0
        centred = np.where(lost, 0.0, values - middle)  # so that nothing is lost to rounding
        mean = self.profiles @ centred
        spread = np.sqrt(np.maximum(self.profiles @ centred**2 - mean**2, 0.0))
        spread[self.in_one_area] = 0.0
        return (mean + middle)[self.profile_of], spread[self.profile_of]

    def row_weights(self) -> sparse.csr_matrix:
        """The weight of each row in each area, (R, n) sparse."""
        weights = self.profiles[self.profile_of]
        weights.eliminate_zeros()
        return weights


@dataclass(frozen=True, eq=False)
class AreaCounts:
    """Of G groups and n areas, (G, n) float each.

    estimate : estimated records; rows : records that may live there; squares : sum of squared weights
    known : the part of the estimate from records whose area is known
    """

    estimate: np.ndarray
    rows: np.ndarray
    squares: np.ndarray
    known: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Of the records of the area those of the group; NaN where none is estimated to live."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.estimate / self.estimate.sum(axis=0))

    @property
    def effective(self) -> np.ndarray:
        """To how many records of a known area the estimate is equal in what it rests on (Kish 1965): the square of the
        sum of the weights over the sum of their squares; 0 where there is none."""
        return np.divide(self.estimate**2, self.squares, out=np.zeros_like(self.squares), where=self.squares > 0)

    @property
    def at_area(self) -> np.ndarray:
        """The share of the estimate from records whose area is known; NaN where none is estimated."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.known / self.estimate)


def spread(rows: ReleasedRows, leave_out: str = NONE, quasi_identifiers: Sequence[str] = ()) -> Spread:
    """Spread the rows over the areas of their regions, by the people who live there.

    The weight of a row in an area is the area's people over those of the row's region; where nobody lives, all areas of
    the region weigh the same.

    Parameters
    ----------
    rows : ReleasedRows
        R rows, in n areas.
    leave_out : str
        Of LEAVE_OUT: which areas a row cannot live in, by how the release was made. AT_LEVEL_1: those that show its
        class themselves, of a nested release whose level 1 is the areas, since the records of an area and class are
        shown together there. IN_ZONES: those within any smaller region that shows its class, of a nested release from
        which no small count follows. Neither holds of an update, which shows newcomers where others of their class
        are not; neither is done at levels of coarser values.
    quasi_identifiers : sequence of str
        The fields that make a class; needed to leave areas out.

    Returns
    -------
    Spread
        The weights.

    Raises
    ------
    InputError
        Where AT_LEVEL_1 is asked of a release whose level 1 joins areas, and where no area is left to a row, as in a
        release that was made otherwise.

    Examples
    --------
    >>> from vbas.core.analysis.released import released_rows
    >>> from vbas.core.analysis.spreading import AT_LEVEL_1, spread
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.crosswalk import crosswalk_from_table
    >>> from vbas.core.levels import Levels, own_regions
    >>> from vbas.core.records.columns import column_from_values
    >>> areas = make_areas(["a", "b", "c"], [(0, 0), (900, 0), (0, 900)], [30, 50, 20])
    >>> levels = Levels((own_regions(3), crosswalk_from_table(areas, list("abc"), [1, 1, 1])))
    >>> shown = {"vbas_level": [1, 2], "vbas_region": [2, 1], "sex": ["F", "F"]}
    >>> rows = released_rows(areas, levels, {name: column_from_values(one) for name, one in shown.items()})
    >>> spread(rows).row_weights().toarray().tolist()
    [[0.0, 1.0, 0.0], [0.3, 0.5, 0.2]]
    >>> spread(rows, AT_LEVEL_1, ["sex"]).row_weights().toarray().tolist()
    [[0.0, 1.0, 0.0], [0.6, 0.0, 0.4]]
    """
    members = sparse.vstack([crosswalk.membership() for crosswalk in rows.levels.crosswalks], format="csr").astype(
        float
    )
    first = rows.levels.first_regions()
    place = first[rows.level] + rows.region
    if leave_out == NONE or not len(rows):
        used, profile_of = np.unique(place, return_inverse=True)
        possible = members[used]
    else:
        class_of, classes = rows.groups(quasi_identifiers)
        profile_of, combinations = combine_codes([place, class_of], [int(first[-1]), len(classes)])
        possible = _possible(rows, members, combinations[:, 0], combinations[:, 1], len(classes), leave_out)
    return Spread(
        _by_people(possible, rows.areas.population), profile_of.reshape(-1), rows.records, rows.level.astype(np.int64)
    )


def _by_people(possible: sparse.csr_matrix, population: np.ndarray) -> sparse.csr_matrix:
    """Where rows may live, weighted by people; alike where nobody lives there. (P, n)"""
    weights = possible.copy()
    weights.data = population[weights.indices].astype(float)
    people = np.asarray(weights.sum(axis=1)).ravel()
    empty = np.repeat(people == 0, np.diff(weights.indptr))
    weights.data[empty] = 1.0
    total = np.asarray(weights.sum(axis=1)).ravel()
    weights.data /= np.repeat(total, np.diff(weights.indptr))
    return weights


def _possible(
    rows: ReleasedRows,
    members: sparse.csr_matrix,
    place: np.ndarray,
    class_of: np.ndarray,
    n_classes: int,
    leave_out: str,
) -> sparse.csr_matrix:
    """The areas that each class of a region may live in, (Q, n) of 0 and 1; place, class_of : (Q,)."""
    levels, plain = rows.levels, len(without_last_repeats(rows.levels))
    sizes = levels.first_regions()
    level = np.searchsorted(sizes, place, side="right") - 1
    if leave_out == AT_LEVEL_1 and levels.crosswalks[0].n_regions < (levels.crosswalks[0].region_of >= 0).sum():
        raise InputError.saying(
            "LEAVE_OUT is “{chosen}”, but level 1 of the release joins areas: what an area shows itself is not known. "
            "Choose “{none}”.",
            chosen=AT_LEVEL_1,
            none=NONE,
        )
    possible = members[place]
    known = sparse.csr_matrix((n_classes, members.shape[1]))  # which areas are known to show a class more finely
    parts = []
    for own_level in range(len(levels)):
        here = np.flatnonzero(level == own_level)
        there = possible[here]
        if own_level and own_level < plain:
            there = (there - there.multiply(known[class_of[here]])).tocsr()
            there.eliminate_zeros()
        parts.append(there)
        if own_level == 0 or leave_out == IN_ZONES:
            marks = sparse.csr_matrix((np.ones(len(here)), (class_of[here], here)), shape=(n_classes, len(place)))
            known = ((known + marks @ possible) > 0).astype(float)
    order = np.argsort(
        np.concatenate([np.flatnonzero(level == position) for position in range(len(levels))]), kind="stable"
    )
    left = sparse.vstack(parts, format="csr")[order]
    nowhere = np.flatnonzero(np.diff(left.indptr) == 0)
    if len(nowhere):
        at = nowhere[0]
        raise InputError.counting(
            "LEAVE_OUT is “{chosen}”, but {n} class is then left without an area (first: level {level}, region "
            "{region}): the release was not made like that. Choose “{none}”.",
            "LEAVE_OUT is “{chosen}”, but {n} classes are then left without an area (first: level {level}, region "
            "{region}): the release was not made like that. Choose “{none}”.",
            len(nowhere),
            chosen=leave_out,
            none=NONE,
            level=int(level[at]) + 1,
            region=int(levels.crosswalks[level[at]].numbers[place[at] - sizes[level[at]]]),
        )
    return left


def rows_of_equal_weights(rows: ReleasedRows, weights: Spread, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The classes of rows that share level, region, these fields and their weights, sorted by them.

    Returns the position of one row of each, (Q,) int64, and the records of each, (Q,) int64.
    """
    group_of, groups = rows.groups(names)
    most = max(crosswalk.n_regions for crosswalk in rows.levels.crosswalks)
    sizes = [len(rows.levels), most, len(groups), weights.profiles.shape[0]]
    class_of, classes = combine_codes([rows.level, rows.region, group_of, weights.profile_of], sizes)
    first_row = np.empty(len(classes), np.int64)
    first_row[class_of] = np.arange(len(class_of), dtype=np.int64)
    return first_row, np.bincount(class_of, rows.records, len(classes)).astype(np.int64)
