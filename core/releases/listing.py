"""Pinned counts and visible changes as rows, for a table or a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import to_list
from .examining import AllExamined
from .pinned import Count, Pinned
from .published import MISSING, Published
from .updates import Changes

ANY, OTHERS, NO_VALUE = "(several)", "(not shown)", "(missing)"
CHANGE = "change since"


@dataclass(frozen=True, eq=False)
class Row:
    """One count of a few people.

    kind : what it is; areas : identifiers of the areas they live in; values : of each quasi-identifier
    low, high : how many they are; releases : positions of the releases that tell
    """

    kind: str
    areas: np.ndarray
    values: dict[str, str]
    low: int
    high: int
    releases: tuple[int, ...]


def rows_of(found: AllExamined, releases: Sequence[Published]) -> list[Row]:
    """All counts, the pinned ones first."""
    rows = []
    if found.pinned is not None:
        rows = [_of_count(found.pinned, count, found.kept) for count in found.pinned.counts]
    for earlier, later, changes in found.changes:
        rows += _of_changes(changes, releases[later], (earlier, later))
    return rows


def quasi_identifiers_of(releases: Sequence[Published]) -> list[str]:
    """All quasi-identifiers of the releases, in the order they come."""
    return list(dict.fromkeys(name for release in releases for name in release.quasi_identifiers))


def _of_count(pinned: Pinned, count: Count, kept: tuple[int, ...]) -> Row:
    over = pinned.overlay
    areas = over.areas[np.isin(over.cell_of, count.cells)]
    every = [over.values_of(one) for one in to_list(count.joint)]
    values = {}
    for name in every[0]:
        found = {one[name] for one in every}
        values[name] = ANY if len(found) > 1 else _text(found.pop())
    return Row(count.kind, areas, values, count.low, count.high, tuple(kept[one] for one in count.releases))


def _of_changes(changes: Changes, later: Published, releases: tuple[int, int]) -> list[Row]:
    classes = later.values_of_classes()
    rows = []
    columns = (changes.level, changes.region, changes.class_of, np.abs(changes.after - changes.before))
    for level, region, class_of, change in zip(*(one.tolist() for one in columns)):
        areas = later.areas[later.levels.crosswalks[level].region_of == region]
        values = {name: _text(value) for name, value in zip(later.quasi_identifiers, classes[class_of])}
        rows.append(Row(CHANGE, areas, values, change, change, releases))
    return rows


def _text(value: str | None) -> str:
    return OTHERS if value is None else NO_VALUE if value == MISSING else value
