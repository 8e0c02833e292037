"""Disclosed counts and visible changes as rows, for a table or a report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..disclosure.counts import HOMOGENEOUS, Count
from ..disclosure.disclosed import DisclosedCounts
from ..disclosure.published import Published
from ..disclosure.values import MISSING
from ..language import as_data
from .examining import AllExamined
from .updates import Changes

ANY, OTHERS, NO_VALUE = "(several)", "(not shown)", "(missing)"
CHANGE, HOMOGENEOUS_CHANGE = as_data("change since"), as_data("change by one sensitive value")
CHANGE_BY_VALUES = as_data("change told by sensitive values")
OF_ONE_VALUE = (HOMOGENEOUS, HOMOGENEOUS_CHANGE)


@dataclass(frozen=True, eq=False)
class Row:
    """One count of a few people.

    kind : what it is; areas : identifiers of the areas they live in; values : of each quasi-identifier
    low, high : how many they are; less : people of these areas and values whom the first of the releases shows there,
    and who are not counted; releases : positions of the releases that tell
    sensitive : their sensitive values, where they are known, or how those of a changed count changed
    """

    kind: str
    areas: np.ndarray
    values: dict[str, str]
    low: int
    high: int
    releases: tuple[int, ...]
    sensitive: str = ""
    less: int = 0


def rows_of(findings: AllExamined, releases: Sequence[Published]) -> list[Row]:
    """All counts, the disclosed ones first, and last those of k people and more who have one sensitive value."""
    rows = [_of_count(disclosed, count, kept) for disclosed, kept in findings.each for count in disclosed.counts]
    for kind, pairs in ((CHANGE, findings.changes), (HOMOGENEOUS_CHANGE, findings.homogeneous)):
        for earlier, later, changes in pairs:
            rows += _of_changes(kind, changes, releases[later], (earlier, later))
    return sorted(rows, key=lambda row: row.kind in OF_ONE_VALUE)


def quasi_identifiers_of(releases: Sequence[Published]) -> list[str]:
    """All quasi-identifiers of the releases, in the order they come."""
    return list(dict.fromkeys(name for release in releases for name in release.quasi_identifiers))


def _of_count(disclosed: DisclosedCounts, count: Count, kept: tuple[int, ...]) -> Row:
    over = disclosed.overlay
    areas = over.areas[np.isin(over.cell_of, count.cells)]
    every = [over.values_of(joint_class) for joint_class in to_list(count.joint)]
    values = {}
    for name in every[0]:
        own_values = {of_class[name] for of_class in every}
        values[name] = ANY if len(own_values) > 1 else _text(own_values.pop())
    of = tuple(kept[number] for number in count.releases)
    sensitive = "; ".join(f"{name}: {_text(value)} {number}" for name, value, number in count.values)
    return Row(count.kind, areas, values, count.low, count.high, of, sensitive, count.less)


def _of_changes(kind: str, changes: Changes, later: Published, releases: tuple[int, int]) -> list[Row]:
    classes = later.values_of_classes()
    rows = []
    columns = (changes.level, changes.region, changes.class_of, changes.people, changes.by_values)
    disclosed = (
        "; ".join(f"{name}: {_text(value)} {number:+d}" for name, value, number in of_change)
        for of_change in changes.values
    )
    for level, region, class_of, change, by_values, sensitive in zip(*map(to_list, columns), disclosed):
        areas = later.areas[later.levels.crosswalks[level].region_of == region]
        values = {name: _text(value) for name, value in zip(later.quasi_identifiers, classes[class_of])}
        own_kind = CHANGE_BY_VALUES if by_values else kind
        rows.append(Row(own_kind, areas, values, change, change, releases, sensitive))
    return rows


def _text(value: str | None) -> str:
    return OTHERS if value is None else NO_VALUE if value == MISSING else value
