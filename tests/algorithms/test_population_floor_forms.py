"""The aggregation `population floor` in the toolbox: alone, in the main algorithm, in the comparison."""

from __future__ import annotations

import pytest
import shapely
from qgis.core import QgsProcessingException

from .conftest import make_layer


def shapes_of(layer):
    return [shapely.from_wkb(bytes(feature.geometry().asWkb())) for feature in layer.getFeatures()]


def test_without_sites_where_a_floor_is_given(run, grid):
    areas, _ = grid
    parameters = {
        "REGIONS": areas,
        "REGION_ID": "da",
        "POPULATION": "people",
        "AGGREGATION": "population floor",
        "CROSSWALK": "memory:",
        "RELEASED_REGIONS": "memory:",
    }
    done = run("aggregate", **parameters, FLOOR=120)
    assert done.results["N_SITES"] == 12
    assert all(row["areas"] >= 3 for row in done.rows("RELEASED_REGIONS"))
    assert all(len(shapely.get_parts(shape)) == 1 for shape in shapes_of(done.layer("RELEASED_REGIONS")))
    with pytest.raises(QgsProcessingException, match="SITES"):
        run("aggregate", **parameters)
    sites = make_layer({"n": list(range(9))}, [f"Point({630_000 + 10 * i} 5520000)" for i in range(9)])
    shared = run("aggregate", **parameters, SITES=sites)
    assert 8 <= shared.results["N_SITES"] <= 9
    assert all(row["areas"] >= 4 for row in shared.rows("RELEASED_REGIONS"))  # an even share of 36 areas
    with pytest.raises(QgsProcessingException, match="SITES"):
        run("aggregate", **{**parameters, "AGGREGATION": "basic Voronoi"}, FLOOR=120)


def test_polygons_that_do_not_touch_are_no_neighbours(run):
    # Two rows of squares on either side of a river: their middles are near, and no region crosses the water.
    wkts, names = [], []
    for row, south in enumerate((0, 150)):
        for col in range(6):
            west = 630_000 + 100 * col
            wkts.append(
                f"Polygon(({west} {south}, {west + 100} {south}, {west + 100} {south + 100}, {west} {south + 100}, "
                f"{west} {south}))"
            )
            names.append(f"{row}{col}")
    areas = make_layer({"da": names, "people": [10] * 12}, wkts)
    done = run(
        "aggregate",
        REGIONS=areas,
        REGION_ID="da",
        POPULATION="people",
        AGGREGATION="population floor",
        FLOOR=20,
        CROSSWALK="memory:",
    )
    banks: dict[object, set[str]] = {}
    for row in done.rows("CROSSWALK"):
        banks.setdefault(row["vbas_region"], set()).add(row["da"][0])
    assert all(len(bank) == 1 for bank in banks.values())
    assert done.results["N_SITES"] == 6


def test_in_the_main_algorithm_and_in_the_comparison(run, anonymize, grid):
    done = anonymize(AGGREGATION="population floor", FLOOR=160)
    audit = done.rows("REGION_AUDIT")
    assert min(row["population"] for row in audit) >= 160
    assert all(row["parts"] == 1 for row in audit)
    areas, records = grid
    compared = run(
        "compare",
        REGIONS=areas,
        REGION_ID="da",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        SITE_NUMBERS=["given number"],
        N_SITES=6,
        SITE_LOCATIONS=["balanced density"],
        AGGREGATIONS=["population floor"],
        FLOOR=160,
        COMPARISON="memory:",
    ).rows("COMPARISON")
    assert [(row["aggregation"], row["site_location"], row["capacity_factor"]) for row in compared] == [
        ("population floor", None, None)
    ]
    assert compared[0]["n_sites"] == done.results["N_SITES"]
    assert compared[0]["compactness"] == pytest.approx(done.results["COMPACTNESS"])
