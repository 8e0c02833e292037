"""A new release held against those of a register, and added to it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from qgis.core import QgsProcessingParameterDefinition

from ...core.areas import Areas
from ...core.errors import PrivacyError
from ...core.language import tr
from ...core.plan import Plan
from ...core.privacy.requirement import Requirement
from ...core.records.matching import Records
from ...core.records.table import RecordTable
from ...core.releases.examining import Examined, examine
from ...core.releases.published import publish
from ...core.releases.repair import Repaired, on_earlier_regions, repair
from ...core.releases.values import KeptValues, kept_values
from ...core.ties import ties_of
from ..form.effective import GIVEN, Counts
from ..form.form import Form
from ..form.parameters import choice
from ..form.release import held_against_margins
from .register import new_entry, read_register
from .relating import refuse_data_dependent_groups, relating
from .releases import register_parameter

STOP, REPAIR = "stop", "repair"
COUNTS: Counts = {
    "REGISTER_ACTION": [{"REGISTER": GIVEN}],
    **{name: [{"GENERALISE": GIVEN, "REGISTER": GIVEN}] for name in ("HIERARCHIES", "HIERARCHY_RULES")},
}


def register_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """REGISTER and REGISTER_ACTION."""
    yield register_parameter(
        tr(
            "A GeoPackage that keeps what earlier releases of these people published, and nothing else; a new "
            "name starts one. Before anything is written, this release is held against all of them: together "
            "they must give away no count of fewer than k people. Afterwards this release is added. Where a "
            "quasi-identifier is shown coarser now or was then, give its coarser values as they were: they "
            "say which counts are sums of which."
        ),
        advanced=True,
    )
    yield choice(
        "REGISTER_ACTION",
        tr("Earlier releases: if they and this one give counts away"),
        (STOP, REPAIR),
        STOP,
        tr(
            "“{stop}”: nothing is written. “{repair}”: the smallest classes that tell are suppressed, or "
            "shown in larger regions if nested, until nothing is given away; the log says what that costs. "
            "The regions of an earlier release, if the people are the same, cost nothing.",
            stop=STOP,
            repair=REPAIR,
        ),
        advanced=True,
    )


def protected(form: Form, plan: Plan, areas: Areas, records: Records, requirement: Requirement) -> Plan:
    """The plan, from which nothing below k follows with published totals, nor with the releases of the register.

    Its release is added to the register once all outputs are in their place. Raises PrivacyError where counts are given
    away and may not be, or cannot, be mended.
    """
    return protected_in_all(form, plan, areas, records.table, kept_values(records, requirement), requirement)


def protected_in_all(
    form: Form,
    plan: Plan,
    areas: Areas,
    table: RecordTable,
    sensitive: tuple[KeptValues, ...],
    requirement: Requirement,
) -> Plan:
    """The same; table : the records or their cells, of which names and values are looked at; sensitive : what the
    register keeps of their sensitive fields."""
    plan = held_against_margins(form, plan)
    if not (form.has("REGISTER") and form.given("REGISTER")):
        return plan
    refuse_data_dependent_groups(form, table)
    path = Path(form.text("REGISTER"))
    earlier = read_register(path)
    title = tr("release {n}", n=len(earlier) + 1)
    alike = requirement.asks_for_values
    coarsened = {name: one.level for name, one in table.coarsened.items()}
    told = publish(plan, areas, title, sensitive, coarsened)
    if earlier:
        relate = relating(form, [*earlier, told], table)
        held_against, comparable = [relate(one) for one in earlier], relate(told)
        found = examine(comparable, held_against, alike=alike)
        _refuse_contradictions(found)
        if found.n_counts and form.text("REGISTER_ACTION") == STOP:
            raise PrivacyError(_stopped(found, plan.k))
        if found.n_counts:
            ties, again = ties_of(form.text("TIES")), partial(held_against_margins, form)
            done = repair(
                plan,
                areas,
                held_against,
                title,
                sensitive,
                alike,
                again,
                ties=ties,
                relate=relate,
                coarsened=coarsened,
                requirement=requirement,
            )
            plan, told, found = done.plan, done.published, done.after
            _say_what_it_cost(form, done, on_earlier_regions(plan, areas, earlier, requirement))
        form.info(
            tr(
                "Held against {n_earlier} earlier releases of the register: nothing is given away.",
                n_earlier=len(earlier),
            )
        )
        if requirement.members:
            form.warn(
                tr(
                    "The register counts rows, not persons: {k} rows and more that the releases tell together may be "
                    "of fewer than {k} persons, which is not noticed.",
                    k=plan.k,
                )
            )
        if found.n_alike and not alike:
            form.warn(
                tr(
                    "{n_alike} groups of {k} people and more are shown to have one sensitive value by the "
                    "earlier releases and this one together; with L_DIVERSITY of 2 or more they would count "
                    "as given away.",
                    n_alike=found.n_alike,
                    k=plan.k,
                )
            )
        if found.n_undecided:
            form.warn(tr("{n_undecided} counts were too many or too hard to decide.", n_undecided=found.n_undecided))
    form.outputs.first(new_entry(path, told, len(earlier)))
    return plan


def _say_what_it_cost(form: Form, done: Repaired, other: Plan | None) -> None:
    """Say what a repair cost, and what the regions of an earlier release would: `other`. Raises PrivacyError."""
    k = done.plan.k
    if done.after.n_counts:
        raise PrivacyError(_stopped(done.after, k))
    form.warn(
        tr(
            "This release would have given away {n_counts} counts of fewer than {k} people together "
            "with earlier ones. To prevent that, {n_suppressed} more records are suppressed and {n_coarser} "
            "shown in larger regions. {n_known_by_size} counts would follow for somebody who knew which classes are "
            "suppressed for their size alone: do not tell.",
            n_counts=done.before.n_counts,
            k=k,
            n_suppressed=done.n_suppressed,
            n_coarser=done.n_coarser,
            n_known_by_size=done.n_known_by_size,
        )
    )
    if other is not None:
        form.info(
            tr(
                "With the regions of an earlier release {n_released} records could be shown, here "
                "{n_here}: release by its crosswalk (“Release records”, with this register).",
                n_released=other.n_released,
                n_here=done.plan.n_released,
            )
        )


def _refuse_contradictions(found: Examined) -> None:
    if found.n_contradicted:
        raise PrivacyError(
            tr(
                "In {n_contradicted} classes this release and those of REGISTER fit no people: people were "
                "added or changed, and so were the regions, so that nobody can say what they give away "
                "together. Use the crosswalk of the last release (“Release records”), or a new register if "
                "these are other people.",
                n_contradicted=found.n_contradicted,
            )
        )


def _stopped(found: Examined, k: int) -> str:
    return tr(
        "Together with the releases of REGISTER this one would give away {n_counts} counts of fewer than {k} "
        "people: use the crosswalk and the quasi-identifiers of the earlier release, or set REGISTER_ACTION to "
        "“repair”.",
        n_counts=found.n_counts,
        k=k,
    )
