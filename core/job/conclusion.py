"""The end of the log: some lines that say whether it holds, what it cost, and what to do next."""

from __future__ import annotations

from ..account import Account
from ..evaluation import Measures, placed
from ..language import plural, tr
from ..log import Log
from ..privacy.derivable import in_short
from ..release import nothing_released

LOOK = tr("Look at the report; what is marked “for release” may be published under your rules, “internal” may not.")
MARKED = tr("What is marked “for release” may be published under your rules, “internal” may not.")
RELEASE_NEXT = tr("If the cost is right, release with this crosswalk; the region audit is internal.")


def conclude(log: Log, account: Account, next_step: str = "", reported: bool = True) -> tuple[str, ...]:
    """The end of the log, once all outputs are in their place: verdict, cost and next step.

    next_step : a sentence, of which attribute to look at; without it, what may be done with the outputs
    reported : whether there is a report to look at
    """
    measures, n_levels = account.measures, len(account.levels)
    if account.rows is not None and measures.n_suppressed == measures.n_records:
        log.warn(nothing_released(account.requirement, n_levels > 1))
    return (
        _verdict(account),
        *(
            [in_short(account.ask.k, account.open_beside)]
            if account.no_small_count and account.rows is not None
            else []
        ),
        _cost(measures, n_levels),
        next_step or (RELEASE_NEXT if account.rows is None else LOOK if reported else MARKED),
    )


def _verdict(account: Account) -> str:
    k, smallest = account.ask.k, account.smallest
    if account.rows is None:
        return tr("Nothing is released here: this is what a release at k = {k} would be.", k=k)
    if smallest is None:
        return tr("Nothing is released: no class of a region meets k = {k} and what else is asked.", k=k)
    return tr("{k}-anonymous, recounted: the smallest released class holds {smallest} records.", k=k, smallest=smallest)


def _cost(measures: Measures, n_levels: int) -> str:
    regions = plural("{n} region", "{n} regions", measures.n_regions)
    if n_levels > 1:
        regions = tr("{regions} at the finest of {n_levels} levels", regions=regions, n_levels=n_levels)
    cost = tr(
        "Suppressed: {n_suppressed} of {n_records} records ({percent:.3g} %), in {regions}.",
        n_suppressed=measures.n_suppressed,
        n_records=measures.n_records,
        percent=measures.suppression_percent,
        regions=regions,
    )
    if not measures.mean_distance > 0:  # without the places of the areas
        return cost
    return f"{cost} {placed(measures.mean_distance)}"
