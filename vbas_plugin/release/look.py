"""Look: the curve, the map and the region clicked at. Nothing is written or released."""

from __future__ import annotations

from typing import Any, Protocol

from qgis.core import QgsMapLayer, QgsProject
from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QSlider, QVBoxLayout, QWidget

from ...algorithms.explorer_data import MAIN, Choices, Shown
from ...core.language import tr
from ...core.profile import Profile
from ...core.region_account import RegionAccount
from ..explorer.choices import ChoiceInputs
from ..explorer.chooser import NumberChooser
from ..explorer.curve_view import CurveView
from ..explorer.lost_bars import LostBars, bars_of
from ..explorer.map_layer import RegionLayer
from ..explorer.panel import RegionPanel, told_of
from ..explorer.session import ExplorerSession, ExplorerState
from ..explorer.swipe import HALF, Swipe
from ..explorer.watching import LayerWatch
from ..explorer.widgets import SAID, WRONG, line, thin_bar, wrapped
from ..explorer.words import summary_of, where_shown
from ..explorer.work import Worker


class LookedAt(Protocol):
    """What is looked at. changed : a signal; anything of it was"""

    changed: Any

    def parameters(self) -> dict[str, object]:
        """What the main algorithm is given of it."""

    def missing(self) -> str:
        """What is still to be chosen, in a sentence; empty where nothing is."""

    def layers(self) -> list[QgsMapLayer]:
        """Those that are read."""

    def leave_aside(self, layers: list[QgsMapLayer]) -> None:
        """Do not offer these, which were made here."""


class LookStep(QWidget):
    """The step. outdated : a layer that was read is no longer as it was, or no longer there

    data : what is looked at
    choices, chooser, curve, lost, panel : its widgets; session : what is read and computed; telling : works out what is
    told of a region; map : the layer of regions
    """

    outdated = pyqtSignal()

    def __init__(self, iface: Any, data: LookedAt, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.data, self.choices = data, ChoiceInputs()
        self.chooser, self.curve, self.panel = NumberChooser(), CurveView(), RegionPanel()
        self.lost = LostBars()
        self.look, self.cancel = QPushButton(tr("Look")), QPushButton(tr("Cancel"))
        self.anonymise, self.clear = QPushButton(tr("Anonymise with these…")), QPushButton(tr("Clear"))
        self.message, self.summary, self.bar = wrapped(), wrapped(), thin_bar()
        self.map, self.swipe = RegionLayer(iface, self), Swipe(iface, self)
        self.before, self.line_at = QCheckBox(tr("Before and after")), QSlider(Qt.Orientation.Horizontal)
        self.session, self.telling = ExplorerSession(self), Worker(self)
        self.results, self.hint = QWidget(), wrapped()
        self._dialog: Any = None
        self._watch = LayerWatch(self)
        # What is shown is no longer as it was read; nor is what is being read as it was when that began.
        self._gone = self._changed = False
        self._read: Profile | None = None
        self._number_chosen = False  # by the user, and not by the approach
        self._asked: Choices | None = None
        self._on_map: Shown | None = None
        self._seen: dict[str, object] = {}  # the data as they were chosen when they were last spoken of
        self._build()
        self._connect()
        self._refresh()

    def _build(self) -> None:
        self.hint.setText(
            tr(
                "You see what each number of regions would suppress, on a curve and on the map. Nothing is written or "
                "released."
            )
        )
        self.look.setDefault(True)
        self.look.setToolTip(tr("Read areas and records, and show the curve and the regions."))
        self.anonymise.setToolTip(
            tr("Open “Anonymise records”, filled so that running it makes just the regions that you see.")
        )
        self.clear.setToolTip(tr("Take the regions off the map, and forget what was read."))
        buttons = QHBoxLayout()
        buttons.addWidget(self.look, 1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.clear)
        self.before.setToolTip(tr("On the map, left of a line the areas, right of it the regions."))
        self.line_at.setRange(0, 100)
        self.line_at.setValue(HALF)
        self.line_at.setEnabled(False)
        self.line_at.setAccessibleName(tr("Where before ends and after begins"))
        beside = QWidget()
        beside_layout = QHBoxLayout(beside)
        beside_layout.setContentsMargins(0, 0, 0, 0)
        beside_layout.addWidget(self.before)
        beside_layout.addWidget(self.line_at, 1)
        results_layout = QVBoxLayout(self.results)
        results_layout.setContentsMargins(0, 0, 0, 0)
        for widget in (self.curve, self.chooser, self.summary, beside, self.lost, self.anonymise, line(), self.panel):
            results_layout.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for part in (self.choices, buttons, self.bar, self.message, self.hint, self.results):
            (layout.addLayout if isinstance(part, QHBoxLayout) else layout.addWidget)(part)
        layout.addStretch(1)
        self.say("")
        self.panel.show_text("")

    def _connect(self) -> None:
        self.look.clicked.connect(self.start)
        self.cancel.clicked.connect(self.session.cancel)
        self.clear.clicked.connect(self.forget)
        self.anonymise.clicked.connect(self.run_anonymise)
        self.data.changed.connect(self._data_changed)
        self.choices.changed.connect(self._take_choices)
        self.chooser.dragged.connect(self._preview)
        self.chooser.chosen.connect(self._take_number)
        self.chooser.searched.connect(self._take_budget)
        self.curve.picked.connect(self._take_number)
        self.before.toggled.connect(self._take_before)
        self.line_at.valueChanged.connect(self.swipe.move)
        self.panel.clicking.connect(self.map.click)
        self.map.clicking.connect(self.panel.button.setChecked)
        self.map.clicked.connect(self._tell_region)
        self.map.changed.connect(self._own_layer_changed)
        session = self.session
        session.changed.connect(self._refresh)
        session.regions.connect(self._show_regions)
        session.points.connect(self._show_points)
        session.said.connect(self.say)
        session.progressed.connect(self._progress)
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
            return
        self.say("")
        self._number_chosen = self._changed = False
        self._watch.watch(self.data.layers())
        self._asked, self._seen = self.choices.choices(), self.data.parameters()
        self.session.begin(self._seen, self._asked)

    def run_anonymise(self) -> None:
        """Open the dialog of the main algorithm, filled so that running it makes the regions shown."""
        state = self.session.state
        if state is None:
            return
        try:
            import processing
        except ImportError:
            self.say(tr("The Processing plugin of QGIS is switched off: switch it on under Plugins."), True)
            return
        self._dialog = processing.createAlgorithmDialog(MAIN, state.parameters)
        if self._dialog is None:
            self.say(tr("“Anonymise records” is not in the toolbox: load the plugin again."), True)
            return
        self._dialog.show()

    def forget(self) -> None:
        """Clear: take the regions off the map, and let go of what was read."""
        self._watch.watch([])
        self.telling.stop()
        self.before.setChecked(False)
        self.session.forget()
        self.map.clear()
        self.say("")
        self._refresh()

    def end(self) -> None:
        """Before the dock goes away for good."""
        self.swipe.hide()
        self.telling.stop()
        self.session.forget()
        self._watch.end()
        QgsProject.instance().cleared.disconnect(self.forget)
        self.map.close()

    # What it shows

    def say(self, sentence: str, wrong: bool = False) -> None:
        """One sentence to the user; none where it is empty."""
        self.message.setText(sentence)
        self.message.setStyleSheet(WRONG if wrong else SAID)
        self.message.setVisible(bool(sentence))

    @property
    def stale(self) -> bool:
        """Whether what is shown is not of the data as they are chosen and stand now."""
        return self.session.state is not None and self.of(self.data.parameters()) is None

    def of(self, parameters: dict[str, object]) -> ExplorerState | None:
        """What is shown, where it is of these data as they stand now."""
        state = self.session.state
        return None if state is None or self._gone or dict(state.data) != parameters else state

    def _progress(self, percent: float) -> None:
        """How far the work is; only that there is some before it says."""
        self.bar.setRange(0, 100 if percent > 0 else 0)
        self.bar.setValue(round(percent))

    def _refresh(self) -> None:
        """Have the widgets show where things stand."""
        session, state = self.session, self.session.state
        self.results.setVisible(state is not None)
        self.hint.setVisible(state is None)
        if session.busy and not self.bar.isVisible():
            self._progress(0.0)
        self.bar.setVisible(session.busy)
        self.cancel.setVisible(session.busy)
        self.results.setEnabled(not self.stale)
        self.clear.setEnabled(state is not None)

    def _show_regions(self) -> None:
        """The regions of the look, on the map, on the curve and in words."""
        state = self.session.state
        if state is None:
            self._refresh()
            return
        first = self.map.layer is None
        if state.explorer_data.profile is not self._read:
            self._read, self._gone = state.explorer_data.profile, self._changed
        if state.shown is not self._on_map or first:
            self._on_map = state.shown
            self.panel.show_text("")
            self.map.show(state.shown.table)
        self.chooser.set_areas(len(state.explorer_data.areas))
        self.chooser.set_value(state.shown.n_sites)
        self.curve.mark(*state.released, state.settings.nested)
        self.summary.setText(summary_of(state))
        measures = state.shown.measures
        self.lost.show_bars(bars_of(state.shown.lost, state.settings.k), measures.suppression_percent)
        self._refresh()
        if self.stale and self.message.isHidden():
            self._tell_stale()
        if self._asked != self.choices.choices():  # meanwhile
            self._take_choices()

    def _show_points(self) -> None:
        state = self.session.state
        if state is not None:
            self.curve.show_points(state.lines.points, state.lines.nested, state.lines.plain)
            if not self.chooser.slider.isSliderDown():
                self.curve.mark(*state.released, state.settings.nested)

    def _preview(self, n_sites: int) -> None:
        """Where the slider is, before it is let go."""
        state, single = self.session.state, self.curve.point_at(n_sites)
        if state is not None and single is not None:
            self.curve.mark(single, self.curve.point_at(n_sites, nested=True), state.settings.nested)

    def _take_before(self, on: bool) -> None:
        """Show the areas beside the regions, or no longer."""
        areas = next(iter(self.data.layers()), None)
        if on and areas is not None:
            self.swipe.show(areas)
        else:
            self.swipe.hide()
        self.line_at.setEnabled(on)

    def _tell_region(self, level: int, number: int) -> None:
        state = self.session.state
        if state is None:
            return

        def show(account: RegionAccount, warnings: list[str]) -> None:
            shown = self.session.state
            if shown is not None and shown.shown is state.shown:
                self.panel.show_text(told_of(number, state.settings.k, account, where_shown(state, level, number)))

        # What each quasi-identifier costs is counted over all classes of the region, which may be many.
        self.telling.start(
            tr("VBAS release: a region"), lambda job: state.account(level, number), show, lambda error: None
        )

    # What happens around it

    def _take_choices(self) -> None:
        state = self.session.state
        if state is not None and not self.stale:
            self._asked = self.choices.choices()
            self.session.choose(self._asked, self.chooser.value() if self._number_chosen else None)

    def _take_number(self, n_sites: int) -> None:
        self._number_chosen = True
        self.chooser.set_value(n_sites)
        self.session.number(n_sites)

    def _take_budget(self, percent: float) -> None:
        self._number_chosen = True
        self.session.budget(percent)

    def _data_changed(self) -> None:
        """Other layers or fields than those that were read, or those again; or nothing but what is known of them, which
        leaves standing what was said."""
        before, self._seen = self._seen, self.data.parameters()
        if self.session.state is not None and not self.session.busy and self._seen != before:
            self.say("")
            self._tell_stale()
        self._refresh()

    def _tell_stale(self) -> None:
        """Why another look is needed, where it is."""
        if self._gone:
            self.say(tr("A layer was changed since it was read: press Look to read it again."))
        elif self.stale:
            self.say(tr("Other data are chosen: press Look to read them."))

    def _edited(self) -> None:
        """What a layer holds is no longer what was read."""
        self._changed = True
        if self.session.state is not None and not self._gone:
            self._gone = True
            self._tell_stale()
            self._refresh()
            self.outdated.emit()

    def _lose_layer(self, name: str) -> None:
        """Nothing may read it any more once this returns."""
        if self.session.reading:
            self.session.stop()
        self._gone = self._changed = True
        self.before.setChecked(False)
        self.say(tr("The layer “{name}” was removed from the project: choose another one.", name=name), True)
        self._refresh()
        self.outdated.emit()
