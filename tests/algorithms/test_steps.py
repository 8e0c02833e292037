"""The steps: each takes what the one before gives, and together they do what the main algorithm does."""

from __future__ import annotations

import numpy as np
import pytest
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsPointXY,
    QgsProcessingException,
    QgsProject,
)

from .conftest import make_layer
from .test_job_file import saved

REGIONS = {"REGION_ID": "da"}
RECORDS = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}


@pytest.fixture
def layers(grid):
    areas, records = grid
    return {"areas": {"REGIONS": areas, **REGIONS}, "records": {"RECORDS": records, **RECORDS}}


def crosswalk(identifiers, numbers):
    return make_layer({"da": list(identifiers), "vbas_region": list(numbers)})


def identifiers(grid):
    return [feature["da"] for feature in grid[0].getFeatures()]


@pytest.mark.slow
@pytest.mark.parametrize("aggregation", ["basic Voronoi", "iterative Voronoi", "site optimisation"])
@pytest.mark.parametrize("location", ["balanced density", "random", "anonymity-driven clustering"])
def test_chained_steps_equal_the_main_algorithm(run, anonymize, layers, location, aggregation):
    number = run(
        "sitenumber", **layers["records"], **layers["areas"], SITE_NUMBER="population cut-off", CUTOFF=250
    ).results["N_SITES"]
    located = run(
        "sitelocation",
        **layers["areas"],
        **layers["records"],
        N_SITES=number,
        SITE_LOCATION=location,
        SEED=3,
        SITE_POINTS="memory:",
    )
    joined = run(
        "aggregate",
        **layers["areas"],
        RECORDS=layers["records"]["RECORDS"],
        RECORD_REGION="home",
        SITES=located.layer("SITE_POINTS"),
        AGGREGATION=aggregation,
        CROSSWALK="memory:",
        SITE_POINTS="memory:",
        RELEASED_REGIONS="memory:",
        VORONOI="memory:",
    )
    released = run(
        "releaserecords",
        **layers["records"],
        CROSSWALK=joined.layer("CROSSWALK"),
        KEEP_FIELDS=["diagnosis"],
        RELEASED_RECORDS="memory:",
    )
    rated = run(
        "evaluate",
        **layers["areas"],
        **layers["records"],
        CROSSWALK=joined.layer("CROSSWALK"),
        SITES=joined.layer("SITE_POINTS"),
        REGION_AUDIT="memory:",
    )
    whole = anonymize(
        SITE_NUMBER="population cut-off",
        CUTOFF=250,
        SITE_LOCATION=location,
        AGGREGATION=aggregation,
        SEED=3,
        KEEP_FIELDS=["diagnosis"],
    )
    assert joined.rows("CROSSWALK") == whole.rows("CROSSWALK")
    assert released.rows("RELEASED_RECORDS") == whole.rows("RELEASED_RECORDS")
    assert rated.rows("REGION_AUDIT") == whole.rows("REGION_AUDIT")
    for name in ("N_SITES", "N_SUPPRESSED", "DISCERNIBILITY", "NON_UNIFORM_ENTROPY"):
        assert rated.results[name] == whole.results[name]
    assert np.isclose(rated.results["COMPACTNESS"], whole.results["COMPACTNESS"])
    assert released.results["N_SUPPRESSED"] == whole.results["N_SUPPRESSED"]


def test_site_number_tells_what_it_rests_on(run, layers):
    done = run("sitenumber", **layers["records"], GAPS_REGION="Western Canada").results
    assert done["MAX_COMBINATIONS"] == 10
    assert np.isclose(done["CUTOFF"], 1588 * 10**0.42)
    assert 0 < done["ENTROPY"] <= np.log(10)
    assert done["N_SITES"] == 1


@pytest.mark.parametrize("method", ["alternating location-allocation", "transportation-location"])
def test_transport_keeps_its_limit(run, layers, method):
    done = run(
        "locateallocate",
        **layers["areas"],
        N_SITES=5,
        METHOD=method,
        CAPACITY_FACTOR=1.0,
        CROSSWALK="memory:",
        RELEASED_REGIONS="memory:",
    )
    sizes = [row["areas"] for row in done.rows("RELEASED_REGIONS")]
    assert sum(sizes) == 36
    assert max(sizes) <= 8
    assert "released" not in done.rows("RELEASED_REGIONS")[0]


@pytest.mark.parametrize("crs", ["EPSG:25832", "EPSG:4326"])
def test_where_areas_overlap_their_common_ground_counts_once(run, crs):
    """The surface of a region is that of its shape; it was the sum of those of its areas."""
    x, y, side = (500_000.0, 5_600_000.0, 1000.0) if crs == "EPSG:25832" else (9.0, 50.0, 0.01)
    corners = [(x, y), (x + 0.5 * side, y), (x + 3 * side, y)]
    wkts = [f"Polygon(({a} {b}, {a + side} {b}, {a + side} {b + side}, {a} {b + side}, {a} {b}))" for a, b in corners]
    areas = make_layer({"area": ["a", "b", "c"]}, wkts, crs)
    names = crosswalk(["a", "b", "c"], [1, 1, 2])
    records = make_layer({"area": ["a", "b", "c"] * 9, "sex": ["F"] * 27})
    rows = run(
        "evaluate",
        REGIONS=areas,
        REGION_ID="area",
        RECORDS=records,
        RECORD_REGION="area",
        QUASI_IDENTIFIERS=["sex"],
        CROSSWALK=names,
        REGION_AUDIT="memory:",
    ).rows("REGION_AUDIT")
    both, alone = (row["area_km2"] for row in rows)
    assert both == pytest.approx(1.5 * alone, rel=1e-3)
    assert crs == "EPSG:4326" or alone == pytest.approx(1.0)


def test_transport_starts_from_sites_of_ones_own(run, layers):
    """From the sites where it ended nothing moves any more; from others it ends elsewhere."""
    given = {**layers["areas"], "CROSSWALK": "memory:", "SITE_POINTS": "memory:"}
    first = run("locateallocate", **given, N_SITES=5)
    again = run("locateallocate", **given, N_SITES=2, SITES=first.layer("SITE_POINTS"))
    assert again.rows("CROSSWALK") == first.rows("CROSSWALK")
    assert any("N_SITES" in line for line in again.log)  # which has no effect then
    corner = make_layer({"id": [1, 2]}, ["Point(630000 5520000)", "Point(630001 5520000)"])
    other = run("locateallocate", **given, SITES=corner)
    assert {row["vbas_region"] for row in other.rows("CROSSWALK")} in ({1}, {1, 2})


def test_regions_keep_the_numbers_of_a_given_crosswalk(run, grid, layers):
    names = identifiers(grid)
    table = crosswalk(names, [10] * 18 + [30] * 12 + [None] * 6)
    done = run("releaserecords", **layers["records"], CROSSWALK=table, RELEASED_RECORDS="memory:")
    assert {row["vbas_region"] for row in done.rows("RELEASED_RECORDS")} == {10, 30}
    assert done.results["N_SUPPRESSED"] >= 6 * 40
    rated = run("evaluate", **layers["areas"], **layers["records"], CROSSWALK=table, REGION_AUDIT="memory:")
    assert rated.results["N_SUPPRESSED"] == done.results["N_SUPPRESSED"]
    assert [row["vbas_region"] for row in rated.rows("REGION_AUDIT")] == [10, 30]


@pytest.mark.parametrize("with_sites", [False, True])
def test_a_release_says_what_it_cost_as_an_evaluation_does(run, grid, layers, tmp_path, with_sites):
    table = crosswalk(identifiers(grid), [10] * 18 + [30] * 12 + [None] * 6)
    corners = ["Point(630000 5520000)", "Point(630001 5520000)"]
    sites = {"SITES": make_layer({"vbas_region": [10, 30]}, corners)} if with_sites else {}
    common = {**layers["areas"], **layers["records"], **sites, "CROSSWALK": table, "REGION_AUDIT": "memory:"}
    page = {"REPORT": str(tmp_path / "report.html")}
    done = run("releaserecords", **common, **page, RELEASED_RECORDS="memory:")
    rated = run("evaluate", **common)
    assert done.rows("REGION_AUDIT") == rated.rows("REGION_AUDIT")
    from_centres = run("evaluate", **{**common, "SITES": None})
    assert (rated.results["COMPACTNESS"] > from_centres.results["COMPACTNESS"]) == with_sites
    assert f"{rated.results['N_SUPPRESSED']:,}" in (tmp_path / "report.html").read_text(encoding="utf-8")
    alone = run("releaserecords", **layers["records"], CROSSWALK=table, RELEASED_RECORDS="memory:")
    assert alone.rows("RELEASED_RECORDS") == done.rows("RELEASED_RECORDS")


def test_what_a_region_cost_needs_its_areas(run, grid, layers, tmp_path):
    table, page = crosswalk(identifiers(grid), [1] * 36), tmp_path / "report.html"
    with pytest.raises(QgsProcessingException, match="what a region costs is said of its areas"):
        run("releaserecords", **layers["records"], CROSSWALK=table, RELEASED_RECORDS="memory:", REPORT=str(page))
    assert not page.exists()


@pytest.mark.slow
def test_numeric_records_meet_a_text_crosswalk(run, grid):
    rows = list(grid[1].getFeatures())
    records = make_layer({"home": [int(f["home"]) for f in rows], "sex": [f["sex"] for f in rows]})
    done = run(
        "releaserecords",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        CROSSWALK=crosswalk(identifiers(grid), ["1"] * 18 + ["2"] * 18),
        RELEASED_RECORDS="memory:",
    )
    assert done.results["N_SUPPRESSED"] == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda n: (n[:-1], [1] * 35), "CROSSWALK lacks 1 area of REGIONS .*“460505”"),
        (lambda n: ([*n, "x"], [1] * 37), "1 area that is not in REGIONS .*“x”"),
        (lambda n: ([*n, n[0]], [1] * 37), "more than once .*“460000”"),
        (lambda n: (n, ["north"] * 36), "not a whole number in 36 rows"),
    ],
)
def test_a_crosswalk_that_does_not_fit_is_refused(run, grid, layers, change, words):
    table = crosswalk(*change(identifiers(grid)))
    with pytest.raises(QgsProcessingException, match=words):
        run("evaluate", **layers["areas"], **layers["records"], CROSSWALK=table, REGION_AUDIT="memory:")


def test_a_crosswalk_that_assigns_twice_is_refused_by_the_release(run, grid, layers):
    names = identifiers(grid)
    with pytest.raises(QgsProcessingException, match="more than once"):
        run(
            "releaserecords",
            **layers["records"],
            CROSSWALK=crosswalk([*names, names[0]], [1] * 36 + [2]),
            RELEASED_RECORDS="memory:",
        )


def test_sites_of_another_crs_are_projected(run, layers):
    turn = QgsCoordinateTransform(
        QgsCoordinateReferenceSystem("EPSG:26914"), QgsCoordinateReferenceSystem("EPSG:4326"), QgsProject.instance()
    )
    points = [QgsPointXY(630_400, 5_520_500), QgsPointXY(632_500, 5_522_300)]
    here = make_layer({"n": [1, 2]}, [f"Point({p.x()} {p.y()})" for p in points])
    turned = [turn.transform(p) for p in points]
    there = make_layer({"n": [1, 2]}, [f"Point({p.x()} {p.y()})" for p in turned], "EPSG:4326")
    rows = [
        run("aggregate", **layers["areas"], SITES=sites, AGGREGATION="basic Voronoi", CROSSWALK="memory:").rows(
            "CROSSWALK"
        )
        for sites in (here, there)
    ]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("sites", "words"),
    [
        (lambda: make_layer({"n": [1]}, ["Point(0 0)"]), "All SITES lie far outside the areas"),
        (lambda: make_layer({"n": list(range(37))}, ["Point(630500 5520500)"] * 37), "37 points for 36 areas"),
        (lambda: make_layer({"n": []}, [], kind="Point"), "SITES is empty"),
    ],
)
def test_unusable_sites_are_refused(run, layers, sites, words):
    with pytest.raises(QgsProcessingException, match=words):
        run("aggregate", **layers["areas"], SITES=sites(), CROSSWALK="memory:")


def test_more_sites_than_areas_are_refused(run, layers):
    with pytest.raises(QgsProcessingException, match=r"N_SITES is 37, but must be between 1 and .* 36"):
        run("sitelocation", **layers["areas"], **layers["records"], N_SITES=37, SITE_POINTS="memory:")


# ---- comparison


def test_comparison_rates_every_configuration(run, anonymize, layers, tmp_path):
    done = run(
        "compare",
        **layers["areas"],
        **layers["records"],
        SITE_NUMBERS=["given number", "population cut-off"],
        N_SITES=6,
        CUTOFF=100,
        SITE_LOCATIONS=["balanced density", "random"],
        AGGREGATIONS=["basic Voronoi", "iterative Voronoi", "transportation-location"],
        CAPACITY_FACTORS="1,0",
        COMPARISON="memory:",
        REPORT=str(tmp_path / "report.html"),
    )
    rows = done.rows("COMPARISON")
    assert len(rows) == 2 * (2 * 2 + 2) == done.results["N_CONFIGURATIONS"]
    single = anonymize(SITE_LOCATION="random", AGGREGATION="iterative Voronoi").results
    (row,) = [
        row
        for row in rows
        if (row["site_number"], row["site_location"], row["aggregation"])
        == ("given number", "random", "iterative Voronoi")
    ]
    for name, output in (("suppressed", "N_SUPPRESSED"), ("compactness", "COMPACTNESS"), ("n_sites", "N_SITES")):
        assert row[name] == single[output]
    measures = np.array([[row[m] for m in ("suppression_percent", "mean_distance")] for row in rows])
    beaten = [((measures <= own).all(axis=1) & (measures < own).any(axis=1)).any() for own in measures]
    assert 0 < sum(beaten) < len(rows)
    assert [row["pareto"] for row in rows] == [int(not b) for b in beaten]
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Suppression against compactness" in text
    assert text.count("<figure><svg") == 7


@pytest.mark.parametrize("factor", ["-1", "0.5"])
def test_a_capacity_factor_below_the_even_share_is_refused_before_the_work(run, layers, factor):
    asked = {"AGGREGATIONS": ["basic Voronoi", "transportation-location"], "CAPACITY_FACTORS": f"2,{factor}"}
    with pytest.raises(QgsProcessingException, match=f"^CAPACITY_FACTORS is {factor}, but must be at least 1"):
        run("compare", **layers["areas"], **layers["records"], **asked, COMPARISON="memory:")


@pytest.mark.parametrize("told", [["random", "balanced density"], "random,balanced density", "{},{}", ["{}", "{}"]])
def test_several_choices_may_be_told_by_words_or_numbers(run, layers, provider, told):
    options = provider.algorithm("compare").parameterDefinition("SITE_LOCATIONS").options()
    random, density = (str(options.index(name)) for name in ("random", "balanced density"))
    told = told.format(random, density) if told == "{},{}" else [random, density] if told == ["{}", "{}"] else told
    done = run(
        "compare",
        **layers["areas"],
        **layers["records"],
        SITE_NUMBERS=["given number"],
        N_SITES=6,
        SITE_LOCATIONS=told,
        AGGREGATIONS=["basic Voronoi"],
        COMPARISON="memory:",
    )
    assert {row["site_location"] for row in done.rows("COMPARISON")} == {"random", "balanced density"}
    with pytest.raises(
        QgsProcessingException, match=r"SITE_LOCATIONS is “99”, which is not among the choices: choose from “"
    ):
        run("compare", **layers["areas"], **layers["records"], SITE_LOCATIONS=[random, 99], COMPARISON="memory:")


def test_a_configuration_that_fails_is_told_and_the_others_go_on(run, layers):
    done = run(
        "compare",
        **layers["areas"],
        **layers["records"],
        SITE_NUMBERS=["given number", "population cut-off"],
        N_SITES=99,
        CUTOFF=100,
        SITE_LOCATIONS=["balanced density"],
        AGGREGATIONS=["basic Voronoi"],
        COMPARISON="memory:",
    )
    failed, good = done.rows("COMPARISON")
    assert "N_SITES is 99" in failed["problem"]
    assert failed["compactness"] is None
    assert good["problem"] is None
    assert good["n_sites"] > 0
    assert (done.results["N_CONFIGURATIONS"], done.results["N_FAILED"]) == (1, 1)


def test_cancelling_a_comparison_keeps_what_is_finished(run, layers, tmp_path):
    place, report = tmp_path / "comparison.csv", tmp_path / "report.html"
    # The report says the checksum of a file that was read, which takes so long that it can be cancelled, too.
    file = tmp_path / "records.gpkg"
    records = saved(layers["records"]["RECORDS"], file)
    done = run(
        "compare",
        stop_at=50,
        **layers["areas"],
        **{**layers["records"], "RECORDS": records},
        REPORT=str(report),
        SITE_NUMBERS=["population cut-off"],
        CUTOFF=100,
        SITE_LOCATIONS=["balanced density", "random"],
        AGGREGATIONS=["basic Voronoi", "iterative Voronoi"],
        COMPARISON=str(place),
    )
    assert 1 <= len(done.rows("COMPARISON")) < 4
    assert file.name in report.read_text(encoding="utf-8")
    assert any(f"{len(done.rows('COMPARISON'))} of 4 configurations are finished" in line for line in done.log)
    assert any(line.startswith("Internal, not to be published") and str(report) in line for line in done.log)


def test_a_capacity_factor_that_counts_nowhere_stops_nothing(run, layers):
    asked = {"SITE_NUMBERS": ["given number"], "N_SITES": 2, "AGGREGATIONS": ["basic Voronoi"]}
    done = run("compare", **layers["areas"], **layers["records"], **asked, CAPACITY_FACTORS="one", COMPARISON="memory:")
    assert len(done.rows("COMPARISON")) == 1
    assert any("CAPACITY_FACTORS" in line and "has no effect here" in line for line in done.log)
