"""Configurations to hold against each other, and outcomes planted to compare them by: declared, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from qgis.core import QgsProcessingParameterDefinition

from ...core.aggregation import APPROACHES as AGGREGATIONS
from ...core.aggregation import AggregationOptions
from ...core.analysis.planted_comparison import PlantedComparison
from ...core.analysis.planting import MOST_AREAS, Planting
from ...core.approach import choosing_sites
from ...core.areas import Areas
from ...core.baselines import BASELINES
from ...core.comparison import configurations_of
from ...core.configuration import Configuration
from ...core.job import configuring
from ...core.language import as_data, tr
from ...core.nesting.making import RECIPES
from ...core.outcome import Outcome
from ...core.records.matching import Records
from ...core.site_location import APPROACHES as SITE_LOCATIONS
from ...core.site_number import APPROACHES as SITE_NUMBERS
from ...core.tables.regions import ANALYSES, COMPARISON
from ...core.trade_off.outcomes import levels_in_words
from ...core.transport.facilities import check_capacity_factor
from ...core.weighted_sum import OBJECTIVES
from ..layers.tables import Table, TableColumn, filled
from . import approaches
from .form import Form
from .parameters import INTEGER, choices, number, sink, text

CHOICES = ("SITE_NUMBERS", "SITE_LOCATIONS", "AGGREGATIONS")


def compared_approaches() -> Iterable[QgsProcessingParameterDefinition]:
    """SITE_NUMBERS, SITE_LOCATIONS, AGGREGATIONS, CAPACITY_FACTORS, BASELINES."""
    which = tr("Which of these to compare.")
    own_sites = choosing_sites(AGGREGATIONS)
    located = [name for name, approach in AGGREGATIONS.items() if name not in own_sites and not approach.starts_from]
    unhurried = tr(
        "“anonymity exchange” is not among those chosen at first: it takes many times as long as all of them together."
    )
    yield choices(
        "SITE_NUMBERS",
        tr("Numbers of regions (“max combinations (2018)” counts as the paper does)"),
        SITE_NUMBERS,
        ["max combinations", "entropy"],
        f"{which} {approaches.WHOSE_COUNT}",
    )
    yield choices("SITE_LOCATIONS", tr("Site locations"), SITE_LOCATIONS, ["balanced density"], which)
    yield choices("AGGREGATIONS", tr("Aggregations"), AGGREGATIONS, located, f"{which} {unhurried}")
    yield text(
        "CAPACITY_FACTORS",
        tr("Capacity factors"),
        "1,1.2,2,5,0",
        tr(
            "For the transport heuristics, one configuration each: numbers from 1, separated by commas; 0 "
            "sets no limit."
        ),
        advanced=True,
    )
    yield choices(
        "NESTED",
        tr("Nested releases"),
        RECIPES,
        [],
        tr(
            "Releases of several levels, in which each record shows the finest region that hides it. {sentences}",
            sentences=approaches.sentences(RECIPES),
        ),
    )
    yield choices(
        "BASELINES",
        tr("Baselines"),
        BASELINES,
        [],
        tr(
            "What to hold them against. {sentences} Their cut-off is CUTOFF, people per region. "
            "One that lacks something, such as the field of the larger unit, says so in its row.",
            sentences=approaches.sentences(BASELINES),
        ),
    )


def weights() -> QgsProcessingParameterDefinition:
    """WEIGHTS."""
    return text(
        "WEIGHTS",
        tr("Weights of the objectives"),
        "",
        tr(
            "Such as suppression_percent=3, compactness=1: what you hold dear, by the fields of COMPARISON "
            "({objectives}), each with a weight above 0. Every row gets the weighted sum of its objectives, each as a "
            "share of the largest value among the rows of the same k, and the best row is named beside the Pareto "
            "front. Empty: no weighted sum.",
            objectives=", ".join(OBJECTIVES),
        ),
        optional=True,
        advanced=True,
    )


def compared_configurations_of(form: Form) -> list[Configuration]:
    """The chosen approaches and capacity factors in all combinations."""
    numbers, locations, aggregations = CHOICES
    counts = "CAPACITY_FACTORS" in form.values()  # else the log says that it has no effect
    factors = approaches.numbers_in(form.text("CAPACITY_FACTORS"), "CAPACITY_FACTORS") if counts else []
    for factor in factors:
        check_capacity_factor(factor, "CAPACITY_FACTORS")
    return configurations_of(
        form.words(numbers), form.words(locations), form.words(aggregations), factors, settings_of(form)
    )


def settings_of(form: Form) -> Configuration:
    """The settings that all configurations share."""
    return Configuration(
        number_options=configuring.number_options_of(form.job),
        location_options=configuring.location_options_of(form.job),
        aggregation_options=AggregationOptions(floor=form.number("FLOOR"), k=form.whole("K"), seed=form.whole("SEED")),
    )


def comparison_output() -> QgsProcessingParameterDefinition:
    """COMPARISON."""
    return sink(COMPARISON)


def at_k(configuration: Configuration, k: int) -> Configuration:
    """The configuration at another k."""
    number = replace(configuration.number_options, k=k)
    location = replace(configuration.location_options, k=k)
    how = replace(configuration.aggregation_options, k=k)
    return replace(configuration, number_options=number, location_options=location, aggregation_options=how)


def comparison_table(outcomes: Sequence[Outcome], quasi_identifiers: Sequence[str]) -> Table:
    """COMPARISON: a row per configuration or baseline; measures are empty where one failed.

    With what each quasi-identifier gives up where a trade-off was searched.
    """
    searched = any(outcome.losses for outcome in outcomes)
    names = [*COMPARISON.names, *(f"lost_{name}" for name in quasi_identifiers if searched)]
    rows = [_row(outcome, quasi_identifiers) for outcome in outcomes]
    columns: dict[str, TableColumn | None] = {name: [row.get(name) for row in rows] for name in names}
    if all(outcome.weighted_sum is None for outcome in outcomes):
        columns["weighted_sum"] = None
    if all(outcome.analysis is None for outcome in outcomes):
        columns.update({field.name: None for field in ANALYSES})
    return filled(COMPARISON, columns)


def _row(outcome: Outcome, quasi_identifiers: Sequence[str]) -> dict[str, object]:
    """The values of a row by their fields; those that it lacks are empty."""
    c, m, worst = outcome.configuration, outcome.measures, outcome.worst
    row: dict[str, object] = {
        "site_number": outcome.family,
        "aggregation": outcome.title,
        "seconds": outcome.seconds,
        "combination": outcome.combination,
        "problem": outcome.problem or None,
        "k": outcome.k,
        "budget": outcome.budget,
        "given_up": 100.0 * outcome.given_up,
        "recommended": int(bool(outcome.recommended)),
        "weighted_sum": outcome.weighted_sum,
    }
    if c is not None:
        row.update(site_location=c.site_location or None, aggregation=c.aggregation)
        row["capacity_factor"] = c.aggregation_options.capacity_factor if c.has_capacities else None
    if m is not None:
        row.update({**vars(m), "n_sites": m.n_regions, "suppressed": m.n_suppressed, "pareto": int(outcome.pareto)})
    if worst is not None:
        row.update(worst_group=worst.name, worst_group_percent=worst.percent)
    if outcome.analysis is not None:
        row.update({name: None if value != value else value for name, value in vars(outcome.analysis).items()})
    if outcome.budget is not None:
        row["generalised"] = levels_in_words(outcome.generalised, as_data)
    losses = outcome.losses or (0.0,) * len(quasi_identifiers)
    return {**row, **{f"lost_{name}": 100.0 * share for name, share in zip(quasi_identifiers, losses)}}


MOST_OUTCOMES = 200
PLANTING = Planting()


def analyses() -> QgsProcessingParameterDefinition:
    """ANALYSES."""
    return number(
        "ANALYSES",
        tr("Analyses: outcomes to plant and look for"),
        0,
        tr(
            "What would a researcher lose? So many outcomes are planted on the records (a risk that falls off around "
            "one place; clusters of {risk:g}-fold risk) and looked for in every release and in the true areas: "
            "the error of a map, the effect of an exposure and how often its interval holds it, clusters that are "
            "found, and where rare groups seem to live. 20 tell large differences, 100 small ones; 0 for none. It "
            "takes a few seconds for each release and 1 000 areas, of which there may be {most_areas}.",
            risk=PLANTING.relative_risk,
            most_areas=MOST_AREAS,
        ),
        0,
        MOST_OUTCOMES,
        INTEGER,
        advanced=True,
    )


def planted_of(form: Form, areas: Areas, records: Records) -> PlantedComparison | None:
    """What is planted, None for nothing. Raises InputError for more areas than can be analysed."""
    if not form.whole("ANALYSES"):
        return None
    planting = Planting(outcomes=form.whole("ANALYSES"), seed=form.whole("SEED"))
    comparison = PlantedComparison(areas, records.profile, planting)
    _ = comparison.planted  # too few people are said before the comparison, not in each of its rows
    return comparison
