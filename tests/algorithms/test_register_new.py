"""A register that is not there yet, or cannot be read as text: said in one sentence, wherever one is given."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from qgis.core import QgsProcessingException

from vbas.core import language

from ..engines_there import needed
from .conftest import make_layer
from .test_databases import parquet, there  # fixtures  # noqa: F401
from .test_donut_forms import areas, mask, people_in  # fixtures  # noqa: F401

NEW = r"is a new register, which knows no earlier release"


@pytest.fixture
def crosswalk(grid):
    codes = [feature["da"] for feature in grid[0].getFeatures()]
    return make_layer({"da": codes, "vbas_region": [1 + i // 9 for i in range(36)]})


def lines(done, words=NEW):
    return [line for line in done.log if words in line]


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"RELEASE": "nested levels", "SITE_POINTS": None, "VORONOI": None}])
def test_a_mistyped_register_is_said_in_log_and_report(anonymize, tmp_path, more):
    pages = [tmp_path / f"page{i}.html" for i in (1, 2, 3)]
    right, wrong = str(tmp_path / "register.gpkg"), str(tmp_path / "regsiter.gpkg")
    told = [anonymize(REGISTER=one, REPORT=str(page), **more) for one, page in zip((right, right, wrong), pages)]
    for done, page, is_new in zip(told, pages, (True, False, True)):
        assert len(lines(done)) == is_new == (NEW in page.read_text())
    assert wrong in lines(told[2])[0] and "correct the name" in lines(told[2])[0]
    assert lines(
        told[1], "Held against 1 earlier release of the register: no count of fewer than 5 people was found to follow."
    )
    assert "Held against 1 earlier release of the register" in pages[1].read_text()


def test_a_mistyped_register_is_said_in_french(anonymize, tmp_path):
    language.speak("fr")
    try:
        done = anonymize(REGISTER=str(tmp_path / "regsiter.gpkg"), REPORT=str(tmp_path / "page.html"))
    finally:
        language.speak("en")
    sentence = "est un nouveau registre, qui ne connaît aucune diffusion antérieure"
    assert lines(done, sentence) and sentence in (tmp_path / "page.html").read_text()


def test_a_mistyped_register_is_said_of_records_released_by_a_crosswalk(run, grid, crosswalk, tmp_path):
    given = {"RECORDS": grid[1], "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"], "CROSSWALK": crosswalk}
    given |= {"REGISTER": str(tmp_path / "register.gpkg"), "RELEASED_RECORDS": "memory:"}
    assert len(lines(run("releaserecords", **given))) == 1
    assert not lines(run("releaserecords", **given))


@pytest.mark.slow
def test_a_mistyped_register_is_said_of_records_in_place(there, grid, crosswalk, tmp_path):  # noqa: F811
    for package in ("ibis", "duckdb", "pyarrow"):
        needed(package)
    given = {"CROSSWALK": crosswalk, "REGISTER": str(tmp_path / "register.gpkg"), "REGIONS": grid[0], "REGION_ID": "da"}
    for i, is_new in enumerate((True, False)):
        page = tmp_path / f"page{i}.html"
        done = there("releasedatabase", DESTINATION=str(tmp_path / f"{i}.parquet"), REPORT=str(page), **given)
        assert len(lines(done)) == is_new == (NEW in page.read_text())


def test_a_mistyped_register_is_said_of_masked_points(mask, tmp_path):  # noqa: F811
    register = str(tmp_path / "register.gpkg")
    pages = [tmp_path / f"page{i}.html" for i in (1, 2)]
    told = [mask(people_in(40), REGISTER=register, SEED=None, REPORT=str(page)) for page in pages]
    assert [len(lines(done)) for done in told] == [1, 0]
    assert [NEW in page.read_text() for page in pages] == [True, False]


def test_a_register_from_which_all_was_taken_out_knows_nothing_either(anonymize, run, tmp_path):
    register = str(tmp_path / "register.gpkg")
    anonymize(REGISTER=register)
    run("editregister", REGISTER=register, REMOVE=1, NEVER_PUBLISHED=True, CONTENTS="memory:")
    assert lines(anonymize(REGISTER=register), "has no release in it")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE sqlite_master SET sql = CAST(x'435245415445205441424c4520ff28' AS TEXT) WHERE name = 'vbas_counts'",
        "UPDATE sqlite_master SET sql = replace(sql, 'records', CAST(x'ff' AS TEXT)) WHERE name = 'vbas_counts'",
        "UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT) WHERE name = 'vbas_counts'",
        "UPDATE sqlite_master SET sql = 'CREATE TABLE x (a, ' || CAST(x'27ff' AS TEXT) WHERE name = 'vbas_counts'",
        "UPDATE vbas_releases SET title = CAST(x'ff' AS TEXT)",
    ],
)
@pytest.mark.parametrize("algorithm", ["anonymize", "checkreleases", "editregister", "donutmask"])
def test_a_register_with_broken_text(anonymize, run, mask, tmp_path, algorithm, change):  # noqa: F811
    register = tmp_path / "register.gpkg"
    anonymize(REGISTER=str(register))
    with closing(sqlite3.connect(register)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(change)
        connection.commit()
    held = register.read_bytes()
    runs = {
        "anonymize": lambda: anonymize(REGISTER=str(register)),
        "checkreleases": lambda: run("checkreleases", REGISTER=str(register), PINNED="memory:"),
        "editregister": lambda: run("editregister", REGISTER=str(register), CONTENTS="memory:"),
        "donutmask": lambda: mask(people_in(40), REGISTER=str(register)),
    }
    if algorithm == "donutmask" and "title" in change:
        return  # which reads nothing of releases
    with pytest.raises(QgsProcessingException, match=r"^REGISTER: .*register\.gpkg"):
        runs[algorithm]()
    assert register.read_bytes() == held
