"""Values that differ in writing alone, such as “M” and “m”: each counts as a value of its own, as is rarely meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..arrays import to_list
from ..disclosure.values import KeptValues
from ..errors import first_values
from ..language import in_turn, tr
from ..plain_text import without_writing
from ..profile import Profile

SHOWN = 3  # values, of which messages show the writings


def written_in_several_ways(values: Iterable[object]) -> list[list[str]]:
    """Of texts that are the same but for case, blanks and leading zeros the different writings, in order. Other values
    are passed over.

    Examples
    --------
    >>> written_in_several_ways(["F", "M", "f ", None, 1])
    [['F', 'f ']]
    """
    writings: dict[str, set[str]] = {}
    for value in values:
        if isinstance(value, str) and (key := without_writing(value)):
            writings.setdefault(key, set()).add(value)
    return [sorted(writings[key]) for key in sorted(writings) if len(writings[key]) > 1]


def said_of_writings(profile: Profile, sensitive: Sequence[KeptValues]) -> list[str]:
    """A sentence for each quasi-identifier, and each sensitive field, with such values in the records."""
    sentences = []
    for position, (name, categories) in enumerate(zip(profile.quasi_identifiers, profile.categories)):
        several = written_in_several_ways(to_list(categories[np.unique(profile.classes[:, position])]))
        if several:
            sentences.append(
                tr(
                    "“{field}” has values that differ in writing alone ({first}): each makes classes of its own, and "
                    "who has the rarer one is suppressed sooner. If they mean the same, write them alike.",
                    field=name,
                    first=first_writings(several),
                )
            )
    for kept in sensitive:
        several = written_in_several_ways(to_list(kept.categories[np.unique(kept.shares.value)]))
        if several:
            sentences.append(
                tr(
                    "“{field}” has values that differ in writing alone ({first}), which count as different for "
                    "L_DIVERSITY and MAX_SHARE: if they mean the same, a class may show fewer than was asked for. "
                    "Write them alike.",
                    field=kept.shares.field,
                    first=first_writings(several),
                )
            )
    return sentences


def first_writings(several: Sequence[Sequence[str]]) -> str:
    """The writings of the first values, for the end of a message; an ellipsis where there are more."""
    shown = in_turn(first_values(same) for same in several[:SHOWN])
    return in_turn([shown, "…"]) if len(several) > SHOWN else shown
