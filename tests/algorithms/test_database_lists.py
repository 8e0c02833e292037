"""The lists in the forms over records in place, opened and chosen from as a user does it."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from qgis.core import (
    QgsApplication,
    QgsAuthMethodConfig,
    QgsDataSourceUri,
    QgsProcessingException,
    QgsProviderRegistry,
    QgsVectorLayer,
)
from qgis.PyQt.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu

from .. import postgres_server
from ..core import engine_cases as cases
from ..engines_there import needed
from .dialogs import click_run

for package in ("ibis", "duckdb", "pyarrow"):
    needed(package)


@pytest.fixture
def form(provider, qgis_iface, monkeypatch):
    """form(algorithm) -> the open form."""
    import processing

    monkeypatch.setattr(qgis_iface, "browserModel", lambda: None, raising=False)
    opened = []

    def one(algorithm):
        opened.append(processing.createAlgorithmDialog(f"vbas:{algorithm}", {}))
        opened[-1].show()
        return opened[-1]

    yield one
    for dialog in opened:
        dialog.close()
        dialog.deleteLater()


def line_of(dialog, name):
    widget = dialog.mainWidget().wrappers[name].wrappedWidget()
    return widget if isinstance(widget, QLineEdit) else widget.findChild(QLineEdit)


def opened_list(dialog, name):
    """The entries of the list of a parameter, by their texts."""
    line = line_of(dialog, name)
    line.actions()[-1].trigger()
    QApplication.processEvents()
    menu = line.findChild(QMenu)
    entries = {action.text(): action for action in menu.actions() if action.text()}
    menu.close()
    return entries


def choose(dialog, name, text):
    opened_list(dialog, name)[text].trigger()
    return line_of(dialog, name).text()


@pytest.mark.slow
def test_a_file_is_found_and_its_fields_are_chosen(form, tmp_path, monkeypatch):
    people = cases.write_parquet(cases.people(), tmp_path / "people.parquet")
    dialog = form("profiledatabase")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(people), ""))
    assert choose(dialog, "CONNECTION", "A file…") == str(people)
    assert list(opened_list(dialog, "RECORD_REGION")) == ["area", "sex", "odd", "age", "diagnosis"]
    assert choose(dialog, "RECORD_REGION", "sex") == "sex"
    assert choose(dialog, "RECORD_REGION", "area") == "area"
    assert choose(dialog, "QUASI_IDENTIFIERS", "age") == "age"
    assert choose(dialog, "QUASI_IDENTIFIERS", "sex") == "age;sex"
    assert opened_list(dialog, "QUASI_IDENTIFIERS")["sex"].isChecked()
    assert choose(dialog, "QUASI_IDENTIFIERS", "age") == "sex"
    done = click_run(dialog)
    assert done.successful, done.log
    assert (done.results["N_RECORDS"], done.results["N_CLASSES"]) == (1500, 2)


def test_a_folder_of_files_is_found(form, tmp_path, monkeypatch):
    cases.write_parquet(cases.people(), tmp_path / "people.parquet")
    dialog = form("releasedatabase")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    assert choose(dialog, "CONNECTION", "A folder of Parquet files…") == str(tmp_path)
    assert "odd" in opened_list(dialog, "KEEP_FIELDS")
    assert list(opened_list(dialog, "TABLE")) == ["There is nothing to choose from."]


def test_what_cannot_be_asked_is_said(form, tmp_path, monkeypatch):
    cases.write_parquet(cases.people(), tmp_path / "people.parquet")
    monkeypatch.chdir(tmp_path)  # nothing is taken from the folder that QGIS happens to be in
    dialog = form("profiledatabase")
    (entry,) = opened_list(dialog, "RECORD_REGION").values()
    assert "CONNECTION is empty" in entry.text() and not entry.isEnabled()
    line_of(dialog, "CONNECTION").setText(str(tmp_path / "none.parquet"))
    (entry,) = opened_list(dialog, "QUASI_IDENTIFIERS").values()
    assert "there is no file" in entry.text() and not entry.isEnabled()
    line_of(dialog, "CONNECTION").setText("postgresql://nurse:hunter2@127.0.0.1/records")
    (entry,) = opened_list(dialog, "TABLE").values()
    assert "password" in entry.text() and "hunter2" not in entry.text()


def test_tables_of_a_duckdb_file(form, tmp_path):
    place = cases.write_duckdb(cases.people(), tmp_path / "people.duckdb")
    dialog = form("profiledatabase")
    line_of(dialog, "CONNECTION").setText(str(place))
    assert list(opened_list(dialog, "SCHEMA")) == ["main"]
    assert choose(dialog, "TABLE", "people") == "people"
    assert "age" in opened_list(dialog, "RECORD_REGION")


@pytest.fixture
def claims(provider, request):
    """A connection of QGIS to a server with a schema of its own, by its name."""
    dbapi, arrow = needed("adbc_driver_postgresql.dbapi"), needed("pyarrow")
    metadata = QgsProviderRegistry.instance().providerMetadata("postgres")
    if metadata is None:
        pytest.skip("this QGIS has no provider for PostgreSQL")
    with request.getfixturevalue("postgres").another() as database:
        with dbapi.connect(database.address, autocommit=True) as there, there.cursor() as cursor:
            cursor.execute("CREATE SCHEMA registry")
            table = arrow.table({"area": ["1", "2"] * 5, "sex": ["F"] * 10})
            cursor.adbc_ingest("visits", table)
            cursor.adbc_ingest("patients", table, db_schema_name="registry")
        metadata.saveConnection(metadata.createConnection(database.uri, {"saveUsername": True}), "claims")
        yield "claims"
        metadata.deleteConnection("claims")


@pytest.mark.slow
def test_a_connection_of_qgis_its_schemas_tables_and_fields(form, claims):
    dialog = form("profiledatabase")
    assert choose(dialog, "CONNECTION", "claims") == "claims"
    assert list(opened_list(dialog, "TABLE")) == ["visits"]
    assert choose(dialog, "SCHEMA", "registry") == "registry"
    assert choose(dialog, "TABLE", "patients") == "patients"
    choose(dialog, "RECORD_REGION", "area")
    choose(dialog, "QUASI_IDENTIFIERS", "sex")
    done = click_run(dialog)
    assert done.successful, done.log
    assert done.results["N_RECORDS"] == 10


@contextmanager
def kept_in_qgis(place, name):
    """A connection of this name to such a place, whose user and password are in QGIS's authentication; its uri."""
    metadata = QgsProviderRegistry.instance().providerMetadata("postgres")
    manager = QgsApplication.authManager()
    if metadata is None or manager.isDisabled() or not manager.setMasterPassword("of the tests", True):
        pytest.skip("this QGIS has no provider for PostgreSQL, or no authentication of its own")
    config = QgsAuthMethodConfig("Basic")
    config.setName("claims")
    config.setConfig("username", "nurse")
    config.setConfig("password", "hunter2")
    stored = manager.storeAuthenticationConfig(config)
    assert stored if isinstance(stored, bool) else stored[0]
    uri = f"{place} authcfg={config.id()}"
    metadata.saveConnection(metadata.createConnection(uri, {}), name)
    yield uri
    metadata.deleteConnection(name)
    manager.removeAuthenticationConfig(config.id())


@pytest.fixture
def kept_by_qgis(provider):
    with kept_in_qgis("dbname='records' host=127.0.0.1 port=1", "kept"):
        yield "kept"


@pytest.fixture
def asking(provider, tmp_path):
    """The place of a server of its own that asks “nurse” for a password, with people whom nobody else may read."""
    dbapi, arrow = needed("adbc_driver_postgresql.dbapi"), needed("pyarrow")
    with postgres_server.running() as database:
        with dbapi.connect(database.address, autocommit=True) as there, there.cursor() as cursor:
            cursor.execute("CREATE ROLE nurse LOGIN PASSWORD 'hunter2'")
            cursor.adbc_ingest("people", arrow.table({"area": ["1", "2"] * 5, "sex": ["F"] * 10}))
            cursor.execute("GRANT SELECT ON people TO nurse")
            cursor.execute("SELECT current_setting('hba_file')")
            ((rules,),) = cursor.fetchall()
            cursor.execute(f"COPY (SELECT 'host all nurse 127.0.0.1/32 scram-sha-256') TO '{rules}'")
            cursor.execute("SELECT pg_reload_conf()")
        yield database.uri.replace(" user='vbas'", "")


@pytest.mark.slow
def test_a_server_that_asks_for_the_password_that_qgis_keeps(asking, run):
    given = {"RECORD_REGION": "area", "QUASI_IDENTIFIERS": "sex", "PROFILE": "memory:"}
    with kept_in_qgis(asking, "asking") as uri:
        done = run("profiledatabase", CONNECTION="asking", TABLE="people", **given)
        layer = QgsVectorLayer(f'{uri} table="public"."people"', "people", "postgres")
        assert layer.isValid()
        read = run("profilerecords", RECORDS=layer, RECORD_REGION="area", QUASI_IDENTIFIERS=["sex"], PROFILE="memory:")
    assert done.results["N_RECORDS"] == sum(row["records"] for row in read.rows("PROFILE")) == 10
    assert not any("hunter2" in line for one in (done, read) for line in one.log)
    wrong = asking.replace("'postgres'", "postgres").replace("'", "") + " user=nurse"
    with pytest.raises(QgsProcessingException) as error:
        run("profiledatabase", CONNECTION=wrong, TABLE="people", **given)
    assert "hunter2" not in str(error.value)


def test_a_password_comes_from_the_authentication_of_qgis(kept_by_qgis, run, monkeypatch):
    from vbas.algorithms.databases.choosing import address_of
    from vbas.core.errors import VbasError

    found = address_of(kept_by_qgis)
    assert "user='nurse'" in found.connection and "password='hunter2'" in found.connection
    assert "hunter2" not in repr(found) and found.place == kept_by_qgis
    needed("adbc_driver_postgresql")
    given = {"RECORD_REGION": "a", "QUASI_IDENTIFIERS": "b", "TABLE": "c", "PROFILE": "memory:"}
    with pytest.raises(QgsProcessingException, match="cannot be reached") as error:
        run("profiledatabase", CONNECTION=kept_by_qgis, **given)
    assert "hunter2" not in str(error.value)
    kept = QgsProviderRegistry.instance().providerMetadata("postgres").findConnection(kept_by_qgis).uri()
    if not QgsDataSourceUri(kept).authConfigId():
        pytest.skip("this QGIS opens what it keeps as soon as it is asked for a connection (3.22.4)")
    monkeypatch.setattr(QgsDataSourceUri, "connectionInfo", lambda self, _: f"authcfg={self.authConfigId()}")
    with pytest.raises(VbasError, match="enter the master password"):
        address_of(kept_by_qgis)
