"""Earlier releases brought to the names, words and levels of a new one, so that counts can be held against counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..dataclass import dataclass
from ..disclosure.published import Published
from ..disclosure.values import as_text
from ..errors import InputError
from ..generalising.rules import HierarchyRule
from ..generalising.table import HierarchyTable
from ..language import tr
from ..records.table import RecordTable
from .aliases import aliases_of
from .matching import Matched, matched
from .naming import named, names_in
from .relating import Relating


@dataclass(frozen=True, eq=False)
class Related:
    """Earlier releases that can be held against a new one.

    matched : which fields are the same, of them all, the new one last; relate : gives each the coarser values of its
    own that others show
    """

    matched: Matched
    relate: Relating

    @property
    def earlier(self) -> list[Published]:
        """The earlier releases, in the names and words of the new one."""
        return self.matched.releases[:-1]


def related(
    earlier: Sequence[Published],
    published: Published,
    table: RecordTable,
    answers: Sequence[tuple[str, str]],
    tables: Mapping[str, HierarchyTable],
    rules: Mapping[str, HierarchyRule],
) -> Related:
    """What makes these releases comparable; table : the present records, whose values the hierarchies know too.

    answers : rows of ALIASES; tables, rules : what coarser values are, by quasi-identifier
    The new release is written as it was: the others are brought to its names and words. Raises InputError where
    somebody has to say which fields are the same.
    """
    releases = [*earlier, replace(published, title=tr("this release"))]
    known = list(dict.fromkeys(name for release in releases for name in names_in(release)))
    aliases = aliases_of(answers, known)
    columns = {**table.quasi_identifiers, **{name: column.original for name, column in table.coarsened.items()}}
    own = {name: column.categories.tolist() for name, column in columns.items()}
    same = matched(named(releases, aliases), aliases, values_at_levels(tables, rules, own))
    return Related(same, Relating(same.releases, {**tables, **rules}, own))


def values_at_levels(
    tables: Mapping[str, HierarchyTable], rules: Mapping[str, HierarchyRule], own: Mapping[str, Sequence[object]]
) -> dict[str, list[Collection[str]]]:
    """By name, the values that an attribute has at each of its levels; own : those that its records have."""
    values_of: dict[str, list[Collection[str]]] = {name: [as_text(values)] for name, values in own.items()}
    for name, table in tables.items():
        levels = [list(table.rows), *(list(dict.fromkeys(column)) for column in zip(*table.rows.values()))]
        values_of.setdefault(name, []).extend(as_text(values) for values in levels)
    for name, rule in rules.items():
        texts = [text for text in as_text(own.get(name, ())) if text]
        if texts and not rule.data_dependent:
            records = np.zeros(len(texts))
            values_of[name] += [
                as_text(list(dict.fromkeys(rule.at_level(texts, records, level))))
                for level in range(1, rule.n_levels + 1)
            ]
    return values_of


def refuse_data_dependent_groups(table: RecordTable, rules: Mapping[str, HierarchyRule]) -> None:
    """Refuse a register where what is shown depends on how many records have a value.

    “other” of one release would be other people than “other” of the next. Raises InputError.
    """
    for name in table.coarsened:
        if name in rules and rules[name].data_dependent:
            raise InputError.saying(
                "HIERARCHY_RULES groups “{name}” by how many records have a value, which differs from release to "
                "release, so that REGISTER cannot compare them: write the same groups as a table in HIERARCHIES.",
                name=name,
            )
