"""What the site numbers share: the two properties of the records, and sites from a population cut-off."""

from __future__ import annotations

import math

import numpy as np

from ..errors import InputError
from ..profile import Profile
from ..rounding import round_half_up
from .options import LARGEST_CUTOFF, SiteNumber, SiteNumberOptions


def class_entropy(profile: Profile, log_base: float = 0.0) -> float:
    """- Σ_k t_k (k/N) log(k/N) over the sizes k of the classes (Croft 2018, Eq. 1); log_base 0 is natural."""
    if log_base != 0 and (log_base < 0 or log_base == 1):
        raise InputError(f"LOG_BASE is {log_base:g}: give a base above 0 other than 1, or 0 for the natural logarithm.")
    sizes = profile.class_sizes
    share = sizes[sizes > 0] / profile.n_records
    return float(max(-(share * np.log(share)).sum() / (np.log(log_base) if log_base else 1.0), 0.0))


def possible_classes(profile: Profile) -> float:
    """MaxCombs = Π |q|, the product of the numbers of response categories (Croft 2018, Eq. 4).

    A missing value is a category of its own; categories that occur in no known region count too.
    """
    return math.prod(float(len(categories)) for categories in profile.categories)


def releasable_combinations(profile: Profile, k: int) -> float:
    """Π |q| over the categories that at least k records of the known regions have, at least one of each q.

    Departs from Croft 2018, Eq. 4, which counts every category. A record with a category that fewer than k records have
    is suppressed whatever the regions are: were its category counted, the number of regions would tell that it exists.
    """
    sizes = profile.class_sizes
    combinations = 1.0
    for codes, categories in zip(profile.classes.T, profile.categories):
        records = np.bincount(codes, sizes, len(categories))
        combinations *= max(int((records >= k).sum()), 1)
    return combinations


def sites_for_cutoff(
    profile: Profile,
    n_regions: int,
    cutoff: float,
    options: SiteNumberOptions,
    notes: tuple[str, ...],
    combinations: float | None = None,
) -> SiteNumber:
    """Sites = R(N / Cutoff), at least 1, at most n (Croft 2018, Eq. 3).

    combinations : those the cut-off was computed from, to be told; of categories that k records have where None.
    Raises InputError unless the cut-off is at least 1 person.
    """
    if not 1 <= cutoff <= LARGEST_CUTOFF:
        raise InputError(
            f"The cut-off is {cutoff:g} people per region: choose settings that give at least 1 and at most "
            f"{LARGEST_CUTOFF:g}."
        )
    asked = max(round_half_up(profile.n_records / cutoff), 1)
    n_sites = min(asked, n_regions)
    told = f"At {cutoff:,.0f} people per region {profile.n_records} records make {asked} regions"
    limit = f", but there are only {n_regions} areas: the number of regions is capped at {n_regions}."
    return SiteNumber(
        n_sites,
        asked,
        cutoff,
        class_entropy(profile, options.log_base),
        releasable_combinations(profile, options.k) if combinations is None else combinations,
        (*notes, told + (limit if asked > n_regions else ".")),
    )
