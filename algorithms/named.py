"""The names in the toolbox, which are there even where a package is missing: nothing of core is loaded here."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from qgis.core import QgsProcessingAlgorithm
from qgis.PyQt.QtCore import QUrl
from qgis.PyQt.QtGui import QIcon

from ..core.language import language, tr
from ..core.version import version

ICONS = Path(__file__).resolve().parent.parent / "icons"
DOCS = ICONS.parent / "docs"
SITE = ICONS.parent / "build" / "site"
# In the order of the work. QGIS sorts groups by their names, in every version: so the order is in the names.
GROUPS = {
    "prepare": tr("1. Prepare"),
    "anonymise": tr("2. Anonymise"),
    "steps": tr("3. Steps"),
    "databases": tr("4. In a database"),
    "compare": tr("5. Compare and check"),
    "points": tr("6. Points"),
    "cells": tr("7. Cells over time"),
    "baselines": tr("8. Baselines"),
    "testdata": tr("9. Test data"),
    "analysis": tr("A. Analyse a release"),
}
# The page of the guide (docs/) that tells more, by group; and of algorithms that have a page of their own. Each
# algorithm has its page in docs/reference too, which leads there.
PAGES = {
    "prepare": "methods",
    "anonymise": "tutorial",
    "steps": "methods",
    "databases": "large-tables",
    "compare": "choosing",
    "points": "donut",
    "cells": "cells",
    "baselines": "baselines",
    "testdata": "tutorial",
    "analysis": "analysing",
    "anonymizestepbystep": "model-designer",
    "nestlevels": "nested",
    "flattenrelease": "analysing",
    "nestedstepbystep": "nested",
    "inplacestepbystep": "large-tables",
    "checkrelease": "privacy",
    "checkreleases": "privacy",
    "updaterelease": "over-time",
    "monthlyupdate": "over-time",
}
# By id: title and group.
TOOLBOX = {
    "anonymize": (tr("Anonymise records"), "anonymise"),
    "anonymizelinked": (tr("Anonymise linked tables"), "anonymise"),
    "profilerecords": (tr("Profile records"), "prepare"),
    "sitenumber": (tr("Number of sites"), "steps"),
    "sitelocation": (tr("Locate sites"), "steps"),
    "aggregate": (tr("Aggregate areas"), "steps"),
    "locateallocate": (tr("Locate and allocate by transport"), "steps"),
    "nestlevels": (tr("Nest levels"), "steps"),
    "releaserecords": (tr("Release records"), "steps"),
    "updaterelease": (tr("Update a release"), "anonymise"),
    "evaluate": (tr("Evaluate regions"), "steps"),
    "flattenrelease": (tr("Flatten a nested release"), "steps"),
    "anonymizedatabase": (tr("Anonymise records in a database"), "databases"),
    "profiledatabase": (tr("Profile records in a database"), "databases"),
    "releasedatabase": (tr("Release records in a database"), "databases"),
    "compare": (tr("Compare configurations"), "compare"),
    "checkrelease": (tr("Check a release"), "compare"),
    "checkreleases": (tr("Check several releases"), "compare"),
    "editregister": (tr("Manage the release register"), "compare"),
    "staticcutoff": (tr("Static cut-off"), "baselines"),
    "cropidentifiers": (tr("Crop identifiers"), "baselines"),
    "mergeadjacent": (tr("Merge adjacent areas"), "baselines"),
    "estimatedistributions": (tr("Estimate distributions"), "testdata"),
    "generaterecords": (tr("Generate records"), "testdata"),
    "demonstrationcity": (tr("Make the demonstration city"), "testdata"),
    "donutmask": (tr("Donut masking"), "points"),
    "donutaudit": (tr("Donut audit"), "points"),
    "partitioncells": (tr("Partition cells over time"), "cells"),
    "mendpartition": (tr("Mend a partition of cells"), "cells"),
    "dotmap": (tr("Dot map"), "cells"),
    "spreadrelease": (tr("Spread a release over the areas"), "analysis"),
    "ratemap": (tr("Map of rates"), "analysis"),
    "clusterscan": (tr("Scan for clusters"), "analysis"),
    "moran": (tr("Moran's I"), "analysis"),
}


def guide_page(name: str, group: str) -> str:
    """The page of the guide that tells more of an algorithm, without its ending."""
    return PAGES.get(name, PAGES[group])


def help_page(name: str) -> str:
    """The address of an algorithm's page of the reference; empty where the plugin came without its docs.

    On the site where it was built, else as the plugin's zip has it, else as it lies in docs/; in the language of the
    user where it is there.
    """
    places = [(SITE, ".html"), (DOCS, ".html"), (DOCS, ".md")]
    for folder, ending in [(folder / language(), ending) for folder, ending in places[:2]] + places:
        page = folder / "reference" / f"{name}{ending}"
        if page.is_file():
            return QUrl.fromLocalFile(str(page)).toString()
    return ""


def name_pages(algorithm: QgsProcessingAlgorithm) -> None:
    """Put the algorithm's name before its pages' titles: QGIS lists those of all algorithms in its results viewer."""
    for output in algorithm.outputDefinitions():
        if output.type() == "outputHtml" and not output.description().startswith(algorithm.displayName()):
            output.setDescription(tr("{name}: {value}", name=algorithm.displayName(), value=output.description()))


def history(title: str) -> str:
    """What made a layer, and when, for its metadata: nothing that the records say."""
    return tr(
        "{time}: made by “{title}” of VBAS {version}.",
        time=f"{datetime.now().astimezone():%Y-%m-%d %H:%M %z}",
        title=title,
        version=version(),
    )


class NamedAlgorithm(QgsProcessingAlgorithm):
    """An algorithm of the toolbox by its id."""

    ID: str

    def name(self) -> str:
        return self.ID

    def displayName(self) -> str:
        return TOOLBOX[self.ID][0]

    def groupId(self) -> str:
        return TOOLBOX[self.ID][1]

    def group(self) -> str:
        return GROUPS[self.groupId()]

    def helpUrl(self) -> str:
        return help_page(self.ID)

    def icon(self) -> QIcon:
        return QIcon(str(ICONS / f"{self.ID}.svg"))
