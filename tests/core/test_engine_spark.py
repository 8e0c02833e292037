"""Records in Spark: the same profile and release as of the arrays, and no fault leaves anything behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import nullcontext
from datetime import date, datetime, timezone
from decimal import Decimal
from itertools import product
from pathlib import Path

import pytest

from vbas.core.engines import open_engine, releasing
from vbas.core.engines.engine import EngineError
from vbas.core.engines.profiling import count_in_place, match_in_place
from vbas.core.errors import Cancelled, InputError, OutcomeUnknown, PrivacyError
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.records.fields import RecordFields
from vbas.core.release import apply

from .. import spark_cluster
from ..engines_there import needed
from ..exploring import EXPLORES, tried
from ..line import Line
from ..patience import PATIENCE
from . import engine_cases as cases
from .engine_cases import (
    QUASI,
    K,
    areas,
    in_memory,
    one_level,
    people,
    release_in_place,
    rows_of,
    same_profile,
    two_levels,
)

pytestmark = pytest.mark.slow

pq = needed("pyarrow.parquet")
for package in ("ibis", "pyspark", "grpc"):
    needed(package)
PySparkException = needed("pyspark.errors").PySparkException
spark_destinations = needed("vbas.core.engines.spark_destinations")
spark_session = needed("vbas.core.engines.spark_session")
spark_failures = needed("vbas.core.engines.spark_failures")

FIELDS = RecordFields("area", QUASI, ("diagnosis",))
FEW = RecordFields("area", ("sex",))
SECRET = "hunter2"
SLEEPING = "SELECT reflect('java.lang.Thread', 'sleep', 1000L) FROM range(0, 8, 1, 2)"


@pytest.fixture
def folder(tmp_path):
    """A folder of two Parquet files with the people, whose name is hard to write."""
    columns, half = people(), 700
    (place := tmp_path / "the people é").mkdir()
    for i, part in enumerate((slice(half), slice(half, None))):
        cases.write_parquet({name: values[part] for name, values in columns.items()}, place / f"{i}.parquet")
    return place


def plan_of(profile, nested=False):
    return nest(areas(), profile, two_levels(), K) if nested else suppress(profile, one_level().crosswalks[0], K)


def run(address, table, destination, fields=FIELDS, nested=False, between=lambda: None, **options):
    with open_engine(address, str(table), **options) as engine:
        matched = match_in_place(count_in_place(engine, fields), areas(), k=K)
        between()
        return matched, release_in_place(matched, plan_of(matched.profile, nested), str(destination), nested)


def is_that_of_the_arrays(matched, rows, nested):
    records = in_memory(people())
    assert same_profile(matched.profile, records.profile)
    plan = plan_of(records.profile, nested)
    assert Counter(rows) == rows_of(apply(plan, records), plan.levels, nested)
    assert len(rows) > 1000


def left(tmp_path):
    """What is in a folder but the people."""
    return sorted(path.name for path in tmp_path.iterdir() if path.name != "the people é")


def tables(spark):
    """The names of all tables and views of the cluster."""
    return [row.tableName for row in spark.session.sql("SHOW TABLES").collect()]


def test_a_folder_is_released_as_a_folder_by_a_driver(spark, folder, tmp_path):
    matched, done = run(spark.driver, folder, tmp_path / "re leased", nested=True)
    rows = [tuple(row.values()) for row in pq.read_table(done.place).to_pylist()]
    is_that_of_the_arrays(matched, rows, True)
    assert left(tmp_path) == ["re leased"]
    assert not spark.session.sparkContext._jsc.getPersistentRDDs()
    for part in Path(done.place).glob("*.parquet"):
        places = [tuple(row.values())[:2] for row in pq.read_table(part).to_pylist()]
        assert places == sorted(places)


@pytest.mark.parametrize(
    ("way", "nested"),
    tried([("driver", True), ("connect", False)], list(product(["driver", "connect"], [False, True]))),
)
def test_a_release_that_shows_no_row_is_a_folder_without_rows(spark, folder, tmp_path, way, nested):
    with open_engine(getattr(spark, way), str(folder)) as engine:
        matched = match_in_place(count_in_place(engine, FIELDS), areas(), k=900)
        levels = two_levels()
        plan = (
            nest(areas(), matched.profile, levels, 900)
            if nested
            else suppress(matched.profile, one_level().crosswalks[0], 900)
        )
        done = release_in_place(matched, plan, str(tmp_path / "released"), nested)
    assert not plan.n_released and pq.read_table(done.place).num_rows == 0
    assert left(tmp_path) == ["released"]


def test_the_area_in_some_rows_is_refused(spark, tmp_path):
    (place := tmp_path / "coded").mkdir()
    cases.write_parquet(cases.with_codes(people()), place / "0.parquet")
    with pytest.raises(InputError, match="“code” stands for the area"):
        run(spark.driver, place, tmp_path / "released", RecordFields("area", ("sex", "age"), ("code",)))
    assert left(tmp_path) == ["coded"]


@pytest.mark.parametrize(
    "several", tried([cases.NAMES[::2]], [cases.NAMES[::2], cases.NAMES[1::2]]), ids=lambda several: several[0][0]
)
def test_fields_may_be_called_as_the_engine_calls_its_own(spark, tmp_path, several):
    """Several such people in one table, side by side: a run takes seconds."""
    columns = {name: values for names in several for name, values in cases.renamed(people(), names).items()}
    quasi, kept = tuple(name for names in several for name in names[:3]), tuple(names[3] for names in several)
    assert len({*quasi, *kept}) == 4 * len(several)
    (tmp_path / "people").mkdir()
    cases.write_parquet(columns, tmp_path / "people" / "0.parquet")
    fields = RecordFields("area", quasi, kept)
    matched, done = run(spark.driver, tmp_path / "people", tmp_path / "released", fields)
    records = in_memory(columns, kept, quasi)
    assert same_profile(matched.profile, records.profile)
    plan = plan_of(records.profile)
    rows = [tuple(row.values()) for row in pq.read_table(done.place).to_pylist()]
    assert Counter(rows) == rows_of(apply(plan, records), plan.levels, False)


def test_a_destination_that_cannot_be_is_refused_before_any_work(spark, folder, tmp_path):
    with open_engine(spark.driver, str(folder)) as engine:
        for name, words in (
            (f"{tmp_path}/a|b", "would not be read back"),
            (f"{tmp_path}/a\nb/", "would not be read back"),
            (f"{tmp_path}/a:b", "would not be read back"),
            (f"file://{tmp_path}/nul", "keeps it for a device"),
            (f"{tmp_path}/{'x' * 256}", "has 256 bytes"),
            ("default.a|b", "would not be read back"),
            ("a\nb", "would not be read back"),
        ):
            with pytest.raises(InputError, match=f"^DESTINATION.*{words}"):
                engine.check_free(name)
        engine.check_free(f"file://{tmp_path}/released")
    assert left(tmp_path) == []


def test_a_table_is_released_as_a_table_over_connect(spark, folder, monkeypatch, capfd):
    """A token that stands in the environment is shown nowhere."""
    monkeypatch.setenv("SPARK_CONNECT_AUTHENTICATE_TOKEN", SECRET)
    spark.session.read.parquet(str(folder)).write.saveAsTable("people")
    try:
        matched, done = run(spark.connect, "people", "Released", schema="default")
        assert done.place == "default.Released"
        is_that_of_the_arrays(matched, [tuple(row) for row in spark.session.table("released").collect()], False)
        names = set(tables(spark))
        assert names == {"people", "released"}
        with pytest.raises(InputError, match="is there already"):
            run(spark.connect, "people", "released", FEW)
        with pytest.raises(InputError, match="there is no such table") as error:
            run(spark.connect, "peple", "other", FEW)
        assert SECRET not in "".join([str(error.value), str(error.value.__cause__), *capfd.readouterr()])
    finally:
        for name in ("people", "released"):
            spark.session.sql(f"DROP TABLE IF EXISTS {name}")


def test_values_are_told_apart_as_they_are_shown(spark, tmp_path):
    """Folders named 007 are no number, a collation makes no two texts one, and -0.0 is 0.0."""
    (tmp_path / "area=00").mkdir()
    columns = {
        "town": ["Ham", "ham", "Ham ", "ham"],
        "size": [0.0, -0.0, float("nan"), None],
        "when": [b"\xff", b"\xfe", b"\xff", None],
    }
    cases.write_parquet(columns, tmp_path / "area=00" / "1.parquet")
    spark.session.sql(
        f"CREATE VIEW towns AS SELECT area, town COLLATE UTF8_LCASE AS town, size, when FROM parquet.`{tmp_path}`"
    )
    try:
        with open_engine(spark.driver, str(tmp_path)) as engine:
            in_place = count_in_place(engine, RecordFields("area", ("size", "when")))
            assert in_place.areas.tolist() == ["00", None]
            assert [repr(value) for value in in_place.categories[0]] == ["0.0", "None"]
            assert in_place.categories[1].tolist() == ["FE", "FF", None]
        with open_engine(spark.driver, "towns") as engine:
            town = count_in_place(engine, RecordFields("area", ("town",)))
            assert town.categories[0].tolist() == ["Ham", "Ham ", "ham"]
    finally:
        spark.session.sql("DROP VIEW towns")


def test_values_are_written_as_what_they_were(spark, tmp_path):
    """They travel as codes: a type that comes back as another, or a text as another text, would be seen here."""
    arrow = needed("pyarrow")
    moment, utc = datetime(2020, 1, 2, 3, 4, 5, 678), datetime(1999, 7, 1, tzinfo=timezone.utc)
    rows = arrow.table(
        {
            "area": ["00"] * 8,
            "day": arrow.array([None, date(1066, 10, 14)] * 4, arrow.date32()),
            "moment": arrow.array([None, moment] * 4, arrow.timestamp("us")),
            "utc": arrow.array([utc, None] * 4, arrow.timestamp("us", tz="UTC")),
            "size": arrow.array([Decimal("1.50"), Decimal("2.00")] * 4, arrow.decimal128(10, 2)),
            "yes": [True, None] * 4,
            "small": arrow.array([1, 2] * 4, arrow.int16()),
            "real": arrow.array([0.5, -1.25] * 4, arrow.float32()),
            "text": ["\n\"'\\x", ""] * 4,
            "none": arrow.array([None] * 8, arrow.string()),
        }
    )
    (tmp_path / "in").mkdir()
    pq.write_table(rows, tmp_path / "in" / "1.parquet")
    fields = RecordFields("area", tuple(rows.column_names[1:]))
    _, done = run(spark.driver, tmp_path / "in", tmp_path / "out", fields)
    written = pq.read_table(done.place)
    for name in fields.quasi_identifiers:
        assert written[name].type == rows[name].type
        assert Counter(written[name].to_pylist()) == Counter(rows[name].to_pylist())


def test_a_field_of_very_many_values_is_written(spark, tmp_path):
    """Its list of values is no part of the SQL, which would take minutes to read."""
    n = tried(15_000, 60_000)
    columns = {"area": ["00"] * 2 * n, "number": [f"number {i % n}" for i in range(2 * n)], "sex": ["F"] * 2 * n}
    (tmp_path / "in").mkdir()
    cases.write_parquet(columns, tmp_path / "in" / "1.parquet")
    with open_engine(spark.driver, str(tmp_path / "in")) as engine:
        in_place = count_in_place(engine, RecordFields("area", ("number", "sex")))
        matched = match_in_place(in_place, areas(), k=2)
        plan = suppress(matched.profile, one_level().crosswalks[0], 2)
        done = release_in_place(matched, plan, str(tmp_path / "out"))
    written = pq.read_table(done.place, columns=["number"])
    assert Counter(Counter(written["number"].to_pylist()).values()) == {2: n}


def test_values_get_into_no_message_and_no_log(spark, tmp_path, capfd):
    columns = {"area": cases.AREAS, "sex": ["F"] * 6, "records": ["1", SECRET, "1", "1", "1", "1"]}
    (tmp_path / "in").mkdir()
    cases.write_parquet(columns, tmp_path / "in" / "1.parquet")
    with pytest.raises(InputError, match=r"“records” holds text, .*CAST_INVALID_INPUT") as error:
        run(spark.driver, tmp_path / "in", tmp_path / "out", RecordFields("area", ("sex",), count="records"))
    told = [str(error.value), str(error.value.__cause__), str(error.value.__context__), *capfd.readouterr()]
    assert SECRET not in "".join(told)
    assert left(tmp_path) == ["in"]


def test_records_that_change_or_vanish_in_between_are_refused(spark, folder, tmp_path, monkeypatch):
    kept = tmp_path.parent / f"{tmp_path.name} kept"
    shutil.copytree(folder, kept)
    with pytest.raises(EngineError, match="changed while they were being worked on"):
        # Another file is seen by nothing but the look at the files.
        run(
            spark.driver,
            folder,
            tmp_path / "out",
            between=lambda: shutil.copy(folder / "0.parquet", folder / "2.parquet"),
        )
    (folder / "2.parquet").unlink()
    with pytest.raises(EngineError, match=r"gone|changed"):
        run(spark.driver, folder, tmp_path / "out", FEW, between=lambda: (folder / "1.parquet").unlink())
    shutil.copy(kept / "1.parquet", folder)
    foretold = releasing.foretold
    monkeypatch.setattr(releasing, "foretold", lambda plan: {**foretold(plan), 9: releasing.LevelCount(1, 1, 5)})
    with pytest.raises(Exception, match="foretold"):
        run(spark.driver, folder, tmp_path / "out", FEW)
    assert left(tmp_path) == []


@pytest.mark.parametrize("way", ["driver", "connect"])
def test_files_that_hold_a_field_in_several_types_are_said(spark, folder, way):
    columns = people()
    cases.write_parquet({**columns, "sex": [1.5] * len(columns["sex"])}, folder / "2.parquet")
    with pytest.raises(EngineError, match="a field has one type in one file, another in another"):
        run(getattr(spark, way), folder, "never", FEW)


@pytest.mark.parametrize("way", ["driver", "connect"])
def test_a_table_that_is_dropped_in_between_is_said(spark, folder, way):
    """Between the profile and the release: one sentence, and no table of ours is left."""
    spark.session.read.parquet(str(folder)).write.saveAsTable("leaving")
    try:
        with pytest.raises(EngineError, match=r"(gone|changed|42P01|no such table)[^\n]*\.$") as error:
            run(
                getattr(spark, way),
                "leaving",
                "never",
                FEW,
                between=lambda: spark.session.sql("DROP TABLE leaving PURGE"),
            )
        assert "\n" not in str(error.value)
        assert not tables(spark)
    finally:
        for name in ("leaving", "never"):
            spark.session.sql(f"DROP TABLE IF EXISTS {name}")


def test_a_destination_is_never_replaced(spark, folder, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    with pytest.raises(InputError, match="is there already"):
        run(spark.driver, folder, tmp_path / "mine", FEW)
    with pytest.raises(InputError, match="sees no folder"):
        run(spark.connect, folder, tmp_path / "none" / "out", FEW)
    with pytest.raises(InputError, match="both see"):
        run(spark.connect, folder, "hdfs://elsewhere/out", FEW)
    monkeypatch.setattr(releasing, "_check_agreement", lambda *_: (tmp_path / "late").mkdir())
    with pytest.raises(EngineError, match="was made meanwhile"):
        run(spark.connect, folder, tmp_path / "late", FEW)
    assert left(tmp_path) == ["late", "mine"]
    assert not list((tmp_path / "late").iterdir())


@pytest.mark.parametrize("way", ["driver", "connect"])
def test_cancelling_interrupts_the_cluster(spark, folder, way):
    from vbas.core.engines.spark import Spark

    finished = []

    def progress(fraction):
        raise Cancelled("stopped")

    with pytest.raises(Cancelled), open_engine(getattr(spark, way), str(folder)) as engine:
        assert isinstance(engine, Spark)
        engine._progress = progress
        engine._guarded(lambda: finished.append(engine._session.sql(SLEEPING).collect()))
    assert not finished


def test_a_full_disk_leaves_nothing(spark, folder, tmp_path):
    (tmp_path / "small").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(tmp_path / "small")]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk can be made by root alone")
    try:
        with pytest.raises(EngineError, match=r"the disk is full: nothing was written"):
            run(spark.driver, folder, tmp_path / "small" / "out")
        assert not list((tmp_path / "small").iterdir())
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path / "small")], check=True)


def test_rights_that_are_missing_are_said(spark, folder):
    """No user may make a folder there, not even root."""
    with pytest.raises(EngineError, match="Spark: permission denied: nothing was written"):
        run(spark.driver, folder, "/proc/self/out", FEW)


@pytest.mark.parametrize("kind", ["table", "folder"])
def test_a_connection_that_is_lost_in_mid_write_is_said_with_what_may_be_left(
    spark, folder, tmp_path, monkeypatch, kind
):
    """The cluster goes on, and nobody can tell it to stop."""
    place = spark_destinations.CatalogueTable if kind == "table" else spark_destinations.Folder
    write, staged = place.write, []
    monkeypatch.setattr(spark_session, "RETRIES", 1)
    # The cluster begins to write, and the line is lost with the first that it says of it.
    with Line(int(spark.connect.rsplit(":", 1)[1]), cut_at=b"java.lang.Thread") as line:

        def cut(self, rows):
            staged.append(str(self))
            write(self, rows.where("coalesce(reflect('java.lang.Thread', 'sleep', 2L), '') IS NOT NULL"))

        monkeypatch.setattr(place, "write", cut)
        destination = "lost" if kind == "table" else str(tmp_path / "lost")
        started = time.monotonic()
        with pytest.raises(EngineError) as error:
            run(f"sc://127.0.0.1:{line.port}", folder, destination, FEW)
        assert line.was_cut and time.monotonic() - started < 60
    assert str(error.value) == (
        f"Spark: the connection to “sc://127.0.0.1:{line.port}” was lost. “{destination}” was not made, but what was "
        f"written for it may still be there as “{staged[0]}”, which has passed no second count: remove it."
    )
    assert set(left(tmp_path)) <= {Path(staged[0]).name}  # by now, or not yet
    if kind == "table":
        until = time.monotonic() + PATIENCE
        while staged != tables(spark) and time.monotonic() < until:
            time.sleep(0.1)
        spark.session.sql(f"DROP TABLE IF EXISTS {staged[0]} PURGE")


def test_a_connection_that_is_lost_at_the_last_step_is_said(spark, folder, monkeypatch):
    rename, staged = spark_destinations.CatalogueTable.rename, []
    monkeypatch.setattr(spark_session, "RETRIES", 1)
    with Line(int(spark.connect.rsplit(":", 1)[1])) as line:

        def cut(self, final):
            rename(self, final)
            staged.append(str(self))
            line.cut()
            self.check_free()

        monkeypatch.setattr(spark_destinations.CatalogueTable, "rename", cut)
        with pytest.raises(OutcomeUnknown) as error:
            run(f"sc://127.0.0.1:{line.port}", folder, "last", FEW)
    assert "was lost at the last step. Look for “last”: if it is there, it is whole" in str(error.value)
    assert str(error.value).endswith(f"if not, remove “{staged[0]}”.")
    assert tables(spark) == ["last"]
    spark.session.sql("DROP TABLE last PURGE")


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("cancelled", [True, False])
def test_a_last_step_that_was_done_is_never_said_not_to_be(spark, folder, tmp_path, monkeypatch, known, cancelled):
    """A catalogue that answers too late, and a Cancel in between: what is there is looked at, if it can be."""
    rename, done = spark_destinations.FolderThere.rename, []

    def late(self, final):
        rename(self, final)
        done.append(True)
        time.sleep(0.5)
        raise PySparkException("Read timed out")

    def silent(self):
        if done:
            raise PySparkException("Read timed out")
        return there(self)

    def progress(fraction):
        if done and cancelled:
            raise Cancelled("stopped")

    there = spark_destinations.FolderThere.there
    monkeypatch.setattr(spark_destinations.FolderThere, "rename", late)
    if not known:
        monkeypatch.setattr(spark_destinations.FolderThere, "there", silent)
    out = tmp_path / "out"
    with nullcontext() if known else pytest.raises(OutcomeUnknown, match=r"at the last step\. Look for “"):
        run(spark.driver, folder, out, FEW, progress=progress)
    assert left(tmp_path) == ["out"]


def test_a_folder_that_may_be_there_in_part_is_said(spark, folder, tmp_path, monkeypatch):
    """Stores of objects copy where others rename."""
    there = spark_destinations.FolderThere.there
    seen: list[int] = []

    def there_from_the_second_time_on(self):
        if not seen:
            seen.append(1)
            return None
        return there(self)

    def begun(*given):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "part").write_text("rows")
        monkeypatch.setattr(spark_destinations.FolderThere, "there", there_from_the_second_time_on)

    monkeypatch.setattr(releasing, "_check_agreement", begun)
    with pytest.raises(OutcomeUnknown, match=r"out” may hold a part of the release, .*: remove it"):
        run(spark.driver, folder, tmp_path / "out", FEW)
    assert left(tmp_path) == ["out"]


def test_a_folder_that_cannot_be_removed_is_named(spark, folder, tmp_path, monkeypatch):
    """That of a cluster that writes as another user, whose files this one cannot remove."""

    def differs(*given):
        raise PrivacyError("The second count differs.")

    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    monkeypatch.setattr(releasing, "_check_agreement", differs)
    with pytest.raises(
        EngineError, match=r"^The second count differs\. .*/out” was not made, but .* remove it\.$"
    ) as error:
        run(spark.connect, folder, tmp_path / "out", FEW)
    (staged,) = left(tmp_path)
    assert f"{staged}”" in str(error.value)


def test_what_cannot_be_removed_is_said_with_what_ended_the_work(spark, folder, monkeypatch):
    """A second count that differs, and a cluster that lets nobody drop a table."""

    def forbidden(self):
        spark.session.sql("SELECT raise_error('permission denied')").collect()

    def differs(*given):
        raise PrivacyError("The second count differs.")

    monkeypatch.setattr(spark_destinations.CatalogueTable, "remove", forbidden)
    monkeypatch.setattr(releasing, "_check_agreement", differs)
    with pytest.raises(EngineError, match=r"^The second count differs\. “never” was not made, but .* remove it\.$"):
        run(spark.driver, folder, "never", FEW)
    (staged,) = tables(spark)
    spark.session.sql(f"DROP TABLE {staged} PURGE")


@pytest.mark.parametrize("error", [ConnectionRefusedError("Connection refused"), ConnectionResetError("reset")])
def test_a_driver_of_this_machine_that_does_not_answer_any_more_was_ended(error):
    """As it is killed: where a line was to be opened, once in many runs."""
    said = "the driver was ended"
    assert str(spark_failures.sentence(error, "local[1]")) == f"Spark: {said}: nothing was written."
    assert spark_failures.lost(error, "local[1]") == said


@pytest.mark.skipif(not EXPLORES, reason="a driver of its own takes half a minute: VBAS_EXPLORE=1 starts it")
def test_a_driver_that_is_killed_in_mid_write_leaves_nothing(folder, tmp_path):
    code = f"""
from vbas.core.engines import open_engine
from vbas.tests.core.test_engine_spark import FEW, areas, count_in_place, match_in_place, plan_of, release_in_place
from pyspark import SparkContext
from vbas.core.engines.spark_destinations import FolderThere
write = FolderThere.write
def killed(self, rows):
    write(self, rows)
    SparkContext._gateway.proc.kill()
    self.read()
FolderThere.write = killed
try:
    with open_engine("local[1]", {str(folder)!r}) as engine:
        matched = match_in_place(count_in_place(engine, FEW), areas())
        java = SparkContext._gateway.proc
        release_in_place(matched, plan_of(matched.profile), {str(tmp_path / "out")!r})
except Exception as error:
    print(type(error).__name__, error)
print(java.poll() is not None)
"""
    quick = {"spark.sql.shuffle.partitions": 1, "spark.driver.extraJavaOptions": spark_cluster.QUICK}
    (settings := tmp_path.parent / f"{tmp_path.name} settings").mkdir()
    (settings / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in quick.items()))
    environment = {**os.environ, "SPARK_CONF_DIR": str(settings)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert done.stdout == "EngineError Spark: the driver was ended: nothing was written.\nTrue\n", done.stderr
    assert left(tmp_path) == []


@pytest.mark.parametrize("address", ["sc://127.0.0.1:1", "spark://127.0.0.1:1", "sc://127.0.0.1:1/;use_ssl=true"])
def test_a_cluster_that_is_not_there_is_said_at_once(address, monkeypatch):
    monkeypatch.setenv("SPARK_CONNECT_AUTHENTICATE_TOKEN", SECRET)
    with pytest.raises(EngineError, match="Spark cannot be reached at") as error:
        open_engine(address, "people")
    assert SECRET not in f"{error.value} {error.value.__cause__} {error.value.__context__}"


def test_what_is_missing_is_said():
    with pytest.raises(InputError, match="TABLE is empty"):
        open_engine("local[1]")
    with pytest.raises(InputError, match="SCHEMA is for tables"):
        open_engine("local[1]", "/data/people", "public")
