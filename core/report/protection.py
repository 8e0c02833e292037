"""What a report says of who and what k does not count: persons, sensitive values, kept fields."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import to_list
from ..plan import Plan
from ..privacy.kept_fields import KeptField
from ..privacy.requirement import Found, Requirement
from .page import Section

LIMITS = (
    "k-anonymity hides who is who. It does not hide what a whole class has in common: if all members of a class share "
    "a diagnosis, the diagnosis of each is known. Look at the further fields you release with that in mind.",
)
WORST_REGIONS = 10
HEADER = (
    "Further field",
    "Values",
    "Rows",
    "Alone with their value, %",
    "Bits to guess the area",
    "with the value",
    "Area known, % of rows",
    "Rows in groups below k",
)


def protection_section(
    requirement: Requirement, found: Found, kept: Sequence[KeptField], plan: Plan, weights: str = ""
) -> Section:
    """What the classes have in common, whom they hold, and what the kept fields give away.

    weights : what is said of counts that look like survey weights
    """
    paragraphs = [*LIMITS, *([weights] if weights else [])]
    for kind, smallest in found.smallest.items():
        paragraphs.append(f"k counts {kind}: the smallest released class holds {smallest} of them.")
    paragraphs += [sentence for one in kept for sentence in (one.refusal, one.warning) if sentence]
    for name, diversity in found.diversity.items():
        shown = plan.shown
        alike = int((diversity.distinct[shown] == 1).sum())
        paragraphs.append(
            f"“{name}”: {alike} of {int(shown.sum())} released classes have one value in common; the smallest number "
            f"of values in a class is {int(diversity.distinct[shown].min(initial=0))}, the largest share of one value "
            f"{diversity.largest_share[shown].max(initial=0):.1f} %. The largest distance of a class from all released "
            f"records (t-closeness) is {diversity.distance[shown].max(initial=0):.3f}; by region: "
            f"{_by_region(plan, diversity.distance)}."
        )
    if requirement.asks_for_values:
        paragraphs.append(
            f"Asked of every class: {requirement.l_diversity} values, and at most {requirement.max_share:g} % with the "
            "same one."
        )
    return Section("What k does not count", paragraphs, HEADER, kept_rows(kept))


def kept_rows(kept: Sequence[KeptField]) -> list[tuple[object, ...]]:
    """A row per kept field, under HEADER."""
    return [
        (
            one.name,
            one.values,
            one.rows,
            100 * one.unique,
            one.bits_before,
            one.bits_left,
            100 * one.pinned,
            one.below_k,
        )
        for one in kept
    ]


def _by_region(plan: Plan, distance: np.ndarray) -> str:
    """The regions whose classes are farthest from all released records."""
    shown = np.flatnonzero(plan.shown)
    worst = shown[np.argsort(-distance[shown], kind="stable")]
    lines: dict[tuple[int, int], float] = {}
    for label in to_list(worst):
        lines.setdefault((int(plan.level[label]), int(plan.region[label])), float(distance[label]))
        if len(lines) == WORST_REGIONS:
            break
    several = len(plan.levels) > 1
    return ", ".join(
        f"{f'level {level + 1}, ' if several else ''}region {plan.levels.crosswalks[level].numbers[region]} {value:.3f}"
        for (level, region), value in lines.items()
    )
