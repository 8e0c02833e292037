"""What a report says of what each attribute costs."""

from __future__ import annotations

from collections.abc import Sequence

from ..attribute_costs import AttributeCost, cost_sentence
from ..language import tr
from .page import Section


def costs_section(costs: Sequence[AttributeCost], percent: float) -> Section:
    """Suppression with the same regions, without each attribute and with it coarser; percent : with all as they are."""
    rows = [
        (
            one.quasi_identifier,
            one.without,
            one.coarser,
            None if one.given_up is None else 100.0 * one.given_up,
        )
        for one in sorted(costs, key=lambda cost: cost.without)
    ]
    header = (
        tr("Quasi-identifier"),
        tr("Suppressed without it, %"),
        tr("Suppressed with it one level coarser, %"),
        tr("of its entropy given up by that, %"),
    )
    text = tr(
        "The regions stay as they are: with fewer or coarser attributes, a suppression budget allows finer ones. Empty "
        "where no coarser values are given."
    )
    return Section(tr("Which attribute costs what"), (cost_sentence(percent, list(costs)), text), header, rows)
