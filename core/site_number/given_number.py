"""Given number: the user says how many sites."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from ..profile import Profile
from .cutoff import class_entropy, possible_classes
from .options import DEFAULTS, SiteNumber, SiteNumberOptions


def given_number(profile: Profile, identifiers: Sequence[object], options: SiteNumberOptions = DEFAULTS) -> SiteNumber:
    """The number that you give.

    Raises InputError unless 1 <= n_sites <= number of areas.
    """
    check_n_sites(options.n_sites, len(identifiers))
    return SiteNumber(
        options.n_sites,
        options.n_sites,
        profile.n_records / options.n_sites,
        class_entropy(profile, options.log_base),
        possible_classes(profile),
    )


def check_n_sites(n_sites: int, n_regions: int) -> None:
    """Raise InputError unless 1 <= n_sites <= n_regions."""
    if not 1 <= n_sites <= n_regions:
        raise InputError.saying(
            "N_SITES is {n_sites}, but must be between 1 and the number of areas, {n_regions}.",
            n_sites=n_sites,
            n_regions=n_regions,
        )
