"""Hierarchy: areas go up to the larger unit they lie in, such as a census division or a province."""

from __future__ import annotations

from ..aggregation import Aggregation
from ..areas import Areas
from ..errors import InputError, first_values
from ..language import plural
from ..profile import Profile
from ..progress import Progress, silent
from ..records.columns import codes_of_labels
from .options import DEFAULTS, BaselineOptions, aggregation_of_labels


def hierarchy(
    areas: Areas, profile: Profile | None, options: BaselineOptions = DEFAULTS, progress: Progress = silent
) -> Aggregation:
    """Areas of the same larger unit are one region; areas of no known unit are left out (Croft 2015, section 2.2).

    areas : n areas; options : `hierarchy`, the unit of each area. The regions stand in the order of the units' names.
    Raises InputError where no units are given, or none is known.
    """
    if options.hierarchy is None:
        raise InputError.saying("HIERARCHY is not given: name the field that says which larger unit each area lies in.")
    labels = codes_of_labels(options.hierarchy)
    missing = labels < 0
    if missing.all():
        raise InputError.saying(
            "HIERARCHY is empty in every area: choose the field that says which unit an area lies in."
        )
    aggregation = aggregation_of_labels(areas, labels)
    notes = [
        plural(
            "The areas lie in {n} larger unit.",
            "The areas lie in {n} larger units.",
            aggregation.crosswalk.n_regions,
        )
    ]
    if missing.any():
        notes.append(
            plural(
                "{n} area lies in no larger unit (first: {first}) and is left out.",
                "{n} areas lie in no larger unit (first: {first}) and are left out.",
                int(missing.sum()),
                first=first_values(areas.identifiers[missing]),
            )
        )
    return Aggregation(aggregation.crosswalk, aggregation.sites, tuple(notes))
