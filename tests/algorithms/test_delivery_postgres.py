"""Outputs in PostgreSQL: a server of its own in a throw-away folder; skipped where none is installed."""

from __future__ import annotations

import re

import pytest
from qgis.core import QgsProcessingException

from vbas.algorithms.layers.database_tables import address, postgres, swapping
from vbas.algorithms.layers.delivery import outputs
from vbas.core.errors import PrivacyError

from ..line import Line


def tables(sql):
    return {
        str(name) for (name,) in sql("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname !~ '^(pg_|sql_)'")
    }


@pytest.mark.slow
def test_a_table_is_replaced_whole(anonymize, server, sql):
    place = f'postgres://{server} table="public"."released"'
    for sites in (6, 3):
        done = anonymize(RELEASED_RECORDS=place, N_SITES=sites)
        assert "vbas_" not in done.results["RELEASED_RECORDS"].replace("vbas_region", "").replace("user='vbas'", "")
        ((count, regions),) = sql("SELECT count(*), count(DISTINCT vbas_region) FROM released")
        assert count == done.results["N_RECORDS"] - done.results["N_SUPPRESSED"]
        assert regions == sites
        assert tables(sql) == {"released"}


@pytest.mark.slow
def test_whichever_step_fails_the_tables_are_as_before(anonymize, server, sql, tmp_path, monkeypatch):
    places = {
        "RELEASED_RECORDS": f'postgres://{server} table="public"."released"',
        "CROSSWALK": f'postgres://{server} table="public"."crosswalk"',
        "REGION_AUDIT": str(tmp_path / "audit.csv"),
    }
    sql("CREATE TABLE released (a int)")
    sql("INSERT INTO released VALUES (7)")
    (tmp_path / "audit.csv").write_text("old")
    steps, failing_at, connect = 0, 0, address.DatabaseTable.connect

    def counted(self):
        nonlocal steps
        steps += 1
        if steps == failing_at:
            raise OSError(5, "Input/output error")
        return connect(self)

    monkeypatch.setattr(address.DatabaseTable, "connect", counted)
    failures = 0
    for n in range(1, 100):
        steps, failing_at = 0, n
        try:
            anonymize(**places)
        except QgsProcessingException as error:
            failures += 1
            assert "Input/output error" in str(error)
            assert tables(sql) == {"released"}
            assert sql("SELECT a FROM released") == [[7]]
            assert (tmp_path / "audit.csv").read_text() == "old"
            continue
        break
    # For each table whether it can be reached, what others left, three that close it, whether it is there; the comment
    # of the one that is replaced, and the two swaps.
    assert failures == 2 * 6 + 3
    assert tables(sql) >= {"released", "crosswalk"}


def test_a_server_that_goes_away_is_said_with_the_table_that_it_may_still_hold(anonymize, server, sql, monkeypatch):
    """Written, and then neither renamed nor dropped."""
    connect, prepare = address.DatabaseTable.connect, swapping.TablePlace.prepare

    def gone(self):
        raise OSError(5, "Input/output error")

    def last(self):
        prepare(self)
        monkeypatch.setattr(address.DatabaseTable, "connect", gone)

    monkeypatch.setattr(swapping.TablePlace, "prepare", last)
    with pytest.raises(QgsProcessingException, match="Input/output error") as error:
        anonymize(RELEASED_RECORDS=f'postgres://{server} table="public"."released"')
    monkeypatch.setattr(address.DatabaseTable, "connect", connect)
    (left,) = tables(sql)
    (said,) = [one for one in error.value.said if "may still be in the table" in one]
    assert said.startswith(f"What was written for “released” may still be in the table “{left}”")
    # One that was never begun is not spoken of.
    monkeypatch.setattr(swapping.TablePlace, "prepare", prepare)
    left_by_others = postgres.PostgresPlace._left

    def then_gone(self):
        found = left_by_others(self)
        monkeypatch.setattr(address.DatabaseTable, "connect", gone)
        return found

    monkeypatch.setattr(postgres.PostgresPlace, "_left", then_gone)
    with pytest.raises(QgsProcessingException, match="K") as error:
        anonymize(RELEASED_RECORDS=f'postgres://{server} table="public"."other"', K=10**6)
    assert not [one for one in getattr(error.value, "said", []) if "may still be" in one]


@pytest.mark.slow
@pytest.mark.parametrize("arrives", [True, False])
def test_a_connection_that_is_lost_while_tables_are_renamed_is_said_with_where_the_old_rows_are(
    anonymize, server, sql, arrives
):
    """The server does it, or not, and its answer is lost. QGIS then puts the whole address into its message."""
    sql("CREATE TABLE released (a int)")
    sql("INSERT INTO released VALUES (7)")
    port = server.split("port=")[1].split()[0]
    with Line(int(port), b"RENAME TO", arrives) as line:
        through = f"{server.replace(port, str(line.port))} password='hunter2'"
        with pytest.raises(QgsProcessingException, match=r"“released” could not be put back") as error:
            anonymize(RELEASED_RECORDS=f'postgres://{through} table="public"."released"')
    (kept,) = re.findall("if there is a table “(vbas_old_[0-9a-f_]*)”, that is what it held", str(error.value))
    assert sql(f'SELECT a FROM "{kept if arrives else "released"}"') == [[7]]
    assert "hunter2" not in " ".join([str(error.value), *error.value.said])


@pytest.mark.parametrize("place", ['table="nowhere"."released"', 'table="public"."released"'])
def test_no_failure_tells_the_password(anonymize, server, sql, place):
    sql("CREATE TABLE released (a int)")
    sql("CREATE VIEW shown AS SELECT * FROM released")
    with pytest.raises(QgsProcessingException) as error:
        anonymize(RELEASED_RECORDS=f"postgres://{server} password='hunter2' {place}")
    assert "hunter2" not in " ".join([str(error.value), *getattr(error.value, "said", [])])


def test_rows_that_failed_the_second_count_are_in_no_table_that_stays(anonymize, server, sql, monkeypatch):
    """Where the server is lost before the table can be dropped, it is empty."""
    connect = address.DatabaseTable.connect

    def gone(self):
        raise OSError(5, "Input/output error")

    def differs(*_):
        monkeypatch.setattr(address.DatabaseTable, "connect", gone)
        raise PrivacyError("The second count differs.")

    monkeypatch.setattr(outputs, "check_layer", differs)
    with pytest.raises(QgsProcessingException, match="second count differs"):
        anonymize(RELEASED_RECORDS=f'postgres://{server} table="public"."released"')
    monkeypatch.setattr(address.DatabaseTable, "connect", connect)
    (left,) = tables(sql)
    assert sql(f'SELECT count(*) FROM "{left}"') == [[0]]


def test_one_table_under_two_addresses_is_one(anonymize, server, sql, tmp_path):
    other = server.replace("127.0.0.1", "localhost")
    with pytest.raises(QgsProcessingException, match="are the same table, “released”"):
        anonymize(
            RELEASED_RECORDS=f'postgres://{server} table="public"."released"',
            CROSSWALK=f'postgres://{other} table="released"',
        )
    done = anonymize(RELEASED_RECORDS=f'postgres://{server} table="public"."released"', KEEP_FIELDS=["diagnosis"])
    assert done.results["N_SUPPRESSED"] < done.results["N_RECORDS"]


def test_an_output_on_an_input_of_the_server(anonymize, server, sql, grid):
    from qgis.core import QgsVectorLayer

    sql("CREATE TABLE records (id serial PRIMARY KEY, home text, sex text, age int)")
    for row in list(grid[1].getFeatures())[:100]:
        sql(f"INSERT INTO records (home, sex, age) VALUES ('{row['home']}', '{row['sex']}', {row['age']})")
    records = QgsVectorLayer(f'{server} key=\'id\' table="public"."records"', "records", "postgres")
    assert records.isValid()
    other = server.replace("127.0.0.1", "localhost")
    with pytest.raises(QgsProcessingException, match="CROSSWALK and RECORDS are the same table"):
        anonymize(RECORDS=records, CROSSWALK=f'postgres://{other} table="public"."records"')
    assert sql("SELECT count(*) FROM records") == [[100]]


def test_a_table_that_a_view_shows_is_not_replaced(anonymize, server, sql):
    sql("CREATE TABLE released (a int)")
    sql("CREATE VIEW shown AS SELECT * FROM released")
    with pytest.raises(QgsProcessingException, match="“released” cannot be replaced, since “shown”"):
        anonymize(RELEASED_RECORDS=f'postgres://{server} table="public"."released"')
    assert tables(sql) == {"released"}


def test_a_server_that_is_not_there(anonymize, tmp_path):
    with pytest.raises(QgsProcessingException, match="RELEASED_RECORDS: the database cannot be reached"):
        anonymize(
            RELEASED_RECORDS="postgres://dbname='x' host=127.0.0.1 port=1 table=\"t\"",
            CROSSWALK=str(tmp_path / "a.csv"),
        )
    assert list(tmp_path.iterdir()) == []
