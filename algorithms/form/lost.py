"""Who is lost, and which attribute costs what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.areas import Areas
from ...core.attribute_costs import AttributeCost, attribute_costs, cost_sentence
from ...core.evaluation import Measures, evaluate_by_value, worst_group
from ...core.generalising.hierarchies import Hierarchy
from ...core.language import tr
from ...core.plan import Plan
from ...core.suppression import Terms, suppressed_by_class, suppression_percent
from .effective import Condition, Conditions
from .form import Form

TO_LOSE_LESS = tr("To suppress less, leave one out or show it coarser.")


def say_who_is_lost(form: Form, areas: Areas, plan: Plan, measures: Measures) -> None:
    """The group that loses most, where anything is suppressed."""
    worst = worst_group(evaluate_by_value(areas, plan), plan.k) if measures.n_suppressed else None
    if worst is not None:
        form.info(worst.sentence(measures.suppression_percent))


def costs_of(plan: Plan, hierarchies: Mapping[str, Hierarchy], terms: Terms) -> tuple[float, list[AttributeCost]]:
    """Per cent suppressed with the regions of a plan of one level, and what each attribute costs.

    hierarchies : what could still be shown coarser, as `coarser_of`
    """
    profile = plan.profile
    suppressed = suppressed_by_class(profile, plan.crosswalk, terms)
    return suppression_percent(profile, suppressed, terms), attribute_costs(profile, plan.crosswalk, terms, hierarchies)


def next_step(percent: float, costs: Sequence[AttributeCost]) -> str:
    """What to do about suppression, empty where there is none."""
    cheaper = any(cost.without < percent for cost in costs)
    return " ".join([cost_sentence(percent, costs), *([TO_LOSE_LESS] if cheaper else [])]) if percent else ""


def conditions_with_costs(conditions: Conditions, where: Condition | None = None) -> Conditions:
    """The rules of what coarser values are also count for what these would save, always or under a condition."""
    names = ("HIERARCHIES", "HIERARCHY_RULES")
    if where is None:
        return {name: effects for name, effects in conditions.items() if name not in names}
    widened: Mapping[str, list[Condition]] = {
        name: [{**condition, **where} for condition in conditions.get(name, ())] for name in names
    }
    return {**conditions, **widened}
