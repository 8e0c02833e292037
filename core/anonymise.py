"""The recipe of a release: what is asked, the plan, what is published already, the rows, their recount, the measures.

The order is fixed here, once, for records in arrays and in an engine, for regions of one level, of several, and for
levels that show coarser values. Forms, the dock and a library call it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from .areas import Areas
from .dataclass import dataclass
from .disclosure.certificate import Family
from .disclosure.count_tables import published_table
from .disclosure.inhabitants import inhabitants_of
from .disclosure.published import Published
from .disclosure.row_values import fields_in_new_words, n_that_can_be_followed
from .errors import InputError, PrivacyError
from .evaluation import ByValue, Measures, RegionAudit, evaluate, evaluate_by_value
from .generalising.hierarchies import Hierarchy
from .language import as_data, plural, tr
from .levels import Levels
from .linked.saying import linked_sentences
from .log import QUIET, Log
from .nesting.coarser import nest_coarser
from .nesting.coarser_places import places_of
from .nesting.decoys import LEAST_CLOSED, Conditions, Secrets
from .nesting.losses import MEAN_DISTANCE, NON_UNIFORM_ENTROPY
from .nesting.planning import CELLS_AT_ONCE, nest
from .nesting.series import check_series
from .nesting.views import as_released
from .parameters import CLOSED_BY_CHANCE, DEFAULT_K, LEAST_LEFT_AREAS, LEAST_LEFT_PEOPLE, check_choice
from .plan import Plan, suppress
from .policy import Policy, hold_release
from .privacy.beside import (
    TablesBeside,
    hold_beside_and_together,
    people_beside,
    tables_beside,
    too_many_together,
)
from .privacy.between_periods import said_between_periods
from .privacy.count_rows import CountRows, rows_elsewhere
from .privacy.derivable import CLASS_HAS_K, DISCLOSURES, NO_SMALL_COUNT
from .privacy.in_each_period import with_series
from .privacy.kept_field import KeptField
from .privacy.requirement import Protection, Requirement, measure
from .privacy.rules import NO_RULE
from .privacy.series import EACH_BY_ITSELF, PERIODS, THE_SAME
from .privacy.weights import warning_of_weights
from .profile import Profile
from .progress import Progress, part, rising, silent
from .records.matching import Records
from .records.table import PERSONS
from .records.written_alike import said_of_writings
from .release import Release, smallest_class
from .releases.carrying_on import CarriedOn, carried_on
from .releases.earlier import REPAIR, Earlier, held_against_earlier, refuse_linked_again
from .releases.update_said import (
    say_that_k_is_more,
    say_what_changed,
    say_what_is_in_new_words,
    say_who_can_be_followed,
    say_who_is_held_back,
)
from .releases.updating import Changed, Update
from .releases.valued import Wanted
from .source import RecordSource, ReleasedRows, Source
from .ties import FIXED, ties_of

PLANNED = 0.45  # of the time until the rows are made; where it is held against what is published already:
PLANNED_FIRST, HELD, HELD_AGAINST_COUNTS = 0.2, 0.8, 0.5  # the last one of the time that this takes
# What a release takes its time for, for `Account.seconds`.
WHAT_IS_SHOWN, PUBLISHED_ALREADY = as_data("what is shown"), as_data("what is published already")
ROWS, MEASURES = as_data("rows and recount"), as_data("measures")


class _Clock:
    """The seconds of each step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def has_taken(self, step: str) -> None:
        """A step has ended, and the next one begins."""
        now = time.perf_counter()
        self.seconds[step], self._since = now - self._since, now


@dataclass(frozen=True, eq=False)
class Ask:
    """What is asked of a release.

    Parameters
    ----------
    k : int
        The smallest class, of records, and of persons and households where records have them.
    l_diversity : int
        The different values of each sensitive field that a class must have.
    max_share : float
        The largest share of one value of a sensitive field in a class, per cent.
    least_population : float
        People that every region must have.
    published_margins : str
        Sets of quasi-identifiers whose totals by region others publish, ``age;sex, ethnicity``: those of the regions of
        every level.
    published_counts : CountRows, optional
        Counts by area, or by another unit, that others publish.
    earlier : Earlier, optional
        What was published of the same people before; None where that is not looked at.
    nested : bool, optional
        Whether rows say their level; None for yes where there are several.
    loss, ties : str
        What a nested release loses least of, and which of equal choices it takes (LOSSES, CHOICES).
    disclosure : str
        What a nested release must hold against (DISCLOSURES): somebody who reads it, or somebody who also knows how it
        was made.
    closed_by_chance : float
        Per cent of the places that are closed to a class whatever lives there, so that less can be guessed.
    least_left_areas, least_left_people : int, float
        Areas with people, and people, that must be left of a region once the areas are taken away that show a class
        themselves.
    hierarchies : mapping of str to Hierarchy
        By quasi-identifier, of its values, for levels that show coarser ones.
    at_once : int
        Cells that are worked out at a time, by which memory is bounded.
    rule : str
        The published rule that is followed, whose numbers are above; “none” for one's own.
    period : str
        The quasi-identifier that is the period of a record, such as its year; empty for none.
    periods : str
        How the classes of several periods go together (PERIODS).
    update : Update, optional
        The earlier release that is carried on, whose equivalence classes stay as they were wherever that may be.

    Examples
    --------
    >>> from vbas.core.anonymise import Ask
    >>> ask = Ask(k=11, published_margins="sex")
    >>> ask.k, ask.l_diversity, ask.earlier is None
    (11, 1, True)
    """

    k: int = DEFAULT_K
    l_diversity: int = 1
    max_share: float = 100.0
    least_population: float = 0.0
    published_margins: str = ""
    published_counts: CountRows | None = None
    earlier: Earlier | None = None
    nested: bool | None = None
    loss: str = MEAN_DISTANCE
    ties: str = FIXED
    disclosure: str = CLASS_HAS_K
    closed_by_chance: float = CLOSED_BY_CHANCE.default
    least_left_areas: int = 0
    least_left_people: float = 0.0
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    at_once: int = CELLS_AT_ONCE
    rule: str = NO_RULE
    period: str = ""
    periods: str = THE_SAME
    update: Update | None = None

    @property
    def the_same_in_all(self) -> bool:
        """Whether classes are to be the same in all periods."""
        return bool(self.period) and self.periods == THE_SAME

    @property
    def stands_beside(self) -> bool:
        """Whether a release is held against what is published already."""
        return bool(self.published_margins) or self.published_counts is not None or self.earlier is not None

    def is_nested(self, levels: Levels) -> bool:
        """Whether rows say their level."""
        return len(levels) > 1 if self.nested is None else self.nested

    def conditions(self, people: np.ndarray) -> Conditions | None:
        """What must hold of the zones of a nested release, None for nothing; people : (n,) of each area.

        Raises InputError for an unknown choice and numbers outside their range.
        """
        check_choice("DISCLOSURE", self.disclosure, DISCLOSURES)
        CLOSED_BY_CHANCE.check(self.closed_by_chance)
        LEAST_LEFT_AREAS.check(self.least_left_areas)
        LEAST_LEFT_PEOPLE.check(self.least_left_people)
        secrets = None
        if self.disclosure == NO_SMALL_COUNT:
            secrets = Secrets(np.random.default_rng(), closed=max(self.closed_by_chance, LEAST_CLOSED) / 100)
        elif not (self.least_left_areas or self.least_left_people):
            return None
        return Conditions(people, secrets, self.least_left_areas, self.least_left_people, self.period)


@dataclass(frozen=True, eq=False)
class Account:
    """A release and what is known of it, or what one would be: then `rows` is None.

    Attributes
    ----------
    ask : Ask
        What was asked.
    areas : Areas
        With their people.
    source : Source
        Where the records are.
    plan : Plan
        By region and what is shown.
    requirement : Requirement
        What was asked of the classes.
    measures : Measures
        What the release costs.
    audit : RegionAudit
        The same by region, or by level. Internal.
    rows : ReleasedRows, optional
        What is released, recounted.
    protection : Protection
        What the classes have of what was asked.
    weights : str
        A warning of counts that look like survey weights; empty for none.
    notes : tuple of str
        Sentences on what others publish and on earlier releases.
    published : Published, optional
        What the register of releases is to keep of this one.
    seconds : mapping of str to float
        By step.
    tried : tuple of Family
        Counts that were tried beside what others publish and beside earlier releases.
    policies : tuple of Policy
        Those of the house that it holds.
    changed : Changed, optional
        Of an update, what it changes beside the release that it carries on.
    open_beside : bool
        Whether what it tells together with counts and releases that are published already could not be looked at in
        full, or not be decided.
    everybody : Profile, optional
        Of an update, the areas and classes of all people of now: `plan` knows those alone who are shown.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.anonymise import Ask, anonymise
    >>> from vbas.core.levels import Levels
    >>> account = anonymise(areas, records, Levels((crosswalk,)), Ask(k=2))
    >>> account.release.n_records, account.smallest, account.nested
    (7, 2, False)
    >>> account.audit.suppressed.tolist()
    [0, 1]
    """

    ask: Ask
    areas: Areas
    source: Source
    plan: Plan
    requirement: Requirement
    measures: Measures
    audit: RegionAudit
    rows: ReleasedRows | None = None
    protection: Protection = field(default_factory=lambda: Protection({}))
    weights: str = ""
    notes: tuple[str, ...] = ()
    published: Published | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    tried: tuple[Family, ...] = ()
    policies: tuple[Policy, ...] = ()
    changed: Changed | None = None
    open_beside: bool = False
    everybody: Profile | None = None

    @property
    def levels(self) -> Levels:
        """The levels that are shown, the finest first."""
        return self.plan.levels

    @property
    def nested(self) -> bool:
        """Whether rows say their level."""
        return self.ask.is_nested(self.levels)

    @property
    def release(self) -> Release:
        """What is released. Raises LookupError for an account of what a release would be."""
        if self.rows is None:
            raise LookupError("rows")
        return self.rows.release

    @property
    def kept(self) -> Sequence[KeptField]:
        """What the kept fields of the rows tell."""
        return () if self.rows is None else self.rows.kept

    @property
    def by_value(self) -> ByValue:
        """What each value of each quasi-identifier loses. Internal."""
        return evaluate_by_value(self.areas, self.plan.by_value, self.everybody)

    @property
    def no_small_count(self) -> bool:
        """Whether the release was made so that no count below k follows, also for somebody who knows the method."""
        return self.ask.disclosure == NO_SMALL_COUNT and self.plan.counted.in_zones

    @property
    def smallest(self) -> int | None:
        """Records of the smallest released class, recounted; None where nothing is released."""
        names = self.plan.profile.quasi_identifiers
        return None if self.rows is None else smallest_class(self.rows.release, len(names))


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
    _refuse_together(levels, ask)
    if not isinstance(source, Records) and source.linked_names:
        refuse_linked_again(ask.earlier)
    _refuse_small_regions(areas, levels, ask)
    carried: CarriedOn | None = None
    if ask.update is not None and ask.earlier is not None:
        _refuse_with_update(levels, ask)
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
            said = (*said, *say_that_k_is_more(ask.earlier.releases, carried.positions, ask.k, log))
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
    if ask.period:
        between, not_looked_at = said_between_periods(plan, ask.period)
        log.warn(*filter(None, [between]))
        log.info(*filter(None, [not_looked_at]))
    if rows.linked:
        log.info(*linked_sentences(rows.linked))
    measures, audit = _measured(areas, plan, sites, nested, at_hand.n_unmatched)
    what_changed = None
    others: list[Published] = []
    in_new_words: list[str] = []
    if carried is not None and ask.update is not None and ask.earlier is not None:
        what_changed = carried.changed_by(plan, held.published)
        others = [ask.earlier.releases[at] for at in carried.positions]
        in_new_words = [] if held.published is None else fields_in_new_words(held.published, others, ask.k)
        sure = held.sure and not in_new_words
        beside_counts = bool(ask.published_margins) or ask.published_counts is not None
        said = (
            *said,
            *say_what_changed(what_changed, ask.update, len(others), carried.least_change, log, beside_counts, sure),
        )
    published = held.published
    if published is not None:
        published = replace(published, linked=at_hand.linked_names)
    if published is not None and ask.update is not None:
        published = replace(published, updates=(ask.update.entry, ask.update.kind))
    if published is not None and what_changed and ask.update:
        if ask.update.identical_rows:
            said = (*said, *say_who_is_held_back(published, what_changed.n_rare, ask.k, log))
        else:
            n_followed = n_that_can_be_followed(published, others, ask.k)
            what_changed = replace(what_changed, n_followed=n_followed)
            said = (*said, *say_who_can_be_followed(published, n_followed, ask.k, log))
        said = (*said, *say_what_is_in_new_words(in_new_words, ask.k, log))
    clock.has_taken(MEASURES)
    return Account(
        ask,
        areas,
        at_hand,
        plan,
        requirement,
        measures,
        audit,
        rows,
        protection,
        weights,
        (*said, *held.notes),
        published,
        clock.seconds,
        held.tried,
        policies,
        what_changed,
        held.open_beside,
        everybody,
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
    return Account(ask, areas, at_hand, plan, requirement, measures, audit)


def _planned(
    areas: Areas, source: Source | Records, levels: Levels, ask: Ask, progress: Progress
) -> tuple[Source, Requirement, Plan]:
    """The records as they are shown, what is asked of them, and the plan by what is shown."""
    at_hand: Source = RecordSource(source) if isinstance(source, Records) else source
    hierarchies = ask.hierarchies
    if levels.coarser:
        at_hand, hierarchies = at_hand.as_text(hierarchies, levels.coarser, areas)
    requirement = at_hand.requirement(ask.k, ask.l_diversity, ask.max_share)
    _check_period(ask, at_hand.profile.quasi_identifiers)
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


def _refuse_with_update(levels: Levels, ask: Ask) -> None:
    """Refuse what an update does not know yet. Raises InputError."""
    if ask.the_same_in_all:
        raise InputError(
            tr(
                "An update does not go with PERIODS “{periods}”: who leaves in one period would take a whole series "
                "along. Choose “{other}”.",
                periods=THE_SAME,
                other=EACH_BY_ITSELF,
            )
        )
    if levels.coarser:
        refuse_with_coarser(["ENTRY"])
    if ask.disclosure == NO_SMALL_COUNT and ask.is_nested(levels):
        raise InputError(
            tr(
                "An update does not go with DISCLOSURE “{disclosure}”: its regions lack the people who wait, so that "
                "what somebody who knows the method learns of it cannot be checked yet. Choose another DISCLOSURE.",
                disclosure=NO_SMALL_COUNT,
            )
        )


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


def _refuse_small_regions(areas: Areas, levels: Levels, ask: Ask) -> None:
    """Refuse regions with fewer people than are asked for: they are made already, and here none is joined."""
    if not ask.least_population:
        return
    people = np.concatenate([crosswalk.totals(areas.population) for crosswalk in levels.crosswalks])
    small = int((people < ask.least_population).sum())
    if small:
        raise PrivacyError(
            plural(
                "Regions of at least {least:,.0f} people are asked for; {n} of CROSSWALK has fewer, {smallest:,.0f}: "
                "make the regions with this least population.",
                "Regions of at least {least:,.0f} people are asked for; {n} of CROSSWALK have fewer, the smallest "
                "{smallest:,.0f}: make the regions with this least population.",
                small,
                least=ask.least_population,
                smallest=float(people.min()),
            )
        )


def refuse_with_coarser(parameters: Sequence[str]) -> None:
    """Refuse what does not know yet that one release may show a value finer and coarser. Raises InputError.

    parameters : names of parameters that are given beside LEVELS_COARSER
    """
    for name in parameters:
        raise InputError(
            tr(
                "{parameter} and {name} do not go together: what a release with finer and coarser values "
                "of a field gives away together with others cannot be checked yet. Leave one of them "
                "empty, or show the values coarser in all records (GENERALISE).",
                parameter="LEVELS_COARSER",
                name=name,
            )
        )


def refuse_left_with_coarser(least_left_areas: int, least_left_people: float) -> None:
    """Refuse least areas and people of what is left of a region, where values become coarser. Raises InputError."""
    for name, least in (("LEAST_LEFT_AREAS", least_left_areas), ("LEAST_LEFT_PEOPLE", least_left_people)):
        if least:
            raise InputError(
                tr(
                    "{parameter} and {name} do not go together: an area may show a class itself at one value and not "
                    "at another, so that it is neither left of a region nor taken away. Leave one of them out.",
                    parameter="LEVELS_COARSER",
                    name=name,
                )
            )


def _refuse_together(levels: Levels, ask: Ask) -> None:
    if levels.coarser:
        refuse_left_with_coarser(ask.least_left_areas, ask.least_left_people)
        refuse_with_coarser(["REGISTER"] if ask.earlier is not None else [])
    refuse_with_periods(ask, ask.is_nested(levels), bool(levels.coarser))


def _check_period(ask: Ask, names: Sequence[str]) -> None:
    if ask.period and ask.period not in names:
        raise InputError(
            tr(
                "PERIOD is “{period}”, which is not among what is released ({names}): choose one of these.",
                period=ask.period,
                names=", ".join(names),
            )
        )


def refuse_with_periods(ask: Ask, nested: bool, coarser: bool) -> None:
    """Refuse what does not know yet of classes that are the same in all periods. Raises InputError.

    nested, coarser : whether rows say their level, and the last levels show coarser values
    """
    check_choice("PERIODS", ask.periods, PERIODS)
    if not ask.the_same_in_all:
        return
    if coarser:
        raise InputError(
            tr(
                "LEVELS_COARSER and PERIODS “{periods}” do not go together: a class would be shown coarser in one "
                "period and not in another. Leave LEVELS_COARSER empty, or choose “{other}”.",
                periods=THE_SAME,
                other=EACH_BY_ITSELF,
            )
        )
    if nested and ask.disclosure == NO_SMALL_COUNT:
        raise InputError(
            tr(
                "DISCLOSURE “{disclosure}” and PERIODS “{periods}” do not go together: what somebody who knows the "
                "method learns from all periods at once cannot be checked yet. Choose another DISCLOSURE, or "
                "“{other}”.",
                disclosure=NO_SMALL_COUNT,
                periods=THE_SAME,
                other=EACH_BY_ITSELF,
            )
        )
