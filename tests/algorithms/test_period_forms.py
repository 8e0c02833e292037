"""Records of several years, in QGIS: k in each of them, and series without holes."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from vbas.core.publish.register.published_releases import read_register

from .conftest import make_layer

SIDE, K = 4, 4
YEARS = ("2021", "2022", "2023")
OF_RECORDS = ("RECORDS", "RECORD_REGION", "QUASI_IDENTIFIERS", "PERIOD")


@pytest.fixture(scope="module")
def town(provider):
    """16 square areas with people of two sexes and two ages in three years, the old ones few."""
    rng = np.random.default_rng(3)
    squares, homes, rows = [], [], []
    for row in range(SIDE):
        for column in range(SIDE):
            x, y = 630_000 + 500 * column, 5_520_000 + 500 * row
            squares.append(f"Polygon(({x} {y}, {x + 500} {y}, {x + 500} {y + 500}, {x} {y + 500}, {x} {y}))")
            homes.append(f"4690{row}{column}")
    for home in homes:
        for year in YEARS:
            for sex, age, number in (("F", "young", 7), ("M", "young", 5), ("F", "old", 2), ("M", "old", 1)):
                rows += [(home, sex, age, year)] * int(rng.integers(0, 2 * number))
    names = ("home", "sex", "age", "year")
    areas = make_layer({"da": homes, "people": [50] * len(homes)}, squares)
    return areas, make_layer(dict(zip(names, map(list, zip(*rows))))), rows


def given(town, tmp_path, **more):
    return {
        "REGIONS": town[0],
        "REGION_ID": "da",
        "POPULATION": "people",
        "RECORDS": town[1],
        "RECORD_REGION": "home",
        "QUASI_IDENTIFIERS": ["sex", "age"],
        "PERIOD": "year",
        "K": K,
        "COMBINATION": "custom",
        "SITE_NUMBER": "given number",
        "N_SITES": 5,
        "RELEASED_RECORDS": str(tmp_path / "released.csv"),
        "CROSSWALK": str(tmp_path / "crosswalk.csv"),
        "REPORT": str(tmp_path / "report.html"),
        **more,
    }


def read(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def crosswalk_of(tmp_path):
    rows = read(tmp_path / "crosswalk.csv")
    return make_layer({name: [row[name] for row in rows] for name in ("da", "vbas_region")})


def assert_series(town, tmp_path):
    """What was written, counted again: k in each year, and of a class of a coarsest region all people or none."""
    released, crosswalk = read(tmp_path / "released.csv"), read(tmp_path / "crosswalk.csv")
    fields = [name for name in crosswalk[0] if name.startswith("vbas_region")]
    of_area = {row["da"]: row[fields[-1]] for row in crosswalk}
    place = {(level, row[name]): row[fields[-1]] for row in crosswalk for level, name in enumerate(fields, 1)}
    classes = Counter(
        (row.get("vbas_level", "1"), row["vbas_region"], row["sex"], row["age"], row["year"]) for row in released
    )
    assert classes and min(classes.values()) >= K
    lives: defaultdict[tuple, Counter] = defaultdict(Counter)
    shows: defaultdict[tuple, Counter] = defaultdict(Counter)
    for home, sex, age, year in town[2]:
        lives[of_area[home], sex, age][year] += 1
    for (level, region, sex, age, year), number in classes.items():
        shows[place[int(level), region], sex, age][year] += number
    assert all(shows[series] == lives[series] for series in shows)
    return len(released)


@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_what_is_written_is_the_same_in_all_years_and_the_report_tells_of_each(run, town, tmp_path, release):
    same = run("anonymize", **given(town, tmp_path, RELEASE=release))
    n_same = assert_series(town, tmp_path)
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The periods" in report and "the classes are the same in all" in report
    each = run("anonymize", **given(town, tmp_path, RELEASE=release, PERIODS="each period by itself"))
    assert len(read(tmp_path / "released.csv")) >= n_same
    assert each.results["N_SUPPRESSED"] <= same.results["N_SUPPRESSED"]
    assert "each shows its classes by itself" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_steps_give_the_same_as_one_run(run, town, tmp_path):
    whole = run("anonymize", **given(town, tmp_path))
    rows = read(tmp_path / "released.csv")
    common = {
        name: value
        for name, value in given(town, tmp_path).items()
        if name in ("REGIONS", "REGION_ID", "POPULATION", *OF_RECORDS, "K")
    }
    crosswalk = crosswalk_of(tmp_path)
    rated = run("evaluate", **common, CROSSWALK=crosswalk, CROSSWALK_ID="da")
    step = run(
        "releaserecords",
        **common,
        CROSSWALK=crosswalk,
        CROSSWALK_ID="da",
        RELEASED_RECORDS=str(tmp_path / "released.csv"),
    )
    assert read(tmp_path / "released.csv") == rows
    suppressed = {one.results["N_SUPPRESSED"] for one in (whole, rated, step)}
    assert len(suppressed) == 1


def test_a_counted_table_keeps_its_period(run, town, tmp_path):
    asked = given(town, tmp_path)
    profile = run(
        "profilerecords",
        **{name: asked[name] for name in OF_RECORDS},
        PROFILE="memory:",
    )
    assert {row["year"] for row in profile.rows("PROFILE")} == set(YEARS)
    run("anonymize", **{**asked, "RECORDS": profile.layer("PROFILE"), "RECORD_COUNT": "records"})
    released = read(tmp_path / "released.csv")
    assert {row["year"] for row in released} <= set(YEARS)


@pytest.mark.slow
@pytest.mark.parametrize("aggregation", ["iterative Voronoi", "anonymity exchange"])
def test_a_budget_is_kept_with_all_years_together(run, town, tmp_path, aggregation):
    asked = given(town, tmp_path, SITE_NUMBER="suppression budget", BUDGET=25, AGGREGATION=aggregation, FAIR=["sex"])
    found = run("anonymize", **asked)
    assert_series(town, tmp_path)
    assert found.results["SUPPRESSION_PERCENT"] <= 25


def test_a_period_among_the_quasi_identifiers_counts_once(run, town, tmp_path):
    found = run("anonymize", **given(town, tmp_path, QUASI_IDENTIFIERS=["year", "sex", "age"]))
    assert any("counts once, as the period" in line for line in found.log)
    assert list(read(tmp_path / "released.csv")[0])[-3:] == ["sex", "age", "year"]


def test_what_does_not_go_together_is_refused(run, town, tmp_path):
    with pytest.raises(QgsProcessingException, match=r"KEEP_FIELDS.*year"):
        run("anonymize", **given(town, tmp_path, KEEP_FIELDS=["year"]))
    with pytest.raises(QgsProcessingException, match="DISCLOSURE"):
        run("anonymize", **given(town, tmp_path, RELEASE="nested levels", DISCLOSURE="no small count follows"))


@pytest.mark.slow
def test_a_register_knows_which_release_is_a_series(run, town, tmp_path):
    """The same series twice, and the periods by themselves under other regions."""
    register = tmp_path / "register.gpkg"
    for more in ({}, {}, {"PERIODS": "each period by itself", "REGISTER_ACTION": "repair"}):
        run("anonymize", **given(town, tmp_path, REGISTER=str(register), **more))
    assert [release.period for release in read_register(register)] == ["year", "year", ""]


@pytest.mark.slow
def test_records_that_stay_in_their_engine_hold_k_in_each_year(run, town, tmp_path):
    pytest.importorskip("duckdb")
    run("anonymize", **given(town, tmp_path))
    rows = read(tmp_path / "released.csv")
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("home", "sex", "age", "year"), *town[2]])
    crosswalk = crosswalk_of(tmp_path)
    run(
        "releasedatabase",
        CONNECTION=str(tmp_path / "people.csv"),
        RECORD_REGION="home",
        QUASI_IDENTIFIERS="sex;age",
        PERIOD="year",
        CROSSWALK=crosswalk,
        CROSSWALK_ID="da",
        K=K,
        DESTINATION=str(tmp_path / "in_place.csv"),
    )
    in_place = read(tmp_path / "in_place.csv")
    names = ("vbas_region", "sex", "age", "year")
    assert Counter(tuple(row[name] for name in names) for row in in_place) == Counter(
        tuple(row[name] for name in names) for row in rows
    )


def test_a_comparison_rates_what_a_run_then_gives(run, town, tmp_path):
    asked = {name: given(town, tmp_path)[name] for name in ("REGIONS", "REGION_ID", "POPULATION", *OF_RECORDS, "K")}
    chosen = {"SITE_NUMBERS": ["given number"], "N_SITES": 5, "AGGREGATIONS": ["iterative Voronoi"]}
    chosen["SITE_LOCATIONS"] = ["balanced density"]
    compared = run("compare", **asked, **chosen, COMPARISON="memory:")
    run_by_itself = run("anonymize", **given(town, tmp_path))
    percents = [row["suppression_percent"] for row in compared.rows("COMPARISON")]
    assert percents == [pytest.approx(run_by_itself.results["SUPPRESSION_PERCENT"])]
    # What is searched, and the random selections, count classes as the run does, too.
    searched = run(
        "compare",
        **asked,
        **chosen,
        BUDGETS="60",
        SCENARIOS=2,
        LEAST_ATTRIBUTES=1,
        COMPARISON="memory:",
        SCENARIO_AVERAGES="memory:",
    )
    (row,) = [row for row in searched.rows("COMPARISON") if row["budget"] is not None]
    again = {**given(town, tmp_path), "N_SITES": row["n_sites"]}
    assert row["suppression_percent"] == pytest.approx(run("anonymize", **again).results["SUPPRESSION_PERCENT"])
    assert {row["failed"] for row in searched.rows("SCENARIO_AVERAGES")} == {0}
