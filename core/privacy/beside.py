"""A release beside counts that others publish: the tables, the plan that holds against them, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import counted
from ..areas import Areas
from ..disclosure.certificate import BESIDE_TABLES, Family
from ..disclosure.count_tables import CountTable, own_totals
from ..language import plural, tr
from ..log import QUIET, Log
from ..nesting.views import CoarserLevels
from ..plan import Plan
from ..profile import Profile
from ..ties import FIXED, ties_of
from .count_rows import CountRows, count_tables
from .margins import parse_margins
from .published_counts import HeldAgainstCounts, hold_against_counts
from .requirement import Requirement


@dataclass(frozen=True, eq=False)
class Beside:
    """What a release stands beside: tables of the people of these areas.

    requirement, loss, ties : as for `hold_against_counts`, the ties as they are asked for
    """

    areas: Areas
    tables: Sequence[CountTable]
    requirement: Requirement | None = None
    loss: str = "mean distance"
    ties: str = FIXED


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


def hold_beside(
    plan: Plan, coarser: CoarserLevels | None, beside: Beside, log: Log = QUIET
) -> tuple[Plan, CoarserLevels | None, tuple[str, ...], tuple[Family, ...]]:
    """The plan from which nothing below k was found to follow beside the tables; what it was made from, where last
    levels show coarser values; sentences on that, for the report; and which counts were tried."""
    if not beside.tables:
        return plan, coarser, (), ()
    held = hold_against_counts(
        plan, beside.tables, beside.areas, beside.loss, beside.requirement, coarser, ties=ties_of(beside.ties)
    )
    told, warned = sentences_on(held, plan.k, all(table.exact for table in beside.tables))
    log.info(*told)
    log.warn(*warned)
    family = Family(BESIDE_TABLES, held.n_tried, held.n_anyway, held.n_left)
    return held.plan, held.coarser, (*told, *warned), (family,)


def sentences_on(held: HeldAgainstCounts, k: int, exact: bool = True) -> tuple[list[str], list[str]]:
    """What is said of a plan held against tables of counts, and what is warned of."""
    told, warned = [], []
    if not exact:
        told.append(
            tr(
                "PUBLISHED_COUNTS counts more people than the records: it is taken for the most that there can be of "
                "each kind."
            )
        )
    if held.n_coarser:
        told.append(
            tr(
                "So that no count below k follows from published totals, {records} are shown in larger regions.",
                records=counted.records(held.n_coarser),
            )
        )
    if held.n_suppressed or not held.n_coarser:
        told.append(
            plural(
                "{n} further record is suppressed, so that no count below k follows from published totals.",
                "{n} further records are suppressed, so that no count below k follows from published totals.",
                held.n_suppressed,
            )
        )
    if held.n_anyway:
        told.append(
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
    return told, warned
