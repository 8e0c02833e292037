"""Configurations to hold against each other: declared, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qgis.core import QgsProcessingParameterDefinition

from ...core.aggregation import APPROACHES as AGGREGATIONS
from ...core.aggregation import AggregationOptions
from ...core.approach import choosing_sites
from ...core.baselines import BASELINES
from ...core.comparison import Outcome, configurations_of
from ...core.configuration import Configuration
from ...core.nesting.recipes import RECIPES
from ...core.site_location import APPROACHES as SITE_LOCATIONS
from ...core.site_number import APPROACHES as SITE_NUMBERS
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
    "seconds": "real",
    "combination": "integer",
    "pareto": "integer",
    "problem": "text",
}


def compared_approaches() -> Iterable[QgsProcessingParameterDefinition]:
    """SITE_NUMBERS, SITE_LOCATIONS, AGGREGATIONS, CAPACITY_FACTORS, BASELINES."""
    which = "Which of these to compare."
    located = [name for name in AGGREGATIONS if name not in choosing_sites(AGGREGATIONS)]
    yield choices("SITE_NUMBERS", "Numbers of regions", SITE_NUMBERS, ["max combinations", "entropy"], which)
    yield choices("SITE_LOCATIONS", "Site locations", SITE_LOCATIONS, ["balanced density"], which)
    yield choices("AGGREGATIONS", "Aggregations", AGGREGATIONS, located, which)
    yield text(
        "CAPACITY_FACTORS",
        "Capacity factors",
        "1,1.2,2,5,0",
        "For the transport heuristics, one configuration each: numbers from 1, separated by commas; 0 sets no limit.",
        advanced=True,
    )
    yield choices(
        "NESTED",
        "Nested releases",
        RECIPES,
        [],
        "Releases of several levels, in which each record shows the finest region that hides it. "
        f"{approaches.sentences(RECIPES)}",
    )
    yield choices(
        "BASELINES",
        "Baselines",
        BASELINES,
        [],
        f"What to hold them against. {approaches.sentences(BASELINES)} Their cut-off is “People per region”. "
        "One that lacks something, such as the field of the larger unit, says so in its row.",
    )


def compared_configurations_of(form: Form) -> list[Configuration]:
    """The chosen approaches and capacity factors in all combinations."""
    return configurations_of(
        *(form.words(name) for name in CHOICES),
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
        "Comparison",
        INTERNAL,
        "A row per configuration with its measures (nested releases and baselines stand under their names); "
        "mean_distance is how far the people of a record's region live from its middle, in metres; combination is the "
        "number in Croft et al. (2018, Table 4), pareto is 1 where no other row is better in every measure but time, "
        "problem says why a configuration failed.",
    )


def comparison_table(outcomes: Sequence[Outcome]) -> Table:
    """COMPARISON: a row per configuration or baseline; measures are empty where one failed."""
    rows = [_row(outcome) for outcome in outcomes]
    return Table(number_fields(**FIELDS), [list(column) for column in zip(*rows)] or [[] for _ in FIELDS])


def _row(outcome: Outcome) -> tuple[object, ...]:
    c, m = outcome.configuration, outcome.measures
    return (
        outcome.family,
        (c.site_location or None) if c else None,
        c.aggregation if c else outcome.title,
        c.aggregation_options.capacity_factor if c and c.has_capacities else None,
        *(None if m is None else getattr(m, name) for name in MEASURES),
        outcome.seconds,
        outcome.combination,
        None if m is None else int(outcome.pareto),
        outcome.problem or None,
    )
