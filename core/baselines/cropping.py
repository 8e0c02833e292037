"""Cropping: the identifier is shortened, so that areas with the same beginning become one region."""

from __future__ import annotations

import numpy as np

from .. import counted
from ..aggregation import Aggregation
from ..areas import Areas
from ..errors import InputError
from ..language import plural
from ..profile import Profile
from ..progress import Progress, silent
from ..records.columns import codes_of_labels
from .options import DEFAULTS, BaselineOptions, aggregation_of_labels


def cropping(
    areas: Areas, profile: Profile | None, options: BaselineOptions = DEFAULTS, progress: Progress = silent
) -> Aggregation:
    """Areas whose identifiers begin with the same characters are one region: the first ones are kept or, of codes of
    different lengths, the last ones left out (Croft 2015, section 2.2).

    areas : n areas; options : `characters`, or `leave_out` where it is not 0. The regions stand in the order of the
    cropped identifiers. Raises InputError for fewer than one character, and for fewer than none left out.
    """
    cropped = cropped_identifiers(areas, options)
    aggregation = aggregation_of_labels(areas, codes_of_labels(cropped.tolist()))
    notes = _of_last(areas, options, aggregation) if options.leave_out else _of_first(areas, options, aggregation)
    return Aggregation(aggregation.crosswalk, aggregation.sites, tuple(notes))


def cropped_identifiers(areas: Areas, options: BaselineOptions = DEFAULTS) -> np.ndarray:
    """What is kept of each identifier, (n,) object array of str, its first character at least.

    options : `characters`, or `leave_out` where it is not 0. Raises InputError for fewer than one character, and for
    fewer than none left out.
    """
    if options.leave_out < 0:
        raise InputError.saying(
            "LEAVE_OUT is {leave_out}: give how many of the last characters are left out, or nothing.",
            leave_out=options.leave_out,
        )
    if options.characters < 1 and not options.leave_out:
        raise InputError.saying(
            "CHARACTERS is {characters}: keep at least the first character of the identifiers.",
            characters=options.characters,
        )
    identifiers = areas.identifiers.tolist()
    if options.leave_out:
        kept = [identifier[: max(len(identifier) - options.leave_out, 1)] for identifier in identifiers]
    else:
        kept = [identifier[: options.characters] for identifier in identifiers]
    return np.array(kept, dtype=object)


def _of_first(areas: Areas, options: BaselineOptions, aggregation: Aggregation) -> list[str]:
    shorter = sum(len(identifier) < options.characters for identifier in areas.identifiers.tolist())
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
    return notes


def _of_last(areas: Areas, options: BaselineOptions, aggregation: Aggregation) -> list[str]:
    too_short = sum(len(identifier) <= options.leave_out for identifier in areas.identifiers.tolist())
    notes = [
        plural(
            "Without their last character the identifiers distinguish {regions}.",
            "Without their last {n} characters the identifiers distinguish {regions}.",
            options.leave_out,
            regions=counted.regions(aggregation.crosswalk.n_regions),
        )
    ]
    if too_short:
        notes.append(
            plural(
                "{n} identifier has no more characters than that and kept its first one.",
                "{n} identifiers have no more characters than that and kept their first one.",
                too_short,
            )
        )
    return notes
