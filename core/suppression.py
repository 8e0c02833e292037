"""What a crosswalk suppresses, counted without making a plan: for searches that try many, and for who is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .crosswalk import Crosswalk
from .dataclass import dataclass
from .errors import InputError
from .parameters import DEFAULT_K
from .plan import area_of_cells
from .privacy.in_each_period import with_series
from .privacy.requirement import Requirement
from .privacy.series import whole_coarser_series, whole_series
from .profile import Profile
from .records.columns import number_keys

# With FAIR no group may lose more than so many times what may be suppressed of all records.
FAIR_FACTOR = 3.0


@dataclass(frozen=True, eq=False)
class Terms:
    """What is asked of a release, for whoever counts what it suppresses.

    k : the smallest class; requirement : what more is asked of a class, for the cells of the profile at hand;
    n_unmatched : records of no known area, suppressed whatever the regions
    """

    k: int = DEFAULT_K
    requirement: Requirement | None = None
    n_unmatched: int = 0


def in_all_periods(terms: Terms, profile: Profile, period: str) -> Terms:
    """The terms, by which classes are the same in all periods.

    profile : of the records; period : the quasi-identifier that says the period, empty where nothing more is asked
    """
    if not period:
        return terms
    return replace(terms, requirement=with_series(terms.requirement or Requirement(terms.k), profile, period))


def suppressed_by_class(
    profile: Profile, crosswalk: Crosswalk, terms: Terms, coarser: np.ndarray | None = None
) -> np.ndarray:
    """Records of each class that are suppressed, (C,) int64.

    profile, crosswalk : of the same areas; coarser : (C,) the coarser class that each class is counted in, such as that
    without one of the quasi-identifiers; each class is counted by itself where None
    """
    _, class_of, records, is_released = _released_cells(profile, crosswalk, terms, coarser)
    released = np.bincount(class_of[is_released], records[is_released], len(profile.classes)).astype(np.int64)
    return profile.class_sizes - released


def released_by_region(profile: Profile, crosswalk: Crosswalk, terms: Terms) -> np.ndarray:
    """Records that are released with each region, (n_regions,) int64; profile, crosswalk : of the same areas"""
    region, _, records, is_released = _released_cells(profile, crosswalk, terms, None)
    return np.bincount(region[is_released], records[is_released], crosswalk.n_regions).astype(np.int64)


def _released_cells(
    profile: Profile, crosswalk: Crosswalk, terms: Terms, coarser: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Region, class and records of each cell that is counted, and whether it is released."""
    series = None if terms.requirement is None else terms.requirement.series
    if terms.requirement is None or not terms.requirement.asks_for_more:
        grouped = (crosswalk.membership() @ profile.counts).tocsr()
        class_of, records = grouped.indices, grouped.data
        region = np.repeat(np.arange(crosswalk.n_regions, dtype=np.int64), np.diff(grouped.indptr))
        if coarser is None:
            is_released = records >= terms.k
        else:
            equivalence_class, sizes = _equivalence_classes(region, coarser[class_of], records)
            is_released = sizes[equivalence_class] >= terms.k
    else:
        region = crosswalk.region_of[area_of_cells(profile)]
        cells = np.flatnonzero(region >= 0)
        class_of, records = profile.counts.indices[cells], profile.counts.data[cells]
        counted = class_of if coarser is None else coarser[class_of]
        equivalence_class, sizes = _equivalence_classes(region[cells], counted, records)
        holds = terms.requirement.holds(cells, equivalence_class, len(sizes))
        is_released = ((sizes >= terms.k) & holds)[equivalence_class]
        region = region[cells]
    if series is not None:
        if coarser is None:
            is_released = whole_series(series, region, class_of, is_released)
        else:
            is_released = whole_coarser_series(series, coarser, region, class_of, is_released)
    return region, class_of, records, is_released


def _equivalence_classes(
    region: np.ndarray, class_of: np.ndarray, records: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The equivalence class of each entry, and the records of each equivalence class."""
    n_classes = int(class_of.max(initial=0)) + 1
    n_regions = int(region.max(initial=0)) + 1
    keys, equivalence_class = number_keys(region * n_classes + class_of, n_regions * n_classes)
    return equivalence_class, np.bincount(equivalence_class, records, len(keys)).astype(np.int64)


def suppression_percent(profile: Profile, suppressed: np.ndarray, terms: Terms) -> float:
    """Per cent of all records, those of no known area included, that are suppressed; suppressed : (C,) by class."""
    n_records = profile.n_records + terms.n_unmatched
    return 100.0 * float(suppressed.sum() + terms.n_unmatched) / n_records if n_records else 0.0


def held_against_budget(profile: Profile, suppressed: np.ndarray, terms: Terms, fair: Sequence[str]) -> float:
    """The per cent that a budget is compared with: of all records or, where that is more, of the group that loses most,
    divided by FAIR_FACTOR.

    suppressed : (C,) by class; fair : the quasi-identifiers whose groups are looked at.
    """
    share = suppression_percent(profile, suppressed, terms)
    groups = [group_shares(profile, suppressed, name, terms.k)[1] / FAIR_FACTOR for name in fair]
    return max([share, *(float(shares.max(initial=0.0)) for shares in groups)])


def group_shares(profile: Profile, suppressed: np.ndarray, name: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The groups of a quasi-identifier that at least k records have, as codes, and the per cent of each that are
    suppressed, two arrays (g,).

    A group of fewer records is suppressed whatever the regions are, and can be released by no choice of them.
    Raises InputError for a field that is no quasi-identifier.
    """
    codes, n_groups = _groups(profile, name)
    sizes = np.bincount(codes, profile.class_sizes, n_groups)
    lost = np.bincount(codes, suppressed, n_groups)
    counted = np.flatnonzero(sizes >= k)
    return counted, 100.0 * lost[counted] / sizes[counted]


def class_weights(profile: Profile, fields: Sequence[str], k: int) -> np.ndarray:
    """What a suppressed record of each class weighs, (C,) floats with mean 1 over the records.

    The weight is the inverse of the size of the record's group, so that all groups of a field weigh the same; of
    several fields the mean. Records of groups below k, which are suppressed whatever the regions are, weigh 1.
    Raises InputError for a field that is no quasi-identifier.
    """
    weights = np.zeros(len(profile.classes))
    for name in fields:
        codes, n_groups = _groups(profile, name)
        sizes = np.bincount(codes, profile.class_sizes, n_groups)
        counted = sizes >= k
        even = sizes[counted].sum() / max(int(counted.sum()), 1)
        weights += np.where(counted, even / np.maximum(sizes, 1.0), 1.0)[codes] / len(fields)
    return weights if fields else np.ones(len(profile.classes))


def _groups(profile: Profile, name: str) -> tuple[np.ndarray, int]:
    """The group of each class, (C,), and how many groups there are."""
    if name not in profile.quasi_identifiers:
        raise InputError.saying(
            "FAIR names “{name}”, which is not among the quasi-identifiers ({quasi_identifiers}): choose among these.",
            name=name,
            quasi_identifiers=", ".join(profile.quasi_identifiers),
        )
    position = profile.quasi_identifiers.index(name)
    return profile.classes[:, position], len(profile.categories[position])
