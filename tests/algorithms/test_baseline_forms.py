"""The baselines in the toolbox: crosswalks from real layers."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from qgis.core import QgsProcessingException

from .conftest import make_grid, make_layer

OUTPUTS = {"CROSSWALK": "memory:", "RELEASED_REGIONS": "memory:"}


@pytest.fixture
def areas():
    """Four squares in a row, the third in another county."""
    return squares([30, 40, 20, 90], counties=["a", "a", "b", "b"])


def squares(people, counties, west=630_000):
    wkts = [
        f"Polygon(({west + 100 * i} 0, {west + 100 * i + 100} 0, {west + 100 * i + 100} 100, {west + 100 * i} 100, "
        f"{west + 100 * i} 0))"
        for i in range(len(people))
    ]
    return make_layer({"da": [f"461{i}" for i in range(len(people))], "people": people, "county": counties}, wkts)


def regions_of(done):
    return {row["da"]: row["vbas_region"] for row in done.rows("CROSSWALK")}


def base(areas):
    return {"REGIONS": areas, "REGION_ID": "da", "POPULATION": "people", **OUTPUTS}


def test_static_cutoff_by_number_and_by_name(run, areas):
    done = run("staticcutoff", **base(areas), CUTOFF=39)
    assert regions_of(done) == {"4610": None, "4611": 1, "4612": None, "4613": 2}
    assert (done.results["N_SITES"], done.results["N_LEFT_OUT"]) == (2, 2)
    assert [row["areas"] for row in done.rows("RELEASED_REGIONS")] == [1, 1]
    large = squares([69_999, 70_000, 110_000, 130_000], ["a"] * 4)
    kept = {
        name: run("staticcutoff", **base(large), PUBLISHED=name).results["N_SITES"]
        for name in (
            "own number",
            "US Census Bureau",
            "British census",
            "Canadian Community Health Survey",
        )
    }
    # 70 000 people do not exceed 70 000.
    assert list(kept.values()) == [2, 2, 1, 2]


def test_static_cutoff_that_nobody_reaches_warns_and_leaves_all_out(run, areas):
    done = run("staticcutoff", **base(areas), PUBLISHED="British census")
    assert set(regions_of(done).values()) == {None}
    assert any("release by this crosswalk would be empty" in line for line in done.log)


def test_without_a_population_the_records_are_counted(run, areas):
    records = make_layer({"home": ["4610"] * 3 + ["4611"] * 5, "n": [1] * 7 + [9]})
    parameters = {**base(areas), "CUTOFF": 4}
    del parameters["POPULATION"]
    with pytest.raises(QgsProcessingException, match="give POPULATION or RECORDS"):
        run("staticcutoff", **parameters)
    done = run("staticcutoff", **parameters, RECORDS=records, RECORD_REGION="home")
    assert regions_of(done) == {"4610": None, "4611": 1, "4612": None, "4613": None}
    merged = run("mergeadjacent", **parameters, RECORDS=records, RECORD_REGION="home", RECORD_COUNT="n", BOUNDARY="da")
    assert merged.results["N_SITES"] == 4
    assert any("3 regions are still below" in line for line in merged.log)


def test_merge_adjacent(run, areas):
    done = run("mergeadjacent", **base(areas), CUTOFF=100)
    assert regions_of(done) == {"4610": 1, "4611": 1, "4612": 1, "4613": 1}
    bounded = run("mergeadjacent", **base(areas), CUTOFF=60, BOUNDARY="county")
    assert regions_of(bounded) == {"4610": 1, "4611": 1, "4612": 2, "4613": 2}
    surfaces = [row["area_km2"] for row in bounded.rows("RELEASED_REGIONS")]
    assert surfaces == pytest.approx([0.02, 0.02])
    limited = run("mergeadjacent", **base(areas), CUTOFF=50, MAXIMUM=80)
    assert regions_of(limited) == {"4610": 1, "4611": 2, "4612": 2, "4613": 3}
    with pytest.raises(QgsProcessingException, match="MAXIMUM is 80, below the cut-off of 100"):
        run("mergeadjacent", **base(areas), CUTOFF=100, MAXIMUM=80)


def test_merge_adjacent_with_islands_joined_or_alone(run):
    wkts = [f"Polygon(({x} 0, {x + 100} 0, {x + 100} 100, {x} 100, {x} 0))" for x in (630_000, 630_100, 632_000)]
    areas = make_layer({"da": ["a", "b", "c"], "people": [80, 90, 10]}, wkts)
    assert regions_of(run("mergeadjacent", **base(areas), CUTOFF=50)) == {"a": 1, "b": 2, "c": 2}
    assert regions_of(run("mergeadjacent", **base(areas), CUTOFF=50, ISLANDS="leave alone")) == {"a": 1, "b": 2, "c": 3}


def test_merge_adjacent_chooses_the_neighbour_asked_for_in_a_geographic_crs(run):
    # North of the line the degree of longitude is short: the long border in metres is the one in latitude.
    boxes = [(0, 60, 0.010, 60.008), (0.010, 60, 0.2, 60.008), (0, 60.008, 0.010, 60.016)]
    wkts = [f"Polygon(({w} {s}, {e} {s}, {e} {n}, {w} {n}, {w} {s}))" for w, s, e, n in boxes]
    areas = make_layer({"da": ["a", "b", "c"], "people": [10, 90, 80]}, wkts, crs="EPSG:4326")
    parameters = {**base(areas), "CUTOFF": 50}
    assert regions_of(run("mergeadjacent", **parameters)) == {"a": 1, "b": 1, "c": 2}
    assert regions_of(run("mergeadjacent", **parameters, NEIGHBOUR="nearest")) == {"a": 1, "b": 2, "c": 1}
    assert regions_of(run("mergeadjacent", **parameters, NEIGHBOUR="smallest population")) == {"a": 1, "b": 2, "c": 1}


def test_merge_until_the_records_are_anonymous(run, grid):
    areas, records = grid
    parameters = {
        "REGIONS": areas,
        "REGION_ID": "da",
        "RECORDS": records,
        "RECORD_REGION": "home",
        "QUASI_IDENTIFIERS": ["sex", "age"],
        "UNTIL": "the records are k-anonymous",
        **OUTPUTS,
    }
    sizes = []
    for budget in (30.0, 5.0, 0.0):
        done = run("mergeadjacent", **parameters, BUDGET=budget)
        region = regions_of(done)
        classes = Counter((region[f["home"]], f["sex"], f["age"]) for f in records.getFeatures())
        suppressed = sum(size for size in classes.values() if size < 5)
        assert 100 * suppressed / (36 * 40) <= budget
        sizes.append(done.results["N_SITES"])
    assert 36 > sizes[0] > sizes[1] > sizes[2] > 1
    with pytest.raises(QgsProcessingException, match="RECORDS is not given"):
        run("mergeadjacent", **base(areas), UNTIL="the records are k-anonymous")


@pytest.mark.slow
def test_the_cutoff_of_a_model_is_that_typed_by_hand(run, grid):
    areas, records = grid
    inputs = {
        "REGIONS": areas,
        "REGION_ID": "da",
        "RECORDS": records,
        "RECORD_REGION": "home",
        **OUTPUTS,
    }
    model = {"GAPS_REGION": "custom", "GAPS_COEFFICIENT": 22, "GAPS_EXPONENT": 1.2, "LOG_BASE": 2}
    rows = [(feature["sex"], feature["age"]) for feature in records.getFeatures()]
    people = [Counter(row[position] for row in rows) for position in range(2)]
    k = min(people[1].values()) + 1
    shares = [size / len(rows) for size in Counter(rows).values()]
    x = {
        "max combinations": math.prod(sum(n >= k for n in of_value.values()) for of_value in people),
        "entropy": -sum(share * math.log2(share) for share in shares),
        "max combinations (2018)": math.prod(len(of_value) for of_value in people),
    }
    idle = {"max combinations": ["LOG_BASE"], "entropy": ["K"], "max combinations (2018)": ["LOG_BASE", "K"]}
    n_regions = {}
    for name, value in x.items():
        modelled = {**inputs, "PUBLISHED": name, "QUASI_IDENTIFIERS": ["sex", "age"], "K": k, **model}
        for form in ("staticcutoff", "mergeadjacent"):
            done = run(form, **modelled)
            assert done.results["CUTOFF"] == pytest.approx(22 * value**1.2)
            typed = run(form, **inputs, CUTOFF=22 * value**1.2)
            assert regions_of(done) == regions_of(typed)
            assert [line.split()[0] for line in done.log if "has no effect" in line] == idle[name]
            assert any(line.startswith("It asks for ") for line in done.log)
            depends = any("depends on the classes of suppressed records" in line for line in done.log)
            assert depends == (name != "max combinations")
        n_regions[name] = done.results["N_SITES"]
    assert 1 < min(n_regions.values()) < max(n_regions.values()) < 36
    with pytest.raises(QgsProcessingException, match="RECORDS is not given: the cut-off by “entropy”"):
        run("mergeadjacent", **base(squares([30, 40], ["a", "b"])), PUBLISHED="entropy")


def test_areas_given_as_points_are_merged_too(run):
    points = make_layer(
        {"da": list("abcd"), "people": [10, 90, 80, 20]},
        [f"Point({630_000 + x} 5500000)" for x in (0, 100, 1000, 1100)],
    )
    assert regions_of(run("mergeadjacent", **base(points), CUTOFF=50)) == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_crop_identifiers(run, areas):
    parameters = {"REGIONS": areas, "REGION_ID": "da", **OUTPUTS}
    assert run("cropidentifiers", **parameters, CHARACTERS=3).results["N_SITES"] == 1
    done = run("cropidentifiers", **parameters, CHARACTERS=4)
    assert regions_of(done) == {"4610": 1, "4611": 2, "4612": 3, "4613": 4}
    assert [row["name"] for row in done.rows("RELEASED_REGIONS")] == ["4610", "4611", "4612", "4613"]


def test_codes_of_different_lengths_lose_their_last_characters(run):
    areas = make_layer(
        {"da": ["12", "123", "124", "1"], "people": [1] * 4},
        [f"Polygon(({x} 0, {x + 9} 0, {x + 9} 9, {x} 9, {x} 0))" for x in (630_000, 630_009, 630_018, 630_027)],
    )
    done = run("cropidentifiers", REGIONS=areas, REGION_ID="da", CHARACTERS=3, LEAVE_OUT=1, **OUTPUTS)
    assert regions_of(done) == {"12": 1, "123": 2, "124": 2, "1": 1}
    assert [row["name"] for row in done.rows("RELEASED_REGIONS")] == ["1", "12"]
    assert any("Without their last character the identifiers distinguish 2 regions." in line for line in done.log)
    assert any("1 identifier has no more characters than that" in line for line in done.log)
    kept = run("cropidentifiers", REGIONS=areas, REGION_ID="da", CHARACTERS=1, **OUTPUTS)
    assert kept.results["N_SITES"] == 1


def test_crop_identifiers_by_a_field_and_by_a_table(run, areas):
    parameters = {"REGIONS": areas, "REGION_ID": "da", **OUTPUTS}
    done = run("cropidentifiers", **parameters, HIERARCHY="county")
    assert regions_of(done) == {"4610": 1, "4611": 1, "4612": 2, "4613": 2}
    assert [(row["name"], row["areas"]) for row in done.rows("RELEASED_REGIONS")] == [("a", 2), ("b", 2)]

    table = make_layer(
        {
            "area": [4612, 4610, 4611, 4610, 9999],
            "division": ["north", "south", "south", "south", "west"],
            "street": ["1", "2", "3", "4", "5"],
        }
    )
    by_table = {**parameters, "HIERARCHY_TABLE": table, "HIERARCHY_ID": "area"}
    done = run("cropidentifiers", **by_table, HIERARCHY_LEVEL="division")
    assert regions_of(done) == {"4610": 2, "4611": 2, "4612": 1, "4613": None}
    assert done.results["N_LEFT_OUT"] == 1
    with pytest.raises(QgsProcessingException, match="puts 1 area into several units of “street”"):
        run("cropidentifiers", **by_table, HIERARCHY_LEVEL="street")
    with pytest.raises(QgsProcessingException, match="names none of the areas in “street”"):
        run("cropidentifiers", **{**by_table, "HIERARCHY_ID": "street"}, HIERARCHY_LEVEL="division")
    with pytest.raises(QgsProcessingException, match="both given"):
        run("cropidentifiers", **by_table, HIERARCHY_LEVEL="division", HIERARCHY="county")
    with pytest.raises(QgsProcessingException, match="HIERARCHY_LEVEL: no field was chosen"):
        run("cropidentifiers", **by_table)


def test_a_baseline_goes_on_into_the_release(run):
    areas, records = make_grid(side=4)
    cropped = run("cropidentifiers", REGIONS=areas, REGION_ID="da", CHARACTERS=4, **OUTPUTS)
    released = run(
        "releaserecords",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        CROSSWALK=cropped.layer("CROSSWALK"),
        RELEASED_RECORDS="memory:",
    ).rows("RELEASED_RECORDS")
    classes = Counter((row["vbas_region"], row["sex"], row["age"]) for row in released)
    assert min(classes.values()) >= 5
    assert {region for region, _, _ in classes} == {1, 2, 3, 4}


def test_baselines_stand_in_the_comparison(run, grid, tmp_path):
    areas, records = grid
    parameters = {
        "REGIONS": areas,
        "REGION_ID": "da",
        "RECORDS": records,
        "RECORD_REGION": "home",
        "QUASI_IDENTIFIERS": ["sex", "age"],
        "CUTOFF": 200,
    }
    done = run(
        "compare",
        **parameters,
        SITE_NUMBERS=["population cut-off"],
        SITE_LOCATIONS=["balanced density"],
        AGGREGATIONS=["iterative Voronoi"],
        BASELINES=["static cut-off", "cropping", "hierarchy", "adjacent merging", "merging until k-anonymous"],
        BUDGET=2.0,
        COMPARISON="memory:",
        REPORT=str(tmp_path / "report.html"),
    )
    rows = {row["aggregation"]: row for row in done.rows("COMPARISON")}
    assert (rows["cropping"]["site_number"], rows["cropping"]["site_location"]) == ("baseline", None)
    assert rows["static cut-off"]["suppression_percent"] == 100
    assert rows["cropping"]["n_sites"] == 6
    assert "HIERARCHY is not given" in rows["hierarchy"]["problem"]
    assert rows["merging until k-anonymous"]["suppression_percent"] <= 2
    assert (done.results["N_CONFIGURATIONS"], done.results["N_FAILED"]) == (5, 1)
    assert "baseline · adjacent merging" in (tmp_path / "report.html").read_text(encoding="utf-8")

    merged = run("mergeadjacent", **{**parameters, "QUASI_IDENTIFIERS": []}, CROSSWALK="memory:")
    assert rows["adjacent merging"]["n_sites"] == merged.results["N_SITES"]
    assert rows["adjacent merging"]["compactness"] == pytest.approx(merged.results["COMPACTNESS"])
