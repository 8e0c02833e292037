"""How coarse quasi-identifiers are asked for, and by which hierarchies: two cells a row, and a table, as typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..records.table import RecordTable
from .collapsing import generalise_table
from .hierarchies import Hierarchy, records_by_category
from .rules import HierarchyRule, hierarchy_rule
from .table import HierarchyTable, hierarchy_tables


@dataclass(frozen=True)
class Generalising:
    """How coarse quasi-identifiers are shown, and how coarse they could be.

    tables, rules : what the coarser values are, by quasi-identifier; levels : of those that are to be shown coarser
    """

    tables: Mapping[str, HierarchyTable] = field(default_factory=dict)
    rules: Mapping[str, HierarchyRule] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """The quasi-identifiers of which it is known what their coarser values are."""
        return {*self.tables, *self.rules}

    def node(self, quasi_identifiers: Iterable[str]) -> list[int]:
        """The level at which each is to be shown."""
        return [self.levels.get(name, 0) for name in quasi_identifiers]

    def hierarchies(self, table: RecordTable, names: Iterable[str] | None = None) -> dict[str, Hierarchy]:
        """The hierarchies of these quasi-identifiers, by default all, of their values in the table, as it was read.

        Those of which nothing is known are left out. Raises InputError for hierarchies that do not fit the values.
        """
        hierarchies = {}
        for name in table.quasi_identifiers if names is None else names:
            column = table.quasi_identifiers[name]
            if name in self.tables:
                hierarchies[name] = self.tables[name].hierarchy(column.categories)
            elif name in self.rules:
                records = records_by_category(column, table.counts)
                hierarchies[name] = self.rules[name].hierarchy(column.categories, records)
        return hierarchies

    def shown(self, table: RecordTable) -> RecordTable:
        """The table as coarse as is asked for. Raises InputError for levels that there are not."""
        node = self.node(table.quasi_identifiers)
        if not any(node):
            return table
        return generalise_table(
            table, self.hierarchies(table, [name for name in self.levels if self.levels[name]]), node
        )

    def still_coarser(self, table: RecordTable, read: RecordTable | None = None) -> dict[str, Hierarchy]:
        """The hierarchies of the values that a table shows, coarsened or not: what could still be shown coarser.

        read : the table as it was read, where its rows are others. Raises InputError as `hierarchies`.
        """
        if read is None:
            originals = {name: column.original for name, column in table.coarsened.items()}
            read = replace(table, quasi_identifiers={**table.quasi_identifiers, **originals})
        return {name: every.above(level_shown(table, name)) for name, every in self.hierarchies(read).items()}


def generalising_asked(
    quasi_identifiers: Sequence[str],
    levels: Sequence[object],
    rules: Sequence[object],
    columns: Sequence[Sequence[object]] = (),
) -> Generalising:
    """What GENERALISE, HIERARCHY_RULES and HIERARCHIES ask for.

    levels, rules : two cells a row, the quasi-identifier and its level or rule; columns : those of the table,
    attribute, value and each level, (R,). Names may be spelled in other case.
    Raises InputError for names that are none or given twice, levels that are no number, rules that are none, and where
    a table and a rule speak of one.
    """
    at = {
        name: level_in("GENERALISE", name, words)
        for name, words in _by_name("GENERALISE", levels, quasi_identifiers).items()
    }
    by_rule = {
        name: hierarchy_rule(name, words)
        for name, words in _by_name("HIERARCHY_RULES", rules, quasi_identifiers).items()
    }
    tables = {}
    if columns:
        attributes, values, *coarser = columns
        for name, table in hierarchy_tables(attributes, values, coarser).items():
            tables[_spelled(name, quasi_identifiers) or name] = table
    twice = sorted(by_rule.keys() & tables.keys())
    if twice:
        raise InputError.saying(
            "“{twice}” has both rows in HIERARCHIES and a rule in HIERARCHY_RULES: take one of them out.",
            twice=twice[0],
        )
    return Generalising(tables, by_rule, at)


def steps_asked(
    parameter: str, cells: Sequence[object], table: RecordTable, hierarchies: Mapping[str, Hierarchy]
) -> list[tuple[str, int]]:
    """The quasi-identifier that each further level shows coarser, and how far above what the table shows.

    cells : two a row, the quasi-identifier and its level; hierarchies : of the values that the table shows.
    Raises InputError for a level that there is not, or that is not coarser than the one before.
    """
    steps = []
    reached = {name: level_shown(table, name) for name in table.quasi_identifiers}
    for name, words in _rows_of_two(parameter, cells, tuple(table.quasi_identifiers)):
        level = level_in(parameter, name, words)
        if name not in hierarchies:
            raise InputError.saying(
                "{parameter} shows “{name}” at level {level}, but nothing says what its coarser values are: give them "
                "in HIERARCHIES, or a rule in HIERARCHY_RULES.",
                parameter=parameter,
                name=name,
                level=level,
            )
        highest = level_shown(table, name) + len(hierarchies[name]) - 1
        if not reached[name] < level <= highest:
            raise InputError.saying(
                "{parameter} shows “{name}” at level {level} after level {reached}; its levels are 0 (as it is) to "
                "{highest}, and each row must show it coarser than before: correct the row or take it out.",
                parameter=parameter,
                name=name,
                level=level,
                reached=reached[name],
                highest=highest,
            )
        reached[name] = level
        steps.append((name, level - level_shown(table, name)))
    return steps


def level_shown(table: RecordTable, name: str) -> int:
    """The level at which a table shows a quasi-identifier, 0 for as it was read."""
    return table.coarsened[name].level if name in table.coarsened else 0


def level_in(parameter: str, name: str, level: str) -> int:
    """The level that a parameter asks for. Raises InputError where it is no whole number."""
    if not level:
        raise InputError.saying(
            "{parameter} gives no level for “{name}”: give a whole number; 0 is as it is.",
            parameter=parameter,
            name=name,
        )
    if not re.fullmatch(r"[0-9]{1,3}(\.0)?", level):
        raise InputError.saying(
            "{parameter} asks for level “{level}” of “{name}”: give a whole number; 0 is as it is.",
            parameter=parameter,
            level=level,
            name=name,
        )
    return int(float(level))


def _by_name(parameter: str, cells: Sequence[object], quasi_identifiers: Sequence[str]) -> dict[str, str]:
    """The second cell of each row by its quasi-identifier. Raises InputError for a name that is none, and twice one."""
    pairs: dict[str, str] = {}
    for name, words in _rows_of_two(parameter, cells, quasi_identifiers):
        if name in pairs:
            raise InputError.saying(
                "{parameter} names “{name}” twice: give it one row.", parameter=parameter, name=name
            )
        pairs[name] = words
    return pairs


def _rows_of_two(parameter: str, cells: Sequence[object], quasi_identifiers: Sequence[str]) -> list[tuple[str, str]]:
    """The quasi-identifier of each row, and its second cell. Raises InputError for a name that is none."""
    texts = [str(cell).strip() for cell in cells]
    if len(texts) % 2:
        raise InputError.saying(
            "{parameter} has an odd number of cells ({n_cells}): give two a row, the quasi-identifier and what becomes "
            "of it.",
            parameter=parameter,
            n_cells=len(texts),
        )
    rows = []
    for typed, words in zip(texts[::2], texts[1::2]):
        name = _spelled(typed, quasi_identifiers)
        if name is None:
            raise InputError.saying(
                "{parameter} names “{typed}”, which is not among QUASI_IDENTIFIERS ({first}): choose one of these.",
                parameter=parameter,
                typed=typed,
                first=first_values(quasi_identifiers, 12),
            )
        rows.append((name, words))
    return rows


def _spelled(typed: str, quasi_identifiers: Sequence[str]) -> str | None:
    """A quasi-identifier as the layer spells it, None for none: QGIS finds `SEX` for `sex`, and so do we."""
    if typed in quasi_identifiers:
        return typed
    return next((name for name in quasi_identifiers if name.lower() == typed.lower()), None)
