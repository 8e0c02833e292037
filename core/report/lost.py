"""What a report says of who is lost, and of what each attribute costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..attribute_costs import AttributeCost, cost_sentence
from ..evaluation import ByValue, value_text, worst_group
from .page import Section

MOST_VALUES = 60
LOST_HEADER = ("Quasi-identifier", "Value", "Records", "Suppressed", "Suppressed, %", "Times the mean")


def lost_section(by_value: ByValue, k: int, percent: float) -> Section:
    """Suppression by value, the group that loses most first; percent : of all records that are suppressed."""
    share = 100.0 * by_value.suppressed / np.maximum(by_value.records, 1)
    order = np.argsort(-share, kind="stable")[:MOST_VALUES]
    rows = [
        (
            by_value.quasi_identifiers[i],
            value_text(by_value.values[i]),
            int(by_value.records[i]),
            int(by_value.suppressed[i]),
            float(share[i]),
            float(share[i] / percent) if percent else None,
        )
        for i in order.tolist()
    ]
    worst = worst_group(by_value, k)
    paragraphs = [] if worst is None else [worst.sentence(percent)]
    paragraphs.append(
        "A release that leaves out one group much more than others misleads whoever counts with it. Coarser values of "
        "the attribute, fewer regions, or FAIR keep such groups intact. Values of fewer than k records are always "
        "suppressed."
    )
    if len(share) > MOST_VALUES:
        paragraphs.append(f"The {MOST_VALUES} values that lose most, of {len(share)}.")
    return Section("Who is lost", paragraphs, LOST_HEADER, rows)


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
        "Quasi-identifier",
        "Suppressed without it, %",
        "Suppressed with it one level coarser, %",
        "of its entropy given up by that, %",
    )
    text = (
        "The regions stay as they are: with fewer or coarser attributes, a suppression budget allows finer ones. Empty "
        "where no coarser values are given."
    )
    return Section("Which attribute costs what", (cost_sentence(percent, list(costs)), text), header, rows)
