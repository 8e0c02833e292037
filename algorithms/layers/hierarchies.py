"""Tables of a hierarchy: which larger unit each area lies in."""

from __future__ import annotations

import numpy as np
from qgis.core import QgsProcessingFeedback

from ...core.areas import Areas, identifier_text
from ...core.errors import InputError, first_values
from .checked_source import CheckedSource
from .fields import field_index
from .records import read_columns


def read_units(
    source: CheckedSource, id_field: str, level: str, areas: Areas, feedback: QgsProcessingFeedback
) -> list[object]:
    """The unit of each area, in the order of the regions; None for areas the table does not name.

    Areas the table names beyond these do no harm: it may hold a whole country. Raises InputError for areas that stand
    in two units, and where the table names none of the areas.
    """
    field_index(source.fields(), id_field, "HIERARCHY_ID", "HIERARCHY_TABLE")
    field_index(source.fields(), level, "HIERARCHY_LEVEL", "HIERARCHY_TABLE")
    columns = read_columns(source, list(dict.fromkeys([id_field, level])), feedback)
    identifier, unit = columns[id_field], columns[level]
    texts = np.array([identifier_text(value) for value in identifier.categories.tolist()], dtype=object)
    units: list[object] = [None] * len(areas)
    known = areas.codes_of(texts)[identifier.codes] if len(texts) else np.empty(0, np.int64)
    # A row for each area and unit once: a table of postal codes names an area many times.
    once = np.unique(np.column_stack([known, unit.codes]), axis=0)
    once = once[once[:, 0] >= 0]
    if not len(once):
        raise InputError(
            f"HIERARCHY_TABLE names none of the areas in “{id_field}” (first: {first_values(texts)}; areas: "
            f"{first_values(areas.identifiers)}): choose the field that holds the areas' identifiers."
        )
    times = np.bincount(once[:, 0], minlength=len(areas))
    if (times > 1).any():
        raise InputError(
            f"HIERARCHY_TABLE puts {int((times > 1).sum())} areas into several units of “{level}” "
            f"({first_values(areas.identifiers[times > 1])}): choose a level in which each area has one unit."
        )
    for area, code in once.tolist():
        units[area] = unit.categories[code]
    return units
