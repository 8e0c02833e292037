"""Parameters that several algorithms share, declared once."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterField,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterNumber,
)

from ..layers.tables import FOR_RELEASE, INTERNAL, TEST_DATA

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
