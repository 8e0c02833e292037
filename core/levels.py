"""Levels: what records may be shown at, from fine to coarse. A level is a crosswalk, and how high each quasi-identifier
stands in its hierarchy. Areas that share a region share one at every coarser level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .areas import Areas, identifier_text
from .arrays import to_list
from .crosswalk import LEFT_OUT, Crosswalk, number_compactly
from .dataclass import dataclass
from .elementary import norms
from .errors import InputError, first_values
from .language import tr
from .parameters import LEAST_POPULATION


@dataclass(frozen=True, eq=False)
class Levels:
    """L nested crosswalks of the same n areas, the finest first; see `make_levels`.

    Parameters
    ----------
    crosswalks : tuple of Crosswalk
        Of each level.
    names : tuple of ndarray of shape (n_regions,), object
        Of each level, what its regions are called; None where they have numbers only, as all do where none is given.
    heights : tuple of mappings
        Of each level, by quasi-identifier, how much coarser than elsewhere it is shown there, as a level of its
        hierarchy; one that is not named is shown as it is, as all are where none is given.

    Examples
    --------
    >>> import numpy as np
    >>> from vbas.core.crosswalk import Crosswalk
    >>> from vbas.core.levels import Levels
    >>> levels = Levels((Crosswalk(np.array([0, 0, 1, 1]), 2), Crosswalk(np.array([0, 0, 0, 0]), 1)))
    >>> len(levels), levels.parents(0).tolist()
    (2, [0, 0])
    """

    crosswalks: tuple[Crosswalk, ...]
    names: tuple[np.ndarray | None, ...] = ()
    heights: tuple[Mapping[str, int], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", self.names or (None,) * len(self.crosswalks))
        object.__setattr__(self, "heights", self.heights or ({},) * len(self.crosswalks))

    @property
    def coarser(self) -> tuple[str, ...]:
        """The quasi-identifiers that some level shows coarser, in the order in which they are given up."""
        return tuple(dict.fromkeys(name for heights in self.heights for name in heights))

    def nodes(self, names: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """Of each level, how high each of these quasi-identifiers is shown in its hierarchy: 0 as it is."""
        return tuple(tuple(here.get(name, 0) for name in names) for here in self.heights)

    def __len__(self) -> int:
        return len(self.crosswalks)

    @property
    def region_of(self) -> list[np.ndarray]:
        """Of each level, the region of each area, (n,) int64."""
        return [crosswalk.region_of for crosswalk in self.crosswalks]

    def first_regions(self) -> np.ndarray:
        """How many regions come before those of each level, and how many there are of all, (L + 1,) int64."""
        return np.cumsum([0, *(crosswalk.n_regions for crosswalk in self.crosswalks)], dtype=np.int64)

    def numbers(self, level: np.ndarray, region: np.ndarray) -> np.ndarray:
        """The public numbers of some regions; level, region : (R,) 0-based. Returns (R,) of the smallest type."""
        most = max(int(np.abs(crosswalk.numbers).max(initial=0)) for crosswalk in self.crosswalks)
        numbers = np.zeros(len(region), np.min_scalar_type(-most - 1))
        for at, crosswalk in enumerate(self.crosswalks):
            here = level == at
            numbers[here] = crosswalk.numbers[region[here]]
        return numbers

    def regions(self, level: np.ndarray, number: np.ndarray) -> np.ndarray:
        """The position among those of its level of each region by its public number, (R,) int64; LEFT_OUT for a level
        or number that there is not."""
        position = np.full(len(level), LEFT_OUT, np.int64)
        for at, crosswalk in enumerate(self.crosswalks):
            here, order = np.flatnonzero(level == at), np.argsort(crosswalk.numbers)
            place = order[np.searchsorted(crosswalk.numbers, number[here], sorter=order).clip(max=len(order) - 1)]
            position[here] = np.where(crosswalk.numbers[place] == number[here], place, LEFT_OUT)
        return position

    def parents(self, level: int) -> np.ndarray:
        """The region of the next level that holds each region of this one, (n_regions,) int64; none for the last."""
        crosswalk = self.crosswalks[level]
        parents = np.full(crosswalk.n_regions, LEFT_OUT, np.int64)
        if level + 1 < len(self):
            inside = crosswalk.region_of >= 0
            parents[crosswalk.region_of[inside]] = self.crosswalks[level + 1].region_of[inside]
        return parents


def own_regions(n_areas: int) -> Crosswalk:
    """The crosswalk in which each of n areas is a region of its own."""
    return Crosswalk(np.arange(n_areas, dtype=np.int64), n_areas)


def make_levels(
    areas: Areas,
    crosswalks: Sequence[Crosswalk],
    names: Sequence[np.ndarray | None] = (),
    titles: Sequence[str] = (),
    keep_all: bool = False,
) -> Levels:
    """Levels from crosswalks of the areas, the finest first, which are checked.

    A level that repeats the one before is dropped, unless all are to be kept, as their numbers stand in a table.

    Parameters
    ----------
    areas : Areas
        n areas.
    crosswalks : sequence of L Crosswalk
        Of the same areas, in the same order.
    names : sequence of L ndarray, optional
        Of each crosswalk, what its regions are called, (n_regions,); None for numbers only.
    titles : sequence of L str, optional
        What each crosswalk is called in messages.
    keep_all : bool
        Whether a level that repeats the one before is kept.

    Returns
    -------
    Levels
        Up to L of them.

    Raises
    ------
    InputError
        Where there is none, and where two do not nest, with the areas.

    Examples
    --------
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.crosswalk import crosswalk_from_table
    >>> from vbas.core.levels import make_levels
    >>> areas = make_areas(list("abcd"), [(0, 0), (100, 0), (0, 900), (100, 900)])
    >>> fine, coarse = (crosswalk_from_table(areas, list("abcd"), one) for one in ([1, 1, 2, 3], [1, 1, 2, 2]))
    >>> [crosswalk.n_regions for crosswalk in make_levels(areas, [fine, fine, coarse]).crosswalks]
    [3, 2]
    """
    if not crosswalks:
        raise InputError.saying("No level is given: a nested release needs at least one.")
    titles = titles or [tr("level {i}", i=i + 1) for i in range(len(crosswalks))]
    kept = [0]
    for i in range(1, len(crosswalks)):
        fine, coarse = crosswalks[kept[-1]], crosswalks[i]
        _check_nested(areas, fine, coarse, titles[kept[-1]], titles[i])
        if keep_all or coarse.n_regions < fine.n_regions:
            kept.append(i)
    return Levels(tuple(crosswalks[i] for i in kept), tuple(names[i] for i in kept) if names else ())


def without_last_repeats(levels: Levels) -> Levels:
    """The levels but for last ones of the same regions as the one before, as levels of coarser values have them.

    Regions that nest, and leave out the same areas, are the same where they are as many.
    """
    n = len(levels)
    while n > 1 and levels.crosswalks[n - 2].n_regions == levels.crosswalks[n - 1].n_regions:
        n -= 1
    return Levels(levels.crosswalks[:n], levels.names[:n])


def with_coarser_values(levels: Levels, steps: Sequence[tuple[str, int]]) -> Levels:
    """The levels, and above them one more for each step, of the coarsest regions again and with coarser values.

    Parameters
    ----------
    levels : Levels
        L levels that show values as they are.
    steps : sequence of (str, int)
        A quasi-identifier and the level of its hierarchy, in the order in which they are given up; each level keeps
        what those before it made coarser.

    Returns
    -------
    Levels
        L levels and one for each step.

    Raises
    ------
    InputError
        Where a step is not above the one before of its quasi-identifier.

    Examples
    --------
    >>> from vbas.core.levels import Levels, own_regions, with_coarser_values
    >>> levels = with_coarser_values(Levels((own_regions(3),)), [("age", 1), ("sex", 1), ("age", 2)])
    >>> levels.heights
    ({}, {'age': 1}, {'age': 1, 'sex': 1}, {'age': 2, 'sex': 1})
    """
    heights: dict[str, int] = {}
    of_levels: list[Mapping[str, int]] = [{} for _ in levels.crosswalks]
    for name, level in steps:
        if level <= heights.get(name, 0):
            raise InputError.saying(
                "“{name}” is to be shown at level {level} after level {previous}: values become coarser from level to "
                "level, so give its levels in ascending order.",
                name=name,
                level=level,
                previous=heights.get(name, 0),
            )
        heights = {**heights, name: level}
        of_levels.append(heights)
    more = len(steps)
    names = (*levels.names, *(levels.names[-1:] * more))
    return Levels((*levels.crosswalks, *(levels.crosswalks[-1:] * more)), names, tuple(of_levels))


def levels_from_fields(areas: Areas, fields: Sequence[str], values: Sequence[Sequence[object]]) -> Levels:
    """Levels from fields of the areas, the finest first, such as tract, municipality, province.

    Areas without a value in a finer field, but with one in the next, make one region of their own there: the rest of
    that municipality, say. Areas without a value in the last field are left out.

    Parameters
    ----------
    areas : Areas
        n areas.
    fields : sequence of L str
        The names of the fields, for messages.
    values : sequence of L sequences of n values
        Of each field, its value in each area, compared as text.

    Returns
    -------
    Levels
        Their regions with the values as names.

    Raises
    ------
    InputError
        Where fields do not nest, with the areas.

    Examples
    --------
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.levels import levels_from_fields
    >>> areas = make_areas(list("abc"), [(0, 0), (500, 0), (900, 0)])
    >>> levels = levels_from_fields(areas, ["town", "province"], [["Brandon", None, "Regina"], ["MB", "MB", "SK"]])
    >>> [names.tolist() for names in levels.names]
    [['Brandon', 'Regina', 'rest of MB'], ['MB', 'SK']]
    """
    texts = [[identifier_text(value) for value in column] for column in values]
    crosswalks: list[Crosswalk] = []
    names: list[np.ndarray] = []
    above: list[str | None] = [None] * len(areas)
    for field, column in zip(reversed(fields), reversed(texts)):
        if crosswalks:
            lost = [
                identifier
                for identifier, value, coarse in zip(areas.identifiers, column, above)
                if value is not None and coarse is None
            ]
            if lost:
                raise InputError.counting(
                    "{n} area has a value in “{field}”, but none in a coarser field of LEVEL_FIELDS ({first}): fill "
                    "the coarser field.",
                    "{n} areas have a value in “{field}”, but none in a coarser field of LEVEL_FIELDS ({first}): fill "
                    "the coarser field.",
                    len(lost),
                    field=field,
                    first=first_values(lost),
                )
            column = [
                f"rest of {coarse}" if value is None and coarse is not None else value
                for value, coarse in zip(column, above)
            ]
        used = sorted({value for value in column if value is not None})
        if not used:
            raise InputError.saying(
                "Field “{field}” of LEVEL_FIELDS is empty in all areas: choose another.", field=field
            )
        number = {value: i for i, value in enumerate(used)}
        region_of = np.array([LEFT_OUT if value is None else number[value] for value in column], np.int64)
        crosswalks.insert(0, Crosswalk(region_of, len(used)))
        names.insert(0, np.array(used, dtype=object))
        above = column
    return make_levels(areas, crosswalks, names, [tr("field “{field}”", field=field) for field in fields])


def with_least_population(areas: Areas, levels: Levels, least: float) -> Levels:
    """Levels whose regions all have at least as many people.

    From the coarsest level down, the smallest region that has fewer is joined with the nearest one in the same region
    of the next level, until none has. So what is left of a region without some of those inside it has as many people,
    too: nobody can take away what the finer levels show, and be left with fewer. Names are joined by “ + ”.

    Parameters
    ----------
    areas : Areas
        n areas with their people.
    levels : Levels
        Of the same areas.
    least : float
        People; 0 for any number.

    Returns
    -------
    Levels
        As many levels or fewer: one that repeats the one before is dropped.

    Raises
    ------
    InputError
        For a number below 0, and where all areas together have fewer people.

    Examples
    --------
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.levels import Levels, own_regions, with_least_population
    >>> areas = make_areas(list("abc"), [(0, 0), (100, 0), (900, 0)], [30, 40, 60])
    >>> joined = with_least_population(areas, Levels((own_regions(3),)), 50)
    >>> joined.crosswalks[0].totals(areas.population).tolist()
    [70.0, 60.0]
    """
    if not some_have_fewer(areas, levels.crosswalks, least):
        return levels
    within = np.zeros(len(areas), np.int64)
    crosswalks: list[Crosswalk] = []
    names: list[np.ndarray | None] = []
    for level in range(len(levels) - 1, -1, -1):
        crosswalk = levels.crosswalks[level]
        joined, _ = number_compactly(_joined_to(areas, crosswalk, within, least)[crosswalk.region_of])
        joined = Crosswalk(np.where(crosswalk.region_of < 0, LEFT_OUT, joined.region_of), joined.n_regions)
        old = levels.names[level]
        crosswalks.insert(0, joined)
        names.insert(0, None if old is None else _joined_names(old, crosswalk, joined))
        within = joined.region_of
    return make_levels(areas, crosswalks, names)


def some_have_fewer(areas: Areas, crosswalks: Sequence[Crosswalk], least: float) -> bool:
    """Whether a region of some crosswalk has fewer people than are asked for; the last has the largest regions.

    Raises InputError for a number below 0, and where all areas together have fewer people.
    """
    LEAST_POPULATION.check(least)
    if not least or all(crosswalk.totals(areas.population).min() >= least for crosswalk in crosswalks):
        return False
    people = float(crosswalks[-1].totals(areas.population).sum())
    if people < least:
        raise InputError.counting(
            "LEAST_POPULATION is {least:.15g}, but all areas together have {n:.15g} person: choose a smaller one.",
            "LEAST_POPULATION is {least:.15g}, but all areas together have {n:.15g} people: choose a smaller one.",
            people,
            least=least,
        )
    return True


def _joined_to(areas: Areas, crosswalk: Crosswalk, within: np.ndarray, least: float) -> np.ndarray:
    """The region that each region is joined with, (n_regions,); within : (n,) the region of the next level."""
    people = crosswalk.totals(areas.population)
    centres = crosswalk.mean_centres(areas.points)
    parent = np.zeros(crosswalk.n_regions, np.int64)
    inside = crosswalk.region_of >= 0
    parent[crosswalk.region_of[inside]] = within[inside]
    joined = np.arange(crosswalk.n_regions, dtype=np.int64)
    for siblings in np.split(np.argsort(parent, kind="stable"), np.cumsum(np.bincount(parent))[:-1]):
        left = siblings
        while len(left) > 1 and people[left].min() < least:
            small = left[people[left].argmin()]
            left = left[left != small]
            near = left[norms(centres[left] - centres[small]).argmin()]
            joined[joined == small] = near
            total = people[near] + people[small]
            if total > 0:
                centres[near] = (people[near] * centres[near] + people[small] * centres[small]) / total
            people[near] = total
    return joined


def _joined_names(names: np.ndarray, old: Crosswalk, new: Crosswalk) -> np.ndarray:
    """What joined regions are called."""
    inside = old.region_of >= 0
    pairs = sorted(set(zip(to_list(new.region_of[inside]), to_list(old.region_of[inside]))))
    parts: list[list[str]] = [[] for _ in range(new.n_regions)]
    for region, part in pairs:
        parts[region].append(str(names[part]))
    return np.array([" + ".join(labels) for labels in parts], dtype=object)


def _check_nested(areas: Areas, fine: Crosswalk, coarse: Crosswalk, fine_title: str, coarse_title: str) -> None:
    """Raises InputError unless each region of `fine` lies in one region of `coarse`, and both leave out the same."""
    differ = (fine.region_of < 0) != (coarse.region_of < 0)
    if differ.any():
        raise InputError.counting(
            "{n} area has a region in only one of {fine_title} and {coarse_title} ({first}): give it one in both, or "
            "in none.",
            "{n} areas have a region in only one of {fine_title} and {coarse_title} ({first}): give them one in both, "
            "or in none.",
            int(differ.sum()),
            fine_title=fine_title,
            coarse_title=coarse_title,
            first=first_values(areas.identifiers[differ]),
        )
    inside = np.flatnonzero(fine.region_of >= 0)
    parent_of = np.zeros(fine.n_regions, np.int64)
    parent_of[fine.region_of[inside]] = coarse.region_of[inside]
    split = np.unique(fine.region_of[inside][parent_of[fine.region_of[inside]] != coarse.region_of[inside]])
    if len(split):
        across = np.isin(fine.region_of, split)
        raise InputError.counting(
            "The levels do not nest: {n} region of {fine_title} lies in several regions of {coarse_title} (areas "
            "{first}): order the levels from fine to coarse, or correct them.",
            "The levels do not nest: {n} regions of {fine_title} lie in several regions of {coarse_title} (areas "
            "{first}): order the levels from fine to coarse, or correct them.",
            len(split),
            fine_title=fine_title,
            coarse_title=coarse_title,
            first=first_values(areas.identifiers[across]),
        )
