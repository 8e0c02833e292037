"""How many destinations a facility may serve."""

from __future__ import annotations

import math

from ..errors import InputError

UNLIMITED = 0.0


def facility_capacity(n_destinations: int, n_facilities: int, factor: float) -> int:
    """U = ceil(ceil(n/S) f), at most n; n where the factor is 0, unlimited (Croft 2018, section 2.4).

    A product that is whole but for rounding counts as whole: 1.2 x 5 is 6. Raises InputError for a factor that is
    neither 0 nor at least 1: below 1 there is not room for all.
    """
    if factor == UNLIMITED:
        return n_destinations
    if not (math.isfinite(factor) and factor >= 1):
        raise InputError(
            f"CAPACITY_FACTOR is {factor:g}, but must be at least 1, the even share of the areas, or 0 for no limit."
        )
    product = math.ceil(n_destinations / n_facilities) * factor
    nearest = round(product)
    whole = abs(product - nearest) <= 1e-9 * nearest
    return min(nearest if whole else math.ceil(product), n_destinations)
