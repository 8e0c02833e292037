"""Who is lost, and which attribute costs what: in the log, and a section of the report."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.areas import Areas
from ...core.attribute_costs import AttributeCost, attribute_costs, cost_sentence
from ...core.evaluation import Measures, evaluate_by_value, worst_group
from ...core.generalising.hierarchies import Hierarchy
from ...core.language import tr
from ...core.plan import Plan
from ...core.report.attributes import costs_section
from ...core.report.page import Section
from ...core.suppression import Terms, suppressed_by_class, suppression_percent
from .effective import Condition, Conditions
from .form import Form

TO_LOSE_LESS = tr("To suppress less, leave one out or show it coarser.")


def say_who_is_lost(form: Form, areas: Areas, plan: Plan, measures: Measures) -> None:
    """The group that loses most, where anything is suppressed."""
    worst = worst_group(evaluate_by_value(areas, plan), plan.k) if measures.n_suppressed else None
    if worst is not None:
        form.info(worst.sentence(measures.suppression_percent))


def lost(plan: Plan, hierarchies: Mapping[str, Hierarchy], terms: Terms) -> tuple[Section, str]:
    """What each attribute costs a plan of one level, for the report and as the next step, which is empty where nothing
    is suppressed.

    hierarchies : what could still be shown coarser, as `coarser_of`
    """
    percent, costs = _costs(plan, hierarchies, terms)
    cheaper = any(cost.without < percent for cost in costs)
    step = " ".join([cost_sentence(percent, costs), *([TO_LOSE_LESS] if cheaper else [])]) if percent else ""
    return costs_section(costs, percent), step


def conditions_with_costs(conditions: Conditions, where: Condition | None = None) -> Conditions:
    """The rules of what coarser values are also count for what these would save, always or under a condition."""
    names = ("HIERARCHIES", "HIERARCHY_RULES")
    if where is None:
        return {name: effects for name, effects in conditions.items() if name not in names}
    widened: Mapping[str, list[Condition]] = {
        name: [{**condition, **where} for condition in conditions.get(name, ())] for name in names
    }
    return {**conditions, **widened}


def _costs(plan: Plan, hierarchies: Mapping[str, Hierarchy], terms: Terms) -> tuple[float, list[AttributeCost]]:
    """Per cent suppressed with these regions, and what each attribute costs."""
    profile = plan.profile
    suppressed = suppressed_by_class(profile, plan.crosswalk, terms)
    return suppression_percent(profile, suppressed, terms), attribute_costs(profile, plan.crosswalk, terms, hierarchies)
