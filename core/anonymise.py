"""The recipe of a release: what is asked, the plan, what is published already, the rows, their recount, the measures.

The order is fixed here, once, for records in arrays and in an engine, for regions of one level, of several, and for
levels that show coarser values. Forms, the dock and a library call it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .account import Account
from .areas import Areas
from .ask import Ask, check_period, refuse_small_regions, refuse_together, refuse_with_periods, refuse_with_update
from .dataclass import dataclass
from .disclosure.certificate import Family
from .disclosure.count_tables import published_table
from .disclosure.inhabitants import inhabitants_of
from .disclosure.published import Published
from .evaluation import Measures, RegionAudit, evaluate
from .language import as_data, plural
from .levels import Levels
from .linked.saying import linked_sentences
from .log import QUIET, Log
from .nesting.coarser import nest_coarser
from .nesting.coarser_places import places_of
from .nesting.losses import NON_UNIFORM_ENTROPY
from .nesting.planning import nest
from .nesting.series import check_series
from .nesting.views import as_released
from .plan import Plan, suppress
from .policy import hold_release
from .privacy.beside import TablesBeside, hold_beside_and_together, people_beside, tables_beside, too_many_together
from .privacy.between_periods import said_between_periods
from .privacy.count_rows import rows_elsewhere
from .privacy.derivable import NO_SMALL_COUNT
from .privacy.in_each_period import with_series
from .privacy.kept_field import KeptField
from .privacy.requirement import Protection, Requirement, measure
from .privacy.weights import warning_of_weights
from .profile import Profile
from .progress import Progress, part, rising, silent
from .records.matching import Records
from .records.table import PERSONS
from .records.written_alike import said_of_writings
from .releases.carrying_on import CarriedOn, carried_on
from .releases.earlier import REPAIR, held_against_earlier, refuse_linked_again
from .releases.update_said import say_that_k_is_more, say_what_update_does
from .releases.valued import Wanted
from .source import RecordSource, Source
from .ties import ties_of

PLANNED = 0.45  # of the time until the rows are made; where it is held against what is published already:
PLANNED_FIRST, HELD, HELD_AGAINST_COUNTS = 0.2, 0.8, 0.5  # the last one of the time that this takes
# What a release takes its time for, for `Account.seconds`.
WHAT_IS_SHOWN, PUBLISHED_ALREADY = as_data("what is shown"), as_data("what is published already")
ROWS, MEASURES = as_data("rows and recount"), as_data("measures")

__all__ = ["Account", "Ask", "anonymise", "rate"]


class _Clock:
    """The seconds of each step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def has_taken(self, step: str) -> None:
        """A step has ended, and the next one begins."""
        now = time.perf_counter()
        self.seconds[step], self._since = now - self._since, now


def anonymise(
    areas: Areas,
    source: Source | Records,
    levels: Levels,
    ask: Ask,
    sites: np.ndarray | None = None,
    population: np.ndarray | None = None,
    progress: Progress = silent,
    log: Log = QUIET,
) -> Account:
    """Release records: each class on the finest level that hides it, from which no count below k was found to follow.

    Nobody sees the rows before they were counted once more; nothing is written to a register: see `Account.published`.

    Parameters
    ----------
    areas : Areas
        n areas with the population to balance.
    source : Source or Records
        Records matched with them.
    levels : Levels
        Of the same areas, one or several, the finest first.
    ask : Ask
        What is asked of the release.
    sites : ndarray of shape (n_regions, 2), optional
        Metres, from which compactness of one level is measured; the mean centres of its regions where None.
    population : ndarray of shape (n,), optional
        People of each area where that is known from elsewhere than the records.
    progress : callable
        Called with the fraction that is done; raises to cancel.
    log : Log
        Told what a person should know.

    Returns
    -------
    Account
        The release, what it costs and what was said of it.

    Raises
    ------
    InputError
        For what cannot go together and for fields that give away the area or the person.
    PrivacyError
        Where a recount, earlier releases or a policy of the house stand against the release.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.anonymise import Ask, anonymise
    >>> from vbas.core.levels import Levels
    >>> account = anonymise(areas, records, Levels((crosswalk,)), Ask(k=2))
    >>> release, numbers = account.release, account.plan.crosswalk.numbers
    >>> sex = release.fields["sex"]
    >>> list(zip(numbers[release.region].tolist(), sex.categories[sex.codes].tolist(), release.counts.tolist()))
    [(1, 'F', 2), (1, 'M', 2), (2, 'F', 3)]
    >>> account.measures.n_suppressed  # the man of region 2
    1
    """
    clock = _Clock()
    nested = ask.is_nested(levels)
    planned, until = (PLANNED_FIRST, HELD) if ask.stands_beside else (PLANNED, PLANNED)
    policies = hold_release(ask.k, ask.rule, nested, ask.disclosure, ask.earlier is not None)
    said = tuple(policy.sentence for policy in policies)
    log.info(*said)
    if ask.earlier is not None and ask.earlier.broken:
        said = (*said, ask.earlier.broken)
        log.warn(ask.earlier.broken)
    refuse_together(levels, ask)
    if not isinstance(source, Records) and source.linked_names:
        refuse_linked_again(ask.earlier)
    refuse_small_regions(areas, levels, ask)
    carried: CarriedOn | None = None
    if ask.update is not None and ask.earlier is not None:
        refuse_with_update(levels, ask)
        carried = carried_on(
            areas,
            source,
            levels,
            ask.earlier,
            ask.update,
            Wanted(ask.k, ask.l_diversity, ask.max_share, ask.update.identical_rows),
            ask.loss if ask.is_nested(levels) else None,
            part(progress, 0.0, planned),
        )
        if carried.plan.k > ask.k:
            said = (*said, *say_that_k_is_more(carried.earlier, ask.k, log))
        register = replace(ask.earlier, action=REPAIR, updated=carried.positions)
        ask = replace(ask, k=carried.plan.k, earlier=register)
        at_hand, requirement, plan = carried.source, carried.requirement, carried.plan
    else:
        at_hand, requirement, plan = _planned(areas, source, levels, ask, part(progress, 0.0, planned))
    log.warn(*said_of_writings(at_hand.profile, at_hand.sensitive_values(requirement)))
    clock.has_taken(WHAT_IS_SHOWN)
    everybody = None if carried is None else carried.everybody
    plan, held = _held_against_published(
        plan, areas, at_hand, requirement, ask, log, part(progress, planned, until), everybody
    )
    clock.has_taken(PUBLISHED_ALREADY)
    rows = at_hand.release(plan, nested, requirement, part(progress, until, 1.0))
    if requirement.series is not None and not requirement.asks_for_values:
        check_series(rows.release, at_hand.profile, requirement.series, plan.levels)
    clock.has_taken(ROWS)
    counted = plan.counted  # of whose cells persons and values were counted
    asked = requirement.members or requirement.shares
    protection = measure(requirement, counted.equivalence_class_of, len(counted.records)) if asked else Protection({})
    counted_rows = at_hand.counted_rows()
    weights = "" if counted_rows is None else warning_of_weights(counted, counted_rows, population)
    _say_what_k_does_not_count(protection, rows.kept, weights, plan, log)
    _say_what_periods_tell(plan, ask.period, log)
    if rows.linked:
        log.info(*linked_sentences(rows.linked))
    measures, audit = _measured(areas, plan, sites, nested, at_hand.n_unmatched)
    published = None if held.published is None else replace(held.published, linked=at_hand.linked_names)
    what_changed = None
    if carried is not None:
        what_changed, published, of_update = say_what_update_does(
            carried, plan, published, ask.k, log, ask.stands_beside_counts, held.sure
        )
        said = (*said, *of_update)
    clock.has_taken(MEASURES)
    return Account(
        ask,
        areas,
        at_hand.values().coarsened,
        at_hand.n_unmatched,
        plan,
        requirement,
        measures,
        audit,
        rows,
        protection,
        weights,
        notes=(*said, *held.notes),
        published=published,
        seconds=clock.seconds,
        tried=held.tried,
        policies=policies,
        changed=what_changed,
        open_beside=held.open_beside,
        everybody=everybody,
    )


def rate(
    areas: Areas,
    source: Source | Records,
    levels: Levels,
    ask: Ask,
    sites: np.ndarray | None = None,
    progress: Progress = silent,
) -> Account:
    """What a release at these levels would be, before anything that is published is looked at. Nothing is released.

    Parameters
    ----------
    areas, source, levels, ask, sites, progress
        As for `anonymise`.

    Returns
    -------
    Account
        The plan and what it costs; without rows.

    Raises
    ------
    InputError
        For a k, l_diversity or max_share outside its range, and an unknown loss.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.anonymise import Ask, rate
    >>> from vbas.core.levels import Levels
    >>> for k in (2, 3):
    ...     measures = rate(areas, records, Levels((crosswalk,)), Ask(k)).measures
    ...     print(k, measures.n_suppressed, measures.suppression_percent)
    2 1 12.5
    3 5 62.5
    """
    refuse_with_periods(ask, ask.is_nested(levels), bool(levels.coarser))
    at_hand, requirement, plan = _planned(areas, source, levels, ask, progress)
    measures, audit = _measured(areas, plan, sites, ask.is_nested(levels), at_hand.n_unmatched)
    coarsened = at_hand.values().coarsened
    return Account(ask, areas, coarsened, at_hand.n_unmatched, plan, requirement, measures, audit)


def _planned(
    areas: Areas, source: Source | Records, levels: Levels, ask: Ask, progress: Progress
) -> tuple[Source, Requirement, Plan]:
    """The records as they are shown, what is asked of them, and the plan by what is shown."""
    at_hand: Source = RecordSource(source) if isinstance(source, Records) else source
    hierarchies = ask.hierarchies
    if levels.coarser:
        at_hand, hierarchies = at_hand.as_text(hierarchies, levels.coarser, areas)
    requirement = at_hand.requirement(ask.k, ask.l_diversity, ask.max_share)
    requirement.refuse_impossible()
    check_period(ask, at_hand.profile.quasi_identifiers)
    if ask.the_same_in_all:
        requirement = with_series(requirement, at_hand.profile, ask.period)
    if not levels.coarser and not ask.is_nested(levels):
        return at_hand, requirement, suppress(at_hand.profile, levels.crosswalks[0], ask.k, requirement)
    conditions, ties = ask.conditions(areas.population), ties_of(ask.ties)
    if levels.coarser:
        places = places_of(at_hand.profile, levels, hierarchies)
        at_hand.check_no_area_released(places, areas)
        plan = nest_coarser(areas, places, ask.k, ask.loss, requirement, progress, ties, conditions)
        before = {name: column.level for name, column in at_hand.values().coarsened.items()}
        return at_hand, requirement, as_released(plan, places, before)
    plan = nest(areas, at_hand.profile, levels, ask.k, ask.loss, requirement, progress, ties, ask.at_once, conditions)
    return at_hand, requirement, plan


@dataclass(frozen=True, eq=False)
class _Held:
    """What is known of a plan that was held against what is published: sentences, the counts that were tried, what this
    release publishes, whether the earlier ones are as they were and could all be compared, and whether anything
    that all tell together is open."""

    notes: tuple[str, ...]
    tried: tuple[Family, ...]
    published: Published | None = None
    sure: bool = True
    open_beside: bool = False


def _held_against_published(
    plan: Plan,
    areas: Areas,
    source: Source,
    requirement: Requirement,
    ask: Ask,
    log: Log,
    progress: Progress,
    everybody: Profile | None = None,
) -> tuple[Plan, _Held]:
    """The plan, from which nothing below k was found to follow with counts and releases that are published already; and
    what is known of that. Nobody knows how often either begins anew: progress waits then where it is.

    everybody : of an update, as in `CarriedOn`
    """
    if not ask.stands_beside:
        return plan, _Held((), ())
    progress = rising(progress)
    until_counts = 1.0 if ask.earlier is None else HELD_AGAINST_COUNTS
    table, profile = source.values(), source.profile if everybody is None else everybody
    levels = {name: column.level for name, column in table.coarsened.items()}
    in_zones = ask.disclosure == NO_SMALL_COUNT and not requirement.has(PERSONS)
    people = inhabitants_of(profile, areas.population, ask.period) if in_zones else None
    tables = tables_beside(plan, areas, profile, ask.published_margins, ask.published_counts, levels)
    also = people_beside(tables, profile, people) if people is not None and plan.counted.in_zones else None
    not_together = too_many_together(also)
    beside = TablesBeside(
        areas,
        tables,
        requirement,
        ask.loss if ask.is_nested(plan.levels) else NON_UNIFORM_ENTROPY,
        ask.ties,
        part(progress, 0.0, until_counts),
        everybody,
        None if not_together else also,
    )
    plan, notes, tried = hold_beside_and_together(plan, beside, people, log)
    elsewhere = "" if ask.published_counts is None else rows_elsewhere(ask.published_counts, areas)
    not_looked_at = [sentence for sentence in (elsewhere, not_together) if sentence]
    notes = (*notes, *not_looked_at)
    log.warn(*not_looked_at)
    open_beside = bool(not_looked_at) or any(family.undecided for family in tried)
    open_beside = open_beside or (bool(tables) and requirement.has_several(profile.n_records))
    if ask.earlier is None:
        return plan, _Held(notes, tried, open_beside=open_beside)
    # Tables of the people of now say nothing of those of whom an update knows earlier releases.
    known = [] if ask.update is not None else [published_table(counts, areas, ask.k) for counts in beside.tables]
    held = held_against_earlier(
        plan,
        areas,
        table,
        source.sensitive_values(requirement),
        requirement,
        ask.earlier,
        lambda plan: hold_beside_and_together(plan, beside, people, log, moved=True)[0],
        ask.ties,
        log,
        known,
        part(progress, until_counts, 1.0),
        source.rows_beside(),
    )
    return held.plan, _Held(
        (*notes, *held.notes), (*tried, *held.families), held.published, held.sure, open_beside or held.is_open
    )


def _measured(
    areas: Areas, plan: Plan, sites: np.ndarray | None, nested: bool, n_unmatched: int
) -> tuple[Measures, RegionAudit]:
    if nested:
        return evaluate(areas, plan, n_unmatched=n_unmatched)
    return evaluate(areas, plan, plan.crosswalk.mean_centres(areas.points) if sites is None else sites, n_unmatched)


def _say_what_k_does_not_count(
    protection: Protection, kept: Sequence[KeptField], weights: str, plan: Plan, log: Log
) -> None:
    log.warn(*(kept_field.warning for kept_field in kept if kept_field.warning), *([weights] if weights else []))
    log.info(*protection.of_members())
    for name, diversity in (protection.diversity if plan.released.any() else {}).items():
        homogeneous = int((diversity.distinct[plan.released] == 1).sum())
        log.info(
            plural(
                "{n} of {n_shown} released classes has one value of “{name}” in common.",
                "{n} of {n_shown} released classes have one value of “{name}” in common.",
                homogeneous,
                n_shown=int(plan.released.sum()),
                name=name,
            )
        )


def _say_what_periods_tell(plan: Plan, period: str, log: Log) -> None:
    if period:
        between, not_looked_at = said_between_periods(plan, period)
        log.warn(*filter(None, [between]))
        log.info(*filter(None, [not_looked_at]))
