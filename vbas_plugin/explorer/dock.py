"""The dock: what is chosen, the curve, the map and the region clicked at, held together."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsProject
from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtGui import QCloseEvent
from qgis.PyQt.QtWidgets import (
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ...algorithms.explored import MAIN, Choices, Shown
from ...core.language import tr
from ...core.profile import Profile
from .choices import ChoiceInputs
from .chooser import NumberChooser
from .curve_view import CurveView
from .inputs import DataInputs
from .looking import Look
from .map_layer import RegionLayer
from .panel import RegionPanel, told_of
from .watching import LayerWatch
from .widgets import SAID, WRONG, line, pass_over, wrapped
from .words import summary_of, where_shown


class ExplorerDock(QDockWidget):
    """The dock. closed : its user closed it

    data, choices, chooser, curve, panel : its widgets; looking : the look itself; map : the layer of regions
    """

    closed = pyqtSignal()

    def __init__(self, iface: Any, parent: QWidget | None = None) -> None:
        super().__init__(tr("VBAS explorer"), parent)
        self.setObjectName("VbasExplorer")
        self._iface = iface
        self.data, self.choices = DataInputs(), ChoiceInputs()
        self.chooser, self.curve, self.panel = NumberChooser(), CurveView(), RegionPanel()
        self.look, self.cancel = QPushButton(tr("Look")), QPushButton(tr("Cancel"))
        self.anonymise, self.clear = QPushButton(tr("Anonymise with these…")), QPushButton(tr("Clear"))
        self.message, self.summary, self.bar = wrapped(), wrapped(), QProgressBar()
        self.map = RegionLayer(iface, self)
        self.looking = Look(self)
        self.results, self.hint = QWidget(), wrapped()
        self._dialog: Any = None
        self._watch = LayerWatch(self)
        # What is shown is no longer as it was read; nor is what is being read as it was when that began.
        self._gone = self._changed = False
        self._read: Profile | None = None
        self._number_chosen = False  # by the user, and not by the approach
        self._asked: Choices | None = None
        self._on_map: Shown | None = None
        self._build()
        self._connect()
        self._refresh()

    def _build(self) -> None:
        self.hint.setText(
            tr(
                "Choose areas, records and what an outsider could know about a person, and press Look. You see what "
                "each number of regions would suppress, on a curve and on the map. Nothing is written or released."
            )
        )
        self.bar.setRange(0, 100)
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(8)
        self.look.setDefault(True)
        self.look.setToolTip(tr("Read areas and records, and show the curve and the regions."))
        self.anonymise.setToolTip(
            tr("Open “Anonymise records”, filled so that running it makes just the regions that you see.")
        )
        self.clear.setToolTip(tr("Take the regions off the map, and let go of what was read."))
        buttons = QHBoxLayout()
        buttons.addWidget(self.look, 1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.clear)
        results_layout = QVBoxLayout(self.results)
        results_layout.setContentsMargins(0, 0, 0, 0)
        for widget in (self.curve, self.chooser, self.summary, self.anonymise, line(), self.panel):
            results_layout.addWidget(widget)
        inner = QWidget()
        layout = QVBoxLayout(inner)
        for part in (self.data, self.choices, buttons, self.bar, self.message, self.hint, self.results):
            (layout.addLayout if isinstance(part, QHBoxLayout) else layout.addWidget)(part)
        layout.addStretch(1)
        pass_over(inner)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inner)
        self.setWidget(scroll)
        self.setMinimumWidth(300)
        self.say("")
        self.panel.show_text("")

    def _connect(self) -> None:
        self.look.clicked.connect(self.start)
        self.cancel.clicked.connect(self.looking.cancel)
        self.clear.clicked.connect(self.forget)
        self.anonymise.clicked.connect(self.run_anonymise)
        self.data.changed.connect(self._data_changed)
        self.data.collapsedStateChanged.connect(lambda *_: self._refresh())
        self.choices.changed.connect(self._take_choices)
        self.chooser.dragged.connect(self._preview)
        self.chooser.chosen.connect(self._take_number)
        self.chooser.searched.connect(self._take_budget)
        self.curve.picked.connect(self._take_number)
        self.panel.clicking.connect(self.map.click)
        self.map.clicking.connect(self.panel.button.setChecked)
        self.map.clicked.connect(self._tell_region)
        self.map.changed.connect(self._own_layer_changed)
        looking = self.looking
        looking.changed.connect(self._refresh)
        looking.regions.connect(self._show_regions)
        looking.points.connect(self._show_points)
        looking.said.connect(self.say)
        looking.progressed.connect(self._progress)
        self._watch.edited.connect(self._edited)
        self._watch.lost.connect(self._lose_layer)
        QgsProject.instance().cleared.connect(self.forget)

    def _own_layer_changed(self) -> None:
        self.data.leave_aside([self.map.layer] if self.map.layer is not None else [])

    # What its user does

    def start(self) -> None:
        """Look: read what is chosen."""
        missing = self.data.missing()
        if missing:
            self.say(missing, True)
            self.data.setCollapsed(False)
            return
        self.say("")
        self._number_chosen = self._changed = False
        self._watch.watch(self.data.layers())
        self._asked = self.choices.choices()
        self.looking.begin(self.data.parameters(), self._asked)

    def run_anonymise(self) -> None:
        """Open the dialog of the main algorithm, filled so that running it makes the regions shown."""
        seen = self.looking.seen
        if seen is None:
            return
        try:
            import processing
        except ImportError:
            self.say(tr("The Processing plugin of QGIS is switched off: switch it on under Plugins."), True)
            return
        self._dialog = processing.createAlgorithmDialog(MAIN, seen.parameters)
        if self._dialog is None:
            self.say(tr("“Anonymise records” is not in the toolbox: load the plugin again."), True)
            return
        self._dialog.show()

    def forget(self) -> None:
        """Clear: take the regions off the map, and let go of what was read."""
        self._watch.watch([])
        self.looking.forget()
        self.map.clear()
        self.say("")
        self._refresh()

    def end(self) -> None:
        """Before the dock goes away for good."""
        self.looking.forget()
        self._watch.end()
        QgsProject.instance().cleared.disconnect(self.forget)
        self.map.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.forget()
        self.closed.emit()
        super().closeEvent(event)

    # What it shows

    def say(self, sentence: str, wrong: bool = False) -> None:
        """One sentence to the user; none where it is empty."""
        self.message.setText(sentence)
        self.message.setStyleSheet(WRONG if wrong else SAID)
        self.message.setVisible(bool(sentence))

    @property
    def _stale(self) -> bool:
        """Whether what is shown is not of the data as they are chosen and stand now."""
        seen = self.looking.seen
        return seen is not None and (self._gone or dict(seen.data) != self.data.parameters())

    def _progress(self, percent: float) -> None:
        """How far the work is; only that there is some before it says."""
        self.bar.setRange(0, 100 if percent > 0 else 0)
        self.bar.setValue(round(percent))

    def _refresh(self) -> None:
        """Have the widgets show where things stand."""
        looking, seen = self.looking, self.looking.seen
        self.results.setVisible(seen is not None)
        self.hint.setVisible(seen is None)
        if looking.busy and not self.bar.isVisible():
            self._progress(0.0)
        self.bar.setVisible(looking.busy)
        self.cancel.setVisible(looking.busy)
        self.results.setEnabled(not self._stale)
        self.clear.setEnabled(seen is not None)
        self.data.entitle()

    def _show_regions(self) -> None:
        """The regions of the look, on the map, on the curve and in words."""
        seen = self.looking.seen
        if seen is None:
            self._refresh()
            return
        first = self.map.layer is None
        if seen.explored.profile is not self._read:
            self._read, self._gone = seen.explored.profile, self._changed
        if seen.shown is not self._on_map or first:
            self._on_map = seen.shown
            self.panel.show_text("")
            self.map.show(seen.shown.table)
        self.chooser.set_areas(len(seen.explored.areas))
        self.chooser.set_value(seen.shown.n_sites)
        measures = seen.shown.measures
        nested = seen.least if seen.settings.nested else None
        self.curve.mark((measures.n_regions, measures.suppression_percent), nested)
        self.summary.setText(summary_of(seen))
        if first:
            self.data.setCollapsed(True)
        self._refresh()
        if self._stale and self.message.isHidden():
            self._tell_stale()
        if self._asked != self.choices.choices():  # meanwhile
            self._take_choices()

    def _show_points(self) -> None:
        seen = self.looking.seen
        if seen is not None:
            self.curve.show_points(seen.points, len(seen.explored.areas))

    def _preview(self, n_sites: int) -> None:
        """Where the slider is, before it is let go."""
        seen, percent = self.looking.seen, self.curve.percent_at(n_sites)
        if seen is not None and percent is not None:
            nested = seen.least if seen.settings.nested else None
            self.curve.mark((n_sites, percent if nested is None else nested), nested)

    def _tell_region(self, level: int, number: int) -> None:
        seen = self.looking.seen
        if seen is None:
            return
        where = where_shown(seen, level, number)
        self.panel.show_text(told_of(number, seen.settings.k, seen.account(level, number), where))

    # What happens around it

    def _take_choices(self) -> None:
        seen = self.looking.seen
        if seen is not None and not self._stale:
            self._asked = self.choices.choices()
            self.looking.choose(self._asked, self.chooser.value() if self._number_chosen else None)

    def _take_number(self, n_sites: int) -> None:
        self._number_chosen = True
        self.chooser.set_value(n_sites)
        self.looking.number(n_sites)

    def _take_budget(self, percent: float) -> None:
        self._number_chosen = True
        self.looking.budget(percent)

    def _data_changed(self) -> None:
        """Other layers or fields than those that were read, or those again."""
        if self.looking.seen is not None and not self.looking.busy:
            self.say("")
            self._tell_stale()
        self._refresh()

    def _tell_stale(self) -> None:
        """Why another look is needed, where it is."""
        if self._gone:
            self.say(tr("A layer was changed since it was read: press Look to read it again."))
        elif self._stale:
            self.say(tr("Other data are chosen: press Look to read them."))

    def _edited(self) -> None:
        """What a layer holds is no longer what was read."""
        self._changed = True
        if self.looking.seen is not None and not self._gone:
            self._gone = True
            self._tell_stale()
            self._refresh()

    def _lose_layer(self, name: str) -> None:
        """Nothing may read it any more once this returns."""
        if self.looking.reading:
            self.looking.stop()
        self._gone = self._changed = True
        self.data.setCollapsed(False)
        self.say(tr("The layer “{name}” was removed from the project: choose another one.", name=name), True)
        self._refresh()
