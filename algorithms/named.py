"""The names in the toolbox, which are there even where a package is missing: nothing of core is loaded here."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from qgis.core import QgsProcessingAlgorithm
from qgis.PyQt.QtGui import QIcon

ICONS = Path(__file__).resolve().parent.parent / "icons"
GROUPS = {
    "anonymise": "Anonymise",
    "steps": "Steps",
    "databases": "In a database",
    "compare": "Compare",
    "points": "Points",
    "cells": "Cells over time",
    "baselines": "Baselines",
    "testdata": "Test data",
}
# By id: title and group.
TOOLBOX = {
    "anonymize": ("Anonymise records", "anonymise"),
    "profilerecords": ("Profile records", "steps"),
    "sitenumber": ("Number of sites", "steps"),
    "sitelocation": ("Locate sites", "steps"),
    "aggregate": ("Aggregate areas", "steps"),
    "locateallocate": ("Locate and allocate by transport", "steps"),
    "nestlevels": ("Nest levels", "steps"),
    "releaserecords": ("Release records", "steps"),
    "evaluate": ("Evaluate regions", "steps"),
    "flattenrelease": ("Flatten a nested release", "steps"),
    "profiledatabase": ("Profile records in a database", "databases"),
    "releasedatabase": ("Release records in a database", "databases"),
    "compare": ("Compare configurations", "compare"),
    "checkrelease": ("Check a release", "compare"),
    "checkreleases": ("Check several releases", "compare"),
    "staticcutoff": ("Static cut-off", "baselines"),
    "cropidentifiers": ("Crop identifiers", "baselines"),
    "mergeadjacent": ("Merge adjacent areas", "baselines"),
    "estimatedistributions": ("Estimate distributions", "testdata"),
    "generaterecords": ("Generate records", "testdata"),
    "demonstrationcity": ("Make the demonstration city", "testdata"),
    "donutmask": ("Donut masking", "points"),
    "donutaudit": ("Donut audit", "points"),
    "partitioncells": ("Partition cells over time", "cells"),
}


class NamedAlgorithm(QgsProcessingAlgorithm):
    """An algorithm of the toolbox by its id."""

    ID: ClassVar[str]

    def name(self) -> str:
        return self.ID

    def displayName(self) -> str:
        return TOOLBOX[self.ID][0]

    def groupId(self) -> str:
        return TOOLBOX[self.ID][1]

    def group(self) -> str:
        return GROUPS[self.groupId()]

    def icon(self) -> QIcon:
        return QIcon(str(ICONS / f"{self.ID}.svg"))
