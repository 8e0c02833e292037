"""How far the values of one field stand for those of another: shares of pairs of rows that agree, and entropy.

All arrays of region, area, value and other codes are (r,) int, one for each of the same r rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

ROWS_FOR_PREFIXES = 100_000
FEWEST_PAIRS = 50  # below, a share says nothing
FEWEST_DIFFERING = 10  # pairs that would differ by chance, below which it says nothing that they do not
PINNED = 0.8  # rows of one value that lie in one area, as a share of pairs, from which the field stands for the area
DETERMINED = 0.999  # pairs of equal values that share a quasi-identifier, from which the field is a finer one
LONGEST_PREFIX = 12
TELLS = 0.1  # of what is given up, the share that a field gives back, from which it is warned of


def group_sizes(*codes: np.ndarray) -> np.ndarray:
    """The sizes of the groups of rows that share all codes."""
    return np.unique(_key(codes), return_counts=True)[1]


def _key(codes: Sequence[np.ndarray]) -> np.ndarray:
    """A number for each combination of codes, (r,) int64."""
    key, reach = codes[0].astype(np.int64), int(codes[0].max(initial=0)) + 1
    for column in codes[1:]:
        size = int(column.max(initial=0)) + 1
        if reach > np.iinfo(np.int64).max // size:
            unique, key = np.unique(key, return_inverse=True)
            reach, key = len(unique), key.reshape(-1)
        key, reach = key * size + column, reach * size
    return key


def agreement_of(region: np.ndarray, area: np.ndarray, value: np.ndarray | None = None) -> float | None:
    """Of the pairs of rows in one region (that share a value), the share in one area; None below FEWEST_PAIRS."""
    within = (region,) if value is None else (region, value)
    all_pairs, same = (
        float((sizes * (sizes - 1.0)).sum()) for sizes in (group_sizes(*within), group_sizes(*within, area))
    )
    return same / all_pairs if all_pairs >= 2 * FEWEST_PAIRS else None


def area_bits(region: np.ndarray, area: np.ndarray, value: np.ndarray | None = None) -> float:
    """The conditional entropy of the area, given the region (and the value), bits per row."""
    within = (region,) if value is None else (region, value)
    whole, parts = group_sizes(*within).astype(float), group_sizes(*within, area).astype(float)
    n = max(parts.sum(), 1.0)
    return float(((whole * np.log2(whole)).sum() - (parts * np.log2(parts)).sum()) / n)


def pinned_share(region: np.ndarray, area: np.ndarray, value: np.ndarray) -> float:
    """The share of rows whose value, in a region of several areas, occurs in one area only, and more than once."""
    if not len(area):
        return 0.0
    _, group, sizes = np.unique(_key((region, value)), return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    once = (areas_in(group, area)[group] == 1) & (sizes[group] > 1)
    return float((once & (areas_in(region, area)[region] > 1)).mean())


def areas_in(group: np.ndarray, area: np.ndarray) -> np.ndarray:
    """The number of different areas in each group."""
    n_areas = int(area.max()) + 1
    return np.bincount(np.unique(group.astype(np.int64) * n_areas + area) // n_areas)


def best_prefix(categories: np.ndarray, value: np.ndarray, region: np.ndarray, area: np.ndarray) -> tuple[int, float]:
    """The number of leading characters that stand for the area, and their agreement; 0 where none do.

    categories : the texts that the codes of value stand for, None where missing
    """
    texts = np.array(["" if one is None else str(one) for one in categories], dtype=str)
    longest = min(LONGEST_PREFIX, texts.dtype.itemsize // 4 - 1)
    step = max(1, len(value) // ROWS_FOR_PREFIXES)
    value, region, area = value[::step], region[::step], area[::step]
    for length in range(longest, 0, -1):
        codes = np.unique(texts.astype(f"<U{length}"), return_inverse=True)[1].reshape(-1)
        agreement = agreement_of(region, area, codes[value])
        if agreement is not None and agreement >= PINNED:
            return length, agreement
    return 0, 0.0


def refined_identifier(value: np.ndarray, quasi_identifiers: Mapping[str, np.ndarray]) -> str:
    """The quasi-identifier that the value determines while it has more values, empty for none.

    quasi_identifiers : by name, their codes
    """
    sizes = group_sizes(value).astype(float)
    pairs, n_values = float((sizes * (sizes - 1)).sum()), len(sizes)
    if pairs < 2 * FEWEST_PAIRS:
        return ""
    for name, codes in quasi_identifiers.items():
        same = group_sizes(value, codes).astype(float)
        if 1 < len(np.unique(codes)) < n_values and float((same * (same - 1)).sum()) >= DETERMINED * pairs:
            return name
    return ""


def regained_identifier(
    value: np.ndarray, coarsened: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> tuple[str, float, float]:
    """The coarsened quasi-identifier that the value tells most of, empty for none; and the two shares of pairs.

    coarsened : by name, the codes of what is shown and of the original, (r,)
    """
    best, base, regained = "", 0.0, 0.0
    for name, (shown, original) in coarsened.items():
        without, with_value = agreement_of(shown, original), agreement_of(shown, original, value)
        if without is None or with_value is None:
            continue
        sizes = group_sizes(shown, value).astype(float)
        # Where hardly any pair could differ, that none does says nothing.
        if (sizes * (sizes - 1.0)).sum() / 2 * (1.0 - without) < FEWEST_DIFFERING:
            continue
        if gain(without, with_value) > max(TELLS, gain(base, regained) if best else 0.0):
            best, base, regained = name, without, with_value
    return best, base, regained


def gain(base: float, agreement: float) -> float:
    """How far a share of pairs goes from its base to all of them: 1 for all; 0 for no further, or a base of 1."""
    return (agreement - base) / (1.0 - base) if base < 1.0 else 0.0
