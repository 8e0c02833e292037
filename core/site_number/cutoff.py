"""The population cut-off: the models it comes from, what they are applied to, and the sites that follow from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import round_half_up
from ..errors import InputError, first_values
from ..profile import Profile
from .options import LARGEST_CUTOFF, SiteNumber, SiteNumberOptions

FROM_IDENTIFIERS = "from the identifiers"
CUSTOM = "custom"


@dataclass(frozen=True)
class GapsModel:
    """Cutoff = coefficient · X^exponent; the coefficient is e^B0 (Croft 2018, Eq. 2)."""

    coefficient: float
    exponent: float

    def cutoff(self, x: float) -> float:
        """The population a region needs, for X the entropy or the number of combinations.

        Raises InputError where the numbers of a custom model lead nowhere.
        """
        try:
            found = self.coefficient * x**self.exponent
        except OverflowError:
            found = np.inf
        if not 1 <= found <= LARGEST_CUTOFF:
            raise InputError(
                f"GAPS_COEFFICIENT {self.coefficient:g} and GAPS_EXPONENT {self.exponent:g} give a cut-off of "
                f"{found:g} people per region: choose numbers that give between 1 and {LARGEST_CUTOFF:g}."
            )
        return found


GAPS_MODELS = {
    "Western Canada": GapsModel(1588.0, 0.42),
    "Central Canada": GapsModel(1436.0, 0.43),
    "Eastern Canada": GapsModel(1978.0, 0.304),
}
GAPS_REGIONS = (FROM_IDENTIFIERS, *GAPS_MODELS, CUSTOM)

# Statistics Canada's province and territory codes lead its geographic identifiers.
PROVINCES = {
    **dict.fromkeys(("10", "11", "12", "13"), "Eastern Canada"),
    **dict.fromkeys(("24", "35"), "Central Canada"),
    **dict.fromkeys(("46", "47", "48", "59", "60", "61", "62"), "Western Canada"),
}


def gaps_model(identifiers: Sequence[object], options: SiteNumberOptions) -> tuple[str, GapsModel]:
    """The name of the model and the model that the options ask for.

    identifiers : of the areas, read for `from the identifiers` only: all must lead with province codes of one region.
    Raises InputError for unknown or mixed codes and for a custom model that is not positive.
    """
    if options.gaps_region == CUSTOM:
        if not (options.gaps_coefficient > 0 and np.isfinite(options.gaps_exponent)):
            raise InputError(
                f"GAPS_COEFFICIENT is {options.gaps_coefficient:g}: a custom cut-off model needs a coefficient above 0."
            )
        return CUSTOM, GapsModel(options.gaps_coefficient, options.gaps_exponent)
    if options.gaps_region in GAPS_MODELS:
        return options.gaps_region, GAPS_MODELS[options.gaps_region]
    codes = sorted({str(identifier)[:2] for identifier in identifiers})
    found = {PROVINCES.get(code) for code in codes}
    if len(found) == 1 and None not in found:
        (name,) = found
        return str(name), GAPS_MODELS[str(name)]
    choices = ", ".join(f"“{name}”" for name in (*GAPS_MODELS, CUSTOM))
    reason = (
        f"the areas lie in several parts of Canada (province codes {first_values(codes)})"
        if None not in found
        else f"“{next(code for code in codes if code not in PROVINCES)}” is not a province code of Statistics Canada"
    )
    raise InputError(
        f"GAPS_REGION cannot be read from the identifiers: {reason}. Choose {choices}, or another SITE_NUMBER."
    )


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
    is suppressed whatever the regions are: if its category counted, the number of regions would give it away.
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

    combinations : those the cut-off was computed from, for the report; of categories that k records have where None.
    Raises InputError unless the cut-off is at least 1 person.
    """
    if not 1 <= cutoff <= LARGEST_CUTOFF:
        raise InputError(
            f"The cut-off is {cutoff:g} people per region: choose settings that give at least 1 and at most "
            f"{LARGEST_CUTOFF:g}."
        )
    asked = max(round_half_up(profile.n_records / cutoff), 1)
    n_sites = min(asked, n_regions)
    outcome = f"At {cutoff:,.0f} people per region {profile.n_records} records make {asked} regions"
    limit = f", but there are only {n_regions} areas: the number of regions is capped at {n_regions}."
    return SiteNumber(
        n_sites,
        asked,
        cutoff,
        class_entropy(profile, options.log_base),
        releasable_combinations(profile, options.k) if combinations is None else combinations,
        (*notes, outcome + (limit if asked > n_regions else ".")),
    )
