"""Write models/vbas_step_by_step.model3: the steps chained, with the inputs of the main algorithm.

Run it again when an algorithm's parameters or the recommended combinations change, with QGIS 3.22 (Debian 12):
    PYTHONPATH=build/package QT_QPA_PLATFORM=offscreen .venv/bin/python scripts/make_model.py
Later versions read what 3.22 writes and keep its names; what they write themselves names the outputs otherwise.
"""

from __future__ import annotations

import sys
from pathlib import Path

from qgis.core import (
    Qgis,
    QgsApplication,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildParameterSource,
    QgsProcessingModelOutput,
    QgsProcessingModelParameter,
    QgsProcessingProvider,
)
from qgis.PyQt.QtCore import QPointF, QSizeF

from vbas.core.configuration import CUSTOM, RECOMMENDED

FILE = Path(__file__).resolve().parent.parent / "models" / "vbas_step_by_step.model3"
# The oldest QGIS that the plugin runs in: what it writes, all of them read.
WRITTEN_BY = "3.22"
REGIONS = ("REGIONS", "REGION_ID", "POPULATION", "AREA_POINT")
RECORDS = ("RECORDS", "RECORD_REGION", "QUASI_IDENTIFIERS", "RECORD_COUNT")
NUMBER = ("GAPS_REGION", "GAPS_COEFFICIENT", "GAPS_EXPONENT", "LOG_BASE", "CUTOFF", "N_SITES")
# Each step: algorithm, what it does, its inputs from the model, from earlier steps, by combination, its outputs.
STEPS = (
    (
        "sitenumber",
        "1 How many sites",
        ("REGIONS", "REGION_ID", *RECORDS, "K", "UNMATCHED", *NUMBER),
        {},
        ("SITE_NUMBER",),
        (),
    ),
    (
        "sitelocation",
        "2 Where they go",
        (*REGIONS, *RECORDS, "K", "UNMATCHED", "SEED"),
        {"N_SITES": ("sitenumber", "N_SITES")},
        ("SITE_LOCATION",),
        (),
    ),
    (
        "aggregate",
        "3 Which area joins which",
        (*REGIONS, "RECORDS", "RECORD_REGION", "RECORD_COUNT", "FLOOR"),
        {"SITES": ("sitelocation", "SITE_POINTS")},
        ("AGGREGATION", "CAPACITY_FACTOR"),
        ("CROSSWALK", "RELEASED_REGIONS", "SITE_POINTS", "VORONOI"),
    ),
    (
        "releaserecords",
        "Suppress and release",
        (*RECORDS, "K", "KEEP_FIELDS", "UNMATCHED"),
        {"CROSSWALK": ("aggregate", "CROSSWALK")},
        (),
        ("RELEASED_RECORDS",),
    ),
    (
        "evaluate",
        "4 What it cost",
        (*REGIONS, *RECORDS, "K", "UNMATCHED"),
        {"CROSSWALK": ("aggregate", "CROSSWALK"), "SITES": ("aggregate", "SITE_POINTS")},
        (),
        ("REGION_AUDIT", "REPORT"),
    ),
)
# Inputs are drawn in two columns on the left, the steps down the middle.
LEFT, SECOND, MIDDLE, RIGHT = 140, 400, 760, 1080


def by_combination(name: str) -> str:
    """The expression that picks a single choice: the combination's own, or the user's for `custom`."""
    parts = {"SITE_NUMBER": "site_number", "SITE_LOCATION": "site_location", "AGGREGATION": "aggregation"}
    if name == "CAPACITY_FACTOR":  # the recommended transport heuristics have no limit
        return f"if(@COMBINATION = '{CUSTOM}', @CAPACITY_FACTOR, 0)"
    cases = " ".join(
        # A combination by transport chooses its own sites; any location gives it their number.
        f"WHEN @COMBINATION = '{key}' THEN '{getattr(c, parts[name]) or 'balanced density'}'"
        for key, c in RECOMMENDED.items()
    )
    return f"CASE {cases} ELSE @{name} END"


def make_model() -> QgsProcessingModelAlgorithm:
    """The model as QGIS's object; the provider vbas must be registered."""
    main = QgsApplication.processingRegistry().algorithmById("vbas:anonymize")
    model = QgsProcessingModelAlgorithm("Anonymise records, step by step", "Anonymise", "VBAS")
    model.setName("anonymizestepbystep")
    inputs = [definition for definition in main.parameterDefinitions() if not definition.isDestination()]
    for i, definition in enumerate(inputs):
        component = QgsProcessingModelParameter(definition.name())
        component.setPosition(QPointF(SECOND if i % 2 else LEFT, 60 + 75 * (i // 2)))
        component.setSize(QSizeF(230, 34))
        model.addModelParameter(definition.clone(), component)
    source = QgsProcessingModelChildParameterSource
    for i, (name, title, from_model, from_steps, chosen, outputs) in enumerate(STEPS):
        child = QgsProcessingModelChildAlgorithm(f"vbas:{name}")
        child.setChildId(name)
        child.setDescription(title)
        for parameter in from_model:
            child.addParameterSources(parameter, [source.fromModelParameter(parameter)])
        for parameter, (step, output) in from_steps.items():
            child.addParameterSources(parameter, [source.fromChildOutput(step, output)])
        for parameter in chosen:
            child.addParameterSources(parameter, [source.fromExpression(by_combination(parameter))])
        child.setPosition(QPointF(MIDDLE, 80 + 210 * i))
        child.setSize(QSizeF(230, 40))
        results = {}
        for row, output in enumerate(outputs):
            result = QgsProcessingModelOutput(output, main.parameterDefinition(output).description())
            result.setChildId(name)
            result.setChildOutputName(output)
            result.setPosition(QPointF(RIGHT + 60, 80 + 210 * i + 48 * row))
            result.setSize(QSizeF(270, 34))
            results[output] = result
        child.setModelOutputs(results)
        model.addChildAlgorithm(child)
        if name == "sitelocation":  # its sites are needed by the next step, not by the user
            child.setModelOutputs({})
    model.setHelpContent(
        {
            "ALG_DESC": "The same job as “Anonymise records”, with every component as a step of its own: open it in "
            "the model designer, save a copy, and change or exchange steps. Inputs and outputs are those of “Anonymise "
            "records”; the same inputs give the same crosswalk and the same release.",
            "ALG_CREATOR": "The VBAS for QGIS developers",
        }
    )
    return model


def start_qgis() -> tuple[QgsApplication, QgsProcessingProvider]:
    """QGIS without windows and this checkout's provider: both live as long as what is returned is kept."""
    application = QgsApplication([], False)
    application.initQgis()
    from vbas.vbas_plugin.provider import VbasProvider

    provider = VbasProvider()
    QgsApplication.processingRegistry().addProvider(provider)
    return application, provider


def main() -> int:
    """Write the file."""
    if not Qgis.QGIS_VERSION.startswith(f"{WRITTEN_BY}."):
        print(f"QGIS {Qgis.QGIS_VERSION} would name the outputs of {FILE} otherwise: write it with QGIS {WRITTEN_BY}.")
        return 1
    kept = start_qgis()
    written = make_model().toFile(str(FILE))
    print(FILE if written else f"{FILE} could not be written")
    del kept
    return 0 if written else 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # QGIS's own shutdown may crash once Python is being torn down.
    import os

    os._exit(code)
