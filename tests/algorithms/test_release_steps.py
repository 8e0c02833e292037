"""Each step of the dock by its widgets: what Data says of the layers, what coarser values save, what is handed over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransformContext,
    QgsFeature,
    QgsField,
    QgsProject,
    QgsVectorFileWriter,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QItemSelection, QItemSelectionModel, QVariant
from qgis.PyQt.QtWidgets import QFileDialog

from vbas.algorithms.candidates import Candidate
from vbas.core.command.main import DONE, main
from vbas.core.evaluation import Measures
from vbas.core.preparing.roles import AREA, KEEP, LEAVE_OUT, PERSON, QUASI, SENSITIVE
from vbas.vbas_plugin.release.decide import best_of

from .conftest import make_grid, make_layer
from .explorer_window import let_pass, wait_for
from .test_explorer import entry
from .test_job_file import content_of
from .test_release_dock import Walk

__all__ = ["entry"]


def to_file(layer, name, folder):
    """The same layer in a file, in the project."""
    options = QgsVectorFileWriter.SaveVectorOptions()
    file = str(folder / f"{name}.gpkg")
    QgsVectorFileWriter.writeAsVectorFormatV3(layer, file, QgsCoordinateTransformContext(), options)
    made = QgsVectorLayer(file, name, "ogr")
    assert made.isValid()
    QgsProject.instance().addMapLayer(made)
    return made


def people_of(homes, per_area=20):
    """Rows of persons, two of each, in the areas of these codes."""
    rng = np.random.default_rng(8)
    n = len(homes) * per_area
    sex, age = (np.repeat(drawn, 2).tolist() for drawn in (rng.choice(["f", "m"], n // 2), rng.integers(0, 90, n // 2)))
    home = [home for home in homes for _ in range(per_area)]
    return make_layer({"patient": [f"P{i // 2}" for i in range(n)], "home": home, "sex": sex, "age": age})


@pytest.fixture
def opened(entry, tmp_path):
    """The dock over a town in files: areas, people."""
    areas, _ = make_grid()
    homes = sorted(feature["da"] for feature in areas.getFeatures())
    layers = to_file(areas, "areas", tmp_path), to_file(people_of(homes), "people", tmp_path)
    entry.show()
    walk = Walk(entry.dock)
    walk.settle()
    return entry.dock, walk, *layers


def test_data_says_who_has_no_area_and_what_comes_twice(opened):
    dock, walk, areas, people = opened
    data = dock.data
    assert "The area of 100 %" in data.said.text() and data.problems.text() == ""
    people.startEditing()
    at = people.fields().indexOf("home")
    first = [feature.id() for feature in people.getFeatures()][:5]
    for identifier, home in zip(first, [None, None, "elsewhere", "elsewhere", "nowhere"]):
        people.changeAttributeValue(identifier, at, home)
    walk.settle()
    said = data.problems.text()
    assert "2 records have no area." in said and "3 records have an area that is not among the areas" in said
    assert "“elsewhere”, “nowhere”" in said and "tick “Suppress” above" in said
    data.leave_out.click()
    walk.settle()
    assert "tick" not in data.problems.text() and "They are suppressed." in data.problems.text()
    data.leave_out.click()
    walk.settle()
    assert "edits that were not saved" in said
    people.rollBack()
    walk.settle()
    assert data.problems.text() == ""
    areas.startEditing()
    twin = QgsFeature(next(areas.getFeatures()))
    twin.setAttribute("fid", None)
    areas.addFeature(twin)
    walk.settle()
    assert "1 area code occurs twice" in data.problems.text()
    areas.rollBack()
    walk.settle()
    assert data.problems.text() == ""


def test_data_says_what_a_filter_leaves_out(opened):
    dock, walk, _, people = opened
    everybody = people.featureCount()
    assert people.setSubsetString("\"sex\" = 'f'")
    walk.settle()
    assert people.featureCount() < everybody and f"{people.featureCount()} records" in dock.data.said.text()
    assert "is filtered" in dock.data.problems.text()
    people.setSubsetString("")
    walk.settle()
    assert f"{everybody} records" in dock.data.said.text() and dock.data.problems.text() == ""


def test_several_rows_of_a_person_are_asked_about(opened):
    dock, walk, _, people = opened
    several = dock.data.several
    assert "patient" in several.text() and several.isChecked() and dock.state.role("patient") == PERSON
    assert f"{people.featureCount() // 2} people" in several.toolTip()
    several.click()
    walk.settle()
    assert dock.state.role("patient") == LEAVE_OUT and "PERSON_ID" not in dock.state.job()
    several.click()
    walk.settle()
    assert dock.state.job()["PERSON_ID"] == "patient"


def test_a_column_that_is_made_while_the_dock_is_open_has_a_role(opened):
    """Such as the steps of an amount, which is what is told of amounts that stand alone."""
    dock, walk, _, people = opened
    dock.roles.choose("sex", SENSITIVE)
    people.addExpressionField('floor("age" / 10)', QgsField("decade", QVariant.Type.Int))
    walk.settle()
    assert dock.state.fields[-1] == "decade" and dock.state.role("decade") == QUASI
    assert dock.roles.role_list("decade").currentData() == QUASI and dock.state.role("sex") == SENSITIVE
    dock.roles.choose("decade", KEEP)
    people.removeExpressionField(people.fields().indexOf("decade"))
    walk.settle()
    assert "decade" not in dock.state.fields and dock.roles.table.rowCount() == len(dock.state.fields)
    assert "KEEP_FIELDS" not in dock.state.job() and dock.state.role("sex") == SENSITIVE


def test_metres_declared_as_degrees_are_said_at_once(opened):
    dock, walk, areas, _ = opened
    assert "Coordinates of the areas" in dock.data.said.text()
    areas.setCrs(QgsCoordinateReferenceSystem("EPSG:4326"))
    walk.settle()
    assert "assign the layer the coordinate reference system" in dock.data.problems.text()
    assert "degrees" not in dock.data.said.text()  # which are projected, were they any


def test_a_table_that_takes_the_place_of_a_removed_one_is_looked_over(opened, tmp_path):
    dock, walk, areas, people = opened
    homes = sorted(feature["da"] for feature in areas.getFeatures())
    other = to_file(people_of(homes, 4), "people of december", tmp_path)
    walk.settle()
    dock.data.records.setLayer(other)
    walk.settle()
    assert dock.state.records == other.id() and f"{other.featureCount()} records" in dock.data.said.text()
    QgsProject.instance().removeMapLayer(other.id())
    walk.settle()
    assert dock.data.records.currentLayer() is people and dock.state.records == people.id()
    assert dock.data.record_region.currentField() == dock.state.record_region == "home"
    assert f"{people.featureCount()} records" in dock.data.said.text() and dock.state.missing() == ""
    QgsProject.instance().removeAllMapLayers()
    walk.settle()
    assert dock.state.missing() and dock.data.said.text() == ""


@pytest.mark.slow
def test_what_a_run_would_refuse_is_no_candidate(entry, tmp_path):
    """A card number that is kept: it is said when one decides, and not when all is handed over."""
    areas, _ = make_grid()
    people = people_of(sorted(feature["da"] for feature in areas.getFeatures()))
    to_file(areas, "areas", tmp_path), to_file(people, "people", tmp_path)
    entry.show()
    dock = entry.dock
    walk = Walk(dock)
    walk.settle()
    dock.roles.choose("age", LEAVE_OUT)
    for role, problem in ((SENSITIVE, "Take it out"), (KEEP, "Take it out"), (LEAVE_OUT, "")):
        dock.roles.choose("patient", role)
        dock.go_to(3)
        walk.settle()
        assert dock.decide.candidates
        for candidate in dock.decide.candidates:
            assert problem in candidate.problem if problem else not candidate.problem, candidate
        assert bool(dock.state.decision) == (not problem)
        if problem:
            assert problem in dock.decide.about.text() and "“patient”" in dock.decide.about.text()
            assert "None of these releases" in dock.decide.message.text()


def test_decide_says_why_there_is_nothing_to_choose_from(opened):
    """Whoever goes there at once does not see what Look says."""
    dock, walk, _, people = opened
    for name in dock.state.fields:
        if name != "home":
            dock.roles.choose(name, LEAVE_OUT)
    dock.go_to(3)
    walk.settle()
    assert "Say of at least one column" in dock.decide.message.text()
    dock.roles.choose("sex", QUASI)
    people.startEditing()
    people.changeAttributeValue(next(people.getFeatures()).id(), people.fields().indexOf("home"), "elsewhere")
    walk.settle()
    dock.go_to(3)
    assert "First it is looked at" in dock.decide.message.text()
    walk.settle()
    assert "elsewhere" in dock.decide.message.text() and not dock.decide.candidates
    people.rollBack()
    walk.settle()
    dock.go_to(3)
    walk.settle()
    assert dock.decide.message.text() == "" and dock.decide.candidates


def test_of_releases_that_suppress_as_much_the_finest_is_proposed():
    measures = Measures(1, 100, 20, 20.0, 0.0, 0.0, 0.0, 40_000.0)
    made = [
        replace(measures, mean_distance=metres, n_suppressed=lost) for metres, lost in ((9e4, 20), (7e3, 20), (1, 21))
    ]
    candidates = [Candidate("", {}, one) for one in made]
    assert best_of([Candidate("", {}, problem="no"), *candidates]) == 2


@pytest.mark.slow
def test_coarser_values_say_what_each_saves_and_save_it(opened):
    dock, walk, *_ = opened
    dock.roles.choose("age", QUASI)
    dock.roles.choose("patient", LEAVE_OUT)
    for _ in range(2):
        walk.click(dock.next)
    dock.look.chooser.number.setValue(12)
    walk.settle()
    as_they_are = dock.look.session.state.shown.measures.suppression_percent
    walk.click(dock.back)
    roles = dock.roles
    roles.table.setCurrentCell(dock.state.fields.index("age"), 0)
    wait_for(lambda: not roles.busy)
    let_pass()
    texts = [roles.coarser.itemText(i) for i in range(roles.coarser.count())]
    said = [float(text.split(" % lost")[0]) for text in texts]
    assert said[0] == pytest.approx(as_they_are, rel=0.01) and said == sorted(said, reverse=True) and len(said) > 2
    assert said[-1] < said[0]
    last = len(said) - 1
    roles.coarser.setCurrentIndex(last)
    roles.coarser.activated.emit(last)
    wait_for(lambda: not roles.busy)
    assert [roles.coarser.itemText(i) for i in range(roles.coarser.count())] == texts  # still of the look before
    walk.click(dock.next)
    dock.look.chooser.number.setValue(12)
    walk.settle()
    assert dock.look.session.state.shown.measures.suppression_percent == pytest.approx(said[last], rel=0.01)


@pytest.mark.slow
def test_a_job_is_handed_over_run_again_and_says_next_month_what_differs(opened, tmp_path, monkeypatch):
    dock, walk, _, people = opened
    for _ in range(4):
        walk.click(dock.next)
    hand_over = dock.hand_over
    walk.type(hand_over.folder.lineEdit(), str(tmp_path / "may"))
    walk.click(hand_over.go)
    job = tmp_path / "may-internal-job.toml"
    assert hand_over.results and job.exists(), hand_over.message.text()
    assert str(job.name) in hand_over.links.text()

    def chosen(file):
        monkeypatch.setattr(QFileDialog, "getOpenFileName", staticmethod(lambda *_: (str(file), "")))
        walk.click(hand_over.earlier)
        return hand_over.compared.text()

    assert chosen(job) == f"“{job.name}” has the same settings."
    again, june = tmp_path / "again", tmp_path / "june"
    assert main(["anonymize", str(job), "--folder", str(again), "--quiet"]) == DONE
    assert content_of(again) == content_of(tmp_path / "may")
    people.startEditing()
    people.deleteFeatures([feature.id() for feature in people.getFeatures()][::3])
    assert people.commitChanges()
    assert main(["anonymize", str(job), "--folder", str(june), "--quiet"]) == DONE
    assert content_of(june) != content_of(again)
    walk.settle()
    assert chosen(june / "datapackage.json") == "“datapackage.json” has the same settings."
    dock.go_to(1)
    dock.roles.choose("age", LEAVE_OUT)
    for step in (2, 3, 4):
        dock.go_to(step)
        walk.settle()
    said = chosen(job)
    known = "Quasi-identifiers: sex now, sex, age then"
    assert "has other settings" in said and known in said.split("\n"), said
    assert known in chosen(tmp_path / "may" / "datapackage.json").split("\n")  # the folder itself says it, too
    (tmp_path / "notes.toml").write_text("no job")
    assert "notes.toml" in chosen(tmp_path / "notes.toml")


@pytest.mark.slow
def test_a_table_of_two_hundred_columns_is_gone_through(entry, tmp_path):
    areas, _ = make_grid()
    homes = sorted(feature["da"] for feature in areas.getFeatures()) * 20
    rng = np.random.default_rng(3)
    columns = {f"answer {i:03d}": rng.integers(0, 2 + i % 30, len(homes)).tolist() for i in range(197)}
    people = make_layer({"home": homes, "sex": rng.choice(["f", "m"], len(homes)).tolist(), **columns})
    to_file(areas, "areas", tmp_path), to_file(people, "people", tmp_path)
    entry.show()
    dock, walk = entry.dock, Walk(entry.dock)
    walk.settle()
    walk.click(dock.next)
    table = dock.roles.table
    assert table.rowCount() == len(dock.state.fields) == 200
    table.setFocus()
    first = dock.state.fields.index("answer 000")
    table.setCurrentCell(first, 0)
    model, flags = table.model(), QItemSelectionModel.SelectionFlag
    table.selectionModel().select(
        QItemSelection(model.index(first, 0), model.index(199, 0)), flags.ClearAndSelect | flags.Rows
    )
    dock.roles.choose("answer 005", LEAVE_OUT)
    assert {dock.state.role(f"answer {i:03d}") for i in range(197)} == {LEAVE_OUT}
    assert dock.state.role("home") == AREA and dock.state.role("sex") == QUASI
    table.selectAll()
    dock.roles.choose("answer 005", QUASI)
    assert dock.state.role("home") == AREA and dock.state.role("answer 196") == QUASI
    dock.roles.choose("answer 005", LEAVE_OUT)
    assert dock.state.role("home") == AREA and dock.state.role("sex") == LEAVE_OUT
    table.setCurrentCell(dock.state.fields.index("sex"), 0)
    dock.roles.choose("sex", QUASI)
    table.setCurrentCell(first + 1, 0)
    dock.roles.choose("answer 001", QUASI)
    walk.click(dock.next)
    assert dock.state.job()["QUASI_IDENTIFIERS"] == ["sex", "answer 001"]
    assert dock.look.session.state.shown.measures.n_records == len(homes)
