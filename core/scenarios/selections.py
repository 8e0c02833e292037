"""Random selections of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from ..errors import InputError
from ..language import tr

LEAST_ATTRIBUTES, MOST_ATTRIBUTES = 2, 6  # of a selection


def random_selections(
    attributes: Sequence[str],
    number: int,
    least: int = LEAST_ATTRIBUTES,
    most: int = MOST_ATTRIBUTES,
    seed: int = 0,
) -> list[tuple[str, ...]]:
    """Different random selections of the attributes, each in the order of `attributes`.

    number : how many; all that there are where there are no more. least, most : attributes of a selection, where `most`
    is cut to all; how many a selection has is drawn first, each size being as likely. The same seed begins with the
    same ones. Raises InputError where no selection has that many.
    """
    n, highest = len(attributes), min(most, len(attributes))
    if not 1 <= least <= highest:
        raise InputError(
            tr(
                "Random selections of {least} to {most} quasi-identifiers cannot be drawn from {n}: name further "
                "QUASI_IDENTIFIERS, or change LEAST_ATTRIBUTES and MOST_ATTRIBUTES.",
                least=least,
                most=most,
                n=n,
            )
        )
    if number >= sum(comb(n, size) for size in range(least, highest + 1)):
        return [chosen for size in range(least, highest + 1) for chosen in combinations(attributes, size)]
    rng = np.random.default_rng(seed)
    selections: dict[tuple[str, ...], None] = {}
    while len(selections) < number:
        size = int(rng.integers(least, highest + 1))
        drawn = rng.choice(n, size, replace=False)
        selections[tuple(attributes[i] for i in sorted(drawn.tolist()))] = None
    return list(selections)
