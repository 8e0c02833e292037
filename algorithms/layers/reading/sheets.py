"""Sheets of a spreadsheet, whose first row GDAL takes for headings only where the rows below look different."""

from __future__ import annotations

import re

from qgis.core import QgsProviderRegistry, QgsVectorLayer

from ....core.errors import InputError
from ....core.language import tr

SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
_NAMED_BY_GDAL = re.compile(r"Field\d+")


def refuse_unheaded_sheet(parameter: str, layer: QgsVectorLayer | None) -> None:
    """Raise InputError for a sheet whose fields GDAL named: its headings would be read as one more person."""
    if layer is None or layer.providerType() != "ogr":
        return
    path = str(QgsProviderRegistry.instance().decodeUri("ogr", layer.source()).get("path", ""))
    names = layer.fields().names()
    if path.lower().endswith(SHEETS) and names and all(map(_NAMED_BY_GDAL.fullmatch, names)):
        raise InputError(
            tr(
                "{parameter}: the first row of this sheet was not taken for headings, so that its fields are called "
                "{field}, … and the headings are read as a record. Save the sheet as CSV and load that.",
                parameter=parameter,
                field=names[0],
            )
        )
