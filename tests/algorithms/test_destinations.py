"""What is refused before any work: targets that are inputs, other outputs, folders, or that cannot hold the output."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from qgis.core import (
    QgsProcessing,
    QgsProcessingException,
    QgsProject,
    QgsVectorFileWriter,
    QgsVectorLayer,
    QgsVectorLayerJoinInfo,
)

from ..systems import reads_without_a_trace

OUTPUTS = ("RELEASED_RECORDS", "RELEASED_REGIONS", "CROSSWALK", "REGION_AUDIT", "SITE_POINTS", "VORONOI")


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def stats(folder):
    """What can be told without opening a file: a process that opens and closes one loses its locks on it."""
    found = [(path, path.lstat()) for path in sorted(folder.rglob("*"))]
    return [(path, status.st_ino, status.st_size, status.st_mtime_ns) for path, status in found if path.is_file()]


def save(layer, path, driver, name=None):
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = driver
    options.layerName = name or Path(path).stem
    if Path(path).exists():
        options.actionOnExistingFile = QgsVectorFileWriter.ActionOnExistingFile.CreateOrOverwriteLayer
    context = QgsProject.instance().transformContext()
    error, message, *_ = QgsVectorFileWriter.writeAsVectorFormatV3(layer, str(path), context, options)
    assert error == QgsVectorFileWriter.WriterError.NoError, message


@pytest.fixture
def refused(anonymize, tmp_path, tmp_path_factory, monkeypatch):
    """refused(words, **parameters): refused in one sentence, before any area is read, and with nothing changed."""
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))

    def one(words, look=contents, **parameters):
        def read(*_):
            raise AssertionError("areas are read")

        before = look(tmp_path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("vbas.algorithms.anonymize.areas_of", read)
            with pytest.raises(QgsProcessingException, match=words) as error:
                anonymize(**parameters)
        assert "\n" not in str(error.value)
        assert look(tmp_path) == before
        assert list(temporary.iterdir()) == []

    return one


# ---- inputs


def aliases(file):
    """The same file, written in several ways."""
    folder, link = file.parent, file.parent / "link"
    link.symlink_to(folder, target_is_directory=True)
    os.link(file, folder / f"hard{file.suffix}")
    (folder / f"soft{file.suffix}").symlink_to(file)
    (folder / "sub").mkdir()
    return {
        "itself": file,
        "two points": folder / "sub" / ".." / file.name,
        "linked folder": link / file.name,
        "hard link": folder / f"hard{file.suffix}",
        "symbolic link": folder / f"soft{file.suffix}",
    }


@pytest.mark.parametrize("way", ["itself", "two points", "linked folder", "hard link", "symbolic link"])
def test_an_output_on_an_input_however_it_is_written(refused, grid, tmp_path, way):
    save(grid[1], tmp_path / "records.csv", "CSV")
    place = aliases(tmp_path / "records.csv")[way]
    refused("CROSSWALK and RECORDS are the same file", RECORDS=str(tmp_path / "records.csv"), CROSSWALK=str(place))


@pytest.mark.parametrize("way", ["itself", "two points", "linked folder", "hard link", "symbolic link"])
def test_an_input_however_it_is_written(refused, grid, tmp_path, way):
    save(grid[1], tmp_path / "records.csv", "CSV")
    place = aliases(tmp_path / "records.csv")[way]
    refused("CROSSWALK and RECORDS are the same file", RECORDS=str(place), CROSSWALK=str(tmp_path / "records.csv"))


def test_a_part_of_a_map_is_the_map(refused, grid, tmp_path):
    save(grid[0], tmp_path / "r.shp", "ESRI Shapefile")
    shape = str(tmp_path / "r.shp")
    refused("CROSSWALK would write .*r.dbf, which belongs to REGIONS", REGIONS=shape, CROSSWALK=str(tmp_path / "r.dbf"))
    # r.dbf alone is read, r.shp is written: with an r.dbf of its own.
    dbf = str(tmp_path / "r.dbf")
    refused("RELEASED_REGIONS would write .*r.shp, which belongs to RECORDS", RECORDS=dbf, RELEASED_REGIONS=shape)
    # Written with r.qml and r.prj, which would change how the input looks and where it lies.
    other = str(tmp_path / "r.geojson")
    refused("would write .*r.qml, which belongs to REGIONS", REGIONS=shape, RELEASED_REGIONS=other)
    (tmp_path / "sub").mkdir()
    os.link(dbf, tmp_path / "sub" / "other.dbf")
    refused(
        "CROSSWALK would write .*other.dbf, which belongs to REGIONS|CROSSWALK and REGIONS are the same file",
        REGIONS=shape,
        CROSSWALK=str(tmp_path / "sub" / "other.dbf"),
    )


@reads_without_a_trace
def test_the_log_of_a_geopackage_is_the_geopackage(refused, grid, tmp_path):
    save(grid[1], tmp_path / "records.gpkg", "GPKG")
    (tmp_path / "log.csv").touch()
    os.link(tmp_path / "log.csv", tmp_path / "records.gpkg-wal")
    words = "CROSSWALK would write .*log.csv, which belongs to RECORDS"
    refused(words, RECORDS=f"{tmp_path / 'records.gpkg'}|layername=records", CROSSWALK=str(tmp_path / "log.csv"))


def test_what_is_joined_or_queried_is_an_input(refused, grid, tmp_path):
    save(grid[1], tmp_path / "records.csv", "CSV")
    joined = QgsVectorLayer(str(tmp_path / "records.csv"), "records", "ogr")
    areas = grid[0].clone()
    info = QgsVectorLayerJoinInfo()
    info.setJoinLayer(joined)
    info.setJoinFieldName("home")
    info.setTargetFieldName("da")
    assert areas.addJoin(info)
    refused("CROSSWALK and REGIONS are the same file", REGIONS=areas, CROSSWALK=str(tmp_path / "records.csv"))
    query = f"?layer=ogr:{tmp_path / 'records.csv'}:r:UTF-8&query=select * from r&nogeometry"
    view = QgsVectorLayer(query, "view", "virtual")
    assert view.isValid()
    refused("CROSSWALK and RECORDS are the same file", RECORDS=view, CROSSWALK=str(tmp_path / "records.csv"))


@pytest.mark.slow
@reads_without_a_trace
def test_an_output_on_the_table_of_an_input(refused, anonymize, grid, tmp_path):
    database = tmp_path / "data.gpkg"
    save(grid[0], database, "GPKG", "areas")
    save(grid[1], database, "GPKG", "records")
    (tmp_path / "alias.gpkg").symlink_to(database)
    for inputs in (f"{database}|layername=records", f"{database}|layerid=1"):
        for place in (
            f"ogr:dbname='{database}' table=\"records\"",
            f"ogr:dbname='{tmp_path}/alias.gpkg' table=\"Records\"",
        ):
            refused("CROSSWALK and RECORDS are the same table", RECORDS=inputs, CROSSWALK=place)
    refused(
        "RELEASED_RECORDS and REGIONS are the same table",
        REGIONS=str(database),  # its first table
        RELEASED_RECORDS=f"ogr:dbname='{database}' table=\"areas\"",
    )
    refused("CROSSWALK and RECORDS are the same file", RECORDS=inputs, CROSSWALK=str(database))
    # Beside the inputs there is room.
    place = f"ogr:dbname='{database}' table=\"crosswalk\""
    done = anonymize(REGIONS=f"{database}|layername=areas", RECORDS=inputs, CROSSWALK=place)
    assert len(done.rows("CROSSWALK")) == 36
    assert QgsVectorLayer(f"{database}|layername=records", "r", "ogr").featureCount() == 36 * 40


# ---- other outputs


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("a.gpkg", "sub/../a.gpkg", "are the same file"),
        ("a.shp", "a.shp", "CROSSWALK.*a.dbf"),
        ("a.dbf", "a.shp", "CROSSWALK.*a.dbf"),
        ("ogr:dbname='{}/a.gpkg' table=\"t\"", "ogr:dbname='{}/sub/../a.gpkg' table=\"T\"", "are the same table, “T”"),
        ("ogr:dbname='{}/a.gpkg' table=\"t\"", "a.gpkg", "are the same file"),
        ("a.gpkg", "ogr:dbname='{}/a.gpkg' table=\"t\"", "are the same file"),
    ],
)
def test_two_outputs_in_one_place(refused, tmp_path, one, other, words):
    (tmp_path / "sub").mkdir()
    places = [text.format(tmp_path) if ":" in text else str(tmp_path / text) for text in (one, other)]
    refused(words, CROSSWALK=places[0], REGION_AUDIT=places[1])


def test_regions_in_a_table_are_said_to_have_lost_their_shapes(anonymize, tmp_path):
    done = anonymize(RELEASED_REGIONS=str(tmp_path / "regions.csv"), CROSSWALK=str(tmp_path / "crosswalk.csv"))
    (said,) = [line for line in done.log if "holds no shapes" in line]
    assert said.startswith("RELEASED_REGIONS: a .csv file")


def test_two_outputs_that_would_share_a_style(refused, anonymize, tmp_path):
    places = {"RELEASED_REGIONS": str(tmp_path / "a.geojson"), "SITE_POINTS": str(tmp_path / "a.fgb")}
    refused("SITE_POINTS would write .*a.qml, which belongs to RELEASED_REGIONS", **places)
    anonymize(CROSSWALK=str(tmp_path / "a.csv"), RELEASED_REGIONS=str(tmp_path / "a.gpkg"))  # these share nothing


# ---- names, formats and what is there


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.json", "CROSSWALK: “.json” is not a format that QGIS writes a table into and reads back"),
        ("x.fgb", "“.fgb” is not a format"),
        ("x.sqlite", "“.sqlite” is not a format"),
        ("x.gpx", "“.gpx” is not a format"),
        ("x.dxf", "“.dxf” is not a format"),
        ("x.nonsense", "“.nonsense” is not a format"),
        ("x|y.csv", "would not be read back"),
        ("x.csv|layername=y", "would not be read back"),
        ("x.csv ", "would not be read back"),
        ("x.gpkg.", "would not be read back"),
        ("x\ny.csv", "would not be read back"),
        ("x" * 300 + ".csv", "has 304 bytes, and no more than 255 are kept"),
        ("é" * 126 + ".csv", "has 256 bytes"),
        ("a:b.gpkg", "would not be read back"),
        ("a?.csv", "would not be read back"),
        ("a*b.csv", "would not be read back"),
        ('a"b.csv', "would not be read back"),
        ("a<b>.csv", "would not be read back"),
        ("a\\b.csv", "would not be read back"),
        ("x .", "would not be read back"),
        (" x.csv", "would not be read back"),
        ("CON.gpkg", "on Windows, which keeps it for a device"),
        ("nul.csv", "on Windows, which keeps it for a device"),
        ("Aux.tar.csv", "on Windows, which keeps it for a device"),
        ("com1 .csv", "on Windows, which keeps it for a device"),
        ("LPT².csv", "on Windows, which keeps it for a device"),
        ("prn", "on Windows, which keeps it for a device"),
        ("ogr:dbname='/tmp/nul.gpkg' table=\"y\"", "on Windows, which keeps it for a device"),
        ("ogr:dbname='/tmp/a:b.gpkg' table=\"y\"", "would not be read back"),
        ("ogr:dbname='/tmp/" + "x" * 300 + '.gpkg\' table="y"', "has 305 bytes"),
        ("ogr:dbname='/tmp/a.gpkg' table=\"y|z\"", "would not be read back"),
        ("ogr:dbname='/tmp/a.gpkg' table=\"y\nz\"", "would not be read back"),
        ("x" * 249 + ".gpkg", "File name too long"),  # its journal
        ("folder", "folder is a folder"),
        ("folder.csv", "folder.csv is a folder"),
        ("nowhere/x.csv", "there is no folder"),
        ("/", "is a folder"),
        ("link.csv", "is a symbolic link to .*real.csv: give the name of the file itself"),
        ("pipe.csv", "which is not a plain file"),
        ("map.dbf", "map.dbf holds the attributes of .*map.shp"),
        ("mongodb://dbname='x' table=\"y\"", "is not a database that this QGIS knows"),
        ("ogr:dbname='/tmp/x.shp' table=\"y\"", "is not a GeoPackage"),
        ("ogr:dbname='/nowhere/x.gpkg' table=\"y\"", "there is no database"),
        ("postgres://dbname='x' host=127.0.0.1 port=1 table=\"y\"", "the database cannot be reached"),
        ("ogr:something", "does not name a database and a table"),
    ],
)
def test_places_that_cannot_take_a_table(refused, tmp_path, name, words):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "real.csv").write_text("precious")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    (tmp_path / "map.shp").write_text("a map")
    os.mkfifo(tmp_path / "pipe.csv")
    place = name if ":" in name else f"{tmp_path}/{name}" if name != "/" else name
    refused(words, CROSSWALK=place, RELEASED_RECORDS=str(tmp_path / "released.csv"))


def test_a_side_file_that_cannot_be_replaced(refused, tmp_path):
    (tmp_path / "a.qml").mkdir()
    refused(
        "RELEASED_REGIONS would be written to .*a.qml, which is a folder", RELEASED_REGIONS=str(tmp_path / "a.geojson")
    )


def test_a_report_is_a_page(refused, tmp_path):
    refused("REPORT is a page", REPORT=str(tmp_path / "report.gpkg"))
    refused("REPORT: give the name of a file", REPORT=f"ogr:dbname='{tmp_path}/a.gpkg' table=\"t\"")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["x.gpkg", "X.GPKG", "x.dbf", "x.xlsx", "x.ods", "x.geojson", "a b;c'ü.csv", "x.y.csv"]
)
def test_a_table_is_delivered_exactly_where_asked(anonymize, tmp_path, name):
    done = anonymize(CROSSWALK=str(tmp_path / name))
    assert done.results["CROSSWALK"] == str(tmp_path / name)
    assert (tmp_path / name).is_file()
    assert len(done.rows("CROSSWALK")) == 36
    assert not [path for path in tmp_path.iterdir() if path.stem != Path(name).stem]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.fgb", "x.sqlite", "x.kml", "x.tab", "x.gml"])
def test_a_layer_is_delivered_exactly_where_asked(anonymize, tmp_path, name):
    from vbas.algorithms.layers.delivery.formats import written_endings

    if not written_endings(Path(name).suffix, QgsProcessing.SourceType.TypeVectorPolygon):
        pytest.skip(f"the GDAL of this QGIS does not write {name}, or not so that it reads it back")
    done = anonymize(RELEASED_REGIONS=str(tmp_path / name))
    assert done.results["RELEASED_REGIONS"] == str(tmp_path / name)
    assert done.layer("RELEASED_REGIONS").featureCount() == 6
    again = anonymize(RELEASED_REGIONS=str(tmp_path / name))  # over its own earlier result
    assert again.layer("RELEASED_REGIONS").featureCount() == 6


# ---- GeoPackages that hold more, or that are in use


@pytest.mark.slow
def test_a_geopackage_with_other_layers_is_not_replaced(refused, anonymize, grid, tmp_path):
    place = tmp_path / "regions.gpkg"
    for _ in range(2):  # its own earlier result, with a style in it, is
        anonymize(RELEASED_REGIONS=str(place))
    save(grid[1], place, "GPKG", "survey")
    refused("holds layers, which would be lost: “survey”", RELEASED_REGIONS=str(place))
    other = tmp_path / "other.gpkg"
    save(grid[1], other, "GPKG", "survey")
    refused("holds layers, which would be lost: “survey”", CROSSWALK=str(other))
    with closing(sqlite3.connect(tmp_path / "regions2.gpkg")) as connection:  # not registered, but there
        connection.execute("CREATE TABLE notes (a)")
    refused("“notes”", RELEASED_REGIONS=str(tmp_path / "regions2.gpkg"))


def test_what_stands_in_an_old_log_counts(refused, tmp_path):
    """A layer that a program which was killed had written into the log alone."""
    place = tmp_path / "crosswalk.gpkg"
    write = "connection.execute('CREATE TABLE survey (a)'); connection.commit()"
    leave_log(place, write)
    refused("holds layers, which would be lost: “survey”", CROSSWALK=str(place))


def leave_log(place, write, wait=False):
    """Write into a database as a program that is then killed (or goes on, until its input ends)."""
    script = (
        "import os, sqlite3, sys\n"
        f"connection = sqlite3.connect({str(place)!r})\n"
        "connection.execute('PRAGMA journal_mode = WAL')\n"
        "connection.execute('CREATE TABLE IF NOT EXISTS crosswalk (a)'); connection.commit()\n"
        f"{write}\n"
        "print('ready', flush=True)\n" + ("sys.stdin.read()\n" if wait else "") + "os.kill(os.getpid(), 9)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    if not wait:
        process.wait(timeout=60)
    return process


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/locks").is_file(), reason="who holds a file is read from /proc/locks")
@pytest.mark.parametrize("by", ["another program", "this one"])
def test_a_geopackage_in_use_is_not_replaced(refused, anonymize, tmp_path, by):
    place = tmp_path / "crosswalk.gpkg"
    write = "connection.execute('INSERT INTO crosswalk VALUES (1)'); connection.commit()"
    if by == "another program":
        process = leave_log(place, write, wait=True)
    else:
        leave_log(place, write)
        connection = sqlite3.connect(place)
        connection.execute("SELECT * FROM crosswalk").fetchall()
    refused("CROSSWALK: another program is working in .*crosswalk.gpkg", stats, CROSSWALK=str(place))
    if by == "another program":
        process.stdin.close()
        process.wait(timeout=60)
        assert (tmp_path / "crosswalk.gpkg-wal").exists()
    else:
        connection.close()
        leave_log(place, write)
    # Once nobody holds it, the old log goes with the old file.
    done = anonymize(CROSSWALK=str(place))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crosswalk.gpkg"]
    assert len(done.rows("CROSSWALK")) == 36


def test_a_journal_of_a_writer_means_that_it_is_in_use(refused, grid, tmp_path):
    place = tmp_path / "crosswalk.gpkg"
    save(grid[1], place, "GPKG", "crosswalk")
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("CREATE TABLE a (a)")
        connection.executemany("INSERT INTO a VALUES (?)", [("x" * 1000,) for _ in range(500)])
        if not (tmp_path / "crosswalk.gpkg-journal").exists():
            pytest.fail("the writer keeps no journal")
        refused("another program is working in", stats, CROSSWALK=str(place))
        connection.execute("ROLLBACK")


# ---- one run at a time


def test_a_second_run_on_a_target_is_refused(refused, tmp_path):
    from vbas.core.publish.folders import one_run_on

    (tmp_path / "sub").mkdir()
    with one_run_on(tmp_path / "a.csv", "CROSSWALK"):
        refused("CROSSWALK: another run is writing to .*a.csv", CROSSWALK=str(tmp_path / "sub" / ".." / "a.csv"))


def test_a_second_run_on_a_database_is_refused_by_another_name_too(refused, grid, tmp_path):
    """A link and the file that it leads to are one database: what another run writes there is not taken for left."""
    from vbas.core.publish.folders import one_run_on

    place, link = tmp_path / "real.gpkg", tmp_path / "link.gpkg"
    save(grid[1], place, "GPKG", "survey")
    link.symlink_to(place)
    with one_run_on(place, "CROSSWALK"):
        refused("CROSSWALK: another run is writing to .*real.gpkg", CROSSWALK=f"ogr:dbname='{link}' table=\"t\"")


def test_a_link_that_leads_nowhere_is_no_database(refused, tmp_path):
    link = tmp_path / "link.gpkg"
    link.symlink_to(tmp_path / "away.gpkg")
    words = "CROSSWALK: .*link.gpkg is a symbolic link to .*away.gpkg, which is not there"
    refused(words, CROSSWALK=f"ogr:dbname='{link}' table=\"t\"")


def test_no_folder_for_temporary_files(anonymize, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(QgsProcessingException, match="temporary folder"):
        anonymize(CROSSWALK=str(tmp_path / "a.csv"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@reads_without_a_trace
def test_a_result_that_is_open_in_qgis_can_be_made_anew(anonymize, tmp_path):
    """The layer that the first run loaded is still in the project: it is only read, and may be replaced."""
    place = tmp_path / "regions.gpkg"
    first = anonymize(RELEASED_REGIONS=str(place))
    layer = first.layer("RELEASED_REGIONS")
    assert len(list(layer.getFeatures())) == 6
    second = anonymize(RELEASED_REGIONS=str(place), N_SITES=5)
    assert second.layer("RELEASED_REGIONS").featureCount() == 5
    layer.reload()
    assert len(list(layer.getFeatures())) in (5, 6)
