"""Coarser quasi-identifiers: declared and read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterMatrix

from ...core.language import tr
from .effective import GIVEN, Condition, Conditions
from .parameters import described, source

ATTRIBUTE, VALUE = "attribute", "value"
LEVEL_FIELD = re.compile(r"level[ _-]?([0-9]+)", re.IGNORECASE)

CONDITIONS: Conditions = {name: [{"GENERALISE": GIVEN}] for name in ("HIERARCHIES", "HIERARCHY_RULES")}


def conditions_where(condition: Condition) -> Conditions:
    """Where these parameters count in a form that looks at classes only under a condition."""
    return {"GENERALISE": [condition], **{name: [condition, *where] for name, where in CONDITIONS.items()}}


def generalising_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """GENERALISE, HIERARCHIES, HIERARCHY_RULES."""
    yield described(
        QgsProcessingParameterMatrix(
            "GENERALISE", tr("Coarser values: what to show coarser"), headers=[tr("Quasi-identifier"), tr("Level")]
        ),
        tr(
            "Quasi-identifiers to show coarser, each with a level: 0 is the value as it is, 1 the first "
            "coarser one. k is counted on what is shown, so fewer records are suppressed, or more regions can "
            "be had; the log says how much of the attribute's entropy is given up. On the command line as a "
            "list, field and level in turn."
        ),
        advanced=True,
        optional=True,
    )
    yield source(
        "HIERARCHIES",
        tr("Coarser values: as a table"),
        tr(
            "A table with the fields attribute, value, level_1, level_2, …: a row for each value of a "
            "quasi-identifier, with its coarser value at each level. Every level joins whole values of the "
            "level before; “*” says nothing. A missing value stays missing unless the table has a row for it or "
            "all others become “*”. Values are compared as text."
        ),
        optional=True,
        advanced=True,
    )
    yield described(
        QgsProcessingParameterMatrix(
            "HIERARCHY_RULES", tr("Coarser values: by rule"), headers=[tr("Quasi-identifier"), tr("Rule")]
        ),
        tr(
            "In place of a table. “bands 5 10 20”: numbers, and groups such as 15-19 or 65+, in bands of "
            "these widths, a level each. “leading characters 3 2 1”: the beginning of a text. “other below "
            "100 1000”: values that fewer records have become “other”; which values are named then says how "
            "many records have them, and one record can change it, so write such groups as a table where that "
            "matters. “*” at the end adds a level that says nothing."
        ),
        advanced=True,
        optional=True,
    )


def relating_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """HIERARCHIES and HIERARCHY_RULES, for releases that show a quasi-identifier at different levels."""
    for parameter in generalising_parameters():
        if parameter.name() != "GENERALISE":
            parameter.setHelp(
                tr(
                    "Only where releases show a quasi-identifier at different levels: what its coarser values "
                    "are, as the releases were made with. Without it they cannot be related. {help}",
                    help=parameter.help(),
                )
            )
            yield parameter
