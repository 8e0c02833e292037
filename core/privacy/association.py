"""How far the values of one field stand for those of another, value by value: shares of pairs of rows, and entropy.

All arrays of region, area, value and other codes are (r,) int, one for each of the same r rows.

An average over a field says little: where most rows hold one filler, or nothing, the others may hold the area. So each
value is judged by itself, over the pairs of rows that share it within a region, and the rows whose value stands for
their area are counted. Some are by chance, above all where few share a value: as many as are found when the areas of
each region are dealt out anew among its rows are taken off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from ..dataclass import dataclass
from ..records.columns import count_keys, number_keys, smallest_integers

STANDS = 0.8  # of the pairs of rows that share a value, the share in one area from which it stands for the area
CLOSED = 0.5  # and of what the region alone leaves open, the share that the value must close
DETERMINED = 0.999  # pairs of equal values that share a quasi-identifier, from which the value is a finer one
FINER = 0.9  # of the values that several rows have, the share that must be finer ones: all but the fillers
LONGEST_PREFIX = 12
HOME = 5  # others in the region that share a value, on average, from which it is more than a home has in common
NAMES = 0.7  # of the rows whose value is rare, the share that it must single out, from which such values are names
# Of the rows, or of what is given up, the share from which a field that discloses something is warned of.
WARNED_SHARE = 0.1
DEALS = 5  # times that the areas are dealt out anew; the one that places most rows counts
FEWEST_PLACED = 10  # rows beyond chance, below which nothing is said


@dataclass(frozen=True, eq=False)
class Disclosed:
    """What values disclose of the area, over rows whose region has several.

    rows : of such regions; placed, narrowing : rows beyond chance whose value stands for their area, and whose value
    says much more of it than the region
    """

    rows: int
    placed: int
    narrowing: int

    @property
    def placed_share(self) -> float:
        """Of the rows that could lose something, the share whose value stands for their area."""
        return self.placed / max(self.rows, 1)

    @property
    def narrowing_share(self) -> float:
        """Of the rows that could lose something, the share whose value says much more than the region."""
        return self.narrowing / max(self.rows, 1)


NOTHING_DISCLOSED = Disclosed(0, 0, 0)


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
        says_more = self.shared > np.maximum(self.base + WARNED_SHARE, 2.0 * self.base)
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


class Places:
    """Where rows are: the areas of regions, numbered, so that fields of the same rows are looked at in linear time.

    region_of, area_of : (n_places,) of each area of a region, in ascending order of both; place : (r,) which of them
    each row is in
    """

    def __init__(self, region: np.ndarray, area: np.ndarray) -> None:
        n_regions, n_areas = int(region.max(initial=-1)) + 1, int(area.max(initial=-1)) + 1
        pairs, place = number_keys(region.astype(np.int64) * n_areas + area, n_regions * n_areas)
        self.region_of, self.area_of = np.divmod(pairs, max(n_areas, 1))
        self.place = smallest_integers(place, len(pairs))
        self.region = smallest_integers(region, n_regions)
        self._n_regions = n_regions
        self._each_in_one_region = bool((np.bincount(self.area_of) <= 1).all())

    @cached_property
    def _in_one_place(self) -> np.ndarray:
        """Of all pairs of rows of each region, the share in one area, (n_regions,)."""
        n_places, n_regions = len(self.region_of), self._n_regions
        together = np.bincount(self.region_of, _pairs(np.bincount(self.place, minlength=n_places)), n_regions)
        shares: np.ndarray = together / np.maximum(_pairs(np.bincount(self.region, minlength=n_regions)), 1.0)
        return shares

    def agreement(self, value: np.ndarray) -> Agreement:
        """How far the rows that share a value lie in one area."""
        return next(self.agreements(value, (self.place,)))

    def agreements(self, value: np.ndarray, places: Iterable[np.ndarray]) -> Iterator[Agreement]:
        """The same for rows that were in other places, one after another; places : (r,) each, within their regions."""
        n_values, n_places = int(value.max(initial=-1)) + 1, len(self.region_of)
        counts = np.bincount(value, minlength=n_values)
        times = counts.astype(float)
        if self._n_regions == 1:
            shared, n_shared = np.arange(n_values, dtype=np.int64), counts
            in_region = np.zeros(n_values, np.int64)
        else:
            shared, in_region, n_shared = _groups(value, n_values, self.region, self._n_regions)
        pairs = np.bincount(shared, _pairs(n_shared), n_values)
        expected = np.bincount(shared, _pairs(n_shared) * self._in_one_place[in_region], n_values)
        pairs = np.where(pairs == 0, np.nan, pairs)
        anywhere = np.where(times > 1, _pairs(times), np.nan)
        for place in places:
            same, _, n_same = _groups(value, n_values, place, n_places)
            agreeing = in_one = np.bincount(same, _pairs(n_same), n_values)
            if not self._each_in_one_region:
                same, _, n_same = _groups(value, n_values, self.area_of[place], int(self.area_of.max()) + 1)
                in_one = np.bincount(same, _pairs(n_same), n_values)
            yield Agreement(times, agreeing / pairs, expected / pairs, in_one / anywhere, pairs / times)

    def groups(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Groups of rows in one place that share a value: both of each, and its size, in ascending order."""
        return _groups(value, int(value.max(initial=-1)) + 1, self.place, len(self.region_of))


class RowsByArea:
    """Rows and their areas, against which one field after another is held: what they have in common is made once.

    region, area : (r,)
    """

    def __init__(self, region: np.ndarray, area: np.ndarray) -> None:
        self.places = Places(region, area)
        several = (np.bincount(self.places.region_of) > 1)[self.places.region_of][self.places.place]
        self._several: slice | np.ndarray = slice(None) if several.all() else np.flatnonzero(several)

    @cached_property
    def _of_several(self) -> Places:
        """The rows whose region has several areas."""
        if isinstance(self._several, slice):
            return self.places
        place = self.places.place[self._several]
        return Places(self.places.region[self._several], self.places.area_of[place])

    @cached_property
    def _dealt(self) -> list[np.ndarray]:
        """The places, dealt out anew among the rows of each region."""
        rng = np.random.default_rng(0)
        region, place = self._of_several.region, self._of_several.place
        in_order = np.argsort(region, kind="stable")
        every = []
        for _ in range(DEALS):
            by_chance = rng.permutation(len(region))
            by_chance = by_chance[np.argsort(region[by_chance], kind="stable")]
            dealt = np.empty_like(place)
            dealt[by_chance] = place[in_order]
            every.append(dealt)
        return every

    def disclosed_by(self, value: np.ndarray) -> Disclosed:
        """What the values disclose of the area beyond the region; value : (r,)."""
        value = value[self._several]
        if not len(value):
            return NOTHING_DISCLOSED
        agreement = self._of_several.agreement(value)
        rows_beyond_chance = np.array(agreement.rows, np.int64)
        if rows_beyond_chance.max() >= FEWEST_PLACED:
            by_chance = np.array([dealt.rows for dealt in self._of_several.agreements(value, self._dealt)], np.int64)
            most, least = by_chance.max(axis=0), by_chance.min(axis=0)
            rows_beyond_chance -= most
            rows_beyond_chance[rows_beyond_chance < most - least] = 0
            if rows_beyond_chance[1] < NAMES * (agreement.times[agreement.rare].sum() - most[1]):
                rows_beyond_chance[1] = 0
        placed, narrowing = int(rows_beyond_chance[0] + rows_beyond_chance[1]), int(rows_beyond_chance[2])
        return Disclosed(len(value), *(rows if rows >= FEWEST_PLACED else 0 for rows in (placed, narrowing)))


def _pairs(sizes: np.ndarray) -> np.ndarray:
    """The pairs of rows in groups of so many, counted both ways."""
    return sizes * (sizes - 1.0)


def _groups(
    first: np.ndarray, n_first: int, other: np.ndarray, n_other: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Groups of rows that share two codes, below n_one and n_other: both of each, and its size, in ascending order."""
    keys, sizes = count_keys(first.astype(np.int64) * n_other + other, n_first * n_other)
    return *np.divmod(keys, max(n_other, 1)), sizes


def group_sizes(first: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The sizes of the groups of rows that share both codes."""
    return _groups(first, int(first.max(initial=-1)) + 1, other, int(other.max(initial=-1)) + 1)[2]


@dataclass(frozen=True, eq=False)
class Spread:
    """Where the values of a field are: groups of rows of one value in one place, each with its size, (g,) int64.

    region : of each group; groups are in ascending order of value, region and area
    """

    value: np.ndarray
    place: np.ndarray
    region: np.ndarray
    size: np.ndarray

    def of_values(self, chosen: np.ndarray) -> Spread:
        """The groups of some values; chosen : (n_values,) bool."""
        here = chosen[self.value]
        return Spread(self.value[here], self.place[here], self.region[here], self.size[here])

    def times(self, n_values: int) -> np.ndarray:
        """How many rows have each value, (n_values,) int64."""
        return _added(self.value, self.size, n_values)

    @property
    def bits_before(self) -> float:
        """The conditional entropy of the area, given the region, bits per row."""
        return _entropy(_added(self.region, self.size), _added(self.place, self.size))

    @property
    def bits_left(self) -> float:
        """The same, given the value too."""
        in_order = np.lexsort((self.place, self.value, self.region))
        return _entropy(self._by_region_and_value[1], self.size[in_order])

    @property
    def in_one_area(self) -> float:
        """The share of rows whose value, in a region of several areas, occurs in one area only, and more than once."""
        n_rows = int(self.size.sum())
        if not n_rows:
            return 0.0
        keys, sizes, n_places = self._by_region_and_value
        n_areas = np.bincount(self.region[np.unique(self.place, return_index=True)[1]])
        once = (n_places == 1) & (sizes > 1) & (n_areas[keys // self._n_values] > 1)
        return float(int(sizes[once].sum()) / n_rows)

    @property
    def _n_values(self) -> int:
        return int(self.value.max(initial=0)) + 1

    @cached_property
    def _by_region_and_value(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of one region that share a value: a key of both, how many they are, and in how many areas."""
        keys, of, n_places = np.unique(
            self.region * self._n_values + self.value, return_inverse=True, return_counts=True
        )
        return keys, _added(of.reshape(-1), self.size, len(keys)), n_places


def spread_of(places: Places, value: np.ndarray) -> Spread:
    """Where the values of a field are; value : (r,), of the same rows."""
    of_value, place, size = places.groups(value)
    return Spread(of_value, place, places.region_of[place], size)


def _added(codes: np.ndarray, sizes: np.ndarray, n_codes: int = 0) -> np.ndarray:
    """The sizes added up by their codes, int64."""
    return np.bincount(codes, sizes, n_codes).astype(np.int64)


def _entropy(whole: np.ndarray, parts: np.ndarray) -> float:
    """Bits per row that tell in which part of its group a row is; whole, parts : sizes of both."""
    n = max(float(parts.sum()), 1.0)
    of_whole, of_parts = (sizes[sizes > 0].astype(float) for sizes in (whole, parts))
    return float(((of_whole * np.log2(of_whole)).sum() - (of_parts * np.log2(of_parts)).sum()) / n)


def disclosed_by_prefix(
    categories: np.ndarray, rows_by_area: RowsByArea, value: np.ndarray, exposed: float
) -> tuple[int, Disclosed]:
    """The number of leading characters that stand for the area in most rows, and what they tell; 0 for none.

    categories : the texts that the codes of value stand for, None where missing; exposed : the share of rows from which
    they do
    """
    texts = np.array(
        ["" if category is None else str(category)[: LONGEST_PREFIX + 1] for category in categories], dtype=str
    )
    best = (0, NOTHING_DISCLOSED)
    for length in range(1, texts.dtype.itemsize // 4):
        codes = np.unique(texts.astype(f"<U{length}"), return_inverse=True)[1].reshape(-1)
        disclosed = rows_by_area.disclosed_by(codes[value])
        if disclosed.placed_share >= max(exposed, best[1].placed_share + exposed):
            best = length, disclosed
    return best


def refined_identifier(
    value: np.ndarray, quasi_identifiers: Mapping[str, RowsByArea], exposed: float
) -> tuple[str, np.ndarray]:
    """The quasi-identifier of which the values are finer ones, empty for none, and the rows that have such a value.

    quasi_identifiers : by name, their codes as the areas of one region; exposed : the share of rows that must have a
    finer value. A filler beside the finer values is none of them; a value that one row has may be one.
    """
    for name, rows in quasi_identifiers.items():
        if rows.disclosed_by(value).placed_share < exposed:
            continue
        shared = rows.places.agreement(value).shared
        several, finer = np.isfinite(shared), shared >= DETERMINED
        of_value, coarse, _ = rows.places.groups(value)
        n_finer, n_coarse = int(finer.sum()), len(np.unique(coarse[finer[of_value]]))
        if n_finer >= FINER * several.sum() and n_finer > n_coarse:
            return name, ~(several & ~finer)[value]
    return "", np.zeros(len(value), bool)


def regained_identifier(
    value: np.ndarray, coarsened: Mapping[str, RowsByArea], exposed: float
) -> tuple[str, Disclosed]:
    """The coarsened quasi-identifier of which the values give most rows back, empty for none, and what they tell.

    coarsened : by name, the codes of the original as the areas of what is shown; exposed : the share of rows from which
    something is said
    """
    best, most = "", NOTHING_DISCLOSED
    for name, rows_by_area in coarsened.items():
        disclosed = rows_by_area.disclosed_by(value)
        if disclosed.placed_share < exposed and disclosed.narrowing_share < WARNED_SHARE:
            continue
        if not best or (disclosed.placed_share, disclosed.narrowing_share) > (most.placed_share, most.narrowing_share):
            best, most = name, disclosed
    return best, most
