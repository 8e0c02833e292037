"""Records in PostgreSQL: the same profile and release as of the arrays, and no fault leaves anything behind."""

from __future__ import annotations

import threading
import time
from collections import Counter
from importlib import import_module

import pytest

from vbas.core.areas import make_areas
from vbas.core.engines import open_engine, releasing
from vbas.core.engines.addresses import Address
from vbas.core.engines.engine import EngineError
from vbas.core.engines.profiling import count_in_place, match_in_place, requirement_in_place
from vbas.core.errors import Cancelled, InputError, OutcomeUnknown, PrivacyError
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.records.fields import Filter, RecordFields
from vbas.core.records.table import PERSONS
from vbas.core.release import apply

from .. import postgres_server
from ..engines_there import needed
from ..line import Line
from ..patience import PATIENCE
from .engine_cases import (
    NAMES,
    QUASI,
    K,
    areas,
    in_memory,
    one_level,
    people,
    release_in_place,
    renamed,
    rows_of,
    same_profile,
    two_levels,
    with_codes,
)

for package in ("ibis", "pyarrow"):
    needed(package)
dbapi = needed("adbc_driver_postgresql.dbapi")

RELATIONS = """SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relname !~ '^(pg_|sql_)'
AND relnamespace <> 'information_schema'::regnamespace"""
ASLEEP = "query ~ 'pg_sleep' AND state = 'active' AND pid <> pg_backend_pid()"
FIELDS = RecordFields("area", QUASI, ("diagnosis",))
SECRET = "hunter2"


@pytest.fixture(scope="module")
def server(postgres):
    with postgres.another() as database:
        yield database.address


@pytest.fixture
def sql(server):
    """sql(statement) -> rows; on a database whose only table is that of the people."""
    connection = dbapi.connect(server, autocommit=True)

    def execute(statement):
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if statement.startswith("SELECT") else None

    execute("DROP SCHEMA IF EXISTS public CASCADE")
    execute("CREATE SCHEMA public")
    execute("CREATE TABLE people (area text, sex text, odd text, age bigint, diagnosis text)")
    insert(connection, "people", people())
    yield execute
    connection.close()


def insert(connection, table, columns, numbers=("age", "person"), mode="append"):
    arrow = needed("pyarrow")
    kinds = {name: arrow.int64() if name in numbers else arrow.string() for name in columns}
    given = arrow.table({name: arrow.array(values, kinds[name]) for name, values in columns.items()})
    with connection.cursor() as cursor:
        cursor.adbc_ingest(table, given, mode=mode)


def create(server, table, columns, numbers):
    with dbapi.connect(server, autocommit=True) as connection:
        insert(connection, table, columns, numbers, "create")


def tables(sql):
    return {name for (name,) in sql(RELATIONS)}


def plan_of(profile, nested=False):
    return nest(areas(), profile, two_levels(), K) if nested else suppress(profile, one_level().crosswalks[0], K)


def run(server, destination="released", fields=FIELDS, nested=False, table="people", schema="", progress=None):
    options = {} if progress is None else {"progress": progress}
    with open_engine(server, table, schema, **options) as engine:
        matched = match_in_place(count_in_place(engine, fields), areas(), k=K)
        return matched, release_in_place(matched, plan_of(matched.profile, nested), destination, nested)


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_profile_and_release_are_those_of_the_arrays(server, sql, nested):
    matched, done = run(server, nested=nested)
    records = in_memory(people())
    assert same_profile(matched.profile, records.profile)
    plan = plan_of(records.profile, nested)
    rows = [tuple(row) for row in sql("SELECT * FROM released")]
    assert Counter(rows) == rows_of(apply(plan, records), plan.levels, nested)
    assert done.place == "public.released"
    places = [row[: 2 if nested else 1] for row in rows]
    assert places == sorted(places)
    assert tables(sql) == {"people", "released"}


def test_the_area_in_some_rows_is_refused(server, sql):
    create(server, "coded", with_codes(people()), ("age",))
    with pytest.raises(InputError, match="“code” stands for the area"):
        run(server, fields=RecordFields("area", ("sex", "age"), ("code",)), table="coded")
    assert tables(sql) == {"people", "coded"}


@pytest.mark.slow
@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
def test_fields_may_be_called_as_the_engine_calls_its_own(server, sql, names):
    columns = renamed(people(), names)
    create(server, "others", columns, (names[2],))
    matched, _ = run(server, fields=RecordFields("area", names[:3], names[3:]), table="others")
    records = in_memory(columns, names[3:], names[:3])
    assert same_profile(matched.profile, records.profile)
    plan = plan_of(records.profile)
    rows = [tuple(row) for row in sql("SELECT * FROM released")]
    assert Counter(rows) == rows_of(apply(plan, records), plan.levels, False)
    assert tables(sql) == {"people", "others", "released"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x" * 70, "has 70 bytes, and no more than 63 are kept"),
        ("é" * 32, "has 64 bytes"),
        ("public." + "x" * 64, "has 64 bytes"),
        ("s" * 64 + ".released", "has 64 bytes"),
        ("a|b", "would not be read back"),
        ("a\nb", "would not be read back"),
        ("a:b", "would not be read back"),
    ],
)
def test_a_destination_that_cannot_be_is_refused_before_any_work(server, sql, name, words):
    with open_engine(server, "people") as engine, pytest.raises(InputError, match=rf"^DESTINATION.*{words}"):
        engine.check_free(name)
    assert tables(sql) == {"people"}


def test_a_name_as_long_as_can_be_is_told_whole(server, sql):
    name = "é" * 31 + "x"
    assert run(server, destination=name)[1].place == f"public.{name}"
    assert tables(sql) == {"people", name}


@pytest.mark.slow
@pytest.mark.parametrize("table", ["vbas_source", "vbas_plan", "vbas_q0", "vbas_expected"])
def test_a_table_may_be_called_as_the_engine_calls_its_own(server, sql, table):
    create(server, table, people(), ("age",))
    run(server, table=table)
    run(server, destination="public.vbas_places", table=table)
    assert tables(sql) == {"people", table, "released", "vbas_places"}
    assert sql("SELECT count(*) FROM vbas_places") == sql("SELECT count(*) FROM released") != [(0,)]


@pytest.mark.parametrize("kind", ["citext", "folding", "char(3)"])
def test_values_that_a_column_takes_for_equal_are_told_apart(server, sql, kind):
    """What is shown differently is another value, whatever the column compares by: else it would not be hidden."""
    if kind == "citext":
        sql("CREATE EXTENSION IF NOT EXISTS citext SCHEMA public")
    if kind == "folding":
        sql("CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        kind = 'text COLLATE "folding"'
    sql(f"CREATE TABLE towns (area text, town {kind})")
    sql("INSERT INTO towns SELECT '00', 'Ham' FROM generate_series(1, 4)")
    sql("INSERT INTO towns VALUES ('00', 'ham'), ('00', 'HAM')")
    run(server, fields=RecordFields("area", ("town",)), table="towns")
    assert sql("SELECT town::text, count(*) FROM released GROUP BY 1") == [("Ham", 4)]


def test_numbers_of_any_scale_are_what_they_look_like(server, sql):
    sql("CREATE TABLE sizes (area text, size numeric)")
    sql("INSERT INTO sizes SELECT '00', 1.0 FROM generate_series(1, 4)")
    sql("INSERT INTO sizes VALUES ('00', 1.00)")
    run(server, fields=RecordFields("area", ("size",)), table="sizes")
    assert sql("SELECT size::text, count(*) FROM released GROUP BY 1") == [("1.0", 4)]


def test_small_real_numbers_keep_their_digits(server, sql):
    sql("CREATE TABLE sizes (area text, size real, kept real)")
    sql("INSERT INTO sizes SELECT '00', 0.1, 0.3 FROM generate_series(1, 4)")
    run(server, fields=RecordFields("area", ("size",), ("kept",)), table="sizes")
    assert sql("SELECT size::text, kept::text, count(*) FROM released GROUP BY 1, 2") == [("0.1", "0.3", 4)]


def test_moments_are_written_alike_whatever_zone_a_role_is_in(server, sql):
    sql("CREATE TABLE visits (area text, moment timestamptz)")
    sql("INSERT INTO visits SELECT '00', timestamptz '2024-03-10 23:30Z' FROM generate_series(1, 4)")
    sql("ALTER ROLE vbas SET timezone = 'America/Winnipeg'")
    try:
        run(server, fields=RecordFields("area", ("moment",)), table="visits")
    finally:
        sql("ALTER ROLE vbas RESET timezone")
    assert sql("SELECT moment, count(*) FROM released GROUP BY 1") == [("2024-03-10 23:30:00+00", 4)]


@pytest.mark.slow
@pytest.mark.parametrize("day", ["infinity", "0044-03-15 BC", "20000-01-01"])
def test_days_that_python_does_not_know_are_said(server, sql, day):
    sql("CREATE TABLE people_since (area text, sex text, since date)")
    sql(f"INSERT INTO people_since SELECT '00', 'F', '{day}' FROM generate_series(1, 4)")
    with pytest.raises(InputError, match=r"“since”.*before the year 1, after the year 9999, or infinity"):
        run(server, fields=RecordFields("area", ("sex", "since")), table="people_since")
    run(server, fields=RecordFields("area", ("sex",), ("since",)), table="people_since")
    assert sql("SELECT since::text FROM released LIMIT 1") == [(day,)]


def test_persons_are_counted(server, sql):
    sql("ALTER TABLE people ADD person bigint")
    sql("UPDATE people SET person = 1 + (random() < 0.5)::int")
    fields = RecordFields("area", ("sex",), ("diagnosis",), members={PERSONS: "person"}, sensitive=("diagnosis",))
    with open_engine(server, "people") as engine:
        matched = match_in_place(count_in_place(engine, fields), areas())
        assert not suppress(
            matched.profile, one_level().crosswalks[0], K, requirement_in_place(matched, K)
        ).released.any()
        with pytest.raises(PrivacyError, match="fewer than 3 persons"):
            release_in_place(matched, plan_of(matched.profile), "released")
    assert tables(sql) == {"people"}


def test_people_and_areas_are_one_however_their_numbers_are_written(server, sql):
    """7 and 7.00 are one person for all who read them elsewhere; and so are areas."""
    sql("ALTER TABLE people ADD person numeric, ADD home numeric")
    sql("UPDATE people SET person = round(7, 1 + (random() * 8)::int), home = round(1 + age % 2, 2)")
    sql("DELETE FROM people WHERE home IS NULL")
    fields = RecordFields("home", ("sex",), members={PERSONS: "person"})
    with open_engine(server, "people") as engine:
        in_place = count_in_place(engine, fields)
        assert sorted(in_place.areas[:-1]) == ["1", "2"]
        with pytest.raises(InputError, match="PERSON_ID has only 1 value"):
            match_in_place(in_place, make_areas(["1", "2"], [[0, 0], [1, 0]]))


@pytest.mark.slow
def test_counts_are_added_up(server, sql):
    sql("CREATE TABLE counted AS SELECT area, sex, age, count(*) AS records FROM people GROUP BY 1, 2, 3")
    sql("INSERT INTO counted SELECT area, sex, age, 0 FROM people LIMIT 5")
    fields = RecordFields("area", ("sex", "age"), count="records")
    matched, _ = run(server, fields=fields, table="counted")
    records = in_memory(people(), kept=(), quasi=("sex", "age"))
    assert same_profile(matched.profile, records.profile)
    rows = sql("SELECT * FROM released")
    expected = rows_of(apply(plan_of(records.profile), records), one_level(), False)
    assert {tuple(row[:-1]): row[-1] for row in rows} == dict(expected)
    sql("UPDATE counted SET records = -1 WHERE age = 1")
    with pytest.raises(InputError, match="“records” is negative"):
        run(server, "again", fields=fields, table="counted")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numeric(10, 2)", "numeric", "double precision", "text"])
def test_whole_counts_may_have_decimals(server, sql, kind):
    """“3.00” is three records; a count that is no number is said, and none that is not whole is taken."""
    sql(f"CREATE TABLE counted (area text, sex text, records {kind})")
    sql("INSERT INTO counted VALUES ('00', 'F', '3.00'), ('01', 'F', '2.00'), ('05', 'M', '1.00'), ('05', 'M', '0.00')")
    fields = RecordFields("area", ("sex",), count="records")
    matched, _ = run(server, fields=fields, table="counted")
    assert matched.profile.n_records == 6
    assert sql("SELECT sex, records FROM released") == [("F", 5)]
    for value, told in (("NaN", "is missing in 1 row"), ("2.5", "is not a whole number in 1 row")):
        sql(f"UPDATE counted SET records = '{value}' WHERE area = '01'")
        with pytest.raises(InputError, match=told):
            run(server, "again", fields=fields, table="counted")
    assert tables(sql) == {"people", "counted", "released"}


def test_a_count_that_is_a_text_is_said(server, sql):
    with (
        open_engine(server, "people") as engine,
        pytest.raises(InputError, match="RECORD_COUNT: the field “diagnosis”"),
    ):
        count_in_place(engine, RecordFields("area", ("sex",), count="diagnosis"))


def test_a_filter_is_no_sql(server, sql):
    hostile = "F'; DROP TABLE people; --"
    with open_engine(server, "people") as engine, pytest.raises(InputError, match="no row, or none that FILTER"):
        count_in_place(engine, RecordFields("area", ("age",), filters=(Filter("sex", "=", hostile),)))
    assert tables(sql) == {"people"}


@pytest.mark.parametrize(
    ("kind", "values", "operator", "value", "wanted"),
    [
        ("numeric", ("9", "18.0", "100", "NaN"), ">=", "18", ["100", "18.0"]),
        ("numeric", ("9", "18.0", "100"), "!=", "18", ["100", "9"]),
        ("date", ("2024-01-01", "2023-12-31"), ">", "2023-12-31", ["2024-01-01"]),
        ("timestamp", ("2024-01-01 11:00", "2024-01-01 13:00"), "<", "2024-01-01T12:00", ["2024-01-01 11:00:00"]),
        (
            "timestamptz",
            ("2024-01-01 11:00+02", "2024-01-01 10:00+00"),
            ">=",
            "2024-01-01T11:00+01:00",
            ["2024-01-01 10:00:00+00"],
        ),
        ("interval", ("1 day", "30 hours"), "=", "1 day", ["1 day"]),
    ],
)
def test_a_filter_is_in_the_order_of_its_field(server, sql, kind, values, operator, value, wanted):
    """As text 9 is more than 18, and a T more than a blank."""
    sql(f"CREATE TABLE sizes (area text, size {kind})")
    for given in values:
        sql(f"INSERT INTO sizes SELECT '00', '{given}' FROM generate_series(1, {K})")
    run(server, fields=RecordFields("area", ("size",), filters=(Filter("size", operator, value),)), table="sizes")
    sql("SET timezone TO 'UTC'")
    assert sorted({text for (text,) in sql("SELECT size::text FROM released")}) == wanted


def test_a_filter_by_an_order_that_is_not_known_is_refused(server, sql):
    sql("CREATE TABLE sizes AS SELECT '00'::text AS area, interval '1 day' AS size FROM generate_series(1, 4)")
    with pytest.raises(InputError, match="“size” holds interval, in which less and more are not known"):
        run(server, fields=RecordFields("area", ("size",), filters=(Filter("size", ">", "1 day"),)), table="sizes")


def test_names_are_no_sql(server, sql):
    name = 'a"; DROP TABLE people; --'
    quoted = name.replace('"', '""')
    sql(f'CREATE SCHEMA "{quoted}"')
    sql(f'CREATE TABLE "{quoted}"."{quoted}" AS SELECT area, sex AS "{quoted}" FROM people')
    matched, _ = run(server, fields=RecordFields("area", (name,)), table=name, schema=name)
    assert matched.profile.n_records == 1500
    assert tables(sql) == {"people", name, "released"}
    sql(f'DROP SCHEMA "{quoted}" CASCADE')


def test_changes_in_between_are_not_seen(server, sql):
    """The transaction sees one state: who writes meanwhile changes nothing of the release."""
    with open_engine(server, "people") as engine:
        matched = match_in_place(count_in_place(engine, FIELDS), areas())
        sql("DELETE FROM people WHERE sex = 'F'")
        release_in_place(matched, plan_of(matched.profile), "released")
    records = in_memory(people())
    assert sql("SELECT count(*) FROM released") == [(plan_of(records.profile).n_released,)]


def test_a_table_that_vanishes_waits_or_is_said(server, sql):
    with pytest.raises(InputError, match="there is no “gone”"):
        run(server, table="gone")
    sql("CREATE VIEW broken AS SELECT * FROM people")
    sql("CREATE TABLE later AS SELECT * FROM people")
    with open_engine(server, "later") as engine:
        sql("DROP TABLE later")
        with pytest.raises(EngineError, match=r"does not exist|42P01"):
            count_in_place(engine, FIELDS)
    assert tables(sql) == {"people", "broken"}


@pytest.mark.slow
def test_a_table_cannot_be_dropped_in_between(server, sql):
    """The transaction holds it: who drops it waits until the release is there."""
    with open_engine(server, "people") as engine:
        matched = match_in_place(count_in_place(engine, FIELDS), areas())
        sql("SET lock_timeout = 200")
        with pytest.raises(dbapi.Error, match="lock timeout"):
            sql("DROP TABLE people")
        release_in_place(matched, plan_of(matched.profile), "released")
    assert tables(sql) == {"people", "released"}


def test_a_connection_that_is_ended_leaves_nothing(server, sql, monkeypatch):
    """The administrator ends the backend while it writes."""
    engine = import_module("vbas.core.engines.postgres").Postgres
    stage = engine.stage

    def ended(self, *given):
        kill = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {ASLEEP}"

        def end():
            while not sql(kill):  # until it is asleep
                time.sleep(0.05)

        written = stage(self, *given)
        threading.Thread(target=end, daemon=True).start()
        self._guarded(lambda: self._cursor.execute("SELECT pg_sleep(60)::text"))
        return written

    monkeypatch.setattr(engine, "stage", ended)
    with pytest.raises(EngineError, match=r"57P01|The connection to PostgreSQL was lost"):
        run(server)
    assert tables(sql) == {"people"}


def test_a_connection_that_is_gone_between_two_steps_is_said(server, sql):
    with open_engine(server, "people") as engine:
        matched = match_in_place(count_in_place(engine, FIELDS), areas(), k=K)
        sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'")
        with pytest.raises(EngineError, match=r"^The connection to PostgreSQL was lost.*: nothing was written\."):
            release_in_place(matched, plan_of(matched.profile), "released")
    assert tables(sql) == {"people"}


@pytest.mark.slow
def test_the_server_waits_while_the_plan_is_made(server, sql):
    sql("ALTER ROLE vbas SET idle_in_transaction_session_timeout = '100ms'")
    try:
        with open_engine(server, "people") as engine:
            matched = match_in_place(count_in_place(engine, FIELDS), areas(), k=K)
            time.sleep(0.5)
            release_in_place(matched, plan_of(matched.profile), "released")
    finally:
        sql("ALTER ROLE vbas RESET idle_in_transaction_session_timeout")
    assert tables(sql) == {"people", "released"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arrives", "closed", "there"), [(True, False, True), (True, True, True), (False, False, False)]
)
def test_a_connection_that_is_lost_at_the_commit_is_never_said_to_have_written_nothing(
    server, sql, arrives, closed, there
):
    """Whether it was carried out is asked anew; where nobody can be asked, the user is told to look."""
    port = server.rsplit(":", 1)[1].split("/")[0]
    with Line(int(port), cut_at=b"COMMIT", arrives=arrives, closed=closed) as line:
        through = server.replace(port, str(line.port))
        if arrives and not closed:
            run(through)
        else:
            with pytest.raises(
                OutcomeUnknown, match=r"Look for the table “public\.released”: if it is there, it is whole"
            ):
                run(through)
        assert line.was_cut
    until = time.monotonic() + PATIENCE
    while ("released" in tables(sql)) != there and time.monotonic() < until:
        time.sleep(0.01)
    assert tables(sql) == {"people", "released"} if there else {"people"}


@pytest.mark.slow
def test_a_cancel_that_comes_too_late_for_the_commit_is_no_cancel(server, sql, monkeypatch):
    engine = import_module("vbas.core.engines.postgres").Postgres
    publish, late = engine.publish, []

    def published(self):
        commit = self._connection.commit

        class Slow:
            def __getattr__(self, name):
                return getattr(connection, name)

            def commit(self):
                commit()
                late.append(True)
                time.sleep(1)

        def progress(fraction):
            if late:
                raise Cancelled("stopped")

        connection, self._connection, self._progress = self._connection, Slow(), progress
        return publish(self)

    monkeypatch.setattr(engine, "publish", published)
    run(server)
    assert late and tables(sql) == {"people", "released"}


def ended(state):
    """What the driver raises, with the state of the server's answer."""
    manager = import_module("adbc_driver_manager")
    return manager.OperationalError("it ended", status_code=manager.AdbcStatusCode.IO, sqlstate=state)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("done", "state", "ends"),
    [
        (True, "57014", None),  # the cancel came after the COMMIT, before the answer
        (True, "", None),  # a lost connection, and the server that is asked anew knows
        (False, "57014", Cancelled),
        (False, "", OutcomeUnknown),
        (False, "23505", EngineError),
    ],
)
def test_a_cancel_during_the_commit_never_hides_that_it_was_carried_out(server, sql, monkeypatch, done, state, ends):
    engine = import_module("vbas.core.engines.postgres").Postgres
    publish = engine.publish

    def published(self):
        class Ending:
            def __getattr__(self, name):
                return getattr(connection, name)

            def commit(self):
                (connection.commit if done else connection.rollback)()
                late.append(True)
                time.sleep(0.5)
                raise ended(state)

        def progress(fraction):
            if late:
                raise Cancelled("stopped")

        late = []
        connection, self._connection, self._progress = self._connection, Ending(), progress
        return publish(self)

    monkeypatch.setattr(engine, "publish", published)
    if ends is None:
        run(server)
    else:
        with pytest.raises(ends):
            run(server)
    assert tables(sql) == ({"people", "released"} if done else {"people"})


@pytest.mark.slow
def test_a_disk_that_is_full_leaves_nothing():
    """No file of the server may grow beyond 17 MB, which stops it where a full disk does."""
    many = "CREATE OR REPLACE VIEW people AS SELECT few.* FROM few, generate_series(1, {times})"
    with postgres_server.running(largest_file=17 << 20) as database:
        address = database.address
        with dbapi.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE few (area text, sex text, odd text, age bigint, diagnosis text)")
            insert(connection, "few", people())
            cursor.execute(many.format(times=400))
            with pytest.raises(EngineError, match=r"SQLSTATE (XX000|53100)"):
                run(address)
            cursor.execute(RELATIONS)
            assert {name for (name,) in cursor.fetchall()} == {"few", "people"}
            cursor.execute(many.format(times=2))
            run(address)
            cursor.execute(RELATIONS)
            assert {name for (name,) in cursor.fetchall()} == {"few", "people", "released"}


@pytest.mark.parametrize(
    "state, message, said",
    [
        ("53100", "could not extend file: No space left on device", "PostgreSQL: .*No space left on device"),
        ("22P02", "invalid input syntax for type integer: Jane Doe", r"ended the work \(SQLSTATE unknown\)"),
    ],
)
def test_what_fails_while_rows_come_is_said_without_values(server, sql, state, message, said):
    sql(f"""CREATE FUNCTION failing() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING
    ERRCODE = '{state}', MESSAGE = '{message}'; END $$""")
    sql("CREATE VIEW seen AS SELECT area, sex, odd, age, failing() AS diagnosis FROM people")
    with pytest.raises(EngineError, match=said) as error:
        run(server, table="seen")
    assert "Jane" not in str(error.value) and error.value.__cause__ is None
    assert tables(sql) == {"people", "seen"}


@pytest.mark.slow
def test_rights_that_are_missing_are_said(server, sql):
    sql("DROP ROLE IF EXISTS clerk")
    sql("CREATE ROLE clerk LOGIN")
    sql("GRANT USAGE ON SCHEMA public TO clerk")
    other = server.replace("vbas@", "clerk@")
    with pytest.raises(EngineError, match=r"permission denied for table people: nothing was written\. Have that right"):
        run(other)
    sql("GRANT SELECT ON people TO clerk")
    with pytest.raises(InputError, match=r"may not make a table in the schema “public” \(right CREATE\)"):
        run(other)
    with open_engine(other, "people") as engine:
        with pytest.raises(InputError, match="may not make a table"):
            engine.check_free("released")
        with pytest.raises(EngineError, match='schema "elsewhere" does not exist'):
            engine.check_free("elsewhere.released")
    sql("GRANT CREATE ON SCHEMA public TO clerk")
    with open_engine(other, "people") as engine:
        matched = match_in_place(count_in_place(engine, FIELDS), areas())
        sql("REVOKE SELECT ON people FROM clerk")
        with pytest.raises(EngineError, match="permission denied"):
            release_in_place(matched, plan_of(matched.profile), "released")
    assert tables(sql) == {"people"}
    sql("GRANT SELECT ON people TO clerk")
    run(other)
    assert tables(sql) == {"people", "released"}
    sql("DROP OWNED BY clerk")


def test_a_server_that_only_reads_is_said(server, sql):
    sql("DROP ROLE IF EXISTS clerk")
    sql("CREATE ROLE clerk LOGIN")
    sql("GRANT USAGE ON SCHEMA public TO clerk")
    sql("GRANT SELECT ON people TO clerk")
    sql("ALTER ROLE clerk SET default_transaction_read_only = on")
    says = r"this server or user only reads .* give the table as a layer"
    try:
        with open_engine(server.replace("vbas@", "clerk@"), "people") as engine, pytest.raises(EngineError, match=says):
            count_in_place(engine, FIELDS)
    finally:
        sql("DROP OWNED BY clerk")


def test_some_of_the_rows_are_not_taken_for_all(server, sql):
    sql("DROP ROLE IF EXISTS clerk")
    sql("CREATE ROLE clerk LOGIN")
    sql("GRANT USAGE, CREATE ON SCHEMA public TO clerk")
    sql("GRANT SELECT ON people TO clerk")
    sql("ALTER TABLE people ENABLE ROW LEVEL SECURITY")
    sql("CREATE POLICY own ON people FOR SELECT TO clerk USING (sex = 'F')")
    try:
        with pytest.raises(EngineError, match=r"row-level security policy.*sees some of its rows only"):
            run(server.replace("vbas@", "clerk@"))
        assert tables(sql) == {"people"}
        run(server)  # as who owns the table, of whom no policy is asked
        assert tables(sql) == {"people", "released"}
    finally:
        sql("DROP OWNED BY clerk")


def test_nothing_is_replaced(server, sql):
    sql("CREATE TABLE released (a int)")
    with pytest.raises(InputError, match=r"“public.released” is there already"):
        run(server)
    assert sql("SELECT count(*) FROM released") == [(0,)]


@pytest.mark.slow
def test_a_table_that_is_made_meanwhile_is_said(server, sql):
    """The second waits for the first, which nobody sees until then."""
    said = []

    def second():
        with pytest.raises(EngineError, match="a table of this name was made meanwhile") as error:
            run(server)
        said.append(error)

    with open_engine(server, "people") as engine:
        matched = match_in_place(count_in_place(engine, FIELDS), areas(), k=K)
        staged = releasing.stage_in_place(matched, plan_of(matched.profile), "released")
        thread = threading.Thread(target=second)
        thread.start()
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'CREATE TABLE'"
        while thread.is_alive() and sql(waiting) == [(0,)]:
            time.sleep(0.05)
        staged.publish()
        thread.join(60)
    assert said
    assert tables(sql) == {"people", "released"}


def test_a_second_count_that_differs_undoes_all(server, sql, monkeypatch):
    monkeypatch.setattr(releasing, "foretold", lambda plan: {1: releasing.LevelCount(1, 1, 5)})
    with pytest.raises(PrivacyError, match="foretold"):
        run(server)
    assert tables(sql) == {"people"}


def test_cancelling_interrupts_the_server(server, sql):
    from vbas.core.engines.postgres import Postgres

    def progress(fraction):
        raise Cancelled("stopped")

    with pytest.raises(Cancelled), open_engine(server, "people") as engine:
        assert isinstance(engine, Postgres)
        engine._progress = progress
        engine._guarded(lambda: engine._cursor.execute("SELECT pg_sleep(60)::text"))
    assert sql(f"SELECT count(*) FROM pg_stat_activity WHERE {ASLEEP}") == [(0,)]
    assert tables(sql) == {"people"}


def test_a_server_that_is_not_there_keeps_the_secret(server):
    nowhere = Address("postgres", "claims", f"host=127.0.0.1 port=1 dbname=records user=nurse password={SECRET}")
    with pytest.raises(EngineError, match=r"cannot be reached.*refused") as error:
        open_engine(nowhere, "people")
    trace: BaseException | None = error.value
    while trace is not None:
        assert SECRET not in str(trace)
        trace = trace.__cause__
