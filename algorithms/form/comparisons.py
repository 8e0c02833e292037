"""Configurations to hold against each other: declared, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from qgis.core import QgsProcessingParameterDefinition

from ...core.aggregation import APPROACHES as AGGREGATIONS
from ...core.aggregation import AggregationOptions
from ...core.approach import choosing_sites
from ...core.baselines import BASELINES
from ...core.comparison import configurations_of
from ...core.configuration import Configuration
from ...core.language import as_data, tr
from ...core.nesting.recipes import RECIPES
from ...core.outcome import Outcome
from ...core.site_location import APPROACHES as SITE_LOCATIONS
from ...core.site_number import APPROACHES as SITE_NUMBERS
from ...core.trade_off.outcomes import levels_in_words
from ..layers.tables import INTERNAL, Table, number_fields
from . import approaches
from .form import Form
from .parameters import choices, sink, text

CHOICES = ("SITE_NUMBERS", "SITE_LOCATIONS", "AGGREGATIONS")
MEASURES = (
    "n_regions",
    "n_suppressed",
    "suppression_percent",
    "compactness",
    "discernibility",
    "non_uniform_entropy",
    "mean_distance",
)
FIELDS = {
    "site_number": "text",
    "site_location": "text",
    "aggregation": "text",
    "capacity_factor": "real",
    "n_sites": "integer",
    "suppressed": "long",
    "suppression_percent": "real",
    "compactness": "real",
    "discernibility": "real",
    "non_uniform_entropy": "real",
    "mean_distance": "real",
    "worst_group": "text",
    "worst_group_percent": "real",
    "seconds": "real",
    "combination": "integer",
    "pareto": "integer",
    "problem": "text",
    "k": "integer",
    "budget": "real",
    "generalised": "text",
    "given_up": "real",
    "recommended": "integer",
}


def compared_approaches() -> Iterable[QgsProcessingParameterDefinition]:
    """SITE_NUMBERS, SITE_LOCATIONS, AGGREGATIONS, CAPACITY_FACTORS, BASELINES."""
    which = tr("Which of these to compare.")
    located = [name for name in AGGREGATIONS if name not in choosing_sites(AGGREGATIONS)]
    yield choices("SITE_NUMBERS", tr("Numbers of regions"), SITE_NUMBERS, ["max combinations", "entropy"], which)
    yield choices("SITE_LOCATIONS", tr("Site locations"), SITE_LOCATIONS, ["balanced density"], which)
    yield choices("AGGREGATIONS", tr("Aggregations"), AGGREGATIONS, located, which)
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


def compared_configurations_of(form: Form) -> list[Configuration]:
    """The chosen approaches and capacity factors in all combinations."""
    numbers, locations, aggregations = CHOICES
    return configurations_of(
        form.words(numbers),
        form.words(locations),
        form.words(aggregations),
        approaches.numbers_in(form.text("CAPACITY_FACTORS"), "CAPACITY_FACTORS"),
        settings_of(form),
    )


def settings_of(form: Form) -> Configuration:
    """The settings that all configurations share."""
    return Configuration(
        number_options=approaches.number_options_of(form),
        location_options=approaches.location_options_of(form),
        aggregation_options=AggregationOptions(floor=form.number("FLOOR"), k=form.whole("K"), seed=form.whole("SEED")),
    )


def comparison_output() -> QgsProcessingParameterDefinition:
    """COMPARISON."""
    return sink(
        "COMPARISON",
        tr("Comparison"),
        INTERNAL,
        tr(
            "A row per configuration with its measures (nested releases and baselines stand under their "
            "names); mean_distance is how far the people of a record's region live from its middle, in "
            "metres; worst_group is the value of a quasi-identifier that loses the largest share of its "
            "records, worst_group_percent that share; combination is the number in Croft et al. (2018, Table "
            "4); pareto is 1 where no other row of the same k is at least as good in suppression, mean "
            "distance and what the attributes give up, and better in one; problem says why a configuration "
            "failed. Rows that were searched have their budget, the levels of the attributes (generalised), "
            "in given_up the share of the attributes' entropy that is given up, and in lost_… that of each "
            "attribute, per cent. recommended is 1 in the row to choose."
        ),
    )


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
    lost = {f"lost_{name}": "real" for name in quasi_identifiers} if searched else {}
    rows = [(*_row(outcome), *_losses(outcome, len(lost))) for outcome in outcomes]
    columns = [list(column) for column in zip(*rows)] or [[] for _ in (*FIELDS, *lost)]
    return Table(number_fields(**FIELDS, **lost), columns)


def _losses(outcome: Outcome, n_lost: int) -> tuple[object, ...]:
    return tuple(100.0 * share for share in outcome.losses or (0.0,) * n_lost)


def _row(outcome: Outcome) -> tuple[object, ...]:
    c, m = outcome.configuration, outcome.measures
    return (
        outcome.family,
        (c.site_location or None) if c else None,
        c.aggregation if c else outcome.title,
        c.aggregation_options.capacity_factor if c and c.has_capacities else None,
        *(None if m is None else getattr(m, name) for name in MEASURES),
        outcome.worst.name if outcome.worst else None,
        outcome.worst.percent if outcome.worst else None,
        outcome.seconds,
        outcome.combination,
        None if m is None else int(outcome.pareto),
        outcome.problem or None,
        outcome.k,
        outcome.budget,
        levels_in_words(outcome.generalised, as_data) if outcome.budget is not None else None,
        100.0 * outcome.given_up,
        int(bool(outcome.recommended)),
    )
