"""The dock: five steps over one state, each open at any time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from qgis.core import QgsProject
from qgis.PyQt.QtCore import Qt, QTimer, pyqtSignal
from qgis.PyQt.QtGui import QCloseEvent
from qgis.PyQt.QtWidgets import (
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ...core.language import tr
from ..explorer.session import ExplorerState
from ..explorer.widgets import line, pass_over
from .data import DataStep
from .decide import DecideStep
from .hand_over import HandOverStep
from .look import LookStep
from .roles import RolesStep
from .state import ReleaseState

DATA, WHO, LOOK, DECIDE, HAND_OVER = range(5)


class ReleaseDock(QDockWidget):
    """The dock. closed : its user closed it

    state : all that was said; data, roles, look, decide, hand_over : the steps; step : the one that is open
    """

    closed = pyqtSignal()

    def __init__(self, iface: Any, parent: QWidget | None = None) -> None:
        super().__init__(tr("VBAS release"), parent)
        self.setObjectName("VbasRelease")
        self.state, self.step = ReleaseState(), DATA
        self.data = DataStep(self.state)
        self.roles = RolesStep(self.state)
        self.look = LookStep(iface, self.data)
        self.decide = DecideStep(self.state)
        self.hand_over = HandOverStep(self.state, iface)
        self.hand_over.ready = self._not_ready
        self.roles.looked = self._looked_without
        self.steps: list[tuple[QToolButton, QWidget, str]] = []
        self.title, self.back, self.next = QLabel(), QPushButton(tr("Back")), QPushButton(tr("Next"))
        self._wanted = False  # candidates, once what is looked at is known
        self._to_panel = QTimer(self)  # once what is told of a region has its place
        self._build()
        self._connect()
        self.go_to(DATA)

    def go_to(self, step: int) -> None:
        """Open a step."""
        self.step = step
        if step > DATA:
            self.data.settle()
        for number, (button, page, title) in enumerate(self.steps):
            button.setChecked(number == step)
            page.setVisible(number == step)
            if number == step:
                self.title.setText(title)
        self.back.setEnabled(step > DATA)
        self.next.setVisible(step < HAND_OVER)
        if step == WHO:
            self.roles.show_data_checked(self.data.data_checked)
        elif step == LOOK:
            self._look()
        elif step == HAND_OVER:
            self.hand_over.refuse_anew()
        elif step == DECIDE:
            self._wanted = True
            if self.look.stale:
                self.decide.forget()  # what it shows is of other data
            self._look()
            self._offer()
            self._tell_why_not()

    def end(self) -> None:
        """Before the dock goes away for good."""
        QgsProject.instance().cleared.disconnect(self._forget_all)
        for part in (self.hand_over, self.decide, self.roles, self.data, self.look):
            part.end()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._forget()
        self.closed.emit()
        super().closeEvent(event)

    def _build(self) -> None:
        header = QHBoxLayout()
        header.setSpacing(2)
        for number, (page, word, title) in enumerate(
            (
                (self.data, tr("Data"), tr("Data: areas and records")),
                (self.roles, tr("Who"), tr("Who could know what")),
                (self.look, tr("Look"), tr("Look: what regions cost")),
                (self.decide, tr("Decide"), tr("Decide: which release")),
                (self.hand_over, tr("Hand over"), tr("Hand over: what may go out")),
            )
        ):
            button = QToolButton()
            button.setText(word)
            button.setCheckable(True)
            button.setToolTip(title)
            button.setAccessibleName(title)
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            button.clicked.connect(lambda *_, number=number: self.go_to(number))
            header.addWidget(button, len(word) + 3)
            self.steps.append((button, page, title))
        bold = self.title.font()
        bold.setBold(True)
        self.title.setFont(bold)
        self.title.setWordWrap(True)
        inner = QWidget()
        pages = QVBoxLayout(inner)
        for _, page, _ in self.steps:
            pages.addWidget(page)
        pass_over(inner)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inner)
        footer = QHBoxLayout()
        footer.addWidget(self.back)
        footer.addStretch(1)
        footer.addWidget(self.next)
        whole = QWidget()
        layout = QVBoxLayout(whole)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.addLayout(header)
        layout.addWidget(self.title)
        layout.addWidget(line())
        layout.addWidget(scroll, 1)
        layout.addLayout(footer)
        self.setWidget(whole)
        self.scroll = scroll
        self.setMinimumWidth(300)

    def _connect(self) -> None:
        self.back.clicked.connect(lambda: self.go_to(self.step - 1))
        self.next.clicked.connect(lambda: self.go_to(self.step + 1))
        self.data.checked.connect(lambda: self.roles.show_data_checked(self.data.data_checked))
        self.roles.changed.connect(self._roles_changed)
        self._to_panel.setSingleShot(True)
        self._to_panel.timeout.connect(lambda: self.scroll.ensureWidgetVisible(self.look.panel))
        self.look.panel.filled.connect(lambda: self._to_panel.start(0))
        self.look.session.regions.connect(self._offer)
        self.look.map.shown.connect(lambda: self.hand_over.show_on_map(False))
        self.look.session.changed.connect(self._tell_why_not)
        self.look.session.said.connect(lambda *_: self._tell_why_not())
        self.decide.rule_chosen.connect(self._offer_anew)
        for changed in (self.look.outdated, self.data.changed, self.decide.changed):
            changed.connect(self._tell_why_not)
        self.hand_over.ended.connect(lambda done: self.look.map.set_visible(not done))
        QgsProject.instance().cleared.connect(self._forget_all)

    def _looked_without(self, name: str) -> ExplorerState | None:
        """What is looked at, where it is of what is chosen now but for how coarse a column is shown, and of its values
        as they are."""
        others = {other: asked for other, asked in self.state.coarser.items() if other != name}
        return self.look.of(replace(self.state, coarser=others).looked_at())

    def _roles_changed(self) -> None:
        self.data.show_area(self.state.record_region)
        self.data.changed.emit()

    def _look(self) -> None:
        """Read what is chosen, unless it is what was read."""
        look = self.look
        if not look.session.busy and (look.session.state is None or look.stale) and not self.data.missing():
            look.start()
        elif self.data.missing():
            look.say(self.data.missing(), True)

    def _offer(self) -> None:
        """Work out the candidates, once somebody wants to see them and what is looked at is known."""
        state = self.look.session.state
        if self._wanted and self.step == DECIDE and state is not None and not self.look.stale:
            self._wanted = False
            self.decide.offer(state.data, state.explorer_data, state.choices, state.shown.n_sites)

    def _tell_why_not(self) -> None:
        """Say at Decide why there is nothing to choose from, which Look says on its own page, or nothing any more."""
        session = self.look.session
        if self.step != DECIDE or self.decide.busy:
            return
        if self.decide.candidates:
            if self.look.stale:
                self.decide.say(
                    tr(
                        "The data were changed since: press “{step}” to work these releases out again.",
                        step=tr("Decide"),
                    ),
                    True,
                )
        elif self.data.missing():
            self.decide.say(self.data.missing(), True)
        elif session.busy:
            self.decide.say(tr("First it is looked at what regions cost."))
        elif session.state is None or self.look.stale:
            self.decide.say(self.look.message.text(), True)

    def _offer_anew(self) -> None:
        self._wanted = True
        self._offer()

    def _not_ready(self) -> str:
        """What has to be done before anything can be handed over; empty for nothing."""
        if self.look.session.state is None:
            return self.data.missing() or tr("Choose a release under Decide first.")
        if self.look.stale:
            return self.data.missing() or tr("The data or the roles were changed: open Decide once more.")
        return ""

    def _forget(self) -> None:
        """Let go of all that was read."""
        self.decide.forget()
        self.look.forget()

    def _forget_all(self) -> None:
        """What was handed over as well: the project that it was of is gone."""
        self._forget()
        self.hand_over.forget()
