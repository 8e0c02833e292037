"""Data: the areas and the records, how they join, and what there is to say of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from qgis.core import QgsMapLayer, QgsProject, QgsVectorLayer
from qgis.gui import QgsFieldComboBox, QgsMapLayerComboBox
from qgis.PyQt.QtCore import QTimer, pyqtSignal
from qgis.PyQt.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from ...algorithms.compat import offer_layers
from ...algorithms.explorer_data import Reading
from ...algorithms.form.usual_layers import area_field_of, id_field_of
from ...core import counted
from ...core.errors import Cancelled, VbasError
from ...core.language import tr
from ...core.preparing.checking import DataChecked, check_data, counted_over
from ...core.preparing.roles import LEAVE_OUT, PERSON, QUASI
from ...core.preparing.usual_names import USUAL_FIELDS, usual_field
from ...core.progress import part
from ...core.records.columns import Column
from ...core.shapes import check_degrees
from ..explorer.watching import LayerWatch
from ..explorer.widgets import SAID, WRONG, add_row, narrow, rows, thin_bar, wrapped
from ..explorer.work import Job, Worker
from . import proposing
from .project_answers import kept_answers
from .sampling import Sample
from .state import ReleaseState

PAUSE = 50  # milliseconds, in which several lists may change
# What was read: the first rows of a layer, by its id and no name, and single fields of all rows, by their names.
Known = dict[tuple[str, str], dict[str, Column]]


class DataStep(QWidget):
    """The step. changed : what is to be looked at was, by the user or by a layer that comes or goes; checked : the
    layers were looked over anew

    state : what was said; found : what the layers hold, None until that is known
    """

    changed = pyqtSignal()
    checked = pyqtSignal()

    def __init__(self, state: ReleaseState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state = state
        self.data_checked: DataChecked | None = None
        self.regions, self.records = QgsMapLayerComboBox(), QgsMapLayerComboBox()
        self.region_id, self.population = QgsFieldComboBox(), QgsFieldComboBox()
        self.record_region, self.record_count = QgsFieldComboBox(), QgsFieldComboBox()
        self.leave_out, self.several = QCheckBox(tr("Suppress")), QCheckBox()
        self.said, self.problems, self.bar = wrapped(), wrapped(), thin_bar()
        self._by_hand = self._proposing = False  # whether the fields that join were chosen by the user
        self._columns: Known = {}
        self._known = proposing.JoinsKnown(self)
        self._worker, self._watch, self._soon = Worker(self), LayerWatch(self), QTimer(self)
        self._build()
        self._connect()
        self._proposals = proposing.LayerProposals(self.regions, self.records, self._known, self)
        self._take_areas(self.regions.currentLayer())
        self._take_records(self.records.currentLayer())

    # What others ask

    def parameters(self) -> dict[str, object]:
        """What the main algorithm is given of the data and of what is known; layers by their id."""
        return self.state.looked_at()

    def missing(self) -> str:
        """What is still to be chosen, in a sentence; empty where nothing is."""
        return self.state.missing()

    def layers(self) -> list[QgsMapLayer]:
        """The layers chosen."""
        return [layer.currentLayer() for layer in (self.regions, self.records) if layer.currentLayer() is not None]

    def chosen(self) -> list[str]:
        """The columns that identify indirectly."""
        return self.state.with_role(QUASI)

    def tick(self, names: list[str]) -> None:
        """Have these columns identify indirectly, and no others; nothing else of the records is looked at."""
        self.state.choose_alone(names)
        self.changed.emit()

    def show_area(self, name: str) -> None:
        """Have the list of the records' area show a field that was chosen elsewhere."""
        if self.record_region.currentField() != name:
            self.record_region.setField(name)

    def leave_aside(self, layers: list[QgsMapLayer]) -> None:
        """Do not offer these layers, which the dock made itself."""
        for layer_box in (self.regions, self.records):
            chosen = layer_box.currentLayer()
            layer_box.blockSignals(True)
            layer_box.setExceptedLayerList(layers)
            layer_box.setLayer(chosen)
            layer_box.blockSignals(False)

    @property
    def busy(self) -> bool:
        """Whether the layers are being looked over, or are about to be."""
        return self._worker.busy or self._soon.isActive() or self._proposals.busy

    def settle(self) -> None:
        """Go on with these layers, whatever comes into the project."""
        self._proposals.settled = self.data_checked is not None and self.data_checked.joined

    def end(self) -> None:
        """Before the dock goes away for good."""
        self._soon.stop()
        QgsProject.instance().layersRemoved.disconnect(self._follow_lists)
        self._soon.timeout.disconnect(self._check)  # lists of layers go on taking what comes into the project
        self._proposals.end()
        self._worker.stop()
        self._watch.end()

    # How it is made

    def _build(self) -> None:
        offer_layers(self.regions, "PolygonLayer", "PointLayer")
        offer_layers(self.records, "VectorLayer")
        self.population.setAllowEmptyFieldName(True)
        self.record_count.setAllowEmptyFieldName(True)
        for chooser in (self.regions, self.records):
            narrow(chooser)
        for chooser in (self.region_id, self.population, self.record_region, self.record_count):
            narrow(chooser)
        layout = rows()
        for text, widget, tip in (
            (tr("Areas"), self.regions, tr("The small areas: polygons, or one point for each.")),
            (tr("Area code"), self.region_id, tr("The field that identifies each area.")),
            (tr("Population"), self.population, tr("People of each area; without it the records are counted.")),
            (tr("Records"), self.records, tr("The person records, one per row.")),
            (tr("Area code"), self.record_region, tr("The field that says in which area a person lives.")),
            (
                tr("Record count field"),
                self.record_count,
                tr("Only for a table that is already counted: how many records each row stands for."),
            ),
            (
                tr("Unknown areas"),
                self.leave_out,
                tr(
                    "Records whose area is not among the areas: left out, where ticked, and count as suppressed; else "
                    "the table is refused."
                ),
            ),
        ):
            add_row(layout, text, widget, tip)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addLayout(layout)
        for part_of in (self.bar, self.said, self.problems, self.several):
            outer.addWidget(part_of)
        outer.addStretch(1)
        self._show_data_checked()

    def _connect(self) -> None:
        self.regions.layerChanged.connect(self._take_areas)
        self.records.layerChanged.connect(self._take_records)
        for field_box in (self.region_id, self.record_region):
            field_box.fieldChanged.connect(lambda *_: self._take_joining())
        for field_box in (self.population, self.record_count):
            field_box.fieldChanged.connect(lambda *_: self._take())
        self.leave_out.toggled.connect(lambda *_: self._take())
        self.several.clicked.connect(self._take_persons)
        self._soon.setSingleShot(True)
        self._soon.setInterval(PAUSE)
        self._soon.timeout.connect(self._check)
        self._worker.changed.connect(lambda: self.bar.setVisible(self._worker.busy))
        self._worker.progressed.connect(lambda percent: self.bar.setValue(round(percent)))
        self._watch.edited.connect(self._edited)
        self._watch.lost.connect(self._lose)
        QgsProject.instance().layersRemoved.connect(self._follow_lists)

    # What is chosen

    def _take(self) -> None:
        """Have the state say what the lists do."""
        state, areas, records = self.state, self.regions.currentLayer(), self.records.currentLayer()
        state.regions, state.records = (layer.id() if layer is not None else "" for layer in (areas, records))
        state.region_id, state.population = self.region_id.currentField(), self.population.currentField()
        state.record_region, state.record_count = self.record_region.currentField(), self.record_count.currentField()
        state.leave_out = self.leave_out.isChecked()
        self.changed.emit()
        self._soon.start()

    def _take_joining(self) -> None:
        """A field that joins was chosen, by the user where it was not proposed."""
        self._by_hand = self._by_hand or not self._proposing
        self._take()

    def _take_persons(self, on: bool) -> None:
        persons = None if self.data_checked is None else self.data_checked.persons
        if persons is not None:
            self.state.choose(persons.name, PERSON if on else LEAVE_OUT)
            self.changed.emit()
            self.checked.emit()

    def _take_areas(self, layer: QgsMapLayer | None) -> None:
        self._by_hand, self._proposing = False, True
        names = _names(layer)
        for chooser, parameter in ((self.region_id, "REGION_ID"), (self.population, "POPULATION")):
            chooser.setLayer(layer)
            chooser.setField(usual_field(names, USUAL_FIELDS[parameter]))
        self.region_id.setField(id_field_of(layer, USUAL_FIELDS["REGION_ID"], self._known.joins()))
        self._propose_area_of_record()
        self._proposing = False
        self._take()

    def _take_records(self, layer: QgsMapLayer | None) -> None:
        self._by_hand, self._proposing = False, True
        for chooser in (self.record_region, self.record_count):
            chooser.setLayer(layer)
        self.record_count.setField("")
        self.data_checked = None
        state = self.state
        state.take_fields([])
        state.take_fields(_names(layer))
        if layer is not None:
            state.recall(kept_answers(layer.id()))
        self._propose_area_of_record()
        self._proposing = False
        self._take()

    def _propose_area_of_record(self) -> None:
        names = _names(self.records.currentLayer())
        wanted = [name for name in (self.region_id.currentField(), *USUAL_FIELDS["RECORD_REGION"][1:]) if name]
        areas, records = self.regions.currentLayer(), self.records.currentLayer()
        field = area_field_of(areas, self.region_id.currentField(), records, wanted, self._known.joins())
        self.record_region.setField(field or usual_field(names, wanted))

    def _follow_lists(self) -> None:
        """Take what the lists show once a layer was removed: they go on to another one, and say nothing of it."""
        areas, records = self.regions.currentLayer(), self.records.currentLayer()
        if self.state.regions != (areas.id() if areas is not None else ""):
            self._take_areas(areas)
        if self.state.records != (records.id() if records is not None else ""):
            self._take_records(records)

    # What is found

    def _edited(self) -> None:
        """What was read of the layers is no longer what they hold."""
        self._columns = {}
        self.state.take_fields(_names(self.records.currentLayer()))
        self._let_go_of_fields()
        self._soon.start()

    def _let_go_of_fields(self) -> None:
        """Propose anew where a field that was chosen is gone: its list shows another one, and says nothing of it."""
        state, areas, records = self.state, self.regions.currentLayer(), self.records.currentLayer()
        if {state.region_id, state.population} - {"", *_names(areas)}:
            self._take_areas(areas)
        if {state.record_region, state.record_count} - {"", *_names(records)}:
            self._take_records(records)

    def _lose(self, name: str) -> None:
        """Nothing may read a layer any more once this returns."""
        self._worker.stop()
        self._columns, self.data_checked = {}, None
        self._show_data_checked()

    def _check(self) -> None:
        """Look the layers over, behind the window."""
        state, areas, records = self.state, self.regions.currentLayer(), self.records.currentLayer()
        if areas is None or records is None:
            self._worker.stop()
            self.data_checked = None
            self._show_data_checked()
            self._show(self.problems, state.missing_data(), SAID)
            return
        layers = {"REGIONS": areas, "RECORDS": records}
        self._watch.watch(list(layers.values()))
        of_these = {layer.id() for layer in layers.values()}
        self._columns = {key: columns for key, columns in self._columns.items() if key[0] in of_these}
        try:
            reading = Reading({name: layer.id() for name, layer in layers.items()})
        except Exception as error:
            self._fail(error)
            return
        ids = {table: layer.id() for table, layer in layers.items()}
        samples = {table: Sample(layer) for table, layer in layers.items()}
        known, chosen, mend = dict(self._columns), (state.region_id, state.record_region), not self._by_hand

        def work(job: Job) -> tuple[DataChecked, Known]:
            for n, (table, sample) in enumerate(samples.items()):
                if (ids[table], "") not in known:
                    known[ids[table], ""] = sample.columns(part(job.progress, 0.1 * n, 0.1 * (n + 1)))
            of_areas, of_records = (known[ids[table], ""] for table in layers)
            data_checked = check_data(of_areas, of_records, *chosen, part(job.progress, 0.2, 0.4), mend)
            if data_checked.n_sample >= samples["RECORDS"].most:
                job.reported.emit(replace(data_checked, whole=False))
            whole: list[Column | None] = []
            for table, name in (("REGIONS", data_checked.region_id), ("RECORDS", data_checked.record_region)):
                key = ids[table], name
                if name and key not in known:
                    known[key] = reading.columns(table, [name], job.feedback)
                whole.append(known[key][name] if name else None)
            return counted_over(data_checked, *whole), known

        title = tr("VBAS release: looking the data over")

        def failed(error: Exception) -> None:
            self._fail(error, reading.problem)

        self._worker.start(title, work, self._take_found, failed, self._take_sample)

    def _take_sample(self, data_checked: DataChecked) -> None:
        """What the first records show, while all are being read."""
        if not self._soon.isActive():  # else something else was chosen meanwhile
            self.data_checked = data_checked
            self._take_joined(data_checked)
            self._tell_found()

    def _take_found(self, result: tuple[DataChecked, Known], warnings: list[str]) -> None:
        self.data_checked, self._columns = result
        if not self._soon.isActive():
            self._take_joined(self.data_checked)
        self._tell_found(warnings)

    def _tell_found(self, warnings: list[str] | None = None) -> None:
        if self.data_checked is not None:
            self.state.proposed = {name: look.role for name, look in self.data_checked.looks.items()}
        self._show_data_checked(warnings)
        self.changed.emit()
        self.checked.emit()

    def _take_joined(self, data_checked: DataChecked) -> None:
        """Show the fields that join best, where those that were proposed by their names join hardly any record."""
        if (data_checked.region_id, data_checked.record_region) != (self.state.region_id, self.state.record_region):
            self._proposing = True
            self.region_id.setField(data_checked.region_id)
            self.record_region.setField(data_checked.record_region)
            self._proposing = False
            self._soon.stop()  # just these were looked over

    def _fail(self, error: Exception, problem: Callable[[Exception], str] = str) -> None:
        self.data_checked = None
        self._show_data_checked()
        if not isinstance(error, Cancelled):
            self._show(self.problems, problem(error), WRONG)
        self.checked.emit()

    def _show_data_checked(self, warnings: list[str] | None = None) -> None:
        """Say what was found, and ask where persons seem to have several rows."""
        data_checked = self.data_checked
        self.bar.setVisible(self._worker.busy)
        self._show(
            self.said, "" if data_checked is None else "\n".join([*data_checked.sentences(), *self._of_places()]), SAID
        )
        self._show(
            self.problems,
            ""
            if data_checked is None
            else "\n".join(
                [
                    *data_checked.problems(),
                    *self._of_unknown_areas(data_checked),
                    *self._of_wrong_places(),
                    *(warnings or []),
                ]
            ),
            WRONG,
        )
        persons = None if data_checked is None else data_checked.persons
        self.several.setVisible(persons is not None)
        if persons is not None:
            self.several.setText(tr("“{field}” says whose a row is", field=persons.name))
            self.several.setToolTip(
                tr(
                    "{persons} in {records}; {same} are the same in all records of a person. Ticked, k counts persons.",
                    persons=counted.people(persons.n_persons),
                    records=counted.records(persons.n_rows),
                    same=", ".join(persons.same[:4]),
                )
            )
            self.several.setChecked(self.state.role(persons.name) == PERSON)

    def _of_unknown_areas(self, data_checked: DataChecked) -> list[str]:
        """What comes of records whose area is not known."""
        if not data_checked.joined or not data_checked.whole or data_checked.share == 1.0:
            return []
        if self.state.leave_out:
            return [tr("They are suppressed.")]
        return [tr("Mend them, or tick “{suppress}” above to go on without them.", suppress=tr("Suppress"))]

    def _of_wrong_places(self) -> list[str]:
        """Metres that are declared as degrees."""
        areas = self.regions.currentLayer()
        if areas is None or not areas.crs().isGeographic() or areas.extent().isNull():
            return []
        extent = areas.extent()
        corners = np.array([[extent.xMinimum(), extent.yMinimum()], [extent.xMaximum(), extent.yMaximum()]])
        try:
            check_degrees(corners, areas.crs().authid(), areas.name())
        except VbasError as error:
            return [str(error)]
        return []

    def _of_places(self) -> list[str]:
        """In what the areas are measured."""
        areas = self.regions.currentLayer()
        if areas is None or not areas.crs().isValid():
            return [tr("The areas have no coordinate reference system: set it in the properties of the layer.")]
        if self._of_wrong_places():
            return []
        if areas.crs().isGeographic():
            return [tr("{crs}: degrees, which are projected for measuring.", crs=areas.crs().authid())]
        return [tr("Coordinates of the areas: {crs}.", crs=areas.crs().userFriendlyIdentifier())]

    @staticmethod
    def _show(label: QWidget, text: str, style: str) -> None:
        label.setText(text)
        label.setStyleSheet(style)
        label.setVisible(bool(text))


def _names(layer: QgsMapLayer | None) -> list[str]:
    """The fields of a layer; none of no layer."""
    return list(layer.fields().names()) if isinstance(layer, QgsVectorLayer) else []
