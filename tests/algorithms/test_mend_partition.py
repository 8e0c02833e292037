"""vbas:mendpartition in the toolbox: groups that fail in further years, moves, the mended crosswalk."""

from __future__ import annotations

import re

import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer

PEOPLE = {"p2010": [60, 50, 30, 40, 90], "p2020": [60, 40, 30, 40, 90]}


def row_of_cells(n=5):
    wkts = [f"Polygon(({x} 0, {x + 100} 0, {x + 100} 100, {x} 100, {x} 0))" for x in range(0, 100 * n, 100)]
    columns = {"cell": [f"c{i}" for i in range(n)], **{year: people[:n] for year, people in PEOPLE.items()}}
    return make_layer(columns, wkts, "EPSG:25833")


def crosswalk(regions):
    return make_layer({"cell": [f"c{i}" for i in range(len(regions))], "vbas_region": regions})


@pytest.fixture
def mended(run):
    def one(**changes):
        given = {
            "CELLS": row_of_cells(),
            "CELL_ID": "cell",
            "POPULATIONS": list(PEOPLE),
            "K": 110,
            "CROSSWALK": crosswalk([4, 4, 7, 7, 7]),
            **dict.fromkeys(("FAILING", "MOVES", "MENDED"), "memory:"),
        }
        return run("mendpartition", **{**given, **changes})

    return one


def test_outputs(mended, tmp_path):
    page = tmp_path / "page.html"
    done = mended(REPORT=str(page))
    assert done.rows("FAILING") == [
        {"vbas_region": 4, "fault": "too few people in some year", "cells": 2, "p2010": 110, "p2020": 100, "least": 100}
    ]
    assert done.rows("MOVES") == [{"cell": "c2", "p2010": 30, "p2020": 30, "from_region": 7, "to_region": 4}]
    assert [row["vbas_region"] for row in done.rows("MENDED")] == [4, 4, 4, 7, 7]
    numbers = ("N_FAILING", "N_MOVES", "N_GIVEN_UP", "PROVEN")
    assert {name: done.results[name] for name in numbers} == dict(zip(numbers, (1, 1, 0, 1)))
    text = re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))
    assert "No mend has fewer moves" in text and "can subtract" in text and "What was not looked at" in text
    assert any("1 of 2 groups fails" in line for line in done.log)


def test_only_told(mended):
    done = mended(MEND=False, MOVES=None, MENDED=None)
    assert done.results["N_FAILING"] == 1
    assert "N_MOVES" not in done.results
    assert len(done.rows("FAILING")) == 1


def test_cells_that_are_new_are_taken_in_where_they_help(mended):
    done = mended(CROSSWALK=crosswalk([4, 4]), POPULATIONS=["p2020"])
    assert [row["vbas_region"] for row in done.rows("MENDED")] == [4, 4, 4, None, None]
    assert done.rows("MOVES")[0]["from_region"] is None
    assert any("3 cells are not in the crosswalk" in line for line in done.log)


def test_cells_that_are_gone_are_refused(mended):
    with pytest.raises(QgsProcessingException, match="1 cell that is not in CELLS"):
        mended(CELLS=row_of_cells(4))


def test_outputs_say_what_they_are(provider):
    algorithm = provider.algorithm("mendpartition")
    kinds = {
        one.name(): re.findall(r"\((for release|internal)\)", one.description())[0]
        for one in algorithm.destinationParameterDefinitions()
    }
    assert kinds == {"FAILING": "internal", "MOVES": "internal", "MENDED": "for release", "REPORT": "internal"}
    for definition in algorithm.parameterDefinitions():
        assert definition.help(), definition.name()
