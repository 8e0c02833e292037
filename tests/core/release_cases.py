"""Small cases of several releases of the same people, and plain ways to check what they give away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.published import publish
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.profile import Profile

from .nested_cases import random_levels


def profile_over(counts: np.ndarray, values: Sequence[tuple[str, ...]], names: tuple[str, ...]) -> Profile:
    """A profile with these counts, (n, C), of classes with these values of the named quasi-identifiers."""
    categories, classes = [], np.zeros((len(values), len(names)), np.int64)
    for position in range(len(names)):
        column = [row[position] for row in values]
        found, classes[:, position] = np.unique(np.array(column, dtype=str), return_inverse=True)
        categories.append(found.astype(object))
    return Profile(sparse.csr_matrix(counts), classes, tuple(categories), names)


def coarser(profile: Profile, keep: tuple[str, ...]) -> Profile:
    """The profile of the same people by fewer quasi-identifiers."""
    at = [profile.quasi_identifiers.index(name) for name in keep]
    classes, of = np.unique(profile.classes[:, at], axis=0, return_inverse=True)
    of = of.reshape(-1)
    join = sparse.csr_matrix((np.ones(len(of), np.int64), (np.arange(len(of)), of)), shape=(len(of), len(classes)))
    counts = sparse.csr_matrix(profile.counts @ join)
    return Profile(counts, classes, tuple(profile.categories[i] for i in at), keep)


@st.composite
def several_releases(draw, most_areas=5, most_releases=3, most_count=6, most_classes=2, nested=True, kinds=True):
    """(areas, profile of the people, releases of it with crosswalks and quasi-identifiers of their own)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, most_areas))
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 100, (n, 2)).astype(float), np.ones(n))
    n_classes = draw(st.integers(1, most_classes))
    values = [("x" if i % 2 or rng.random() < 0.5 else "y", f"v{i}") for i in range(n_classes)]
    counts = rng.integers(0, most_count, (n, n_classes)) * (rng.random((n, n_classes)) < 0.8)
    profile = profile_over(counts, values, ("p", "q"))
    k = draw(st.integers(2, 4))
    releases = []
    for i in range(draw(st.integers(2, most_releases))):
        own = profile if not kinds or rng.random() < 0.6 else coarser(profile, ("p",))
        if nested and rng.random() < 0.4:
            plan = nest(areas, own, random_levels(areas, rng, 3, left_out=True), k)
        else:
            region_of = rng.integers(-1 if rng.random() < 0.2 else 0, max(2, n - 1), n)
            region_of[0] = max(region_of[0], 0)
            plan = suppress(own, number_compactly(region_of)[0], k)
        releases.append(publish(plan, areas, f"r{i}"))
    return areas, profile, releases


def true_table(over, profile, areas) -> np.ndarray:
    """The people of each overlay cell and joint class as they are, (cells, U)."""
    table = np.zeros((over.n_cells, len(over.entries)), np.int64)
    dense = profile.counts.toarray()
    names = profile.quasi_identifiers
    position = {identifier: i for i, identifier in enumerate(over.areas.tolist())}
    for c, codes in enumerate(profile.classes):
        person = {name: categories[code] for name, categories, code in zip(names, profile.categories, codes)}
        entry = []
        for schema in over.schemas:
            own = tuple(person[name] for name in schema.names)
            entry.append(schema.classes.index(own) if own in schema.classes else -1)
        joint = np.flatnonzero((over.entries == entry).all(axis=1))
        if all(one < 0 for one in entry):
            continue
        assert len(joint) == 1
        for i, identifier in enumerate(areas.identifiers):
            table[over.cell_of[position[identifier]], joint[0]] += dense[i, c]
    return table


def only_seen_values(over, table) -> bool:
    """Whether all people have values that some release shows, as is believed where nothing speaks against it."""
    return not table[:, over.nobody.any(axis=1)].any()


def all_tables(over, joint, largest):
    """Every table of these joint classes that fits all sums, found one by one: (tables, cells, u).

    Of values that some release shows, unless no table of those fits.
    """
    found = _tables(over, joint, largest, over.nobody[joint].any(axis=1))
    return found if len(found) else _tables(over, joint, largest, np.zeros(len(joint), bool))


def _tables(over, joint, largest, nobody):
    families = over.sums(joint)
    n_cells, n_joint = over.n_cells, len(joint)
    found = []

    def fits(table):
        for family in families:
            sums = np.zeros_like(family.low)
            for cell, column in product(range(n_cells), range(n_joint)):
                sums[family.region[cell], family.class_of[column]] += table[cell, column]
            if (sums < family.low)[:-1, :-1].any() or (sums > family.high)[:-1, :-1].any():
                return False
        return True

    for values in product(*[range(1 if none else largest + 1) for none in nobody.tolist() * n_cells]):
        table = np.array(values).reshape(n_cells, n_joint)
        if fits(table):
            found.append(table)
    return np.array(found).reshape(-1, n_cells, n_joint)


def without_secrets(release):
    """A release as it would be read from a file."""
    return replace(release, held_back=None)
