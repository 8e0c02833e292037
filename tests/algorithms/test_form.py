"""What every form gets from the one base: its numbers, and the time until all is in its place."""

from __future__ import annotations

import gc
import time

import pytest
from qgis.core import QgsApplication, QgsProcessingException

from vbas.algorithms.named import GROUPS, TOOLBOX
from vbas.core.publish import file_place as delivery
from vbas.core.records.table import RecordTable
from vbas.vbas_plugin.models import TITLES

from .conftest import make_layer


def test_all_declared_numbers_come_out_and_the_running_time_ends_with_the_delivery(anonymize, tmp_path, monkeypatch):
    real = delivery.FilePlace.put

    def slow(place, *rest):
        time.sleep(0.5)
        return real(place, *rest)

    monkeypatch.setattr(delivery.FilePlace, "put", slow)
    started = time.perf_counter()
    results = anonymize(RELEASED_RECORDS=str(tmp_path / "released.gpkg"), COMBINATION="most compact").results
    elapsed = time.perf_counter() - started
    form = QgsApplication.processingRegistry().algorithmById("vbas:anonymize")
    declared = {output.name() for output in form.outputDefinitions() if output.type() == "outputNumber"}
    assert len(declared) == 10
    assert declared <= set(results)
    assert 0.5 < results["RUNNING_TIME"] <= elapsed


def test_the_toolbox_of_names_is_the_toolbox_of_forms(provider):
    forms = {algorithm.name(): algorithm for algorithm in provider.algorithms() if algorithm.name() in TOOLBOX}
    assert list(TOOLBOX) == [one for one in TOOLBOX if one in forms]
    assert len(provider.algorithms()) == len(TOOLBOX) + len(TITLES)  # of the models
    for name, (title, group) in TOOLBOX.items():
        assert (forms[name].displayName(), forms[name].group()) == (title, GROUPS[group])


def tables():
    return [one for one in gc.get_objects() if type(one) is RecordTable]


@pytest.mark.slow
def test_a_run_that_ends_in_an_error_holds_on_to_no_records(anonymize, grid):
    """QGIS keeps the exception for good, and with it every frame of its traceback."""
    before = tables()  # of other tests, which keep the demonstration city
    records = make_layer({"home": ["nowhere"] + ["460000"] * 39, "sex": ["F"] * 40, "age": [1] * 40})
    with pytest.raises(QgsProcessingException, match="nowhere"):
        anonymize(RECORDS=records)
    gc.collect()
    assert len(tables()) <= len(before)
