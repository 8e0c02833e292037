"""Numbers that nobody means end in one sentence or in a result, never in a traceback."""

from __future__ import annotations

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer

HUGE = [1e308, 1e15, 1e12, 1e9, 1e-308, 0, -1]
WEST, SOUTH, SIDE = 630_000, 5_520_000, 1000


def squares(people=500, n=9):
    corners = [(WEST + SIDE * (i % 3), SOUTH + SIDE * (i // 3)) for i in range(n)]
    wkts = [f"Polygon(({x} {y}, {x + SIDE} {y}, {x + SIDE} {y + SIDE}, {x} {y + SIDE}, {x} {y}))" for x, y in corners]
    return make_layer({"da": [f"460{i}" for i in range(n)], "people": [float(people)] * n}, wkts)


def points(weight=1.0):
    rng = np.random.default_rng(1)
    places = rng.uniform((WEST, SOUTH), (WEST + 3 * SIDE, SOUTH + 3 * SIDE), (60, 2)).tolist()
    return make_layer({"weight": [float(weight)] * 60}, [f"Point({x} {y})" for x, y in places])


def records(count=1.0):
    columns = {"home": [f"460{i % 9}" for i in range(180)], "sex": ["F", "M"] * 90, "n": [float(count)] * 180}
    return make_layer(columns)


REGIONS = {"REGION_ID": "da", "CROSSWALK": "memory:"}
RECORDS = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex"]}
MASK = {"POPULATION": "people", "MASKED": "memory:", "SEED": 1}
AUDIT = {"POPULATION": "people", "AUDIT": "memory:", "K_INNER": "5,10", "K_MIN": "5"}
CELLS = {"CELL_ID": "da", "POPULATIONS": ["people"], "CROSSWALK": "memory:", "WORKERS": 1, "RESTARTS": 1}
# Form, what it is given but for the number, and where the number goes.
FORMS = [
    (
        "anonymize",
        lambda x: {"REGIONS": squares(x), "POPULATION": "people", "RECORDS": records(), **REGIONS, **RECORDS},
    ),
    ("anonymize", lambda x: {"REGIONS": squares(), "RECORDS": records(x), "RECORD_COUNT": "n", **REGIONS, **RECORDS}),
    *(
        ("anonymize", lambda x, name=name: {"REGIONS": squares(), "RECORDS": records(), **REGIONS, **RECORDS, name: x})
        for name in ("K", "N_SITES", "SEED", "LOG_BASE", "CUTOFF", "GAPS_EXPONENT", "GAPS_COEFFICIENT")
    ),
    *(
        (
            "anonymize",
            lambda x, name=name, how=how: {
                "REGIONS": squares(),
                "RECORDS": records(),
                **REGIONS,
                **RECORDS,
                "COMBINATION": "custom",
                "SITE_NUMBER": "given number",
                "N_SITES": 3,
                "AGGREGATION": how,
                name: x,
            },
        )
        for name, how in (
            ("FLOOR", "population floor"),
            ("CAPACITY_FACTOR", "transportation-location"),
            ("CAPACITY_FACTOR", "alternating location-allocation"),
        )
    ),
    ("staticcutoff", lambda x: {"REGIONS": squares(), "POPULATION": "people", **REGIONS, "CUTOFF": x}),
    ("mergeadjacent", lambda x: {"REGIONS": squares(), "POPULATION": "people", **REGIONS, "CUTOFF": x}),
    (
        "mergeadjacent",
        lambda x: {"REGIONS": squares(x), "POPULATION": "people", **REGIONS, "CUTOFF": 700, "MAXIMUM": x},
    ),
    ("cropidentifiers", lambda x: {"REGIONS": squares(), **REGIONS, "CHARACTERS": x}),
    ("locateallocate", lambda x: {"REGIONS": squares(), **REGIONS, "N_SITES": 3, "CAPACITY_FACTOR": x}),
    ("donutmask", lambda x: {"POINTS": points(), "AREAS": squares(x), **MASK}),
    ("donutmask", lambda x: {"POINTS": points(), "AREAS": squares(), **MASK, "K_INNER": x}),
    ("donutmask", lambda x: {"POINTS": points(), "AREAS": squares(), **MASK, "K_OUTER": x}),
    ("donutmask", lambda x: {"POINTS": points(), "AREAS": squares(), **MASK, "HOUSEHOLDS": points(), "K_MIN": x}),
    (
        "donutmask",
        lambda x: {
            "POINTS": points(),
            "AREAS": squares(),
            "HOUSEHOLDS": points(x),
            "HOUSEHOLD_COUNT": "weight",
            "MASKED": "memory:",
        },
    ),
    ("donutaudit", lambda x: {"HOUSEHOLDS": points(), "AREAS": squares(x), **AUDIT}),
    ("donutaudit", lambda x: {"HOUSEHOLDS": points(), "AREAS": squares(), **AUDIT, "K_INNER": str(x)}),
    ("donutaudit", lambda x: {"HOUSEHOLDS": points(), "AREAS": squares(), **AUDIT, "K_MIN": str(x)}),
    ("donutaudit", lambda x: {"HOUSEHOLDS": points(), "AREAS": squares(), **AUDIT, "OUTER_FACTOR": x}),
    ("partitioncells", lambda x: {"CELLS": squares(x), **CELLS}),
    ("partitioncells", lambda x: {"CELLS": squares(), **CELLS, "K": x}),
    (
        "generaterecords",
        lambda x: {
            "REGIONS": squares(),
            "REGION_ID": "da",
            "VARIATION": x,
            "LEAST": 2,
            "MOST": 3,
            "RECORDS": "memory:",
        },
    ),
    (
        "generaterecords",
        lambda x: {
            "REGIONS": squares(),
            "REGION_ID": "da",
            "VARIATION": 0.5,
            "REACH": x,
            "LEAST": 2,
            "MOST": 3,
            "RECORDS": "memory:",
        },
    ),
    (
        "compare",
        lambda x: {
            "REGIONS": squares(),
            "REGION_ID": "da",
            "RECORDS": records(),
            **RECORDS,
            "SITE_NUMBERS": "given number",
            "N_SITES": 3,
            "AGGREGATIONS": "transportation-location",
            "CAPACITY_FACTORS": str(x),
            "COMPARISON": "memory:",
        },
    ),
]


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize("case", range(len(FORMS)), ids=lambda i: f"{FORMS[i][0]}-{i}")
def test_a_number_that_nobody_means_ends_in_a_sentence_or_a_result(run, case, number):
    name, parameters = FORMS[case]
    release = {"RELEASED_RECORDS": "memory:"} if name == "anonymize" else {}
    try:
        run(name, **release, **parameters(number))
    except QgsProcessingException as error:
        text = str(error)
        assert "Traceback" not in text and "\n" not in text.strip(), text
        assert text.strip().endswith((".", "?")), text
