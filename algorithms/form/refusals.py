"""What is said where QGIS itself refuses a value, and where the program fails by a fault of its own."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path

from qgis.core import QgsFileUtils, QgsMapLayer, QgsProcessingAlgorithm, QgsProcessingContext, QgsProcessingFeedback

from ...core.errors import first_values
from ...core.language import tr
from ...core.plain_text import plain_text
from ...core.secrecy import holds_secret, without_secrets
from ..layers.feedback import texts_in
from .understanding import LAYERS, is_blank, with_labels

PACKAGE = Path(__file__).resolve().parents[2]


def refused_value(
    algorithm: QgsProcessingAlgorithm, parameters: Mapping[str, object], context: QgsProcessingContext
) -> str:
    """A sentence on the first parameter whose value QGIS does not take; empty where it takes each of them.

    QGIS says no more than “Incorrect parameter value”. parameters : as `understood` gives them
    """
    for definition in algorithm.parameterDefinitions():
        name = definition.name()
        value = parameters.get(name)
        if definition.checkValueIsAcceptable(value, context):
            continue
        if is_blank(value):
            return tr("{name} is not given, and is needed: give a value.", name=name)
        if definition.type() in LAYERS:
            return no_layer(name, value)
        endings = QgsFileUtils.extensionsFromFilter(definition.fileFilter()) if definition.type() == "file" else []
        if endings:
            return tr(
                "{name} is “{value}”: name a file that ends in {endings}.",
                name=name,
                value=plain_text(value),
                endings=first_values([f".{ending}" for ending in endings]),
            )
        return tr("{name} is “{value}”, which cannot be used: give another value.", name=name, value=plain_text(value))
    return ""


def no_layer(name: str, value: object) -> str:
    """The sentence where a parameter names no layer that can be opened."""
    if is_blank(value):
        return tr("{name} is not given, and is needed: choose a layer.", name=name)
    return tr(
        "{name}: there is no layer or table “{value}” that QGIS can open: choose another one.",
        name=name,
        value=plain_text(value),
    )


def problem_of(algorithm: QgsProcessingAlgorithm, error: Exception, addresses: tuple[str, ...] = ()) -> str:
    """What is told the user of an error: one sentence, in the words of the form.

    addresses : of the run, whose secrets it must not tell; QGIS puts whole addresses into what it says
    """
    if isinstance(error, MemoryError):
        return tr(
            "There is not enough memory for this table: close other programs, or count the records by area and "
            "class in your database first and give the counts as RECORD_COUNT."
        )
    return with_labels(algorithm, without_secrets(str(error), *addresses))


def kept_by_qgis(parameters: Mapping[str, object]) -> list[str]:
    """Sentences on passwords that were typed with a run: QGIS itself keeps them, and shows them."""
    return [
        tr(
            "The address in {name} holds a password or token, which QGIS keeps in the history of Processing and shows "
            "in its log: write it without, and keep the password in QGIS's authentication, ~/.pgpass or the "
            "environment.",
            name=name,
        )
        for name, value in parameters.items()
        if not isinstance(value, QgsMapLayer) and any(map(holds_secret, texts_in(value)))
    ]


def fault_of_the_program(error: Exception, in_place: bool, feedback: QgsProcessingFeedback) -> str:
    """The sentence on an exception that nobody foresaw; where it happened goes into the log.

    What the exception itself says may hold values of the records, so neither says it. in_place : whether the outputs
    were in their place already
    """
    feedback.pushInfo(tr("Where it happened:"))
    for frame in traceback.extract_tb(error.__traceback__):
        # A plugin may be a link to its folder, and a compiled library names its files from anywhere.
        file = Path(frame.filename).resolve()
        path = file.relative_to(PACKAGE) if PACKAGE in file.parents else file.name
        feedback.pushInfo(f"    {path}:{frame.lineno} {frame.name}")
    kind = type(error).__name__
    if in_place:
        return tr(
            "A fault of VBAS itself ended the run ({kind}) when the outputs were in their place: look at them before "
            "you use them. Please report it with the lines of the log after “Where it happened”, which hold no data.",
            kind=kind,
        )
    return tr(
        "A fault of VBAS itself ended the run ({kind}), and nothing was written. Please report it with the lines of "
        "the log after “Where it happened”, which hold no data.",
        kind=kind,
    )
