"""Parameters that say what they are for: the kinds that forms are made of, and those that several forms share."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterMultipleLayers,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
)

from ...core.language import tr
from ...core.parameters import SEED, Number
from ...core.tables.schema import INTERNAL, OutputTable
from .layer_chooser import propose_layer
from .usual_fields import propose_usual_field

ADVANCED = QgsProcessingParameterDefinition.Flag.FlagAdvanced
INTEGER = QgsProcessingParameterNumber.Type.Integer
REAL = QgsProcessingParameterNumber.Type.Double
OPTIONAL = QgsProcessingParameterDefinition.Flag.FlagOptional
NUMERIC_FIELD = QgsProcessingParameterField.DataType.Numeric
TABLE = QgsProcessing.SourceType.TypeVector
POLYGONS = QgsProcessing.SourceType.TypeVectorPolygon
POINTS = QgsProcessing.SourceType.TypeVectorPoint
GEOMETRIES = {"none": TABLE, "points": POINTS, "polygons": POLYGONS}


def described(
    parameter: QgsProcessingParameterDefinition, text: str, advanced: bool = False, optional: bool = False
) -> QgsProcessingParameterDefinition:
    """The parameter with its help; folded away among the advanced ones, or to be left out, if asked."""
    parameter.setHelp(text)
    for asked, flag in ((advanced, ADVANCED), (optional, OPTIONAL)):
        if asked:
            parameter.setFlags(parameter.flags() | flag)
    return parameter


def visible(parameter: QgsProcessingParameterDefinition) -> QgsProcessingParameterDefinition:
    """The parameter among the plain ones: what is advanced in the main algorithm is the point of a step."""
    parameter.setFlags(parameter.flags() & ~ADVANCED)
    return parameter


def advanced(parameter: QgsProcessingParameterDefinition) -> QgsProcessingParameterDefinition:
    """The parameter among the advanced ones."""
    parameter.setFlags(parameter.flags() | ADVANCED)
    return parameter


def optional(parameter: QgsProcessingParameterDefinition) -> QgsProcessingParameterDefinition:
    """The parameter, which may be left out."""
    parameter.setFlags(parameter.flags() | OPTIONAL)
    return parameter


def for_whom(
    audience: str, parameters: Iterable[QgsProcessingParameterDefinition]
) -> Iterable[QgsProcessingParameterDefinition]:
    """The parameters, each with whom it serves before its label (“Custom only: …”), unless the label says it."""
    for parameter in parameters:
        label = parameter.description()
        if ": " not in label:
            parameter.setDescription(tr("{audience}: {label}", audience=audience, label=label[:1].lower() + label[1:]))
        yield parameter


def label_of(parameter: QgsProcessingParameterDefinition) -> str:
    """The label without what stands before or after it: whom it serves, or what the letter k is."""
    label = label_of_setting(parameter)
    head = label.partition(": ")[0].strip()
    return head if len(head) == 1 else label


def label_of_setting(parameter: QgsProcessingParameterDefinition) -> str:
    """The label without whom it serves: what counts in a run is told so, whatever else it could have served."""
    label = parameter.description()
    head, _, tail = label.partition(": ")
    return label if len(head.strip()) == 1 or not tail else tail[:1].upper() + tail[1:]


def source(
    name: str, label: str, text: str, *kinds: QgsProcessing.SourceType, **flags: bool
) -> QgsProcessingParameterDefinition:
    """A layer of one of these kinds, or any table; flags : those of `described`."""
    parameter = QgsProcessingParameterFeatureSource(name, label, list(kinds or (TABLE,)))
    return propose_layer(described(parameter, text, **flags))


def layers(name: str, label: str, text: str, **flags: bool) -> QgsProcessingParameterDefinition:
    """Several tables, to be left out if none is needed; flags : those of `described`."""
    parameter = QgsProcessingParameterMultipleLayers(name, label, TABLE, optional=True)
    return described(parameter, text, **flags)


def field(
    name: str, label: str, layer: str, text: str, numeric: bool = False, several: bool = False, **flags: bool
) -> QgsProcessingParameterDefinition:
    """A field, or several, of the layer that another parameter names; flags : those of `described`."""
    parameter = QgsProcessingParameterField(name, label, parentLayerParameterName=layer, allowMultiple=several)
    if numeric:
        parameter.setDataType(NUMERIC_FIELD)
    if not several:
        propose_usual_field(parameter)
    return described(parameter, text, **flags)


def number(
    name: str,
    label: str,
    default: float | None,
    text: str,
    at_least: float | None = None,
    at_most: float | None = None,
    kind: QgsProcessingParameterNumber.Type = REAL,
    **flags: bool,
) -> QgsProcessingParameterDefinition:
    """A number within bounds; flags : those of `described`."""
    parameter = QgsProcessingParameterNumber(name, label, kind, default)
    if at_least is not None:
        parameter.setMinimum(at_least)
    if at_most is not None:
        parameter.setMaximum(at_most)
    return described(parameter, text, **flags)


def bounded(of: Number, label: str, text: str, **flags: bool) -> QgsProcessingParameterDefinition:
    """A number whose default and bounds core declares; flags : those of `described`."""
    least, most = (bound if isfinite(bound) else None for bound in (of.least, of.most))
    return number(of.name, label, of.default, text, least, most, INTEGER if of.whole else REAL, **flags)


def whole(
    name: str, label: str, default: int | None, text: str, at_least: int | None = None, **flags: bool
) -> QgsProcessingParameterDefinition:
    """A whole number; flags : those of `described`."""
    return number(name, label, default, text, at_least, kind=INTEGER, **flags)


def yes(name: str, label: str, default: bool, text: str, **flags: bool) -> QgsProcessingParameterDefinition:
    """A box to tick; flags : those of `described`."""
    return described(QgsProcessingParameterBoolean(name, label, default), text, **flags)


def seed() -> QgsProcessingParameterDefinition:
    """SEED."""
    text = tr("Starts every random draw: the same seed gives the same result.")
    return bounded(SEED, tr("Random seed"), text, advanced=True)


def text(name: str, label: str, default: str | None, text: str, **flags: bool) -> QgsProcessingParameterDefinition:
    """A line of text; flags : those of `described`."""
    return described(QgsProcessingParameterString(name, label, default), text, **flags)


def choice(
    name: str, label: str, options: Iterable[str], default: str, text: str, advanced: bool = False
) -> QgsProcessingParameterDefinition:
    """A choice among words."""
    parameter = QgsProcessingParameterEnum(name, label, list(options), defaultValue=default, usesStaticStrings=True)
    return described(parameter, text, advanced)


def choices(
    name: str, label: str, options: Iterable[str], defaults: Iterable[str], text: str
) -> QgsProcessingParameterDefinition:
    """A choice of several words; by their positions, since the dialog of QGIS 3.22 cannot choose several words.

    Headless, words do as well.
    """
    words = list(options)
    chosen = [words.index(word) for word in defaults]
    parameter = QgsProcessingParameterEnum(name, label, words, True, chosen, optional=not chosen)
    return described(parameter, text)


def sink(table: OutputTable, optional: bool = False, by_default: bool = True) -> QgsProcessingParameterDefinition:
    """An output layer or table."""
    geometry = GEOMETRIES[table.geometry] if table.always_drawn else TABLE
    parameter = QgsProcessingParameterFeatureSink(table.parameter, table.label, geometry, None, optional, by_default)
    return described(parameter, table.about)


def file_output(
    name: str, label: str, kinds: str, text: str, by_default: bool = False
) -> QgsProcessingParameterDefinition:
    """A file that is written; kinds : what the window of files offers; by_default : whether a form makes it unasked."""
    return described(QgsProcessingParameterFileDestination(name, label, kinds, None, True, by_default), text)


def report(text: str, by_default: bool = True) -> QgsProcessingParameterDefinition:
    """REPORT."""
    text = tr("{text} Internal: it says how many records were suppressed where, so do not publish it.", text=text)
    label = tr("Report ({internal})", internal=INTERNAL)
    return file_output("REPORT", label, tr("HTML files (*.html)"), text, by_default)
