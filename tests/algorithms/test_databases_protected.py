"""Records in place are protected as layers are: by their profile, a rule, coarser values, a register; and reported."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from qgis.core import QgsProcessingException

from vbas.core import anonymise
from vbas.core.engines.engine import EngineError
from vbas.core.errors import OutcomeUnknown

from ..engines_there import needed
from .conftest import make_layer
from .test_databases import parquet, there, written  # fixtures  # noqa: F401

for package in ("ibis", "duckdb", "pyarrow"):
    needed(package)

COARSER = {"GENERALISE": ["age", "1"], "HIERARCHY_RULES": ["age", "bands 3 6"]}


@pytest.fixture
def crosswalk(grid):
    """Four regions of the grid's areas."""
    areas = [feature["da"] for feature in grid[0].getFeatures()]
    return make_layer({"da": areas, "vbas_region": [1 + i // 9 for i in range(36)]})


@pytest.fixture
def levels(grid):
    """Four regions within one."""
    areas = [feature["da"] for feature in grid[0].getFeatures()]
    return make_layer({"da": areas, "vbas_region_1": [1 + i // 9 for i in range(36)], "vbas_region_2": [1] * 36})


@pytest.fixture
def both(there, run, grid, tmp_path):  # noqa: F811
    """both(**parameters) -> the rows released in place and those of the layer, and the two runs."""

    def one(name="released", **parameters):
        ours = there("releasedatabase", DESTINATION=str(tmp_path / f"{name}.parquet"), **parameters)
        theirs = run(
            "releaserecords",
            RECORDS=grid[1],
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=["sex", "age"],
            RELEASED_RECORDS="memory:",
            **{key: value for key, value in parameters.items() if "REPORT" not in key},
        )
        rows = written(tmp_path / f"{name}.parquet"), Counter(tuple(r.items()) for r in theirs.rows("RELEASED_RECORDS"))
        return *rows, ours, theirs

    return one


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "of_nested", "of_one"),
    [
        ({}, 148, 38),
        ({"GENERALISE": ["age", "1"], "LEVELS_COARSER": ["age", "2", "sex", "1"]}, 440, 112),
        ({"REPORT": "page.html"}, 148, 38),
    ],
)
def test_last_levels_of_coarser_values_are_released_as_of_a_layer(
    both, grid, crosswalk, levels, tmp_path, more, of_nested, of_one
):
    given = {"HIERARCHY_RULES": ["age", "bands 3 6", "sex", "*"], "LEVELS_COARSER": ["age", "1", "sex", "1"], **more}
    if "REPORT" in given:
        given |= {"REGIONS": grid[0], "REGION_ID": "da", "REPORT": str(tmp_path / "page.html")}
    for name, regions, k in (("nested", levels, of_nested), ("one", crosswalk, of_one)):
        ours, theirs, run, plain = both(name, CROSSWALK=regions, K=k, **given)
        assert ours == theirs
        assert max(dict(row)["vbas_level"] for row in ours) > (2 if name == "nested" else 1)
        told = [next(line for line in one.log if "are shown with coarser values" in line) for one in (run, plain)]
        assert told[0] == told[1]
        assert run.results["N_SUPPRESSED"] == plain.results["N_SUPPRESSED"]
        assert run.results["DISCERNIBILITY"] == plain.results["DISCERNIBILITY"]
    if "REPORT" in given:
        assert "Who is shown coarser" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_classes_of_coarser_last_levels_have_in_common_is_told_as_of_a_layer(both, levels):
    """People and values are those of the records that were counted, whatever their level shows."""
    given = {"HIERARCHY_RULES": ["age", "bands 3 6", "sex", "*"], "LEVELS_COARSER": ["age", "1", "sex", "1"], "K": 36}
    ours, theirs, *runs = both(CROSSWALK=levels, SENSITIVE="diagnosis", PERSON_ID="home", **given)
    assert ours == theirs
    assert max(dict(row)["vbas_level"] for row in ours) > 2
    told = [[line for line in run.log if "k counts persons" in line or "in common" in line] for run in runs]
    assert told[0] == told[1] and len(told[0]) == 2


def test_what_last_levels_of_coarser_values_do_not_go_with_is_said_before_anything_is_counted(there, levels, tmp_path):  # noqa: F811
    given = {"CROSSWALK": levels, "LEVELS_COARSER": ["age", "1"], "DESTINATION": str(tmp_path / "released.parquet")}
    with pytest.raises(QgsProcessingException, match="LEVELS_COARSER and REGISTER do not go together"):
        there("releasedatabase", RECORD_REGION="no such field", **given, REGISTER=str(tmp_path / "r.gpkg"))
    with pytest.raises(QgsProcessingException, match="nothing says what its coarser values are"):
        there("releasedatabase", **given)
    assert {path.name for path in tmp_path.iterdir()} == {"people.parquet"}


@pytest.mark.slow
@pytest.mark.parametrize("coarser", [False, True])
def test_beside_counts_that_others_publish_it_is_the_release_of_a_layer(both, grid, levels, coarser):
    rows = Counter((feature["home"], feature["sex"]) for feature in grid[1].getFeatures())
    columns = {name: [key[i] for key in rows] for i, name in enumerate(("home", "sex"))}
    given = {
        "PUBLISHED_COUNTS": make_layer({**columns, "n": list(rows.values())}),
        "PUBLISHED_AREA": "home",
        "PUBLISHED_NUMBER": "n",
    }
    if coarser:
        given |= {"HIERARCHY_RULES": ["age", "bands 3 6", "sex", "*"], "LEVELS_COARSER": ["age", "1", "sex", "1"]}
    ours, theirs, *runs = both(CROSSWALK=levels, K=30, **given)
    assert ours == theirs
    told = [[line for line in run.log if "published totals" in line] for run in runs]
    assert told[0] and told[0] == told[1]


def test_what_last_levels_would_show_is_held_against_the_records(there, levels, tmp_path, monkeypatch):  # noqa: F811
    given = {"HIERARCHY_RULES": ["age", "bands 3 6", "sex", "*"], "LEVELS_COARSER": ["age", "1", "sex", "1"]}
    right = anonymise.as_released
    monkeypatch.setattr(anonymise, "as_released", lambda *all: replace(right(*all), records=right(*all).records + 999))
    with pytest.raises(QgsProcessingException, match="where not as many records live"):
        there("releasedatabase", CROSSWALK=levels, K=440, DESTINATION=str(tmp_path / "released.parquet"), **given)
    assert not (tmp_path / "released.parquet").exists()


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_coarser_values_are_released_as_of_a_layer(both, crosswalk, levels, nested):
    ours, theirs, run, plain = both(CROSSWALK=levels if nested else crosswalk, **COARSER)
    assert ours == theirs
    assert sum(ours.values()) > 1000
    assert {dict(row)["age"] for row in ours} <= {"0-2", "3-5", "6-8", "9-11"}
    sentence = [line for line in run.log if "is shown at level 1" in line]
    assert sentence and sentence == [line for line in plain.log if "is shown at level 1" in line]


def test_a_profile_shows_coarser_values(there, run, grid):  # noqa: F811
    ours = there("profiledatabase", PROFILE="memory:", **COARSER)
    given = {"RECORDS": grid[1], "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}
    theirs = run("profilerecords", PROFILE="memory:", **given, **COARSER)
    assert ours.rows("PROFILE") == theirs.rows("PROFILE")


@pytest.mark.slow
def test_a_table_that_has_changed_since_its_profile_is_refused(there, crosswalk, parquet, tmp_path):  # noqa: F811
    profile = there("profiledatabase", PROFILE=str(tmp_path / "profile.gpkg")).layer("PROFILE")
    given = {"CROSSWALK": crosswalk, "PROFILE": profile}
    same = there("releasedatabase", DESTINATION=str(tmp_path / "same.parquet"), **given)
    assert "The table still holds what PROFILE counted." in same.log
    there("releasedatabase", DESTINATION=str(tmp_path / "coarser.parquet"), **given, **COARSER)
    files, arrow = needed("pyarrow.parquet"), needed("pyarrow")
    table = files.read_table(parquet)
    for name, other in {
        "one less": table.slice(1),
        "one more": arrow.concat_tables([table, table.slice(0, 1)]),
        "another sex": table.set_column(
            table.column_names.index("sex"), "sex", [["F" if one == "M" else "M" for one in table["sex"].to_pylist()]]
        ),
    }.items():
        files.write_table(other, parquet)
        with pytest.raises(QgsProcessingException, match=r"PROFILE has (another count in 1 class|other counts)"):
            there("releasedatabase", DESTINATION=str(tmp_path / f"{name}.parquet"), **given)
        assert not (tmp_path / f"{name}.parquet").exists()
    files.write_table(table, parquet)
    with pytest.raises(QgsProcessingException, match="PROFILE has other counts"):
        there("releasedatabase", DESTINATION=str(tmp_path / "f.parquet"), FILTER=["sex", "=", "F"], **given)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "nested", "words"),
    [
        ("CMS cell size", True, "can be proven from this release, also by somebody who knows the method"),
        ("PCORnet", True, "It is not proven that no count of 1 to 10 can be derived."),
        ("CMS cell size", False, ""),
    ],
)
def test_a_rule_with_nested_levels_ends_in_what_is_proven_or_is_not(
    there,  # noqa: F811
    crosswalk,
    levels,
    grid,
    tmp_path,
    rule,
    nested,
    words,
):
    pages = {"REPORT": str(tmp_path / "report.html"), "RELEASE_REPORT": str(tmp_path / "for_release.html")}
    given = {"CROSSWALK": levels if nested else crosswalk, "DESTINATION": str(tmp_path / "released.parquet"), **pages}
    done = there("releasedatabase", RULE=rule, REGIONS=grid[0], REGION_ID="da", **given)
    log, *pages_said = ["\n".join(done.log), *(Path(page).read_text(encoding="utf-8") for page in pages.values())]
    assert all((words or "no such words") in page for page in pages_said) == nested
    assert any("proven" in one for one in (log, *pages_said)) == nested


@pytest.mark.slow
def test_a_rule_raises_k_and_looks_at_the_people_of_regions(there, crosswalk, grid, tmp_path):  # noqa: F811
    given = {"CROSSWALK": crosswalk, "DESTINATION": str(tmp_path / "released.parquet")}
    with pytest.raises(
        QgsProcessingException, match="20\u00a0001 people are asked for; 4 of CROSSWALK have fewer, the smallest 360"
    ):
        there("releasedatabase", RULE="HIPAA Safe Harbor geography", **given)
    assert not (tmp_path / "released.parquet").exists()
    done = there("releasedatabase", RULE="CMS cell size", K=2, **given)
    assert any(" k = 11 " in line for line in done.log)
    assert any("Rule “CMS cell size”" in line for line in done.log)
    classes: Counter[tuple] = Counter()
    for row, times in written(tmp_path / "released.parquet").items():
        classes[row] += times
    assert min(classes.values()) >= 11


@pytest.mark.slow
def test_a_register_holds_releases_in_place_against_each_other(both, there, crosswalk, grid, tmp_path):  # noqa: F811
    register = tmp_path / "register.gpkg"
    there("releasedatabase", CROSSWALK=crosswalk, DESTINATION=str(tmp_path / "1.parquet"), REGISTER=str(register))
    areas = [feature["da"] for feature in grid[0].getFeatures()]
    shifted = make_layer({"da": areas, "vbas_region": [1 + (i + 1) // 9 for i in range(36)]})
    given = {"CROSSWALK": shifted, "REGISTER": str(register)}
    with pytest.raises(QgsProcessingException, match="Together with the releases of REGISTER this one would give away"):
        there("releasedatabase", DESTINATION=str(tmp_path / "2.parquet"), **given)
    assert not (tmp_path / "2.parquet").exists()
    done = there(
        "releasedatabase",
        DESTINATION=str(tmp_path / "3.parquet"),
        REGISTER_ACTION="repair",
        SENSITIVE="diagnosis",
        **given,
    )
    assert any("To prevent that" in line for line in done.log)
    assert (tmp_path / "3.parquet").exists()
    again = there("releasedatabase", DESTINATION=str(tmp_path / "4.parquet"), **{**given, "CROSSWALK": crosswalk})
    assert any("Held against 2 earlier releases" in line for line in again.log)
    assert not any("counts rows, not persons" in line for line in again.log)
    given = {**given, "CROSSWALK": crosswalk, "REGISTER_ACTION": "repair"}
    persons = there("releasedatabase", DESTINATION=str(tmp_path / "5.parquet"), PERSON_ID="home", **given)
    assert any("The register counts rows, not persons" in line for line in persons.log)
    assert not any("was found to follow" in line for line in persons.log)


@pytest.mark.slow
def test_a_register_of_both_kinds_holds_the_same(both, crosswalk, tmp_path, run, there, grid):  # noqa: F811
    import sqlite3

    found = []
    for kind in ("in place", "layer"):
        register = tmp_path / f"{kind}.gpkg"
        given = {"CROSSWALK": crosswalk, "REGISTER": str(register), **COARSER}
        if kind == "layer":
            records = {"RECORDS": grid[1], "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}
            run("releaserecords", RELEASED_RECORDS="memory:", SENSITIVE=["diagnosis"], **records, **given)
        else:
            there("releasedatabase", DESTINATION=str(tmp_path / "1.parquet"), SENSITIVE="diagnosis", **given)
        with sqlite3.connect(register) as connection:
            tables = ("vbas_crosswalks", "vbas_counts", "vbas_values")
            found.append([sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=str) for table in tables])
    assert found[0] == found[1]
    assert all(found[0])


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_both_reports(there, crosswalk, levels, grid, tmp_path, nested):  # noqa: F811
    given = {"CROSSWALK": levels if nested else crosswalk, "DESTINATION": str(tmp_path / "released.parquet")}
    pages = {name: str(tmp_path / f"{name}.html") for name in ("REPORT", "RELEASE_REPORT")}
    with pytest.raises(QgsProcessingException, match="REPORT draws the regions"):
        there("releasedatabase", **given, **pages)
    done = there(
        "releasedatabase",
        REGIONS=grid[0],
        REGION_ID="da",
        KEEP_FIELDS="diagnosis",
        RULE="CMS cell size",
        **given,
        **pages,
    )
    internal, public = (Path(done.results[name]).read_text(encoding="utf-8") for name in pages)
    assert "is 11-anonymous" in internal and "is 11-anonymous" in public
    assert (
        "What k-anonymity does not protect" in internal
        and "diagnosis" in internal
        and "Rule “CMS cell size”" in internal
    )
    assert "<svg" in internal and "<svg" in public
    assert str(tmp_path) in internal and str(tmp_path) not in public


@pytest.mark.slow
def test_nothing_is_published_where_a_page_cannot_be(there, crosswalk, grid, tmp_path, monkeypatch):  # noqa: F811
    """The release comes last: if a page fails on its way to its place, there is no release."""
    from vbas.core.publish import file_place

    def fails(self):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file_place.FilePlace, "put", fails)
    given = {"CROSSWALK": crosswalk, "DESTINATION": str(tmp_path / "released.parquet")}
    with pytest.raises(QgsProcessingException, match="No space left"):
        there("releasedatabase", RELEASE_REPORT=str(tmp_path / "page.html"), **given)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (EngineError, r"made meanwhile\. Nothing was changed\.$"),
        (OutcomeUnknown, r"made meanwhile\. The other outputs of this run were not written, .*, and run again\.$"),
    ],
)
def test_no_page_stays_where_the_release_cannot_be(there, crosswalk, tmp_path, monkeypatch, kind, said):  # noqa: F811
    """And the engine is left with what ended the run, as what it says of leftovers replaces that."""
    from vbas.core.engines.duckdb import DuckDb

    def fails(self):
        raise kind("DESTINATION was made meanwhile.")

    def left(self, *raised):
        ended.append(str(raised[1]))
        leave(self, *raised)

    leave = DuckDb.__exit__
    ended: list[str] = []
    monkeypatch.setattr(DuckDb, "publish", fails)
    monkeypatch.setattr(DuckDb, "__exit__", left)
    register = tmp_path / "register.gpkg"
    given = {"CROSSWALK": crosswalk, "DESTINATION": str(tmp_path / "released.parquet"), "REGISTER": str(register)}
    with pytest.raises(QgsProcessingException, match=said) as error:
        there("releasedatabase", RELEASE_REPORT=str(tmp_path / "page.html"), **given)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet"]
    assert ended == [str(error.value)]
