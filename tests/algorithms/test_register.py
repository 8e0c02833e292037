"""The register: what it holds, and how it keeps releases from giving counts away together."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from osgeo import ogr
from qgis.core import QgsProcessingException, QgsProcessingFeatureSourceDefinition, QgsProject

from vbas.algorithms.layers.delivery import outputs
from vbas.core.errors import VbasError
from vbas.core.publish import file_place
from vbas.core.publish.geopackage.making import make_geopackage
from vbas.core.publish.register import entry, published_releases
from vbas.core.publish.register.masked_points import new_masking
from vbas.core.releases import earlier

from .conftest import make_layer


def tables_of(register):
    with closing(sqlite3.connect(register)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        releases = connection.execute("SELECT count(*) FROM vbas_releases").fetchone()[0]
        counts = connection.execute("SELECT min(records) FROM vbas_counts").fetchone()[0]
    return {name for (name,) in rows}, releases, counts


def values_of(register):
    """Records by release, region, class, field and value."""
    with closing(sqlite3.connect(register)) as connection:
        columns = "release, vbas_region, class, field, value, records"
        return connection.execute(f"SELECT {columns} FROM vbas_values").fetchall()


@pytest.mark.slow
def test_a_register_stops_repairs_and_holds_only_what_was_published(anonymize, run, tmp_path):
    register = str(tmp_path / "register.gpkg")
    anonymize(N_SITES=9, REGISTER=register)
    names, n, least = tables_of(register)
    assert n == 1 and least >= 5
    ours = {name for name in names if not name.startswith(("gpkg_", "sqlite_", "rtree_"))}
    assert ours == {
        *("vbas_releases", "vbas_crosswalks", "vbas_counts", "vbas_values"),
        *("vbas_maskings", "vbas_points", "vbas_chain"),
    }
    assert not values_of(register)  # nothing of a diagnosis was published
    anonymize(N_SITES=9, REGISTER=register)  # the same again
    before = (tmp_path / "register.gpkg").read_bytes()
    out = tmp_path / "released.csv"
    with pytest.raises(QgsProcessingException, match=r"would give away \d+ counts? of fewer than 5 people"):
        anonymize(N_SITES=10, REGISTER=register, RELEASED_RECORDS=str(out))
    assert (tmp_path / "register.gpkg").read_bytes() == before and not out.exists()
    done = anonymize(N_SITES=10, REGISTER=register, REGISTER_ACTION="repair")
    assert any(line.startswith("To prevent that, ") for line in done.log)
    of_regions = [line for line in done.log if " of the records " in line and "with these regions" in line.lower()]
    assert [line.startswith("Were nothing published yet, ") for line in of_regions] == [True]
    _, n, least = tables_of(register)
    assert n == 3 and least >= 5
    outcome = run("checkreleases", REGISTER=register, PINNED="memory:")
    assert outcome.results["N_PINNED"] == outcome.results["N_UNDECIDED"] == 0


def test_releases_of_a_register_that_was_changed_by_hand_are_not_said_to_give_nothing_away(anonymize, run, tmp_path):
    register = str(tmp_path / "register.gpkg")
    for _ in range(2):
        anonymize(N_SITES=9, REGISTER=register)
    given = {"REGISTER": register, "REPORT": str(tmp_path / "report.html")}
    before = run("checkreleases", **given)
    with closing(sqlite3.connect(register)) as connection, connection:
        connection.execute("UPDATE vbas_releases SET time = '2020-01-01T00:00:00+00:00' WHERE release = 2")
    after = run("checkreleases", **given)
    assert not any("broken" in line or "see the warnings" in line for line in before.log)
    assert any("the chain of" in line and "release 2 was changed after it was added" in line for line in after.log)
    assert any("Not everything could be compared" in line for line in after.log)
    assert "release 2 was changed after it was added" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("how", ["filter", "selection"])
def test_what_a_layer_leaves_out_is_kept_beside_a_register(anonymize, run, grid, tmp_path, how):
    """A filter that somebody set on the layer says as little in the form as a selection."""
    register, records = str(tmp_path / "register.gpkg"), grid[1].clone()
    women = "\"sex\" = 'F'"
    if how == "filter":
        assert records.setSubsetString(women)
    else:
        records.selectByExpression(women)
    QgsProject.instance().addMapLayer(records)
    try:
        only = QgsProcessingFeatureSourceDefinition(records.id(), selectedFeaturesOnly=how == "selection")
        anonymize(N_SITES=9, REGISTER=register, RECORDS=only)
    finally:
        QgsProject.instance().removeMapLayer(records.id())
    says = "Rows were left out of release 1, by FILTER, a filter of the layer or a selection"
    done = anonymize(N_SITES=9, REGISTER=register, QUASI_IDENTIFIERS=["sex"], REGISTER_ACTION="repair")
    checked = run("checkreleases", REGISTER=register, PINNED="memory:")
    assert all(any(says in line for line in of.log) for of in (done, checked))


def test_a_new_register_is_a_geopackage_as_gdal_makes_it(tmp_path):
    """SQLite alone makes it: GDAL finds the same tables, fields and types as in one of its own, and no fault."""
    register, made_by_gdal = tmp_path / "register.gpkg", tmp_path / "gdal.gpkg"
    make_geopackage(register, entry.TABLES)
    kinds = {"MEDIUMINT": ogr.OFTInteger, "INTEGER": ogr.OFTInteger64, "REAL": ogr.OFTReal, "TEXT": ogr.OFTString}
    dataset = ogr.GetDriverByName("GPKG").CreateDataSource(str(made_by_gdal))
    for name, columns in entry.TABLES.items():
        layer = dataset.CreateLayer(name, None, ogr.wkbNone, ["ASPATIAL_VARIANT=GPKG_ATTRIBUTES"])
        for column, kind in columns.items():
            layer.CreateField(ogr.FieldDefn(column, kinds[kind]))
    layer = dataset = None

    def as_gdal_reads(file):
        read = ogr.Open(str(file))
        layers = [read.GetLayer(i) for i in range(read.GetLayerCount())]
        fields = {
            one.GetName(): [
                (field.GetName(), field.GetTypeName())
                for field in map(one.GetLayerDefn().GetFieldDefn, range(one.GetLayerDefn().GetFieldCount()))
            ]
            for one in layers
        }
        return fields, [(one.GetFIDColumn(), one.GetGeomType(), one.GetFeatureCount()) for one in layers]

    assert as_gdal_reads(register) == as_gdal_reads(made_by_gdal)
    validate_gpkg = pytest.importorskip("osgeo_utils.samples.validate_gpkg")
    validate_gpkg.check(str(register))  # raises for what the standard forbids


@pytest.mark.slow
def test_a_register_of_nested_releases(anonymize, run, tmp_path):
    register = str(tmp_path / "register.gpkg")
    anonymize(N_SITES=9, REGISTER=register)
    nested = {"RELEASE": "nested levels", "SITE_POINTS": None, "VORONOI": None, "REGISTER": register}
    with pytest.raises(QgsProcessingException, match="would give away"):
        anonymize(**nested)
    done = anonymize(**nested, REGISTER_ACTION="repair")
    assert min(row["released"] for row in done.rows("RELEASED_REGIONS")) >= 0
    outcome = run("checkreleases", REGISTER=register, PINNED="memory:")
    assert outcome.results["N_PINNED"] == 0


def test_a_failed_run_leaves_no_register_and_other_files_are_refused(anonymize, run, tmp_path, monkeypatch):
    with pytest.raises(QgsProcessingException):
        anonymize(REGISTER=str(tmp_path / "new.gpkg"), RELEASED_RECORDS=str(tmp_path / "no folder" / "x.csv"))
    assert not (tmp_path / "new.gpkg").exists()
    with pytest.raises(QgsProcessingException):
        anonymize(REGISTER=str(tmp_path / "new.gpkg"), K=10_000)
    anonymize(RELEASED_RECORDS=str(tmp_path / "other.gpkg"))
    held = (tmp_path / "other.gpkg").read_bytes()
    with pytest.raises(QgsProcessingException, match="is not a register"):
        anonymize(REGISTER=str(tmp_path / "other.gpkg"))
    assert (tmp_path / "other.gpkg").read_bytes() == held
    with pytest.raises(QgsProcessingException, match=r"REGISTER is .*: name a file that ends in “.gpkg”"):
        anonymize(REGISTER=str(tmp_path / "register.txt"))
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")) == ["other.gpkg"]


@pytest.mark.slow
def test_an_update_by_the_old_crosswalk(anonymize, run, grid, tmp_path):
    """A new person is seen in “Release records” too, and held back there."""
    register, crosswalk = str(tmp_path / "register.gpkg"), str(tmp_path / "crosswalk.gpkg")
    anonymize(REGISTER=register, CROSSWALK=crosswalk)
    rows = [feature.attributes() for feature in grid[1].getFeatures()]
    rows.append(rows[100])
    columns = {name: [row[i] or None for row in rows] for i, name in enumerate(grid[1].fields().names())}
    given = {
        "RECORDS": make_layer(columns),
        "RECORD_REGION": "home",
        "QUASI_IDENTIFIERS": ["sex", "age"],
        "CROSSWALK": crosswalk,
        "REGISTER": register,
        "RELEASED_RECORDS": "memory:",
    }
    with pytest.raises(QgsProcessingException, match="would give away 1 count of"):
        run("releaserecords", **given)
    done = run("releaserecords", **given, REGISTER_ACTION="repair")
    released = {(row["sex"], row["age"]) for row in done.rows("RELEASED_RECORDS")}
    assert len(released) == 10 and tables_of(register)[1] == 2
    lost = done.results["N_SUPPRESSED"]
    assert 5 <= lost < 60
    with pytest.raises(QgsProcessingException, match=r"contradict each other in .* no population has both"):
        anonymize(RECORDS=given["RECORDS"], REGISTER=register, N_SITES=9)


@pytest.mark.slow
def test_a_register_holds_the_values_that_were_published(anonymize, run, tmp_path):
    register = str(tmp_path / "register.gpkg")
    first = anonymize(N_SITES=9, REGISTER=register, SENSITIVE=["diagnosis"])
    released: Counter[tuple] = Counter()
    for row in first.rows("RELEASED_RECORDS"):
        released[row["vbas_region"], f'["{row["sex"]}", "{row["age"]}"]', row["diagnosis"] or ""] += 1
    assert {(region, one, value): n for _, region, one, _, value, n in values_of(register)} == released
    done = anonymize(N_SITES=10, REGISTER=register, REGISTER_ACTION="repair", SENSITIVE=["diagnosis"], L_DIVERSITY=2)
    assert any(line.startswith("To prevent that, ") for line in done.log)
    outcome = run("checkreleases", REGISTER=register, PINNED="memory:")
    names = ("N_PINNED", "N_VALUES", "N_ALIKE", "N_UNDECIDED")
    assert [outcome.results[name] for name in names] == [0, 0, 0, 0]
    with closing(sqlite3.connect(register)) as connection:
        connection.execute("UPDATE vbas_values SET records = records + 1 WHERE fid = 1")
        connection.commit()
    with pytest.raises(QgsProcessingException, match="the values of “diagnosis” do not add up"):
        run("checkreleases", REGISTER=register, PINNED="memory:")


@pytest.mark.slow
def test_a_register_is_listed_by_series_named_and_drawn(anonymize, run, grid, tmp_path):
    register = tmp_path / "register.gpkg"
    given = {"REGISTER": str(register), "CONTENTS": "memory:"}
    anonymize(N_SITES=9, REGISTER=str(register), SERIES="health", RECIPIENT="Institute", PURPOSE="asthma")
    anonymize(N_SITES=9, REGISTER=str(register))
    new_masking(register, "", np.array([[1.0, 2.0]])).put()
    done = run("editregister", **given, SERIES="Health", REGIONS=grid[0], REGION_ID="da", DETAIL="memory:")
    (row,) = done.rows("CONTENTS")
    assert (row["release"], row["series"], row["recipient"], row["purpose"]) == (1, "health", "Institute", "asthma")
    areas = done.rows("DETAIL")
    assert (
        len(areas) == 36 and {row["releases"] for row in areas} == {1} and {row["last_release"] for row in areas} == {1}
    )
    assert all(row["finest_level"] == 1 and row["areas"] >= 1 for row in areas)
    table = run("editregister", **given, DETAIL="memory:")
    assert {row["releases"] for row in table.rows("DETAIL")} == {2}
    named = run("editregister", **given, RENAME=2, NAME=" Health\n 2026 ")
    assert [row["title"] for row in named.rows("CONTENTS")] == ["release 1", "Health 2026"]
    assert named.results["N_POINTS"] == 1 and any(line.startswith("Masked points 1, added") for line in named.log)
    for begins in ("Release 1, added", "Release 2, “Health 2026”, added"):
        assert any(line.startswith(begins) for line in named.log)
    for more, problem in (
        ({"SERIES": "wealth"}, "has the series health"),
        ({"RENAME": 1, "NAME": "health 2026"}, "what release 2 of the register is called"),
        ({"RENAME": 1, "NAME": "x", "REMOVE": 1}, "REMOVE and RENAME are both given"),
        ({"REMOVE_POINTS": 1}, "REMOVE_POINTS names masked points 1: tick NEVER_PUBLISHED"),
        ({"REMOVE_POINTS": 2, "NEVER_PUBLISHED": True}, "has the masked points 1: give"),
    ):
        with pytest.raises(QgsProcessingException, match=problem):
            run("editregister", **given, **more)
    done = run("editregister", **given, REMOVE_POINTS=1, NEVER_PUBLISHED=True, WHO="A. Nguyen")
    assert (done.results["N_POINTS"], done.results["N_REMOVED"], done.results["N_BROKEN"]) == (0, 1, 0)


@pytest.mark.slow
def test_a_trial_is_taken_out_of_the_register(anonymize, run, tmp_path):
    register = tmp_path / "register.gpkg"
    given = {"REGISTER": str(register), "CONTENTS": "memory:"}
    anonymize(N_SITES=9, REGISTER=str(register))
    alone = set(tables_in(register))
    anonymize(N_SITES=10, REGISTER=str(register), REGISTER_ACTION="repair", SENSITIVE=["diagnosis"])
    listed = run("editregister", **given)
    rows = listed.rows("CONTENTS")
    assert [(row["release"], row["title"], row["sensitive"]) for row in rows] == [
        (1, "release 1", ""),
        (2, "release 2", "diagnosis"),
    ]
    assert all((row["k"], row["quasi_identifiers"], row["levels"]) == (5, "sex, age", 1) for row in rows)
    assert (listed.results["N_RELEASES"], listed.results["N_REMOVED"]) == (2, 0)
    held = register.read_bytes()
    for more, problem in (
        ({"REMOVE": 2}, "tick NEVER_PUBLISHED"),
        ({"REMOVE": 3, "NEVER_PUBLISHED": True}, "has the releases 1, 2"),
    ):
        with pytest.raises(QgsProcessingException, match=problem):
            run("editregister", **given, **more)
    with pytest.raises(QgsProcessingException):  # what fails takes nothing out
        run("editregister", **{**given, "CONTENTS": str(tmp_path / "none" / "x.csv")}, REMOVE=2, NEVER_PUBLISHED=True)
    assert register.read_bytes() == held
    done = run("editregister", **given, REMOVE=2, NEVER_PUBLISHED=True)
    assert [row["release"] for row in done.rows("CONTENTS")] == [1] and done.results["N_REMOVED"] == 1
    assert set(tables_in(register)) == alone
    assert b"cold" in held and b"cold" not in register.read_bytes()
    anonymize(N_SITES=9, REGISTER=str(register))  # goes on as before


def tables_in(register):
    with closing(sqlite3.connect(register)) as connection:
        names = ("vbas_releases", "vbas_crosswalks", "vbas_counts", "vbas_values")
        return [row for name in names for row in connection.execute(f"SELECT * FROM {name}")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "change, problem",
    [
        ("UPDATE vbas_releases SET k = 'five'", "release 1 .*is damaged .it holds what a register never holds"),
        ("UPDATE vbas_releases SET quasi_identifiers = '{'", "release 1 .*is damaged"),
        ("UPDATE vbas_counts SET class = '[1'", "release 1 .*is damaged"),
        ("UPDATE vbas_counts SET vbas_region = 77777", "release 1 .*is damaged"),
        ("DELETE FROM vbas_crosswalks", "release 1 .*is damaged"),
        ("UPDATE vbas_counts SET records = 4 WHERE fid = 1", "release 1 .*1 count is below its k of 5"),
        ("ALTER TABLE vbas_counts RENAME COLUMN records TO persons", "lacks the table “vbas_counts” as the register"),
    ],
)
@pytest.mark.parametrize("algorithm", ["checkreleases", "anonymize"])
def test_a_damaged_register(anonymize, run, tmp_path, algorithm, change, problem):
    register = tmp_path / "register.gpkg"
    anonymize(N_SITES=9, REGISTER=str(register))
    with closing(sqlite3.connect(register)) as connection:
        connection.execute(change)
        connection.commit()
    held = register.read_bytes()
    with pytest.raises(QgsProcessingException, match=problem):
        if algorithm == "anonymize":
            anonymize(N_SITES=10, REGISTER=str(register))
        else:
            run("checkreleases", REGISTER=str(register), PINNED="memory:")
    assert register.read_bytes() == held


def test_a_damaged_register_cannot_be_listed(anonymize, run, tmp_path):
    register = tmp_path / "register.gpkg"
    anonymize(N_SITES=9, REGISTER=str(register))
    with closing(sqlite3.connect(register)) as connection:
        connection.execute("UPDATE vbas_releases SET k = 'five'")
        connection.commit()
    with pytest.raises(QgsProcessingException, match=r"release 1 .*is damaged"):
        run("editregister", REGISTER=str(register), CONTENTS="memory:")


def test_a_run_that_fails_adds_nothing_to_a_register(anonymize, tmp_path, monkeypatch):
    register = tmp_path / "register.gpkg"
    anonymize(N_SITES=9, REGISTER=str(register))

    def full(*_, **__):
        raise VbasError("there is no room")

    monkeypatch.setattr(outputs, "deliver", full)
    with pytest.raises(QgsProcessingException, match="there is no room"):
        anonymize(N_SITES=9, REGISTER=str(register), RELEASED_RECORDS=str(tmp_path / "released.gpkg"))
    assert tables_of(register)[1] == 1


def test_a_release_that_another_run_adds_meanwhile_is_not_overlooked(anonymize, tmp_path, monkeypatch):
    register, read = tmp_path / "register.gpkg", published_releases.read_register
    anonymize(N_SITES=9, REGISTER=str(register))

    def while_another_adds(path):
        found = read(path)
        monkeypatch.setattr(published_releases, "read_register", read)
        anonymize(N_SITES=9, REGISTER=str(register))
        return found

    monkeypatch.setattr(published_releases, "read_register", while_another_adds)
    with pytest.raises(QgsProcessingException, match="another run has added a release"):
        anonymize(N_SITES=9, REGISTER=str(register))
    assert tables_of(register)[1] == 2


@pytest.mark.slow
def test_a_repair_that_does_not_succeed_is_not_written(anonymize, tmp_path, monkeypatch):
    register, right, found = tmp_path / "register.gpkg", earlier.repair, []
    anonymize(N_SITES=9, REGISTER=str(register))
    examine = earlier.examine

    def kept(*given, **more):
        found.append(examine(*given, **more))
        return found[-1]

    monkeypatch.setattr(earlier, "examine", kept)
    monkeypatch.setattr(earlier, "repair", lambda *given, **more: replace(right(*given, **more), after=found[-1]))
    out = tmp_path / "released.gpkg"
    with pytest.raises(QgsProcessingException, match=r"give away \d+ counts?"):
        anonymize(N_SITES=10, REGISTER=str(register), REGISTER_ACTION="repair", RELEASED_RECORDS=str(out))
    assert found[-1].n_counts and tables_of(register)[1] == 1 and not out.exists()


@pytest.fixture
def held_register(anonymize, tmp_path):
    """A register with one release that another program reads just now, which keeps SQLite from changing it."""
    register = tmp_path / "register.gpkg"
    anonymize(N_SITES=9, REGISTER=str(register))
    with closing(sqlite3.connect(register, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM vbas_releases").fetchone()
        yield register


def test_no_release_is_written_that_the_register_cannot_get(anonymize, held_register, tmp_path, monkeypatch):
    monkeypatch.setattr(entry, "SECONDS_TO_WAIT", 0.2)
    out = tmp_path / "released.gpkg"
    with pytest.raises(QgsProcessingException, match=r"REGISTER: .* is locked.* Nothing was changed\.$"):
        anonymize(N_SITES=9, REGISTER=str(held_register), RELEASED_RECORDS=str(out))
    assert not out.exists()


def test_no_list_is_written_of_a_register_that_cannot_be_changed(run, held_register, tmp_path, monkeypatch):
    monkeypatch.setattr(entry, "SECONDS_TO_WAIT", 0.2)
    out = tmp_path / "contents.csv"
    with pytest.raises(QgsProcessingException, match=r"could not be taken out of .* Nothing was changed\.$"):
        run("editregister", REGISTER=str(held_register), REMOVE=1, NEVER_PUBLISHED=True, CONTENTS=str(out))
    assert not out.exists()


@pytest.mark.parametrize("is_new", [True, False])
def test_the_register_has_a_release_before_anybody_sees_it_and_not_if_that_fails(
    anonymize, tmp_path, monkeypatch, is_new
):
    """A run that is killed in between leaves at worst a release in the register that was not published."""
    register, out = tmp_path / "register.gpkg", tmp_path / "released.gpkg"
    if not is_new:
        anonymize(N_SITES=9, REGISTER=str(register))
    put, seen = file_place.FilePlace.put, []

    def looked(self):
        seen.append((tables_of(register)[1], out.exists()))
        put(self)

    def refuse(self):
        raise VbasError("it is the end")

    monkeypatch.setattr(file_place.FilePlace, "put", looked)
    monkeypatch.setattr(file_place.FilePlace, "check", refuse)
    with pytest.raises(QgsProcessingException, match=r"it is the end\. Nothing was changed\.$"):
        anonymize(N_SITES=9, REGISTER=str(register), RELEASED_RECORDS=str(out))
    assert seen == [(1 if is_new else 2, False)] and not out.exists()
    if is_new:
        assert not list(tmp_path.iterdir())
    else:
        assert tables_of(register)[1] == 1
        with closing(sqlite3.connect(register)) as connection:
            for table in ("vbas_crosswalks", "vbas_counts", "vbas_values"):
                assert not connection.execute(f"SELECT count(*) FROM {table} WHERE release > 1").fetchone()[0]


def test_a_release_that_cannot_be_taken_out_again_is_said(anonymize, tmp_path, monkeypatch):
    register = tmp_path / "register.gpkg"

    def refuse(self):
        monkeypatch.setattr(entry.Entry, "_take_back", fails)
        raise VbasError("it is the end")

    def fails(self):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(file_place.FilePlace, "check", refuse)
    with pytest.raises(QgsProcessingException, match=r"it is the end\. .* has this release, which was not written"):
        anonymize(N_SITES=9, REGISTER=str(register), RELEASED_RECORDS=str(tmp_path / "released.gpkg"))
    assert tables_of(register)[1] == 1


@pytest.mark.parametrize("is_new", [True, False])
def test_a_register_that_another_run_makes_or_removes_meanwhile_loses_no_release(
    anonymize, tmp_path, monkeypatch, is_new
):
    register, out, put = tmp_path / "register.gpkg", tmp_path / "released.gpkg", entry.Entry.put
    if not is_new:
        anonymize(N_SITES=9, REGISTER=str(register))

    def meanwhile(self):
        monkeypatch.setattr(entry.Entry, "put", put)
        register.unlink(missing_ok=True)
        other = tmp_path / "other.gpkg"  # such as of another machine, where no locks are known
        anonymize(N_SITES=9, REGISTER=str(other))
        other.rename(register)
        put(self)

    monkeypatch.setattr(entry.Entry, "put", meanwhile)
    with pytest.raises(QgsProcessingException, match=r"another run has added a release to .* Nothing was changed\.$"):
        anonymize(N_SITES=4, REGISTER=str(register), RELEASED_RECORDS=str(out))
    assert tables_of(register)[1] == 1 and not out.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["register.gpkg"]
