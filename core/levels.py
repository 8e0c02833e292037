"""Levels: nested crosswalks, from fine to coarse. Areas that share a region share one at every coarser level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .areas import Areas, identifier_text
from .crosswalk import LEFT_OUT, Crosswalk
from .errors import InputError, first_values


@dataclass(frozen=True, eq=False)
class Levels:
    """L nested crosswalks of the same n areas, the finest first; see `make_levels`.

    names : of each level, (n_regions,) object array, what its regions are called; None where they have numbers only
    """

    crosswalks: tuple[Crosswalk, ...]
    names: tuple[np.ndarray | None, ...] = ()

    def __len__(self) -> int:
        return len(self.crosswalks)

    @property
    def region_of(self) -> list[np.ndarray]:
        """Of each level, the region of each area, (n,) int64."""
        return [crosswalk.region_of for crosswalk in self.crosswalks]

    def parents(self, level: int) -> np.ndarray:
        """The region of the next level that holds each region of this one, (n_regions,) int64; none for the last."""
        crosswalk = self.crosswalks[level]
        parents = np.full(crosswalk.n_regions, LEFT_OUT)
        if level + 1 < len(self):
            inside = crosswalk.region_of >= 0
            parents[crosswalk.region_of[inside]] = self.crosswalks[level + 1].region_of[inside]
        return parents


def own_regions(n_areas: int) -> Crosswalk:
    """The crosswalk in which each of n areas is a region of its own."""
    return Crosswalk(np.arange(n_areas), n_areas)


def make_levels(
    areas: Areas,
    crosswalks: Sequence[Crosswalk],
    names: Sequence[np.ndarray | None] = (),
    titles: Sequence[str] = (),
    keep_all: bool = False,
) -> Levels:
    """Levels from crosswalks of the areas, the finest first, which are checked.

    A level that repeats the one before is dropped, unless all are to be kept, as their numbers stand in a table.
    titles : what each crosswalk is called in messages.
    Raises InputError where there is none, and where two do not nest, with the areas.
    """
    if not crosswalks:
        raise InputError("No level is given: a nested release needs at least one.")
    titles = titles or [f"level {i + 1}" for i in range(len(crosswalks))]
    kept = [0]
    for i in range(1, len(crosswalks)):
        fine, coarse = crosswalks[kept[-1]], crosswalks[i]
        _check_nested(areas, fine, coarse, titles[kept[-1]], titles[i])
        if keep_all or coarse.n_regions < fine.n_regions:
            kept.append(i)
    return Levels(tuple(crosswalks[i] for i in kept), tuple(names[i] for i in kept) if names else ())


def levels_from_fields(areas: Areas, fields: Sequence[str], values: Sequence[Sequence[object]]) -> Levels:
    """Levels from fields of the areas, the finest first, such as tract, municipality, province.

    values : of each field, its value in each area, compared as text. Areas without a value in a finer field, but with
    one in the next, make one region of their own there: the rest of that municipality, say. Areas without a value in
    the last field are left out. Raises InputError where fields do not nest, with the areas.
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
                raise InputError(
                    f"{len(lost)} areas have a value in “{field}”, but none in a coarser field of LEVEL_FIELDS "
                    f"({first_values(lost)}): fill the coarser field."
                )
            column = [
                f"rest of {coarse}" if value is None and coarse is not None else value
                for value, coarse in zip(column, above)
            ]
        used = sorted({value for value in column if value is not None})
        if not used:
            raise InputError(f"Field “{field}” of LEVEL_FIELDS is empty in all areas: choose another.")
        number = {value: i for i, value in enumerate(used)}
        region_of = np.array([LEFT_OUT if value is None else number[value] for value in column], np.int64)
        crosswalks.insert(0, Crosswalk(region_of, len(used)))
        names.insert(0, np.array(used, dtype=object))
        above = column
    return make_levels(areas, crosswalks, names, [f"field “{field}”" for field in fields])


def _check_nested(areas: Areas, fine: Crosswalk, coarse: Crosswalk, fine_title: str, coarse_title: str) -> None:
    """Raises InputError unless each region of `fine` lies in one region of `coarse`, and both leave out the same."""
    differ = (fine.region_of < 0) != (coarse.region_of < 0)
    if differ.any():
        raise InputError(
            f"{int(differ.sum())} areas have a region in only one of {fine_title} and {coarse_title} "
            f"({first_values(areas.identifiers[differ])}): give them one in both, or in none."
        )
    inside = np.flatnonzero(fine.region_of >= 0)
    one = np.zeros(fine.n_regions, np.int64)
    one[fine.region_of[inside]] = coarse.region_of[inside]
    split = np.unique(fine.region_of[inside][one[fine.region_of[inside]] != coarse.region_of[inside]])
    if len(split):
        across = np.isin(fine.region_of, split)
        raise InputError(
            f"The levels do not nest: {len(split)} regions of {fine_title} lie in several regions of {coarse_title} "
            f"(areas {first_values(areas.identifiers[across])}): order the levels from fine to coarse, or correct them."
        )
