"""Who is lost, and which attribute costs what: said in the log, and sections of the report."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.areas import Areas
from ...core.attribute_costs import AttributeCost, attribute_costs, cost_sentence
from ...core.evaluation import evaluate_by_value, worst_group
from ...core.plan import Plan
from ...core.records.matching import Records
from ...core.report.lost import costs_section, lost_section
from ...core.report.page import Section
from ...core.suppression import Terms, suppressed_by_class, suppression_percent
from .effective import Condition, Counts
from .form import Form
from .generalising import coarser_of


def lost(form: Form, areas: Areas, plan: Plan, records: Records, terms: Terms) -> list[Section]:
    """What a plan of one level loses: the last lines of the log, and the report's sections."""
    by_value = evaluate_by_value(areas, plan)
    n_records = plan.profile.n_records + records.n_unmatched
    percent = 100.0 * (n_records - plan.n_released) / max(n_records, 1)
    worst = worst_group(by_value, plan.k)
    with_regions, costs = _costs(form, plan, records, terms)
    form.info(
        *([worst.sentence(percent)] if worst and percent else []),
        *([cost_sentence(with_regions, costs)] if with_regions else []),
    )
    return [lost_section(by_value, plan.k, percent), costs_section(costs, with_regions)]


def counts_with_costs(counts: Counts, where: Condition | None = None) -> Counts:
    """The rules of what coarser values are also count for what these would save, always or under a condition."""
    names = ("HIERARCHIES", "HIERARCHY_RULES")
    if where is None:
        return {name: conditions for name, conditions in counts.items() if name not in names}
    widened: Mapping[str, list[Condition]] = {
        name: [{**condition, **where} for condition in counts.get(name, ())] for name in names
    }
    return {**counts, **widened}


def _costs(form: Form, plan: Plan, records: Records, terms: Terms) -> tuple[float, list[AttributeCost]]:
    """Per cent suppressed with these regions, and what each attribute costs."""
    profile = plan.profile
    suppressed = suppressed_by_class(profile, plan.crosswalk, terms)
    hierarchies = coarser_of(form, records.table)
    return suppression_percent(profile, suppressed, terms), attribute_costs(profile, plan.crosswalk, terms, hierarchies)
