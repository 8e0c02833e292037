"""Layers in memory: written in runs of equal rows, recounted from the layer itself, with a bar that moves by rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qgis.core import QgsProcessingFeedback, QgsVectorLayer

from vbas.algorithms.compat import field
from vbas.algorithms.layers.delivery import second_count
from vbas.algorithms.layers.delivery.writing import fill
from vbas.algorithms.layers.tables import SecondCount, Table
from vbas.core.errors import PrivacyError

from .conftest import python

VALUES = st.sampled_from([None, "", "NULL", "1", "a", "é"])


def in_memory(table):
    layer = QgsVectorLayer("None", "rows", "memory")
    layer.dataProvider().addAttributes(table.fields)
    layer.updateFields()
    fill(layer.dataProvider(), table, lambda _: None)
    return layer


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
    for start, stop in ((40, 52), (52, 70)):  # written, recounted
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
