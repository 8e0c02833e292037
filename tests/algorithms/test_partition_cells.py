"""The partition of cells inside QGIS: squares, points, areas of any shape, outputs, bad input, cancel."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from vbas.algorithms.named import ICONS

from .conftest import make_layer

SIDE, SIZE = 8, 250.0
YEARS = ["p2010", "p2011", "p2012"]
OUTPUTS = ("CROSSWALK", "GROUPS", "LEFT_OUT")


def field_of_cells(points=False, seed=1, crs="EPSG:25833", drop=(), scale=SIZE, origin=(598_000.0, 6_643_000.0)):
    """8 x 8 squares, one of them an island with nobody to join; people in three years, households in two."""
    rng = np.random.default_rng(seed)
    places = [(col, row) for row in range(SIDE) for col in range(SIDE)] + [(SIDE + 3, 0)]
    places = [place for place in places if place not in drop]
    people = rng.integers(0, 60, (len(places), 3))
    people[-1] = 7
    columns = {"cell": [f"c{col}_{row}" for col, row in places], "parish": [f"{col // 4}" for col, _ in places]}
    columns.update({year: values.tolist() for year, values in zip(YEARS, people.T)})
    columns.update({"h2010": (people[:, 0] // 3).tolist(), "h2011": (people[:, 1] // 3).tolist()})
    wkts = []
    for col, row in places:
        x, y = origin[0] + col * scale, origin[1] + row * scale
        square = f"Polygon(({x} {y}, {x + scale} {y}, {x + scale} {y + scale}, {x} {y + scale}, {x} {y}))"
        wkts.append(f"Point({x} {y})" if points else square)
    return make_layer(columns, wkts, crs)


@pytest.fixture
def partition(run):
    """Run vbas:partitioncells on the field, with what the test changes."""

    def one(**changes):
        parameters = {
            "CELLS": None,
            "CELL_ID": "cell",
            "POPULATIONS": YEARS,
            "K": 100,
            "RESTARTS": 2,
            **dict.fromkeys(OUTPUTS, "memory:"),
            **changes,
        }
        parameters["CELLS"] = parameters["CELLS"] or field_of_cells()
        return run("partitioncells", **{name: value for name, value in parameters.items() if value is not None})

    return one


@pytest.mark.parametrize("approach", ["random growth", "compact growth"])
def test_outputs(partition, approach):
    cells = field_of_cells()
    done = partition(CELLS=cells, APPROACH=approach)
    crosswalk = {row["cell"]: row["vbas_region"] for row in done.rows("CROSSWALK")}
    assert len(crosswalk) == 65
    groups = done.rows("GROUPS")
    assert list(groups[0]) == [
        "vbas_region", "cells", *YEARS, "least", "density", "area_km2", "area_hull", "sqrt_hull"
    ]  # fmt: skip
    assert [row["vbas_region"] for row in groups] == list(range(1, done.results["N_GROUPS"] + 1))
    people = {feature["cell"]: [feature[year] for year in YEARS] for feature in cells.getFeatures()}
    for row, feature in zip(groups, done.layer("GROUPS").getFeatures()):
        members = [cell for cell, region in crosswalk.items() if region == row["vbas_region"]]
        sums = np.sum([people[cell] for cell in members], axis=0).tolist()
        assert row["cells"] == len(members)
        assert [row[year] for year in YEARS] == sums
        assert row["least"] == min(sums) >= 100
        assert row["area_km2"] == pytest.approx(len(members) * 0.0625)
        assert row["density"] == pytest.approx(np.mean(sums) / row["area_km2"])
        assert feature.geometry().area() == pytest.approx(len(members) * SIZE**2)
        hull = feature.geometry().convexHull().area()
        assert row["sqrt_hull"] == pytest.approx(np.sqrt(hull))
        assert row["area_hull"] == pytest.approx(len(members) * SIZE**2 / hull)
    left = {row["cell"]: row for row in done.rows("LEFT_OUT")}
    assert set(left) == {cell for cell, region in crosswalk.items() if region is None}
    assert "too few people" in left["c11_0"]["reason"]
    assert [left["c11_0"][year] for year in YEARS] == [7, 7, 7]
    out = sum(sum(people[cell]) for cell in left)
    assert done.results["NON_POP"] == pytest.approx(out / sum(map(sum, people.values())))
    assert done.results["LOSS"] == pytest.approx(-0.99 * done.results["NON_POP"] - 0.01 * done.results["WEIGHTED_DIST"])


def test_outputs_say_what_they_are(provider):
    algorithm = provider.algorithm("partitioncells")
    kinds = {
        one.name(): re.findall(r"\((for release|internal)\)", one.description())[0]
        for one in algorithm.destinationParameterDefinitions()
    }
    assert kinds == {"CROSSWALK": "for release", "GROUPS": "for release", "LEFT_OUT": "internal", "REPORT": "internal"}
    assert ElementTree.parse(ICONS / "partitioncells.svg").getroot().get("viewBox") == "0 0 24 24"
    for definition in algorithm.parameterDefinitions():
        assert definition.help(), definition.name()


def test_groups_stay_within_units_and_the_rest_falls_back(partition, run, tmp_path):
    cells, page = field_of_cells(), tmp_path / "cells.html"
    done = partition(CELLS=cells, WITHIN="parish", K=700, FALL_BACK=True, REPORT=str(page))
    crosswalk = {row["cell"]: (row["vbas_region_1"], row["vbas_region_2"]) for row in done.rows("CROSSWALK")}
    parish = {feature["cell"]: feature["parish"] for feature in cells.getFeatures()}
    people = {feature["cell"]: [feature[year] for year in YEARS] for feature in cells.getFeatures()}
    rests = {row["vbas_region"]: row["rest_of"] for row in done.rows("GROUPS")}
    for level in (0, 1):
        for region in {one[level] for one in crosswalk.values()} - {None}:
            members = [cell for cell, regions in crosswalk.items() if regions[level] == region]
            assert len({parish[cell] for cell in members}) == 1
            assert min(np.sum([people[cell] for cell in members], axis=0)) >= 700
            if level == 0 and rests[region] is not None:
                assert {parish[cell] for cell in members} == {rests[region]}
    assert crosswalk["c11_0"] == (None, None)  # its parish has nobody else
    assert {row["cell"]: row["vbas_rest"] for row in done.rows("LEFT_OUT")}["c11_0"] is None
    fallen = [row for row in done.rows("LEFT_OUT") if row["vbas_rest"] is not None]
    assert done.results["N_FALL_BACK"] == len(fallen)
    assert all(rests[row["vbas_rest"]] == parish[row["cell"]] for row in fallen)
    assert "By unit" in page.read_text(encoding="utf-8")


def test_groups_that_branch_out_are_left_out(partition, tmp_path):
    page = tmp_path / "cells.html"
    whole, done = partition(), partition(LEAST_HULL_SHARE=0.9, OFFICIAL_AREA="parish", REPORT=str(page))
    shares = sorted(row["area_hull"] for row in whole.rows("GROUPS"))
    assert shares[0] < 0.9 <= shares[-1]
    assert sorted(row["area_hull"] for row in done.rows("GROUPS")) == [share for share in shares if share >= 0.9]
    assert {row["reason"] for row in done.rows("LEFT_OUT")} == {
        "too few people live in the cells it is connected with",
        "its group fills too little of its hull",
    }
    assert "Half of the people are in groups of at most" in page.read_text(encoding="utf-8")


def test_neighbours_within_a_distance_reach_an_island(partition):
    near = {"NEIGHBOURS": "within a distance"}
    alone, joined = partition(**near, NEIGHBOUR_DISTANCE=100), partition(**near, NEIGHBOUR_DISTANCE=900)
    regions = [{row["cell"]: row["vbas_region"] for row in done.rows("CROSSWALK")} for done in (alone, joined)]
    assert regions[0]["c11_0"] is None and regions[1]["c11_0"] is not None


@pytest.mark.slow
def test_chunks_by_surface(partition):
    pytest.importorskip("networkx")
    whole, cut = partition(), partition(CHUNK_KM2=1.0)
    assert whole.rows("CROSSWALK") != cut.rows("CROSSWALK")
    assert partition(CHUNK_KM2=100.0).rows("CROSSWALK") == whole.rows("CROSSWALK")


def test_a_crosswalk_of_groups_and_units_releases_records(partition, run):
    """The hamlet's parish completes its rest with a group: its people are shown by parish, and by parish alone."""
    cells = make_layer(
        {"cell": ["a", "b", "c", "d"], "parish": ["p", "p", "p", "q"], "people": [60, 45, 40, 70]},
        [f"Polygon(({x} 0, {x + 100} 0, {x + 100} 100, {x} 100, {x} 0))" for x in (0, 100, 500, 900)],
        "EPSG:25833",
    )
    done = partition(CELLS=cells, POPULATIONS=["people"], K=40, WITHIN="parish", FALL_BACK=True, LEFT_OUT=None)
    rows = [(cell, "F" if i % 7 else "M") for cell, n in zip("abcd", (60, 45, 40, 70)) for i in range(n)]
    records = make_layer({"home": [cell for cell, _ in rows], "sex": [sex for _, sex in rows]})
    released = run(
        "releaserecords",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        CROSSWALK=done.layer("CROSSWALK"),
        REGIONS=cells,
        REGION_ID="cell",
        K=10,
        RELEASED_RECORDS="memory:",
    )
    levels = {(row["vbas_level"], row["sex"]) for row in released.rows("RELEASED_RECORDS")}
    assert (1, "F") in levels and (2, "M") in levels


def test_points_give_the_same_groups_as_squares(partition):
    squares = partition(CELLS=field_of_cells())
    points = partition(CELLS=field_of_cells(points=True), CELL_SIZE=250, CELL_POINT="lower left corner")
    assert squares.rows("CROSSWALK") == points.rows("CROSSWALK")
    own, theirs = (
        [feature.geometry().area() for feature in done.layer("GROUPS").getFeatures()] for done in (squares, points)
    )
    assert np.allclose(own, theirs)
    one, other = (done.layer("GROUPS").extent() for done in (squares, points))
    assert (one.xMinimum(), one.yMaximum()) == pytest.approx((other.xMinimum(), other.yMaximum()))


def test_degrees_are_measured_in_metres(partition):
    done = partition(CELLS=field_of_cells(crs="EPSG:4326", scale=0.01, origin=(10.0, 60.0)))
    assert done.results["N_GROUPS"] > 3
    # A hundredth of a degree at 60° north is 0.56 km by 1.11 km.
    row = done.rows("GROUPS")[0]
    assert row["area_km2"] / row["cells"] == pytest.approx(0.557 * 1.114, rel=0.01)
    assert any("Lambert" in line for line in done.log)


def test_several_minimums_hold_at_once(partition):
    one = partition()
    done = partition(POPULATIONS_2=["h2010", "h2011"], K_2=90)
    groups = done.rows("GROUPS")
    assert min(row["least"] for row in groups) >= 100
    assert min(row["least_2"] for row in groups) >= 90
    assert all(row["least_2"] == min(row["h2010"], row["h2011"]) for row in groups)
    assert done.results["N_GROUPS"] < one.results["N_GROUPS"]


def test_corners_reach_further(partition):
    chessboard = {(col, row) for col in range(SIDE) for row in range(SIDE) if (col + row) % 2}
    with pytest.raises(QgsProcessingException, match="No connected set of cells"):
        partition(CELLS=field_of_cells(drop=chessboard))
    done = partition(CELLS=field_of_cells(drop=chessboard), NEIGHBOURS="edge or corner")
    assert done.results["N_GROUPS"] > 3


@pytest.mark.slow
def test_settings_reach_the_method(partition, monkeypatch):
    assert partition(SEED=1).rows("CROSSWALK") == partition(SEED=1).rows("CROSSWALK")
    assert partition(SEED=1).rows("CROSSWALK") != partition(SEED=2).rows("CROSSWALK")
    assert partition(BETA=0.2).results["NON_POP"] > partition().results["NON_POP"]
    losses = [partition(REGROUPINGS=n, RESTARTS=1).results["LOSS"] for n in (0, 50)]
    assert losses[0] < losses[1]
    few, many = (partition(APPROACH="random growth", ATTEMPTS=n, RESTARTS=1) for n in (1, 100))
    assert few.results["NON_POP"] > many.results["NON_POP"]
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(QgsProcessingException, match="networkx"):
        partition(CHUNK_CELLS=10)


def test_the_report_tells_all(partition, tmp_path):
    report = tmp_path / "report.html"
    done = partition(REPORT=str(report), OFFICIAL_AREA="parish", APPROACH="random growth")
    page = report.read_text(encoding="utf-8")
    assert f"{done.results['N_GROUPS']} groups, each connected and with at least 100" in page
    assert "Figure 4" in page and "Figure 5" in page and "Figure 6" in page
    assert "“parish”" in page and "</svg>parish</li>" in page
    assert page.count('class="map"') == 1 and page.count('class="chart"') == 3
    assert "no group could take it" in page
    assert "More than 2 % of the people are left out, most of them because no group could take it" in page
    assert f"{done.results['LOSS']:.5f}" in page
    # What counts for this approach is told, what does not is left out.
    assert "Attempts (random growth) (ATTEMPTS)" in page
    assert "(REGROUPINGS)" not in page


def test_everything_goes_to_files(partition, tmp_path):
    paths = {name: str(tmp_path / f"{name.lower()}.gpkg") for name in OUTPUTS}
    done = partition(**paths)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crosswalk.gpkg", "groups.gpkg", "left_out.gpkg"]
    assert done.layer("GROUPS").featureCount() == done.results["N_GROUPS"]


def test_the_crosswalk_goes_on_to_the_release(partition, run):
    cells = field_of_cells()
    crosswalk = partition(CELLS=cells)
    homes = [feature["cell"] for feature in cells.getFeatures() for _ in range(feature["p2010"])]
    records = make_layer({"home": homes, "sex": ["F" if i % 2 else "M" for i in range(len(homes))]})
    done = run(
        "releaserecords",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        CROSSWALK=crosswalk.layer("CROSSWALK"),
        K=5,
        RELEASED_RECORDS="memory:",
    )
    assert done.results["N_SUPPRESSED"] >= 7
    assert {row["vbas_region"] for row in done.rows("RELEASED_RECORDS")} == set(
        range(1, crosswalk.results["N_GROUPS"] + 1)
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"K": 100_000}, "No connected set of cells reaches the minimum of 100\u00a0000"),
        ({"CELL_ID": "parish"}, "CELL_ID is not unique"),
        ({"CELL_ID": "nothing"}, "there is no field “nothing” in CELLS"),
        ({"CELLS": "points"}, "give the side of a cell in metres as CELL_SIZE"),
        ({"CELLS": "points", "CELL_SIZE": 1000}, "not on a grid of 1000 metres"),
        ({"CELLS": "degrees", "CELL_SIZE": 1}, "reproject"),
        ({"CELLS": "null"}, "Population field “p2011” is missing in 1 cell"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(partition, tmp_path, changes, said):
    kinds = {
        "points": lambda: field_of_cells(points=True),
        "degrees": lambda: field_of_cells(points=True, crs="EPSG:4326", scale=0.01, origin=(10.0, 60.0)),
        "null": with_a_null,
    }
    changes = {name: kinds[value]() if name == "CELLS" else value for name, value in changes.items()}
    with pytest.raises(QgsProcessingException, match=said) as raised:
        partition(**changes, GROUPS=str(tmp_path / "groups.gpkg"))
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.iterdir())


def with_a_null():
    square = "Polygon((0 0, 250 0, 250 250, 0 250, 0 0))"
    beside = "Polygon((250 0, 500 0, 500 250, 250 250, 250 0))"
    people = {"p2010": [100, 100], "p2011": [100, None], "p2012": [100, 100]}
    return make_layer({"cell": ["a", "b"], **people}, [square, beside], "EPSG:25833")


def test_cancel_leaves_nothing(partition, tmp_path):
    with pytest.raises(QgsProcessingException, match="Cancelled"):
        partition(stop_at=20, RESTARTS=50, GROUPS=str(tmp_path / "groups.gpkg"))
    assert not list(tmp_path.iterdir())
