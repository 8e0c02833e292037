"""A release made of a job: the levels at which records may be shown, of one kind or the other, and the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial

import numpy as np

from ..account import Account
from ..aggregation import APPROACHES, Aggregation
from ..anonymise import anonymise, rate
from ..areas import Areas
from ..ask import refuse_with_periods
from ..attribute_costs import AttributeCost, attribute_costs, cost_sentence
from ..baselines import BASELINES
from ..configuration import Configuration, Run, aggregate, joined_to_least_population
from ..convergence import Convergence
from ..dataclass import dataclass
from ..errors import InputError
from ..evaluation import Measures, who_is_lost
from ..generalising.hierarchies import Hierarchy
from ..language import tr
from ..levels import Levels
from ..log import Log
from ..nesting.making import build_levels
from ..plan import Plan
from ..report.internal import Remarks
from ..source import Source
from ..suppression import Terms, suppressed_by_class, suppression_percent
from .asking import ask_of, rated, terms_of
from .configuring import configuration_of, over_budget
from .generalising import asks_for_coarser, coarser_of, with_levels_asked
from .job import Job
from .levels import level_options_of, levels_of, sentence
from .rules import rule_sentences
from .saying import crosswalk_sentence
from .values import CONFIGURATION, NESTED

READ = 20.0  # per cent of the time until the inputs are read


@dataclass(frozen=True, eq=False)
class Made:
    """A release of a job, and what is known of how it was made.

    hierarchies : what could still be shown coarser; aggregation : what made the regions of one level
    """

    account: Account
    remarks: Remarks
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    aggregation: Aggregation | None = None


@dataclass(frozen=True, eq=False)
class LevelsMade:
    """Levels, and how they were made.

    looking : the approaches that looked at the classes of suppressed records; counts_values : whether how many regions
    there are depends on how many values k records have; seconds : by step; aggregation : what
    made regions of one level; single : of nested levels what one level of regions would give, with its name
    """

    levels: Levels
    looking: tuple[str, ...]
    counts_values: bool
    notes: tuple[str, ...]
    seconds: dict[str, float]
    convergence: tuple[Convergence, ...] = ()
    aggregation: Aggregation | None = None
    single: tuple[str, Measures] | None = None


def is_nested(job: Job) -> bool:
    """Whether a job asks for nested levels. Raises InputError for what cannot go with them or with coarser values."""
    nested = job.text("RELEASE") == NESTED
    if nested:
        refuse_with_periods(rated(job, nested), nested, asks_for_coarser(job))
    return nested


def need_neighbours(approaches: Iterable[str]) -> bool:
    """Whether one of these aggregations or baselines needs to know which areas share a border."""
    return any((APPROACHES | BASELINES)[name].neighbours for name in approaches)


def aggregations_of(job: Job, aggregation: str) -> list[str]:
    """The aggregations that levels are made by: this one, and that which joins regions to a least population."""
    floor = job.number("LEAST_POPULATION") > 0 and not job.given("LEVEL_FIELDS")
    return [aggregation, *(["population floor"] if floor else [])]


def aggregations_used(job: Job) -> list[str]:
    """The aggregations of a job, of one level or several."""
    aggregation = configuration_of(job).aggregation
    return aggregations_of(job, aggregation) if job.text("RELEASE") == NESTED else [aggregation]


def released(
    job: Job,
    areas: Areas,
    records: Source,
    said: Sequence[str] = (),
    still_coarser: Callable[[], Mapping[str, Hierarchy]] | None = None,
    rows: bool = True,
) -> Made:
    """The release that a job asks for.

    areas : with the population to balance, and their neighbours where `aggregations_used` look at them; records :
    matched with them, wherever they are, with what belongs to them; said : of the records, for the report;
    still_coarser : gives what could be shown coarser still, where `values` of the records do not tell how many have
    each; rows : False for what the release would be, held against nothing that is published
    Raises InputError and PrivacyError.
    """
    if still_coarser is None:
        still_coarser = partial(coarser_of, job, records.values())
    nested, configuration = job.text("RELEASE") == NESTED, configuration_of(job)
    seconds = {tr("reading"): job.seconds()}
    made = _levels_made(job, areas, records, configuration)
    notes = (*made.notes, *rule_sentences(job, nested), crosswalk_sentence(job, made.looking, made.counts_values))
    job.info(*notes)
    # What could be shown coarser still: in one level for what that would save, else for the levels that do.
    hierarchies = still_coarser() if job.generalises and (not nested or asks_for_coarser(job)) else {}
    levels = with_levels_asked(job, made.levels, records.values(), hierarchies) if nested else made.levels
    sites = None if made.aggregation is None else made.aggregation.sites
    ask, progress = ask_of(job, records.values(), nested, hierarchies), job.progress(45, 65)
    if rows:
        account = anonymise(areas, records, levels, ask, sites, areas.population, progress, job)
    else:
        account = rate(areas, records, levels, ask, sites, progress)
    if not nested:
        job.warn(*over_budget(configuration, account.measures.suppression_percent))
    remarks = Remarks(
        (*said, *notes),
        {**seconds, **made.seconds},
        convergence=made.convergence,
        single=made.single,
    )
    return Made(account, remarks, hierarchies, made.aggregation)


def estimated(job: Job, areas: Areas, records: Source) -> Account:
    """What the release that a job asks for would be: as `released`, and nothing is released. Of what is published
    already nothing is known yet.

    areas, records : as for `released`
    Raises InputError.
    """
    nested = is_nested(job)
    made = _levels_made(job, areas, records, configuration_of(job))
    hierarchies = coarser_of(job, records.values()) if asks_for_coarser(job) else {}
    levels = with_levels_asked(job, made.levels, records.values(), hierarchies) if nested else made.levels
    sites = None if made.aggregation is None else made.aggregation.sites
    ask = ask_of(job, records.values(), nested, hierarchies)
    return rate(areas, records, levels, ask, sites, job.progress(45, 65))


def with_costs(
    log: Log, account: Account, remarks: Remarks, hierarchies: Mapping[str, Hierarchy]
) -> tuple[Remarks, str]:
    """What the report says of who is lost and what each attribute costs, and the next step; the log says it too."""
    say_who_is_lost(log, account)
    if account.nested or account.changed is not None:  # who waits in an update waits by no quasi-identifier of its plan
        return remarks, ""
    terms = Terms(account.ask.k, account.requirement, account.n_unmatched)
    costs = (*costs_of(account.plan, hierarchies, terms), account.measures.suppression_percent)
    return replace(remarks, costs=costs), next_step(*costs) or finer_regions(account)


def _levels_made(job: Job, areas: Areas, records: Source, configuration: Configuration) -> LevelsMade:
    make = _nested_levels if job.text("RELEASE") == NESTED else _one_level
    return make(job, areas, records, configuration)


def _one_level(job: Job, areas: Areas, records: Source, configuration: Configuration) -> LevelsMade:
    terms = terms_of(job, records)
    run = aggregate(areas, records.profile, configuration, job.progress(READ, 45), terms=terms)
    run = joined_to_least_population(run, areas, job.number("LEAST_POPULATION"))
    return LevelsMade(
        Levels((run.aggregation.crosswalk,)),
        configuration.using_attribute_counts,
        configuration.counts_values,
        run.notes,
        {tr(step): seconds for step, seconds in run.seconds.items()},
        run.convergence,
        run.aggregation,
    )


def _nested_levels(job: Job, areas: Areas, records: Source, configuration: Configuration) -> LevelsMade:
    started = job.seconds()
    run, single = _single_level(job, areas, records, configuration)
    finest = run.aggregation.crosswalk if run and job.text("FINEST") == CONFIGURATION else None
    options = level_options_of(
        job, configuration.site_location, configuration.aggregation, configuration.aggregation_options
    )
    step = job.progress(30, 45)
    levels = levels_of(job, areas, lambda: build_levels(areas, records.profile, finest, options, step))
    job.info(sentence(levels))
    return LevelsMade(
        levels,
        _using_attribute_counts(job, configuration),
        configuration.counts_values and _uses_the_number(job),
        (),
        {tr("levels"): job.seconds() - started},
        run.convergence if run and finest is not None else (),
        single=single,
    )


def _single_level(
    job: Job, areas: Areas, records: Source, configuration: Configuration
) -> tuple[Run | None, tuple[str, Measures] | None]:
    """What one level of regions would give; a configuration that fails matters only where its regions are used."""
    try:
        run = aggregate(areas, records.profile, configuration, job.progress(READ, 30), terms=terms_of(job, records))
    except InputError as error:
        if _uses_the_number(job):
            raise
        job.info(tr("One level of regions cannot be shown for comparison: {error}", error=error))
        return None, None
    aggregation = run.aggregation
    rating = rate(areas, records, Levels((aggregation.crosswalk,)), rated(job, nested=False), aggregation.sites)
    return run, (job.text("COMBINATION"), rating.measures)


def _using_attribute_counts(job: Job, configuration: Configuration) -> tuple[str, ...]:
    """The approaches that made the levels and look at the classes of suppressed records."""
    if job.given("LEVEL_FIELDS"):
        return ()
    looking = configuration.using_attribute_counts
    if _uses_the_number(job):
        return looking
    return tuple(name for name in looking if name != configuration.site_number)


def _uses_the_number(job: Job) -> bool:
    """Whether the levels begin with as many regions as the configuration finds."""
    return job.text("FINEST") == CONFIGURATION and not job.given("LEVEL_FIELDS")


TO_SHOW_MORE = tr(
    "Nothing is suppressed: smaller regions may hide everybody as well. The dock “VBAS release” in QGIS shows what "
    "each number of regions costs; SITE_NUMBER “suppression budget” takes the most that a budget allows."
)
TO_LOSE_LESS = tr("To suppress less, leave one out or show it coarser.")


def say_who_is_lost(log: Log, account: Account) -> None:
    """The group that loses most, where anything is suppressed."""
    lost = who_is_lost(account.by_value, account.measures, account.plan.k)
    log.info(*([lost] if lost else []))


def costs_of(plan: Plan, hierarchies: Mapping[str, Hierarchy], terms: Terms) -> tuple[float, list[AttributeCost]]:
    """Per cent suppressed with the regions of a plan of one level, and what each attribute costs.

    hierarchies : what could still be shown coarser, as `coarser_of`
    """
    profile = plan.profile
    suppressed = suppressed_by_class(profile, plan.crosswalk, terms)
    return suppression_percent(profile, suppressed, terms), attribute_costs(profile, plan.crosswalk, terms, hierarchies)


def next_step(percent: float, costs: Sequence[AttributeCost], suppressed: float) -> str:
    """What to do about suppression, empty where there is none; suppressed : as `cost_sentence` takes it."""
    cheaper = any(cost.without < percent for cost in costs)
    said = cost_sentence(percent, costs, suppressed)
    return " ".join([said, *([TO_LOSE_LESS] if cheaper else [])]) if percent else ""


def finer_regions(account: Account) -> str:
    """What to do where nothing is suppressed, empty where regions cannot be smaller."""
    crosswalk = account.levels.crosswalks[0]
    joined = crosswalk.n_regions < np.count_nonzero(crosswalk.region_of >= 0)
    return TO_SHOW_MORE if joined and not account.measures.n_suppressed else ""
