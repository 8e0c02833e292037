"""What the user gave, checked before any work: an unknown name or a value of the wrong kind ends in a sentence.

QGIS adds nothing to the parameters it hands over, neither in a window, nor in a model, nor headless (its own options,
such as the ellipsoid, are read before them and kept apart): a name that the form does not have is misspelt, and
ignoring it would run with the default in its place.

Fields are taken as the layer spells them, and messages name parameters as the dialog does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from qgis.core import (
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterNumber,
    QgsProperty,
)
from qgis.PyQt.QtCore import QVariant

from ...core.errors import InputError
from ...core.job.settings import FIELDS, SETTINGS
from ...core.job.values import choice_of, number_of, quoted, refuse_twice, some
from ...core.language import plural, tr
from ...core.plain_text import visible
from ..layers.inputs import Inputs
from .parameters import OPTIONAL, label_of

# Options of qgis_process itself: it reads them before the “--”; after it they are names like any other.
OPTIONS = ("ELLIPSOID", "DISTANCE_UNITS", "AREA_UNITS", "PROJECT_PATH")
LAYERS = ("source", "vector")
SINGLE = (
    "number",
    "string",
    "boolean",
    "enum",
    "field",
    *LAYERS,
    "sink",
    "vectorDestination",
    "fileDestination",
    "folderDestination",
)
YES, NO = ("true", "1", "yes"), ("false", "0", "no")


def understood(
    algorithm: QgsProcessingAlgorithm, parameters: Mapping[str, object], context: QgsProcessingContext
) -> dict[str, object]:
    """The parameters as the forms read them: without blanks, numbers as numbers, choices as words.

    Choices of several words are given as numbers, which is all that QGIS 3.22 can show. Raises QgsProcessingException
    for a name that is unknown, and for a value that the parameter does not take.
    """
    check_names(algorithm, parameters)
    values = {}
    for name, raw in parameters.items():
        definition = algorithm.parameterDefinition(name)
        value = _understood_value(definition, raw, context)
        if definition.isDestination() or not is_blank(value):
            values[name] = value
    return values


def is_blank(value: object) -> bool:
    """Whether this is what an untouched widget, or an empty value on the command line, sends."""
    if isinstance(value, QVariant):
        return value.isNull()
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, (list, tuple)):
        return all(is_blank(part) for part in value)
    return value is None


def check_names(algorithm: QgsProcessingAlgorithm, parameters: Mapping[str, object]) -> None:
    """Raise QgsProcessingException for names that the algorithm does not have, with the nearest that it has."""
    names = [definition.name() for definition in algorithm.parameterDefinitions()]
    unknown = [name for name in parameters if name not in names]
    if not unknown:
        return
    title = tr("“{name}”", name=algorithm.displayName())
    options = [name for name in unknown if name.lstrip("-").upper() in OPTIONS]
    if options:
        raise QgsProcessingException(
            tr(
                "{options} is an option of qgis_process, not a parameter of {title}: write it before the “--”.",
                options=some(options),
                title=title,
            )
        )
    # A model's outputs carry the name of their step: “releaserecords:REPORT”.
    known = {**{name.upper(): name for name in names}, **{name.rpartition(":")[2].upper(): name for name in names}}
    near = [
        known[match] for name in unknown for match in get_close_matches(name.lstrip("-").upper(), known, 1, cutoff=0.5)
    ]
    if near:
        raise QgsProcessingException(
            plural(
                "{unknown} is not a parameter of {title}: did you mean {near}?",
                "{unknown} are not parameters of {title}: did you mean {near}?",
                len(unknown),
                unknown=some(unknown),
                title=title,
                near=some(list(dict.fromkeys(near))),
            )
        )
    raise QgsProcessingException(
        plural(
            "{unknown} is not a parameter of {title}, and none is called nearly so: “{command}” lists them.",
            "{unknown} are not parameters of {title}, and none are called nearly so: “{command}” lists them.",
            len(unknown),
            unknown=some(unknown),
            title=title,
            command=" ".join(("qgis_process", "help", algorithm.id())),
        )
    )


def _understood_value(
    definition: QgsProcessingParameterDefinition, value: object, context: QgsProcessingContext
) -> object:
    """One value, understood; blank ones as they are."""
    kind = definition.type()
    if isinstance(value, QgsProperty) and not definition.isDestination() and kind not in LAYERS:
        value = value.value(context.expressionContext())[0]
    several = kind in ("field", "enum") and definition.allowMultiple()
    if kind == "field" and isinstance(value, (list, tuple)):
        _refuse_blank_names(definition, value)
    if kind == "string" and isinstance(value, (list, tuple)) and _is_line_of_fields(definition.name(), value):
        value = ";".join(str(part) for part in value if not is_blank(part))
    if kind in SINGLE and not several and isinstance(value, (list, tuple)):
        value = _single(definition, value)
    if is_blank(value):
        return _blank(definition, value)
    if definition.isDestination():
        return value
    if kind == "matrix":
        return _filled_cells(value, len(definition.headers()))
    if several:
        return _parts(definition, value)
    read = {"number": _number, "boolean": _yes_or_no, "enum": _choice}.get(kind)
    return read(definition, value) if read else value


def _blank(definition: QgsProcessingParameterDefinition, value: object) -> object:
    """A blank stands for “not given”, where the parameter may be left out."""
    optional = definition.isDestination() or definition.flags() & OPTIONAL
    if value is not None and not optional:
        raise QgsProcessingException(tr("{definition} is empty: give a value.", definition=definition.name()))
    return value


def _refuse_blank_names(definition: QgsProcessingParameterDefinition, values: Sequence[object]) -> None:
    """Refuse a field whose name is nothing but blanks: chosen in a form, it would be taken for “not given”."""
    if any(isinstance(value, str) and value and not value.strip() for value in values):
        raise QgsProcessingException(
            tr(
                "{definition} names a field whose name is blank: give that field another name first, or take it out.",
                definition=definition.name(),
            )
        )


def _is_line_of_fields(name: str, values: Sequence[object]) -> bool:
    """Whether these are fields of a table in a database, which a form takes in one line, with semicolons: elsewhere
    the same parameter is given once for each."""
    several = name in SETTINGS and SETTINGS[name].kind == FIELDS
    return several and not any(";" in str(value) for value in values)


def _single(definition: QgsProcessingParameterDefinition, values: list[object] | tuple[object, ...]) -> object:
    """The value of a list of one. A name given twice on the command line comes as a list of both."""
    filled = [value for value in values if not is_blank(value)]
    if len(filled) > 1:
        raise QgsProcessingException(
            tr(
                "{definition} has several values ({filled}), but takes one: give it once.",
                definition=definition.name(),
                filled=quoted(filled),
            )
        )
    return filled[0] if filled else ""


def _filled_cells(value: object, columns: int) -> list[object]:
    """A table as the list of its cells, without the rows left empty."""
    cells: list[object] = [*(value if isinstance(value, (list, tuple)) else str(value).split(","))]
    if len(cells) % columns:
        return cells
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    return [cell for row in rows if not is_blank(row) for cell in row]


def _parts(definition: QgsProcessingParameterDefinition, value: object) -> list[object]:
    """Several fields, or several choices as the positions of their words."""
    parts: list[object] = list(value) if isinstance(value, (list, tuple)) else [value]
    if definition.type() == "enum":
        # No choice holds a comma or a semicolon.
        texts = [text for part in parts for text in str(part).replace(";", ",").split(",") if text.strip()]
        options = definition.options()
        return list(dict.fromkeys(options.index(_choice(definition, text, in_words=True)) for text in texts))
    if len(parts) == 1:
        parts = [*str(parts[0]).split(";")]
    return [part for part in parts if not is_blank(part)]


def _choice(definition: QgsProcessingParameterEnum, value: object, in_words: bool = False) -> object:
    """The word of a choice that is given by its word or by its number, as headless QGIS lists them."""
    options = definition.options()
    try:
        text = choice_of(definition.name(), value, options)
    except InputError as error:
        raise QgsProcessingException(str(error)) from None
    return text if in_words or definition.usesStaticStrings() else options.index(text)


def _number(definition: QgsProcessingParameterNumber, value: object) -> object:
    """A number within its bounds."""
    whole = definition.dataType() == QgsProcessingParameterNumber.Type.Integer
    try:
        return number_of(definition.name(), value, whole, definition.minimum(), definition.maximum())
    except InputError as error:
        raise QgsProcessingException(str(error)) from None


def _yes_or_no(definition: QgsProcessingParameterDefinition, value: object) -> object:
    """Yes or no: QGIS would take every other word for yes, “no” included."""
    text = str(value).strip().lower()
    if text not in (*YES, *NO):
        raise QgsProcessingException(
            tr("{definition} is “{value}”: give “true” or “false”.", definition=definition.name(), value=value)
        )
    return text in YES


# A quoted value is somebody's data, whatever it reads like.
_QUOTED_OR_ID = re.compile(r"“[^”]*”|«[^»]*»|(?<![\w(])[A-Z][A-Z0-9_]*(?![\w)])")


def as_spelled(inputs: Inputs) -> Inputs:
    """The same with each field named as its layer spells it: QGIS finds `SEX` for `sex`, and so do we.

    Raises InputError for a field that is named twice in one parameter.
    """
    spelled = {}
    for definition in inputs.algorithm.parameterDefinitions():
        name = definition.name()
        if definition.type() != "field" or inputs.parameters.get(name) in (None, "", []):
            continue
        several = definition.allowMultiple()
        typed = (inputs.field_names(name) if several else []) or [inputs.text(name)]
        layer = definition.parentLayerParameterName()
        source = inputs.source(layer)
        if source is None:
            continue
        fields = source.fields()
        positions = [fields.lookupField(field) for field in typed]
        own = [field if index < 0 else fields[index].name() for field, index in zip(typed, positions)]
        refuse_twice(name, own, typed)
        if own != typed:
            spelled[name] = own if several else own[0]
    return inputs.with_parameters(**spelled)


def with_labels(algorithm: QgsProcessingAlgorithm, message: str) -> str:
    """A message that names parameters by their ids, with the labels of the dialog before the first of each.

    It quotes what was given: characters that nobody sees are made visible.
    """
    labels = {parameter.name(): label_of(parameter) for parameter in algorithm.parameterDefinitions()}

    def labelled(match: re.Match[str]) -> str:
        label = labels.pop(match[0], None)
        return match[0] if label in (None, match[0]) else f"{label} ({match[0]})"

    return _QUOTED_OR_ID.sub(labelled, visible(message))
