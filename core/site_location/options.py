"""What every site location is called with, and what it gives back."""

from __future__ import annotations

import numpy as np

from ..convergence import Convergence
from ..dataclass import dataclass
from ..parameters import DEFAULT_K


@dataclass(frozen=True)
class LocationOptions:
    """Settings of the site locations; each approach reads those it needs.

    k : the level of anonymity wanted; seed : of every random draw; start : the approach whose sites a clustering moves;
    start_sites : (x, y) in the units of the points, the sites that it moves instead.
    """

    k: int = DEFAULT_K
    seed: int = 0
    start: str = "balanced density"
    start_sites: tuple[tuple[float, float], ...] = ()


DEFAULTS = LocationOptions()


@dataclass(frozen=True, eq=False)
class SiteLocation:
    """Sites, (S, 2) float array in the units of the points; sentences, and how the method came to rest."""

    sites: np.ndarray
    notes: tuple[str, ...] = ()
    convergence: tuple[Convergence, ...] = ()
