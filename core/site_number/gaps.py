"""The cut-off models of El Emam et al. 2009 (geographic area population size), as described by Croft 2018, 2.1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, first_values
from .options import LARGEST_CUTOFF, SiteNumberOptions

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
        else f"“{next(code for code in codes if code not in PROVINCES)}” is no province code of Statistics Canada"
    )
    raise InputError(
        f"GAPS_REGION cannot be read from the identifiers: {reason}. Choose {choices}, or another SITE_NUMBER."
    )
