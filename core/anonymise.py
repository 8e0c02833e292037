"""The recipe of a release: what is asked, the plan, what is published already, the rows, their recount, the measures.

The order is fixed here, once, for records in arrays and in an engine, for regions of one level, of several, and for
levels that show coarser values. Forms, the dock and a library call it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .anonymity import DEFAULT_K
from .areas import Areas
from .errors import InputError, PrivacyError
from .evaluation import Measures, RegionAudit, evaluate
from .generalising.hierarchies import Hierarchy
from .language import as_data, plural, tr
from .levels import Levels
from .log import QUIET, Log
from .nesting.coarser import nest_coarser
from .nesting.coarser_places import places_of
from .nesting.losses import MEAN_DISTANCE
from .nesting.measures import LevelAudit, evaluate_levels
from .nesting.planning import CELLS_AT_ONCE, nest
from .nesting.views import CoarserLevels, as_shown
from .plan import Plan, suppress
from .privacy.kept_field import KeptField
from .privacy.margins import hold_against_margins, parse_margins
from .privacy.requirement import Found, Requirement, measure
from .privacy.weights import warning_of_weights
from .profile import Profile
from .progress import Progress, part, silent
from .records.matching import Records
from .release import Release, smallest_class
from .releases.earlier import Earlier, held_against_earlier
from .releases.published import Published
from .source import RecordSource, Rows, Source
from .ties import FIXED, ties_of

PLANNED = 0.45  # of the time until the rows are made
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

    k : the smallest class, of records, and of persons and households where records have them; l_diversity, max_share :
    the different values of each sensitive field that a class must have, and the largest share of one, per cent
    least_population : people that every region must have
    published_margins : sets of quasi-identifiers whose totals by region others publish, `age;sex, ethnicity`
    earlier : what was published of the same people before; None where that is not looked at
    nested : whether rows say their level; None for yes where there are several
    loss, ties : what a nested release loses least of, and which of equal choices it takes (LOSSES, CHOICES)
    hierarchies : by quasi-identifier, of its values, for levels that show coarser ones
    at_once : cells that are worked out at a time, by which memory is bounded
    """

    k: int = DEFAULT_K
    l_diversity: int = 1
    max_share: float = 100.0
    least_population: float = 0.0
    published_margins: str = ""
    earlier: Earlier | None = None
    nested: bool | None = None
    loss: str = MEAN_DISTANCE
    ties: str = FIXED
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    at_once: int = CELLS_AT_ONCE

    def is_nested(self, levels: Levels) -> bool:
        """Whether rows say their level."""
        return len(levels) > 1 if self.nested is None else self.nested


@dataclass(frozen=True, eq=False)
class Account:
    """A release and what is known of it, or what one would be: then `rows` is None.

    areas : with their people; plan : by region and what is shown; requirement : what was asked of the classes
    found : what the classes have of it; weights : a warning of counts that look like survey weights
    notes : sentences on earlier releases; published : what the register of releases is to keep of this one
    coarser : what the plan was made from, where its last levels show coarser values; seconds : by step
    """

    ask: Ask
    areas: Areas
    source: Source
    plan: Plan
    requirement: Requirement
    measures: Measures
    audit: RegionAudit | LevelAudit
    rows: Rows | None = None
    found: Found = field(default_factory=lambda: Found({}))
    weights: str = ""
    notes: tuple[str, ...] = ()
    published: Published | None = None
    coarser: CoarserLevels | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)

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
    def smallest(self) -> int | None:
        """Records of the smallest released class, recounted; None where nothing is released."""
        names = self.plan.profile.quasi_identifiers
        return None if self.rows is None else smallest_class(self.rows.release, len(names))

    @property
    def by_value(self) -> Plan:
        """The plan by which is said who loses what: under the values of level 1."""
        return self.plan if self.coarser is None else self.coarser.as_they_were


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

    areas : n areas with the population to balance; source : records matched with them; levels : of the same areas, one
    or several, the finest first; sites : (n_regions, 2) metres, from which compactness of one level is measured, the
    mean centres of its regions where None; population : (n,) people of each area where that is known from elsewhere
    than the records; log : told what a person should know
    Nobody sees the rows before they were counted once more; nothing is written to a register: see `Account.published`.
    Raises InputError for what cannot go together and for fields that give away the area or the person, PrivacyError
    where a recount or earlier releases stand against the release.
    """
    clock = _Clock()
    _refuse_together(levels, ask)
    _refuse_small_regions(areas, levels, ask)
    at_hand: Source = RecordSource(source) if isinstance(source, Records) else source
    hierarchies = ask.hierarchies
    if levels.coarser:
        at_hand, hierarchies = at_hand.as_text(hierarchies, levels.coarser, areas)
    requirement = at_hand.requirement(ask.k, ask.l_diversity, ask.max_share)
    if levels.coarser:
        plan, coarser = _plan_coarser(
            areas, at_hand, levels, hierarchies, ask, requirement, part(progress, 0.0, PLANNED)
        )
    else:
        plan = _plan(areas, at_hand.profile, levels, ask, requirement, part(progress, 0.0, PLANNED))
        coarser = None
    clock.has_taken(WHAT_IS_SHOWN)
    plan, notes, published = _held_against_published(plan, areas, at_hand, requirement, ask, log)
    clock.has_taken(PUBLISHED_ALREADY)
    nested = ask.is_nested(levels)
    rows = at_hand.release(plan, coarser, nested, requirement, part(progress, PLANNED, 1.0))
    clock.has_taken(ROWS)
    counted = plan if coarser is None else coarser.plan  # of whose cells persons and values were counted
    asked = requirement.members or requirement.shares
    found = measure(requirement, counted.label_of, len(counted.records)) if asked else Found({})
    weights = warning_of_weights(counted, at_hand.counted_rows(), population)
    _say_what_k_does_not_count(found, rows.kept, weights, plan, log)
    measures, audit = _measured(areas, plan, sites, nested, at_hand.n_unmatched)
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
        found,
        weights,
        notes,
        published,
        coarser,
        clock.seconds,
    )


def rate(
    areas: Areas,
    source: Source | Records,
    levels: Levels,
    ask: Ask,
    sites: np.ndarray | None = None,
    progress: Progress = silent,
) -> Account:
    """What a release at these levels would be, before anything that is published is looked at; arguments as for
    `anonymise`. Nothing is released."""
    at_hand: Source = RecordSource(source) if isinstance(source, Records) else source
    requirement = at_hand.requirement(ask.k, ask.l_diversity, ask.max_share)
    plan = _plan(areas, at_hand.profile, levels, ask, requirement, progress)
    measures, audit = _measured(areas, plan, sites, ask.is_nested(levels), at_hand.n_unmatched)
    return Account(ask, areas, at_hand, plan, requirement, measures, audit)


def _plan(
    areas: Areas, profile: Profile, levels: Levels, ask: Ask, requirement: Requirement, progress: Progress
) -> Plan:
    if not ask.is_nested(levels):
        return suppress(profile, levels.crosswalks[0], ask.k, requirement)
    return nest(areas, profile, levels, ask.k, ask.loss, requirement, progress, ties_of(ask.ties), ask.at_once)


def _plan_coarser(
    areas: Areas,
    source: Source,
    levels: Levels,
    hierarchies: Mapping[str, Hierarchy],
    ask: Ask,
    requirement: Requirement,
    progress: Progress,
) -> tuple[Plan, CoarserLevels]:
    """The plan by what is shown, and what it was made from; hierarchies : of the source's values."""
    places = places_of(source.profile, levels, hierarchies)
    source.check_no_area_shown(places, areas)
    plan = nest_coarser(areas, places, ask.k, ask.loss, requirement, progress, ties_of(ask.ties))
    before = {name: one.level for name, one in source.values().coarsened.items()}
    return as_shown(plan, places), CoarserLevels(plan, places, before)


def _held_against_published(
    plan: Plan, areas: Areas, source: Source, requirement: Requirement, ask: Ask, log: Log
) -> tuple[Plan, tuple[str, ...], Published | None]:
    """The plan, from which nothing below k was found to follow with totals and releases that are published already;
    sentences on earlier releases, and what this one publishes."""

    def against_margins(plan: Plan) -> Plan:
        margins = parse_margins(ask.published_margins, plan.profile.quasi_identifiers)
        if not margins:
            return plan
        held, cost = hold_against_margins(plan, margins, ties=ties_of(ask.ties))
        log.info(
            plural(
                "{n} further record is suppressed, so that no count below k follows from published totals.",
                "{n} further records are suppressed, so that no count below k follows from published totals.",
                cost,
            )
        )
        return held

    plan = against_margins(plan)
    if ask.earlier is None:
        return plan, (), None
    held = held_against_earlier(
        plan,
        areas,
        source.values(),
        source.sensitive_values(requirement),
        requirement,
        ask.earlier,
        against_margins,
        ask.ties,
        log,
    )
    return held.plan, held.notes, held.published


def _measured(
    areas: Areas, plan: Plan, sites: np.ndarray | None, nested: bool, n_unmatched: int
) -> tuple[Measures, RegionAudit | LevelAudit]:
    if nested:
        return evaluate_levels(areas, plan, n_unmatched)
    return evaluate(areas, plan, plan.crosswalk.mean_centres(areas.points) if sites is None else sites, n_unmatched)


def _say_what_k_does_not_count(found: Found, kept: Sequence[KeptField], weights: str, plan: Plan, log: Log) -> None:
    log.warn(*(one.warning for one in kept if one.warning), *([weights] if weights else []))
    for kind, smallest in found.smallest.items():
        log.info(
            tr("k counts {kind}: the smallest released class holds {smallest} of them.", kind=kind, smallest=smallest)
        )
    for name, diversity in found.diversity.items():
        homogeneous = int((diversity.distinct[plan.shown] == 1).sum())
        log.info(
            plural(
                "{n} of {n_shown} released classes has one value of “{name}” in common.",
                "{n} of {n_shown} released classes have one value of “{name}” in common.",
                homogeneous,
                n_shown=int(plan.shown.sum()),
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


def refuse_with_coarser(given: Sequence[str]) -> None:
    """Refuse what does not know yet that one release may show a value finer and coarser. Raises InputError.

    given : names of parameters that are given beside LEVELS_COARSER
    """
    for name in given:
        raise InputError(
            tr(
                "{parameter} and {name} do not go together: what a release with finer and coarser values "
                "of a field gives away together with others cannot be checked yet. Leave one of them "
                "empty, or show the values coarser in all records (GENERALISE).",
                parameter="LEVELS_COARSER",
                name=name,
            )
        )


def _refuse_together(levels: Levels, ask: Ask) -> None:
    if levels.coarser:
        refuse_with_coarser(
            [
                *(["REGISTER"] if ask.earlier is not None else []),
                *(["PUBLISHED_MARGINS"] if ask.published_margins.strip() else []),
            ]
        )
