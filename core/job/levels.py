"""The levels of a nested release, and what it holds against, as a job asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from ..aggregation import AggregationOptions
from ..areas import Areas
from ..language import tr, written
from ..levels import Levels, levels_from_fields, with_least_population
from ..nesting.making import LevelOptions
from .configuring import location_options_of
from .job import Job
from .values import field_named


def levels_of(job: Job, areas: Areas, made: Callable[[], Levels]) -> Levels:
    """The levels: from LEVEL_FIELDS, or else as `made` makes them."""
    fields = job.several("LEVEL_FIELDS")
    if not fields:
        return made()
    there = job.fields("REGIONS")
    for name in fields:
        field_named(there, name, "LEVEL_FIELDS", "REGIONS")
    levels = levels_from_fields(areas, fields, [job.values_of_areas(name, areas) for name in fields])
    return with_least_population(areas, levels, job.number("LEAST_POPULATION"))


def sentence(levels: Levels) -> str:
    """How many levels of how many regions there are, for the log."""
    return tr(
        "Regions by level, from the finest: {numbers}.",
        numbers=", ".join(written(str(crosswalk.n_regions)) for crosswalk in levels.crosswalks),
    )


def level_options_of(job: Job, site_location: str, aggregation: str, settings: AggregationOptions) -> LevelOptions:
    """How levels are made from the areas up, by these approaches; site_location is empty where none is needed."""
    return LevelOptions(
        job.whole("COARSEST"),
        job.number("RATIO"),
        job.number("LEAST_POPULATION"),
        site_location or LevelOptions.site_location,
        aggregation,
        location_options_of(job),
        settings,
    )


DISCLOSURE, CLOSED = "DISCLOSURE", "CLOSED_BY_CHANCE"
LEFT_AREAS, LEFT_PEOPLE = "LEAST_LEFT_AREAS", "LEAST_LEFT_PEOPLE"


class Held(TypedDict):
    """What `Ask` is told of it."""

    disclosure: str
    closed_by_chance: float
    least_left_areas: int
    least_left_people: float


def held_against(job: Job) -> Held:
    """What is asked of a nested release."""
    return {
        "disclosure": job.text(DISCLOSURE),
        "closed_by_chance": job.number(CLOSED),
        "least_left_areas": job.whole(LEFT_AREAS),
        "least_left_people": job.number(LEFT_PEOPLE),
    }
