"""The dock once its data are others than those that were looked at, and where nothing is left to release."""

from __future__ import annotations

from pathlib import Path
from threading import Event, current_thread, main_thread

from qgis.core import QgsProject

from vbas.algorithms import candidates
from vbas.core.anonymise import Ask, rate
from vbas.core.levels import Levels
from vbas.core.preparing.roles import KEEP, LEAVE_OUT, QUASI, SENSITIVE
from vbas.core.synthetic.hamlet import hamlet
from vbas.vbas_plugin.release import proposing

from ..patience import PATIENCE
from .conftest import make_layer
from .explorer_window import choose_number, let_pass
from .test_explorer import entry
from .test_release_dock import Walk
from .test_release_steps import opened

__all__ = ["entry", "opened"]


def test_decide_shows_no_release_of_data_that_were_changed_since(opened, tmp_path):
    """Neither where they cannot be read any more: it would be the numbers of the table before."""
    dock, walk, areas, _ = opened
    for _ in range(4):
        walk.click(dock.next)
    assert dock.decide.candidates
    hand_over = dock.hand_over
    walk.type(hand_over.folder.lineEdit(), str(tmp_path / "may"))
    walk.click(hand_over.go)
    assert "may" in hand_over.links.text()
    areas.startEditing()
    areas.deleteFeature(next(areas.getFeatures()).id())
    walk.settle()
    walk.click(hand_over.go)
    assert "open Decide once more" in hand_over.message.text() and not hand_over.links.text()
    dock.go_to(3)
    walk.settle()
    decide = dock.decide
    assert not decide.candidates and not decide.table.rowCount() and not decide.maps and not dock.state.decision
    assert "that is not in Areas" in decide.message.text() and not decide.message.isHidden()
    areas.rollBack()
    walk.settle()
    dock.go_to(3)
    walk.settle()
    assert decide.candidates and dock.state.decision


def test_decide_says_that_a_layer_is_changed_under_it_and_hand_over_not_what_is_done_by_then(opened, tmp_path):
    dock, walk, _, records = opened
    decide, hand_over = dock.decide, dock.hand_over
    dock.go_to(4)
    walk.type(hand_over.folder.lineEdit(), str(tmp_path / "may"))
    walk.click(hand_over.go)
    assert "Choose a release" in hand_over.message.text()
    dock.go_to(3)
    walk.settle()
    assert decide.candidates and not decide.message.text()
    records.startEditing()
    records.deleteFeature(next(records.getFeatures()).id())
    walk.settle()
    assert "press “Decide”" in decide.message.text() and not decide.message.isHidden()
    dock.go_to(4)
    assert "open Decide once more" in hand_over.message.text()  # and no more that none is chosen
    walk.click(dock.steps[3][0])
    assert decide.candidates and not decide.message.text()
    dock.go_to(4)
    assert not hand_over.message.text()
    dock.go_to(3)
    records.rollBack()
    walk.settle()
    assert "press “Decide”" in decide.message.text()


def test_decide_says_that_its_layer_was_removed(opened):
    dock, walk, _, records = opened
    dock.go_to(3)
    walk.settle()
    assert dock.decide.candidates
    QgsProject.instance().removeMapLayer(records.id())
    walk.settle()
    assert not dock.decide.candidates and dock.decide.message.text() and not dock.decide.message.isHidden()


def test_a_release_that_is_in_the_folder_is_replaced_only_if_one_says_so_again(opened, tmp_path):
    """What was published is not had back."""
    dock, walk, *_ = opened
    for _ in range(4):
        walk.click(dock.next)
    hand_over, folder = dock.hand_over, tmp_path / "may"
    walk.type(hand_over.folder.lineEdit(), str(folder))
    walk.click(hand_over.go)
    before = (folder / "datapackage.json").stat().st_ino
    for _ in range(2):
        walk.click(hand_over.go)
        assert "“may” holds files already" in hand_over.message.text() and not hand_over.links.text()
        assert (folder / "datapackage.json").stat().st_ino == before
        walk.type(hand_over.folder.lineEdit(), str(tmp_path / "june"))
        walk.click(hand_over.go)
        assert "june" in hand_over.links.text() or "“june” holds" in hand_over.message.text()
        walk.type(hand_over.folder.lineEdit(), str(folder))
    walk.click(hand_over.go)
    walk.click(hand_over.go)
    assert "may" in hand_over.links.text(), hand_over.message.text()
    assert (folder / "datapackage.json").stat().st_ino != before


def test_where_all_are_suppressed_nobody_is_placed_and_no_release_is_offered(opened):
    dock, walk, *_ = opened
    dock.look.choices.k.setValue(300)
    dock.go_to(2)
    walk.settle()
    said = dock.look.summary.text()
    assert "No record could be released" in said and " m." not in said
    assert dock.look.curve.accessibleDescription().endswith(": 100 %")
    dock.go_to(3)
    walk.settle()
    looked_at, _, nested = dock.decide.candidates  # the other one looks for less suppression, and finds none
    assert all("No record could be released" in candidate.problem for candidate in (looked_at, nested))
    texts = [dock.decide.table.item(row, 2).text() for row in range(dock.decide.table.rowCount())]
    assert texts == ["–"] * 3 and not dock.state.decision and not dock.decide.preview.isEnabled()
    assert "None of these releases can be made" in dock.decide.message.text()
    dock.go_to(4)
    dock.hand_over.go.click()
    assert "Choose a release under Decide first" in dock.hand_over.message.text()


def test_regions_looked_at_again_are_not_hidden_by_those_released(opened, tmp_path):
    dock, walk, *_ = opened
    for _ in range(4):
        walk.click(dock.next)
    walk.type(dock.hand_over.folder.lineEdit(), str(tmp_path / "may"))
    walk.click(dock.hand_over.go)
    tree = QgsProject.instance().layerTreeRoot()
    released = tree.findLayers()[0]
    looked_at = tree.findLayer(dock.look.map.layer.id())
    assert "for release" in released.name() and (released.isVisible(), looked_at.isVisible()) == (True, False)
    dock.go_to(2)
    choose_number(dock.look, 7)
    assert (released.isVisible(), looked_at.isVisible()) == (False, True)
    QgsProject.instance().clear()
    let_pass()
    assert not dock.hand_over.links.text() and dock.hand_over.layout_of_map.isHidden()
    assert not dock.hand_over.message.text()


def test_a_field_that_is_gone_is_not_shown_as_another_one(opened):
    dock, walk, areas, people = opened
    data, state = dock.data, dock.state
    data.population.setField("people")
    walk.settle()
    assert state.population == "people"
    areas.startEditing()
    areas.deleteAttribute(areas.fields().indexOf("people"))
    walk.settle()
    assert (state.population, data.population.currentField()) == ("", "") and state.region_id == "da"
    areas.rollBack()
    dock.roles.choose("sex", SENSITIVE)
    people.startEditing()
    people.deleteAttribute(people.fields().indexOf("home"))
    walk.settle()
    assert state.record_region == data.record_region.currentField() != "home" and state.role("sex") == SENSITIVE
    people.rollBack()


def test_without_layers_data_says_what_to_choose(entry):
    entry.show()
    dock = entry.dock
    Walk(dock).settle()
    assert "Choose the layer of areas" in dock.data.problems.text()


def test_the_preview_names_every_column_that_would_go_out(opened):
    dock, walk, *_ = opened
    for name, role in (("patient", LEAVE_OUT), ("sex", QUASI), ("age", SENSITIVE)):
        dock.roles.choose(name, role)
    dock.hand_over.recipient.setText("The university")  # said already, and nothing is made yet
    for role in (SENSITIVE, KEEP):
        dock.roles.choose("age", role)
        dock.go_to(3)
        walk.settle()
        walk.click(dock.decide.preview)
        said = dock.decide.text.toPlainText()
        dock.decide.page.close()
        assert "with sex and age" in said and "The university" in said, said


def test_what_is_handed_over_lies_where_a_whole_path_says(opened, tmp_path):
    """A part of one would be taken from wherever QGIS was started, such as the root of the disk."""
    dock, walk, *_ = opened
    for _ in range(4):
        walk.click(dock.next)
    hand_over = dock.hand_over
    for folder, register in (("may", ""), (str(tmp_path / "may"), "register.gpkg")):
        hand_over.folder.setFilePath(folder)
        hand_over.register.setFilePath(register)
        walk.click(hand_over.go)
        assert "Give the whole path" in hand_over.message.text() and not hand_over.results
    assert not Path("may").exists() and not Path("register.gpkg").exists()


def test_a_table_that_is_chosen_by_hand_while_tables_are_looked_through_stays(opened, monkeypatch):
    """The proposal comes later, of how the lists were before."""
    dock, walk, *_ = opened
    monkeypatch.setattr(proposing, "READ_AT_ONCE", 10)
    propose, chosen = proposing._proposed, Event()

    def once_chosen(*given):
        if current_thread() is not main_thread():
            assert chosen.wait(PATIENCE)
        return propose(*given)

    monkeypatch.setattr(proposing, "_proposed", once_chosen)
    further = make_layer({"home": ["nowhere"] * 50, "sex": ["f", "m"] * 25})
    further.setName("further")
    QgsProject.instance().addMapLayer(further)
    assert dock.data.busy
    dock.data.records.setLayer(further)
    chosen.set()
    walk.settle()
    assert dock.data.records.currentLayer() == further and dock.state.records == further.id()


def test_decide_says_that_a_least_population_is_one_of_records():
    areas, records, crosswalk = hamlet()
    counted = areas.with_population(records.profile.area_sizes)
    for of, said in ((areas, False), (counted, True)):
        account = rate(of, records, Levels((crosswalk,)), Ask(2, least_population=2.0))
        sentences = "\n".join(candidates._sentences(account))
        assert ("at least 2 records, each counted as a person" in sentences) == said
        assert ("areas of about 2 records" in sentences) == said, sentences
