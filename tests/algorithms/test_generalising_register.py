"""Releases at finer and at coarser values in one register: related by their hierarchy, or refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer
from .test_generalising_forms import OWN_TABLE

COARSER = {"GENERALISE": ["age", 1]}
SAME_REGIONS = {"N_SITES": 9, "K": 14}


@pytest.fixture
def table():
    return make_layer(OWN_TABLE)


def rows_of(register, query):
    with closing(sqlite3.connect(register)) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("finer_first", [True, False])
def test_a_coarser_release_is_held_against_a_finer_one(anonymize, run, table, tmp_path, finer_first):
    register = str(tmp_path / "register.gpkg")
    first, second = ({}, COARSER) if finer_first else (COARSER, {})
    anonymize(**SAME_REGIONS, **first, HIERARCHIES=table, REGISTER=register)
    # What is suppressed among the finer values is the coarser count less the others.
    with pytest.raises(QgsProcessingException, match=r"would give away \d+ counts of fewer than 14 people"):
        anonymize(**SAME_REGIONS, **second, HIERARCHIES=table, REGISTER=register)
    done = anonymize(**SAME_REGIONS, **second, HIERARCHIES=table, REGISTER=register, REGISTER_ACTION="repair")
    assert any("would have given away" in line for line in done.log)
    levels = rows_of(register, "SELECT coarsened FROM vbas_releases ORDER BY release")
    assert levels == [("{}",), ('{"age": 1}',)][:: 1 if finer_first else -1]
    # The register knows what was published, and nothing finer.
    number = 2 if finer_first else 1
    classes = {one for (one,) in rows_of(register, f"SELECT class FROM vbas_counts WHERE release = {number}")}
    assert all('"young"' in one or '"middle"' in one or '"old"' in one for one in classes)
    outcome = run("checkreleases", REGISTER=register, HIERARCHIES=table, K=14, PINNED="memory:")
    assert outcome.results["N_PINNED"] == 0
    with pytest.raises(QgsProcessingException, match=r"show “age” at different levels .release 1: .*: give HIER"):
        run("checkreleases", REGISTER=register, K=14, PINNED="memory:")


def test_levels_that_nothing_relates_stop_the_release(anonymize, table, tmp_path):
    register = str(tmp_path / "register.gpkg")
    anonymize(**SAME_REGIONS, **COARSER, HIERARCHIES=table, REGISTER=register)
    before = (tmp_path / "register.gpkg").read_bytes()
    with pytest.raises(QgsProcessingException, match="show “age” at different levels"):
        anonymize(**SAME_REGIONS, REGISTER=register)
    assert (tmp_path / "register.gpkg").read_bytes() == before
    anonymize(**SAME_REGIONS, **COARSER, HIERARCHIES=table, REGISTER=register)  # the same again tells nothing


def test_groups_that_depend_on_counts_cannot_be_registered(anonymize, tmp_path):
    register = tmp_path / "register.gpkg"
    with pytest.raises(QgsProcessingException, match="by how many records have a value, which differs from release"):
        anonymize(**COARSER, HIERARCHY_RULES=["age", "other below 290"], REGISTER=str(register))
    assert not register.exists()


@pytest.mark.slow
def test_releases_as_layers_are_related_by_the_table(anonymize, run, grid, table, tmp_path):
    files = [{name: str(tmp_path / f"{i}{name}.gpkg") for name in ("RELEASED_RECORDS", "CROSSWALK")} for i in (0, 1)]
    for one, own in zip(({}, COARSER), files):
        anonymize(**SAME_REGIONS, **one, **own, HIERARCHIES=table)
    given = {
        "RELEASES": [file["RELEASED_RECORDS"] for file in files],
        "CROSSWALKS": [file["CROSSWALK"] for file in files],
        "QUASI_IDENTIFIERS": "sex;age",
        "K": 14,
    }
    # Without the table the ages are unrelated: the people of a sex alone tell what the finer release suppressed.
    alone = run("checkreleases", **given, PINNED="memory:")
    assert alone.results["N_NOT_COMPARED"] == 1 and any("it cannot be said what they give" in one for one in alone.log)
    told = alone.rows("PINNED")
    assert "age (level 1)" not in told[0] and {row["age"] for row in told} == {"(several)"}
    people = [(feature["home"], feature["sex"], str(feature["age"])) for feature in grid[1].getFeatures()]
    sums = [row for row in told if row["kind"] == "sum of counts"]
    assert sums
    for row in sums:
        areas, class_of = row["areas"].split(";"), (row["sex"], row["age (release 1)"])
        assert row["low"] <= sum(area in areas and class_of == (sex, age) for area, sex, age in people) <= row["high"]
    outcome = run("checkreleases", **given, HIERARCHIES=table, PINNED="memory:")
    assert outcome.results["N_NOT_COMPARED"] == 0
    # Who knows the table knows more: whatever was told of a sex, an age and a place still is.
    assert {(row["sex"], row["age (release 1)"], row["areas"]) for row in sums} <= {
        (row["sex"], row["age"], row["areas"]) for row in outcome.rows("PINNED")
    }
    assert {"age", "age (level 1)"} <= set(outcome.rows("PINNED")[0])
