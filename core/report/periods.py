"""What a report says of several periods."""

from __future__ import annotations

from ..account import Account
from ..language import tr
from ..plain_text import value_text
from ..privacy.between_periods import said_between_periods
from ..privacy.series import THE_SAME
from .page import Section


def how_periods_go_together(period: str, periods: str) -> str:
    """What holds in each period, and what a number that is missing in one of them says."""
    if periods == THE_SAME:
        return tr(
            "k holds in each period (“{period}”), and the classes are the same in all: where a class is shown at a "
            "place in some period and not in another, nobody of those it is shown for there was there in the other.",
            period=period,
        )
    return tr(
        "k holds in each period (“{period}”), and each shows its classes by itself: where a class is shown at a place "
        "in some period and not in another, it may be rare there in the other, or shown elsewhere.",
        period=period,
    )


def periods_section(account: Account) -> Section:
    """What each period loses; without rows, and so left out, where there are none. Internal: suppressed counts."""
    ask = account.ask
    if not ask.period:
        return Section("")
    measures = account.by_value
    rows: list[tuple[object, ...]] = [
        (value_text(value), int(records), int(lost), 100.0 * float(lost) / max(int(records), 1), float(metres))
        for name, value, records, lost, metres in zip(
            measures.quasi_identifiers, measures.values, measures.records, measures.suppressed, measures.mean_distance
        )
        if name == ask.period
    ]
    header = (ask.period, tr("Records"), tr("Suppressed"), tr("Suppressed, %"), tr("Mean distance, m"))
    said = how_periods_go_together(ask.period, ask.periods), *said_between_periods(account.plan, ask.period)
    return Section(tr("The periods"), tuple(filter(None, said)), header, rows)
