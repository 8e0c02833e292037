"""Releases made comparable: the same fields under the same names, and values of different levels related."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterMatrix

from ...core.errors import InputError
from ...core.generalising.rules import HierarchyRule
from ...core.generalising.table import HierarchyTable
from ...core.language import plural, tr
from ...core.records.table import RecordTable
from ...core.releases.aliases import Aliases, aliases_of
from ...core.releases.listing import quasi_identifiers_of
from ...core.releases.matching import Matched, matched
from ...core.releases.naming import named, names_in
from ...core.releases.published import Published
from ...core.releases.relating import Relating, with_levels
from ...core.releases.values import as_text
from ..form.form import Form
from ..form.generalising import sources_of
from ..form.parameters import described


def aliases_parameter(advanced: bool = False) -> QgsProcessingParameterDefinition:
    """ALIASES."""
    return described(
        QgsProcessingParameterMatrix(
            "ALIASES", tr("Earlier releases: fields under other names"), headers=[tr("Field"), tr("Is")]
        ),
        tr(
            "Releases are held against each other by the names of their fields. Names that differ in case only, or are "
            "cut to ten characters, are recognised; where other names have the same content, the run stops and asks. "
            "A row answers: “gender” and “sex” for the same field under two names; “gender” and “sex: 1=M; 2=F” where "
            "its values are in other words too (a name alone, such as “sex” and “sex: 1=M; 2=F”, where only they are); "
            "“gender” and “not sex” for really different ones. On the command line as a list, field and answer in turn."
        ),
        advanced=advanced,
        optional=True,
    )


def aliases_in(form: Form, known: Collection[str]) -> Aliases:
    """ALIASES; known : all names of fields that the releases have. Raises InputError for rows that say nothing."""
    cells = [str(cell).strip() for cell in form.cells("ALIASES")] if form.has("ALIASES") else []
    if len(cells) % 2:
        raise InputError(
            plural(
                "ALIASES has {n} cell: give two a row, a field and what it is, such as gender, sex.",
                "ALIASES has {n} cells: give two a row, a field and what it is, such as gender, sex.",
                len(cells),
            )
        )
    return aliases_of(zip(cells[::2], cells[1::2]), list(dict.fromkeys(known)))


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


def related(form: Form, earlier: Sequence[Published], told: Published, table: RecordTable) -> Related:
    """What makes these releases comparable; table : the present records, whose values the hierarchies know too.

    The new release is written as it was: the others are brought to its names and words. Raises InputError where
    somebody has to say which fields are the same.
    """
    releases = [*earlier, replace(told, title=tr("this release"))]
    aliases = aliases_in(form, [name for one in releases for name in names_in(one)])
    tables, rules = sources_of(form, tuple(table.quasi_identifiers))
    columns = {**table.quasi_identifiers, **{name: one.original for name, one in table.coarsened.items()}}
    own = {name: column.categories.tolist() for name, column in columns.items()}
    found = matched(named(releases, aliases), aliases, _values_at_levels(tables, rules, own))
    return Related(found, Relating(found.releases, {**tables, **rules}, own))


def comparable(form: Form, releases: Sequence[Published], aliases: Aliases) -> tuple[list[Published], Matched]:
    """The releases of `vbas:checkreleases`, and which of their fields are the same.

    Those of a register say which levels they show, others show what fits.
    """
    found = named(releases, aliases)
    tables, rules = sources_of(form, tuple(quasi_identifiers_of(found.releases)))
    if not form.given("REGISTER"):
        found, rules = replace(found, releases=[with_levels(one, tables) for one in found.releases]), {}
    same = matched(found, aliases, _values_at_levels(tables, {}, {}))
    relate = Relating(same.releases, {**tables, **rules})
    return [relate(one) for one in same.releases], same


def _values_at_levels(
    tables: Mapping[str, HierarchyTable], rules: Mapping[str, HierarchyRule], own: Mapping[str, Sequence[object]]
) -> dict[str, list[Collection[str]]]:
    """By name, the values that an attribute has at each of its levels; own : those that its records have."""
    found: dict[str, list[Collection[str]]] = {name: [as_text(values)] for name, values in own.items()}
    for name, table in tables.items():
        levels = [list(table.rows), *(list(dict.fromkeys(column)) for column in zip(*table.rows.values()))]
        found.setdefault(name, []).extend(as_text(values) for values in levels)
    for name, rule in rules.items():
        texts = [text for text in as_text(own.get(name, ())) if text]
        if texts and not rule.data_dependent:
            records = np.zeros(len(texts))
            found[name] += [
                as_text(list(dict.fromkeys(rule.at_level(texts, records, level))))
                for level in range(1, rule.n_levels + 1)
            ]
    return found


def refuse_data_dependent_groups(form: Form, table: RecordTable) -> None:
    """Refuse a register where what is shown depends on how many records have a value.

    “other” of one release would be other people than “other” of the next. Raises InputError.
    """
    _, rules = sources_of(form, tuple(table.quasi_identifiers))
    for name in table.coarsened:
        if name in rules and rules[name].data_dependent:
            raise InputError(
                tr(
                    "HIERARCHY_RULES groups “{name}” by how many records have a value, which differs from release to "
                    "release, so that REGISTER cannot compare them: write the same groups as a table in HIERARCHIES.",
                    name=name,
                )
            )
