"""Records in place anonymised in one run: as those of a layer, and as by the three steps."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from qgis.core import QgsProcessingException

from ..engines_there import needed
from .test_databases import parquet, there, written  # fixtures  # noqa: F401
from .test_let_go import ran, untidy  # fixtures  # noqa: F401
from .test_same_everywhere import _in_postgres, server  # fixture  # noqa: F401

for package in ("ibis", "duckdb", "pyarrow"):
    needed(package)

NUMBERS = (
    *("N_SITES", "N_RECORDS", "N_SUPPRESSED", "SUPPRESSION_PERCENT", "COMPACTNESS", "DISCERNIBILITY"),
    *("NON_UNIFORM_ENTROPY", "N_LEVELS", "MEAN_DISTANCE"),
)
AREAS = {"REGION_ID": "da", "POPULATION": "people"}
REGIONS = {"COMBINATION": "custom", "SITE_NUMBER": "given number", "N_SITES": 6}  # as `anonymize` has them
NESTED = {"RELEASE": "nested levels"}
CUSTOM = {"SITE_NUMBER": "suppression budget", "BUDGET": 20.0}
TABLES = ("CROSSWALK", "RELEASED_REGIONS", "REGION_AUDIT")
CASES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "one level": ({}, {}),
    "one level, as chosen for most": ({"COMBINATION": "all-rounder"}, {}),
    "nested": (NESTED, {}),
    "kept, sensitive, a person's rows": ({"K": 8, "L_DIVERSITY": 2}, {"SENSITIVE": "diagnosis", "KEEP_FIELDS": "age"}),
    "groups that are kept intact": (CUSTOM, {"FAIR": "sex;age"}),
    "coarser": ({"GENERALISE": ["age", "1"], "HIERARCHY_RULES": ["age", "bands 3 6"], "PUBLISHED_MARGINS": "sex"}, {}),
    "coarser levels": (
        {**NESTED, "K": 440, "HIERARCHY_RULES": ["age", "bands 3", "sex", "*"], "LEVELS_COARSER": ["age", 1, "sex", 1]},
        {},
    ),
    # Which values are rare is counted over the records.
    "coarser levels of what is rare": (
        {**NESTED, "K": 160, "HIERARCHY_RULES": ["age", "other below 290"], "LEVELS_COARSER": ["age", 1]},
        {},
    ),
}


@pytest.fixture
def in_one(there, grid, tmp_path):  # noqa: F811
    """in_one(**parameters): the form over the grid, with the regions of `anonymize`."""

    def one(**parameters):
        tables = dict.fromkeys(TABLES, "memory:")
        return there("anonymizedatabase", **{"REGIONS": grid[0], **AREAS, **REGIONS, **tables, **parameters})

    return one


def rows_of(run, name="RELEASED_RECORDS"):
    return Counter(tuple(row.items()) for row in run.rows(name))


def test_a_run_lets_go_of_all_it_held(in_one, untidy, ran, tmp_path):  # noqa: F811
    in_one(DESTINATION=str(tmp_path / "released.parquet"))
    assert [one() for one in ran] == [None]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_it_is_what_the_form_over_layers_gives(in_one, anonymize, tmp_path, case):
    given, named = CASES[case]
    place = tmp_path / "released.parquet"
    if "KEEP_FIELDS" in named:
        given = {**given, "QUASI_IDENTIFIERS": ["sex"]}
    of_layer = {name: value.split(";") for name, value in named.items()}
    theirs = anonymize(**AREAS, **given, **of_layer, REGION_AUDIT="memory:")
    if "QUASI_IDENTIFIERS" in given:
        given["QUASI_IDENTIFIERS"] = "sex"
    ours = in_one(DESTINATION=str(place), **given, **named)
    assert written(place) == rows_of(theirs)
    assert ours.results["RELEASED_RECORDS"] == str(place)
    assert {name: ours.results[name] for name in NUMBERS} == {name: theirs.results[name] for name in NUMBERS}
    for name in TABLES:
        assert ours.rows(name) == theirs.rows(name)
    assert any("counted once more" in line for line in ours.log)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, NESTED], ids=["one level", "nested"])
def test_it_is_what_the_three_steps_give(in_one, there, anonymize, grid, tmp_path, more):  # noqa: F811
    ours = in_one(DESTINATION=str(tmp_path / "one.parquet"), KEEP_FIELDS="diagnosis", **more)
    profile = there("profiledatabase", PROFILE="memory:")
    found = anonymize(RECORDS=profile.layer("PROFILE"), RECORD_COUNT="records", **AREAS, **more)
    done = there(
        "releasedatabase",
        CROSSWALK=found.layer("CROSSWALK"),
        KEEP_FIELDS="diagnosis",
        DESTINATION=str(tmp_path / "three.parquet"),
        REGIONS=grid[0],
        **AREAS,
    )
    assert written(tmp_path / "one.parquet") == written(tmp_path / "three.parquet")
    assert ours.results["N_SUPPRESSED"] == done.results["N_SUPPRESSED"]
    assert ours.rows("CROSSWALK") == found.rows("CROSSWALK")


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, NESTED], ids=["one level", "nested"])
def test_people_of_areas_that_nobody_knows(in_one, anonymize, grid, tmp_path, more):
    some, place = grid[0].clone(), tmp_path / "released.parquet"
    some.setSubsetString("")
    with_one_less = make_part(some)
    with pytest.raises(QgsProcessingException, match="40 records have an area in “home”"):
        in_one(REGIONS=with_one_less, DESTINATION=str(place), **more)
    assert not place.exists()
    asked = {"UNMATCHED": "suppress", "REGIONS": with_one_less, **more}
    ours, theirs = in_one(DESTINATION=str(place), **asked), anonymize(**AREAS, **asked)
    assert written(place) == rows_of(theirs)
    assert ours.results["N_SUPPRESSED"] == theirs.results["N_SUPPRESSED"] >= 40
    assert ours.results["N_RECORDS"] == 1440


def make_part(layer):
    """All areas but the first."""
    from qgis.core import QgsFeatureRequest

    ids = [feature.id() for feature in layer.getFeatures()][1:]
    return layer.materialize(QgsFeatureRequest(ids))


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, NESTED], ids=["one level", "nested"])
def test_without_a_destination_it_is_told_what_a_release_would_be(in_one, anonymize, parquet, tmp_path, more):  # noqa: F811
    there_before, page = set(tmp_path.iterdir()), tmp_path / "page.html"
    ours, theirs = in_one(REPORT=str(page), **more), anonymize(**AREAS, **more, REGION_AUDIT="memory:")
    assert ours.rows("CROSSWALK") == theirs.rows("CROSSWALK")
    assert ours.rows("REGION_AUDIT") == theirs.rows("REGION_AUDIT")
    assert {name: ours.results[name] for name in NUMBERS} == {name: theirs.results[name] for name in NUMBERS}
    assert "RELEASED_RECORDS" not in ours.results
    assert set(tmp_path.iterdir()) - there_before == {page}
    assert not {"released", "suppressed"} & set(ours.rows("RELEASED_REGIONS")[0])
    assert "released" in theirs.rows("RELEASED_REGIONS")[0]
    assert any("Nothing is released here" in line for line in ours.log)


def test_what_belongs_to_a_release_is_refused_without_one(in_one, parquet, tmp_path):  # noqa: F811
    given = {"REGISTER": str(tmp_path / "r.gpkg"), "PUBLISHED_MARGINS": "sex"}
    pages = {name: str(tmp_path / name) for name in ("RELEASE_REPORT", "RELEASE_FOLDER", "SIGN_PAGE")}
    for name, value in {**given, **pages}.items():
        with pytest.raises(QgsProcessingException, match=f"{name}: without DESTINATION nothing is released"):
            in_one(**{name: value}, RECORD_REGION="no such field")
    assert {path.name for path in tmp_path.iterdir()} == {"people.parquet"}


@pytest.mark.slow
def test_a_failure_leaves_nothing(in_one, parquet, tmp_path):  # noqa: F811
    taken, page = tmp_path / "taken.parquet", tmp_path / "page.html"
    taken.write_bytes(b"of somebody")
    with pytest.raises(QgsProcessingException, match=r"taken\.parquet"):
        in_one(DESTINATION=str(taken), REPORT=str(page))
    assert taken.read_bytes() == b"of somebody"
    # A kept field that says where each person lives.
    with pytest.raises(QgsProcessingException, match="KEEP_FIELDS"):
        in_one(DESTINATION=str(tmp_path / "released.parquet"), REPORT=str(page), KEEP_FIELDS="home")
    with pytest.raises(QgsProcessingException):
        in_one(DESTINATION=str(tmp_path / "released.parquet"), REPORT=str(tmp_path / "no folder" / "page.html"))
    assert {path.name for path in tmp_path.iterdir()} == {"people.parquet", "taken.parquet"}


@pytest.mark.slow
def test_nobody_is_shown_where_k_is_out_of_reach(in_one, anonymize, tmp_path):
    place = tmp_path / "released.parquet"
    with pytest.raises(QgsProcessingException, match="K is 2000, but RECORDS has only 1440 records"):
        in_one(DESTINATION=str(place), K=2_000)
    assert not place.exists()
    ours, theirs = in_one(DESTINATION=str(place), K=1_000), anonymize(**AREAS, K=1_000)
    assert ours.results["N_SUPPRESSED"] == theirs.results["N_SUPPRESSED"] == 1440
    assert not written(place)


@pytest.mark.slow
def test_pages_folder_and_register_are_those_of_the_form_over_layers(in_one, anonymize, tmp_path):
    def asked(kind):
        return {
            "RELEASE_FOLDER": str(tmp_path / kind),
            "REGISTER": str(tmp_path / f"{kind}.gpkg"),
            "RELEASE_REPORT": str(tmp_path / f"{kind}.html"),
            "RULE": "CMS cell size",
        }

    in_one(DESTINATION=str(tmp_path / "released.parquet"), **asked("ours"))
    anonymize(**AREAS, **asked("theirs"))
    hashes = [
        json.loads((tmp_path / kind / "datapackage.json").read_text(encoding="utf-8"))["vbas"]["content_sha256"]
        for kind in ("ours", "theirs")
    ]
    assert hashes[0] == hashes[1]
    with pytest.raises(QgsProcessingException, match="Together with the releases of REGISTER"):
        in_one(DESTINATION=str(tmp_path / "again.parquet"), K=4, REGISTER=str(tmp_path / "ours.gpkg"), **NESTED)
    assert not (tmp_path / "again.parquet").exists()


@pytest.mark.slow
@pytest.mark.parametrize("filtered", [True, False])
def test_a_filter_beside_earlier_releases_is_warned_of(run, in_one, tmp_path, filtered):
    """Two releases of the same women need not be of the same people: nobody can say what they tell together."""
    register, report = tmp_path / "r.gpkg", tmp_path / "report.html"
    given = {"FILTER": ["sex", "=", "F"]} if filtered else {}
    logs = [
        in_one(
            DESTINATION=str(tmp_path / f"{turn}.parquet"),
            REGISTER=str(register),
            REPORT=str(report),
            **given,
        ).log
        for turn in (1, 2)
    ]
    warned = [any("Rows were left out of" in line for line in log) for log in logs]
    assert warned == [False, filtered]
    said = logs[1], report.read_text(encoding="utf-8").splitlines()
    for sentences in said:
        text = " ".join(sentences)
        assert ("Rows were left out of" in text) == filtered
        assert ("nobody can say" in text) == filtered
        assert ("was found to follow" in text) != filtered
    checked = run("checkreleases", REGISTER=str(register), K=2)
    assert any("Rows were left out of" in line for line in checked.log) == filtered


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, NESTED], ids=["one level", "nested"])
def test_in_postgresql_it_is_what_the_form_over_layers_gives(in_one, anonymize, grid, server, more):  # noqa: F811
    names = grid[1].fields().names()
    rows = [[value if value else None for value in feature.attributes()] for feature in grid[1].getFeatures()]
    _in_postgres(server, dict(zip(names, map(list, zip(*rows)))))
    given = {"CONNECTION": server, "TABLE": "people", "DESTINATION": "released"}
    ours = in_one(**given, KEEP_FIELDS="diagnosis", **more)
    theirs = anonymize(**AREAS, KEEP_FIELDS=["diagnosis"], **more)
    assert _tables(server) == {"people", "released"}
    assert _in(server, "released") == rows_of(theirs)
    assert ours.rows("CROSSWALK") == theirs.rows("CROSSWALK")
    assert {name: ours.results[name] for name in NUMBERS} == {name: theirs.results[name] for name in NUMBERS}
    before = _in(server, "released")
    with pytest.raises(QgsProcessingException, match="released"):
        in_one(**given)
    assert _tables(server) == {"people", "released"} and _in(server, "released") == before
    in_one(**{**given, "DESTINATION": ""}, **more)
    with pytest.raises(QgsProcessingException, match="KEEP_FIELDS"):
        in_one(**{**given, "DESTINATION": "another"}, KEEP_FIELDS="home", **more)
    assert _tables(server) == {"people", "released"}


def _fetched(address, query):
    dbapi = needed("adbc_driver_postgresql.dbapi")
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetch_arrow_table().to_pylist()


def _tables(address):
    query = "SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    return {row["tablename"] for row in _fetched(address, query)}


def _in(address, table):
    return Counter(tuple(row.items()) for row in _fetched(address, f'SELECT * FROM "{table}"'))
