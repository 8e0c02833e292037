"""A PostgreSQL layer gives the same columns through GDAL and by features, or is left to features."""

from contextlib import contextmanager

import numpy as np
import pytest
from osgeo import gdal
from qgis.core import QgsProcessingFeatureSourceDefinition, QgsProject, QgsProviderRegistry, QgsVectorLayer

from vbas.algorithms.layers.reading import checked_source, postgres
from vbas.algorithms.layers.reading.postgres import read_postgres
from vbas.algorithms.layers.reading.records import _read_features
from vbas.core.errors import InputError
from vbas.core.records.table_file import Held

from ..line import Line

NAMES = ["home", "a “b”", "age", "small", "large", "yes"]
TEXTS = ["", None, "NULL", "007", "7", "é", "e\u0301", "it's", 'a "b"', "a ", "a", "\\N", "\u00a0", "x" * 1_000_000]
MADE = """
CREATE TABLE "the Table" (id int4 PRIMARY KEY, home text, "a “b”" varchar(40), age int4, small int2, large int8,
  yes bool, amount numeric, born date, real float8, tags text[], more json, at timestamp);
CREATE VIEW seen AS SELECT * FROM "the Table" WHERE id % 2 = 0;
"""


def literal(value):
    return "NULL" if value is None else "E'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@pytest.fixture(scope="module")
def server(qgis_app, request):
    metadata = QgsProviderRegistry.instance().providerMetadata("postgres")
    if metadata is None or gdal.GetDriverByName("PostgreSQL") is None:
        pytest.skip("this QGIS, or its GDAL, does not read PostgreSQL")
    with request.getfixturevalue("postgres").another() as database:
        uri = f"{database.uri} password='hunter2'"
        connection = metadata.createConnection(uri, {})
        for statement in MADE.split(";")[:-1]:
            connection.executeSql(statement)
        rows = []
        for i in range(300):
            numbers = ["NULL", 1 - 2**31, 2**31 - 1, 7][i % 4], [-(2**15), 2**15 - 1, "NULL"][i % 3]
            large, yes = [2**63 - 1, -(2**63) + 1, "NULL", 0][i % 4], ["true", "false", "NULL"][i % 3]
            home, other = literal(TEXTS[i % len(TEXTS)]), literal(TEXTS[i * 3 % (len(TEXTS) - 1)])
            more = "1.50, '2021-12-31', 0.1, '{a,b}', '{\"a\": 1}', '2021-12-31 23:59:59'"
            rows.append(f"({300 - i}, {home}, {other}, {numbers[0]}, {numbers[1]}, {large}, {yes}, {more})")
        connection.executeSql(f'INSERT INTO "the Table" VALUES {", ".join(rows)}')
        yield uri


TABLE = 'key=\'id\' table="public"."the Table"'
QUERY = (
    """key='id' table="(SELECT id, home, \\"a “b”\\", age, small, large, yes FROM \\"the Table\\" WHERE id > 20)\""""
)


def layer_of(server, shown=TABLE, subset=""):
    layer = QgsVectorLayer(f"{server} {shown}", "records", "postgres")
    assert layer.isValid()
    if subset:
        assert layer.setSubsetString(subset)
    return layer


def by_features(provider, layer):
    from qgis.core import QgsProcessingContext

    from vbas.algorithms.layers.inputs import Inputs

    algorithm = provider.algorithm("profilerecords").create()
    context = QgsProcessingContext()
    context.temporaryLayerStore().addMapLayer(layer)
    source = checked_source.checked_source(Inputs(algorithm, {"RECORDS": layer.id()}, context), "RECORDS")
    assert source is not None
    columns = _read_features(source, [layer.fields().lookupField(name) for name in NAMES], lambda _: None)
    context.temporaryLayerStore().takeMapLayer(layer)
    return columns


def same(columns, others):
    assert list(columns) == list(others)
    for name, column in columns.items():
        assert np.array_equal(column.codes, others[name].codes)
        assert list(map(repr, column.categories)) == list(map(repr, others[name].categories))
    return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shown", "subset", "n_rows"),
    [
        (TABLE, "", 300),
        (TABLE, "\"home\" = '007' OR home = ''", 44),
        (TABLE, "id < 0", 0),
        ('key=\'id\' table="public"."seen"', "", 150),
        (QUERY, "", 280),
        (QUERY, "age = 7 AND home <> '%'", 60),
        ('table="public"."the Table"', "", 300),
    ],
)
def test_columns_are_those_of_the_features(provider, server, shown, subset, n_rows):
    layer = layer_of(server, shown, subset)
    done: list[float] = []
    columns = read_postgres(layer, NAMES, "RECORDS", done.append)
    assert columns is not None and {len(column) for column in columns.values()} == {n_rows}
    assert same(columns, by_features(provider, layer))
    assert bool(done) == bool(n_rows)


@pytest.mark.parametrize("name", ["amount", "born", "real", "tags", "more", "at"])
def test_other_types_are_left_to_features(server, name):
    assert read_postgres(layer_of(server), ["home", name], "RECORDS", lambda _: None) is None


@pytest.mark.parametrize("more", ["estimatedmetadata=true", "session_role='vbas'"])
def test_what_only_qgis_can_tell_is_left_to_features(server, more):
    assert read_postgres(layer_of(server, f"{more} {TABLE}"), NAMES, "RECORDS", lambda _: None) is None


def test_rows_that_qgis_counts_otherwise_are_left_to_features(server, monkeypatch):
    monkeypatch.setattr(postgres, "count_again", lambda _: 299)
    assert read_postgres(layer_of(server), NAMES, "RECORDS", lambda _: None) is None


@pytest.mark.slow
def test_rows_that_are_lost_on_the_way_are_refused(server, monkeypatch):
    monkeypatch.setattr(postgres, "_counted", lambda *_: (301, 1_000_000))
    monkeypatch.setattr(postgres, "count_again", lambda _: 301)
    with pytest.raises(InputError, match="300 rows were read where 301 are"):
        read_postgres(layer_of(server), NAMES, "RECORDS", lambda _: None)


@pytest.mark.parametrize("counted", [None, 0])
def test_a_table_whose_connection_is_lost_is_not_empty(provider, server, monkeypatch, counted):
    """QGIS then gives no row, and counts none."""
    port = server.split("port=")[1].split()[0]
    with Line(int(port)) as line:

        @contextmanager
        def lost(*_):
            line.cut()
            yield Held(counted)

        monkeypatch.setattr(checked_source, "held", lost)
        layer = layer_of(server.replace(f"port={port}", f"port={line.port}"))
        with pytest.raises(InputError, match="RECORDS cannot be read: check that the layer still shows its features"):
            by_features(provider, layer)


def test_a_table_of_no_row_is_empty(provider, server):
    columns = by_features(provider, layer_of(server, subset="id < 0"))
    assert {len(column) for column in columns.values()} == {0}


@pytest.mark.slow
def test_one_state_of_the_table_is_read(server, monkeypatch):
    """What others add after the count is not there."""
    layer, read = layer_of(server), postgres.read_arrow

    def add_meanwhile(*given):
        connection = QgsProviderRegistry.instance().providerMetadata("postgres").createConnection(server, {})
        connection.executeSql("INSERT INTO \"the Table\" (id, home) VALUES (1000, 'late')")
        try:
            return read(*given)
        finally:
            connection.executeSql('DELETE FROM "the Table" WHERE id = 1000')

    monkeypatch.setattr(postgres, "read_arrow", add_meanwhile)
    columns = read_postgres(layer, NAMES, "RECORDS", lambda _: None)
    assert columns is not None
    assert len(columns["home"]) == 300 and "late" not in columns["home"].categories


@pytest.mark.slow
@pytest.mark.parametrize("reachable", [True, False])
def test_the_password_is_told_to_nobody(server, monkeypatch, capfd, reachable):
    layer = layer_of(server)
    if not reachable:
        monkeypatch.setattr(
            postgres.QgsDataSourceUri, "connectionInfo", lambda *_: "host=127.0.0.1 port=1 password='hunter2'"
        )
    gdal.SetConfigOption("CPL_DEBUG", "ON")
    heard = []
    gdal.PushErrorHandler(lambda *told: heard.append(told))
    try:
        columns = read_postgres(layer, ["home"], "RECORDS", lambda _: None)
    finally:
        gdal.PopErrorHandler()
        gdal.SetConfigOption("CPL_DEBUG", None)
    assert (columns is not None) == reachable
    said = "".join([*capfd.readouterr(), *map(str, heard)])
    assert "hunter2" not in said
    assert reachable or not said


@pytest.mark.slow
def test_errors_of_gdal_as_exceptions_change_nothing(provider, server, monkeypatch):
    before = gdal.GetUseExceptions()
    gdal.UseExceptions()
    try:
        columns = read_postgres(layer_of(server), NAMES, "RECORDS", lambda _: None)
        assert read_postgres(layer_of(server), ["home", "amount"], "RECORDS", lambda _: None) is None
        monkeypatch.setattr(postgres, "ONE_STATE", "no such level")
        assert read_postgres(layer_of(server), NAMES, "RECORDS", lambda _: None) is None
    finally:
        if not before:
            gdal.DontUseExceptions()
    assert same(columns, by_features(provider, layer_of(server)))


@pytest.mark.slow
def test_runs_read_it_so_unless_it_is_edited_or_restricted(run, server, monkeypatch):
    read, seen = postgres.read_arrow, []

    def counted(*given):
        seen.append(1)
        return read(*given)

    monkeypatch.setattr(postgres, "read_arrow", counted)
    layer = layer_of(server, subset="length(home) < 10")
    QgsProject.instance().addMapLayer(layer)  # by whose name a selection is found
    given = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["age", "yes"], "PROFILE": "memory:"}
    whole = run("profilerecords", RECORDS=layer, **given)
    assert seen == [1]
    layer.selectAll()
    selected = run("profilerecords", RECORDS=QgsProcessingFeatureSourceDefinition(layer.id(), True), **given)
    layer.startEditing()
    edited = run("profilerecords", RECORDS=layer, **given)
    layer.rollBack()
    assert seen == [1]
    assert sum(row["records"] for row in selected.rows("PROFILE")) == layer.featureCount()
    QgsProject.instance().removeMapLayer(layer.id())
    assert whole.rows("PROFILE") == edited.rows("PROFILE") == selected.rows("PROFILE")


@pytest.fixture
def never_analysed(server, grid):
    """The records of the grid in a table that PostgreSQL has not looked at, whose layer asks it for their number."""
    connection = QgsProviderRegistry.instance().providerMetadata("postgres").createConnection(server, {})
    names = grid[1].fields().names()
    connection.executeSql(f"CREATE TABLE fresh (id serial PRIMARY KEY, {', '.join(f'{name} text' for name in names)})")
    rows = (", ".join(literal(str(value)) for value in row.attributes()) for row in grid[1].getFeatures())
    connection.executeSql(f"INSERT INTO fresh ({', '.join(names)}) VALUES {', '.join(f'({row})' for row in rows)}")
    yield layer_of(server, 'key=\'id\' estimatedmetadata=true table="public"."fresh"')
    connection.executeSql("DROP TABLE fresh")


def test_a_report_can_be_made_of_a_table_whose_rows_nobody_has_counted(anonymize, never_analysed, tmp_path):
    assert never_analysed.featureCount() < 0  # else nothing is shown
    report = tmp_path / "report.html"
    anonymize(RECORDS=never_analysed, REPORT=str(report))
    assert "none: no file" in report.read_text(encoding="utf-8")
