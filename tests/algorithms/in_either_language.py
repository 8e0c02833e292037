"""Jobs whose results are written down, to be compared between languages: test_french.py runs them in English, and has
them run in French by a process of its own."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from qgis.core import QgsApplication

from .conftest import make_grid, make_layer

FOLDER = Path(os.environ.get("VBAS_RESULTS", "."))


def make_town():
    """Areas of a town with districts, its records, points and cells of it."""
    areas, records = make_grid()
    rng = np.random.default_rng(5)
    spots = [f"Point({x} {y})" for x, y in rng.uniform((630_000, 5_520_000), (633_000, 5_523_000), (120, 2))]
    points = make_layer({"case": list(range(120))}, spots, "EPSG:26914")
    squares = [
        f"Polygon(({x} {y}, {x + 100} {y}, {x + 100} {y + 100}, {x} {y + 100}, {x} {y}))"
        for y in 5_463_000 + 100 * np.arange(8)
        for x in [*(594_000 + 100 * np.arange(8)), 700_000]
    ]
    names = [area["da"] for area in areas.getFeatures()]
    home = rng.integers(0, 36, 200)
    level = rng.integers(1, 4, 200)
    region = np.choose(level - 1, [home + 1, home // 12 + 1, np.ones(200, int)])
    released = {
        "vbas_level": level.tolist(),
        "vbas_region": region.tolist(),
        "sex": rng.choice(["F", "M"], 200).tolist(),
        "diagnosis": rng.choice(["flu", "cold"], 200).tolist(),
    }
    crosswalk = {
        "da": names,
        "vbas_region_1": list(range(1, 37)),
        "vbas_region_2": [i // 12 + 1 for i in range(36)],
        "vbas_region_3": [1] * 36,
    }
    cells = {"cell": [f"c{i}" for i in range(72)], "people": rng.integers(0, 30, 72).tolist()}
    return {
        "areas": areas,
        "records": records,
        "points": points,
        "cells": make_layer(cells, squares, "EPSG:26914"),
        "released": make_layer(released),
        "crosswalk": make_layer(crosswalk),
        "census": make_layer({"da": names * 2, "sex": ["F"] * 36 + ["M"] * 36, "n": [30] * 72}),
        "coarser": make_layer({"attribute": ["sex"] * 2, "value": ["F", "M"], "level_1": ["*"] * 2}),
    }


# Outputs that are written as CSV, to be compared byte for byte.
AS_TEXT = ("RELEASED_RECORDS", "CROSSWALK", "RECORDS", "SPREAD")
REGIONS = {"REGIONS": "@areas", "REGION_ID": "da", "POPULATION": "people"}
RELEASED = {"RECORDS": "@released", "CROSSWALK": "@crosswalk", "QUASI_IDENTIFIERS": ["sex"]}
CASES = {"CASE_FIELD": "diagnosis", "CASE_VALUES": "flu", "ADJUST": ["sex"]}
PEOPLE = {"RECORDS": "@records", "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}
JOBS: dict[str, dict[str, object]] = {
    "anonymize": {**REGIONS, **PEOPLE, "KEEP_FIELDS": ["diagnosis"], "K": 12},
    "anonymize, nested": {
        **REGIONS,
        **PEOPLE,
        "RELEASE": "nested levels",
        "K": 30,
        "HIERARCHIES": "@coarser",
        "LEVELS_COARSER": ["sex", "1"],
    },
    "anonymize, register": {**REGIONS, **PEOPLE, "REGISTER": "#register.gpkg"},
    "compare": {
        **REGIONS,
        **PEOPLE,
        "AGGREGATIONS": [0],
        "BASELINES": [0, 1],
        "CUTOFF": 30.0,
        "BUDGETS": "1",
        "GENERALISE": ["sex", "1"],
        "HIERARCHIES": "@coarser",
        "NESTED": [0],
    },
    "demonstrationcity": {},
    "donutmask": {"POINTS": "@points", "AREAS": "@areas", "POPULATION": "people", "SEED": 1, "KEEP_FIELDS": ["case"]},
    "partitioncells": {"CELLS": "@cells", "CELL_ID": "cell", "POPULATIONS": ["people"], "K": 60},
    "dotmap": {
        "GROUPS": "@areas",
        "GROUP_ID": "da",
        "RECORDS": "@records",
        "RECORD_REGION": "home",
        "CATEGORY": "sex",
    },
    "spreadrelease": {**REGIONS, **RELEASED, "GROUPS": ["diagnosis"], "EXPOSURE_FIELDS": ["people"]},
    "spreadrelease, margins": {
        **REGIONS,
        **RELEASED,
        "MARGINS": "@census",
        "MARGIN_AREA": "da",
        "MARGIN_FIELDS": ["sex"],
        "MARGIN_COUNT": "n",
        "MARGINS_DIFFER": "take it as weights",
    },
    "ratemap": {**REGIONS, **RELEASED, **CASES},
    "clusterscan": {**REGIONS, **RELEASED, **CASES, "DRAWS": 19, "SIGNIFICANCE": 0.5},
    "moran": {**REGIONS, **RELEASED, **CASES, "DRAWS": 19},
    "checkrelease": {"RECORDS": "@records", "QUASI_IDENTIFIERS": ["home", "age"], "K": 10, "STOP": False},
}


@pytest.fixture(scope="module")
def town():
    return make_town()


@pytest.mark.parametrize("job", JOBS)
def test_job(run, town, monkeypatch, job):
    monkeypatch.setattr("vbas.core.synthetic.city.N_AREAS", 40)
    write_down(job, run, town, FOLDER)


def write_down(job, run, town, folder):
    """Run a job over the town, and write all that it gave into a folder of its own within one."""
    name = job.partition(",")[0]
    algorithm = QgsApplication.processingRegistry().algorithmById(f"vbas:{name}").create()
    own = folder / job.replace(", ", "_")
    own.mkdir()

    def given(value):
        if isinstance(value, str) and value.startswith("#"):
            return str(own / value[1:])
        return town[value[1:]] if isinstance(value, str) and value.startswith("@") else value

    known = {parameter.name() for parameter in algorithm.parameterDefinitions()}
    parameters = {key: given(value) for key, value in JOBS[job].items()}
    assert set(parameters) <= known, set(parameters) - known
    for out in algorithm.destinationParameterDefinitions():
        ending = (
            out.defaultFileExtension()
            if out.type() == "fileDestination"
            else "csv"
            if out.name() in AS_TEXT
            else "gpkg"
        )
        name_of_file = out.name().lower() if out.type() == "folderDestination" else f"{out.name().lower()}.{ending}"
        parameters[out.name()] = str(own / name_of_file)
    done = run(name, **parameters)
    facts = {
        "results": {key: value for key, value in done.results.items() if key != "RUNNING_TIME"},
        "parameters": {
            parameter.name(): parameter.options() if parameter.type() == "enum" else parameter.type()
            for parameter in algorithm.parameterDefinitions()
        },
        "tables": {file.name: _rows(file) for file in sorted(own.glob("*.gpkg"))},
    }
    (own / "facts.json").write_text(json.dumps(facts, default=str, indent=1), encoding="utf-8")


# When it was written, how long that took, what is said of it; hashes of a register's chain, which hold the time.
OF_THE_MOMENT = ("time", "seconds", "problem", "content", "previous", "hash")


def _rows(file):
    """Columns and rows of every layer of a GeoPackage, without what tells when it was written, and styles."""
    with closing(sqlite3.connect(file)) as connection:
        tables = [name for (name,) in connection.execute("SELECT table_name FROM gpkg_contents ORDER BY 1")]
        found = {}
        for table in tables:
            if table != "layer_styles":
                rows = connection.execute(f'SELECT * FROM "{table}"')
                names = [column[0] for column in rows.description]
                kept = [i for i, name in enumerate(names) if name not in OF_THE_MOMENT]
                found[table] = [[names[i] for i in kept], [[str(row[i]) for i in kept] for row in rows]]
        return found
