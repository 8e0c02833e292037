"""Layers in memory: written in runs of equal rows, recounted from the layer itself, with a bar that moves by rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qgis.core import (
    QgsApplication,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputLayerDefinition,
    QgsProcessingUtils,
    QgsProject,
    QgsVectorLayer,
)

from vbas.algorithms.compat import field
from vbas.algorithms.layers.delivery import second_count, temporary
from vbas.algorithms.layers.delivery.writing import fill
from vbas.algorithms.layers.tables import Table
from vbas.core.errors import PrivacyError, VbasError
from vbas.core.publish.counting import SecondCount
from vbas.core.publish.file_place import FilePlace

from .conftest import python

VALUES = st.sampled_from([None, "", "NULL", "1", "a", "é"])


def in_memory(table):
    layer = QgsVectorLayer("None", "rows", "memory")
    layer.dataProvider().addAttributes(table.fields)
    layer.updateFields()
    fill(layer.dataProvider(), table, lambda _: None)
    return layer


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from([None, 0, 1, 2]), VALUES), min_size=1, max_size=30))
def test_rows_come_back_as_they_were(qgis_app, rows):
    """Neighbours that are nearly the same are the point: a row must never get the values of the one before."""
    table = Table([field("number", "long"), field("text", "text")], [list(column) for column in zip(*rows)])
    layer = in_memory(table)
    assert [tuple(map(python, feature.attributes())) for feature in layer.getFeatures()] == rows
    sizes = [rows.count(row) for row in rows]
    second_count.check_layer("OUT", layer, table, SecondCount(min(sizes), 2))
    with pytest.raises(PrivacyError):
        second_count.check_layer("OUT", layer, table, SecondCount(min(sizes) + 1, 2))


def test_equal_numbers_of_two_types_stay_two():
    """Python takes 1 for True and for 1.0: the row after must not inherit the type of the one before."""
    classes = second_count._Classes(SecondCount(1, 1), 1)
    classes.add([[1], [1.0], [True], ["1"], [None]])
    classes.add([[1.0], [1]])
    assert sorted(classes.sizes.values()) == [1, 1, 1, 2, 2]
    table = Table([field("real", "real")], [[1, True, 1.0]])
    written = []

    class Sink:
        def addFeature(self, feature, flags):
            written.append(type(feature.attributes()[0]))
            return True

    fill(Sink(), table, lambda _: None)
    assert written == [int, bool, float]


def test_the_bar_moves_while_a_layer_is_written_and_recounted(anonymize, monkeypatch):
    moved = []
    monkeypatch.setattr("vbas.algorithms.layers.tables.CHUNK", 100)
    monkeypatch.setattr(second_count, "CHUNK", 100)
    monkeypatch.setattr(second_count, "FEATURES", 50)
    monkeypatch.setattr(QgsProcessingFeedback, "setProgress", lambda _, percent: moved.append(percent))
    anonymize()
    assert moved == sorted(moved)
    for start, stop in ((65, 71), (71, 80)):  # written, recounted
        assert len([percent for percent in moved if start < percent <= stop]) >= 5


@pytest.mark.parametrize("stop_at", [45, 60])
def test_cancel_while_a_layer_is_written_or_recounted_leaves_nothing(anonymize, monkeypatch, stop_at):
    monkeypatch.setattr("vbas.algorithms.layers.tables.CHUNK", 100)
    monkeypatch.setattr(second_count, "CHUNK", 100)
    monkeypatch.setattr(second_count, "FEATURES", 50)
    with pytest.raises(Exception, match="Cancelled"):
        anonymize(stop_at=stop_at)


def test_a_layer_that_lost_a_row_is_refused(qgis_app):
    table = Table([field("number", "long")], [np.repeat([1, 2], 5)])
    layer = in_memory(table)
    layer.dataProvider().deleteFeatures([next(layer.getFeatures()).id()])
    with pytest.raises(PrivacyError, match="9 of 10 rows"):
        second_count.check_layer("OUT", layer, table, SecondCount(4, 1))


# ---- large temporary tables are files of QGIS's temporary folder, and nobody need know


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(temporary, "LARGE", 100)


@pytest.mark.slow
def test_a_large_temporary_table_is_as_one_in_memory(anonymize, large):
    in_memory = anonymize(RELEASED_RECORDS="memory:", KEEP_FIELDS=["diagnosis"])
    in_a_file = anonymize(RELEASED_RECORDS="TEMPORARY_OUTPUT", KEEP_FIELDS=["diagnosis"])
    one, other = (done.layer("RELEASED_RECORDS") for done in (in_memory, in_a_file))
    assert (one.providerType(), other.providerType()) == ("memory", "ogr")
    assert one.isTemporary() and other.isTemporary()
    assert in_a_file.context.temporaryLayerStore().mapLayer(other.id()) is other
    assert in_memory.rows("RELEASED_RECORDS") == [
        {name: value for name, value in row.items() if name != "fid"} for row in in_a_file.rows("RELEASED_RECORDS")
    ]
    assert other.name() == one.name()
    assert other.metadata().abstract() == one.metadata().abstract()
    assert other.metadata().licenses() == one.metadata().licenses()
    assert other.attributeAlias(other.fields().lookupField("vbas_region")) == one.attributeAlias(0) != ""
    said = next(line for line in in_a_file.log if line.startswith("You may publish"))
    assert "Released records" in said and ".gpkg" not in said


def test_it_is_loaded_under_its_name(run, grid, large):
    project = QgsProject.instance()
    areas, records = grid
    sink = QgsProcessingOutputLayerDefinition("TEMPORARY_OUTPUT", project)
    done = run(
        "anonymize",
        REGIONS=areas,
        REGION_ID="da",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        RELEASED_RECORDS=sink,
    )
    (identifier,) = done.context.layersToLoadOnCompletion()
    assert identifier == done.results["RELEASED_RECORDS"] == done.layer("RELEASED_RECORDS").id()
    details = done.context.layerToLoadOnCompletionDetails(identifier)
    assert details.project is project
    assert details.postProcessor() is not None


@pytest.mark.parametrize(
    ("output", "given"),
    [
        ("RELEASED_RECORDS", "memory:"),  # what is asked for by that word is that
        ("REGION_AUDIT", "TEMPORARY_OUTPUT"),  # internal
        ("RELEASED_REGIONS", "TEMPORARY_OUTPUT"),  # has shapes
    ],
)
def test_what_stays_in_memory(anonymize, monkeypatch, output, given):
    monkeypatch.setattr(temporary, "LARGE", 1)
    assert anonymize(**{output: given}).layer(output).providerType() == "memory"


def test_a_small_temporary_table_stays_in_memory(anonymize):
    assert anonymize(RELEASED_RECORDS="TEMPORARY_OUTPUT").layer("RELEASED_RECORDS").providerType() == "memory"


def test_an_internal_table_never_stands_in_the_temporary_folder(qgis_app):
    table = Table([field("number", "long")], [np.arange(temporary.LARGE)])
    assert temporary.belongs_in_a_file(table, "Crosswalk (for release)")
    assert not temporary.belongs_in_a_file(table, "Profile (internal)")


def test_a_failed_run_leaves_nothing_in_the_temporary_folder(anonymize, large, monkeypatch):
    folder = Path(QgsProcessingUtils.tempFolder())
    before = set(folder.rglob("*"))

    def refuse(place):
        raise VbasError("it is the end")

    monkeypatch.setattr(FilePlace, "check", refuse)
    with pytest.raises(Exception, match="could not be put in their place: it is the end"):
        anonymize(RELEASED_RECORDS="TEMPORARY_OUTPUT")
    assert not [path for path in set(folder.rglob("*")) - before if path.is_file()]


@pytest.mark.parametrize("ends", ["in its place", "while a layer is filled"])
def test_what_a_failed_run_has_made_is_not_loaded(provider, grid, tmp_path, monkeypatch, ends):
    """QGIS loads what a run has announced also where the run has failed."""

    def refuse(*_):
        raise VbasError("it is the end")

    if ends == "in its place":
        monkeypatch.setattr(FilePlace, "check", refuse)
    else:
        monkeypatch.setattr("vbas.algorithms.layers.delivery.outputs.check_layer", refuse)
    project, (areas, records) = QgsProject.instance(), grid
    places = {
        "RELEASED_RECORDS": "TEMPORARY_OUTPUT",
        "RELEASED_REGIONS": "memory:",
        "REGION_AUDIT": f"ogr:dbname='{tmp_path / 'new.gpkg'}' table=\"audit\" (geom)",
        "CROSSWALK": str(tmp_path / "crosswalk.csv"),
    }
    given = {"REGIONS": areas, "REGION_ID": "da", "RECORDS": records, "RECORD_REGION": "home"}
    given |= {name: QgsProcessingOutputLayerDefinition(place, project) for name, place in places.items()}
    context, found = (
        QgsProcessingContext(),
        QgsApplication.processingRegistry().algorithmById("vbas:anonymize").create(),
    )
    context.setProject(project)
    with pytest.raises(QgsProcessingException, match="it is the end"):
        found.run({**given, "QUASI_IDENTIFIERS": ["sex"]}, context, QgsProcessingFeedback(False), {}, False)
    assert not context.layersToLoadOnCompletion()
    layers = context.temporaryLayerStore().mapLayers().values()
    assert layers and [layer.featureCount() for layer in layers] == [0] * len(layers)
