"""What a job asks of a release, as `anonymise` takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..ask import Ask
from ..generalising.hierarchies import Hierarchy
from ..language import tr
from ..nesting.losses import MEAN_DISTANCE, NON_UNIFORM_ENTROPY
from ..nesting.planning import CELLS_AT_ONCE, cells_within
from ..privacy.rules import NO_RULE
from ..records.matching import Records, requirement_of
from ..records.table import RecordTable
from ..source import Source
from ..suppression import Terms, in_all_periods
from ..ties import FIXED
from .job import Job
from .levels import DISCLOSURE, held_against
from .published import earlier_of, published_counts_of
from .reading import period_of, periods_of, same_in_all_of
from .rules import rule_of


def ask_of(
    job: Job,
    table: RecordTable,
    nested: bool,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Ask:
    """What a job asks of a release.

    table : the records, whose fields are looked at; nested : whether rows say their level; hierarchies : of their
    values, for levels that show coarser ones
    """
    rule = rule_of(job) if job.follows_rule else None
    people = job.number("LEAST_POPULATION") if job.has("LEAST_POPULATION") else 0.0
    return replace(
        rated(job, nested),
        least_population=max(people, rule.least_population if rule else 0.0),
        published_margins=job.text("PUBLISHED_MARGINS") if job.has("PUBLISHED_MARGINS") else "",
        published_counts=published_counts_of(job, table) if job.given("PUBLISHED_COUNTS") else None,
        earlier=earlier_of(job, table) if job.given("REGISTER") else None,
        ties=job.text("TIES") if job.has("TIES") else FIXED,
        hierarchies=hierarchies or {},
        at_once=cells_within(job.whole("MEMORY"), job.whole("K")) if job.has("MEMORY") else CELLS_AT_ONCE,
        rule=rule.name if rule else NO_RULE,
    )


def rated(job: Job, nested: bool) -> Ask:
    """What a job asks of every class and of where it is shown, for what only rates a release."""
    ask = Ask(
        k=job.whole("K"),
        l_diversity=job.whole("L_DIVERSITY"),
        max_share=job.number("MAX_SHARE"),
        nested=nested,
        loss=_loss(job) if nested else MEAN_DISTANCE,
        period=period_of(job),
        periods=periods_of(job),
    )
    return replace(ask, **held_against(job)) if nested and job.has(DISCLOSURE) else ask


def _loss(job: Job) -> str:
    """LOSS, or where there are no areas one that needs no distances."""
    if not job.given("REGIONS") and job.text("LOSS") == MEAN_DISTANCE:
        job.warn(
            tr(
                "Without REGIONS there are no distances: LOSS is “{non_uniform_entropy}” in this run.",
                non_uniform_entropy=NON_UNIFORM_ENTROPY,
            )
        )
        return NON_UNIFORM_ENTROPY
    return job.text("LOSS")


def terms_of(job: Job, records: Source) -> Terms:
    """What a job asks of a release of these records, for searches that count what one would suppress."""
    k, requirement = job.whole("K"), None
    if job.has("SENSITIVE"):
        requirement = records.requirement(k, job.whole("L_DIVERSITY"), job.number("MAX_SHARE"))
        requirement.refuse_impossible()
    return in_all_periods(Terms(k, requirement, records.n_unmatched), records.profile, same_in_all_of(job))


def terms_as_asked(ask: Ask, records: Records) -> Terms:
    """What is asked of a release of these records, for searches that count what one would suppress."""
    requirement = requirement_of(records, ask.k, ask.l_diversity, ask.max_share)
    requirement.refuse_impossible()
    terms = Terms(ask.k, requirement, records.n_unmatched)
    return in_all_periods(terms, records.profile, ask.period if ask.the_same_in_all else "")
