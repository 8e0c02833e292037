"""What is shown of records in an engine, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.areas import Areas
from ...core.engines.dictionaries import values_of
from ...core.engines.in_place import Matched
from ...core.engines.profiling import match_in_place, requirement_in_place
from ...core.engines.releasing import shown_by
from ...core.errors import PrivacyError
from ...core.evaluation import Measures, RegionAudit, evaluate
from ...core.language import plural, tr
from ...core.levels import Levels
from ...core.nesting.measures import LevelAudit, evaluate_levels
from ...core.nesting.planning import cells_within, nest
from ...core.nesting.recount import check_where_shown
from ...core.plan import Plan, suppress
from ...core.privacy.requirement import Requirement
from ...core.releases.values import KeptValues
from ...core.ties import ties_of
from ..form import regions
from ..form.areas import areas_of
from ..form.form import Form
from ..form.records import populated
from ..layers.shapes.areas import AreaLayer
from ..nested.coarser import asks_for_coarser, levels_to_show
from ..nested.release import loss_without_areas
from ..privacy.earlier import protected_in_all
from ..privacy.rule import rule_of, rule_sentences
from .coarser import PlannedCoarser, asked_in_place, planned_coarser
from .counting import Counted


@dataclass(frozen=True, eq=False)
class Planned:
    """What is shown of records that were matched with the areas of CROSSWALK, and what that costs.

    layer : REGIONS, None where they are not given; areas : with their people; audit : of regions, or of levels;
    coarser : where the last levels show coarser values
    """

    counted: Counted
    matched: Matched
    layer: AreaLayer | None
    areas: Areas
    plan: Plan
    requirement: Requirement
    measures: Measures
    audit: RegionAudit | LevelAudit
    nested: bool
    notes: tuple[str, ...]
    coarser: PlannedCoarser | None = None


def planned(form: Form, counted: Counted) -> Planned:
    """What is shown by CROSSWALK, protected by whatever the form asks for.

    Raises VbasError where areas are not known, RULE asks for more people than a region has, and where it gives counts
    away together with what is published already.
    """
    k, given = form.whole("K"), asked_in_place(form, counted) if asks_for_coarser(form) else None
    nested = given is not None or regions.has_levels_in_crosswalk(form)
    layer = areas_of(form) if form.given("REGIONS") else None
    areas, levels = levels_to_show(form, None if layer is None else layer.areas)
    matched = match_in_place(counted.shown if given is None else given.found, areas, form.text("UNMATCHED"), k)
    notes = _notes(form, matched, nested)
    people = areas.with_population(matched.profile.area_sizes) if layer is None else populated(layer, matched)
    _refuse_small_regions(form, people, levels)
    requirement = requirement_in_place(matched, k, form.whole("L_DIVERSITY"), form.number("MAX_SHARE"))
    ground, coarser = areas if layer is None else people, None
    if given is not None:
        coarser = planned_coarser(form, given, matched, levels, ground, _loss(form), requirement)
        plan = coarser.plan
    elif nested:
        plan = _nested(form, matched, levels, ground, requirement)
    else:
        plan = suppress(matched.profile, levels.crosswalks[0], k, requirement)
    held = protected_in_all(form, plan, areas, matched.found.values(), _sensitive(matched, requirement), requirement)
    plan, notes = held.plan, (*held.notes, *notes)
    if nested:
        if coarser is None:
            check_where_shown(shown_by(plan), matched, levels, whole=not requirement.asks_for_values)
        costs: tuple[Measures, RegionAudit | LevelAudit] = evaluate_levels(people, plan, matched.n_unmatched)
    else:
        costs = evaluate(people, plan, plan.crosswalk.mean_centres(areas.points), matched.n_unmatched)
    return Planned(counted, matched, layer, people, plan, requirement, *costs, nested, notes, coarser)


def _nested(form: Form, matched: Matched, levels: Levels, areas: Areas, requirement: Requirement) -> Plan:
    step, ties = form.progress(40, 60), ties_of(form.text("TIES"))
    k = form.whole("K")
    at_once = cells_within(form.whole("MEMORY"), k)
    return nest(areas, matched.profile, levels, k, _loss(form), requirement, step, ties, at_once)


def _loss(form: Form) -> str:
    """LOSS, or what is counted in its place where there are no distances."""
    return form.text("LOSS") if form.given("REGIONS") else loss_without_areas(form)


def _notes(form: Form, matched: Matched, nested: bool) -> tuple[str, ...]:
    """What log and report say of the records and the rule."""
    n_unmatched = matched.n_unmatched
    lost = plural(
        "{n} record has no known area and is suppressed.",
        "{n} records have no known area and are suppressed.",
        n_unmatched,
    )
    warnings = [lost] if n_unmatched else []
    form.warn(*warnings)
    rule = rule_sentences(form, nested)
    form.info(*rule)
    coarser = (one.sentence for one in matched.found.coarsened.values())
    return (*warnings, *coarser, *rule)


def _refuse_small_regions(form: Form, areas: Areas, levels: Levels) -> None:
    """Refuse regions with fewer people than RULE asks for: they are made already, and here none is joined."""
    rule = rule_of(form)
    if rule is None or not rule.least_population:
        return
    least = [float(crosswalk.totals(areas.population).min()) for crosswalk in levels.crosswalks]
    small = sum(
        int((crosswalk.totals(areas.population) < rule.least_population).sum()) for crosswalk in levels.crosswalks
    )
    if small:
        raise PrivacyError(
            tr(
                "RULE “{rule}” asks for regions of at least {least:,.0f} people; {n:,} of CROSSWALK have fewer, "
                "the smallest {smallest:,.0f}: make the regions with this rule.",
                rule=rule.name,
                least=rule.least_population,
                n=small,
                smallest=min(least),
            )
        )


def _sensitive(matched: Matched, requirement: Requirement) -> tuple[KeptValues, ...]:
    """The sensitive fields, all of which are released, with what their codes stand for."""
    found = matched.found
    kept = []
    for shares in requirement.shares:
        one = f"k{found.fields.kept.index(shares.field)}"
        values = values_of(found.engine, found.dictionaries[one], one)
        kept.append(KeptValues(shares, np.append(values, np.array([None], dtype=object))))
    return tuple(kept)
