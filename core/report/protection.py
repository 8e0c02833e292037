"""What a report says of who and what k does not count: persons, sensitive values, kept fields."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..account import Account
from ..arrays import to_list
from ..language import as_data, in_turn, plural, tr
from ..plan import Plan
from ..privacy.kept_field import KeptField
from ..records.table import HOUSEHOLDS, PERSONS
from .page import Section

LIMITS = (
    tr(
        "k-anonymity hides who is who. It does not hide what a whole class has in common: if all members of a "
        "class share a diagnosis, the diagnosis of each is known. Look at the further fields you release with "
        "that in mind."
    ),
)
WHO_HAS_A_VALUE = {
    PERSONS: as_data(
        "A person has a sensitive value if any of the person's rows has it; further rows of one person hide nobody "
        "else's."
    ),
    HOUSEHOLDS: as_data("A household has a sensitive value if any of its rows has it."),
}
WORST_REGIONS = 10
HEADER = (
    tr("Further field"),
    tr("Values"),
    tr("Rows"),
    tr("Alone with their value, %"),
    tr("Bits to guess the area"),
    tr("with the value"),
    tr("Area known, % of rows"),
    tr("Rows in groups below k"),
)


def protection_section(account: Account) -> Section:
    """What the classes have in common, whom they hold, and what the kept fields give away."""
    requirement, protection, kept, plan = account.requirement, account.protection, account.kept, account.plan
    paragraphs = [*LIMITS, *([account.weights] if account.weights else []), *protection.of_members()]
    paragraphs += [sentence for field in kept for sentence in (field.refusal, field.warning) if sentence]
    released = plan.released
    for name, diversity in (protection.diversity if released.any() else {}).items():
        homogeneous = int((diversity.distinct[released] == 1).sum())
        paragraphs.append(
            plural(
                "“{name}”: in {n} of {n_shown} released classes all people have one value in common; the fewest values "
                "that could be those of all people of a class are {distinct}, the largest share of people with the "
                "same value is {largest_share:.1f} %. The largest distance of a class from all released records "
                "(t-closeness) is {distance:.3f}; the regions where it is largest ({most_regions} at most): "
                "{by_region}.",
                "“{name}”: in {n} of {n_shown} released classes all people have one value in common; the fewest values "
                "that could be those of all people of a class are {distinct}, the largest share of people with the "
                "same value is {largest_share:.1f} %. The largest distance of a class from all released records "
                "(t-closeness) is {distance:.3f}; the regions where it is largest ({most_regions} at most): "
                "{by_region}.",
                homogeneous,
                name=name,
                n_shown=int(released.sum()),
                distinct=int(diversity.distinct[released].min()),
                largest_share=diversity.largest_share[released].max(),
                distance=diversity.distance[released].max(),
                most_regions=WORST_REGIONS,
                by_region=_by_region(plan, diversity.distance),
            )
        )
    if protection.diversity:
        paragraphs += [tr(WHO_HAS_A_VALUE[kind]) for kind in protection.smallest]
    if requirement.asks_for_values:
        paragraphs.append(
            tr(
                "Asked of every class: at least so many different values: {l_diversity}; at most {max_share:g} % "
                "of its people with the same one.",
                l_diversity=requirement.l_diversity,
                max_share=requirement.max_share,
            )
        )
    return Section(tr("What k-anonymity does not protect"), paragraphs, HEADER, kept_rows(kept))


def kept_rows(kept: Sequence[KeptField]) -> list[tuple[object, ...]]:
    """A row per kept field, under HEADER."""
    return [
        (
            field.name,
            field.values,
            field.rows,
            100 * field.unique,
            field.bits_before,
            field.bits_left,
            100 * field.in_one_area,
            field.below_k,
        )
        for field in kept
    ]


def _by_region(plan: Plan, distance: np.ndarray) -> str:
    """The regions whose classes are farthest from all released records."""
    released = np.flatnonzero(plan.released)
    worst = released[np.argsort(-distance[released], kind="stable")]
    lines: dict[tuple[int, int], float] = {}
    for equivalence_class in to_list(worst):
        place = int(plan.level[equivalence_class]), int(plan.region[equivalence_class])
        lines.setdefault(place, float(distance[equivalence_class]))
        if len(lines) == WORST_REGIONS:
            break
    several = len(plan.levels) > 1
    numbers = [crosswalk.numbers for crosswalk in plan.levels.crosswalks]
    return in_turn(
        tr(
            "level {level}, region {number:d}: {distance:.3f}",
            level=level + 1,
            number=int(numbers[level][region]),
            distance=distance,
        )
        if several
        else tr("region {number:d}: {distance:.3f}", number=int(numbers[level][region]), distance=distance)
        for (level, region), distance in lines.items()
    )
