"""A table of counts that others publish, as it is read: its rows brought to areas and classes of the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Union

import numpy as np

from .. import counted
from ..areas import Areas, identifier_text, without_zeros_of
from ..dataclass import dataclass
from ..disclosure.count_tables import MANY, CountTable
from ..disclosure.overlay import NONE
from ..errors import InputError, first_values
from ..generalising.rules import HierarchyRule
from ..generalising.table import HierarchyTable
from ..language import plural, tr
from ..profile import Profile
from ..records.columns import combine_codes

Source = Union[HierarchyTable, HierarchyRule]


@dataclass(frozen=True, eq=False)
class CountRows:
    """Rows of counts by area, or by another unit of areas, and some quasi-identifiers.

    unit : (r,) values of the unit's field; values : by quasi-identifier, (r,) its values; one that is missing stands
    for all; counts : (r,) whole numbers, None where nothing is said; unit_of : the unit of each area by its identifier,
    None where the units are the areas; sources : what coarser values are, by quasi-identifier

    Examples
    --------
    >>> from vbas.core.privacy.count_rows import CountRows
    >>> rows = CountRows(["a", "a", "b"], {"sex": ["F", "M", "F"]}, [12, 9, 20])
    >>> len(rows.counts)
    3
    """

    unit: Sequence[object]
    values: Mapping[str, Sequence[object]]
    counts: Sequence[object]
    unit_of: Mapping[str, object] | None = None
    sources: Mapping[str, Source] = field(default_factory=dict)


def count_tables(
    rows: CountRows, areas: Areas, profile: Profile, levels: Mapping[str, int] | None = None
) -> list[CountTable]:
    """The tables of some rows: one for each set of quasi-identifiers that rows have values of.

    profile : of the areas; levels : at which it shows quasi-identifiers coarser, by name. Of a unit that has rows,
    combinations without one are counts of nobody; of other units nothing is known.
    Counts of people more than the records are taken for the most that there can be. Raises InputError for counts that
    are none, units and values that do not fit, rows given twice, and counts of fewer people than the records.
    """
    counts = _checked_counts(rows.counts)
    unit, zone_of, n_zones = _zones(rows, areas)
    names = [name for name in profile.quasi_identifiers if name in rows.values]
    texts = {name: [identifier_text(value) for value in rows.values[name]] for name in names}
    known = [[text is not None for text in texts[name]] for name in names]
    there = np.array(known, bool).reshape(len(names), len(counts))
    tables = []
    for pattern in np.unique(there, axis=1).T:
        at = np.flatnonzero((there == pattern[:, None]).all(axis=0))
        own = [name for name, used in zip(names, pattern.tolist()) if used]
        _refuse_twice(unit[at], [[texts[name][row] for row in at.tolist()] for name in own])
        at = at[unit[at] >= 0]
        values = {name: [str(texts[name][row]) for row in at.tolist()] for name in own}
        if len(at):
            tables.append(
                _table(own, values, unit[at], counts[at], zone_of, n_zones, profile, rows.sources, levels or {})
            )
    return [_held_against(table, profile) for table in tables]


def _checked_counts(counts: Sequence[object]) -> np.ndarray:
    """The counts, (r,) int64, NONE where nothing is said. Raises InputError."""
    checked = np.full(len(counts), NONE, np.int64)
    wrong = []
    for row, value in enumerate(counts):
        if value is None or value == "":
            continue
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            wrong.append(value)
            continue
        if number < 0 or number != round(number):
            wrong.append(value)
        else:
            checked[row] = int(number)
    if wrong:
        raise InputError.saying(
            "PUBLISHED_COUNTS has counts that are no whole numbers from 0 ({first}): correct them, or leave them empty "
            "where nothing is published.",
            first=first_values(wrong),
        )
    return checked


def rows_elsewhere(rows: CountRows, areas: Areas) -> str:
    """A sentence on rows of units that no area is of, which nothing is held against; empty where there are none."""
    own, texts = _units(rows, areas)
    known = set(own) - {None}
    elsewhere = [text for text in texts if text not in known]
    if not elsewhere:
        return ""
    return plural(
        "{n} row of PUBLISHED_COUNTS is of no area there is ({first}): what follows from it was not looked at.",
        "{n} rows of PUBLISHED_COUNTS are of no area there is (first: {first}): what follows from them was not looked "
        "at.",
        len(elsewhere),
        first=first_values(dict.fromkeys(elsewhere)),
    )


def _units(rows: CountRows, areas: Areas) -> tuple[list[str | None], list[str | None]]:
    """The unit of each area, and that of each row."""
    identifiers = areas.identifiers.tolist()
    own = identifiers if rows.unit_of is None else [identifier_text(rows.unit_of.get(area)) for area in identifiers]
    return own, [identifier_text(value) for value in rows.unit]


def _zones(rows: CountRows, areas: Areas) -> tuple[np.ndarray, np.ndarray, int]:
    """The unit of each row, (r,) NONE for none of the areas'; the unit of each area, (n,); how many there are."""
    own, texts = _units(rows, areas)
    known = {text: NONE for text in own if text is not None}
    used = sorted(known.keys() & set(texts))
    without_rows = {without_zeros_of(text) for text in known.keys() - set(used)}
    lost = {text for text in texts if text and text not in known and without_zeros_of(text) in without_rows}
    if lost:
        raise InputError.saying(
            "PUBLISHED_COUNTS counts areas that there are but for leading zeros or a “.0” (first: {first}; areas: "
            "{areas}): read its area field as text.",
            first=first_values(sorted(lost)),
            areas=first_values(sorted(known)),
        )
    if not used:
        raise InputError.saying(
            "PUBLISHED_COUNTS counts no area there is (first: {first}; areas: {areas}): its area field must hold the "
            "identifiers of the areas, or be named as a field of REGIONS and hold its values.",
            first=first_values(texts),
            areas=first_values(sorted(known)),
        )
    known.update({text: number for number, text in enumerate(used)})
    unit = np.array([NONE if text is None else known.get(text, NONE) for text in texts], np.int64)
    zone_of = np.array([NONE if text is None else known[text] for text in own], np.int64)
    return unit, zone_of, len(used)


def _refuse_twice(unit: np.ndarray, texts: Sequence[Sequence[object]]) -> None:
    seen = set()
    for key in zip(unit.tolist(), *texts):
        if key[0] < 0:
            continue
        if key in seen:
            raise InputError.saying(
                "PUBLISHED_COUNTS has two rows for the same area and the same values ({values}): give it one count for "
                "each, and no other fields by which it counts.",
                values=first_values(key[1:]) if texts else tr("all people"),
            )
        seen.add(key)


def _table(
    names: Sequence[str],
    values: Mapping[str, Sequence[str]],
    unit: np.ndarray,
    counts: np.ndarray,
    zone_of: np.ndarray,
    n_zones: int,
    profile: Profile,
    sources: Mapping[str, Source],
    levels: Mapping[str, int],
) -> CountTable:
    """The counts of one set of quasi-identifiers; those of finer values than the records show are added up."""
    columns, of_rows, texts = [], [], []
    at_levels: dict[str, int] = {}
    known = np.ones(len(profile.classes), bool)
    for name in names:
        position = profile.quasi_identifiers.index(name)
        categories = [identifier_text(value) for value in profile.categories[position]]
        values_there = [text for text in categories if text is not None]
        own, theirs, at_levels[name] = common_values(
            name, values_there, values[name], sources.get(name), levels.get(name, 0)
        )
        number = {text: code for code, text in enumerate(sorted({*own.values(), *theirs.values()}))}
        of_value = np.array([NONE if text is None else number[own[text]] for text in categories], np.int64)
        column = of_value[profile.classes[:, position]]
        known &= column >= 0
        columns.append(np.maximum(column, 0))
        of_rows.append(np.array([number[theirs[text]] for text in values[name]], np.int64))
        texts.append(list(number))
    both = [np.concatenate(pair) for pair in zip(columns, of_rows)]
    n = len(profile.classes)
    group, groups = (
        combine_codes(both, [len(text) for text in texts])
        if names
        else (np.zeros(n + len(unit), np.int64), np.zeros((1, 0)))
    )
    shape = (n_zones, len(groups))
    total, silent = np.zeros(shape, np.int64), np.zeros(shape, bool)
    np.add.at(total, (unit, group[n:]), np.maximum(counts, 0))
    unknown = counts < 0
    silent[unit[unknown], group[n:][unknown]] = True
    silent[np.setdiff1d(np.arange(n_zones, dtype=np.int64), unit)] = True
    low, high = np.where(silent, 0, total), np.where(silent, MANY, total)
    group_of = np.where(known, group[:n], NONE)
    of_groups = tuple(
        tuple(text[code] for text, code in zip(texts, codes)) for codes in groups.astype(np.int64).tolist()
    )
    coarser = {name: level for name, level in at_levels.items() if level}
    return CountTable(
        "PUBLISHED_COUNTS", tuple(names), zone_of, n_zones, group_of, len(groups), low, high, of_groups, coarser
    )


def common_values(
    name: str, own: Sequence[str], theirs: Sequence[str], source: Source | None, level: int
) -> tuple[dict[str, str], dict[str, str], int]:
    """What the values of the records and of a table have in common: for each of both, the value by which they are
    compared; and at which level that is.

    own : what the records show, at this level of `source`; theirs : of the table, as they are, finer or coarser
    Raises InputError where they have nothing in common.
    """
    mine, other = list(dict.fromkeys(own)), list(dict.fromkeys(theirs))
    # A value that no record has may be in the table: with a count of nobody it does not matter.
    if set(other) <= set(mine) or (set(mine) <= set(other) and source is None):
        return {text: text for text in mine}, {text: text for text in other}, level
    if source is not None:
        for target in range(level, source.n_levels + 1):
            of_mine = _at_level(source, mine, target, level)
            of_theirs = _at_level(source, other, target, None)
            if of_mine is not None and of_theirs is not None and set(of_theirs.values()) <= set(of_mine.values()):
                return of_mine, of_theirs, target
    lacking = sorted(set(other) - set(mine))
    if source is None and len(lacking) < len(other):
        return {text: text for text in mine}, {text: text for text in other}, level
    raise InputError.saying(
        "PUBLISHED_COUNTS has values of “{name}” that do not fit those of the records ({lacking}; the records show "
        "{shown}): give HIERARCHIES or HIERARCHY_RULES in which both are, or the table by the records' values.",
        name=name,
        lacking=first_values(lacking),
        shown=first_values(sorted(mine)),
    )


def _at_level(source: Source, texts: Sequence[str], target: int, level: int | None) -> dict[str, str] | None:
    """What each text becomes at a level; None where it is of no level. level : at which all of them are, if known."""
    if isinstance(source, HierarchyRule):
        if source.data_dependent:
            return None
        if target == level or not target:
            return {text: text for text in texts}
        try:
            made = source.at_level(list(texts), np.zeros(len(texts)), target)
        except InputError:
            return None
        return {text: str(value) for text, value in zip(texts, made)}
    for start in range(source.n_levels + 1) if level is None else (level,):
        above = {_cell(value, row, start): _cell(value, row, target) for value, row in source.rows.items()}
        if start <= target and set(texts) <= above.keys():
            return {text: str(above[text]) for text in texts}
    return None


def _cell(value: str | None, row: Sequence[str | None], level: int) -> str | None:
    return row[level - 1] if level else value


def _held_against(table: CountTable, profile: Profile) -> CountTable:
    """The table as it can be believed: counts that are those of the records, or the most there can be of them."""
    true = table.true_counts(profile)
    fewer = true > table.high
    if fewer.any():
        at, of = (int(part[0]) for part in np.nonzero(fewer))
        raise InputError.counting(
            "PUBLISHED_COUNTS has {n} count of fewer people than RECORDS have (the first: {count} for {people}): it "
            "counts other people, or its values are grouped otherwise. Give the table of these very people, or of "
            "more.",
            "PUBLISHED_COUNTS has {n} counts of fewer people than RECORDS have (the first: {count} for {people}): it "
            "counts other people, or its values are grouped otherwise. Give the table of these very people, or of "
            "more.",
            int(fewer.sum()),
            count=int(table.high[at, of]),
            people=counted.records(int(true[at, of])),
        )
    if (true == table.high)[table.high < MANY].all():
        return table
    return replace(table, low=np.zeros_like(table.low))
