"""What a job asks of a release, as `anonymise` takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..anonymise import Ask
from ..generalising.hierarchies import Hierarchy
from ..language import tr
from ..nesting.losses import MEAN_DISTANCE, NON_UNIFORM_ENTROPY
from ..nesting.planning import CELLS_AT_ONCE, cells_within
from ..privacy.in_each_period import with_series
from ..privacy.requirement import Requirement
from ..privacy.rules import NO_RULE
from ..privacy.series import THE_SAME
from ..profile import Profile
from ..records.matching import Records, requirement_of
from ..records.table import RecordTable
from ..source import Source
from ..suppression import Terms
from ..ties import FIXED
from .job import Job
from .levels import DISCLOSURE, held_against
from .published import earlier_of, published_counts_of
from .reading import period_of, periods_of
from .rules import rule_of


def ask_of(
    given: Job,
    table: RecordTable,
    nested: bool,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Ask:
    """What a job asks of a release.

    table : the records, whose fields are looked at; nested : whether rows say their level; hierarchies : of their
    values, for levels that show coarser ones
    """
    rule = rule_of(given) if given.follows_rule else None
    people = given.number("LEAST_POPULATION") if given.has("LEAST_POPULATION") else 0.0
    return replace(
        rated(given, nested),
        least_population=max(people, rule.least_population if rule else 0.0),
        published_margins=given.text("PUBLISHED_MARGINS") if given.has("PUBLISHED_MARGINS") else "",
        published_counts=published_counts_of(given, table) if given.given("PUBLISHED_COUNTS") else None,
        earlier=earlier_of(given, table) if given.given("REGISTER") else None,
        ties=given.text("TIES") if given.has("TIES") else FIXED,
        hierarchies=hierarchies or {},
        at_once=cells_within(given.whole("MEMORY"), given.whole("K")) if given.has("MEMORY") else CELLS_AT_ONCE,
        rule=rule.name if rule else NO_RULE,
    )


def rated(given: Job, nested: bool) -> Ask:
    """What a job asks of every class and of where it is shown, for what only rates a release."""
    ask = Ask(
        k=given.whole("K"),
        l_diversity=given.whole("L_DIVERSITY"),
        max_share=given.number("MAX_SHARE"),
        nested=nested,
        loss=_loss(given) if nested else MEAN_DISTANCE,
        period=period_of(given),
        periods=periods_of(given),
    )
    return replace(ask, **held_against(given)) if nested and given.has(DISCLOSURE) else ask


def _loss(given: Job) -> str:
    """LOSS, or where there are no areas one that needs no distances."""
    if not given.given("REGIONS") and given.text("LOSS") == MEAN_DISTANCE:
        given.warn(
            tr(
                "Without REGIONS there are no distances: LOSS is “{non_uniform_entropy}” in this run.",
                non_uniform_entropy=NON_UNIFORM_ENTROPY,
            )
        )
        return NON_UNIFORM_ENTROPY
    return given.text("LOSS")


def terms_of(given: Job, records: Source) -> Terms:
    """What a job asks of a release of these records, for searches that count what one would suppress."""
    k, requirement = given.whole("K"), None
    if given.has("SENSITIVE"):
        requirement = records.requirement(k, given.whole("L_DIVERSITY"), given.number("MAX_SHARE"))
    return in_all_periods(given, Terms(k, requirement, records.n_unmatched), records.profile)


def terms_as_asked(ask: Ask, records: Records) -> Terms:
    """What is asked of a release of these records, for searches that count what one would suppress."""
    requirement = requirement_of(records, ask.k, ask.l_diversity, ask.max_share)
    if ask.the_same_in_all:
        requirement = with_series(requirement, records.profile, ask.period)
    return Terms(ask.k, requirement, records.n_unmatched)


def in_all_periods(asked: Job, terms: Terms, profile: Profile) -> Terms:
    """The terms, by which classes are the same in all periods where a job asks for that; profile : of the records."""
    period = period_of(asked)
    if not period or periods_of(asked) != THE_SAME:
        return terms
    return replace(terms, requirement=with_series(terms.requirement or Requirement(terms.k), profile, period))
