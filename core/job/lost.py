"""Who is lost, and which attribute costs what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..areas import Areas
from ..attribute_costs import AttributeCost, attribute_costs, cost_sentence
from ..evaluation import Measures, evaluate_by_value, worst_group
from ..generalising.hierarchies import Hierarchy
from ..language import tr
from ..log import Log
from ..plan import Plan
from ..suppression import Terms, suppressed_by_class, suppression_percent

TO_LOSE_LESS = tr("To suppress less, leave one out or show it coarser.")


def say_who_is_lost(log: Log, areas: Areas, plan: Plan, measures: Measures) -> None:
    """The group that loses most, where anything is suppressed."""
    worst = worst_group(evaluate_by_value(areas, plan), plan.k) if measures.n_suppressed else None
    if worst is not None:
        log.info(worst.sentence(measures.suppression_percent))


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
