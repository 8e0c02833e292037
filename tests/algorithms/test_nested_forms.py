"""Nested releases in QGIS: what is written is recounted in plain Python and SQL, which know nothing of the method."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsGeometry,
    QgsProcessingException,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
    QgsVectorLayer,
)

from vbas.algorithms.layers.delivery import writing
from vbas.core import anonymise, source
from vbas.core.plan import plan_by_levels
from vbas.core.records.columns import Column

from ..core.nested_cases import row_by_row
from .conftest import make_layer
from .nested_town import MARK, PERSON, SIDE, SIZE, SOUTH, WEST, Recount, make_town, rows_in, smallest_class_by_sql
from .test_job_file import saved

OUTPUTS = ("RELEASED_RECORDS", "RELEASED_REGIONS", "CROSSWALK", "REGION_AUDIT")
MEASURES = ("N_RECORDS", "N_SUPPRESSED", "SUPPRESSION_PERCENT", "DISCERNIBILITY", "NON_UNIFORM_ENTROPY")


@pytest.fixture(scope="module")
def town():
    return make_town()


@pytest.fixture
def nested(run, town):
    """Run vbas:anonymize with nested levels on the town, with what the test changes; into memory by default."""

    def one(**changes):
        parameters = {
            "REGIONS": town.area_layer(),
            "REGION_ID": "da",
            "POPULATION": "people",
            "RECORDS": town.record_layer(),
            "RECORD_REGION": "home",
            "QUASI_IDENTIFIERS": ["sex", "age"],
            "RELEASE": "nested levels",
            **dict.fromkeys(OUTPUTS, "memory:"),
            **changes,
        }
        return run("anonymize", **{name: value for name, value in parameters.items() if value is not None})

    return one


def files(folder, suffix=".gpkg", names=OUTPUTS):
    return {name: str(folder / f"{name.lower()}{suffix}") for name in names}


def files_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def recounted(done):
    return Recount(done.rows("RELEASED_RECORDS"), done.rows("CROSSWALK"))


def points_of(town):
    middles = [(WEST + SIZE * (c + 0.5), SOUTH + SIZE * (r + 0.5)) for r in range(SIDE) for c in range(SIDE)]
    return dict(zip(town.identifiers, middles))


def people_of(town):
    return dict(zip(town.identifiers, town.people))


# ---- the main algorithm: what is written


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gpkg", ".csv"])
def test_files_hold_a_release_that_anybody_may_recount(nested, town, tmp_path, suffix):
    places = files(tmp_path, suffix)
    if suffix == ".csv":
        places |= {name: str(tmp_path / f"{name.lower()}.gpkg") for name in ("RELEASED_REGIONS", "REGION_AUDIT")}
    done = nested(**places, KEEP_FIELDS=["diagnosis"], K=5)
    rows = rows_in(places["RELEASED_RECORDS"])
    assert list(rows[0]) == ["vbas_level", "vbas_region", "sex", "age", "diagnosis"]
    if suffix == ".gpkg":
        assert smallest_class_by_sql(places["RELEASED_RECORDS"]) >= 5
    recount = Recount(rows, rows_in(places["CROSSWALK"]))
    suppressed = recount.check(town.live(), 5)
    assert suppressed == done.results["N_SUPPRESSED"] == len(town.records) - len(rows)
    # The four of a kind are the rare ones, and the five of a kind are there.
    values = Counter((row["sex"], row["age"]) for row in rows)
    assert values["F", 98] == 0 and values["M", 99] == 5 and values[None, 1] > 0 and values["F", None] > 0
    recount.check_regions(rows_in(places["RELEASED_REGIONS"]))
    recount.check_audit(rows_in(places["REGION_AUDIT"]), town.live(), 5)


@pytest.mark.slow
def test_nothing_for_release_names_a_person_or_says_where_one_lives(nested, tmp_path):
    places = files(tmp_path)
    nested(**places, KEEP_FIELDS=["diagnosis"])
    for name in ("RELEASED_RECORDS", "RELEASED_REGIONS", "CROSSWALK"):
        told = Path(places[name]).read_bytes()
        assert PERSON.encode() not in told
        assert (MARK.encode() in told) == (name == "CROSSWALK")
    # The crosswalk tells areas and regions, and of people nothing.
    assert all(
        set(row) - {"da"} == {n for n in row if n.startswith("vbas_region_")} for row in rows_in(places["CROSSWALK"])
    )


def test_temporary_outputs_are_loaded(nested, town):
    temporary = QgsProcessingOutputLayerDefinition("TEMPORARY_OUTPUT", QgsProject.instance())
    done = nested(RELEASED_RECORDS=temporary, CROSSWALK=temporary, RELEASED_REGIONS=temporary, REGION_AUDIT=temporary)
    for name in OUTPUTS:
        assert done.results[name] in done.context.layersToLoadOnCompletion()
    recounted(done).check(town.live(), 5)


@pytest.mark.slow
def test_order_of_the_rows_tells_nothing(nested, town):
    rows = nested(KEEP_FIELDS=["diagnosis"]).rows("RELEASED_RECORDS")
    backwards = replace(town, records=town.records[::-1])
    assert nested(KEEP_FIELDS=["diagnosis"], RECORDS=backwards.record_layer()).rows("RELEASED_RECORDS") == rows
    places = [(row["vbas_level"], row["vbas_region"]) for row in rows]
    assert places == sorted(places)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 5, 9, 25])
def test_numbers_equal_a_recount(nested, town, k):
    done = nested(K=k)
    recount = recounted(done)
    suppressed = recount.check(town.live(), k)
    results = done.results
    assert results["N_LEVELS"] == recount.n_levels > 3
    assert results["N_SITES"] == len(set(recount.region_of[1].values())) == 36
    assert results["N_RECORDS"] == len(town.records)
    assert results["N_SUPPRESSED"] == suppressed
    assert results["SUPPRESSION_PERCENT"] == pytest.approx(100 * suppressed / len(town.records))
    assert results["DISCERNIBILITY"] == sum(n**2 for n in recount.equivalence_classes.values())
    assert results["MEAN_DISTANCE"] == pytest.approx(recount.mean_distance(people_of(town), points_of(town)), rel=1e-6)
    assert results["RUNNING_TIME"] > 0
    recount.check_regions(done.rows("RELEASED_REGIONS"))
    audit = done.rows("REGION_AUDIT")
    recount.check_audit(audit, town.live(), k)
    for level in range(1, recount.n_levels + 1):
        of_level = [row for row in audit if row["vbas_level"] == level]
        assert sum(row["records"] for row in of_level) == len(town.records)
        assert sum(row["suppressed"] for row in of_level) == suppressed
        assert sum(row["population"] for row in of_level) == sum(town.people)
        assert sum(row["areas"] for row in of_level) == 36
        assert sum(row["area_km2"] for row in of_level) == pytest.approx(9.0)
    metres = recount.distances(people_of(town), points_of(town))
    for row in audit:
        assert row["distance"] == pytest.approx(metres[row["vbas_level"], row["vbas_region"]], rel=1e-6, abs=1e-6)
        assert row["parts"] == 1


def test_compactness_and_entropy_of_two_levels_equal_a_recount(nested, town):
    """With the areas and one region, where a record is shown follows from the release itself."""
    done = nested(RATIO=1e6)
    recount = recounted(done)
    assert recount.n_levels == 2
    points = points_of(town)
    centre = np.mean(list(points.values()), axis=0)
    entropy = 0.0
    sizes: Counter[str] = Counter()
    released: Counter[str] = Counter()
    up: Counter[str] = Counter()
    for (area, _one), n in town.live().items():
        sizes[area] += n
    for (area, one), n in town.live().items():
        if (1, recount.region_of[1][area], one) in recount.equivalence_classes:
            released[area] += n
        elif (2, 1, one) in recount.equivalence_classes:
            released[area] += n
            up[area] += n
            entropy += n * math.log2(len(town.records) / sizes[area])
    compactness = sum(np.linalg.norm(np.subtract(points[area], centre)) * up[area] / released[area] for area in up)
    assert sum(released.values()) == recount.n_released
    assert done.results["NON_UNIFORM_ENTROPY"] == pytest.approx(entropy)
    assert done.results["COMPACTNESS"] == pytest.approx(compactness, rel=1e-6)


def test_regions_are_drawn_where_their_areas_lie(nested, town):
    done = nested()
    recount = recounted(done)
    layer = done.layer("RELEASED_REGIONS")
    shape = {(f["vbas_level"], f["vbas_region"]): f.geometry() for f in layer.getFeatures()}
    for level in range(1, recount.n_levels + 1):
        for area, wkt in zip(town.identifiers, town.squares()):
            assert shape[level, recount.region_of[level][area]].contains(QgsGeometry.fromWkt(wkt).centroid())
        surface = sum(one.area() for (of_level, _), one in shape.items() if of_level == level)
        assert surface == pytest.approx(36 * SIZE**2)


def test_report_says_what_the_run_gave(nested, tmp_path):
    done = nested(REPORT=str(tmp_path / "report.html"), K=4)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The release is 4-anonymous" in text
    assert f"{done.results['N_SUPPRESSED']} of {done.results['N_RECORDS']} records" in text
    assert "Do not publish" in text
    assert "One level of regions (all-rounder) would have" in text
    assert "RATIO" in text and "LEAST_POPULATION" in text


def test_a_release_of_one_level_is_as_it_was(nested, town):
    done = nested(RELEASE=None)
    assert list(done.rows("RELEASED_RECORDS")[0]) == ["vbas_region", "sex", "age"]
    assert list(done.rows("CROSSWALK")[0]) == ["da", "vbas_region"]
    assert done.results["N_LEVELS"] == 1
    assert done.results["MEAN_DISTANCE"] > nested().results["MEAN_DISTANCE"]


# ---- records and areas as they come


def test_counted_records_give_the_same_release(nested, town):
    plain = nested(KEEP_FIELDS=["diagnosis"])
    counted = nested(RECORDS=town.counted_layer(), RECORD_COUNT="n", KEEP_FIELDS=["diagnosis"])
    assert counted.rows("CROSSWALK") == plain.rows("CROSSWALK")
    assert counted.rows("REGION_AUDIT") == plain.rows("REGION_AUDIT")
    for name in (*MEASURES, "MEAN_DISTANCE", "N_LEVELS"):
        assert counted.results[name] == plain.results[name]
    rows = counted.rows("RELEASED_RECORDS")
    assert list(rows[0]) == ["vbas_level", "vbas_region", "sex", "age", "diagnosis", "records"]
    released = [tuple(row.values())[:-1] for row in rows]
    # One row for what is shown: several would tell the areas within.
    assert len(set(released)) == len(released)
    expected = Counter(tuple(row.values()) for row in plain.rows("RELEASED_RECORDS"))
    assert Counter({row: r["records"] for row, r in zip(released, rows)}) == expected


@pytest.mark.slow
def test_counted_records_are_recounted_in_the_file(nested, town, tmp_path):
    places = files(tmp_path)
    nested(**places, RECORDS=town.counted_layer(), RECORD_COUNT="n")
    assert smallest_class_by_sql(places["RELEASED_RECORDS"]) >= 5
    Recount(rows_in(places["RELEASED_RECORDS"]), rows_in(places["CROSSWALK"])).check(town.live(), 5)


def test_records_of_unknown_areas_are_refused_or_counted_as_suppressed(nested, town):
    stray = [("nowhere", "F", 1, "flu", "x")] * 6 + [(None, "M", 1, "flu", "x")] * 3
    more = replace(town, records=town.records + stray).record_layer()
    with pytest.raises(QgsProcessingException, match="9 records"):
        nested(RECORDS=more)
    done = nested(RECORDS=more, UNMATCHED="suppress")
    suppressed = recounted(done).check(town.live(), 5)
    assert done.results["N_RECORDS"] == len(town.records) + 9
    assert done.results["N_SUPPRESSED"] == suppressed + 9
    assert done.results["SUPPRESSION_PERCENT"] == pytest.approx(100 * (suppressed + 9) / (len(town.records) + 9))


def test_without_a_population_the_records_are_counted(nested, town):
    done = nested(POPULATION=None)
    recount = recounted(done)
    recount.check(town.live(), 5)
    people: Counter[str] = Counter()
    for (area, _), n in town.live().items():
        people[area] += n
    assert done.results["MEAN_DISTANCE"] == pytest.approx(recount.mean_distance(people, points_of(town)), rel=1e-6)
    for row in done.rows("REGION_AUDIT"):
        assert row["population"] == row["records"]


def test_areas_as_points(nested, town):
    wkts = [f"Point({x} {y})" for x, y in points_of(town).values()]
    done = nested(REGIONS=town.area_layer(wkts))
    recount = recounted(done)
    recount.check(town.live(), 5)
    recount.check_regions(done.rows("RELEASED_REGIONS"))
    plain = nested()
    assert done.rows("RELEASED_RECORDS") == plain.rows("RELEASED_RECORDS")
    shape = {(f["vbas_level"], f["vbas_region"]): f.geometry() for f in done.layer("RELEASED_REGIONS").getFeatures()}
    for level in range(1, recount.n_levels + 1):
        for area, wkt in zip(town.identifiers, wkts):
            assert shape[level, recount.region_of[level][area]].contains(QgsGeometry.fromWkt(wkt))


def test_geographic_coordinates_are_measured_in_metres(nested, town):
    turn = QgsCoordinateTransform(
        QgsCoordinateReferenceSystem("EPSG:26914"), QgsCoordinateReferenceSystem("EPSG:4326"), QgsProject.instance()
    )
    wkts = []
    for wkt in town.squares():
        geometry = QgsGeometry.fromWkt(wkt)
        geometry.transform(turn)
        wkts.append(geometry.asWkt(12))
    done, here = nested(REGIONS=town.area_layer(wkts, "EPSG:4326")), nested()
    recount = recounted(done)
    recount.check(town.live(), 5)
    assert done.layer("RELEASED_REGIONS").crs().authid() == "EPSG:4326"
    recount.check_regions(done.rows("RELEASED_REGIONS"))
    assert done.results["MEAN_DISTANCE"] == pytest.approx(here.results["MEAN_DISTANCE"], rel=0.3)
    assert recount.mean_distance(people_of(town), points_of(town)) == pytest.approx(
        done.results["MEAN_DISTANCE"], rel=5e-3
    )
    of_finest = [row["area_km2"] for row in done.rows("RELEASED_REGIONS") if row["vbas_level"] == 1]
    assert sum(of_finest) == pytest.approx(9.0, rel=5e-3)


# ---- how levels are made


def test_the_finest_level_may_be_the_regions_of_the_combination(nested, town):
    custom = {"COMBINATION": "custom", "SITE_NUMBER": "given number", "N_SITES": 12}
    single = nested(RELEASE=None, **custom)
    done = nested(FINEST="configuration", **custom)
    recount = recounted(done)
    recount.check(town.live(), 5)
    assert recount.region_of[1] == {row["da"]: row["vbas_region"] for row in single.rows("CROSSWALK")}
    assert done.results["N_SITES"] == 12
    assert nested(**custom).results["N_SITES"] == 36


@pytest.mark.parametrize("coarsest", [2, 5])
def test_the_coarsest_level_has_the_regions_asked_for(nested, town, coarsest):
    recount = recounted(nested(COARSEST=coarsest))
    assert len(set(recount.region_of[-1].values())) == coarsest
    recount.check(town.live(), 5)


@pytest.mark.parametrize("ratio", [1.2, 2, 3, 6])
def test_a_larger_ratio_makes_fewer_levels(nested, town, ratio):
    recount = recounted(nested(RATIO=ratio))
    sizes = [len(set(column.values())) for column in recount.region_of[1:]]
    assert sizes[0] == 36 and sizes[-1] == 1
    for fine, coarse in zip(sizes, sizes[1:]):
        assert coarse == max(1, min(round(fine / ratio), fine - 1))
    recount.check(town.live(), 5)


@pytest.mark.parametrize("how", ["basic Voronoi", "site optimisation", "transportation-location", "population floor"])
def test_levels_by_other_approaches_nest_too(nested, town, how):
    done = nested(COMBINATION="custom", SITE_NUMBER="given number", N_SITES=6, AGGREGATION=how)
    recount = recounted(done)
    recount.check(town.live(), 5)
    recount.check_regions(done.rows("RELEASED_REGIONS"))


def test_levels_from_fields_are_those_of_the_fields(nested, town):
    done = nested(LEVEL_FIELDS=["da", "district", "borough"])
    recount = recounted(done)
    recount.check(town.live(), 5)
    assert recount.n_levels == 3
    regions = done.rows("RELEASED_REGIONS")
    name = {(row["vbas_level"], row["vbas_region"]): row["name"] for row in regions}
    for level, column in enumerate((town.identifiers, town.district, town.borough), start=1):
        for area, value in zip(town.identifiers, column):
            assert name[level, recount.region_of[level][area]] == value
    # The boroughs do not make one: what is rare in each of them is not shown.
    assert ("M", 99) not in {one for _, _, one in recount.equivalence_classes}


def test_levels_are_those_of_the_areas_though_a_field_has_an_index(nested, town, tmp_path):
    """SQLite goes along an index that holds all fields that are asked for, in another order than that of the areas."""
    path = tmp_path / "areas.gpkg"
    saved(replace(town, district=town.district[::-1], borough=town.borough[::-1]).area_layer(), path)
    layer = QgsVectorLayer(f"{path}|layername=areas", "areas", "ogr")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE INDEX along ON areas (district)")
        connection.commit()
    done = nested(REGIONS=layer, LEVEL_FIELDS=["district", "borough"])
    names = {(row["vbas_level"], row["vbas_region"]): row["name"] for row in done.rows("RELEASED_REGIONS")}
    districts = dict(zip(town.identifiers, town.district[::-1]))
    crosswalk = done.rows("CROSSWALK")
    assert len(crosswalk) == len(districts)
    assert all(names[1, row["vbas_region_1"]] == districts[row["da"]] for row in crosswalk)


def test_areas_without_a_value_of_a_finer_field_are_the_rest_of_the_coarser_one(nested, town):
    some = [None if value == "d00" else value for value in town.district]
    done = nested(REGIONS=replace(town, district=some).area_layer(), LEVEL_FIELDS=["district", "borough"])
    recount = recounted(done)
    recount.check(town.live(), 5)
    name = {row["name"]: row["areas"] for row in done.rows("RELEASED_REGIONS") if row["vbas_level"] == 1}
    assert name["rest of b0"] == 4 and len(name) == 9
    # Without any value an area is left out, and its records are suppressed.
    district, borough = ([*column[:-1], None] for column in (town.district, town.borough))
    layer = replace(town, district=district, borough=borough).area_layer()
    done = nested(REGIONS=layer, LEVEL_FIELDS=["district", "borough"])
    inside = Counter({key: n for key, n in town.live().items() if key[0] != town.identifiers[-1]})
    suppressed = recounted(done).check(inside, 5)
    assert done.rows("CROSSWALK")[-1] == {"da": town.identifiers[-1], "vbas_region_1": None, "vbas_region_2": None}
    assert done.results["N_SUPPRESSED"] == suppressed + sum(town.live().values()) - sum(inside.values())


FIELDS_REFUSED: dict[str, tuple[dict[str, list], list[str], str]] = {
    "not nested": (
        {},
        ["borough", "district"],
        rf"do not nest: 3 regions of field “borough” lie in several regions of field “district” \(areas .*{MARK}",
    ),
    "missing in the coarser": (
        {"borough": [None] + ["b0"] * 35},
        ["da", "borough"],
        rf"1 area has a value in “da”, but none in a coarser field .*{MARK}00",
    ),
    "empty": ({"borough": [None] * 36}, ["borough"], "“borough” of LEVEL_FIELDS is empty in all areas"),
    "no such": ({}, ["tract"], "LEVEL_FIELDS: there is no field “tract” in REGIONS"),
}


@pytest.mark.parametrize("case", FIELDS_REFUSED)
def test_fields_that_make_no_levels_are_refused_in_one_sentence(nested, town, tmp_path, case):
    changes, fields, words = FIELDS_REFUSED[case]
    with pytest.raises(QgsProcessingException, match=words) as error:
        nested(REGIONS=replace(town, **changes).area_layer(), LEVEL_FIELDS=fields, **files(tmp_path))
    assert "Traceback" not in str(error.value) and "\n" not in str(error.value).strip()
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("least", [400, 1500])
def test_regions_of_made_levels_have_the_least_population(nested, town, least):
    done = nested(LEAST_POPULATION=least)
    recount = recounted(done)
    recount.check(town.live(), 5, (people_of(town), least))
    for row in done.rows("REGION_AUDIT"):
        assert row["population"] >= least
    assert done.results["N_SITES"] < 36


def test_units_of_fields_below_the_least_population_are_joined_within_the_next_unit(nested, town):
    least = sorted(town.people)[18]
    done = nested(LEVEL_FIELDS=["da", "district", "borough"], LEAST_POPULATION=least)
    recount = recounted(done)
    recount.check(town.live(), 5, (people_of(town), least))
    for row in done.rows("REGION_AUDIT"):
        assert row["population"] >= least
    names = [row["name"] for row in done.rows("RELEASED_REGIONS") if row["vbas_level"] == 1]
    assert sorted(part for name in names for part in name.split(" + ")) == sorted(town.identifiers)
    assert len(names) < 36
    assert done.results["N_SUPPRESSED"] == nested(LEVEL_FIELDS=["da", "district", "borough"]).results["N_SUPPRESSED"]


def test_more_people_than_there_are_is_refused(nested, town, tmp_path):
    with pytest.raises(
        QgsProcessingException, match="LEAST_POPULATION is 1\u00a0000\u00a0000, but all areas together have"
    ):
        nested(LEAST_POPULATION=1e6, **files(tmp_path))
    assert files_in(tmp_path) == []


def test_losses_are_the_least_of_what_they_say(nested, town):
    """Each is the smaller one by its own measure, and both suppress the same."""
    done = {loss: nested(LOSS=loss) for loss in ("mean distance", "non-uniform entropy")}
    near, bits = done["mean distance"].results, done["non-uniform entropy"].results
    assert near["N_SUPPRESSED"] == bits["N_SUPPRESSED"]
    assert near["MEAN_DISTANCE"] <= bits["MEAN_DISTANCE"]
    assert bits["NON_UNIFORM_ENTROPY"] <= near["NON_UNIFORM_ENTROPY"]
    assert done["mean distance"].rows("RELEASED_RECORDS") != done["non-uniform entropy"].rows("RELEASED_RECORDS")


# ---- the steps


@pytest.fixture
def layers(town):
    return {
        "areas": {"REGIONS": town.area_layer(), "REGION_ID": "da", "POPULATION": "people"},
        "records": {"RECORDS": town.record_layer(), "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]},
    }


MADE: dict[str, dict[str, Any]] = {
    "as they come": {},
    "few": {"RATIO": 3, "COARSEST": 2},
    "least population": {"LEAST_POPULATION": 500},
    "by chance": {"SITE_LOCATION": "random", "AGGREGATION": "site optimisation", "SEED": 4},
    "by classes": {"SITE_LOCATION": "anonymity-driven clustering", "AGGREGATION": "basic Voronoi", "K": 7},
    "fields": {"LEVEL_FIELDS": ["da", "district", "borough"]},
}


@pytest.mark.slow
@pytest.mark.parametrize("how", MADE)
def test_chained_steps_equal_the_main_algorithm(run, nested, layers, town, how):
    settings, k = MADE[how], MADE[how].get("K", 5)
    made = run(
        "nestlevels",
        **layers["areas"],
        **layers["records"],
        **settings,
        CROSSWALK="memory:",
        RELEASED_REGIONS="memory:",
    )
    crosswalk = {"CROSSWALK": made.layer("CROSSWALK")}
    of_records = {**layers["records"], **crosswalk, "K": k, "KEEP_FIELDS": ["diagnosis"]}
    outputs = {"RELEASED_RECORDS": "memory:", "REGION_AUDIT": "memory:"}
    released = run("releaserecords", **of_records, **layers["areas"], **outputs)
    alone = run("releaserecords", **of_records, RELEASED_RECORDS="memory:")
    rated = run("evaluate", **layers["areas"], **layers["records"], **crosswalk, K=k, REGION_AUDIT="memory:")
    custom = {"COMBINATION": "custom", "SITE_NUMBER": "given number", "N_SITES": 6, "KEEP_FIELDS": ["diagnosis"]}
    whole = nested(**custom, **settings)
    assert made.rows("CROSSWALK") == whole.rows("CROSSWALK")
    assert released.rows("RELEASED_RECORDS") == whole.rows("RELEASED_RECORDS")
    assert rated.rows("REGION_AUDIT") == released.rows("REGION_AUDIT") == whole.rows("REGION_AUDIT")
    recounted(whole).check(town.live(), k)
    for name in (*MEASURES, "COMPACTNESS", "MEAN_DISTANCE", "N_LEVELS", "N_SITES"):
        assert rated.results[name] == whole.results[name]
        if name in MEASURES:
            assert released.results[name] == whole.results[name]
    assert (made.results["N_LEVELS"], made.results["N_SITES"]) == (whole.results["N_LEVELS"], whole.results["N_SITES"])
    regions = [
        {n: v for n, v in row.items() if n not in ("released", "within")} for row in whole.rows("RELEASED_REGIONS")
    ]
    assert made.rows("RELEASED_REGIONS") == regions
    # Without areas there are no distances, and the log says by what the levels were chosen.
    assert any("LOSS is “non-uniform entropy”" in line for line in alone.log)
    by_bits = nested(**custom, **settings, LOSS="non-uniform entropy")
    assert alone.rows("RELEASED_RECORDS") == by_bits.rows("RELEASED_RECORDS")
    assert alone.results["N_SUPPRESSED"] == whole.results["N_SUPPRESSED"]
    _flattened_at_every_level(run, whole, k)


def _flattened_at_every_level(run, whole, k):
    """`vbas:flattenrelease` against a recount of the release."""
    rows = whole.rows("RELEASED_RECORDS")
    recount = recounted(whole)
    n = recount.n_levels
    for level in range(1, n + 1):
        flat = run(
            "flattenrelease",
            RECORDS=whole.layer("RELEASED_RECORDS"),
            QUASI_IDENTIFIERS=["sex", "age"],
            CROSSWALK=whole.layer("CROSSWALK"),
            LEVEL=level,
            K=k,
            FLATTENED="memory:",
        )
        expected = Counter(
            (recount.above(row["vbas_level"], row["vbas_region"], level), row["sex"], row["age"], row["diagnosis"])
            for row in rows
            if row["vbas_level"] <= level
        )
        flattened = flat.rows("FLATTENED")
        if flattened:
            assert list(flattened[0]) == ["vbas_region", "sex", "age", "diagnosis"]
        assert Counter(tuple(row.values()) for row in flattened) == expected
        classes = Counter((row["vbas_region"], row["sex"], row["age"]) for row in flattened)
        assert min(classes.values(), default=k) >= k
        assert flat.results["N_RECORDS"] == len(flattened)
        assert flat.results["N_RECORDS"] + flat.results["N_LEFT_OUT"] == len(rows)
    assert flat.results["N_LEFT_OUT"] == 0


def test_a_crosswalk_of_one_level_is_released_and_rated_as_before(run, layers, town):
    crosswalk = numbered(town, town.district)
    done = run("releaserecords", **layers["records"], CROSSWALK=crosswalk, RELEASED_RECORDS="memory:")
    assert list(done.rows("RELEASED_RECORDS")[0]) == ["vbas_region", "sex", "age"]
    assert not any("not looked at" in line for line in done.log)
    with_areas = run(
        "releaserecords", **layers["records"], **layers["areas"], CROSSWALK=crosswalk, RELEASED_RECORDS="memory:"
    )
    assert with_areas.rows("RELEASED_RECORDS") == done.rows("RELEASED_RECORDS")
    rated = run("evaluate", **layers["areas"], **layers["records"], CROSSWALK=crosswalk, REGION_AUDIT="memory:")
    assert rated.results["N_LEVELS"] == 1
    assert rated.results["N_SUPPRESSED"] == done.results["N_SUPPRESSED"]


@pytest.mark.parametrize(
    ("levels", "words"),
    [((1, 3), "has vbas_region_1, vbas_region_3, but no vbas_region_2"), ((2, 3), "but no vbas_region_1")],
)
def test_a_crosswalk_that_lost_a_level_is_refused(run, layers, town, tmp_path, levels, words):
    """Its rows would be taken for those of another level."""
    columns = dict(zip(levels, (town.identifiers, town.borough)))
    numbers = {f"vbas_region_{level}": numbers_of(column) for level, column in columns.items()}
    crosswalk = make_layer({"da": town.identifiers, **numbers})
    place = str(tmp_path / "released.gpkg")
    with pytest.raises(QgsProcessingException, match=words):
        run("releaserecords", **layers["records"], CROSSWALK=crosswalk, RELEASED_RECORDS=place)
    with pytest.raises(QgsProcessingException, match=words):
        run("evaluate", **layers["areas"], **layers["records"], CROSSWALK=crosswalk, REGION_AUDIT=place)
    assert files_in(tmp_path) == []


def test_releasing_needs_the_identifier_of_areas_that_are_given(run, layers, town):
    made = run("nestlevels", **layers["areas"], CROSSWALK="memory:")
    with pytest.raises(QgsProcessingException, match="REGION_ID") as error:
        run(
            "releaserecords",
            **layers["records"],
            CROSSWALK=made.layer("CROSSWALK"),
            REGIONS=layers["areas"]["REGIONS"],
            RELEASED_RECORDS="memory:",
        )
    assert "\n" not in str(error.value).strip()


# ---- levels from crosswalks and from fields


def numbers_of(column):
    number = {value: i + 1 for i, value in enumerate(sorted(set(column)))}
    return [number[value] for value in column]


def numbered(town, column):
    return make_layer({"da": town.identifiers, "vbas_region": numbers_of(column)})


def in_project(*layers):
    """A list of layers is told by their ids."""
    QgsProject.instance().addMapLayers(layers)
    return [layer.id() for layer in layers]


def test_levels_from_several_crosswalks(run, layers, town, project):
    given = in_project(*(numbered(town, column) for column in (town.identifiers, town.district, town.borough)))
    done = run("nestlevels", **layers["areas"], CROSSWALKS=given, CROSSWALK="memory:", RELEASED_REGIONS="memory:")
    fields = run("nestlevels", **layers["areas"], LEVEL_FIELDS=["da", "district", "borough"], CROSSWALK="memory:")
    assert done.rows("CROSSWALK") == fields.rows("CROSSWALK")
    assert done.results["N_LEVELS"] == 3 and done.results["N_SITES"] == 36
    Recount([], done.rows("CROSSWALK")).check_regions(done.rows("RELEASED_REGIONS"))


def test_one_crosswalk_is_the_finest_level_of_made_ones(run, layers, town, project):
    given = in_project(numbered(town, town.district))
    done = run("nestlevels", **layers["areas"], CROSSWALKS=given, RATIO=3, CROSSWALK="memory:")
    recount = Recount([], done.rows("CROSSWALK"))
    assert [len(set(column.values())) for column in recount.region_of[1:]] == [9, 3, 1]
    assert list(recount.region_of[1].values()) == numbers_of(town.district)


@pytest.mark.slow
def test_levels_hold_for_several_tables_and_periods(run, layers, town, project):
    """What is said to hold is counted again from the rows; a table of the same rows changes nothing."""
    given = {**layers["areas"], **layers["records"], "HELD_PERCENT": 60, "RESERVE": 1.5, "K": 4, "CROSSWALK": "memory:"}
    done = run("nestlevels", **given)
    region_of = Recount([], done.rows("CROSSWALK")).region_of[1]
    rows = [feature.attributes() for feature in layers["records"]["RECORDS"].getFeatures()]
    names = layers["records"]["RECORDS"].fields().names()
    home, sex, age = (names.index(name) for name in ("home", "sex", "age"))
    classes = Counter((region_of[row[home]], row[sex], row[age]) for row in rows if row[home] in region_of)
    people = Counter(region_of[row[home]] for row in rows if row[home] in region_of)
    for region, n in people.items():
        shown = sum(count for (at, *_), count in classes.items() if at == region and count >= 6)
        assert shown >= 0.6 * n
    assert 1 < done.results["N_SITES"] < len(region_of)
    assert any("in classes of 6 and more in every period and table" in line for line in done.log)
    (more,) = in_project(layers["records"]["RECORDS"].clone())
    assert run("nestlevels", **given, MORE_RECORDS=[more]).rows("CROSSWALK") == done.rows("CROSSWALK")
    by_sex = {**given, "PERIOD": "sex", "QUASI_IDENTIFIERS": ["age"]}
    of_periods = run("nestlevels", **by_sex)
    assert of_periods.results["N_SITES"] <= done.results["N_SITES"]
    assert any("PERIODS “the same in all periods” regions show fewer" in line for line in of_periods.log)
    assert not any("regions show fewer" in line for line in done.log)
    official = run("nestlevels", **given, LEVEL_FIELDS=["da", "district"])
    assert any(line.startswith("Regions that show 60 %") for line in official.log)
    with pytest.raises(QgsProcessingException, match="HELD_PERCENT looks at classes: give RECORDS"):
        run("nestlevels", **layers["areas"], HELD_PERCENT=60, CROSSWALK="memory:")
    with pytest.raises(QgsProcessingException, match="choose a smaller share or RESERVE"):
        run("nestlevels", **{**given, "RESERVE": 500})


def test_crosswalks_that_do_not_nest_are_refused(run, layers, town, project, tmp_path):
    given = in_project(numbered(town, town.borough), numbered(town, town.district))
    with pytest.raises(QgsProcessingException, match=rf"3 regions of crosswalk 1 lie in several .* 2 \(areas .*{MARK}"):
        run("nestlevels", **layers["areas"], CROSSWALKS=given, CROSSWALK=str(tmp_path / "crosswalk.csv"))
    other = make_layer({"da": ["x"], "vbas_region": [1]})
    with pytest.raises(QgsProcessingException, match="not in REGIONS"):
        run("nestlevels", **layers["areas"], CROSSWALKS=in_project(other), CROSSWALK=str(tmp_path / "crosswalk.csv"))
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("how", ["fields", "crosswalks"])
def test_given_levels_below_the_least_population_are_joined(run, layers, town, project, how):
    columns = (town.identifiers, town.district)
    levels = {"LEVEL_FIELDS": ["da", "district"]} if how == "fields" else {}
    levels = levels or {"CROSSWALKS": in_project(*(numbered(town, column) for column in columns))}
    least = sorted(town.people)[3] + 1
    done = run("nestlevels", **layers["areas"], **levels, LEAST_POPULATION=least, CROSSWALK="memory:")
    people: Counter[object] = Counter()
    for row, n in zip(done.rows("CROSSWALK"), town.people):
        people[row["vbas_region_1"]] += n
    assert min(people.values()) >= least
    assert len(people) == done.results["N_SITES"] < 36


def test_levels_need_no_records(run, layers, town):
    done = run("nestlevels", **layers["areas"], CROSSWALK="memory:", RELEASED_REGIONS="memory:")
    Recount([], done.rows("CROSSWALK")).check_regions(done.rows("RELEASED_REGIONS"))
    with pytest.raises(QgsProcessingException, match="looks at classes: give RECORDS and QUASI_IDENTIFIERS"):
        run("nestlevels", **layers["areas"], SITE_LOCATION="anonymity-driven clustering", CROSSWALK="memory:")


# ---- one level of a nested release


@pytest.fixture
def done(nested):
    return nested(KEEP_FIELDS=["diagnosis"])


@pytest.fixture
def flatten(run, done):
    def one(**changes):
        parameters = {
            "RECORDS": done.layer("RELEASED_RECORDS"),
            "QUASI_IDENTIFIERS": ["sex", "age"],
            "CROSSWALK": done.layer("CROSSWALK"),
            "FLATTENED": "memory:",
            **changes,
        }
        return run("flattenrelease", **parameters)

    return one


@pytest.mark.slow
def test_counted_rows_of_one_level_are_added_up(run, nested, town):
    plain = nested(KEEP_FIELDS=["diagnosis"])
    counted = nested(RECORDS=town.counted_layer(), RECORD_COUNT="n", KEEP_FIELDS=["diagnosis"])
    for level in range(1, plain.results["N_LEVELS"] + 1):
        flat = [
            run(
                "flattenrelease",
                RECORDS=release.layer("RELEASED_RECORDS"),
                QUASI_IDENTIFIERS=["sex", "age"],
                CROSSWALK=release.layer("CROSSWALK"),
                LEVEL=level,
                FLATTENED="memory:",
                **more,
            )
            for release, more in ((plain, {}), (counted, {"RECORD_COUNT": "records"}))
        ]
        both = [done.rows("FLATTENED") for done in flat]
        # What is given back, and said, are records, however many of them a row stands for.
        (numbers, said), of_counts = (
            (
                {name: done.results[name] for name in ("N_RECORDS", "N_LEFT_OUT")},
                [line for line in done.log if line.startswith("Records shown at level")],
            )
            for done in flat
        )
        assert of_counts == (numbers, said) and len(said) == 1
        assert numbers["N_RECORDS"] == len(both[0])
        released = [tuple(row.values())[:-1] for row in both[1]]
        assert len(set(released)) == len(released)
        rows = Counter({values: row["records"] for values, row in zip(released, both[1])})
        assert rows == Counter(tuple(row.values()) for row in both[0])


@pytest.mark.slow
def test_files_go_in_and_out(run, nested, tmp_path):
    """GeoPackage and CSV, whose columns are all text."""
    found = {}
    for suffix in (".gpkg", ".csv"):
        places = files(tmp_path, suffix, ("RELEASED_RECORDS", "CROSSWALK"))
        nested(**places, RELEASED_REGIONS=None, REGION_AUDIT=None)
        flat = tmp_path / f"flat{suffix}"
        run(
            "flattenrelease",
            RECORDS=places["RELEASED_RECORDS"],
            QUASI_IDENTIFIERS=["sex", "age"],
            CROSSWALK=places["CROSSWALK"],
            LEVEL=3,
            FLATTENED=str(flat),
        )
        found[suffix] = Counter(tuple(row.values()) for row in rows_in(flat))
    assert found[".gpkg"] == found[".csv"] and found[".gpkg"]


def with_column(done, name, change):
    """The released records with one column changed."""
    rows = done.rows("RELEASED_RECORDS")
    columns = {one: [row[one] for row in rows] for one in rows[0]}
    return make_layer({**columns, name: [change(i, value) for i, value in enumerate(columns[name])]})


def cut(done, level):
    """The crosswalk without its coarser levels."""
    rows = done.rows("CROSSWALK")
    kept = ["da", *(f"vbas_region_{i}" for i in range(1, level + 1))]
    return make_layer({name: [row[name] for row in rows] for name in kept})


def renumbered(done):
    rows = done.rows("CROSSWALK")
    return make_layer({name: [row[name] if name == "da" else row[name] + 1000 for row in rows] for name in rows[0]})


FLAT_REFUSED = {
    "level too large": (lambda d: {"LEVEL": 99}, "LEVEL is 99, but the levels of CROSSWALK are 1 to [0-9]+"),
    "level zero": (lambda d: {"LEVEL": 0}, "LEVEL"),
    "another crosswalk": (lambda d: {"CROSSWALK": renumbered(d)}, "rows show a region that CROSSWALK does not have"),
    "no crosswalk": (
        lambda d: {"CROSSWALK": cut(d, 0)},
        "CROSSWALK is no crosswalk: it has no field “vbas_region”, but “da”. Give the table",
    ),
    "too few levels": (lambda d: {"CROSSWALK": cut(d, 1), "LEVEL": 1}, "rows show a region that CROSSWALK does not"),
    "level in words": (
        lambda d: {"RECORDS": with_column(d, "vbas_level", lambda i, v: "fine")},
        "“vbas_level” of RECORDS is not a whole number in all rows",
    ),
    "half a level": (
        lambda d: {"RECORDS": with_column(d, "vbas_level", lambda i, v: 1.5 if i == 3 else float(v))},
        "“vbas_level” of RECORDS is not a whole number in all rows",
    ),
    "missing level": (
        lambda d: {"RECORDS": with_column(d, "vbas_level", lambda i, v: None if i == 3 else v)},
        "“vbas_level” of RECORDS is not a whole number in all rows",
    ),
    "region in words": (
        lambda d: {"RECORDS": with_column(d, "vbas_region", lambda i, v: "north")},
        "“vbas_region” of RECORDS is not a whole number in all rows",
    ),
    "level of its own": (
        lambda d: {"RECORDS": with_column(d, "vbas_level", lambda i, v: 77 if i == 3 else v)},
        r"1 row shows a region that CROSSWALK does not have \(first: level 77",
    ),
    "no nested release": (
        lambda d: {"RECORDS": cut(d, 1)},
        "no field “vbas_level” in RECORDS, .*: choose a layer that this program made",
    ),
    "larger k": (
        lambda d: {"K": 500},
        r"A class would have \d+ records, fewer than .*500: give .* as they are of",
    ),
    "level as a quasi-identifier": (
        lambda d: {"QUASI_IDENTIFIERS": ["sex", "vbas_level"]},
        "“vbas_level” says where a record is shown: choose others",
    ),
    "no count": (
        lambda d: {"RECORDS": with_column(d, "diagnosis", lambda i, v: -5), "RECORD_COUNT": "diagnosis"},
        "“diagnosis” .*negative",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", FLAT_REFUSED)
def test_what_cannot_be_flattened_is_refused_in_one_sentence(flatten, done, tmp_path, case):
    change, words = FLAT_REFUSED[case]
    with pytest.raises(QgsProcessingException, match=words) as error:
        flatten(**{"LEVEL": 2, **change(done)}, FLATTENED=str(tmp_path / "flat.gpkg"))
    assert "Traceback" not in str(error.value) and "\n" not in str(error.value).strip()
    assert files_in(tmp_path) == []


def test_whole_numbers_stored_as_reals_are_levels(flatten, done):
    as_reals = with_column(done, "vbas_level", lambda i, v: float(v))
    assert flatten(RECORDS=as_reals, LEVEL=2).rows("FLATTENED") == flatten(LEVEL=2).rows("FLATTENED")


# ---- bad input, cancel


BAD_INPUT: dict[str, tuple[Callable[[Any], dict[str, Any]], str]] = {
    "k too large for parts": (lambda t: {"K": 1001}, "K is 1001: nested levels take a K up to 1000"),
    "k of one": (lambda t: {"K": 1}, "K"),
    "ratio of one": (lambda t: {"RATIO": 1}, "RATIO"),
    "no coarsest": (lambda t: {"COARSEST": 0}, "COARSEST"),
    "negative least": (lambda t: {"LEAST_POPULATION": -1}, "LEAST_POPULATION"),
    "no such release": (lambda t: {"RELEASE": "no levels"}, "RELEASE is “no levels”, which is not among the choices"),
    "no such loss": (lambda t: {"LOSS": "regret"}, "LOSS is “regret”, which is not among the choices"),
    "area as quasi": (lambda t: {"QUASI_IDENTIFIERS": ["sex", "home"]}, "“home” in QUASI_IDENTIFIERS is the identif"),
    "kept level": (
        lambda t: {
            "RECORDS": make_layer({"home": t.identifiers, "sex": ["F"] * 36, "vbas_level": [1] * 36}),
            "QUASI_IDENTIFIERS": ["sex"],
            "KEEP_FIELDS": ["vbas_level"],
        },
        "has a name that the release itself uses",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_gets_one_sentence_and_writes_nothing(nested, town, tmp_path, case):
    change, words = BAD_INPUT[case]
    # Enough people for a large K.
    more = replace(town, records=town.records * 3).record_layer()
    with pytest.raises(QgsProcessingException, match=words) as error:
        nested(**{"RECORDS": more, **change(town)}, **files(tmp_path), REPORT=str(tmp_path / "report.html"))
    assert "Traceback" not in str(error.value)
    assert files_in(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", [0.5, 10, 25, 32, 44, 50, 64, 70, 79])
def test_cancel_at_any_moment_leaves_nothing(nested, run, town, tmp_path, stop_at):
    with pytest.raises(QgsProcessingException, match="Cancelled"):
        nested(stop_at=stop_at, **files(tmp_path), REPORT=str(tmp_path / "report.html"))
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("stop_at", [0.5, 25, 50, 70])
def test_cancelled_levels_leave_nothing(run, layers, tmp_path, stop_at):
    with pytest.raises(QgsProcessingException, match="Cancelled"):
        run(
            "nestlevels",
            stop_at=stop_at,
            **layers["areas"],
            **files(tmp_path, names=("CROSSWALK", "RELEASED_REGIONS")),
        )
    assert files_in(tmp_path) == []


# ---- the second count


def tampering(monkeypatch, name, change):
    """What `anonymize` and the steps call under this name gives something else."""
    where = {"apply": source, "nest": anonymise}[name]
    right = getattr(where, name)
    monkeypatch.setattr(where, name, lambda *given, **more: change(right(*given, **more)))


def one_less(release):
    """A class of just k shows one record less: k - 1."""
    release = row_by_row(release)
    keys = list(zip(release.level, release.region, *(c.codes for c in list(release.fields.values())[:2])))
    size = Counter(keys)
    row = next(i for i, key in enumerate(keys) if size[key] == 5)
    kept = np.arange(len(keys)) != row
    fields = {name: Column(column.codes[kept], column.categories) for name, column in release.fields.items()}
    left = {name: getattr(release, name)[kept] for name in ("level", "region", "counts")}
    return replace(release, fields=fields, **left)


def one_elsewhere(release):
    """A whole class is shown in a region where nobody of it lives."""
    columns = [c.codes for c in list(release.fields.values())[:2]]
    keys = list(zip(release.level, release.region, *columns))
    of_class = defaultdict(set)
    for level, region, *values in keys:
        if level == 0:
            of_class[tuple(values)].add(region)
    whole, regions = next((v, r) for v, r in of_class.items() if len(r) < 3)
    own = next(iter(regions))
    moved = np.array([key == (0, own, *whole) for key in keys])
    elsewhere = (own + 18) % 36
    return replace(release, region=np.where(moved, elsewhere, release.region))


def one_level_finer(release):
    """A whole class of level 2 is shown at level 1."""
    columns = [c.codes for c in list(release.fields.values())[:2]]
    first = np.flatnonzero(release.level == 1)[0]
    same = np.all([column == column[first] for column in (release.level, release.region, *columns)], axis=0)
    return replace(release, level=np.where(same, 0, release.level))


def a_lone_cell_finer(plan):
    """A cell of fewer than k records is shown in its own area."""
    profile = plan.profile
    level_of = plan.level_of.copy()
    level_of[np.flatnonzero((profile.counts.data < plan.k) & (level_of > 0))[0]] = 0
    return plan_by_levels(profile, plan.levels, 1, level_of)


TAMPERED = {
    "a record less": ("apply", one_less, "second count|where not as many|fewer than"),
    "another region": ("apply", one_elsewhere, "in regions where not as many records live"),
    "another level": ("apply", one_level_finer, "in regions where not as many records live"),
    "a lone cell": ("nest", a_lone_cell_finer, "second count|fewer than"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", TAMPERED)
def test_a_release_that_was_tampered_with_is_refused_and_nothing_is_written(
    nested, run, layers, tmp_path, monkeypatch, case
):
    right = nested()
    tampering(monkeypatch, *TAMPERED[case][:2])
    with pytest.raises(QgsProcessingException, match=TAMPERED[case][2]):
        nested(**files(tmp_path), REPORT=str(tmp_path / "report.html"))
    assert files_in(tmp_path) == []
    with pytest.raises(QgsProcessingException, match=TAMPERED[case][2]):
        run(
            "releaserecords",
            **layers["records"],
            **layers["areas"],
            CROSSWALK=right.layer("CROSSWALK"),
            RELEASED_RECORDS=str(tmp_path / "released.gpkg"),
        )
    assert files_in(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("place", ["memory:", "file.gpkg", "file.csv"])
@pytest.mark.parametrize("column", [0, 1, 2, 3], ids=["level", "region", "sex", "age"])
def test_rows_changed_on_their_way_into_the_file_are_found(nested, tmp_path, monkeypatch, place, column):
    """The written table is counted by level, region and quasi-identifiers: one row gets a class of its own."""
    chunks = writing.Table.chunks
    other = (77, 7777, "only one of this kind", 7777)[column]

    def tampered(self):
        for start, rows in chunks(self):
            if self.fields[0].name() == "vbas_level" and self.fields[-1].name() == "age":
                rows[0] = (*rows[0][:column], other, *rows[0][column + 1 :])
            yield start, rows

    monkeypatch.setattr(writing.Table, "chunks", tampered)
    monkeypatch.setattr(writing.Table, "runs", lambda _: None)
    target = place if place == "memory:" else str(tmp_path / place)
    with pytest.raises(QgsProcessingException, match="second count"):
        nested(RELEASED_RECORDS=target, CROSSWALK=str(tmp_path / "crosswalk.csv"))
    assert files_in(tmp_path) == []


def test_a_flattened_release_that_was_tampered_with_is_refused(flatten, tmp_path, monkeypatch):
    chunks = writing.Table.chunks

    def tampered(self):
        for start, rows in chunks(self):
            rows[0] = (rows[0][0], "only one of this kind", *rows[0][2:])
            yield start, rows

    monkeypatch.setattr(writing.Table, "chunks", tampered)
    monkeypatch.setattr(writing.Table, "runs", lambda _: None)
    with pytest.raises(QgsProcessingException, match="second count"):
        flatten(LEVEL=3, FLATTENED=str(tmp_path / "flat.gpkg"))
    assert files_in(tmp_path) == []
