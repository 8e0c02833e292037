"""The explorer in a real QGIS: what it shows is what the main algorithm gives for the parameters it hands over."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from qgis.core import QgsApplication, QgsProject, QgsVectorLayer
from qgis.PyQt.QtCore import QTimer

from vbas.core.aggregation.annealing import schedule
from vbas.core.configuration import CUSTOM, RECOMMENDED
from vbas.vbas_plugin.release.entry import ReleaseEntry

from .conftest import make_layer
from .dialogs import click_through
from .explorer_window import choose_combination, choose_number, crosswalk_of, let_pass, look, settle

FIELDS = ("sex", "age")


@pytest.fixture
def entry(provider, qgis_iface, monkeypatch):
    """The way in; what it leaves behind is looked at by `test_nothing_stays_behind`."""
    monkeypatch.setattr(qgis_iface, "browserModel", lambda: None, raising=False)
    QgsProject.instance().removeAllMapLayers()  # of other tests: the dock proposes what joins best
    made = ReleaseEntry(qgis_iface)
    yield made
    made.remove()
    let_pass()
    QgsProject.instance().removeAllMapLayers()
    QgsProject.instance().layerTreeRoot().clear()


def test_the_window_goes_on_while_the_dock_is_loaded(entry, monkeypatch):
    """What it needs is imported in another thread; who clicks once more meanwhile gets no second dock."""
    threads, clicks, timer = [], [], QTimer()

    def load(*_):
        time.sleep(0.2)
        threads.append(threading.current_thread())

    def click():
        clicks.append(entry.dock)
        entry.show()

    monkeypatch.setattr("vbas.vbas_plugin.release.entry.import_module", load)
    timer.timeout.connect(click)
    timer.start(10)
    entry.show()
    timer.stop()
    assert len(clicks) > 3 and not any(clicks) and not entry.dock.isHidden()
    assert len(threads) == 1 and threads[0] is not threading.main_thread()


@pytest.fixture
def dock(entry, grid):
    """The dock over a town of 36 areas."""
    for layer, name in zip(grid, ("areas", "people")):
        copy = layer.clone()
        if name == "areas":  # other populations than the records would give
            people = {
                feature.id(): {copy.fields().indexOf("people"): 5 + 40 * (feature.id() % 7)}
                for feature in copy.getFeatures()
            }
            copy.dataProvider().changeAttributeValues(people)
        copy.setName(name)
        QgsProject.instance().addMapLayer(copy)
    entry.show()
    made = entry.dock.look
    made.data.region_id.setField("da")
    made.data.population.setField("people")
    made.data.record_region.setField("home")
    yield made


def shown_crosswalk(dock):
    """Numbers of the regions by area, the finest first, as the dock has them."""
    state = dock.session.state
    columns = [crosswalk.numbers[crosswalk.region_of].tolist() for crosswalk in state.shown.levels.crosswalks]
    return dict(zip(state.explorer_data.layer.identifiers, zip(*columns)))


CHOSEN = [
    ("all-rounder", "", "", False),
    ("least suppression", "", "", False),
    ("all-rounder by transport", "", "", False),
    ("most compact", "", "", True),
    (CUSTOM, "random", "basic Voronoi", False),
    (CUSTOM, "balanced density", "anonymity exchange", False),
    (CUSTOM, "balanced density", "population floor", True),
    (CUSTOM, "anonymity-driven clustering", "anonymity exchange", True),
    ("all-rounder", "", "", True),
]


@pytest.mark.slow
@pytest.mark.parametrize(("word", "location", "how", "nested"), CHOSEN)
def test_the_regions_shown_are_those_that_anonymise_makes(dock, run, monkeypatch, word, location, how, nested):
    monkeypatch.setattr(schedule, "WORK_PER_AREA", 20_000)  # that of anonymity exchange, which is slow
    dock.choices.k.setValue(4)
    dock.choices.nested.setChecked(nested)
    choose_combination(dock, word, location, how)
    look(dock, *FIELDS)
    choose_number(dock, 9)
    state = dock.session.state
    assert state.shown.n_sites == 9 and state.parameters["N_SITES"] == 9
    named, made = RECOMMENDED.get(word), state.settings.configuration
    assert made.aggregation == (named.aggregation if named else how)
    assert made.chooses_sites or made.site_location == (named.site_location if named else location)
    outputs = dict.fromkeys(("RELEASED_RECORDS", "CROSSWALK", "REGION_AUDIT"), "memory:")
    done = run("anonymize", **state.parameters, **outputs)
    levels = len(state.shown.levels)
    assert (levels > 1) == nested
    names = [f"vbas_region_{level + 1}" for level in range(levels)] if nested else ["vbas_region"]
    assert crosswalk_of(done.layer("CROSSWALK"), "da", names) == shown_crosswalk(dock)
    measures = state.shown.measures
    assert measures.n_suppressed == done.results["N_SUPPRESSED"] > -1
    assert measures.suppression_percent == pytest.approx(done.results["SUPPRESSION_PERCENT"])
    assert measures.mean_distance == pytest.approx(done.results["MEAN_DISTANCE"])
    assert not any("has no effect" in line for line in done.log)
    assert_same_layer(dock.map.layer, done.layer("REGION_AUDIT"))


@pytest.mark.slow
def test_regions_that_follow_borders_are_those_that_anonymise_makes(entry, run):
    """Areas of which the nearest do not always touch."""
    rng = np.random.default_rng(8)
    squares = []
    for row in range(9):
        cuts = 630_000 + np.append(np.sort(rng.choice(40, rng.integers(3, 9), replace=False)) * 100.0, 4_100.0)
        south, west = 5_520_000 + row * 300, 629_000
        for east in cuts:
            corners = ((west, south), (east, south), (east, south + 300), (west, south + 300), (west, south))
            squares.append(f"Polygon(({', '.join(f'{x} {y}' for x, y in corners)}))")
            west = east
    names = [f"46{i:03d}" for i in range(len(squares))]
    people = rng.integers(1, 60, len(squares)).tolist()
    rows = {"da": np.repeat(names, people).tolist(), "age": rng.integers(0, 6, sum(people)).tolist()}
    for layer, name in ((make_layer({"da": names, "pop": people}, squares), "areas"), (make_layer(rows), "records")):
        layer.setName(name)
        QgsProject.instance().addMapLayer(layer)
    entry.show()
    dock = entry.dock.look
    choose_combination(dock, CUSTOM, "balanced density", "population floor")
    look(dock, "age")
    choose_number(dock, 12)
    done = run("anonymize", **dock.session.state.parameters, RELEASED_RECORDS="memory:", CROSSWALK="memory:")
    assert crosswalk_of(done.layer("CROSSWALK"), "da", ["vbas_region"]) == shown_crosswalk(dock)


def assert_same_layer(shown, audit):
    assert shown.fields().names() == audit.fields().names()
    pairs = list(zip(shown.getFeatures(), audit.getFeatures()))
    assert len(pairs) == shown.featureCount() == audit.featureCount() > 0
    for one, other in pairs:
        assert one.attributes() == other.attributes()
        assert one.geometry().equals(other.geometry())


def defaults_of(name):
    form = QgsApplication.processingRegistry().createAlgorithmById(name)
    return {one.name(): one.defaultValue() for one in form.parameterDefinitions()}


@pytest.mark.slow
@pytest.mark.parametrize(("population", "nested"), [("people", False), ("", True)])
def test_the_dialog_handed_over_runs_to_the_regions_shown(dock, population, nested):
    dock.data.population.setField(population)
    dock.choices.nested.setChecked(nested)
    look(dock, *FIELDS)
    choose_number(dock, 7)
    dock.anonymise.click()
    let_pass(0.1)
    widget, wanted = dock._dialog.mainWidget(), dock.session.state.parameters
    made = getattr(widget, "createProcessingParameters", None) or dock._dialog.getParameterValues
    filled = {**defaults_of("vbas:anonymize"), **made()}  # later QGIS leaves out what is the default
    dock._dialog.close()
    assert filled.get("POPULATION") in ((population,) if population else ("", None))  # nor a usual field by itself
    for name, value in wanted.items():
        assert filled.get(name) in (value, *((None,) if value == "" else ())), name
    clicked = click_through("vbas:anonymize", wanted)
    assert clicked.successful, clicked.log
    (crosswalk,) = [layer for layer in clicked.layers if layer.name().startswith("Crosswalk")]
    names = [name for name in crosswalk.fields().names() if name.startswith("vbas_region")]
    assert crosswalk_of(crosswalk, "da", names) == shown_crosswalk(dock)


@pytest.mark.slow
def test_other_choices_are_shown_from_the_profile_without_reading_again(dock, monkeypatch):
    look(dock, *FIELDS)
    own = dock.session.state.shown.n_sites
    monkeypatch.setattr("vbas.algorithms.explorer_data.records_of", None)  # which nothing may call any more
    dock.choices.k.setValue(9)
    settle(dock)
    assert dock.session.state.settings.k == 9 and dock.session.state.shown.n_sites == own
    assert dock.session.state.parameters["K"] == 9
    choose_number(dock, 11)
    dock.choices.nested.setChecked(True)
    settle(dock)
    assert dock.session.state.shown.n_sites == 11  # the user's own number stays
    assert len(dock.session.state.shown.levels) > 1
    before = dock.session.state.curve
    choose_combination(dock, "all-rounder by transport")
    assert dock.message.isHidden(), dock.message.text()
    assert dock.session.state.curve is not before and dock.session.state.shown.n_sites == 11


@pytest.mark.slow
def test_choices_that_do_not_go_together_are_told_and_what_is_shown_stays(dock):
    dock.choices.nested.setChecked(True)
    look(dock, *FIELDS)
    choose_number(dock, 11)
    before = dock.session.state
    choose_combination(dock, "most compact")  # which makes no level of fewer than three regions of this town
    assert "cannot make fewer than 3 regions" in dock.message.text()
    assert dock.session.state.shown is before.shown and dock.session.state.parameters == before.parameters


def test_a_choice_made_while_the_records_are_read_is_taken_up(dock):
    dock.data.tick(list(FIELDS))
    dock.look.click()
    dock.choices.k.setValue(8)
    settle(dock)
    assert dock.session.state.settings.k == 8


@pytest.mark.slow
def test_the_whole_curve_comes_and_the_budget_finds_the_most_regions(dock):
    look(dock, *FIELDS)
    state = dock.session.state
    assert state.curve.whole and [point.n_sites for point in state.points][-1] == 36
    every = {number: state.curve.point(number).percent for number in range(1, 37)}
    budget = float(np.round((every[36] + every[12]) / 2, 2))
    dock.chooser.budget.setValue(budget)
    dock.chooser.find.click()
    settle(dock)
    found = dock.session.state.shown.n_sites
    assert every[found] <= budget < every[36] and (every[found + 1] > budget)
    assert dock.chooser.value() == found
    dock.choices.k.setValue(500)
    settle(dock)
    dock.chooser.budget.setValue(0)
    dock.chooser.find.click()
    settle(dock)
    assert "No number of regions suppresses at most 0 %" in dock.message.text()
    assert dock.session.state.shown.n_sites == found


@pytest.mark.slow
def test_the_first_number_is_the_one_that_the_choice_has_itself(dock, run):
    look(dock, *FIELDS)
    dock.choices.k.setValue(6)
    settle(dock)
    given = {**dock.session.state.data, "K": 6, "COMBINATION": "all-rounder", "RELEASED_RECORDS": "memory:"}
    assert run("anonymize", **given).results["N_SITES"] == dock.session.state.shown.measures.n_regions


def test_records_may_be_counted_and_areas_points(entry, run):
    areas = make_layer(
        {"da": [f"4600{i:02d}" for i in range(25)]},
        [f"Point({630_000 + 700 * (i % 5)} {5_520_000 + 700 * (i // 5)})" for i in range(25)],
    )
    rng = np.random.default_rng(5)
    rows: dict[str, list] = {"da": [f"4600{i % 25:02d}" for i in range(100)], "age": [i // 25 for i in range(100)]}
    rows["n"] = rng.integers(0, 9, 100).tolist()
    for layer, name in ((areas, "areas"), (make_layer(rows), "counted")):
        layer.setName(name)
        QgsProject.instance().addMapLayer(layer)
    entry.show()
    dock = entry.dock.look
    assert dock.data.record_region.currentField() == "da"  # as the areas' identifier
    dock.data.record_count.setField("n")
    look(dock, "age")
    choose_number(dock, 6)
    state = dock.session.state
    assert state.shown.measures.n_records == sum(rows["n"])
    done = run("anonymize", **state.parameters, RELEASED_RECORDS="memory:", CROSSWALK="memory:")
    assert crosswalk_of(done.layer("CROSSWALK"), "da", ["vbas_region"]) == shown_crosswalk(dock)


@pytest.mark.slow
def test_records_of_unknown_areas_are_refused_or_suppressed(dock):
    records = QgsProject.instance().mapLayersByName("people")[0]
    records.dataProvider().changeAttributeValues({1: {records.fields().indexOf("home"): "nowhere"}})
    look(dock, *FIELDS)
    nothing = dock.session.state
    assert nothing is None
    assert "“nowhere”" in dock.message.text() and "Area code" not in dock.summary.text()
    dock.data.leave_out.setChecked(True)
    look(dock, *FIELDS)
    assert dock.message.text().count("1 record has no known area") == 1
    assert dock.session.state.parameters["UNMATCHED"] == "suppress"
    assert dock.session.state.shown.measures.n_records == 36 * 40


@pytest.mark.slow
def test_nothing_of_it_is_loaded_without_a_window():
    program = (
        "import sys\n"
        "from qgis.core import QgsApplication\n"
        "application = QgsApplication([], False)\n"
        "application.initQgis()\n"
        "from vbas import classFactory\n"
        "plugin = classFactory(None)\n"
        "plugin.initProcessing()\n"
        "print([name for name in sys.modules if 'explorer' in name])\n"
        "plugin.unload()\n"
        "sys.stdout.flush()\n"
        "import os; os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_layers_that_the_dock_made_are_not_offered(dock):
    look(dock, *FIELDS)
    offered = [dock.data.records.layer(row) for row in range(dock.data.records.count())]
    assert isinstance(dock.map.layer, QgsVectorLayer) and dock.map.layer not in offered
    assert {one.name() for one in offered} == {"areas", "people"}
