"""Crosswalk tables."""

from __future__ import annotations

import numpy as np
from qgis.core import QgsFeatureRequest, QgsProcessingFeatureSource, QgsProcessingFeedback

from ...core.areas import Areas, make_areas
from ...core.crosswalk import Crosswalk, crosswalk_from_table
from ...core.errors import InputError
from ..compat import python_value
from .feedback import check_cancelled
from .fields import field_index

NUMBER = "vbas_region"


def read_crosswalk(
    source: QgsProcessingFeatureSource,
    id_field: str,
    areas: Areas | None,
    feedback: QgsProcessingFeedback,
) -> tuple[Areas, Crosswalk]:
    """CROSSWALK for the given regions, or for those it names itself (which have no points then).

    id_field : the areas' identifier; where it is empty, the only field beside vbas_region. Raises InputError.
    """
    fields = source.fields()
    number_index = field_index(fields, NUMBER, "CROSSWALK", "CROSSWALK")
    if not id_field:
        others = [name for name in fields.names() if name.lower() not in (NUMBER, "fid", "ogc_fid")]
        if len(others) != 1:
            raise InputError(
                f"CROSSWALK has the fields {', '.join(fields.names())}: say in CROSSWALK_ID which holds the areas."
            )
        id_field = others[0]
    id_index = field_index(fields, id_field, "CROSSWALK_ID", "CROSSWALK")
    request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry)
    identifiers, numbers = [], []
    for feature in source.getFeatures(request):
        check_cancelled(feedback)
        identifiers.append(python_value(feature[id_index]))
        number = python_value(feature[number_index])
        numbers.append(None if number == "" else number)
    if not identifiers:
        raise InputError("CROSSWALK is empty: it needs a row per area.")
    if areas is None:
        areas = _named_regions(identifiers)
    return areas, crosswalk_from_table(areas, identifiers, numbers)


def _named_regions(identifiers: list[object]) -> Areas:
    """Regions of which only the identifiers are known; an identifier that stands twice is told by the crosswalk."""
    once = list(dict.fromkeys(identifiers))
    return make_areas(once, np.zeros((len(once), 2)), None, "CROSSWALK_ID")
