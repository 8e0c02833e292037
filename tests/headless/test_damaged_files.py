"""Files that are damaged, locked or changed while they are read: all rows or a sentence, never a crash or a hang.

Each run is a process of its own with a time limit, since what is tested here once crashed QGIS or never ended.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest
from osgeo import ogr

from ..systems import reads_without_a_trace

N = 60_000  # more than are read before a run tells how far it is
SECONDS = 60  # on a machine where others work too

# QGIS with the toolbox, loaded once; for each run a copy of the process, by fork. It is told of a run by a message with
# the file, the reader and the fields, and with what are to be the run's own input, output and errors; it tells the
# number of the process, and how that ended. A run profiles the records and prints rows and records, or what was raised.
# A limit on the number of features keeps the reader from taking the file itself, so that QGIS's features are read.
SCRIPT = """
import gc, json, os, resource, socket, sys
sys.path.append("/usr/share/qgis/python/plugins")
from qgis.core import (QgsApplication, QgsProcessingContext, QgsProcessingFeatureSourceDefinition,
    QgsProcessingFeedback)
application = QgsApplication([], False); application.initQgis()
from vbas.vbas_plugin.provider import VbasProvider
provider = VbasProvider(); QgsApplication.processingRegistry().addProvider(provider)
class Feedback(QgsProcessingFeedback):
    def setProgress(self, progress):
        print("PROGRESS", flush=True)
        sys.stdin.readline()  # goes on once the other side has done what it does meanwhile
def run(path, reader, fields):
    records = QgsProcessingFeatureSourceDefinition(path, False, 10**9) if reader == "features" else path
    context, feedback = QgsProcessingContext(), Feedback(False)
    try:
        algorithm = QgsApplication.processingRegistry().algorithmById("vbas:profilerecords").create()
        parameters = dict(RECORDS=records, RECORD_REGION="home", QUASI_IDENTIFIERS=fields, PROFILE="memory:")
        ok, message = algorithm.checkParameterValues(parameters, context)
        results, ok = algorithm.run(parameters, context, feedback, {}, False)
        layer = context.getMapLayer(results["PROFILE"])
        done = {"records": sum(feature["records"] for feature in layer.getFeatures()),
                "classes": layer.featureCount()}
    except Exception as error:
        done = {"raised": type(error).__name__, "message": str(error)}
    done["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(done), flush=True)
told = socket.socket(fileno=int(sys.argv[1]))
gc.collect(); gc.freeze()
while True:
    message, files, _, _ = socket.recv_fds(told, 65536, 3)
    if not message:
        os._exit(0)
    process = os.fork()
    if not process:
        told.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
        run(*json.loads(message))
        os._exit(0)
    for file in files:
        os.close(file)
    told.send(str(process).encode())
    told.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())
"""

READERS = pytest.mark.parametrize("reader", ["file", "features"])


@pytest.fixture(scope="module")
def loaded():
    """The process that has QGIS loaded: a socket to talk to it."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here, there:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(there.fileno())],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
            pass_fds=[there.fileno()],
        )
        there.close()
        yield here
    assert process.wait(SECONDS) == 0


@pytest.fixture
def profile(loaded):
    """profile(path, reader, fields) -> what the run gave; `meanwhile` is called once reading has begun."""

    def run(path, reader="file", fields="sex,age", meanwhile=None):
        (stdin, goes_on), (said, stdout), (complained, stderr) = os.pipe(), os.pipe(), os.pipe()
        socket.send_fds(loaded, [json.dumps([str(path), reader, fields.split(",")]).encode()], [stdin, stdout, stderr])
        for own in (stdin, stdout, stderr):
            os.close(own)
        killer = threading.Timer(SECONDS, os.kill, [int(loaded.recv(64)), signal.SIGKILL])
        killer.start()
        with os.fdopen(goes_on, "w") as going_on, os.fdopen(said) as output, os.fdopen(complained) as errors:
            try:
                lines = []
                if meanwhile is None:
                    going_on.close()
                for line in output:
                    lines.append(line)
                    if meanwhile is not None and line.startswith("PROGRESS"):
                        meanwhile()
                        meanwhile = None
                        going_on.close()
                code = int(loaded.recv(64))
            finally:
                killer.cancel()
            assert code == 0, f"ended with {code} (-9: not within {SECONDS} s; -11: crashed)\n{errors.read()}"
        return json.loads(lines[-1])

    return run


def is_a_sentence(done, *words):
    assert done.get("raised") == "QgsProcessingException", done
    for word in words:
        assert word in done["message"], done["message"]
    return True


def rows(n=N):
    return ((f"46{i % 36:04d}", "FM"[i % 2], i % 5) for i in range(n))


def write_geopackage(path, n=N):
    dataset = ogr.GetDriverByName("GPKG").CreateDataSource(str(path))
    layer = dataset.CreateLayer("records", geom_type=ogr.wkbNone)
    for name, kind in (("home", ogr.OFTString), ("sex", ogr.OFTString), ("age", ogr.OFTInteger)):
        layer.CreateField(ogr.FieldDefn(name, kind))
    layer = dataset = None
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany("insert into records (home, sex, age) values (?, ?, ?)", rows(n))
        connection.commit()
    return path


def write_csv(path, n=N, extra=None, encoding="utf-8"):
    with path.open("w", encoding=encoding) as file:
        file.write("home,sex,age\n")
        for i, (home, sex, age) in enumerate(rows(n)):
            if extra is not None and i == n // 2:
                file.write(extra)
            file.write(f"{home},{sex},{age}\n")
    return path


@pytest.fixture
def geopackage(tmp_path):
    return write_geopackage(tmp_path / "records.gpkg")


@READERS
@pytest.mark.parametrize("damage", [b"\xff", b"\0"])
def test_geopackage_with_a_damaged_page(profile, geopackage, reader, damage):
    with closing(sqlite3.connect(geopackage)) as connection:
        ((pages,),) = connection.execute("pragma page_count").fetchall()
        ((size,),) = connection.execute("pragma page_size").fetchall()
    with geopackage.open("r+b") as file:
        file.seek(size * (pages // 3))
        file.write(damage * size)
    assert is_a_sentence(profile(geopackage, reader), "RECORDS", "records.gpkg is damaged", "copy")


@READERS
def test_page_of_a_geopackage_that_stands_in_another_place(profile, geopackage, reader):
    """A page written to the wrong place is a whole page: as many rows, but not the right ones."""
    with closing(sqlite3.connect(geopackage)) as connection:
        ((pages,),) = connection.execute("pragma page_count").fetchall()
        ((size,),) = connection.execute("pragma page_size").fetchall()
    with geopackage.open("r+b") as file:
        file.seek(size * (pages // 3))
        page = file.read(size)
        file.seek(size * (pages // 2))
        file.write(page)
    assert is_a_sentence(profile(geopackage, reader), "records.gpkg is damaged")


@READERS
@reads_without_a_trace
def test_geopackage_with_an_uncommitted_change(profile, geopackage, reader):
    with closing(sqlite3.connect(geopackage, isolation_level=None)) as writer:
        writer.execute("pragma cache_size = 5")
        writer.execute("begin")
        # More pages than the cache holds: they go to the file before they are committed.
        writer.execute("update records set sex = 'X' || fid")
        assert is_a_sentence(profile(geopackage, reader), "locked by another program")
        writer.execute("rollback")
    assert profile(geopackage, reader)["records"] == N


@READERS
def test_rows_deleted_while_reading(profile, geopackage, reader):
    outcome = []

    def delete():
        with closing(sqlite3.connect(geopackage, timeout=0.1)) as connection:
            try:
                connection.execute("delete from records where fid > 1000")
                connection.commit()
                outcome.append("deleted")
            except sqlite3.OperationalError as error:
                outcome.append(str(error))

    done = profile(geopackage, reader, meanwhile=delete)
    assert outcome  # it happened while the run read
    if "raised" in done:
        assert is_a_sentence(done, "RECORDS")
    else:
        assert done["records"] == N


@READERS
def test_rows_deleted_in_a_write_ahead_log_while_reading(profile, geopackage, reader):
    with closing(sqlite3.connect(geopackage, timeout=5)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("update records set age = 0 where fid = 1")
        connection.commit()

        def delete():
            connection.execute("delete from records where fid > 1000")
            connection.commit()

        assert is_a_sentence(profile(geopackage, reader, meanwhile=delete), "another program")


def write_dbf(path, n=N):
    dataset = ogr.GetDriverByName("ESRI Shapefile").CreateDataSource(str(path))
    layer = dataset.CreateLayer(path.stem, geom_type=ogr.wkbNone, options=["ENCODING=UTF-8"])
    for name, kind in (("home", ogr.OFTString), ("sex", ogr.OFTString), ("age", ogr.OFTInteger)):
        definition = ogr.FieldDefn(name, kind)
        definition.SetWidth(8)
        layer.CreateField(definition)
    for home, sex, age in rows(n):
        feature = ogr.Feature(layer.GetLayerDefn())
        feature["home"], feature["sex"], feature["age"] = home, sex, age
        layer.CreateFeature(feature)
    layer = dataset = None
    return path


@READERS
def test_dbf_cut_in_half(profile, tmp_path, reader):
    path = write_dbf(tmp_path / "records.dbf", 20_000)
    assert profile(path, reader)["records"] == 20_000
    os.truncate(path, path.stat().st_size // 2)
    assert is_a_sentence(
        profile(path, reader), "records.dbf is cut short", "20\N{NO-BREAK SPACE}000 rows", "holds 9997"
    )


@READERS
def test_text_in_a_numeric_field_of_a_dbf(profile, tmp_path, reader):
    path = write_dbf(tmp_path / "records.dbf", 100)
    with path.open("r+b") as file:
        header = file.read(32)
        start, width = (int.from_bytes(header[a : a + 2], "little") for a in (8, 10))
        file.seek(start + 50 * width + 1 + 16)
        file.write(b"     abc")
    assert is_a_sentence(profile(path, reader), "“age”", "“abc”")


@READERS
def test_csv_truncated_while_reading(profile, tmp_path, reader):
    path = write_csv(tmp_path / "records.csv", 302_820)
    done = profile(path, reader, meanwhile=lambda: os.truncate(path, path.stat().st_size // 3))
    assert is_a_sentence(done, "RECORDS")


@READERS
def test_csv_changed_while_reading(profile, tmp_path, reader):
    """As many rows and bytes as before: only the file itself tells."""
    path = write_csv(tmp_path / "records.csv", 302_820)
    changed = path.read_bytes().replace(b"F", b"X")
    assert is_a_sentence(profile(path, reader, meanwhile=lambda: path.write_bytes(changed)), "RECORDS", "changed")


@READERS
def test_csv_with_one_unclosed_quotation_mark(profile, tmp_path, reader):
    path = write_csv(tmp_path / "records.csv", 302_820, '460001,"F,3\n')
    assert is_a_sentence(profile(path, reader), "line 151412 of records.csv", "quotation mark")


@READERS
def test_csv_with_two_stray_quotation_marks(profile, tmp_path, reader):
    """Their number is even, yet a thousand rows between them would become one value."""
    path = write_csv(tmp_path / "records.csv", 10_000)
    lines = path.read_text().splitlines(keepends=True)
    lines[2000], lines[3000] = '460001,"F,3\n', '460001,"M,3\n'
    path.write_text("".join(lines))
    assert is_a_sentence(profile(path, reader), "line 2001 of records.csv", "closed in line 3001 only")


@READERS
def test_csv_with_a_line_of_twelve_megabytes(profile, tmp_path, reader):
    path = write_csv(tmp_path / "records.csv", N, f'460001,"{"x" * 12_000_000}",3\n')
    assert is_a_sentence(profile(path, reader), f"line {N // 2 + 2} of records.csv")


@READERS
def test_csv_with_nul_characters(profile, tmp_path, reader):
    path = write_csv(tmp_path / "records.csv", 100, "460001,F\0F,3\n")
    assert is_a_sentence(profile(path, reader), "NUL characters", "UTF-8")
    path = write_csv(tmp_path / "wide.csv", 100, encoding="utf-16")
    # QGIS itself finds no fields in it, or NUL characters.
    assert is_a_sentence(profile(path, reader), "RECORD")


@READERS
def test_latin_1_csv(profile, tmp_path, reader):
    path = write_csv(tmp_path / "records.csv", 100, "460001,âgée,3\n460001,âgêe,3\n", "latin-1")
    assert is_a_sentence(profile(path, reader), "“sex”", "UTF-8", "ISO-8859-1")


@READERS
def test_csv_with_values_of_several_lines(profile, tmp_path, reader):
    """Quotation marks as they should be do no harm, nor blank lines."""
    path = write_csv(tmp_path / "records.csv", N, '460001,"F\nor ""f"",\nyes",3\n\n\n460001,"M",3\n')
    done = profile(path, reader)
    assert done["records"] == N + 2


@pytest.mark.parametrize("write", [write_geopackage, write_csv])
def test_one_long_text_does_not_fill_the_memory(profile, tmp_path, write):
    path = write(tmp_path / f"records.{'gpkg' if write is write_geopackage else 'csv'}")
    without = profile(path)["megabytes"]
    text = "x" * 100_000
    if write is write_csv:
        write_csv(path, N, f"460001,{text},3\n")
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("update records set sex = ? where fid = 500", (text,))
            connection.commit()
    done = profile(path)
    assert done["records"] in (N, N + 1)
    assert done["megabytes"] < without + 300


@READERS
def test_empty_flatgeobuf(profile, tmp_path, reader):
    path = tmp_path / "records.fgb"
    dataset = ogr.GetDriverByName("FlatGeobuf").CreateDataSource(str(path))
    layer = dataset.CreateLayer("records", geom_type=ogr.wkbPoint)
    for name, kind in (("home", ogr.OFTString), ("sex", ogr.OFTString), ("age", ogr.OFTInteger)):
        layer.CreateField(ogr.FieldDefn(name, kind))
    layer = dataset = None
    assert is_a_sentence(profile(path, reader), "Records (RECORDS) is empty")


@READERS
def test_flatgeobuf_cut_in_half(profile, tmp_path, reader):
    path = tmp_path / "records.fgb"
    dataset = ogr.GetDriverByName("FlatGeobuf").CreateDataSource(str(path))
    layer = dataset.CreateLayer("records", geom_type=ogr.wkbPoint, options=["SPATIAL_INDEX=NO"])
    for name, kind in (("home", ogr.OFTString), ("sex", ogr.OFTString), ("age", ogr.OFTInteger)):
        layer.CreateField(ogr.FieldDefn(name, kind))
    for home, sex, age in rows(2000):
        feature = ogr.Feature(layer.GetLayerDefn())
        feature["home"], feature["sex"], feature["age"] = home, sex, age
        feature.SetGeometry(ogr.CreateGeometryFromWkt("POINT (1 2)"))
        layer.CreateFeature(feature)
    layer = dataset = None
    assert profile(path, reader)["records"] == 2000
    os.truncate(path, path.stat().st_size // 2)
    assert is_a_sentence(profile(path, reader), "RECORDS")


def test_an_idle_write_ahead_log_leaves_nothing_behind(tmp_path):
    """Reading makes no files beside a GeoPackage that works with a write-ahead log."""
    from vbas.core.records.sqlite_columns import read_table

    path = write_geopackage(tmp_path / "records.gpkg", 100)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("update records set age = 0 where fid = 1")
        connection.commit()
    before = sorted(tmp_path.iterdir())
    assert len(read_table(path, "records", {"sex": "text"}, "RECORDS", lambda _: None)["sex"]) == 100
    assert sorted(tmp_path.iterdir()) == before


def test_reading_waits_a_moment_for_a_lock(profile, geopackage):
    """A program that is just writing is waited for, some seconds."""
    with closing(sqlite3.connect(geopackage, isolation_level=None, check_same_thread=False)) as writer:
        writer.execute("begin exclusive")
        started = time.monotonic()
        threading.Timer(3.0, lambda: writer.execute("commit")).start()
        assert profile(geopackage)["records"] == N
        assert time.monotonic() - started > 3.0
