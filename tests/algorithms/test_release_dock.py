"""The dock from a shapefile and a CSV to a folder that verify.py finds good, by its widgets, with clicks counted."""

from __future__ import annotations

import csv
import gc
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from qgis.core import (
    QgsApplication,
    QgsCoordinateTransformContext,
    QgsLayoutExporter,
    QgsLayoutItemLabel,
    QgsLayoutItemLegend,
    QgsLayoutItemMap,
    QgsPrintLayout,
    QgsProject,
    QgsReadWriteContext,
    QgsVectorFileWriter,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtXml import QDomDocument

from vbas.core.preparing.roles import HOUSEHOLD, LEAVE_OUT, PERIOD, PERSON, QUASI, SENSITIVE
from vbas.vbas_plugin.explorer.lost_bars import bars_of
from vbas.vbas_plugin.release import proposing
from vbas.vbas_plugin.release.map_page import FOOT, HEIGHT, WIDTH

from .conftest import make_grid, make_layer
from .explorer_window import let_pass, settle, wait_for
from .test_explorer import entry

__all__ = ["entry"]

VERIFY = Path(__file__).resolve().parents[2] / "verify" / "verify.py"


class Walk:
    """Counts what a hand does."""

    def __init__(self, dock):
        self.dock, self.clicks, self.typed = dock, 0, 0

    def click(self, button):
        assert button.isEnabled()
        button.click()
        self.clicks += 1
        self.settle()

    def type(self, line, text):
        line.setText(text)
        self.clicks += 1
        self.typed += len(text.split())

    def settle(self):
        dock = self.dock
        wait_for(lambda: not (dock.data.busy or dock.look.session.busy or dock.decide.busy or dock.hand_over.busy))
        let_pass()
        settle(dock.look)


@pytest.fixture(scope="module")
def files(qgis_app, tmp_path_factory):
    """A town as a shapefile, and visits of its people as a CSV: several rows of a person, a name, a diagnosis."""
    folder, (areas, _) = tmp_path_factory.mktemp("town"), make_grid()
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = "ESRI Shapefile"
    QgsVectorFileWriter.writeAsVectorFormatV2(
        areas, str(folder / "areas.shp"), QgsCoordinateTransformContext(), options
    )
    rng = np.random.default_rng(3)
    homes = sorted(feature["da"] for feature in areas.getFeatures())
    with (folder / "visits.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["visit", "patient", "name", "home", "sex", "age_group", "diagnosis"])
        visit = 0
        for person in range(1500):
            home, sex, age = homes[person % len(homes)], "mf"[rng.integers(2)], int(rng.integers(4))
            for _ in range(int(rng.integers(1, 4))):
                visit += 1
                illness = ["flu", "cold", "asthma", "cough"][rng.integers(4)]
                rows.writerow([visit, f"P{person}", f"Name {person}", home, sex, age, illness])
    return folder


@pytest.fixture
def project(files, entry):
    for name, provider in (("areas.shp", "ogr"), ("visits.csv", "ogr")):
        layer = QgsVectorLayer(str(files / name), Path(name).stem, provider)
        assert layer.isValid()
        QgsProject.instance().addMapLayer(layer)
    return entry


@pytest.mark.slow
def test_from_two_files_to_a_folder_that_holds(project, tmp_path):
    project.action.trigger()
    walk = Walk(project.dock)
    walk.clicks += 1
    dock = project.dock
    walk.settle()
    state = dock.state
    assert (state.region_id, state.record_region) == ("da", "home")
    assert "100 %" in dock.data.said.text() and "1500 people" in dock.data.several.toolTip()
    assert [state.role(name) for name in ("visit", "patient", "name", "sex", "age_group", "diagnosis")] == [
        LEAVE_OUT,
        PERSON,
        LEAVE_OUT,
        QUASI,
        QUASI,
        SENSITIVE,
    ]
    for _ in range(3):
        walk.click(dock.next)
    assert dock.look.session.state is not None and not dock.look.message.isVisible(), dock.look.message.text()
    candidates = dock.decide.candidates
    assert len(candidates) == 3 and not [one.problem for one in candidates if one.problem]
    assert state.decision
    decide = dock.decide
    assert len(decide.maps) == 3 and not [one for one in decide.maps if one.icon().isNull()]
    walk.click(decide.preview)
    previewed = decide.text.toPlainText()
    decide.page.close()
    assert "Nothing is released yet" in previewed and "not said" in previewed
    walk.click(dock.next)
    walk.type(dock.hand_over.folder.lineEdit(), str(tmp_path / "release"))
    walk.type(dock.hand_over.recipient, "The university")
    walk.type(dock.hand_over.purpose, "A study of asthma")
    walk.click(dock.hand_over.go)
    assert dock.hand_over.results, dock.hand_over.message.text()
    chosen = candidates[dock.decide.table.currentRow()].measures
    assert f"{chosen.suppression_percent:.3g}"[:4] in previewed and f"{round(chosen.mean_distance)} m" in previewed
    assert dock.hand_over.results["N_SUPPRESSED"] == chosen.n_suppressed
    assert dock.hand_over.results["MEAN_DISTANCE"] == pytest.approx(chosen.mean_distance)
    done = subprocess.run([sys.executable, str(VERIFY), str(tmp_path / "release")], capture_output=True, text=True)
    held = {line[:14].strip() for line in done.stdout.splitlines() if line[:1].strip()}
    assert "holds" in held and held <= {"holds", "not looked at"}, done.stdout + done.stderr
    regions = QgsProject.instance().layerTreeRoot().findLayers()[0].layer()
    assert "for release" in regions.name() and {"vbas_region", "released"} <= {*regions.fields().names()}
    assert "suppressed" not in regions.fields().names()
    looked_at = QgsProject.instance().layerTreeRoot().findLayer(dock.look.map.layer.id())
    assert not looked_at.isVisible()  # its numbers would lie among those of the release
    walk.click(dock.hand_over.layout_of_map)
    (layout,) = QgsProject.instance().layoutManager().printLayouts()
    assert layout.name() == "release" and len(layout.items()) > 4
    gc.collect()  # what the layout draws must be its own
    page = QgsLayoutExporter(layout).renderPageToImage(0, QSize(600, 424))
    assert len({page.pixel(x, y) for x in range(0, 600, 5) for y in range(0, 424, 5)}) > 10
    (shown,) = [item for item in layout.items() if isinstance(item, QgsLayoutItemMap)]
    assert shown.extent().contains(regions.extent()) and shown.extent().width() < 3 * regions.extent().width()
    (legend,) = [item for item in layout.items() if isinstance(item, QgsLayoutItemLegend)]
    assert [node.layer().id() for node in legend.model().rootGroup().findLayers()] == [regions.id()]
    right, below = legend.pos().x() + legend.rect().width(), legend.pos().y() + legend.rect().height()
    assert right <= WIDTH and below < HEIGHT - FOOT  # of A4, whatever the levels are called
    opened_from_template(dock.hand_over.message.text(), regions)
    QgsProject.instance().layoutManager().clear()
    beside = sorted(file.name for file in tmp_path.iterdir() if file.is_file())
    assert beside == [f"release-internal-{name}" for name in ("job.toml", "page-to-sign.pdf", "report.html")]
    assert walk.clicks <= 25 and walk.typed <= 10
    dock.hand_over.compare(tmp_path / "release-internal-job.toml")
    assert dock.hand_over.compared.text() == "“release-internal-job.toml” has the same settings."
    dock.hand_over.compare(tmp_path / "release" / "datapackage.json")
    assert "has the same settings" in dock.hand_over.compared.text()


def opened_from_template(said, layer):
    """A layout made of the template that the dock says it has kept: it shows whatever its project does."""
    file = Path(QgsApplication.qgisSettingsDirPath()) / "composer_templates" / "VBAS release.qpt"
    assert "“VBAS release”" in said and layer.id() not in file.read_text(encoding="utf-8")
    document, layout = QDomDocument(), QgsPrintLayout(QgsProject.instance())
    assert document.setContent(file.read_text(encoding="utf-8"))
    items, loaded = layout.loadFromTemplate(document, QgsReadWriteContext())
    assert loaded and len(items) == 6
    layout.setName("mine")
    (shown,) = [item for item in items if isinstance(item, QgsLayoutItemMap)]
    (legend,) = [item for item in items if isinstance(item, QgsLayoutItemLegend)]
    assert not shown.keepLayerSet() and legend.linkedMap() is shown
    assert "mine" in [item.currentText() for item in items if isinstance(item, QgsLayoutItemLabel)]
    assert shown.extent().contains(layer.extent()) and shown.crs() == layer.crs()
    assert shown.extent().width() < 4 * layer.extent().width()  # the release, and not the world around it
    page = QgsLayoutExporter(layout).renderPageToImage(0, QSize(300, 212))
    assert len({page.pixel(x, y) for x in range(0, 300, 5) for y in range(0, 212, 5)}) > 10
    file.unlink()


CASES = {
    "sensitive": ({"diagnosis": SENSITIVE}, {}, 2, False),
    "persons, coarser, nested": ({"pid": PERSON, "diagnosis": SENSITIVE}, {"age": ("bands 2, 4", 1)}, 2, True),
    "period, household": ({"year": PERIOD, "hh": HOUSEHOLD}, {}, 1, False),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_number_is_the_one_that_the_run_gives(entry, run, case):
    roles, coarser, different, nested = CASES[case]
    areas, _ = make_grid()
    rng = np.random.default_rng(4)
    homes = [feature["da"] for feature in areas.getFeatures()]
    n = len(homes) * 30
    records = make_layer(
        {
            "home": np.repeat(homes, 30).tolist(),
            "pid": (np.arange(n) // 2).tolist(),
            "hh": (np.arange(n) // 4).tolist(),
            "year": (2024 + np.arange(n) % 2).tolist(),
            "age": np.repeat(rng.integers(0, 6, n // 2), 2).tolist(),
            "sex": np.repeat(rng.choice(["F", "M"], n // 2), 2).tolist(),
            "diagnosis": rng.choice(["flu", "cold", "flu", "flu"], n).tolist(),
        }
    )
    for layer, name in ((areas, "areas"), (records, "people")):
        layer.setName(name)
        QgsProject.instance().addMapLayer(layer)
    entry.show()
    dock = entry.dock
    walk = Walk(dock)
    walk.settle()
    for name in dock.state.fields:
        if name != "home":
            dock.roles.choose(name, roles.get(name, QUASI if name in ("age", "sex") else LEAVE_OUT))
    dock.state.coarser.update(coarser)
    dock.state.l_diversity = different
    dock.look.choices.nested.setChecked(nested)
    dock.go_to(2)
    walk.settle()
    dock.look.chooser.number.setValue(20)
    walk.settle()
    state = dock.look.session.state
    assert state is not None, dock.look.message.text()
    done = run("anonymize", **state.parameters, RELEASED_RECORDS="memory:")
    told = done.results
    assert_same(state.shown.measures, told)
    assert_point(state.released[int(nested)], told)
    assert_bars(state.shown.lost, records, done.layer("RELEASED_RECORDS"), coarser)
    assert len(state.lines.nested) > 3 and bool(state.lines.plain) == bool(coarser)
    if coarser:
        plain = {
            name: value for name, value in state.parameters.items() if name not in ("GENERALISE", "HIERARCHY_RULES")
        }
        point = state.lines.plain[-2]
        one_level = {**plain, "RELEASE": "one level", "N_SITES": point.n_sites}
        del one_level["FINEST"]
        assert_point(point, run("anonymize", **one_level, RELEASED_RECORDS="memory:").results)
    assert state.shown.measures.n_suppressed > 0 or nested
    if not nested:
        assert state.curve.point(20).percent == pytest.approx(told["SUPPRESSION_PERCENT"])
        lost = [state.account(0, number).suppressed for number in state.shown.levels.crosswalks[0].numbers.tolist()]
        assert sum(lost) == told["N_SUPPRESSED"]
    dock.go_to(3)
    walk.settle()
    assert len(dock.decide.candidates) == 3
    if case == "period, household":
        rule = dock.decide.rule.findData("OpenSAFELY")
        dock.decide.rule.setCurrentIndex(rule)
        dock.decide.rule.activated.emit(rule)
        walk.settle()
        assert [candidate.parameters["RULE"] for candidate in dock.decide.candidates] == [
            dock.decide.rule.itemData(rule)
        ] * 3
    for row, candidate in enumerate(dock.decide.candidates):
        dock.decide.maps[row].click()
        if candidate.measures is not None:
            assert_same(candidate.measures, run("anonymize", **dock.state.job(), RELEASED_RECORDS="memory:").results)
        else:
            assert candidate.problem and not dock.state.decision


def assert_point(point, told):
    assert (point.percent, point.mean_distance) == pytest.approx((told["SUPPRESSION_PERCENT"], told["MEAN_DISTANCE"]))


def assert_bars(lost, records, released, coarser):
    """The bars, counted again from what went in and what came out."""
    for name in {*lost.quasi_identifiers} - {*coarser}:
        before, after = (Counter(feature[name] for feature in layer.getFeatures()) for layer in (records, released))
        rows = [row for row, field in enumerate(lost.quasi_identifiers) if field == name]
        assert {lost.values[row]: lost.records[row] for row in rows} == before
        assert {lost.values[row]: lost.records[row] - lost.suppressed[row] for row in rows} == {
            value: after[value] for value in before
        }
    bars = bars_of(lost, 5)
    shares = [bar.percent for bar in bars]
    assert shares == sorted(shares, reverse=True) and all(bar.records >= 5 and bar.suppressed for bar in bars)


def assert_same(measures, told):
    assert (measures.n_suppressed, measures.n_records) == (told["N_SUPPRESSED"], told["N_RECORDS"])
    assert measures.suppression_percent == pytest.approx(told["SUPPRESSION_PERCENT"])
    assert measures.mean_distance == pytest.approx(told["MEAN_DISTANCE"])


def test_many_areas_are_joined_by_what_is_read_behind_the_window(entry, monkeypatch):
    monkeypatch.setattr(proposing, "READ_AT_ONCE", 10)
    areas, _ = make_grid()
    codes = [f"Q{number}" for number in range(36)]
    areas.startEditing()
    for feature, code in zip(areas.getFeatures(), codes):
        areas.changeAttributeValue(feature.id(), 0, code)
    areas.commitChanges()
    records = make_layer({"n": list(range(360)), "where": [codes[i % 36] for i in range(360)], "age": [1, 2, 3] * 120})
    for layer, name in ((areas, "areas"), (records, "people")):
        layer.setName(name)
        QgsProject.instance().addMapLayer(layer)
    entry.show()
    dock = entry.dock
    Walk(dock).settle()
    assert (dock.state.region_id, dock.state.record_region) == ("da", "where")
    dock.data.record_region.setField("age")  # by hand, which stays
    Walk(dock).settle()
    assert dock.state.record_region == "age" and "No record has the code" in dock.data.problems.text()


WHILE_TASKS_RUN = """
import threading, time
import numpy as np, shapely
from qgis.PyQt.QtCore import QRunnable, QThreadPool
from qgis.PyQt.QtGui import QGuiApplication, QPixmap
from vbas.core.evaluation import ByArea
from vbas.core.progress import silent
from vbas.vbas_plugin.release.small_map import small_maps

class Task(QRunnable):
    def run(self):
        while not ended.is_set():
            time.sleep(0.001)

window, ended, pool = QGuiApplication([]), threading.Event(), QThreadPool.globalInstance()
for _ in range(pool.maxThreadCount()):
    pool.start(Task())
squares = shapely.box(*np.array([[0, 0, 1, 1], [1, 1, 2, 2]]).T)
by_area = ByArea(np.array([5, 5]), np.array([0, 1]), np.array([1.0, 2.0]))
(image,) = small_maps(squares, [by_area], silent)
QPixmap.fromImage(image)
ended.set()
pool.waitForDone()
"""


def test_maps_are_shown_while_all_threads_of_qgis_run_python():
    """Qt 5 converts images in the threads of tasks, and waits for them: the window stood still for good."""
    given = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    subprocess.run([sys.executable, "-c", WHILE_TASKS_RUN], env=given, check=True, timeout=60)
