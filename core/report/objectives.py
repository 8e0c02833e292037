"""What a comparison says of the objectives, of what a researcher would lose, and of scenario runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.planted_comparison import Reference
from ..analysis.planting import AnalysisMeasures, Planting
from ..best_approaches import MEASURED, BestApproach
from ..language import plural, tr
from ..outcome import Outcome
from ..scenarios.averages import Average, ScenarioAverages
from ..weighted_sum import best_sentences
from .numbers import formatted
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
    rows = [
        (tr(component), *(of_component[measure] for measure in MEASURED))
        for component, of_component in by_component.items()
    ]
    return Section(heading, (text,), (tr("Component"), *MEASURED.values()), rows)


HEADER = (
    "#",
    tr("Configuration"),
    "k",
    tr("Suppressed, %"),
    tr("Map error, × true areas"),
    tr("Effect found, of 1"),
    tr("Intervals that hold it, %"),
    tr("Standard error, × true areas"),
    tr("Cluster found, %"),
    tr("Found rightly, %"),
    tr("Rare groups, slope"),
    tr("of them kept, %"),
)


def researcher_section(
    outcomes: Sequence[Outcome], references: Sequence[Reference], planting: Planting | None
) -> Section:
    """A row for the true areas, masked points and each release; an empty section where nothing was planted."""
    heading = tr("What a researcher would lose")
    if planting is None:
        return Section(heading)
    texts = (
        plural(
            "{n} outcome of each kind was planted on these records and looked for in each release, with every record "
            "spread over the areas of its region by people, as an analyst can. The same is done with the true areas, "
            "and with points moved to where k to ten times k of the own class live nearer (donut masking).",
            "{n} outcomes of each kind were planted on these records and looked for in each release, with every record "
            "spread over the areas of its region by people, as an analyst can. The same is done with the true areas, "
            "and with points moved to where k to ten times k of the own class live nearer (donut masking).",
            planting.outcomes,
        ),
        tr(
            "Map: a risk that falls off around one place, and clusters, smoothed; its error over that with true areas: "
            "1 loses nothing. Effect: the coefficient of that exposure (planted: {effect:g}) over what was planted, "
            "and how many of its 95 % intervals hold it. Clusters: circles of {risk:g}-fold risk; of the people in "
            "them how many a scan at 5 % finds, and of those found how many were planted. Rare groups: the slope of "
            "estimated on true shares by area; 1 where they are shown where they live, 0 where they are spread like "
            "everybody.",
            effect=planting.effect,
            risk=planting.relative_risk,
        ),
        tr(
            "Outcomes fall on classes alike: an outcome that a quasi-identifier follows is lost with those who are "
            "suppressed. With few outcomes small differences are chance."
        ),
    )
    rows: list[tuple[object, ...]] = [
        (
            None,
            tr("true areas") if reference.k is None else tr("donut masking"),
            reference.k,
            reference.suppressed,
            *_figures(reference.measures),
        )
        for reference in references
    ]
    for number, outcome in enumerate(outcomes, 1):
        if outcome.analysis is not None and outcome.measures is not None:
            suppressed = outcome.measures.suppression_percent
            rows.append((number, outcome.name, outcome.k, suppressed, *_figures(outcome.analysis)))
    return Section(heading, texts, HEADER, rows)


def _figures(measures: AnalysisMeasures) -> tuple[object, ...]:
    figures = (
        (measures.map_error, 2),
        (measures.effect_found, 2),
        (measures.effect_covered, 0),
        (measures.effect_error, 2),
        (measures.cluster_found, 0),
        (measures.cluster_right, 0),
        (measures.rare_slope, 2),
        (measures.rare_kept, 1),
    )
    return tuple(round(figure, digits) if figure == figure else None for figure, digits in figures)


# Measure and column; the least and the most stand behind the average.
_SHOWN = (
    ("n_sites", tr("Regions")),
    ("suppression_percent", tr("Suppressed, %")),
    ("mean_distance", tr("Mean distance, m")),
    ("suppressed_of_first", tr("Suppressed, % of the first")),
    ("compactness_of_first", tr("Compactness, % of the first")),
    ("discernibility_of_first", tr("Discernibility, % of the first")),
    ("entropy_of_first", tr("Entropy, % of the first")),
)


def scenario_sections(
    averages: Sequence[ScenarioAverages], selections: Sequence[tuple[str, ...]], n_run: int, wanted: int
) -> list[Section]:
    """The averages, and the selections that were drawn; nothing where no scenario was run.

    n_run, wanted : scenarios that were run, and that were asked for
    """
    if not averages:
        return []
    header = (
        tr("Part"),
        tr("Configuration"),
        "k",
        tr("Scenarios"),
        tr("Failed"),
        *(label for _, label in _SHOWN),
    )
    rows = [
        (
            row.part or tr("all"),
            f"{row.configuration.site_number} · {row.configuration.title}",
            row.k,
            row.n_scenarios,
            row.n_failed,
            *(_with_range(row.values[name]) for name, _ in _SHOWN),
        )
        for row in averages
    ]
    text = plural(
        "{n} scenario of {wanted} was run: each random selection of the quasi-identifiers in each part. An average "
        "counts every scenario the same; in brackets the least and the most. Shares of the first configuration are "
        "those within each scenario.",
        "{n} scenarios of {wanted} were run: each random selection of the quasi-identifiers in each part. An average "
        "counts every scenario the same; in brackets the least and the most. Shares of the first configuration are "
        "those within each scenario.",
        n_run,
        wanted=wanted,
    )
    drawn = [(number, ", ".join(selection)) for number, selection in enumerate(selections, 1)]
    return [
        Section(tr("Averages over scenarios"), (text,), header, rows),
        Section(tr("The random selections"), (), ("#", tr("Quasi-identifiers")), drawn),
    ]


def _with_range(average: Average | None) -> str | None:
    if average is None:
        return None
    mean, least, most = (formatted(value, False) for value in (average.mean, average.least, average.most))
    return tr("{mean} ({least} to {most})", mean=mean, least=least, most=most)
