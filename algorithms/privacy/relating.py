"""Releases that show quasi-identifiers at different levels, related by HIERARCHIES and HIERARCHY_RULES."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.errors import InputError
from ...core.language import tr
from ...core.records.table import RecordTable
from ...core.releases.listing import quasi_identifiers_of
from ...core.releases.published import Published
from ...core.releases.relating import Relating, with_levels
from ..form.form import Form
from ..form.generalising import sources_of


def relating(form: Form, releases: Sequence[Published], table: RecordTable) -> Relating:
    """What makes these releases comparable; table : the present records, whose values the hierarchies know too."""
    tables, rules = sources_of(form, tuple(table.quasi_identifiers))
    columns = {**table.quasi_identifiers, **{name: one.original for name, one in table.coarsened.items()}}
    own = {name: column.categories.tolist() for name, column in columns.items()}
    return Relating(releases, {**tables, **rules}, own)


def comparable(form: Form, releases: Sequence[Published]) -> list[Published]:
    """The releases of `vbas:checkreleases`; those of a register say which levels they show, others show what fits."""
    names = tuple(quasi_identifiers_of(releases))
    tables, rules = sources_of(form, names)
    if not form.given("REGISTER"):
        releases, rules = [with_levels(one, tables) for one in releases], {}
    relate = Relating(releases, {**tables, **rules})
    return [relate(one) for one in releases]


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
