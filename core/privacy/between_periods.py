"""What the periods of one release tell beside each other: classes whose numbers differ by a few from one to another.

k holds in each period by itself. Where the same people are in several periods, whoever takes the numbers of two from
each other sees how many came or left, as with two releases. A release of several periods does not prevent it; it says
so.
"""

from __future__ import annotations

import numpy as np

from ..language import plural, tr
from ..plan import Plan


def classes_between_periods(plan: Plan, period: str) -> tuple[int, int]:
    """How many classes of a region several periods show, and for how many of them the records of some two periods
    differ by 1 to k - 1."""
    profile, shown = plan.profile, np.flatnonzero(plan.released)
    class_of, classes = profile.combinations([name for name in profile.quasi_identifiers if name != period])
    n_classes = max(len(classes), 1)
    region = plan.levels.first_regions()[plan.level[shown]] + plan.region[shown]
    place, records = region * n_classes + class_of[plan.class_of[shown]], plan.records[shown]
    order = np.lexsort((records, place))
    again = np.diff(place[order]) == 0
    # Of numbers in order, some two differ by a few where two that stand beside each other do.
    by = np.diff(records[order])
    few = again & (by > 0) & (by < plan.k)
    return len(np.unique(place[order][1:][again])), len(np.unique(place[order][1:][few]))


def said_between_periods(plan: Plan, period: str) -> tuple[str, str]:
    """A warning of such classes, empty for none, and what was not looked at; both empty where there is one period."""
    profile = plan.profile_of_records
    if len(profile.categories[profile.quasi_identifiers.index(period)]) < 2:
        return "", ""
    n, n_few = classes_between_periods(plan, period)
    warning = plural(
        "“{period}”: of the classes of a region that several periods show ({n_all}), {n} differs by fewer than {k} "
        "records between two of them. Where the same people are in several periods, whoever compares them sees how "
        "many came or left at the least. Where that must not be, release each period as an update of the one before "
        "(“Update a release”).",
        "“{period}”: of the classes of a region that several periods show ({n_all}), {n} differ by fewer than {k} "
        "records between two of them. Where the same people are in several periods, whoever compares them sees how "
        "many came or left at the least. Where that must not be, release each period as an update of the one before "
        "(“Update a release”).",
        n_few,
        period=period,
        n_all=n,
        k=plan.k,
    )
    not_looked_at = tr(
        "“{period}”: k holds in each period by itself. What several periods tell together of somebody who is in "
        "several of them, by numbers, kept or sensitive values or linked tables, is not looked at.",
        period=period,
    )
    return warning if n_few else "", not_looked_at
