"""Random sites: distinct areas drawn at random, to compare other site locations with."""

from __future__ import annotations

import numpy as np

from ..areas import Areas
from ..profile import Profile
from ..progress import Progress, silent
from .options import DEFAULTS, LocationOptions, SiteLocation


def random_sites(
    areas: Areas,
    profile: Profile | None,
    n_sites: int,
    options: LocationOptions = DEFAULTS,
    progress: Progress = silent,
) -> SiteLocation:
    """The sites are on different areas drawn by the seed, for comparison.

    Each area is as likely as any other; `options.seed` decides.
    """
    drawn = np.random.default_rng(options.seed).choice(len(areas), size=n_sites, replace=False)
    return SiteLocation(areas.points[np.sort(drawn)])
