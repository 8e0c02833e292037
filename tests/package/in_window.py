"""Runs inside a QGIS with a window, in which the plugin was installed from its zip: opens the form and fills it.

Environment: VBAS_TEST_CITY, a folder with areas.gpkg and records.gpkg; VBAS_TEST_SAID, the file that is told what came
of it, as JSON.
"""

import json
import os
import traceback
from pathlib import Path

from qgis.core import QgsApplication, QgsProject, QgsVectorLayer
from qgis.PyQt.QtCore import QTimer


def look() -> dict:
    """Open “Anonymise records” as the toolbox does, and fill its first widgets."""
    import processing

    import vbas

    city = Path(os.environ["VBAS_TEST_CITY"])
    for name in ("areas", "records"):
        QgsProject.instance().addMapLayer(QgsVectorLayer(str(city / f"{name}.gpkg"), name))
    dialog = processing.createAlgorithmDialog("vbas:anonymize")
    dialog.show()
    QgsApplication.processEvents()
    wrappers = dialog.mainWidget().wrappers
    given = {name: wrapper.parameterValue() for name, wrapper in wrappers.items() if hasattr(wrapper, "parameterValue")}
    said = {
        "package": str(Path(vbas.__file__).parent),
        "title": dialog.windowTitle(),
        "visible": dialog.isVisible(),
        "region_id": given.get("REGION_ID"),
        "k": given.get("K"),
        "icon": not QgsApplication.processingRegistry().providerById("vbas").icon().isNull(),
        "n_algorithms": len(QgsApplication.processingRegistry().providerById("vbas").algorithms()),
    }
    dialog.close()
    return said


def main() -> None:
    """Tell what was seen, and end QGIS."""
    try:
        said = look()
    except Exception:
        said = {"error": traceback.format_exc()}
    Path(os.environ["VBAS_TEST_SAID"]).write_text(json.dumps(said, default=str), encoding="utf-8")
    os._exit(0)  # QGIS would ask whether to save the project


QTimer.singleShot(2000, main)
