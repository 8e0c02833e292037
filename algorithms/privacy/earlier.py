"""A new release held against those of a register, and added to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from qgis.core import QgsProcessingParameterDefinition

from ...core import counted
from ...core.areas import Areas
from ...core.errors import PrivacyError
from ...core.language import plural, tr
from ...core.plan import Plan
from ...core.privacy.requirement import Requirement
from ...core.publish.register.entry import new_register
from ...core.publish.register.published_releases import new_entry, read_register
from ...core.records.matching import Records
from ...core.records.table import RecordTable
from ...core.releases.examining import Examined, examine
from ...core.releases.published import Published, publish
from ...core.releases.repair import Repaired, on_earlier_regions, repair
from ...core.releases.values import KeptValues, kept_values
from ...core.ties import ties_of
from ..form.effective import GIVEN, Counts
from ..form.form import Form
from ..form.parameters import choice
from ..form.release import held_against_margins
from .concluding import concluded
from .relating import aliases_parameter, refuse_data_dependent_groups, related
from .releases import register_parameter

STOP, REPAIR = "stop", "repair"
COUNTS: Counts = {
    **{name: [{"REGISTER": GIVEN}] for name in ("REGISTER_ACTION", "ALIASES")},
    **{name: [{"GENERALISE": GIVEN, "REGISTER": GIVEN}] for name in ("HIERARCHIES", "HIERARCHY_RULES")},
}


def register_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """REGISTER, REGISTER_ACTION and ALIASES."""
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
        tr("Earlier releases: if this release and they together disclose small counts"),
        (STOP, REPAIR),
        STOP,
        tr(
            "“{stop}”: nothing is written. “{repair}”: the smallest classes that cause the disclosure are "
            "suppressed, or "
            "shown in larger regions if nested, until no such count is found; the log says what that costs. "
            "Reusing an earlier release's regions for the same population suppresses nothing more.",
            stop=STOP,
            repair=REPAIR,
        ),
        advanced=True,
    )
    yield aliases_parameter(advanced=True)


@dataclass(frozen=True, eq=False)
class Protected:
    """A plan held against what is published already; notes : what log and report say of earlier releases."""

    plan: Plan
    notes: tuple[str, ...] = ()


def protected(form: Form, plan: Plan, areas: Areas, records: Records, requirement: Requirement) -> Protected:
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
) -> Protected:
    """The same; table : the records or their cells, of which names and values are looked at; sensitive : what the
    register keeps of their sensitive fields."""
    plan = held_against_margins(form, plan)
    if not (form.has("REGISTER") and form.given("REGISTER")):
        return Protected(plan)
    refuse_data_dependent_groups(form, table)
    path = Path(form.text("REGISTER"))
    earlier = read_register(path)
    title = tr("release {n}", n=len(earlier) + 1)
    coarsened = {name: one.level for name, one in table.coarsened.items()}
    told = publish(plan, areas, title, sensitive, coarsened)
    notes = [] if earlier else _knows_nothing(form, path)
    if earlier:
        plan, told, notes = _held_against(form, plan, told, earlier, areas, table, sensitive, requirement)
    told = replace(told, of_persons=bool(requirement.members))
    form.outputs.first(new_entry(path, told, len(earlier)))
    return Protected(plan, tuple(notes))


def _held_against(
    form: Form,
    plan: Plan,
    told: Published,
    earlier: list[Published],
    areas: Areas,
    table: RecordTable,
    sensitive: tuple[KeptValues, ...],
    requirement: Requirement,
) -> tuple[Plan, Published, list[str]]:
    """The plan, what it publishes, and what is said of it beside earlier releases; told : the same before."""
    alike = requirement.asks_for_values
    same = related(form, earlier, told, table)
    form.info(*same.matched.said)
    form.warn(*same.matched.warnings)
    held_against = [same.relate(one) for one in same.earlier]
    found = examine(same.relate(told), held_against, alike=alike)
    _refuse_contradictions(found)
    if found.n_counts and form.text("REGISTER_ACTION") == STOP:
        raise PrivacyError(_stopped(found, plan.k))
    if found.n_counts:
        done = repair(
            plan,
            areas,
            held_against,
            told.title,
            sensitive,
            alike,
            partial(held_against_margins, form),
            ties=ties_of(form.text("TIES")),
            relate=same.relate,
            coarsened=told.coarsened,
            requirement=requirement,
        )
        plan, told, found = done.plan, done.published, done.after
        _say_what_it_cost(form, done, on_earlier_regions(plan, areas, same.earlier, requirement))
    return plan, told, concluded(form, same.matched, found, len(earlier), plan.k, requirement)


def _knows_nothing(form: Form, path: Path) -> list[str]:
    """Say that a register has no release."""
    warning = new_register(path)
    if path.exists():
        warning = tr("REGISTER: {path} has no release in it: this one was held against no earlier release.", path=path)
    form.warn(warning)
    return [warning]


def _say_what_it_cost(form: Form, done: Repaired, other: Plan | None) -> None:
    """Say what a repair cost, and what the regions of an earlier release would: `other`. Raises PrivacyError."""
    k = done.plan.k
    if done.after.n_counts:
        raise PrivacyError(_stopped(done.after, k))
    form.warn(
        plural(
            "Together with earlier ones this release would have given away {n} count of fewer than {k} people.",
            "Together with earlier ones this release would have given away {n} counts of fewer than {k} people.",
            done.before.n_counts,
            k=k,
        ),
        tr(
            "To prevent that, {suppressed} more are suppressed, and {coarser} shown in larger regions.",
            suppressed=counted.records(done.n_suppressed),
            coarser=counted.records(done.n_coarser),
        ),
    )
    if done.n_known_by_size:
        form.warn(
            plural(
                "Keep the reasons for suppression confidential: from which classes are suppressed for their size "
                "alone, "
                "{n} count would follow.",
                "Keep the reasons for suppression confidential: from which classes are suppressed for their size "
                "alone, "
                "{n} counts would follow.",
                done.n_known_by_size,
            )
        )
    if other is not None:
        form.info(
            tr(
                "With the regions of an earlier release {records} could be shown, here {n_here}: release by its "
                "crosswalk (“Release records”, with this register).",
                records=counted.records(other.n_released),
                n_here=done.plan.n_released,
            )
        )


def _refuse_contradictions(found: Examined) -> None:
    if found.n_contradicted:
        raise PrivacyError(
            plural(
                "This release and those of REGISTER contradict each other in {n} class: no population has both sets of "
                "counts. People were added or changed, and so were the regions, so that nobody can say what they give "
                "away together. Use the crosswalk of the last release (“Release records”), or a new register if these "
                "are other people.",
                "This release and those of REGISTER contradict each other in {n} classes: no population has both sets "
                "of counts. People were added or changed, and so were the regions, so that nobody can say what they "
                "give away together. Use the crosswalk of the last release (“Release records”), or a new register if "
                "these are other people.",
                found.n_contradicted,
            )
        )


def _stopped(found: Examined, k: int) -> str:
    return plural(
        "Together with the releases of REGISTER this one would give away {n} count of fewer than {k} people: use the "
        "crosswalk and the quasi-identifiers of the earlier release, or set REGISTER_ACTION to “repair”.",
        "Together with the releases of REGISTER this one would give away {n} counts of fewer than {k} people: use the "
        "crosswalk and the quasi-identifiers of the earlier release, or set REGISTER_ACTION to “repair”.",
        found.n_counts,
        k=k,
    )
