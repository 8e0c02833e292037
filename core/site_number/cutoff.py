"""The population cut-off: the models it comes from, what they are applied to, and the sites that follow from it."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from .. import counted
from ..arrays import round_half_up
from ..dataclass import dataclass
from ..elementary import log, power
from ..errors import InputError, first_values
from ..language import plural, tr
from ..profile import Profile
from .options import LARGEST_CUTOFF, SiteNumber, SiteNumberOptions

FROM_IDENTIFIERS = "from the identifiers"
CUSTOM = "custom"
MIDDLE = tr("the middle one of the three published models")


class CutoffModel(Protocol):
    """What says how many people a region needs."""

    def cutoff(self, x: float) -> float:
        """The population a region needs, for X the entropy or the number of combinations. Raises InputError."""
        ...


@dataclass(frozen=True)
class GapsModel:
    """Cutoff = coefficient · X^exponent; the coefficient is e^B0 (Croft 2018, Eq. 2). own : the user's numbers."""

    coefficient: float
    exponent: float
    own: bool = False

    def cutoff(self, x: float) -> float:
        """The population a region needs, for X the entropy or the number of combinations.

        Raises InputError where the numbers of a custom model lead nowhere.
        """
        people = self.coefficient * float(power(x, self.exponent)) if x > 0 else 0.0
        if people > LARGEST_CUTOFF and not self.own:
            raise InputError.saying(
                "QUASI_IDENTIFIERS have too many combinations of values for any region: choose fewer of them, or "
                "coarser ones."
            )
        if not 1 <= people <= LARGEST_CUTOFF:
            raise InputError(
                tr(
                    "GAPS_COEFFICIENT {coefficient:g} and GAPS_EXPONENT {exponent:g} give a cut-off of "
                    "{found:g} people per region: choose numbers that give between 1 and {largest_cutoff:g}.",
                    coefficient=self.coefficient,
                    exponent=self.exponent,
                    found=min(people, sys.float_info.max),  # beyond all numbers, as large a one as there is
                    largest_cutoff=LARGEST_CUTOFF,
                )
            )
        return people


@dataclass(frozen=True)
class MiddleModel:
    """The middle of what several models say: for places that none of them was estimated for."""

    models: tuple[GapsModel, ...]

    def cutoff(self, x: float) -> float:
        """The middle one of the models' cut-offs, the lower of the two middle ones of an even number."""
        cutoffs = sorted(model.cutoff(x) for model in self.models)
        return cutoffs[(len(cutoffs) - 1) // 2]


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

# A dissemination area: province, census division (01 to 99), and four digits; three more number a block in it. The
# geographic identifiers that are unique over all censuses (DGUID) have the year and the kind of area in front.
_DISSEMINATION = re.compile(r"(?:\d{4}S0512)?(\d{2})(?!00)\d{6}|(?:\d{4}S0513)?(\d{2})(?!00)\d{9}")


def gaps_model(identifiers: Sequence[object], options: SiteNumberOptions) -> tuple[str, CutoffModel]:
    """The name of the model and the model that the options ask for.

    identifiers : of the areas, read for `from the identifiers` only. Those of Canadian dissemination areas or blocks
    must all lie in one part of Canada; of any others nothing is guessed, and the middle one of the published models is
    taken.
    Raises InputError for areas in several parts of Canada and for a custom model that is not positive.
    """
    if options.gaps_region == CUSTOM:
        if not (options.gaps_coefficient > 0 and np.isfinite(options.gaps_exponent)):
            raise InputError.saying(
                "GAPS_COEFFICIENT is {gaps_coefficient:g}: a custom cut-off model needs a coefficient above 0.",
                gaps_coefficient=options.gaps_coefficient,
            )
        return CUSTOM, GapsModel(options.gaps_coefficient, options.gaps_exponent, own=True)
    if options.gaps_region in GAPS_MODELS:
        return options.gaps_region, GAPS_MODELS[options.gaps_region]
    codes = provinces_of(identifiers)
    if codes is None:
        return MIDDLE, MiddleModel(tuple(GAPS_MODELS.values()))
    names = {PROVINCES[code] for code in codes}
    if len(names) == 1:
        (name,) = names
        return name, GAPS_MODELS[name]
    choices = ", ".join(tr("“{name}”", name=name) for name in (*GAPS_MODELS, CUSTOM))
    raise InputError.saying(
        "GAPS_REGION cannot be read from the identifiers: the areas lie in several parts of Canada (province codes "
        "{first}). Choose {choices}, or give a number of your own.",
        first=first_values(codes),
        choices=choices,
    )


def provinces_of(identifiers: Sequence[object]) -> list[str] | None:
    """The codes of the provinces in which Canadian dissemination areas or blocks lie, ascending; None where any
    identifier is of another kind: two leading digits alone say nothing, 24 and 35 are departments of France too.

    Statistics Canada, Dissemination area (DA) and Dissemination Geography Unique Identifier, 2021.
    """
    codes = set()
    for identifier in {str(label).strip() for label in identifiers if label is not None}:
        match = _DISSEMINATION.fullmatch(identifier)
        code = "" if match is None else match[1] or match[2]
        if code not in PROVINCES:
            return None
        codes.add(code)
    return sorted(codes) or None


def model_note(name: str, approach: str) -> str:
    """The sentence for log and report on which model the cut-off is from; approach : what the model was applied by."""
    if name != MIDDLE:
        return tr("Cut-off of “{approach}”: the published model of {name}.", approach=approach, name=name)
    return tr(
        "Cut-off of “{approach}”: the published models behind it were estimated in Canada; the identifiers of your "
        "areas are not Canadian, so the middle one of the three is used. You can give a number of your own, or "
        "choose another model by GAPS_REGION.",
        approach=approach,
    )


def class_entropy(profile: Profile, log_base: float = 0.0) -> float:
    """- Σ_k t_k (k/N) log(k/N) over the sizes k of the classes (Croft 2018, Eq. 1); log_base 0 is natural."""
    if log_base != 0 and not log_base > 1:  # below 1 logarithms fall, and the entropy would be negative
        raise InputError.saying(
            "LOG_BASE is {log_base:g}: give a base above 1, or 0 for the natural logarithm.", log_base=log_base
        )
    sizes = profile.class_sizes
    share = sizes[sizes > 0] / profile.n_records
    return float(max(0.0, -(share * log(share)).sum() / (float(log(log_base)) if log_base else 1.0)))


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
        raise InputError.saying(
            "The cut-off is {cutoff:g} people per region: choose settings that give from 1 to {largest_cutoff:g}.",
            cutoff=cutoff,
            largest_cutoff=LARGEST_CUTOFF,
        )
    asked = max(round_half_up(profile.n_records / cutoff), 1)
    n_sites = min(asked, n_regions)
    per_region = plural("{n:,.0f} person per region", "{n:,.0f} people per region", round(cutoff))
    if asked > n_regions:
        outcome = plural(
            "At {per_region} {records} would make {asked} regions, but there is only {n} area: one region is aimed "
            "for.",
            "At {per_region} {records} would make {asked} regions, but there are only {n} areas: so many regions are "
            "aimed for.",
            n_regions,
            per_region=per_region,
            records=counted.records(profile.n_records),
            asked=asked,
        )
    else:
        outcome = plural(
            "At {per_region} {records} make {n} region.",
            "At {per_region} {records} make {n} regions.",
            asked,
            per_region=per_region,
            records=counted.records(profile.n_records),
        )
    return SiteNumber(
        n_sites,
        asked,
        cutoff,
        class_entropy(profile, options.log_base),
        releasable_combinations(profile, options.k) if combinations is None else combinations,
        (*notes, outcome),
    )
