"""What the report of a nested release says of the levels that show quasi-identifiers coarser."""

from __future__ import annotations

import numpy as np

from ..account import Account
from ..arrays import to_list
from ..evaluation import value_text
from ..language import plural, tr
from ..nesting.views import CoarserPlan, coarser_by_value, n_released_coarser
from ..plan import suppress
from .numbers import formatted
from .page import Section

HEADER = (
    tr("Quasi-identifier"),
    tr("Value"),
    tr("Records"),
    tr("As it is"),
    tr("Coarser"),
    tr("Coarser, %"),
    tr("Suppressed"),
)
LIMITS = tr(
    "The level of a record says which values it shows. Whoever knows a person's home and quasi-identifiers finds at "
    "least k records that may be that person's, or none. But not each of the values that a coarser one stands for "
    "need be among these records: an area's records with the same values are shown together, so where level 1 is the "
    "areas and shows them, none of them is in the coarser rows. So take a coarser value for what a researcher loses, "
    "not for what hides a person: that is k."
)


def coarser_section(account: Account) -> Section:
    """Which level shows what, and who is shown coarser; without content where all levels show the same."""
    heading, plan = tr("Who is shown coarser"), account.plan
    if not isinstance(plan, CoarserPlan):
        return Section(heading)
    by_value = coarser_by_value(plan.in_places, plan.places_shown)
    share = 100.0 * by_value.coarser / np.maximum(by_value.records, 1)
    columns = (by_value.records, by_value.as_is, by_value.coarser, share, by_value.suppressed)
    rows = list(
        zip(by_value.quasi_identifiers, map(value_text, by_value.values), *(to_list(column) for column in columns))
    )
    return Section(heading, (*coarser_sentences(account), LIMITS), HEADER, rows)


def coarser_sentences(account: Account) -> tuple[str, ...]:
    """How many records each coarser level shows, and how many would be suppressed without, for log and report; none
    where all levels show the same."""
    plan = account.plan
    if not isinstance(plan, CoarserPlan):
        return ()
    places, values = plan.places_shown, plan.values_in_words
    without = suppress(places.profile, places.levels.crosswalks[-1], plan.k, account.requirement).n_released
    n_more = max(plan.n_released - without, 0)
    own = np.bincount(plan.level[plan.released], plan.records[plan.released], len(places.levels)).astype(np.int64)
    parts = [
        tr("level {level} ({values}) {own}", level=level + 1, values=values[level], own=formatted(int(own[level])))
        for level, times in enumerate(to_list(places.n_coarser))
        if times
    ]
    n_coarser = n_released_coarser(plan, places)
    percent = 100.0 * n_coarser / max(plan.n_released, 1)
    return (
        plural(
            "{n} of {n_released} released records ({percent} %) is shown with coarser values, by "
            "level: {parts}. Without these levels {n_more} more would be suppressed.",
            "{n} of {n_released} released records ({percent} %) are shown with coarser values, "
            "by level: {parts}. Without these levels {n_more} more would be suppressed.",
            n_coarser,
            n_released=formatted(plan.n_released),
            percent=formatted(percent),
            parts=", ".join(parts),
            n_more=formatted(n_more),
        ),
    )
