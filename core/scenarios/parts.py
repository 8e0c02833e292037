"""Parts of a country: which areas each has, and the areas and their records by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from ..areas import Areas, identifier_text
from ..errors import InputError
from ..profile import Profile
from ..records.columns import combine_codes
from ..scientific import sparse


def parts_by_value(values: Sequence[object]) -> dict[str, np.ndarray]:
    """The positions of the areas of each part, ascending int64, by the part's name as text, in the order of the names.

    values : of n areas, the part that each lies in, compared as text; an area without a value lies in none.
    """
    members: dict[str, list[int]] = {}
    for position, name in enumerate(map(identifier_text, values)):
        if name:
            members.setdefault(name, []).append(position)
    return {name: np.array(members[name], np.int64) for name in sorted(members)}


def areas_within(areas: Areas, members: np.ndarray) -> Areas:
    """The areas at these positions, (m,) ascending, as if there were no others; who is next to whom stays known."""
    neighbours = None if areas.neighbours is None else areas.neighbours.within(members)
    return replace(
        areas,
        identifiers=areas.identifiers[members],
        points=areas.points[members],
        population=areas.population[members],
        neighbours=neighbours,
    )


def profile_within(profile: Profile, members: np.ndarray, attributes: Sequence[str]) -> Profile:
    """The profile of the records of some areas by some of the quasi-identifiers, as if there were no others.

    members : (m,) positions of the areas; attributes : names among the profile's. Classes and categories that nobody
    there has are left out; both stay in their order.
    """
    counts = profile.counts[members]
    occurs = np.flatnonzero(np.asarray(counts.sum(axis=0)).ravel())
    codes, categories = [], []
    for name in attributes:
        position = profile.quasi_identifiers.index(name)
        used, code = np.unique(profile.classes[occurs, position], return_inverse=True)
        codes.append(code.reshape(-1))
        categories.append(profile.categories[position][used])
    class_of, classes = combine_codes(codes, [len(values) for values in categories])
    joins = sparse.csr_matrix(
        (np.ones(len(occurs), np.int64), (np.arange(len(occurs), dtype=np.int64), class_of)),
        shape=(len(occurs), len(classes)),
    )
    summed = (counts[:, occurs] @ joins).tocsc().tocsr()  # there and back sorts each row in linear time
    return Profile(summed, classes, tuple(categories), tuple(attributes))


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
        raise InputError.saying(
            "Random selections of {least} to {most} quasi-identifiers cannot be drawn from {n}: name further "
            "QUASI_IDENTIFIERS, or change LEAST_ATTRIBUTES and MOST_ATTRIBUTES.",
            least=least,
            most=most,
            n=n,
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
