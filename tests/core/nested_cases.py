"""Small random cases of nested releases, and plain ways to solve and check them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.profile import Profile
from vbas.core.records.columns import Column
from vbas.core.release import Release


@st.composite
def nested_cases(draw, most_areas: int = 12, most_levels: int = 4, left_out: bool = True):
    """Areas, a profile and levels, the finest of them the areas themselves or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_classes = draw(st.integers(2, most_areas)), draw(st.integers(1, 4))
    points = rng.integers(0, draw(st.sampled_from([3, 1_000])), (n, 2)).astype(float)
    population = rng.integers(0, 50, n).astype(float)
    population[0] = 1.0
    areas = make_areas([f"a{i}" for i in range(n)], points, population)
    counts = rng.integers(0, draw(st.sampled_from([2, 5, 12])), (n, n_classes)) * (rng.random((n, n_classes)) < 0.7)
    return areas, profile_of(counts), random_levels(areas, rng, draw(st.integers(1, most_levels)), left_out)


def profile_of(counts: np.ndarray) -> Profile:
    """A profile of one quasi-identifier with these counts, (n, C)."""
    n_classes = counts.shape[1]
    names = np.array([f"c{i}" for i in range(n_classes)], dtype=object)
    return Profile(sparse.csr_matrix(counts), np.arange(n_classes)[:, None], (names,), ("q",))


def random_levels(areas: Areas, rng: np.random.Generator, n_levels: int, left_out: bool) -> Levels:
    """Nested levels that join regions by chance."""
    n = len(areas)
    crosswalk = own_regions(n)
    if rng.random() < 0.4:
        region_of = rng.integers(-1 if left_out else 0, max(2, n // 2), n)
        region_of[0] = max(region_of[0], 0)
        crosswalk = number_compactly(region_of)[0]
    crosswalks = [crosswalk]
    for _ in range(n_levels - 1):
        inside = crosswalk.region_of >= 0
        joined = rng.integers(0, max(1, crosswalk.n_regions // 2), crosswalk.n_regions)
        region_of = np.where(inside, joined[crosswalk.region_of], -1)
        crosswalk = number_compactly(region_of)[0]
        crosswalks.append(crosswalk)
    return make_levels(areas, crosswalks)


def by_plain_rule(counts: np.ndarray, levels: Levels, k: int) -> np.ndarray:
    """Bottom-up: at each level release every class of at least k pending records; (n, C) levels, -1 suppressed."""
    level_of = np.full(counts.shape, -1)
    for level, crosswalk in enumerate(levels.crosswalks):
        for region, one in product(range(crosswalk.n_regions), range(counts.shape[1])):
            pending = (crosswalk.region_of == region) & (level_of[:, one] < 0)
            if counts[pending, one].sum() >= k:
                level_of[pending, one] = level
    return level_of


def by_brute_force(counts: np.ndarray, levels: Levels, losses: list[np.ndarray], k: int) -> tuple[int, float]:
    """Fewest suppressed records, then the least loss, over every way to show one class; counts : (n,)."""
    cells = [i for i in np.flatnonzero(counts).tolist() if levels.crosswalks[0].region_of[i] >= 0]
    left = int(counts.sum() - counts[cells].sum())
    best = (int(counts[cells].sum()), 0.0)
    for choice in product(range(-1, len(levels)), repeat=len(cells)):
        equivalence_classes: dict[tuple[int, int], int] = {}
        loss, suppressed = 0.0, 0
        for area, level in zip(cells, choice):
            if level < 0:
                suppressed += int(counts[area])
                continue
            region = int(levels.crosswalks[level].region_of[area])
            equivalence_classes[level, region] = equivalence_classes.get((level, region), 0) + int(counts[area])
            loss += counts[area] * losses[level][region]
        if all(records >= k for records in equivalence_classes.values()) and np.isfinite(loss):
            best = min(best, (suppressed, loss))
    return best[0] + left, best[1]


def loss_of(counts: np.ndarray, level_of: np.ndarray, levels: Levels, losses: list[np.ndarray]) -> float:
    """Sum over the records that are shown; counts, level_of : (n,) of one class."""
    total = 0.0
    for area in np.flatnonzero(counts).tolist():
        if level_of[area] >= 0:
            region = levels.crosswalks[level_of[area]].region_of[area]
            total += counts[area] * losses[level_of[area]][region]
    return total


def row_by_row(release: Release) -> Release:
    """The same release with each row as often as it is given, so that a single one can be moved."""
    at = release.rows
    fields = {name: Column(field.codes[at], field.categories) for name, field in release.fields.items()}
    counts = release.counts if release.counted else np.ones(len(at), np.int64)
    return replace(release, level=release.level[at], region=release.region[at], fields=fields, counts=counts)
