"""What is looked at: areas, records, their fields and the quasi-identifiers."""

from __future__ import annotations

from qgis.core import QgsMapLayer, QgsMapLayerProxyModel, QgsProject, QgsVectorLayer
from qgis.gui import QgsCollapsibleGroupBoxBasic, QgsFieldComboBox, QgsMapLayerComboBox
from qgis.PyQt.QtCore import QSize, Qt, pyqtSignal
from qgis.PyQt.QtGui import QResizeEvent
from qgis.PyQt.QtWidgets import QCheckBox, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from ...algorithms.form.usual_layers import (
    area_field_of,
    area_layer,
    id_field_of,
    is_own_output,
    join_of,
    record_layer,
    vector_layers,
)
from ...core.preparing.usual_names import ROW_NUMBERS, USUAL_FIELDS, usual_field
from ...core.language import plural, tr
from ...core.records.matching import STOP, SUPPRESS
from .widgets import add_row, narrow, rows

LAYER_FILTER = QgsMapLayerProxyModel.Filter
SHOWN_ROWS = 6
LEAST_WIDTH = 220


class DataInputs(QgsCollapsibleGroupBoxBasic):
    """The widgets of the data. changed : any of them was, by the user or by a layer that comes or goes."""

    changed = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Data"), parent)
        self.regions, self.records = QgsMapLayerComboBox(), QgsMapLayerComboBox()
        self.region_id, self.population = QgsFieldComboBox(), QgsFieldComboBox()
        self.record_region, self.record_count = QgsFieldComboBox(), QgsFieldComboBox()
        self.quasi_identifiers = QListWidget()
        self.leave_out = QCheckBox(tr("Suppress"))
        self._build()
        self.regions.layerChanged.connect(self._take_areas)
        self.records.layerChanged.connect(self._take_records)
        for field_box in (self.region_id, self.population, self.record_region, self.record_count):
            field_box.fieldChanged.connect(lambda *_: self.changed.emit())
        self.record_region.fieldChanged.connect(lambda *_: self._fill_quasi_identifiers())
        self.quasi_identifiers.itemChanged.connect(lambda *_: self.changed.emit())
        self.leave_out.toggled.connect(lambda *_: self.changed.emit())
        QgsProject.instance().layersAdded.connect(self._take_new_layers)
        self._take_new_layers([layer for layer in (self.regions.currentLayer(), self.records.currentLayer()) if layer])
        self._take_areas(self.regions.currentLayer())
        self._take_records(self.records.currentLayer())

    def parameters(self) -> dict[str, object]:
        """What the main algorithm is given; layers by their id. POPULATION and RECORD_COUNT are empty for none: left
        out, the dialog would propose a field."""
        areas, records = self.regions.currentLayer(), self.records.currentLayer()
        return {
            "REGIONS": areas.id() if areas is not None else "",
            "REGION_ID": self.region_id.currentField(),
            "POPULATION": self.population.currentField(),
            "RECORDS": records.id() if records is not None else "",
            "RECORD_REGION": self.record_region.currentField(),
            "QUASI_IDENTIFIERS": self.chosen(),
            "RECORD_COUNT": self.record_count.currentField(),
            "UNMATCHED": SUPPRESS if self.leave_out.isChecked() else STOP,
        }

    def missing(self) -> str:
        """What is still to be chosen, in a sentence; empty where nothing is."""
        if self.regions.currentLayer() is None:
            return tr("Choose the layer of areas: polygons, or one point for each area.")
        if self.records.currentLayer() is None:
            return tr("Choose the table of records.")
        if not self.region_id.currentField():
            return tr("Choose the field that identifies the areas.")
        if not self.record_region.currentField():
            return tr("Choose the field of the records that says in which area a person lives.")
        if not self.chosen():
            return tr("Tick at least one quasi-identifier: what an outsider could know about a person.")
        return ""

    def layers(self) -> list[QgsMapLayer]:
        """The layers chosen."""
        return [layer.currentLayer() for layer in (self.regions, self.records) if layer.currentLayer() is not None]

    def chosen(self) -> list[str]:
        """The quasi-identifiers ticked."""
        items = map(self.quasi_identifiers.item, range(self.quasi_identifiers.count()))
        return [item.text() for item in items if item.checkState() == Qt.CheckState.Checked]

    def tick(self, names: list[str]) -> None:
        """Tick these quasi-identifiers and no others."""
        for row in range(self.quasi_identifiers.count()):
            item = self.quasi_identifiers.item(row)
            item.setCheckState(Qt.CheckState.Checked if item.text() in names else Qt.CheckState.Unchecked)

    def leave_aside(self, layers: list[QgsMapLayer]) -> None:
        """Do not offer these layers, which the dock made itself."""
        for layer_box in (self.regions, self.records):
            chosen = layer_box.currentLayer()
            layer_box.blockSignals(True)
            layer_box.setExceptedLayerList(layers)
            layer_box.setLayer(chosen)
            layer_box.blockSignals(False)

    def entitle(self) -> None:
        """The title: what is chosen while the group is folded, as far as there is room."""
        words = self.in_short() if self.isCollapsed() else tr("Data")
        room = max(self.width(), LEAST_WIDTH) - 2 * self.fontMetrics().height() - 10
        self.setTitle(self.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room))
        self.setToolTip(words if self.isCollapsed() else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.entitle()

    def minimumSizeHint(self) -> QSize:
        """However long the title."""
        return QSize(min(super().minimumSizeHint().width(), LEAST_WIDTH), super().minimumSizeHint().height())

    def in_short(self) -> str:
        """What is chosen, in a few words, for the title of the folded group."""
        if self.missing():
            return tr("Data")
        names = [layer.name() for layer in self.layers()]
        return plural(
            "Data: {areas}, {records}, {n} quasi-identifier",
            "Data: {areas}, {records}, {n} quasi-identifiers",
            len(self.chosen()),
            areas=names[0],
            records=names[-1],
        )

    def _build(self) -> None:
        self.regions.setFilters(LAYER_FILTER.PolygonLayer | LAYER_FILTER.PointLayer)
        self.records.setFilters(LAYER_FILTER.VectorLayer)
        self.population.setAllowEmptyFieldName(True)
        self.record_count.setAllowEmptyFieldName(True)
        self.quasi_identifiers.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.quasi_identifiers.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        height = self.quasi_identifiers.sizeHintForRow(0)
        height = height if height > 0 else self.fontMetrics().height() + 4
        self.quasi_identifiers.setFixedHeight(SHOWN_ROWS * height + 6)
        for layer_box in (self.regions, self.records):
            narrow(layer_box)
        for field_box in (self.region_id, self.population, self.record_region, self.record_count):
            narrow(field_box)
        layout = rows()
        for text, widget, tip in (
            (tr("Areas"), self.regions, tr("The small areas: polygons, or one point for each.")),
            (tr("Area code"), self.region_id, tr("The field that identifies each area.")),
            (tr("Population"), self.population, tr("People of each area; without it the records are counted.")),
            (tr("Records"), self.records, tr("The person records, one per row.")),
            (tr("Area code"), self.record_region, tr("The field that says in which area a person lives.")),
            (
                tr("Quasi-identifiers"),
                self.quasi_identifiers,
                tr("Tick what an outsider could know about a person: age group, sex, ethnicity, …"),
            ),
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
        QVBoxLayout(self).addLayout(layout)

    def _take_new_layers(self, layers: list[QgsMapLayer]) -> None:
        """What comes in is proposed while what is chosen is none, of our own making, or without shapes the areas."""
        every = vector_layers()
        if _is_unfit(self.regions.currentLayer(), layers):
            areas = area_layer(every, None)
            if areas is not None:
                self.regions.setLayer(areas)
        areas, chosen = self.regions.currentLayer(), self.records.currentLayer()
        if _is_unfit(chosen, layers) or chosen is areas or _joins_nothing(areas, chosen):
            records = record_layer(every, None, areas)
            if records is not None:
                self.records.setLayer(records)

    def _take_areas(self, layer: QgsMapLayer | None) -> None:
        names = _names(layer)
        for chooser, parameter in ((self.region_id, "REGION_ID"), (self.population, "POPULATION")):
            chooser.setLayer(layer)
            chooser.setField(usual_field(names, USUAL_FIELDS[parameter]))
        self.region_id.setField(id_field_of(layer, USUAL_FIELDS["REGION_ID"]))
        self._propose_area_of_record()
        self.changed.emit()

    def _take_records(self, layer: QgsMapLayer | None) -> None:
        for chooser in (self.record_region, self.record_count):
            chooser.setLayer(layer)
        self.record_count.setField("")
        self._propose_area_of_record()
        self._fill_quasi_identifiers()
        self.changed.emit()

    def _propose_area_of_record(self) -> None:
        names = _names(self.records.currentLayer())
        wanted = [name for name in (self.region_id.currentField(), *USUAL_FIELDS["RECORD_REGION"][1:]) if name]
        areas, records = self.regions.currentLayer(), self.records.currentLayer()
        field = area_field_of(areas, self.region_id.currentField(), records, wanted)
        self.record_region.setField(field or usual_field(names, wanted))

    def _fill_quasi_identifiers(self) -> None:
        """The fields of the records but the area and the numbers of rows; what was ticked stays ticked."""
        ticked = set(self.chosen())
        self.quasi_identifiers.blockSignals(True)
        self.quasi_identifiers.clear()
        for name in _names(self.records.currentLayer()):
            if name == self.record_region.currentField() or name.lower() in ROW_NUMBERS:
                continue
            item = QListWidgetItem(name, self.quasi_identifiers)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if name in ticked else Qt.CheckState.Unchecked)
            item.setToolTip(name)
        self.quasi_identifiers.blockSignals(False)


def _is_unfit(layer: QgsMapLayer | None, new: list[QgsMapLayer]) -> bool:
    """Whether a chosen layer was chosen for being there alone: none, one that has just come, or an output of ours."""
    return layer is None or layer in new or (isinstance(layer, QgsVectorLayer) and is_own_output(layer))


def _joins_nothing(areas: QgsMapLayer | None, records: QgsMapLayer | None) -> bool:
    """Whether no field of the records holds areas, so that any table that comes may be the one."""
    known = isinstance(areas, QgsVectorLayer) and isinstance(records, QgsVectorLayer)
    return known and join_of(areas, records) is None


def _names(layer: QgsMapLayer | None) -> list[str]:
    """The fields of a layer; none of no layer."""
    return list(layer.fields().names()) if isinstance(layer, QgsVectorLayer) else []
