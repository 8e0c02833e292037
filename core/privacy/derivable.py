"""What a release is to hold against, and what is not proven of one: that no count below k can be derived from it."""

from __future__ import annotations

from ..language import as_data, tr

CLASS_HAS_K, NO_SMALL_COUNT = as_data("a class has k"), as_data("no small count follows")
DISCLOSURES = (CLASS_HAS_K, NO_SMALL_COUNT)


def not_proven(k: int) -> str:
    """What log and report say of every nested release at k, above all where a rule forbids small counts."""
    return tr(
        "It is not proven that no count of 1 to {most} can be derived. A nested release shows no class of fewer than "
        "{k}, but somebody who knows how its levels are chosen can prove of many classes that 1 to {most} of their "
        "people live in a part of a region, often in one area (docs/privacy.md, “Knowing the method”). Neither a "
        "larger k nor TIES changes that. Where it must not be, release one level.",
        k=k,
        most=k - 1,
    )
