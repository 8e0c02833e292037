"""The period of a record, as a job names it: the last of what a record shows."""

from __future__ import annotations

from collections.abc import Sequence

from ..language import tr
from ..privacy.series import EACH_BY_ITSELF
from .inputs import Inputs, Parameters

PERIOD, PERIODS = "PERIOD", "PERIODS"


def period_of(asked: Parameters) -> str:
    """The field that is the period of a record; empty where there is none."""
    return asked.text(PERIOD).strip() if asked.has(PERIOD) else ""


def periods_of(asked: Parameters) -> str:
    """How the classes of several periods go together: each by itself where nothing else can be asked for."""
    return asked.text(PERIODS) if asked.has(PERIODS) else EACH_BY_ITSELF


def quasi_identifiers_of(given: Inputs, named: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """What a record shows, the period last, and the period; named : QUASI_IDENTIFIERS."""
    period = period_of(given)
    if not period:
        return tuple(named), ""
    if period in named:
        given.info(
            tr("“{period}” is PERIOD and among QUASI_IDENTIFIERS: it counts once, as the period.", period=period)
        )
    return (*(name for name in named if name != period), period), period
