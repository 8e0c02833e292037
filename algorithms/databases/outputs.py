"""What a release in place is given beside its records, and what it gives: declared."""

from __future__ import annotations

from qgis.core import QgsProcessingParameterDefinition

from ...core.language import tr
from ..form.parameters import report, source, text


def earlier_profile() -> QgsProcessingParameterDefinition:
    """PROFILE, as an input."""
    return source(
        "PROFILE",
        tr("Profile that the regions were made from"),
        tr(
            "What “Profile records in a database” gave of this table, with the same fields and filter. Where the table "
            "holds other counts by now, nothing is released: the regions, and what you decided on, were for others. "
            "Save it as a GeoPackage: a CSV file does not tell an empty text from a missing value."
        ),
        optional=True,
    )


def destination() -> QgsProcessingParameterDefinition:
    """DESTINATION."""
    return text(
        "DESTINATION",
        tr("Where the release goes"),
        None,
        tr(
            "A new .parquet or .csv file for records in files; a new table of the same database, name or "
            "schema.name, for records in PostgreSQL; such a table, or a new folder of Parquet files as the "
            "cluster sees it, in Spark. It must not be there yet. It holds the region, the "
            "quasi-identifiers and the further fields you named, and nothing else. For release."
        ),
    )


def report_in_place() -> QgsProcessingParameterDefinition:
    """REPORT, which is made if asked for: it needs areas."""
    page = report(
        tr("A page with the measures, all parameters, the protection and maps of the regions; it needs REGIONS.")
    )
    page.setCreateByDefault(False)
    return page
