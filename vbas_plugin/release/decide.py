"""Decide: two or three releases side by side, what each costs and whom it loses; one is chosen."""

from __future__ import annotations

from collections.abc import Mapping

from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QProgressBar,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ...algorithms.candidates import Candidate, candidates_of, wanted_candidates
from ...algorithms.explorer_data import Choices, ExplorerData, Reading
from ...core.errors import Cancelled
from ...core.language import tr
from ..explorer.widgets import SAID, WRONG, wrapped
from ..explorer.work import Job, Worker
from .state import ReleaseState

NAME, LOST, WITHIN, REGIONS = range(4)
SHOWN_ROWS = 4


class DecideStep(QWidget):
    """The step. changed : another candidate was chosen, or none; found : the candidates, those that cannot be made
    with what is wrong"""

    changed = pyqtSignal()

    def __init__(self, state: ReleaseState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state = state
        self.found: list[Candidate] = []
        self._asked: tuple[object, ...] | None = None  # what the candidates are of
        self._worker = Worker(self)
        self.table, self.about, self.message = QTableWidget(0, 4), wrapped(), wrapped()
        self.bar, self.cancel = QProgressBar(), QPushButton(tr("Cancel"))
        self._build()
        self.table.currentCellChanged.connect(lambda row, *_: self._take(row))
        self.cancel.clicked.connect(self._worker.cancel)
        self._worker.changed.connect(self._refresh)
        self._worker.progressed.connect(lambda percent: self.bar.setValue(round(percent)))
        self._refresh()

    @property
    def busy(self) -> bool:
        """Whether candidates are being worked out."""
        return self._worker.busy

    def offer(self, data: Mapping[str, object], explorer_data: ExplorerData, choices: Choices, n_sites: int) -> None:
        """Work out the candidates of data that were looked at; n_sites : the number of regions that was looked at."""
        asked = (explorer_data, choices, n_sites)
        if asked == self._asked:
            return
        self.forget()
        self._asked = asked
        wanted = wanted_candidates(choices, n_sites)
        try:
            readings = [(one, Reading({**data, **one.parameters})) for one in wanted]
        except Exception as error:
            self._fail(error)
            return

        def work(job: Job) -> list[Candidate]:
            return candidates_of(readings, explorer_data, job.feedback)

        self._say("")
        self._worker.start(tr("VBAS release: candidates"), work, self._show, self._fail)

    def forget(self) -> None:
        """Let go of the candidates, and of the one that was chosen."""
        self._worker.stop()
        self.found, self._asked = [], None
        self.state.decision = {}
        self.table.setRowCount(0)
        self._say("")
        self._refresh()
        self.changed.emit()

    def end(self) -> None:
        """Before the dock goes away for good."""
        self._worker.stop()

    def _build(self) -> None:
        self.table.setHorizontalHeaderLabels([tr("Release"), tr("Lost"), tr("To within"), tr("Regions")])
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column in (LOST, WITHIN, REGIONS):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setWordWrap(True)
        self.table.setMinimumHeight(SHOWN_ROWS * 3 * self.fontMetrics().height())
        self.table.setAccessibleName(tr("Releases to choose from"))
        self.bar.setRange(0, 100)
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(8)
        hint = wrapped(
            tr(
                "Each row is a release that could be made, with the numbers that its run will give: the records that "
                "are suppressed, to within how many metres it places a person on average, and its regions. Choose one. "
                "These numbers are internal: not for publishing."
            )
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for widget in (hint, self.bar, self.cancel, self.message, self.table, self.about):
            layout.addWidget(widget)
        layout.addStretch(1)

    def _show(self, found: list[Candidate], warnings: list[str]) -> None:
        self.found = found
        self.table.blockSignals(True)
        self.table.setRowCount(len(found))
        for row, candidate in enumerate(found):
            self.table.setItem(row, NAME, QTableWidgetItem(candidate.title))
            for column, text in zip((LOST, WITHIN, REGIONS), _numbers(candidate)):
                self.table.setItem(row, column, QTableWidgetItem(text))
        self.table.blockSignals(False)
        best = best_of(found)
        if best is not None:
            self.table.setCurrentCell(best, NAME)
            self._take(best)
        else:
            self._say(tr("None of these releases can be made: change k, the roles, or how coarse columns are."), WRONG)

    def _take(self, row: int) -> None:
        """A candidate is chosen."""
        if not 0 <= row < len(self.found):
            return
        candidate = self.found[row]
        self.state.decision = {} if candidate.problem else dict(candidate.parameters)
        self.about.setText("\n".join([candidate.problem] if candidate.problem else candidate.sentences))
        self.about.setStyleSheet(WRONG if candidate.problem else SAID)
        self._refresh()
        self.changed.emit()

    def _fail(self, error: Exception) -> None:
        self._asked = None
        self._say(tr("Cancelled.") if isinstance(error, Cancelled) else str(error), WRONG)

    def _say(self, text: str, style: str = SAID) -> None:
        self.message.setText(text)
        self.message.setStyleSheet(style)
        self._refresh()

    def _refresh(self) -> None:
        for widget in (self.bar, self.cancel):
            widget.setVisible(self.busy)
        self.message.setVisible(bool(self.message.text()))
        self.table.setVisible(bool(self.found))
        self.about.setVisible(bool(self.found))


def best_of(found: list[Candidate], most: float = 1.0) -> int | None:
    """The row that is proposed: the finest of those that suppress at most so many per cent, else the one that
    suppresses least; None where none can be made."""
    made = [(row, one.measures) for row, one in enumerate(found) if one.measures is not None]
    little = [(row, measures) for row, measures in made if measures.suppression_percent <= most]
    if little:
        return min(little, key=lambda one: one[1].mean_distance)[0]
    return min(made, key=lambda one: one[1].suppression_percent)[0] if made else None


def _numbers(candidate: Candidate) -> list[str]:
    measures = candidate.measures
    if measures is None:
        return ["–"] * 3
    return [
        tr("{percent:.3g} %", percent=measures.suppression_percent),
        tr("{metres:,.0f} m", metres=measures.mean_distance),
        tr("{regions:,}", regions=measures.n_regions),
    ]
