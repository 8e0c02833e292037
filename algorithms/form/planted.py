"""Outcomes that are planted on the records, to see what a researcher would find: declared and read."""

from __future__ import annotations

from qgis.core import QgsProcessingParameterDefinition

from ...core.analysis.planted_comparison import PlantedComparison
from ...core.analysis.planting import MOST_AREAS, Planting
from ...core.areas import Areas
from ...core.language import tr
from ...core.records.matching import Records
from .form import Form
from .parameters import INTEGER, number

MOST_OUTCOMES = 200
PLANTING = Planting()


def analyses() -> QgsProcessingParameterDefinition:
    """ANALYSES."""
    return number(
        "ANALYSES",
        tr("Analyses: outcomes to plant and look for"),
        0,
        tr(
            "What would a researcher lose? So many outcomes are planted on the records (a risk that falls off around "
            "one place; clusters of {risk:g}-fold risk) and looked for in every release and in the true areas: "
            "the error of a map, the effect of an exposure and how often its interval holds it, clusters that are "
            "found, and where rare groups seem to live. 20 tell large differences, 100 small ones; 0 for none. It "
            "takes a few seconds for each release and 1 000 areas, of which there may be {most_areas}.",
            risk=PLANTING.relative_risk,
            most_areas=MOST_AREAS,
        ),
        0,
        MOST_OUTCOMES,
        INTEGER,
        advanced=True,
    )


def planted_of(form: Form, areas: Areas, records: Records) -> PlantedComparison | None:
    """What is planted, None for nothing. Raises InputError for more areas than can be analysed."""
    if not form.whole("ANALYSES"):
        return None
    planting = Planting(outcomes=form.whole("ANALYSES"), seed=form.whole("SEED"))
    comparison = PlantedComparison(areas, records.profile, planting)
    _ = comparison.planted  # too few people are said before the comparison, not in each of its rows
    return comparison
