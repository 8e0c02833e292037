"""The approaches and their settings, as a job asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..aggregation import APPROACHES as AGGREGATIONS
from ..aggregation import AggregationOptions
from ..approach import using_setting
from ..configuration import CUSTOM, RECOMMENDED, Configuration
from ..language import rounded_up, tr
from ..site_location import LocationOptions
from ..site_number import APPROACHES as SITE_NUMBERS
from ..site_number import SiteNumberOptions
from .job import Job


def aggregation_options_of(job: Job) -> AggregationOptions:
    """The settings of the aggregation, read."""
    return AggregationOptions(
        capacity_factor=job.number("CAPACITY_FACTOR"),
        floor=job.number("FLOOR"),
        k=job.whole("K"),
        seed=job.whole("SEED"),
    )


def location_options_of(job: Job) -> LocationOptions:
    """The settings of the site location, read; where the form has no START, clustering starts as by default."""
    options = LocationOptions(k=job.whole("K"), seed=job.whole("SEED"))
    return replace(options, start=job.text("START")) if job.has("START") else options


def model_options_of(job: Job) -> SiteNumberOptions:
    """The settings of the published cut-off models, read."""
    return SiteNumberOptions(
        gaps_region=job.text("GAPS_REGION"),
        gaps_coefficient=job.number("GAPS_COEFFICIENT"),
        gaps_exponent=job.number("GAPS_EXPONENT"),
        log_base=job.number("LOG_BASE"),
        k=job.whole("K"),
    )


def number_options_of(job: Job) -> SiteNumberOptions:
    """The settings of the site number, read."""
    return replace(
        model_options_of(job),
        cutoff=job.number("CUTOFF"),
        n_sites=job.whole("N_SITES"),
        budget=job.number("BUDGET"),
        fair=tuple(job.several("FAIR")),
    )


def configuration_of(job: Job) -> Configuration:
    """The whole configuration: of the combination, or of the single choices for `custom`."""
    name = job.text("COMBINATION")
    if name == CUSTOM:
        parts = job.text("SITE_NUMBER"), job.text("SITE_LOCATION"), job.text("AGGREGATION")
        aggregation_options = aggregation_options_of(job)
    else:
        chosen = RECOMMENDED[name]
        parts = chosen.site_number, chosen.site_location, chosen.aggregation
        aggregation_options = AggregationOptions()
    return Configuration(*parts, number_options_of(job), location_options_of(job), aggregation_options)


def over_budget(configuration: Configuration, percent: float) -> list[str]:
    """A sentence where more per cent of the records are suppressed than the number of regions was chosen for."""
    budget = configuration.number_options.budget
    if configuration.site_number not in using_setting(SITE_NUMBERS, "budget") or percent <= budget:
        return []
    return [
        tr(
            "{percent:.3g} % of the records are suppressed, more than the BUDGET of {budget:g} %: what was "
            "asked after the regions were made (a least population, published totals, earlier releases) "
            "suppresses the rest. Choose a smaller BUDGET to make room for it.",
            percent=rounded_up(percent),
            budget=budget,
        )
    ]


def settled_by_combination(job: Job) -> Mapping[str, object]:
    """The parts of the combination in the place of the single choices; nothing for `custom`."""
    combination = RECOMMENDED.get(job.text("COMBINATION"))
    if combination is None:
        return {}
    parts: dict[str, object] = {
        "SITE_NUMBER": combination.site_number,
        "SITE_LOCATION": combination.site_location,
        "AGGREGATION": combination.aggregation,
    }
    if "capacity_factor" in AGGREGATIONS[combination.aggregation].settings:
        parts["CAPACITY_FACTOR"] = AggregationOptions().capacity_factor
    return parts
