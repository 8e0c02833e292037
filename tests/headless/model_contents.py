"""What a model says, whichever QGIS wrote it: run by test_model.py in its own process, as QGIS may crash at its end.

`python model_contents.py FOLDER KEPT…` makes the models again into a folder, under the same names, and prints of each
by its name what both say as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import make_model
from qgis.core import Qgis, QgsProcessingModelAlgorithm


def place(component):
    """Where the designer draws it."""
    return [component.position().x(), component.position().y(), component.size().width(), component.size().height()]


def step(child):
    """One step: its algorithm, where each input comes from, what becomes an output of the model."""
    return {
        "algorithm": child.algorithmId(),
        "title": child.description(),
        "active": child.isActive(),
        "place": place(child),
        "inputs": {
            name: [source.toVariant() for source in sources] for name, sources in child.parameterSources().items()
        },
        "outputs": {
            name: [
                output.childId(),
                output.childOutputName(),
                output.description(),
                output.isMandatory(),
                place(output),
                output.comment().description(),
            ]
            for name, output in child.modelOutputs().items()
        },
        "after": [str(dependency.childId) for dependency in child.dependencies()],
    }


def contents(file):
    """All that the model in a file says, as this QGIS reads it."""
    model = QgsProcessingModelAlgorithm()
    if not model.fromFile(file):
        raise SystemExit(f"{file} is not a model.")
    definitions = model.parameterDefinitions()
    return {
        "names": [model.name(), model.displayName(), model.group(), model.helpContent()],
        "inputs": [definition.toVariantMap() for definition in definitions if not definition.isDestination()],
        "places": {name: place(component) for name, component in model.parameterComponents().items()},
        "steps": {name: step(child) for name, child in model.childAlgorithms().items()},
        "output names": sorted(definition.name() for definition in definitions if definition.isDestination()),
    }


def both(kept, folder):
    """What a model says, and what it says that is made again."""
    chain = next(one for one in make_model.CHAINS if one.file == Path(kept).name)
    if not make_model.write(chain, folder):
        raise SystemExit(f"{kept} could not be written again.")
    found = {"QGIS": Qgis.QGIS_VERSION, "written by": make_model.WRITTEN_BY}
    return found | {"kept": contents(kept), "again": contents(str(folder / Path(kept).name))}


if __name__ == "__main__":
    folder, *models = sys.argv[1:]
    started = make_model.start_qgis()
    print(json.dumps({Path(kept).name: both(kept, Path(folder)) for kept in models}, default=str))
    sys.stdout.flush()
    os._exit(0)
