"""Decide: two or three releases side by side, with a small map each, what it costs and whom it loses; one is chosen."""

from __future__ import annotations

from collections.abc import Mapping

from qgis.PyQt.QtCore import QSize, Qt, pyqtSignal
from qgis.PyQt.QtGui import QIcon, QImage, QPixmap
from qgis.PyQt.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QTableWidgetItem,
    QTextBrowser,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ...algorithms.candidates import Candidate, candidates_of, rules_to_follow, wanted_candidates
from ...algorithms.explorer_data import Choices, ExplorerData, Reading
from ...core.errors import Cancelled, VbasError
from ...core.job.signing import PREPARED_BY, PURPOSE, RECIPIENT
from ...core.language import tr
from ...core.privacy.rules import NO_RULE
from ...core.progress import part
from ...core.report.sign import Signing, printed, said_on
from ..explorer.watching import LayerWatch
from ..explorer.widgets import SAID, WRONG, add_row, choice_table, narrow, rows, thin_bar, unbroken, wrapped
from ..explorer.work import Job, Worker
from .small_map import small_maps
from .state import ReleaseState

NAME, LOST, WITHIN, REGIONS = range(4)
SHOWN_ROWS = 4
LITTLE = 1.0  # per cent that may be suppressed for finer regions
MAP, PAGE = QSize(92, 92), QSize(640, 760)


class DecideStep(QWidget):
    """The step. changed : another candidate was chosen, or none; rule_chosen : another rule, so that all have to be
    worked out again

    candidates : all, those that cannot be made with what is wrong; maps : a button for each, with its map
    """

    changed = pyqtSignal()
    rule_chosen = pyqtSignal()

    def __init__(self, state: ReleaseState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state = state
        self.candidates: list[Candidate] = []
        self._asked: tuple[object, ...] | None = None  # what the candidates are of
        self._worker = Worker(self)
        headings = [tr("Release"), tr("Lost"), tr("Distance"), tr("Regions")]
        self.table = choice_table(headings, tr("Releases to choose from"), SHOWN_ROWS)
        self.about, self.message = wrapped(), wrapped()
        self.bar, self.cancel = thin_bar(), QPushButton(tr("Cancel"))
        self.rule, self.preview = narrow(QComboBox()), QPushButton(tr("The page to sign…"))
        self.maps: list[QToolButton] = []
        self.page = QDialog(self)
        self.text = QTextBrowser(self.page)
        self._build()
        self.rule.activated.connect(lambda *_: self._take_rule())
        self.preview.clicked.connect(self.show_page)
        self.table.currentCellChanged.connect(lambda row, *_: self._take(row))
        self.cancel.clicked.connect(self._worker.cancel)
        self._worker.changed.connect(self._refresh)
        self._worker.progressed.connect(lambda percent: self.bar.setValue(round(percent)))
        self._watch = LayerWatch(self)
        self._watch.lost.connect(lambda name: self.forget())  # nothing may ask it for its fields any more
        self._refresh()

    @property
    def busy(self) -> bool:
        """Whether candidates are being worked out."""
        return self._worker.busy

    def offer(self, data: Mapping[str, object], explorer_data: ExplorerData, choices: Choices, n_sites: int) -> None:
        """Work out the candidates of data that were looked at; n_sites : the number of regions that was looked at."""
        rule = str(self.rule.currentData())
        asked = (explorer_data, choices, n_sites, rule)
        if asked == self._asked:
            return
        self.forget()
        self._asked = asked
        wanted = wanted_candidates(choices, n_sites, rule)
        try:
            readings = [(candidate, Reading({**data, **candidate.parameters})) for candidate in wanted]
        except Exception as error:
            self._fail(error)
            return

        self._watch.watch([layer for _, reading in readings for layer in reading.layers])

        def work(job: Job) -> tuple[list[Candidate], list[QImage]]:
            candidates = candidates_of(readings, explorer_data, job.feedback)
            made = [candidate.by_area for candidate in candidates if candidate.by_area is not None]
            drawn = part(job.progress, 0.9, 1.0)
            return candidates, small_maps(explorer_data.layer.drawn_as, made, drawn) if made else []

        self._say("")
        self._worker.start(tr("VBAS release: candidates"), work, self._show, self._fail)

    def say(self, sentence: str, wrong: bool = False) -> None:
        """Why there are no candidates."""
        self._say(sentence, WRONG if wrong else SAID)

    def forget(self) -> None:
        """Let go of the candidates, and of the one that was chosen."""
        self._worker.stop()
        self.candidates, self._asked = [], None
        self.state.decision = {}
        self.table.setRowCount(0)
        self._show_maps([])
        self._say("")
        self._refresh()
        self.changed.emit()

    def end(self) -> None:
        """Before the dock goes away for good."""
        self._worker.stop()
        self._watch.end()

    def show_page(self) -> None:
        """Show what the page to sign would say of the candidate that is chosen."""
        row = self.table.currentRow()
        page = self.candidates[row].page if 0 <= row < len(self.candidates) else None
        if page is None:
            return
        said = self.state.said
        try:
            words = Signing(said.get(RECIPIENT, ""), said.get(PURPOSE, ""), said.get(PREPARED_BY, ""))
            self.text.setHtml(printed(said_on(page, words)))
        except VbasError as error:
            self._say(str(error), WRONG)
            return
        self.page.show()
        self.page.raise_()

    def _build(self) -> None:
        hint = wrapped(
            tr(
                "Each row is a release that could be made, with the numbers that its run will give: the records that "
                "are suppressed, how many metres the people of a region live from its middle on average, and its "
                "regions. Choose one. These numbers are internal: not for publishing."
            )
        )
        for name, sentence in rules_to_follow().items():
            self.rule.addItem(tr("none: your own numbers") if name == NO_RULE else name, name)
            self.rule.setItemData(self.rule.count() - 1, sentence, Qt.ItemDataRole.ToolTipRole)
        follow = rows()
        add_row(follow, tr("Rule to follow"), self.rule, tr("Raises k and the rest to what a published rule asks for."))
        self.page.setWindowTitle(tr("Preview of the page to sign"))
        self.page.resize(PAGE)
        QVBoxLayout(self.page).addWidget(self.text)
        # A table as wide as the page is rounded up to a pixel more.
        self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.preview.setToolTip(tr("Show what the page to sign would say of the release that is chosen."))
        self._maps, self.legend = (
            QHBoxLayout(),
            wrapped(
                tr(
                    "Darker: a larger mean distance. Red: records are lost, full red where a quarter of them "
                    "is. The colours are the same in all maps."
                )
            ),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(hint)
        layout.addLayout(follow)
        for widget in (self.bar, self.cancel, self.message):
            layout.addWidget(widget)
        layout.addLayout(self._maps)
        for widget in (self.legend, self.table, self.about, self.preview):
            layout.addWidget(widget)
        layout.addStretch(1)

    def _show(self, result: tuple[list[Candidate], list[QImage]], warnings: list[str]) -> None:
        self.candidates, drawn = result
        candidates, maps = self.candidates, iter(drawn)
        self._show_maps([next(maps) if candidate.by_area is not None else None for candidate in candidates])
        self.table.blockSignals(True)
        self.table.setRowCount(len(candidates))
        for row, candidate in enumerate(candidates):
            name = QTableWidgetItem(candidate.title)
            name.setToolTip(candidate.title)
            self.table.setItem(row, NAME, name)
            for column, text in zip((LOST, WITHIN, REGIONS), _numbers(candidate)):
                self.table.setItem(row, column, QTableWidgetItem(text))
        self.table.blockSignals(False)
        best = best_of(candidates)
        if best is not None:
            self.choose(best)
        else:
            self.choose(0)  # which says why
            self._say(tr("None of these releases can be made: change k, the roles, or how coarse columns are."), WRONG)

    def _take(self, row: int) -> None:
        """A candidate is chosen."""
        if not 0 <= row < len(self.candidates):
            return
        candidate = self.candidates[row]
        self.state.decision = {} if candidate.problem else dict(candidate.parameters)
        about = "\n".join([candidate.problem] if candidate.problem else candidate.sentences)
        self.about.setText(unbroken(about))
        self.about.setStyleSheet(WRONG if candidate.problem else SAID)
        self.preview.setEnabled(candidate.page is not None)
        for number, button in enumerate(self.maps):
            button.setChecked(number == row)
        self._refresh()
        self.changed.emit()

    def _take_rule(self) -> None:
        sentence = rules_to_follow().get(str(self.rule.currentData()), "")
        self.rule.setToolTip(sentence)
        self.rule_chosen.emit()

    def _show_maps(self, drawn: list[QImage | None]) -> None:
        """A button for each candidate, with its map."""
        for button in self.maps:
            self._maps.removeWidget(button)
            button.deleteLater()
        self.maps = []
        for row, image in enumerate(drawn):
            candidate, button = self.candidates[row], QToolButton()
            if image is not None:
                button.setIcon(QIcon(QPixmap.fromImage(image)))
            button.setIconSize(MAP)
            button.setText("\n".join(_numbers(candidate)[:2]))
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
            button.setCheckable(True)
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            button.setToolTip(candidate.title)
            button.setAccessibleName(candidate.title)
            button.clicked.connect(lambda *_, row=row: self.choose(row))
            self._maps.addWidget(button, 1)
            self.maps.append(button)

    def choose(self, row: int) -> None:
        """Choose a candidate."""
        self.table.setCurrentCell(row, NAME)
        self._take(row)

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
        self.table.setVisible(bool(self.candidates))
        for widget in (self.about, self.preview):
            widget.setVisible(bool(self.candidates))
        self.legend.setVisible(any(candidate.by_area is not None for candidate in self.candidates))


def best_of(candidates: list[Candidate]) -> int | None:
    """The row that is proposed: the finest of those that suppress little, else of those that suppress least; None where
    none can be made."""
    made = [(row, candidate.measures) for row, candidate in enumerate(candidates) if candidate.measures is not None]
    little = [(row, measures) for row, measures in made if measures.suppression_percent <= LITTLE]
    if little:
        return min(little, key=lambda row: row[1].mean_distance)[0]
    return min(made, key=lambda row: (row[1].n_suppressed, row[1].mean_distance))[0] if made else None


def _numbers(candidate: Candidate) -> list[str]:
    measures = candidate.measures
    if measures is None:
        return ["–"] * 3
    return [
        tr("{percent:.3g} %", percent=measures.suppression_percent),
        tr("{metres:,.0f} m", metres=measures.mean_distance),
        tr("{regions:,}", regions=measures.n_regions),
    ]
