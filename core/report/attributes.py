"""What a report says of what each attribute costs."""

from __future__ import annotations

from collections.abc import Sequence

from ..attribute_costs import AttributeCost, cost_sentence
from ..language import tr
from .page import Section


def costs_section(percent: float, costs: Sequence[AttributeCost]) -> Section:
    """Suppression with the same regions, without each attribute and with it coarser; percent : with all as they are."""
    ordered = sorted(costs, key=lambda cost: cost.without)
    rows: list[tuple[object, ...]] = [(cost.quasi_identifier, cost.without) for cost in ordered]
    header: tuple[str, ...] = (tr("Quasi-identifier"), tr("Suppressed without it, %"))
    texts = [
        cost_sentence(percent, costs),
        tr("Figures for the same regions; with fewer attributes you could also have smaller regions."),
    ]
    if any(cost.coarser is not None for cost in costs):
        given_up = [None if cost.given_up is None else 100.0 * cost.given_up for cost in ordered]
        rows = [(*row, cost.coarser, share) for row, cost, share in zip(rows, ordered, given_up)]
        header += (tr("Suppressed with it one level coarser, %"), tr("of its entropy given up by that, %"))
        texts.append(tr("Empty where no coarser values are given."))
    return Section(tr("Which attribute costs what"), texts, header, rows)
