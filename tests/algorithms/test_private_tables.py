"""Tables of PostgreSQL that are written: who reads them meanwhile, what a kill leaves, what a replaced one keeps."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from qgis.core import QgsProcessingException

from vbas.algorithms.layers.database_tables import parsing, postgres
from vbas.algorithms.layers.delivery import outputs
from vbas.core.engines import postgres_tables
from vbas.core.errors import PrivacyError
from vbas.core.publish.sqlite_targets import other_tables

from ..engines_there import needed

ROOT = Path(__file__).parents[2]
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"
ROLES = ("reader", "owner", "other")


@pytest.fixture
def readers(sql):
    """What the schema gives others by itself: “reader” reads every table that is made."""
    for role in ROLES:
        sql(f"DO $$ BEGIN CREATE ROLE {role} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    sql("GRANT USAGE ON SCHEMA public TO reader, owner, other")
    sql("ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO reader")
    sql("ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON SEQUENCES TO reader")


@pytest.fixture
def place(server):
    return f'postgres://{server} table="public"."released"'


class Reader:
    """Reads whatever the database lets “reader” read, again and again, over a connection of its own."""

    def __init__(self, server):
        parts = dict(part.split("=", 1) for part in server.replace("'", "").split())
        self._address = f"postgresql://reader@{parts['host']}:{parts['port']}/{parts['dbname']}"
        self.seen, self.looks, self._ended = {}, 0, threading.Event()

    def look(self):
        """By table (or sequence) of ours the most rows that could be read; None for one that could not be read."""
        dbapi = needed("adbc_driver_postgresql.dbapi")
        found = {}
        with dbapi.connect(self._address, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT relname, relkind::text FROM pg_class WHERE relnamespace = 'public'::regnamespace")
            for name, kind in [row for row in cursor.fetchall() if row[1] in "rS"]:
                try:
                    what = "last_value" if kind == "S" else "count(*)"
                    cursor.execute(f'SELECT {what} FROM "{name}"')
                    found[name] = cursor.fetchone()[0]
                except Exception:
                    found[name] = None
        return found

    def __enter__(self):
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self._thread.join(60)

    @property
    def is_looking(self):
        return self._thread.is_alive()

    def _poll(self):
        while not self._ended.is_set():
            for name, rows in self.look().items():
                self.seen[name] = max(self.seen.get(name) or 0, rows or 0)
            self.looks += 1


def written_aside(seen):
    return {name: rows for name, rows in seen.items() if name.startswith("vbas_")}


@pytest.mark.slow
@pytest.mark.parametrize("fails", [False, True])
def test_nobody_reads_a_row_before_it_is_counted(anonymize, server, place, sql, readers, monkeypatch, fails):
    reader, at_the_count, until_then, check = Reader(server), {}, {}, outputs.check_layer

    def looked_at_first(*given):
        at_the_count.update(reader.look())
        enough = reader.looks + 5  # so that the reader has looked meanwhile
        while reader.looks < enough:
            assert reader.is_looking
            time.sleep(0.01)
        until_then.update(reader.seen)
        check(*given)
        if fails:
            raise PrivacyError("The second count differs.")

    monkeypatch.setattr(outputs, "check_layer", looked_at_first)
    with reader:
        if fails:
            with pytest.raises(QgsProcessingException, match="second count differs"):
                anonymize(RELEASED_RECORDS=place)
        else:
            done = anonymize(RELEASED_RECORDS=place)
    aside = written_aside(at_the_count)
    assert len(aside) == 2  # the table, and the sequence that numbers its rows
    assert set(aside.values()) == {None}
    # Before it is closed it is empty; the sequence then stands at its first number. When all is counted and others may
    # read it, the sequence gets its name a moment after the table.
    assert all(rows <= (1 if name.endswith("seq") else 0) for name, rows in written_aside(until_then).items())
    assert not any(rows for name, rows in written_aside(reader.seen).items() if not name.endswith("seq"))
    if fails:
        assert written_aside(reader.seen) == written_aside(until_then)
    there = reader.look()
    if fails:
        assert there == {}
    else:
        assert there["released"] == done.results["N_RECORDS"] - done.results["N_SUPPRESSED"]
        assert there["released_id_seq"] == there["released"]
        assert sql("SELECT obj_description('released'::regclass)") == [[None]]
        assert sql("SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'released'::regclass") == [
            ["released_pkey"]
        ]


@pytest.mark.slow
def test_nobody_holds_the_empty_table_open(anonymize, server, place, sql, readers, monkeypatch):
    """Who has it open when it is closed to others must ask for it anew: until then nothing is written."""
    dbapi, close = needed("adbc_driver_postgresql.dbapi"), postgres.PostgresPlace.close_to_others
    monkeypatch.setattr(postgres_tables, "PATIENCE", "SET LOCAL lock_timeout = '1s'")
    with dbapi.connect(Reader(server)._address) as connection, connection.cursor() as cursor:

        def opened_first(self):
            cursor.execute(f'SELECT count(*) FROM "{self.new}"')
            cursor.fetchall()
            close(self)

        monkeypatch.setattr(postgres.PostgresPlace, "close_to_others", opened_first)
        with pytest.raises(QgsProcessingException, match="lock timeout") as error:
            anonymize(RELEASED_RECORDS=place)
        connection.rollback()
    ((left,),) = sql(TABLES)  # it could not be dropped either, is named, and has no row
    assert left in " ".join(error.value.said)
    assert sql(f'SELECT count(*) FROM "{left}"') == [[0]]


def test_a_table_that_cannot_be_closed_is_not_written(anonymize, place, sql, readers):
    """Somebody's trigger gives every new table to all, a superuser's right that no owner can take back."""
    sql("GRANT CREATE ON SCHEMA public TO other")
    sql(
        "CREATE FUNCTION given() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE one record; BEGIN "
        "FOR one IN SELECT objid FROM pg_event_trigger_ddl_commands() WHERE command_tag = 'COMMENT' LOOP "
        "EXECUTE format('GRANT SELECT ON %s TO reader', one.objid::regclass); END LOOP; END $$"
    )
    sql("CREATE EVENT TRIGGER given ON ddl_command_end WHEN TAG IN ('COMMENT') EXECUTE FUNCTION given()")
    try:
        with pytest.raises(QgsProcessingException, match="“reader” may read the table while it is written"):
            anonymize(RELEASED_RECORDS=place)
    finally:
        sql("DROP EVENT TRIGGER given")
    assert sql(TABLES) == []


# QGIS is loaded once: each line asks for a copy of the process, which is killed in the midst of its run.
KILLED = """
import os, sys
from qgis.core import QgsApplication, QgsProcessingContext, QgsProcessingFeedback
application = QgsApplication([], False)
application.initQgis()
from tests.algorithms.conftest import make_grid
from vbas.algorithms.layers.database_tables import postgres, sqlite
from vbas.algorithms.layers.delivery import outputs
from vbas.vbas_plugin.provider import VbasProvider
provider = VbasProvider()
QgsApplication.processingRegistry().addProvider(provider)

def kill(*_):
    os.kill(os.getpid(), 9)

def run(where, place):
    kind = postgres.PostgresPlace if place.startswith("postgres") else sqlite.SqlitePlace
    if where == "made":
        kind.close_to_others = kill
    elif where == "written":
        outputs.check_layer = kill
    else:
        kind.check = kill
    areas, records = make_grid()
    given = {"REGIONS": areas, "REGION_ID": "da", "RECORDS": records, "RECORD_REGION": "home",
             "QUASI_IDENTIFIERS": ["sex", "age"], "RELEASED_RECORDS": place}
    QgsApplication.processingRegistry().algorithmById("vbas:anonymize").create().run(
        given, QgsProcessingContext(), QgsProcessingFeedback(False), {}, False)

for line in sys.stdin:
    copy = os.fork()
    if not copy:
        try:
            run(*line.rstrip().split(" ", 1))
        finally:
            os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), file=sys.stderr, flush=True)
"""


@pytest.fixture(scope="module")
def killed():
    """killed(where, place): how a run ended that was to be killed there."""
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'build/package'}", "QT_QPA_PLATFORM": "offscreen", "PATH": "/usr/bin"}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:

        def end_of(where, place):
            assert process.stderr is not None
            print(where, place, file=process.stdin, flush=True)
            return next(int(line) for line in process.stderr if line.strip().lstrip("-").isdigit())

        yield end_of
        process.communicate(timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("replaces", [True, False])
@pytest.mark.parametrize("where", ["made", "written", "put"])
def test_what_a_killed_run_leaves_nobody_reads_and_the_next_run_clears(
    anonymize, server, place, sql, readers, killed, monkeypatch, where, replaces
):
    if replaces:
        sql("CREATE TABLE released (a int)")
        sql("INSERT INTO released VALUES (7)")
        sql("COMMENT ON TABLE released IS 'of last year'")
    assert killed(where, place) == -9
    reader = Reader(server)
    left = {name: rows for name, rows in reader.look().items() if name != "released" or not replaces or where == "put"}
    if where == "made":
        assert len(left) == 2 and set(left.values()) <= {0, 1}  # open as the schema makes it, and empty
    else:
        new = {name: rows for name, rows in left.items() if not name.startswith("vbas_old_")}
        assert len(new) == 2 and set(new.values()) == {None}
    if replaces and where == "put":
        assert {rows for name, rows in left.items() if name.startswith("vbas_old_")} == {1}
    # A run to another table of the schema names it and touches nothing.
    before = sql(TABLES)
    if where != "put" or replaces:
        other = anonymize(RELEASED_RECORDS=place.replace("released", "elsewhere"))
        assert [one for one in other.log if "of a run of VBAS that was ended before its end" in one]
        assert [one for one in sql(TABLES) if one != ["elsewhere"]] == before
    # One to the same clears it, though it fails itself.
    check = outputs.check_layer

    def differs(*_):
        raise PrivacyError("The second count differs.")

    monkeypatch.setattr(outputs, "check_layer", differs)
    with pytest.raises(QgsProcessingException, match="second count differs") as error:
        anonymize(RELEASED_RECORDS=place)
    monkeypatch.setattr(outputs, "check_layer", check)
    told = [one for one in error.value.said if "ended before its end" in one]
    now = [name for (name,) in sql(TABLES) if name != "elsewhere"]
    if replaces:
        assert len(told) == 1
        assert now == ["released"]
        assert sql("SELECT a FROM released") == [[7]]
        assert reader.look()["released"] == 1
        assert sql("SELECT obj_description('released'::regclass)") == [["of last year"]]
    elif where == "put":  # counted, and new: it stays, and is opened by the run that replaces it
        assert now == ["released"]
    else:
        assert len(told) == 1
        assert now == []
    done = anonymize(RELEASED_RECORDS=place)
    assert reader.look()["released"] == done.results["N_RECORDS"] - done.results["N_SUPPRESSED"]


@pytest.mark.slow
@pytest.mark.parametrize("where", ["written", "put"])
def test_what_a_killed_run_leaves_in_a_geopackage_is_cleared_or_named(anonymize, killed, tmp_path, where):
    """Who may read the file may read it until then."""
    file = tmp_path / "all.gpkg"
    place = f"ogr:dbname='{file}' table=\"released\""
    anonymize(CROSSWALK=str(file))
    anonymize(RELEASED_RECORDS=place)
    assert killed(where, place) == -9
    (left,) = [name for name in other_tables(file, "all") if name.startswith("vbas_")]
    done = anonymize(RELEASED_RECORDS=place)
    assert len([one for one in done.log if left in one and "ended before its end" in one]) == 1
    now = [name for name in other_tables(file, "all") if name.startswith("vbas_")]
    assert now == ([] if where == "written" else [left])  # in its place stands a release that was counted
    assert "released" in other_tables(file, "all")


@pytest.mark.slow
def test_one_run_at_a_time_on_a_table(anonymize, server, place, sql, readers, provider):
    """What another run is writing is neither dropped nor named."""
    with pytest.raises(QgsProcessingException, match="another run is writing to released"):
        table = parsing.parse("FIRST", place)
        first = postgres.PostgresPlace("FIRST", table)
        with first.held() as told:
            assert told == []
            sql(f'CREATE TABLE "{first.new}" (a int)')
            other = anonymize(RELEASED_RECORDS=place.replace("released", "elsewhere"))
            assert not [one for one in other.log if "ended before its end" in one]
            anonymize(RELEASED_RECORDS=place)
    assert [first.new] in sql(TABLES)


def test_a_replaced_table_keeps_its_owner_rights_and_comments(anonymize, server, place, sql, readers):
    anonymize(RELEASED_RECORDS=place)
    for statement in (
        "COMMENT ON TABLE released IS 'it''s of \\ 2021'",
        "COMMENT ON COLUMN released.sex IS 'as told'",
        "REVOKE ALL ON released FROM reader",
        'GRANT SELECT, INSERT ON released TO "other" WITH GRANT OPTION',
        "GRANT SELECT ON released TO PUBLIC",
        "GRANT UPDATE (sex) ON released TO reader",
        "GRANT CREATE ON SCHEMA public TO owner",
        "ALTER TABLE released OWNER TO owner",
        "CREATE INDEX by_age ON released (age)",
        "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE TRIGGER watched AFTER INSERT ON released EXECUTE FUNCTION nothing()",
    ):
        sql(statement)
    asked = (
        "SELECT pg_get_userbyid(relowner)::text, obj_description(oid), "
        "(SELECT string_agg(one, ' ' ORDER BY one) FROM unnest(relacl::text[]) one) "
        "FROM pg_class WHERE oid = 'released'::regclass",
        "SELECT attname, attacl::text, col_description(attrelid, attnum) FROM pg_attribute "
        "WHERE attrelid = 'released'::regclass AND attname = 'sex'",
    )
    before = [sql(one) for one in asked]
    done = anonymize(RELEASED_RECORDS=place)
    assert [sql(one) for one in asked] == before
    assert before[0][0][0] == "owner" and "other=a*r*/owner" in before[0][0][2]
    (told,) = [one for one in done.log if "was replaced" in one]
    assert "(“by_age”, “watched”)" in told and "released_pkey" not in told
    assert sql("SELECT pg_get_serial_sequence('released', 'id')") == [["public.released_id_seq"]]


def test_an_owner_who_may_own_no_tables_there_keeps_all_rights(anonymize, place, sql, readers):
    """The run is that of a member of the owning role."""
    for statement in (
        "CREATE TABLE released (a int)",
        "ALTER TABLE released OWNER TO owner",
        "GRANT owner TO other",
        "GRANT CREATE ON SCHEMA public TO other",
    ):
        sql(statement)
    done = anonymize(RELEASED_RECORDS=place.replace("user='vbas'", "user='other'"))
    assert [one for one in done.log if "“released” belongs to “other” now and no longer to “owner”" in one]
    assert sql(
        "SELECT pg_get_userbyid(relowner)::text, relacl::text ~ 'owner=arwdDxt' FROM pg_class "
        "WHERE oid = 'released'::regclass"
    ) == [["other", True]]
    sql("REVOKE owner FROM other")
    assert sql(TABLES) == [["released"]]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("ALTER TABLE released ENABLE ROW LEVEL SECURITY", "row security decides"),
        ("CREATE POLICY own ON released USING (a = 1)", "row security decides"),
        ("CREATE TABLE part () INHERITS (released)", "has parts"),
        ("CREATE FUNCTION all_of_it() RETURNS SETOF released LANGUAGE sql AS 'SELECT * FROM released'", "all_of_it"),
        ("ALTER TABLE released RENAME TO r; CREATE VIEW released AS SELECT * FROM r", "no plain table"),
    ],
)
def test_a_table_whose_rows_are_protected_is_not_replaced(anonymize, place, sql, statement, reason):
    sql("CREATE TABLE released (a int)")
    for part in statement.split("; "):
        sql(part)
    before = sql(TABLES)
    with pytest.raises(QgsProcessingException, match=f"“released” cannot be replaced.*{reason}"):
        anonymize(RELEASED_RECORDS=place)
    assert sql(TABLES) == before


def test_the_table_of_somebody_else_is_not_replaced(anonymize, place, sql, readers):
    sql("CREATE TABLE released (a int)")
    sql("GRANT CREATE ON SCHEMA public TO other")
    with pytest.raises(QgsProcessingException, match="“released” cannot be replaced: it belongs to “vbas”"):
        anonymize(RELEASED_RECORDS=place.replace("user='vbas'", "user='other'"))
