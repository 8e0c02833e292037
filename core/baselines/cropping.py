"""Cropping: the identifier is shortened, so that areas with the same beginning become one region."""

from __future__ import annotations

import numpy as np

from .. import counted
from ..aggregation import Aggregation
from ..areas import Areas
from ..errors import InputError
from ..language import plural, tr
from ..profile import Profile
from ..progress import Progress, silent
from ..records.columns import codes_of_labels
from .options import DEFAULTS, BaselineOptions, aggregation_of_labels


def cropping(
    areas: Areas, profile: Profile | None, options: BaselineOptions = DEFAULTS, progress: Progress = silent
) -> Aggregation:
    """Areas whose identifiers begin with the same characters are one region (Croft 2015, section 2.2).

    areas : n areas; options : `characters`. The regions stand in the order of the cropped identifiers.
    Raises InputError for fewer than one character.
    """
    cropped = cropped_identifiers(areas, options.characters)
    shorter = sum(len(identifier) < options.characters for identifier in areas.identifiers.tolist())
    aggregation = aggregation_of_labels(areas, codes_of_labels(cropped.tolist()))
    notes = [
        plural(
            "The first character of the identifiers distinguishes {regions}.",
            "The first {n} characters of the identifiers distinguish {regions}.",
            options.characters,
            regions=counted.regions(aggregation.crosswalk.n_regions),
        )
    ]
    if shorter:
        notes.append(
            plural(
                "{n} identifier is shorter than that and was taken whole.",
                "{n} identifiers are shorter than that and were taken whole.",
                shorter,
            )
        )
    return Aggregation(aggregation.crosswalk, aggregation.sites, tuple(notes))


def cropped_identifiers(areas: Areas, characters: int) -> np.ndarray:
    """The first characters of each identifier, (n,) object array of str. Raises InputError below one character."""
    if characters < 1:
        raise InputError(
            tr(
                "CHARACTERS is {characters}: keep at least the first character of the identifiers.",
                characters=characters,
            )
        )
    return np.array([identifier[:characters] for identifier in areas.identifiers.tolist()], dtype=object)
