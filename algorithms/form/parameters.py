"""Parameters that several algorithms share, declared once."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterNumber,
)

from ..core.records.matching import STOP, UNMATCHED
from .layers.areas import AREA_POINTS, CENTROID
from .layers.tables import FOR_RELEASE, INTERNAL, TEST_DATA

ADVANCED = QgsProcessingParameterDefinition.Flag.FlagAdvanced
INTEGER = QgsProcessingParameterNumber.Type.Integer
REAL = QgsProcessingParameterNumber.Type.Double
ANY_FIELD = QgsProcessingParameterField.DataType.Any
NUMERIC_FIELD = QgsProcessingParameterField.DataType.Numeric


def described(parameter: QgsProcessingParameterDefinition, text: str, advanced: bool = False):
    """The parameter with its help, folded away among the advanced ones if asked."""
    parameter.setHelp(text)
    if advanced:
        parameter.setFlags(parameter.flags() | ADVANCED)
    return parameter


def visible(parameter: QgsProcessingParameterDefinition) -> QgsProcessingParameterDefinition:
    """The parameter among the plain ones: what is advanced in the main algorithm is the point of a step."""
    parameter.setFlags(parameter.flags() & ~ADVANCED)
    return parameter


def areas(with_population: bool = True) -> Iterable[QgsProcessingParameterDefinition]:
    """REGIONS, REGION_ID, POPULATION, AREA_POINT."""
    yield described(
        QgsProcessingParameterFeatureSource(
            "REGIONS",
            "Areas",
            [QgsProcessing.SourceType.TypeVectorPolygon, QgsProcessing.SourceType.TypeVectorPoint],
        ),
        "The small areas, such as dissemination areas: polygons, or one point per area. Any coordinate reference "
        "system: a geographic one is projected for measuring.",
    )
    yield described(
        QgsProcessingParameterField("REGION_ID", "Identifier of the area", parentLayerParameterName="REGIONS"),
        "The field that names each area, once. Compared as text with the records' area.",
    )
    if with_population:
        yield described(
            QgsProcessingParameterField(
                "POPULATION",
                "Population",
                parentLayerParameterName="REGIONS",
                type=NUMERIC_FIELD,
                optional=True,
            ),
            "People in each area, which the regions are to balance. Without it the number of records is used.",
        )
    yield described(
        QgsProcessingParameterEnum(
            "AREA_POINT", "Point of an area", list(AREA_POINTS), defaultValue=CENTROID, usesStaticStrings=True
        ),
        "The point that stands for a polygon: its centroid, or a point on its surface for areas whose centroid falls "
        "outside.",
        advanced=True,
    )


def records(label: str = "Records") -> Iterable[QgsProcessingParameterDefinition]:
    """RECORDS, RECORD_REGION, QUASI_IDENTIFIERS, RECORD_COUNT."""
    yield described(
        QgsProcessingParameterFeatureSource("RECORDS", label, [QgsProcessing.SourceType.TypeVector]),
        "The person records, one a row: a table or a layer (its geometry is not used). A plain GeoPackage or CSV is "
        "read fastest. A table counted by area and class (as “Profile records” gives it) does as well: name its "
        "count under “Records per row”.",
    )
    yield described(
        QgsProcessingParameterField("RECORD_REGION", "Area of the record", parentLayerParameterName="RECORDS"),
        "The field that says which area a person lives in, with the same identifiers as the areas.",
    )
    yield described(
        QgsProcessingParameterField(
            "QUASI_IDENTIFIERS",
            "Quasi-identifiers",
            parentLayerParameterName="RECORDS",
            allowMultiple=True,
        ),
        "What an outsider could know of a person: age group, sex, ethnicity, … People who share all of these in one "
        "region hide each other. A missing value counts as a value of its own. They are released as they are, so "
        "group them first (age groups, not dates of birth).",
    )
    yield described(
        QgsProcessingParameterField(
            "RECORD_COUNT",
            "Records per row",
            parentLayerParameterName="RECORDS",
            type=NUMERIC_FIELD,
            optional=True,
        ),
        "For a table that is already counted: how many records each row stands for.",
        advanced=True,
    )


def crosswalk() -> Iterable[QgsProcessingParameterDefinition]:
    """CROSSWALK and CROSSWALK_ID."""
    yield described(
        QgsProcessingParameterFeatureSource("CROSSWALK", "Crosswalk", [QgsProcessing.SourceType.TypeVector]),
        "A row per area with the area's identifier and vbas_region, the number of its region (empty: the area is left "
        "out and its records are suppressed).",
    )
    yield described(
        QgsProcessingParameterField(
            "CROSSWALK_ID",
            "Identifier of the area in the crosswalk",
            parentLayerParameterName="CROSSWALK",
            optional=True,
        ),
        "Needed only if the crosswalk has further fields.",
    )


def k() -> QgsProcessingParameterDefinition:
    """K."""
    return described(
        QgsProcessingParameterNumber("K", "k: least size of a class", type=INTEGER, defaultValue=5, minValue=2),
        "Every released record shares its region and quasi-identifiers with at least k - 1 others; records that "
        "cannot are suppressed. Your law or policy sets it; 5 is common, 10 or 20 where data are sensitive.",
    )


def keep_fields() -> QgsProcessingParameterDefinition:
    """KEEP_FIELDS."""
    return described(
        QgsProcessingParameterField(
            "KEEP_FIELDS",
            "Further fields to release",
            parentLayerParameterName="RECORDS",
            allowMultiple=True,
            optional=True,
        ),
        "Columns that researchers need and that do not identify anybody, such as a diagnosis. They are released "
        "unchanged and are not protected by k: leave out names, numbers, dates and anything finer than the region.",
    )


def unmatched() -> QgsProcessingParameterDefinition:
    """UNMATCHED."""
    return described(
        QgsProcessingParameterEnum(
            "UNMATCHED",
            "Records of an unknown area",
            list(UNMATCHED),
            defaultValue=STOP,
            usesStaticStrings=True,
        ),
        "Records whose area is missing or not among the areas: “stop” refuses the table and says how many there are, "
        "“suppress” leaves them out and counts them as suppressed.",
        advanced=True,
    )


def seed() -> QgsProcessingParameterDefinition:
    """SEED."""
    return described(
        QgsProcessingParameterNumber("SEED", "Seed", type=INTEGER, defaultValue=0, minValue=0),
        "Starts every random draw: the same seed gives the same result.",
        advanced=True,
    )


def choice(name: str, label: str, options: Iterable[str], default: str, text: str, advanced: bool = False):
    """A choice among words."""
    return described(
        QgsProcessingParameterEnum(name, label, list(options), defaultValue=default, usesStaticStrings=True),
        text,
        advanced,
    )


def sink(
    name: str,
    label: str,
    kind: str,
    text: str,
    geometry: QgsProcessing.SourceType,
    optional: bool = False,
    by_default: bool = True,
):
    """An output layer or table that says whether it may be published: kind is FOR_RELEASE, INTERNAL or TEST_DATA."""
    publish = {
        FOR_RELEASE: "For release.",
        INTERNAL: "Internal: suppressed counts could be derived from it, do not publish.",
        TEST_DATA: "Nobody in it exists.",
    }[kind]
    return described(
        QgsProcessingParameterFeatureSink(
            name, f"{label} ({kind})", geometry, optional=optional, createByDefault=by_default
        ),
        f"{text} {publish}",
    )


def report(text: str) -> QgsProcessingParameterDefinition:
    """REPORT."""
    return described(
        QgsProcessingParameterFileDestination(
            "REPORT", f"Report ({INTERNAL})", "HTML files (*.html)", optional=True, createByDefault=True
        ),
        f"{text} Internal: it tells how many records were suppressed where, do not publish.",
    )
