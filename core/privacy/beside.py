"""A release beside counts that others publish: the tables, the plan that holds against them, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from .. import counted
from ..areas import Areas
from ..dataclass import dataclass
from ..disclosure.certificate import BESIDE_TABLES, Family
from ..disclosure.count_tables import MANY, CountTable, own_totals
from ..disclosure.inhabitants import Inhabitants
from ..errors import PrivacyError
from ..language import plural, tr
from ..log import QUIET, Log
from ..nesting.company import in_company
from ..plan import Plan
from ..profile import Profile
from ..progress import Progress, part, silent
from ..ties import FIXED, ties_of
from .count_rows import CountRows, count_tables
from .margins import parse_margins
from .published_counts import HeldAgainstCounts, hold_against_counts
from .requirement import Requirement

MOST_TURNS = 20
# Areas x classes of which tables and people are looked at together, all classes at once: of many more it takes long.
MOST_TOGETHER = 50_000
TABLES = 0.7  # of the time, until it holds against the tables


@dataclass(frozen=True, eq=False)
class TablesBeside:
    """What a release stands beside: tables of the people of these areas.

    requirement, loss, ties, progress, everybody : as for `hold_against_counts`, the ties as they are asked for
    people : `people_beside` of these tables, where these are known too
    """

    areas: Areas
    tables: Sequence[CountTable]
    requirement: Requirement | None = None
    loss: str = "mean distance"
    ties: str = FIXED
    progress: Progress = silent
    everybody: Profile | None = None
    people: CountTable | None = None


def tables_beside(
    plan: Plan,
    areas: Areas,
    profile: Profile,
    margins: str = "",
    counts: CountRows | None = None,
    levels: Mapping[str, int] | None = None,
) -> list[CountTable]:
    """The tables that others publish of a profile: its own totals, and counts by area.

    margins : sets of quasi-identifiers, whose totals are those of the regions of the plan's finest level, and so of
    every level; counts : rows of a table; levels : at which the profile shows quasi-identifiers coarser
    Raises InputError for margins and counts that do not fit.
    """
    names = parse_margins(margins, profile.quasi_identifiers)
    tables = [own_totals(profile, plan.levels.crosswalks[0], own, "PUBLISHED_MARGINS", levels) for own in names]
    return tables if counts is None else [*tables, *count_tables(counts, areas, profile, levels)]


def people_beside(tables: Sequence[CountTable], profile: Profile, people: Inhabitants) -> CountTable | None:
    """How many people live in each area at most, as a table beside others; None where these say as much.

    people : of each area; of one that has more records nothing is said. Without other tables the people are held
    against zones alone, by `in_company`.
    """
    most = np.floor(people.number)
    known = np.column_stack([_known_beside(tables, profile, *of_period) for of_period in people.each()])
    if not known.any():
        return None
    (n, n_periods), high = most.shape, np.where(known, most, MANY).astype(np.int64)
    return CountTable(
        "POPULATION", (), np.arange(n, dtype=np.int64), n, people.period_of, n_periods, np.zeros_like(high), high
    )


def _known_beside(
    tables: Sequence[CountTable], profile: Profile, classes: np.ndarray, people: np.ndarray
) -> np.ndarray:
    """Of which areas the people say something of some classes that tables do not, (n,) bool.

    classes : (C,) bool; people : (n,) who live in each area
    """
    most = np.floor(people)
    known = (most >= profile.counts @ classes.astype(np.int64)) & np.isfinite(most) & bool(tables)
    for table in tables:
        if (table.group_of[classes] < 0).any():
            continue
        high = table.high[:, np.unique(table.group_of[classes])]
        total = np.where((high < MANY).all(axis=1), high.sum(axis=1), MANY)
        total[np.bincount(table.zone_of[table.zone_of >= 0], minlength=table.n_zones) > 1] = MANY
        known &= (np.append(total, MANY)[table.zone_of] > most) | (table.zone_of < 0)
    return known


def too_many_together(people: CountTable | None) -> str:
    """A sentence where people, as `people_beside` gives them, are not held against together with tables, as there are
    too many areas and classes; empty where they are, or need not be."""
    if people is None or people.n_zones * len(people.group_of) <= MOST_TOGETHER:
        return ""
    return tr(
        "What published totals, this release and the number of people of each area prove together was not looked at: "
        "there are too many areas and classes for that. Totals and people were each held against the release by "
        "themselves. Give totals by area, of these very people, so that people add nothing."
    )


def hold_beside(plan: Plan, beside: TablesBeside, log: Log = QUIET) -> tuple[Plan, tuple[str, ...], tuple[Family, ...]]:
    """The plan from which nothing below k was found to follow beside the tables; sentences on that, for the report; and
    which counts were tried."""
    if not beside.tables:
        return plan, (), ()
    held = hold_against_counts(
        plan,
        [*beside.tables, *([] if beside.people is None else [beside.people])],
        beside.areas,
        beside.loss,
        beside.requirement,
        beside.progress,
        ties_of(beside.ties),
        beside.everybody,
    )
    sentences, warned = sentences_on(held, plan.k, all(table.exact for table in beside.tables))
    if beside.requirement is not None and beside.requirement.has_several(plan.profile.n_records):
        warned.append(
            tr(
                "Published totals are held against records, not persons: {k} records and more that follow from them "
                "may be of fewer than {k} persons, which is not noticed.",
                k=plan.k,
            )
        )
    log.info(*sentences)
    log.warn(*warned)
    family = Family(BESIDE_TABLES, held.n_tried, held.n_anyway, held.n_left)
    return held.plan, (*sentences, *warned), (family,)


def hold_beside_and_together(
    plan: Plan,
    beside: TablesBeside,
    people: Inhabitants | None,
    log: Log = QUIET,
    moved: bool = False,
) -> tuple[Plan, tuple[str, ...], tuple[Family, ...]]:
    """The same, of which the people of all areas prove no small count either; what moves for the one is held against
    the other again.

    people : of each area, where a plan in zones is to hold against them; None where not; moved : whether the plan
    is another than the one that was held against them. Raises PrivacyError where both do not come to hold.
    """
    notes: tuple[str, ...] = ()
    tables = beside if people is None else replace(beside, progress=part(beside.progress, 0.0, TABLES))
    for _ in range(MOST_TURNS):
        held, more, tried = hold_beside(plan, tables, log)
        notes = tuple(dict.fromkeys((*notes, *more)))
        if people is None or not held.in_zones or (held is plan and not moved):
            return held, notes, tried
        plan, moved = in_company(held, people, beside.requirement, part(beside.progress, TABLES, 1.0)), False
        if plan is held:
            return plan, notes, tried
    raise PrivacyError.saying(
        "It was not found how to show these classes so that no small count follows, neither from published totals nor "
        "from the people of all areas. Nothing is released: publish fewer totals, or choose another DISCLOSURE."
    )


def sentences_on(held: HeldAgainstCounts, k: int, exact: bool) -> tuple[list[str], list[str]]:
    """What is said of a plan held against tables of counts, and what is warned of."""
    sentences, warned = [], []
    if not exact:
        sentences.append(
            tr(
                "PUBLISHED_COUNTS counts more people than the records: it is taken for the most that there can be of "
                "each kind."
            )
        )
    if held.n_coarser:
        sentences.append(
            tr(
                "Shown in larger regions, so that no further count below k follows from published totals: {records}.",
                records=counted.records(held.n_coarser),
            )
        )
    if not (held.n_coarser or held.n_suppressed or held.n_left):
        sentences.append(tr("As it is, no further count below k was found to follow from published totals."))
    if held.n_suppressed:
        sentences.append(
            plural(
                "{n} further record is suppressed, so that no further count below k follows from published totals.",
                "{n} further records are suppressed, so that no further count below k follows from published totals.",
                held.n_suppressed,
            )
        )
    if held.n_anyway:
        sentences.append(
            plural(
                "{n} count of fewer than {k} people follows from the published totals alone, whatever is released.",
                "{n} counts of fewer than {k} people follow from the published totals alone, whatever is released.",
                held.n_anyway,
                k=k,
            )
        )
    if held.n_left:
        warned.append(
            plural(
                "{n} count of fewer than {k} people may follow from published totals, and nothing is left to be shown "
                "more coarsely.",
                "{n} counts of fewer than {k} people may follow from published totals, and nothing is left to be shown "
                "more coarsely.",
                held.n_left,
                k=k,
            )
        )
    return sentences, warned
