"""A layer in metres whose CRS says degrees is refused before any work, wherever a form reads coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from qgis.core import QgsCoordinateReferenceSystem, QgsProcessingException

from vbas.algorithms.layers.shapes.projection import check_degrees
from vbas.core.errors import InputError

from .conftest import make_layer

WEST, SOUTH, SIDE = 630_000, 5_520_000, 1000
SENTENCE = (
    r"^{} is declared to be in EPSG:4326, in degrees, but reaches from 630\xa0\d{{3}}(\.\d+)? to "
    r"63\d\xa0\d{{3}}(\.\d+)?"
    r" and from 5\xa0520\xa0\d{{3}}(\.\d+)? to 5\xa052\d\xa0\d{{3}}(\.\d+)?, which degrees never do: assign the "
    r"layer the coordinate reference system that it was made in\.$"
)


def squares(crs="EPSG:26914", n=4):
    corners = [(WEST + SIDE * (i % 2), SOUTH + SIDE * (i // 2)) for i in range(n)]
    wkts = [f"Polygon(({x} {y}, {x + SIDE} {y}, {x + SIDE} {y + SIDE}, {x} {y + SIDE}, {x} {y}))" for x, y in corners]
    columns = {"da": [f"460{i}" for i in range(n)], "people": [500] * n, "later": [600] * n}
    return make_layer(columns, wkts, crs)


def points(crs="EPSG:26914"):
    rng = np.random.default_rng(1)
    places = rng.uniform((WEST, SOUTH), (WEST + 2 * SIDE, SOUTH + 2 * SIDE), (50, 2)).tolist()
    return make_layer({"vbas_region": list(range(1, 51))}, [f"Point({x} {y})" for x, y in places], crs)


def records():
    return make_layer({"home": [f"460{i % 4}" for i in range(80)], "sex": ["F", "M"] * 40})


WRONG = "EPSG:4326"
MASK = {"POPULATION": "people", "MASKED": "memory:", "K_INNER": 10}
CASES = {
    "REGIONS": (
        "anonymize",
        lambda: {
            "REGIONS": squares(WRONG),
            "REGION_ID": "da",
            "RECORDS": records(),
            "RECORD_REGION": "home",
            "QUASI_IDENTIFIERS": ["sex"],
            "RELEASED_RECORDS": "memory:",
        },
    ),
    "SITES": (
        "aggregate",
        lambda: {"REGIONS": squares(), "REGION_ID": "da", "SITES": points(WRONG), "CROSSWALK": "memory:"},
    ),
    "POINTS": ("donutmask", lambda: {"POINTS": points(WRONG), "AREAS": squares(), **MASK}),
    "AREAS": ("donutmask", lambda: {"POINTS": points(), "AREAS": squares(WRONG), **MASK}),
    "HOUSEHOLDS": ("donutmask", lambda: {"POINTS": points(), "AREAS": squares(), "HOUSEHOLDS": points(WRONG), **MASK}),
    "FINER_AREAS": (
        "donutaudit",
        lambda: {
            "HOUSEHOLDS": points(),
            "AREAS": squares(),
            "POPULATION": "people",
            "FINER_AREAS": squares(WRONG),
            "FINER_POPULATION": "people",
            "K_INNER": "5",
            "K_MIN": "5",
            "AUDIT": "memory:",
        },
    ),
    "GROUPS": (
        "dotmap",
        lambda: {
            "GROUPS": squares(WRONG),
            "GROUP_ID": "da",
            "PEOPLE": "people",
            "RATE": "people",
            "POINTS": "memory:",
        },
    ),
    "CELLS": (
        "partitioncells",
        lambda: {"CELLS": squares(WRONG), "CELL_ID": "da", "POPULATIONS": ["people"], "CROSSWALK": "memory:"},
    ),
}


@pytest.mark.parametrize("layer", CASES)
def test_metres_declared_as_degrees_are_refused(run, layer):
    name, parameters = CASES[layer]
    with pytest.raises(QgsProcessingException, match=SENTENCE.format(layer)):
        run(name, **parameters())


@pytest.mark.parametrize(
    ("coordinates", "crs"),
    [
        ([[-180, -90], [180, 90]], "EPSG:4326"),
        ([[177, -18], [182, -17]], "EPSG:4326"),  # Fiji, counted on
        ([[0, 0], [359.9, 10]], "EPSG:4269"),
        ([[630_000, 5_520_000]], "EPSG:26914"),
        ([[np.nan, np.nan], [1, 1]], "EPSG:4326"),
        (np.empty((0, 2)), "EPSG:4326"),
        ([[180 + 1e-9, 90 + 1e-9]], "EPSG:4326"),
    ],
)
def test_degrees_and_metres_as_they_should_be(qgis_app, coordinates, crs):
    check_degrees(np.array(coordinates, float), QgsCoordinateReferenceSystem(crs), "REGIONS")


@pytest.mark.parametrize("coordinates", [[[1, 91]], [[-361, 0]], [[0, -500], [1, 1]], [[-190, 0], [190, 0]]])
def test_one_coordinate_is_enough(qgis_app, coordinates):
    with pytest.raises(InputError, match="which degrees never do"):
        check_degrees(np.array(coordinates, float), QgsCoordinateReferenceSystem("EPSG:4326"), "REGIONS")
