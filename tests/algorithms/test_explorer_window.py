"""The dock as somebody uses it: clicks, keys, layers that change or go, cancelling, closing, a narrow window."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from qgis.core import QgsPointXY, QgsProject
from qgis.PyQt import sip
from qgis.PyQt.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from qgis.PyQt.QtGui import QColor, QFont, QFontMetrics, QWheelEvent
from qgis.PyQt.QtTest import QTest

from vbas.algorithms import anonymize
from vbas.algorithms.explorer_data import Reading
from vbas.algorithms.layers.feedback import check_cancelled
from vbas.core import language
from vbas.vbas_plugin.explorer.curve_view import LINE, MARK
from vbas.vbas_plugin.explorer.lost_bars import Bar
from vbas.vbas_plugin.explorer.map_layer import GROUP
from vbas.vbas_plugin.explorer.swipe import PLAIN
from vbas.vbas_plugin.provider import VbasPlugin
from vbas.vbas_plugin.release import entry as entry_module
from vbas.vbas_plugin.release.dock import DECIDE

from ..patience import PATIENCE
from .conftest import make_layer
from .explorer_window import choose_combination, choose_number, let_pass, look, settle, wait_for
from .test_explorer import FIELDS, dock, entry

__all__ = ["dock", "entry"]


def layer(name):
    return QgsProject.instance().mapLayersByName(name)[0]


def groups():
    return [group.name() for group in QgsProject.instance().layerTreeRoot().findGroups()]


@pytest.fixture
def slow(monkeypatch):
    """Reading that takes until it is cancelled; `seen` tells what was there when it ended."""
    from vbas.algorithms import explorer_data

    begun, read = threading.Event(), explorer_data.records_of
    seen: dict[str, Any] = {"begun": begun}

    def wait(job, areas, k):
        begun.set()
        source = job.layers.source("RECORDS")
        until = time.monotonic() + PATIENCE
        while not job.layers.feedback.isCanceled() and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(0.1)  # as a reader that looks only now and then
        seen["layer was there"] = not sip.isdeleted(source.layer)
        check_cancelled(job.layers.feedback)
        return read(job, areas, k)

    monkeypatch.setattr(explorer_data, "records_of", wait)
    return seen


def test_the_window_lives_while_records_are_read_and_cancel_ends_it(dock, slow):
    dock.data.tick(list(FIELDS))
    dock.look.click()
    wait_for(slow["begun"].is_set)
    let_pass()
    assert dock.cancel.isVisibleTo(dock) and dock.bar.isVisibleTo(dock) and dock.session.state is None
    dock.cancel.click()
    settle(dock)
    assert dock.message.text().startswith("Cancelled") and dock.session.state is None
    assert not dock.cancel.isVisibleTo(dock) and dock.map.layer is None


@pytest.mark.parametrize("how", ["layer", "all layers", "project"])
def test_layers_that_leave_while_they_are_read_wait_until_nobody_reads_them(dock, slow, how):
    dock.data.tick(list(FIELDS))
    dock.look.click()
    wait_for(slow["begun"].is_set)
    if how == "layer":
        QgsProject.instance().removeMapLayer(layer("people"))
    elif how == "all layers":
        QgsProject.instance().removeAllMapLayers()
    else:
        QgsProject.instance().clear()
    assert slow["layer was there"]
    settle(dock)
    assert dock.session.state is None and not dock.session.busy
    if how == "layer":
        assert dock.message.text() == "The layer “people” was removed from the project: choose another one."
    dock.look.click()
    settle(dock)
    assert dock.message.text().startswith(("Choose the", "Say of at least"))


def test_layers_that_leave_while_candidates_are_made_wait_for_that(dock, entry, monkeypatch):
    """They are asked what their fields are called: QGIS ended where they had gone."""
    begun, seen = threading.Event(), []

    def wait(reading, explorer_data, feedback):
        begun.set()
        until = time.monotonic() + PATIENCE
        while not feedback.isCanceled() and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(0.1)
        seen.append([sip.isdeleted(layer) for layer in reading.layers])
        check_cancelled(feedback)

    monkeypatch.setattr(Reading, "account", wait)
    look(dock, *FIELDS)
    entry.dock.go_to(DECIDE)
    wait_for(begun.is_set)
    QgsProject.instance().removeMapLayer(layer("people"))
    assert seen == [[False, False]]
    settle(dock)
    assert not entry.dock.decide.busy and not entry.dock.decide.candidates


def test_layers_that_leave_while_a_release_is_made_wait_until_nobody_reads_them(dock, entry, monkeypatch, tmp_path):
    begun, seen, read = threading.Event(), [], anonymize.records_of

    def wait(job, areas, k):
        begun.set()
        until = time.monotonic() + PATIENCE
        while not job.layers.feedback.isCanceled() and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(0.1)
        seen.append(sip.isdeleted(job.layers.source("RECORDS").layer))
        return read(job, areas, k)

    monkeypatch.setattr(anonymize, "records_of", wait)
    whole = entry.dock
    look(dock, *FIELDS)
    whole.go_to(DECIDE)
    settle(dock)
    wait_for(lambda: not whole.decide.busy and whole.state.decision)
    whole.hand_over.folder.setFilePath(str(tmp_path / "release"))
    whole.hand_over.go.click()
    wait_for(begun.is_set)
    QgsProject.instance().removeMapLayer(layer("people"))
    assert seen == [False]
    wait_for(lambda: not whole.hand_over.busy)
    assert whole.hand_over.message.text() == (
        "The layer “people” was removed from the project while it was read: nothing was written. Add it again, and run "
        "once more."
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_clearing_while_records_are_read_ends_it_without_a_word(dock, slow):
    dock.data.tick(list(FIELDS))
    dock.look.click()
    wait_for(slow["begun"].is_set)
    dock.forget()
    settle(dock)
    assert dock.session.state is None and dock.map.layer is None and dock.message.isHidden()


@pytest.mark.slow
def test_a_layer_that_is_removed_or_edited_afterwards_asks_for_another_look(dock):
    look(dock, *FIELDS)
    assert dock.anonymise.isEnabled() and dock.results.isEnabled()
    records = layer("people")
    records.startEditing()
    records.changeAttributeValue(1, records.fields().indexOf("age"), 77)
    let_pass()
    assert "changed since it was read" in dock.message.text() and not dock.anonymise.isEnabled()
    look(dock, *FIELDS)  # with the edits, as the algorithm would read them
    ages = dock.session.state.explorer_data.profile.categories[1].tolist()
    assert 77 in ages and dock.anonymise.isEnabled()
    assert dock.message.text() == (
        "Records (RECORDS) has edits that were not saved: it is read with them, as QGIS shows it."
    )
    records.rollBack()
    let_pass()
    assert not dock.anonymise.isEnabled()
    look(dock, *FIELDS)
    assert 77 not in dock.session.state.explorer_data.profile.categories[1].tolist() and dock.message.isHidden()
    QgsProject.instance().removeMapLayer(records)
    assert "“people” was removed" in dock.message.text() and not dock.anonymise.isEnabled()
    dock.anonymise.click()
    dock.choices.k.setValue(7)  # nothing to ask for any more
    assert not dock.session.busy and dock._dialog is None


def test_other_data_ask_for_another_look_until_they_are_taken_back(dock):
    look(dock, *FIELDS)
    dock.data.tick(["sex"])
    assert "press Look" in dock.message.text() and not dock.anonymise.isEnabled()
    dock.data.tick(list(FIELDS))
    assert dock.message.isHidden() and dock.anonymise.isEnabled()
    dock.data.record_region.setField("diagnosis")
    assert not dock.anonymise.isEnabled()
    wait_for(lambda: not dock.data.busy)  # which finds other roles, and these are other data
    dock.look.click()
    settle(dock)
    assert "No record's “diagnosis” is found in" in dock.message.text()
    dock.data.changed.emit()  # as when the data were looked over again
    assert "No record's “diagnosis” is found in" in dock.message.text()
    assert dock.session.state.data["RECORD_REGION"] == "home" and not dock.anonymise.isEnabled()


BAD = {
    "no areas": (lambda d: d.data.regions.setLayer(None), "Choose the layer of areas"),
    "no records": (lambda d: d.data.records.setLayer(None), "Choose the table of records."),
    "no identifier": (lambda d: d.data.region_id.setField(""), "Choose the field that identifies the areas."),
    "no area of record": (lambda d: d.data.record_region.setField(""), "says in which area a person lives"),
    "nothing ticked": (lambda d: d.data.tick([]), "Say of at least one column"),
    "not unique": (lambda d: d.data.region_id.setField("people"), "is not unique"),
    "k too large": (lambda d: d.choices.k.setValue(1000), None),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_in_one_sentence(dock, case):
    spoil, sentence = BAD[case]
    dock.data.tick(list(FIELDS))
    spoil(dock)
    dock.look.click()
    settle(dock)
    if sentence is None:
        assert dock.session.state.shown.measures.n_suppressed == 36 * 40
    else:
        assert sentence in dock.message.text() and "\n" not in dock.message.text()
        assert dock.session.state is None and dock.map.layer is None


def test_a_fault_of_the_program_is_told_without_what_it_holds(dock, monkeypatch):
    def fail(*_):
        raise KeyError("Jane Doe")

    monkeypatch.setattr("vbas.algorithms.explorer_data.populated", fail)
    look(dock, *FIELDS)
    assert "A fault of VBAS itself" in dock.message.text() and "KeyError" in dock.message.text()
    assert "Jane" not in dock.message.text() and dock.session.state is None
    monkeypatch.undo()
    look(dock, *FIELDS)
    assert dock.session.state is not None and dock.message.isHidden()


def test_empty_layers_end_in_one_sentence(entry):
    squares = ["Polygon((0 0, 1 0, 1 1, 0 1, 0 0))"]
    for made, name in ((make_layer({"da": ["a"]}, squares), "areas"), (make_layer({"da": ["a"], "x": [1]}), "people")):
        made.setName(name)
        made.dataProvider().truncate()
        QgsProject.instance().addMapLayer(made)
    entry.show()
    look(entry.dock.look, "x")
    assert entry.dock.look.message.text().endswith("give a layer with at least two areas.")


@pytest.mark.slow
def test_the_curve_is_drawn_and_its_mark_moves(dock):
    dock.curve.setParent(None)  # by itself, so that no layout changes its size
    dock.curve.resize(320, 220)
    assert not coloured(dock.curve, LINE)
    look(dock, *FIELDS)
    choose_number(dock, 3)
    line, first = coloured(dock.curve, LINE), coloured(dock.curve, MARK)
    assert len(line) > 200 and len(first) > 30
    left, right = min(x for x, _ in line), max(x for x, _ in line)
    assert right - left > 0.6 * dock.curve.width()
    choose_number(dock, 33)
    assert min(x for x, _ in coloured(dock.curve, MARK)) > max(x for x, _ in first)
    # What is drawn is where it is said to be, more per cent higher up.
    assert dock.curve.place(500, 20.0).y() < dock.curve.place(500, 1.0).y() < dock.curve.frame().bottom()
    line, point = coloured(dock.curve, LINE), dock.session.state.points[0]
    place = dock.curve.place(point.mean_distance, point.percent)
    assert any(abs(x - place.x()) < 4 and abs(y - place.y()) < 4 for x, y in line)
    assert "33 regions" in dock.curve.accessibleDescription()


def coloured(widget, colour):
    """Where a widget shows a colour."""
    image, wanted = widget.grab().toImage(), QColor(colour).getRgb()[:3]
    across, down = range(image.width()), range(image.height())
    return [(x, y) for x in across for y in down if QColor(image.pixel(x, y)).getRgb()[:3] == wanted]


def test_before_and_after_are_shown_on_both_sides_of_a_line(dock, qgis_iface):
    look(dock, *FIELDS)
    swipe, canvas = dock.swipe, qgis_iface.mapCanvas()
    canvas.setExtent(next(layer("areas").getFeatures()).geometry().boundingBox())
    dock.before.click()
    item = swipe._item
    wait_for(lambda: not item.image.isNull() and swipe._job is None)
    shades = {
        QColor(item.image.pixel(x, y)).name() for x in range(item.image.width()) for y in range(item.image.height())
    }
    assert PLAIN["color"] in shades and item.percent == 50
    dock.line_at.setValue(20)
    assert item.percent == 20 == swipe.percent and swipe.on
    canvas.grab()
    dock.clear.click()
    assert not swipe.on and not dock.before.isChecked() and item not in canvas.scene().items()


def test_a_click_on_the_curve_chooses_the_nearest_number(dock):
    look(dock, *FIELDS)
    point = dock.session.state.points[-1]
    place = dock.curve.place(point.mean_distance, point.percent).toPoint()
    QTest.mouseClick(dock.curve, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    settle(dock)
    assert dock.session.state.shown.n_sites == 36 == dock.chooser.value()


def test_the_map_follows_the_slider_when_it_is_let_go_and_not_before(dock):
    look(dock, *FIELDS)
    slider, before = dock.chooser.slider, dock.map.layer.featureCount()
    slider.setSliderDown(True)
    slider.setValue(slider.maximum() // 2)
    let_pass()
    assert not dock.session.busy and dock.map.layer.featureCount() == before
    assert dock.chooser.value() == dock.chooser._numbers[slider.maximum() // 2] != before
    slider.setSliderDown(False)
    settle(dock)
    assert dock.map.layer.featureCount() == dock.chooser.value()
    QTest.keyClick(slider, Qt.Key.Key_Right)
    settle(dock)
    assert dock.map.layer.featureCount() == dock.chooser.value() == dock.chooser._numbers[slider.value()]


def test_between_two_drags_only_the_last_is_drawn(dock):
    look(dock, *FIELDS)
    for number in (5, 20, 9, 30, 12):
        dock.chooser.number.setValue(number)
    settle(dock)
    assert dock.map.layer.featureCount() == 12 == dock.session.state.shown.n_sites and dock.session.state.curve.whole


@pytest.mark.parametrize("nested", [False, True])
def test_a_click_on_the_map_tells_of_the_region(dock, qgis_iface, nested):
    dock.choices.nested.setChecked(nested)
    dock.choices.k.setValue(18)
    look(dock, *FIELDS)
    choose_number(dock, 8)
    canvas = qgis_iface.mapCanvas()
    canvas.setDestinationCrs(dock.map.layer.crs())
    canvas.setExtent(dock.map.layer.extent())
    dock.panel.button.click()
    assert canvas.mapTool() is dock.map._tool and dock.panel.button.isChecked()
    feature = next(one for one in dock.map.layer.getFeatures() if one["vbas_region"] == 3)
    at = feature.geometry().pointOnSurface().asPoint()
    pixel = canvas.getCoordinateTransform().transform(QgsPointXY(at))
    QTest.mouseClick(
        canvas.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        QPoint(int(pixel.x()), int(pixel.y())),
    )
    let_pass()
    settle(dock)
    told = dock.panel.text.text().replace("&nbsp;", " ")
    assert "Region 3" in told and "internal: not for publishing" in told
    assert f"{feature['records']} records" in told and f"population {feature['population']:,.0f}" in told
    if nested:
        assert f"{feature['shown']} records show this region" in told and f"{feature['coarser']} a larger one" in told
    else:
        assert f"Suppressed: {feature['suppressed']} records" in told and f"{feature['classes']} classes" in told
    dock.map.select_at(QgsPointXY(0, 0))  # beside all regions
    assert "Region 3" in dock.panel.text.text() and not dock.map.layer.selectedFeatureCount()
    choose_number(dock, 5)
    assert dock.panel.text.isHidden()  # that region is no longer there
    dock.panel.button.click()
    assert canvas.mapTool() is not dock.map._tool and not dock.panel.button.isChecked()


def test_a_bar_leaves_out_of_the_column_before_the_value(qgis_app):
    metrics, bar = QFontMetrics(QFont()), Bar("État matrimonial", "Veuf/veuve", 10_230, 2_547)
    whole = metrics.horizontalAdvance(bar.in_words)
    assert bar.within(whole, metrics) == bar.in_words
    for part in (0.9, 0.8, 0.7):
        words = bar.within(part * whole, metrics)
        assert "Veuf/veuve" in words and "24.9" in words and metrics.horizontalAdvance(words) <= part * whole
    assert metrics.horizontalAdvance(bar.within(0.2 * whole, metrics)) <= 0.2 * whole


def test_larger_regions_are_told_of_too(dock):
    dock.choices.nested.setChecked(True)
    look(dock, *FIELDS)
    choose_number(dock, 8)
    last = len(dock.session.state.shown.levels) - 1
    dock.map.select(last, 1)
    settle(dock)
    assert f"Level {last + 1}: " in dock.panel.text.text() and "1440 records" in dock.panel.text.text()


def test_values_of_records_are_no_markup(dock):
    records = layer("people")
    index = records.fields().indexOf("diagnosis")
    records.dataProvider().changeAttributeValues({i: {index: "<b>&x"} for i in range(1, 4)})
    look(dock, "diagnosis")
    choose_number(dock, 36)
    told = []
    for number in range(1, 37):
        dock.map.select(0, number)
        settle(dock)
        told.append(dock.panel.text.text())
    assert not any("<b>&x" in one for one in told) and any("&lt;b&gt;&amp;x" in one for one in told)


def test_its_layer_is_internal_temporary_and_not_saved_with_the_project(dock, tmp_path):
    look(dock, *FIELDS)
    made = dock.map.layer
    assert made.name().endswith("(internal)") and made.customProperty("skipMemoryLayersCheck")
    assert "Not to be published" in made.metadata().licenses()[0]
    assert groups() == [GROUP]
    file = tmp_path / "project.qgs"
    assert QgsProject.instance().write(str(file))
    text = file.read_text()
    assert "people" in text and made.id() not in text and GROUP not in text and "suppressed" not in text
    let_pass()
    assert dock.map.layer is made and groups() == [GROUP] and not QgsProject.instance().isDirty()
    assert QgsProject.instance().mapLayer(made.id()) is made and made.featureCount() == dock.chooser.value()
    QgsProject.instance().setFileName("")


def test_closing_or_clearing_takes_its_layer_away(dock, entry):
    window = entry.dock
    look(dock, *FIELDS)
    dock.clear.click()
    assert dock.map.layer is None and groups() == [] and len(QgsProject.instance().mapLayers()) == 2
    assert dock.session.state is None and not dock.results.isVisibleTo(dock)
    look(dock, *FIELDS)
    assert dock.map.layer is not None and dock.data.chosen() == list(FIELDS)
    window.close()
    assert groups() == [] and len(QgsProject.instance().mapLayers()) == 2 and not entry.action.isChecked()
    entry.show()
    assert entry.dock is window and window.isVisibleTo(window.parent())


def test_what_else_came_into_its_group_stays(dock, entry, tmp_path):
    """QGIS adds layers above the one that is selected: into the group, if that is the dock's."""
    look(dock, *FIELDS)
    project = QgsProject.instance()
    (group,) = (found for found in project.layerTreeRoot().findGroups() if found.name() == GROUP)
    results, table = (make_layer({"n": [1, 2]}) for _ in range(2))
    for layer in (results, table):
        project.addMapLayer(layer, False)
    group.insertGroup(0, "Regions, k = 5").insertLayer(0, results)
    file = tmp_path / "project.qgs"
    assert project.write(str(file))
    saved = file.read_text()
    assert "Regions, k = 5" in saved and saved.count(results.id()) > 1 and "suppressed" not in saved
    let_pass()
    group.insertLayer(0, table)
    dock.clear.click()
    let_pass()
    assert GROUP not in groups() and "Regions, k = 5" in groups() and dock.map.layer is None
    for layer in (results, table):
        assert project.mapLayer(layer.id()) is layer and project.layerTreeRoot().findLayer(layer.id()) is not None
    project.layerTreeRoot().removeAllChildren()
    project.setFileName("")


def test_its_layer_comes_again_after_its_user_removed_it(dock):
    look(dock, *FIELDS)
    QgsProject.instance().removeMapLayer(dock.map.layer)
    let_pass()
    gone = dock.map.layer
    assert gone is None
    dock.panel.button.click()
    assert not dock.panel.button.isChecked()  # there is nothing to click at
    choose_number(dock, 4)
    assert dock.map.layer.featureCount() == 4


def test_a_new_project_begins_with_an_empty_dock(dock):
    look(dock, *FIELDS)
    QgsProject.instance().clear()
    let_pass()
    assert dock.session.state is None and dock.map.layer is None and dock.hint.isVisibleTo(dock)
    assert dock.message.isHidden()


def test_nothing_stays_behind_when_the_plugin_is_unloaded(provider, qgis_iface, monkeypatch):
    before = len(QgsProject.instance().mapLayers())
    for _ in range(2):  # and loaded again
        plugin = VbasPlugin(qgis_iface)
        monkeypatch.setattr(plugin, "initProcessing", lambda: None)  # the provider is there already
        plugin.initGui()
        plugin.release.show()
        shown = plugin.release.dock
        action = plugin.release.action
        plugin.unload()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        assert plugin.release is None and sip.isdeleted(shown) and sip.isdeleted(action)
    assert len(QgsProject.instance().mapLayers()) == before
    QgsProject.instance().addMapLayer(make_layer({"a": ["x"]}))
    QgsProject.instance().removeAllMapLayers()  # nobody listens any more


def test_unloading_ends_the_work_and_takes_the_layer_away(dock, entry, monkeypatch):
    look(dock, *FIELDS)
    dock.choices.nested.setChecked(True)  # which is not waited for
    entry.remove()
    monkeypatch.setattr(entry, "remove", lambda: None)  # which was done
    assert not dock.session.busy and dock.session.state is None
    assert groups() == [] and len(QgsProject.instance().mapLayers()) == 2
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QgsProject.instance().removeAllMapLayers()
    let_pass(0.05)
    assert groups() == []


def test_without_a_package_it_says_so_in_place_of_opening(provider, qgis_iface, monkeypatch):
    said = []
    monkeypatch.setattr(entry_module, "missing_message", lambda: "VBAS needs shapely:\npip install shapely")
    monkeypatch.setattr(qgis_iface.messageBar(), "pushMessage", lambda *words: said.append(words[:3]), raising=False)
    made = entry_module.ReleaseEntry(qgis_iface)
    made.action.trigger()
    assert made.dock is None and said == [("VBAS", "VBAS needs shapely:", "pip install shapely")]
    assert not made.action.isChecked()
    made.remove()


def test_a_plugin_that_is_switched_off_while_the_dock_is_loaded_opens_none(provider, qgis_iface, monkeypatch):
    made = entry_module.ReleaseEntry(qgis_iface)
    monkeypatch.setattr(entry_module, "_load_beside", made.remove)
    made.action.trigger()
    assert made.dock is None


class Longer(language.gettext.NullTranslations):
    """A language whose words are nearly a third longer."""

    def gettext(self, message):
        return " ".join(word if "{" in word else word + "x" * (3 * len(word) // 10) for word in message.split(" "))

    def ngettext(self, one, many, n):
        return self.gettext(one if n == 1 else many)


def test_a_narrow_dock_cuts_nothing_off_even_in_long_words(entry, monkeypatch):
    monkeypatch.setattr(language, "_catalogue", Longer())
    long = "a_field_with_a_name_that_nobody_would_call_short_" * 2
    squares = [
        f"Polygon(({x} {y}, {x + 500} {y}, {x + 500} {y + 500}, {x} {y + 500}, {x} {y}))"
        for y in range(5_520_000, 5_522_000, 500)
        for x in range(630_000, 632_000, 500)
    ]
    names = [f"46{i:02d}" for i in range(16)]
    for made, name in (
        (make_layer({"da": names}, squares), "areas_" * 12),
        (make_layer({"da": names * 30, long: [i % 7 for i in range(480)]}), "people_" * 12),
    ):
        made.setName(name)
        QgsProject.instance().addMapLayer(made)
    entry.show()
    dock = entry.dock.look
    look(dock, long)
    dock.map.select(0, 1)
    choose_combination(dock, "custom")
    inner = entry.dock.scroll.widget()
    for step in range(5):
        entry.dock.go_to(step)
        settle(dock)
        inner.layout().activate()
        bar = entry.dock.scroll.verticalScrollBar().sizeHint().width()
        assert inner.minimumSizeHint().width() + bar + 8 <= entry.dock.minimumWidth() == 300, step


def test_the_wheel_passes_over_numbers(dock):
    spin, middle = dock.choices.k, QPointF(5, 5)
    turned = QWheelEvent(
        middle,
        middle,
        QPoint(0, 0),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QCoreApplication.sendEvent(spin, turned)
    assert spin.value() == 5 and not turned.isAccepted()
    assert spin.focusPolicy() == Qt.FocusPolicy.StrongFocus  # a wheel that passes over does not take it either
