"""Real runs with passwords in what they are given: none in their log, their results, their pages, their sentences."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from itertools import product

import pytest
from qgis.core import (
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingOutputLayerDefinition,
    QgsProcessingUtils,
    QgsProject,
    QgsVectorLayer,
    QgsVectorLayerExporter,
)

from vbas.algorithms.layers.feedback import DiscreetFeedback, addresses_in, texts_in

from ..each import holds_for_each
from ..secrets_written import PLAIN, WRITTEN
from .conftest import OUTPUTS, Feedback
from .test_destinations import save

PARTS = ("hunter2", "ter2", "hun ")


def test_a_layer_that_does_not_open_is_named_without_its_secret(run):
    def named(written):
        address, secret, _ = WRITTEN[written]
        with pytest.raises(QgsProcessingException) as error:
            run("profilerecords", RECORDS=address, RECORD_REGION="a", QUASI_IDENTIFIERS=["b"], PROFILE="memory:")
        told = " ".join([str(error.value), str(error.value.__cause__), *getattr(error.value, "said", [])])
        assert secret not in told and not any(part in told for part in PARTS), told
        assert "RECORDS" in told

    holds_for_each(named, product(WRITTEN))


@pytest.mark.slow
def test_nor_where_an_output_cannot_be_written(provider, grid):
    """Headless nobody need have asked `checkParameterValues`."""

    def named(written):
        address, secret, _ = WRITTEN[written]
        given = {"RECORDS": grid[1], "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex"], "PROFILE": address}
        feedback = Feedback()
        with pytest.raises(QgsProcessingException) as error:
            provider.algorithm("profilerecords").create().run(given, QgsProcessingContext(), feedback, {}, False)
        told = " ".join([str(error.value), *feedback.said])
        assert secret not in told and not any(part in told for part in PARTS), told

    holds_for_each(named, product(WRITTEN))


def test_nothing_of_it_gets_into_the_log():
    def logged(written):
        address, secret, stays = WRITTEN[written]
        inner = Feedback()
        log = DiscreetFeedback(inner, addresses_in({"RECORDS": address}, QgsProcessingContext()))
        log.pushInfo(f"It said: {address}")
        log.pushWarning(f'invalid value "{secret}" in RECORDS')
        assert not any(part in " ".join(inner.said) for part in PARTS), inner.said
        assert stays in inner.said[0] and "in RECORDS" in inner.said[1]

    holds_for_each(logged, product(WRITTEN))


def test_the_log_is_that_of_the_run():
    inner = Feedback()
    log = DiscreetFeedback(inner, ())
    log.setProgress(40.0)
    assert inner.progress() == log.progress() == 40.0
    log.cancel()
    assert inner.isCanceled() and log.isCanceled()
    for text in PLAIN:
        log.pushInfo(text)
    assert inner.said == list(PLAIN)


@pytest.mark.slow
@pytest.mark.parametrize("password", ["'hunter2'", "'hun ter2'", "'hun\\'ter2'", "hunter2"])
def test_a_good_run_with_a_password_shows_it_nowhere(anonymize, server, sql, grid, tmp_path, password):
    sql("CREATE TABLE people (id serial PRIMARY KEY, home text, sex text, age int)")
    values = ", ".join(f"('{row['home']}', '{row['sex']}', {row['age']})" for row in grid[1].getFeatures())
    sql(f"INSERT INTO people (home, sex, age) VALUES {values}")
    with_password = f"{server} password={password}"
    people = QgsVectorLayer(f'{with_password} key=\'id\' table="public"."people"', "people", "postgres")
    assert people.isValid()
    place, page = f'postgres://{with_password} table="public"."released"', tmp_path / "report.html"
    done = anonymize(RECORDS=people, RELEASED_RECORDS=place, REPORT=str(page))
    shown = page.read_text(encoding="utf-8")
    for told in (str(done.results), "\n".join(done.log), shown):
        assert not any(part in told for part in PARTS), password
    assert "The password in RECORDS is left out" in shown and "people" in shown
    assert [one for one in done.log if "The address in RELEASED_RECORDS holds a password" in one]
    assert done.results["RELEASED_RECORDS"].startswith("public_released")
    # Whoever goes on with the result, a model for one, has the table all the same.
    assert done.layer("RELEASED_RECORDS").featureCount() == done.results["N_RECORDS"] - done.results["N_SUPPRESSED"]
    assert done.layer("RELEASED_RECORDS").dataProvider().uri().table() == "released"


@contextmanager
def served(folder):
    """The files of a folder on the web of this machine: the port."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline().split("port ")[1].split()[0])
        finally:
            server.terminate()


def everything(folder, done):
    """All that a run leaves: its log and results, every byte of its files, and what its layers say of themselves."""
    told = [str(done.results), *done.log, *(path.read_bytes().decode("latin-1") for path in folder.rglob("*.*"))]
    loaded = done.context.layersToLoadOnCompletion()
    for key, details in loaded.items():
        layer = QgsProcessingUtils.mapLayerFromString(key, done.context)
        if details.postProcessor() is not None:
            details.postProcessor().postProcessLayer(layer, done.context, Feedback())
        said = layer.metadata()
        told += [details.name, layer.name(), said.title(), said.abstract(), *said.history()]
    return told


@pytest.mark.slow
@pytest.mark.parametrize("way", ["PostgreSQL", "web"])
def test_whatever_a_good_run_leaves_holds_no_secret_of_its_layers(anonymize, server, sql, grid, tmp_path, way):
    """Of records, or of areas too: in both reports, the register, all files and what layers say of themselves."""
    given, folder, web = {}, tmp_path / "outputs", tmp_path / "web"
    folder.mkdir()
    web.mkdir()
    with served(web) as port:
        if way == "web":
            for name, layer in zip(("REGIONS", "RECORDS"), grid):
                save(layer, web / f"{name}.geojson", "GeoJSON")
                address = f"/vsicurl_streaming/http://127.0.0.1:{port}/{name}.geojson?token=hunter2"
                given[name] = QgsVectorLayer(address, name, "ogr")
        else:
            there = f"{server} password='hunter2' key='id' table=\"public\".\"people\""
            _, told = QgsVectorLayerExporter.exportLayer(grid[1], there, "postgres", grid[1].crs(), False)
            assert not told
            given["RECORDS"] = QgsVectorLayer(there, "people", "postgres")
        assert all(layer.isValid() and "hunter2" in layer.source() for layer in given.values())
        project = QgsProject.instance()
        files = {name: folder / f"{name.lower()}.gpkg" for name in OUTPUTS}
        files = {name: QgsProcessingOutputLayerDefinition(str(file), project) for name, file in files.items()}
        pages = {name: str(folder / f"{name.lower()}.html") for name in ("REPORT", "RELEASE_REPORT")}
        done = anonymize(**given, **files, **pages, REGISTER=str(folder / "register.gpkg"))
    left = everything(folder, done)
    assert len(list(folder.iterdir())) == len(OUTPUTS) + len(pages) + 1 and len(left) > 30
    assert not [one for one in left if any(part in one for part in PARTS)]


def test_a_result_without_a_password_is_the_address(anonymize, server, sql):
    done = anonymize(RELEASED_RECORDS=f'postgres://{server} table="public"."released"')
    assert "127.0.0.1" in done.results["RELEASED_RECORDS"] and "released" in done.results["RELEASED_RECORDS"]


def test_layers_of_the_project_are_known_by_id_and_name(server, sql):
    sql("CREATE TABLE people (id serial PRIMARY KEY, home text)")
    layer = QgsVectorLayer(f"{server} password='hunter2' key='id' table=\"public\".\"people\"", "of people", "postgres")
    project, context = QgsProject.instance(), QgsProcessingContext()
    context.setProject(project)
    project.addMapLayer(layer)
    try:
        for given in (layer, layer.id(), "of people", [layer.id()]):
            assert addresses_in({"RECORDS": given}, context) == (layer.source(),)
    finally:
        project.removeMapLayer(layer.id())
    assert list(texts_in(7)) == []


MODEL = "inplacestepbystep"


@pytest.mark.slow
def test_no_connection_with_a_password_gets_into_the_history(provider):
    """QGIS writes what is taken here into its history, and nothing else."""

    def refused(algorithm, written):
        address, secret, _ = WRITTEN[written]
        form = provider.algorithm(algorithm).create()
        taken, problem = form.checkParameterValues({"CONNECTION": address}, QgsProcessingContext())
        assert not taken and "CONNECTION" in problem
        assert secret not in problem and not any(part in problem for part in PARTS)

    holds_for_each(refused, product(["anonymizedatabase", "profiledatabase", "releasedatabase", MODEL], WRITTEN))


def test_a_wrong_password_is_told_to_nobody(anonymize, server, sql):
    """Of a server that asks: the records, and the place of an output."""
    sql("DO $$ BEGIN CREATE ROLE nurse LOGIN PASSWORD 'right'; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    ((rules,),) = sql("SELECT current_setting('hba_file')")
    asks = "'host all nurse 127.0.0.1/32 scram-sha-256', 'host all all 127.0.0.1/32 trust'"
    sql(f"COPY (SELECT unnest(ARRAY[{asks}])) TO '{rules}'")
    sql("SELECT pg_reload_conf()")
    nurse = server.replace("'vbas'", "'nurse' password='hun ter2'")
    for given in (
        {"RECORDS": f'postgres://{nurse} table="public"."people"'},
        {"RECORDS": f"PG:{nurse} tables=people"},
        {"RELEASED_RECORDS": f'postgres://{nurse} table="public"."released"'},
    ):
        with pytest.raises(QgsProcessingException) as error:
            anonymize(**given)
        told = " ".join([str(error.value), str(error.value.__cause__), *getattr(error.value, "said", [])])
        assert not any(part in told for part in PARTS), told
        assert "people" in told or "cannot be reached: Connection failed: dbname='" in told
