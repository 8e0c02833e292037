"""Several releases inside QGIS: what they give away together, and the register that keeps it from happening."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from qgis.core import QgsFeatureRequest, QgsProcessingException

from .conftest import make_layer


@pytest.fixture
def people(grid):
    """Home, sex and age of everybody in the grid."""
    return [(f["home"], f["sex"], str(f["age"])) for f in grid[1].getFeatures()]


@pytest.fixture
def publish(anonymize, tmp_path):
    """Run vbas:anonymize on the grid, its release into files."""

    def one(**changes):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        files = {name: str(folder / f"{name}.gpkg") for name in ("RELEASED_RECORDS", "CROSSWALK")}
        return anonymize(**{**files, **changes})

    return one


def check(run, releases, **more):
    given = {
        "RELEASES": [release.results["RELEASED_RECORDS"] for release in releases],
        "CROSSWALKS": [release.results["CROSSWALK"] for release in releases],
        "QUASI_IDENTIFIERS": "sex;age",
        "PINNED": "memory:",
        **more,
    }
    return run("checkreleases", **{name: value for name, value in given.items() if value is not None})


@pytest.mark.slow
@pytest.mark.parametrize("with_areas", [False, True])
def test_what_two_releases_give_away_is_true(publish, run, grid, people, with_areas):
    releases = [publish(N_SITES=n, K=5) for n in (9, 10)]
    more = {"REGIONS": grid[0], "REGION_ID": "da"} if with_areas else {}
    done = check(run, releases, **more)
    rows = done.rows("PINNED")
    assert done.results["N_PINNED"] == len(rows) > 10
    assert done.results["N_UNDECIDED"] == done.results["N_CONTRADICTED"] == 0
    for row in rows:
        homes = set(row["areas"].split(";"))
        assert len(homes) == row["n_areas"]
        true = sum(home in homes and sex == row["sex"] and age == row["age"] for home, sex, age in people)
        assert 1 <= row["low"] <= true <= row["high"] <= 4
    if with_areas:
        for feature in done.layer("PINNED").getFeatures():
            assert abs(feature.geometry().area() - 500**2 * feature["n_areas"]) < 1


@pytest.mark.slow
def test_areas_that_are_not_drawn_are_named(publish, run, grid):
    releases = [publish(N_SITES=n, K=5) for n in (9, 10)]
    found = check(run, releases)
    needed = {part for row in found.rows("PINNED") for part in row["areas"].split(";")}
    lost = min(needed)
    fewer = grid[0].materialize(QgsFeatureRequest().setFilterExpression(f"\"da\" <> '{lost}'"))
    done = check(run, releases, REGIONS=fewer, REGION_ID="da")
    assert done.rows("PINNED") == found.rows("PINNED")
    (told,) = [line for line in done.log if "cannot be drawn" in line]
    assert f"no area “{lost}”: 1 of the {len(needed)} areas" in told
    whole = check(run, releases, REGIONS=grid[0], REGION_ID="da")
    assert not any("cannot be drawn" in line for line in whole.log)


@pytest.mark.slow
def test_the_diagnosis_of_who_is_given_away(publish, run, grid):
    releases = [publish(N_SITES=n, K=5, KEEP_FIELDS=["diagnosis"]) for n in (9, 10)]
    plain, done = check(run, releases), check(run, releases, SENSITIVE="diagnosis")
    assert plain.results["N_VALUES"] == plain.results["N_ALIKE"] == 0
    assert done.results["N_PINNED"] >= plain.results["N_PINNED"]
    rows = done.rows("PINNED")
    known = [row for row in rows if row["vbas_sensitive"]]
    assert len(known) == done.results["N_VALUES"] + done.results["N_ALIKE"] > 5
    for row in known:
        homes = set(row["areas"].split(";"))
        own = [f["diagnosis"] or "(missing)" for f in grid[1].getFeatures() if matches(f, homes, row)]
        told = dict(part.rsplit(" ", 1) for part in row["vbas_sensitive"].replace("diagnosis: ", "").split("; "))
        assert {value: str(n) for value, n in Counter(own).items()} == told
    for name, problem in (("sex", "which is a quasi-identifier"), ("income", "which no release has")):
        with pytest.raises(QgsProcessingException, match=problem):
            check(run, releases, SENSITIVE=name)


def matches(feature, homes, row):
    return (feature["home"] in homes, feature["sex"], str(feature["age"])) == (True, row["sex"], row["age"])


@pytest.mark.slow
def test_fewer_quasi_identifiers_in_one_release(publish, run, people):
    done = check(run, [publish(K=12), publish(K=12, QUASI_IDENTIFIERS=["sex"])], K=12)
    rows = done.rows("PINNED")
    assert {row["kind"] for row in rows} <= {"rest of a count", "suppressed class", "overlay cell"}
    for row in rows:
        homes = set(row["areas"].split(";"))
        classes = (row["sex"], row["age"])
        if row["age"] not in ("(several)", "(not shown)"):
            true = sum(home in homes and (sex, age) == classes for home, sex, age in people)
            assert row["low"] <= true <= row["high"]


@pytest.mark.slow
def test_an_update_shows_the_new_person(publish, run, grid):
    old = publish(K=5, POPULATION="people")
    records = grid[1]
    rows = [feature.attributes() for feature in records.getFeatures()]
    names = records.fields().names()
    rows.append(rows[100])
    more = make_layer({name: [row[i] or None for row in rows] for i, name in enumerate(names)})
    new = publish(K=5, POPULATION="people", RECORDS=more)
    done = check(run, [old, new])
    assert done.results["N_PINNED"] == done.results["N_PERSONS"] == 1
    (row,) = done.rows("PINNED")
    assert (row["kind"], row["sex"], row["age"]) == ("change since", rows[100][1], str(rows[100][2]))


@pytest.mark.slow
def test_what_is_wrong_is_said(publish, run):
    one = publish()
    with pytest.raises(QgsProcessingException, match="1 release: give at least two"):
        check(run, [one])
    with pytest.raises(QgsProcessingException, match="give each release its crosswalk"):
        check(run, [one, one], CROSSWALKS=[one.results["CROSSWALK"]])
    with pytest.raises(QgsProcessingException, match="QUASI_IDENTIFIERS is empty"):
        check(run, [one, one], QUASI_IDENTIFIERS=None)
    with pytest.raises(QgsProcessingException, match="EACH_K is “5”"):
        check(run, [one, one], EACH_K="5")
    with pytest.raises(QgsProcessingException, match="classes of fewer than 40 records"):
        check(run, [one, one], K=40)
    with pytest.raises(QgsProcessingException, match="PERIOD is “year”, which QUASI_IDENTIFIERS does not name"):
        check(run, [one, one], PERIOD="year")


def compared(run, regions, rows, **more):
    """Check tables of the class u by year: of each release the region of each area, and (region, year, records)."""
    releases, crosswalks = [], []
    for of, shown in zip(regions, rows):
        region, year, n = map(list, zip(*shown))
        releases.append(make_layer({"vbas_region": region, "q": ["u"] * len(n), "year": year, "records": n}))
        crosswalks.append(make_layer({"area": list("abcdef")[: len(of)], "vbas_region": of}))
    given = {"RELEASES": releases, "CROSSWALKS": crosswalks, "QUASI_IDENTIFIERS": "q;year", "PINNED": "memory:"}
    done = run("checkreleases", **given, K=5, **more)
    counts = [(row["year"], row["areas"], row["low"], row["high"]) for row in done.rows("PINNED")]
    return counts, done.results["N_CONTRADICTED"]


def test_of_tables_whose_classes_are_the_same_in_all_periods_a_missing_number_is_nobody(run):
    """Of 2025 the first shows nobody in a and c, and 11 in b, e, f; the second 8 in a, c, e: so 3 are in b and f."""
    regions = ([1, 2, 1, 3, 2, 2], [3, 1, 3, 1, 3, 2])
    rows = (((1, "2024", 35), (2, "2024", 35), (2, "2025", 11)), ((3, "2024", 35), (3, "2025", 8)))
    counts, _ = compared(run, regions, rows)
    assert counts == []
    assert compared(run, regions, rows, PERIOD="year") == ([("2025", "b;f", 3, 3)], 0)


def test_of_such_tables_a_class_that_is_not_shown_may_have_k_in_some_period(run):
    """The 15 of 2024 in b are not shown for the 2 of 2025: that 35 less 20 are 15 contradicts nothing."""
    regions = ([1, 2], [1, 1])
    rows = (((1, "2024", 20), (1, "2025", 9)), ((1, "2024", 35), (1, "2025", 11)))
    assert compared(run, regions, rows, PERIOD="year") == ([("2025", "b", 2, 2)], 0)
