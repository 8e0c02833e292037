"""Numbers that nobody means end in one sentence or in a result, never in a traceback."""

from __future__ import annotations

import math

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from ..exploring import tried
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


def levels():
    """Nine areas in regions of three, and all of them."""
    numbers = list(range(9))
    columns = {f"vbas_region_{level}": [1 + i // size for i in numbers] for level, size in ((1, 1), (2, 3), (3, 9))}
    return make_layer({"da": [f"460{i}" for i in numbers], **columns})


def released(count=1.0):
    """Rows of a nested release by these levels."""
    columns = {"vbas_level": [1] * 90 + [2] * 90, "vbas_region": [1 + i % 9 for i in range(90)] + [1, 2, 3] * 30}
    return make_layer({**columns, "sex": ["F"] * 90 + ["M"] * 90, "n": [float(count)] * 180})


REGIONS = {"REGION_ID": "da", "CROSSWALK": "memory:"}
RECORDS = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex"]}
MASK = {"POPULATION": "people", "MASKED": "memory:", "SEED": 1}
AUDIT = {"POPULATION": "people", "AUDIT": "memory:", "K_INNER": "5,10", "K_MIN": "5"}
PLANTED = {"PLANTED_CLUSTERS": 1, "COMPARE_WITH": ["random perturbation", "centre of the area"]}
NESTED = {"RELEASE": "nested levels"}
FLAT = {"QUASI_IDENTIFIERS": ["sex"], "FLATTENED": "memory:"}
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
    (
        "anonymize",
        lambda x: {"REGIONS": squares(x), "POPULATION": "people", "RECORDS": records(), **REGIONS, **RECORDS, **NESTED},
    ),
    (
        "anonymize",
        lambda x: {"REGIONS": squares(), "RECORDS": records(x), "RECORD_COUNT": "n", **REGIONS, **RECORDS, **NESTED},
    ),
    *(
        (
            "anonymize",
            lambda x, name=name: {
                "REGIONS": squares(),
                "POPULATION": "people",
                "RECORDS": records(),
                **REGIONS,
                **RECORDS,
                **NESTED,
                name: x,
            },
        )
        for name in ("K", "COARSEST", "RATIO", "LEAST_POPULATION", "SEED")
    ),
    *(
        (
            "nestlevels",
            lambda x, name=name: {"REGIONS": squares(), "POPULATION": "people", **REGIONS, name: x},
        )
        for name in ("COARSEST", "RATIO", "LEAST_POPULATION", "SEED")
    ),
    ("nestlevels", lambda x: {"REGIONS": squares(x), "POPULATION": "people", **REGIONS}),
    ("nestlevels", lambda x: {"REGIONS": squares(), **REGIONS, "LEVEL_FIELDS": ["da"], "LEAST_POPULATION": x}),
    ("flattenrelease", lambda x: {"RECORDS": released(), "CROSSWALK": levels(), **FLAT, "LEVEL": x}),
    ("flattenrelease", lambda x: {"RECORDS": released(), "CROSSWALK": levels(), **FLAT, "LEVEL": 3, "K": x}),
    (
        "flattenrelease",
        lambda x: {"RECORDS": released(x), "CROSSWALK": levels(), **FLAT, "LEVEL": 3, "RECORD_COUNT": "n"},
    ),
    ("staticcutoff", lambda x: {"REGIONS": squares(), "POPULATION": "people", **REGIONS, "CUTOFF": x}),
    ("mergeadjacent", lambda x: {"REGIONS": squares(), "POPULATION": "people", **REGIONS, "CUTOFF": x}),
    (
        "mergeadjacent",
        lambda x: {"REGIONS": squares(x), "POPULATION": "people", **REGIONS, "CUTOFF": 700, "MAXIMUM": x},
    ),
    ("cropidentifiers", lambda x: {"REGIONS": squares(), **REGIONS, "CHARACTERS": x}),
    ("cropidentifiers", lambda x: {"REGIONS": squares(), **REGIONS, "LEAVE_OUT": x}),
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
    ("donutaudit", lambda x: {"HOUSEHOLDS": points(), "AREAS": squares(), **AUDIT, "K_OUTER": str(x)}),
    ("donutaudit", lambda x: {"HOUSEHOLDS": points(), "AREAS": squares(), **AUDIT, **PLANTED, "CLUSTER_RISK": x}),
    ("donutaudit", lambda x: {"HOUSEHOLDS": points(), "AREAS": squares(), **AUDIT, **PLANTED, "CLUSTER_PERCENT": x}),
    ("donutaudit", lambda x: {"HOUSEHOLDS": points(), "AREAS": squares(x), **AUDIT, **PLANTED, "CLUSTER_CASES": 9}),
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


# In every run three of the numbers for each, others for the next, so that all are tried for every kind of field.
GIVEN = [
    pytest.param(case, number, id=f"{FORMS[case][0]}-{case}-{number}")
    for case in range(len(FORMS))
    for at, number in enumerate(HUGE)
    if (case + at) % len(HUGE) in tried((0, 1, 3), range(len(HUGE)))
]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "number"), GIVEN)
def test_a_number_that_nobody_means_ends_in_a_sentence_or_a_result(run, case, number):
    name, parameters = FORMS[case]
    release = {"RELEASED_RECORDS": "memory:"} if name == "anonymize" else {}
    try:
        run(name, **release, **parameters(number))
    except QgsProcessingException as error:
        text = str(error)
        assert "Traceback" not in text and "\n" not in text.strip(), text
        assert text.strip().endswith((".", "?")), text


@pytest.mark.parametrize("number", [math.nan, "nan", math.inf, "inf", -math.inf])
@pytest.mark.parametrize("name", ["K", "COARSEST", "RATIO", "LEAST_POPULATION"])
@pytest.mark.parametrize("form", ["anonymize", "nestlevels"])
def test_what_is_no_number_is_refused_by_name(run, form, name, number):
    given = {"REGIONS": squares(), "POPULATION": "people", **REGIONS, "RECORDS": records(), **RECORDS, name: number}
    if form == "anonymize":
        given |= {**NESTED, "RELEASED_RECORDS": "memory:"}
    with pytest.raises(QgsProcessingException, match=rf"^{name} is .*: give a (whole )?number (of at least|from)"):
        run(form, **given)


def test_levels_of_many_steps_end(run):
    """The least ratio and the largest: as many levels as areas allow, or two."""
    given = {"REGIONS": squares(), "POPULATION": "people", **REGIONS}
    assert run("nestlevels", **given, RATIO=1.2).results["N_LEVELS"] == 9
    assert run("nestlevels", **given, RATIO=1e15).results["N_LEVELS"] == 2
    assert run("nestlevels", **given, COARSEST=2**31 - 1).results["N_LEVELS"] == 1
