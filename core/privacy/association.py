"""How far the values of one field stand for those of another, value by value: shares of pairs of rows, and entropy.

All arrays of region, area, value and other codes are (r,) int, one for each of the same r rows.

An average over a field says little: where most rows hold one filler, or nothing, the others may hold the area. So each
value is judged by itself, over the pairs of rows that share it within a region, and the rows whose value stands for
their area are counted. Some are by chance, above all where few share a value: as many as are found when the areas of
each region are dealt out anew among its rows are taken off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

ROWS_FOR_PREFIXES = 100_000
STANDS = 0.8  # of the pairs of rows that share a value, the share in one area from which it stands for the area
CLOSED = 0.5  # and of what the region alone leaves open, the share that the value must close
DETERMINED = 0.999  # pairs of equal values that share a quasi-identifier, from which the value is a finer one
FINER = 0.9  # of the values that several rows have, the share that must be finer ones: all but the fillers
LONGEST_PREFIX = 12
HOME = 5  # others in the region that share a value, on average, from which it is more than a home has in common
NAMES = 0.7  # of the rows whose value is rare, the share that it must single out, from which such values are names
TELLS = 0.1  # of the rows, or of what is given up, the share from which a field that tells something is warned of
DEALS = 5  # times that the areas are dealt out anew; the one that places most rows counts
FEWEST_PLACED = 10  # rows beyond chance, below which nothing is said


@dataclass(frozen=True, eq=False)
class Disclosed:
    """What values disclose of the area, over rows whose region has several.

    rows : of such regions; placed, tells : rows beyond chance whose value stands for their area, and whose value says
    much more of it than the region
    """

    rows: int
    placed: int
    tells: int

    @property
    def placed_share(self) -> float:
        """Of the rows that could lose something, the share whose value stands for their area."""
        return self.placed / max(self.rows, 1)

    @property
    def tells_share(self) -> float:
        """Of the rows that could lose something, the share whose value says much more than the region."""
        return self.tells / max(self.rows, 1)


NOTHING_DISCLOSED = Disclosed(0, 0, 0)


def disclosed_by(region: np.ndarray, area: np.ndarray, value: np.ndarray, seed: int = 0) -> Disclosed:
    """What the values disclose of the area beyond the region; seed : of the areas dealt out anew."""
    several = np.flatnonzero(areas_in(region, area)[region] > 1) if len(area) else np.empty(0, np.int64)
    if not len(several):
        return NOTHING_DISCLOSED
    region, area, value = region[several], area[several], value[several]
    agreement = agreement_by_value(region, area, value)
    told_rows = np.array(agreement.rows)
    if told_rows.max() >= FEWEST_PLACED:
        by_chance = np.array([agreement_by_value(region, dealt, value).rows for dealt in _dealt(region, area, seed)])
        most, least = by_chance.max(axis=0), by_chance.min(axis=0)
        told_rows -= most
        told_rows[told_rows < most - least] = 0
        if told_rows[1] < NAMES * (agreement.times[agreement.rare].sum() - most[1]):
            told_rows[1] = 0
    placed, tells = int(told_rows[0] + told_rows[1]), int(told_rows[2])
    return Disclosed(len(several), *(rows if rows >= FEWEST_PLACED else 0 for rows in (placed, tells)))


@dataclass(frozen=True, eq=False)
class Agreement:
    """Of each value, (n_values,), how far rows that share it lie in one area; nan where no two rows share it.

    times : rows that have it; shared, base : of pairs of rows of one region that share it, and of all pairs of these
    regions, the share in one area; everywhere : of all pairs that share it, in whatever regions
    others : how many rows share it with a row in its region, on average
    """

    times: np.ndarray
    shared: np.ndarray
    base: np.ndarray
    everywhere: np.ndarray
    others: np.ndarray

    @property
    def stands(self) -> np.ndarray:
        """The values that stand for an area, of which the region does not say as much already.

        A value that is found in many areas, but in few rows of any region, is rather one of a home than of an area.
        """
        stands = (self.shared >= STANDS) & (self.shared - self.base >= CLOSED * (1.0 - self.base)) & (self.base < 1.0)
        return stands & ((self.everywhere >= STANDS) | (self.others >= HOME))

    @property
    def says_more(self) -> np.ndarray:
        """The values that say much more of the area than the region does."""
        says_more = self.shared > np.maximum(self.base + TELLS, 2.0 * self.base)
        return says_more & ((self.everywhere >= STANDS) | (self.others >= HOME))

    @property
    def rare(self) -> np.ndarray:
        """The values that several rows have, but no more than those of some homes."""
        return (self.times < FEWEST_PLACED) & np.isfinite(self.shared)

    @property
    def rows(self) -> tuple[int, int, int]:
        """The rows whose value stands for an area, of common values and of rare ones; and those it says much more of.

        Of an income, too, some rare values are of one home. Unless most rare values are, they are no codes.
        """
        common, rare = self.stands & ~self.rare, self.stands & self.rare
        return tuple(int(self.times[values].sum()) for values in (common, rare, self.says_more))  # type: ignore[return-value]


def agreement_by_value(region: np.ndarray, area: np.ndarray, value: np.ndarray) -> Agreement:
    """How far the rows that share a value lie in one area."""
    n_values = int(value.max(initial=-1)) + 1
    in_region, in_area = _pairs(region), _pairs(region, area)
    of_region = np.bincount(region[in_area.first], in_area.pairs, int(region.max(initial=-1)) + 1)
    of_region[region[in_region.first]] /= np.maximum(in_region.pairs, 1.0)
    shared, same, anywhere = _pairs(value, region), _pairs(value, region, area), _pairs(value, area)
    times = np.bincount(value, minlength=n_values).astype(float)
    pairs = np.bincount(value[shared.first], shared.pairs, n_values)
    agreeing = np.bincount(value[same.first], same.pairs, n_values)
    expected = np.bincount(value[shared.first], shared.pairs * of_region[region[shared.first]], n_values)
    in_one = np.bincount(value[anywhere.first], anywhere.pairs, n_values)
    pairs[pairs == 0] = np.nan
    return Agreement(
        times,
        agreeing / pairs,
        expected / pairs,
        in_one / np.where(times > 1, times * (times - 1.0), np.nan),
        pairs / np.maximum(times, 1.0),
    )


def _dealt(region: np.ndarray, area: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """The areas, dealt out anew among the rows of each region."""
    rng = np.random.default_rng(seed)
    in_order = np.argsort(region, kind="stable")
    for _ in range(DEALS):
        by_chance = rng.permutation(len(region))
        by_chance = by_chance[np.argsort(region[by_chance], kind="stable")]
        dealt = np.empty_like(area)
        dealt[by_chance] = area[in_order]
        yield dealt


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Groups of rows that share codes: the first row of each, and its pairs of rows, counted both ways."""

    first: np.ndarray
    pairs: np.ndarray


def _pairs(*codes: np.ndarray) -> _Pairs:
    _, first, sizes = np.unique(_key(codes), return_index=True, return_counts=True)
    return _Pairs(first, sizes * (sizes - 1.0))


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


def area_bits(region: np.ndarray, area: np.ndarray, value: np.ndarray | None = None) -> float:
    """The conditional entropy of the area, given the region (and the value), bits per row."""
    within = (region,) if value is None else (region, value)
    whole, parts = group_sizes(*within).astype(float), group_sizes(*within, area).astype(float)
    n = max(parts.sum(), 1.0)
    return float(((whole * np.log2(whole)).sum() - (parts * np.log2(parts)).sum()) / n)


def share_in_one_area(region: np.ndarray, area: np.ndarray, value: np.ndarray) -> float:
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


def disclosed_by_prefix(
    categories: np.ndarray, region: np.ndarray, area: np.ndarray, value: np.ndarray, exposed: float
) -> tuple[int, Disclosed]:
    """The number of leading characters that stand for the area in most rows, and what they tell; 0 for none.

    categories : the texts that the codes of value stand for, None where missing; exposed : the share of rows from which
    they do
    """
    texts = np.array(
        ["" if category is None else str(category)[: LONGEST_PREFIX + 1] for category in categories], dtype=str
    )
    longest = min(LONGEST_PREFIX, texts.dtype.itemsize // 4 - 1)
    step = max(1, len(value) // ROWS_FOR_PREFIXES)
    region, area, value = region[::step], area[::step], value[::step]
    best = (0, NOTHING_DISCLOSED)
    for length in range(1, longest + 1):
        codes = np.unique(texts.astype(f"<U{length}"), return_inverse=True)[1].reshape(-1)
        disclosed = disclosed_by(region, area, codes[value])
        if disclosed.placed_share >= max(exposed, best[1].placed_share + exposed):
            best = length, disclosed
    return best


def refined_identifier(
    value: np.ndarray, quasi_identifiers: Mapping[str, np.ndarray], exposed: float
) -> tuple[str, np.ndarray]:
    """The quasi-identifier of which the values are finer ones, empty for none, and the rows that have such a value.

    quasi_identifiers : by name, their codes; exposed : the share of rows that must have a finer value. A filler beside
    the finer values is none of them; a value that one row has may be one.
    """
    everywhere = np.zeros(len(value), np.int64)
    for name, codes in quasi_identifiers.items():
        if disclosed_by(everywhere, codes, value).placed_share < exposed:
            continue
        shared = agreement_by_value(everywhere, codes, value).shared
        several, finer = np.isfinite(shared), shared >= DETERMINED
        n_finer, n_coarse = int(finer.sum()), len(np.unique(codes[finer[value]]))
        if n_finer >= FINER * several.sum() and n_finer > n_coarse:
            return name, ~(several & ~finer)[value]
    return "", np.zeros(len(value), bool)


def regained_identifier(
    value: np.ndarray, coarsened: Mapping[str, tuple[np.ndarray, np.ndarray]], exposed: float
) -> tuple[str, Disclosed]:
    """The coarsened quasi-identifier of which the values give most rows back, empty for none, and what they tell.

    coarsened : by name, the codes of what is shown and of the original, (r,); exposed : the share of rows from which
    something is said
    """
    best, most = "", NOTHING_DISCLOSED
    for name, (shown, original) in coarsened.items():
        disclosed = disclosed_by(shown, original, value)
        if disclosed.placed_share < exposed and disclosed.tells_share < TELLS:
            continue
        if not best or (disclosed.placed_share, disclosed.tells_share) > (most.placed_share, most.tells_share):
            best, most = name, disclosed
    return best, most
