"""What a comparison says of the objectives: the best by the user's weights, and the best approach of each component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..best_approaches import MEASURED, BestApproach
from ..language import tr
from ..outcome import Outcome
from ..weighted_sum import best_sentences
from .page import Section

MOST_ROWS = 20


def weighted_section(outcomes: Sequence[Outcome], weights: Mapping[str, float]) -> Section:
    """The rows with the least weighted sums, and which is best; an empty section without weights."""
    heading = tr("By your weights")
    numbered = [(i, o, o.weighted_sum) for i, o in enumerate(outcomes, 1) if o.weighted_sum is not None]
    if not weights or not numbered:
        return Section(heading)
    texts = [
        *best_sentences(outcomes, weights),
        tr(
            "The weighted sum (Croft et al. 2018, 1.3) adds up what each objective is as a share of the largest value "
            "among the rows of the same k, times its weight; weights count by their proportions. 0 would be nothing "
            "of any, 1 the largest of all. Less is better. Nested releases are held against each other. Other rows "
            "in the comparison can change the shares, and with them the order."
        ),
    ]
    least = sorted(numbered, key=lambda row: row[2])[:MOST_ROWS]
    rows = [
        (i, outcome.name, outcome.k, weighted_sum, tr("yes") if outcome.pareto else "")
        for i, outcome, weighted_sum in least
    ]
    header = ("#", tr("Configuration"), "k", tr("Weighted sum"), tr("Pareto-optimal"))
    return Section(heading, texts, header, rows)


def best_approaches_section(best: Sequence[BestApproach], over_scenarios: bool = False) -> Section:
    """The best approach by component and measure, as in Croft 2018, Table 3; empty where nothing was compared."""
    heading = (
        tr("The best of each component, over the scenarios") if over_scenarios else tr("The best of each component")
    )
    if not best:
        return Section(heading)
    text = tr(
        "As in Croft et al. (2018), Table 3. Configurations that differ in one component alone are a contest, won in "
        "each measure by the least value. Named is who won most, and how many of the contests: “inconclusive” where "
        "that is not more than half of them, or several share it. Seconds are of one run each: where they are few, who "
        "is faster is chance."
    )
    by_component: dict[str, dict[str, str]] = {}
    for approach in best:
        by_component.setdefault(approach.component, {})[approach.measure] = approach.in_words
    rows = [(tr(component), *(told[measure] for measure in MEASURED)) for component, told in by_component.items()]
    return Section(heading, (text,), (tr("Component"), *MEASURED.values()), rows)
