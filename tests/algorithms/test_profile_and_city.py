"""Counting records, and the demonstration city as layers."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing

import numpy as np
import pytest
import shapely
from qgis.core import QgsProcessingException

from .conftest import make_layer


def test_profile_is_a_group_by(run, grid):
    done = run(
        "profilerecords", RECORDS=grid[1], RECORD_REGION="home", QUASI_IDENTIFIERS=["sex", "age"], PROFILE="memory:"
    )
    expected = Counter((f["home"], f["sex"], f["age"]) for f in grid[1].getFeatures())
    rows = done.rows("PROFILE")
    assert list(rows[0]) == ["home", "sex", "age", "records"]
    assert {(r["home"], r["sex"], r["age"]): r["records"] for r in rows} == dict(expected)
    assert done.results["N_RECORDS"] == 36 * 40
    assert done.results["N_CLASSES"] == 10
    again = run(
        "profilerecords",
        RECORDS=done.layer("PROFILE"),
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        RECORD_COUNT="records",
        PROFILE="memory:",
    )
    assert sum(r["records"] for r in again.rows("PROFILE")) == 36 * 40


def test_missing_values_are_a_category_of_their_own(run):
    records = make_layer({"home": ["a"] * 5 + [None], "sex": ["F", None, None, "", "F", "F"]})
    done = run("profilerecords", RECORDS=records, RECORD_REGION="home", QUASI_IDENTIFIERS=["sex"], PROFILE="memory:")
    rows = {(r["home"], r["sex"]): r["records"] for r in done.rows("PROFILE")}
    assert rows == {("a", "F"): 2, ("a", None): 2, ("a", ""): 1, (None, "F"): 1}


def test_profile_of_nothing_is_refused(run):
    with pytest.raises(QgsProcessingException, match="RECORDS is empty"):
        run(
            "profilerecords",
            RECORDS=make_layer({"home": [], "sex": []}),
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=["sex"],
            PROFILE="memory:",
        )


@pytest.mark.slow
def test_city_is_whole_and_inhabited(run, tmp_path):
    done = run("demonstrationcity", AREAS="memory:", RECORDS=str(tmp_path / "records.gpkg"), SEED=2)
    areas = done.rows("AREAS")
    shapes = [shapely.from_wkb(bytes(f.geometry().asWkb())) for f in done.layer("AREAS").getFeatures()]
    assert 1_050 < len(areas) < 1_200
    assert np.isclose(shapely.union_all(shapes).area, sum(shape.area for shape in shapes))
    assert all(row["area"].startswith("4699") and len(row["area"]) == 8 for row in areas)
    assert {row["population"] for row in areas if row["district"] == "river"} == {0}
    assert done.layer("RECORDS").featureCount() == sum(row["population"] for row in areas)
    with closing(sqlite3.connect(tmp_path / "records.gpkg")) as connection:
        people = dict(connection.execute("SELECT area, count(*) FROM records GROUP BY area"))
    assert {row["area"]: row["population"] for row in areas if row["population"]} == people
    assert all(400 <= n <= 700 for n in people.values())
    assert done.layer("AREAS").crs().authid() == "EPSG:26914"
