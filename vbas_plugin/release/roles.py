"""Who could know what: a role for every column, and how coarse it is shown."""

from __future__ import annotations

from collections.abc import Callable

from qgis.PyQt.QtCore import QItemSelectionModel, QTimer, pyqtSignal
from qgis.PyQt.QtGui import QBrush, QColor
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDoubleSpinBox,
    QHeaderView,
    QSpinBox,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ...core.language import plural, tr
from ...core.preparing.checking import DataChecked
from ...core.preparing.coarser import Coarser, as_it_is, coarser_offers, what_each_suppresses
from ...core.preparing.roles import QUASI, ROLES, SENSITIVE, SINGLE, ColumnSummary
from ..explorer.session import ExplorerState
from ..explorer.widgets import PassedOver, add_row, choice_table, narrow, pass_over_these, rows, unbroken, wrapped
from ..explorer.work import Job, Worker
from .project_answers import keep_answers
from .state import ReleaseState

RED = QColor("#b3261e")
SHOWN_ROWS = 6
FIELD = "vbas_field"  # a property of a list of roles: whose it is
HIGHEST = 100
OFFERS_WIDTH = 380
ROWS_AT_ONCE = 40  # with their lists of roles, before the window may do something else


class RolesStep(QWidget):
    """The step. changed : a role, or how coarse a column is shown, was chosen"""

    changed = pyqtSignal()

    def __init__(self, state: ReleaseState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state = state
        self._data_checked: DataChecked | None = None
        self._offers: list[Coarser] = []
        # By the column, what is looked at with its values as they are; None where there is no such look.
        self.looked: Callable[[str], ExplorerState | None] = lambda name: None
        self._worker = Worker(self)
        self._shown = 0  # rows that show what is known
        headings = [tr("Column"), tr("Role")]
        self.table = choice_table(headings, tr("Columns of the records and their roles"), SHOWN_ROWS)
        self.about = wrapped()
        self.coarser, self.different, self.share = narrow(QComboBox()), QSpinBox(), QDoubleSpinBox()
        self._coarser, self._demands = QWidget(), QWidget()
        self._wheel, self._rest = PassedOver(self), QTimer(self)
        self._build()
        self.table.currentCellChanged.connect(lambda *_: self._show_column())
        self.coarser.activated.connect(self._take_coarser)
        self._rest.timeout.connect(self._show_more)
        self.different.valueChanged.connect(self._take_demands)
        self.share.valueChanged.connect(self._take_demands)
        self.show_data_checked(None)

    def show_data_checked(self, data_checked: DataChecked | None) -> None:
        """Show the columns with what was found of them, and their roles; None while nothing is known yet."""
        self._data_checked = data_checked
        chosen = self.table.currentRow()
        header = self.table.verticalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)  # else each row would measure all others again
        self.table.setRowCount(len(self.state.fields))
        self._shown = 0
        self._show_more()
        self.table.setCurrentCell(min(max(chosen, 0), len(self.state.fields) - 1), 0)
        self._show_column()

    def role_list(self, name: str) -> QComboBox:
        """The list of roles of a column."""
        row = self.state.fields.index(name)
        while self._shown <= row:
            self._show_more()
        return self.table.cellWidget(row, 1)

    def choose(self, name: str, role: str) -> None:
        """Choose a role, as a click in its list does."""
        chooser = self.role_list(name)
        chooser.setCurrentIndex(chooser.findData(role))
        self._take_role(name, role)

    @property
    def busy(self) -> bool:
        """Whether it is worked out what coarser values save."""
        return self._worker.busy

    def end(self) -> None:
        """Before the dock goes away for good."""
        self._worker.stop()

    def _build(self) -> None:
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.different.setRange(1, HIGHEST)
        self.different.setValue(self.state.l_diversity)
        self.share.setRange(1.0, 100.0)
        self.share.setDecimals(0)
        self.share.setSuffix(" %")
        self.share.setValue(self.state.max_share)
        coarser, demands = rows(), rows()
        add_row(coarser, tr("Shown"), self.coarser, _tip())
        add_row(
            demands,
            tr("Different values in a class"),
            self.different,
            tr("Of a sensitive column, so that nobody learns its value from the class alone; 1 asks for nothing."),
        )
        add_row(
            demands,
            tr("Largest share of one value"),
            self.share,
            tr("Of a sensitive column in a class, per cent; 100 asks for nothing."),
        )
        self.coarser.view().setMinimumWidth(OFFERS_WIDTH)  # beyond the dock, so that lines are read whole
        self._coarser.setLayout(coarser)
        self._demands.setLayout(demands)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        hint = wrapped(
            tr(
                "Say of each column what it is: what an outsider could know of a person identifies indirectly, and k "
                "people must share it. The proposals come from names and values; you decide. A role chosen for one of "
                "several selected rows is given to all of them, but for the area and the person."
            )
        )
        for widget in (hint, self.table, self.about, self._coarser, self._demands):
            layout.addWidget(widget, int(widget is self.table))

    def _show_more(self) -> None:
        """Show the next rows; the window does what else it has to do before those after them."""
        fields = self.state.fields
        for row in range(self._shown, min(self._shown + ROWS_AT_ONCE, len(fields))):
            self._show_row(row, fields[row])
        self._shown = min(self._shown + ROWS_AT_ONCE, len(fields))
        if self._shown < len(fields):
            self._rest.start(0)
        else:
            self._rest.stop()
            self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)

    def _show_row(self, row: int, name: str) -> None:
        look = None if self._data_checked is None else self._data_checked.looks.get(name)
        item = QTableWidgetItem(name if look is None else "\n".join([name, *_described(look)]))
        item.setToolTip(name if look is None else "\n".join([name, *_described(look), look.reason]))
        role = self.state.role(name)
        if look is not None and look.alarming:
            item.setForeground(QBrush(RED))
        self.table.setItem(row, 0, item)
        chooser = self.table.cellWidget(row, 1)
        if chooser is None or chooser.property(FIELD) != name:
            chooser = self._role_list(name)
            self.table.setCellWidget(row, 1, chooser)
        chooser.setCurrentIndex(chooser.findData(role))

    def _role_list(self, name: str) -> QComboBox:
        """A new list of roles for a column."""
        chooser = QComboBox()
        chooser.setProperty(FIELD, name)
        chooser.setAccessibleName(tr("Role of “{field}”", field=name))
        for word in ROLES:
            chooser.addItem(tr(word), word)
        chooser.activated.connect(lambda *_: self._take_role(name, chooser.currentData()))
        pass_over_these([chooser], self._wheel)
        return chooser

    def _column(self) -> str:
        """The column that is looked at; empty for none."""
        row = self.table.currentRow()
        return self.state.fields[row] if 0 <= row < len(self.state.fields) else ""

    def _show_column(self) -> None:
        """What there is to say of the column that is looked at."""
        name, data_checked = self._column(), self._data_checked
        look = None if data_checked is None else data_checked.looks.get(name)
        column = None if data_checked is None else data_checked.columns.get(name)
        self.about.setText("" if look is None else tr("“{field}”: {reason}", field=name, reason=look.reason))
        self.about.setVisible(look is not None)
        self._offers = coarser_offers(name, column) if column is not None else []
        wanted = column is not None and self.state.role(name) == QUASI and bool(self._offers)
        self._coarser.setVisible(wanted)
        self.coarser.clear()
        if column is not None and wanted:
            self.coarser.addItem(as_it_is(column))
            for offer in self._offers:
                self.coarser.addItem(offer.text)
            asked = self.state.coarser.get(name)
            known = [(offer.rule, offer.level) for offer in self._offers]
            self.coarser.setCurrentIndex(1 + known.index(asked) if asked in known else 0)
            self._work_out(name)
        self._demands.setVisible(bool(self.state.with_role(SENSITIVE)))

    def _work_out(self, name: str) -> None:
        """Say of each way to show a column what it suppresses, where regions were looked at."""
        looked, offers = self.looked(name), list(self._offers)
        if looked is None:
            return
        profile, crosswalk = looked.explorer_data.profile, looked.shown.levels.crosswalks[0]
        terms = looked.explorer_data.terms(looked.settings.ask)

        def work(job: Job) -> list[float]:
            return what_each_suppresses(profile, crosswalk, terms, name, offers, job.progress)

        def show(percents: list[float], warnings: list[str]) -> None:
            if name == self._column() and offers == self._offers and self.coarser.count() == len(percents):
                for position, percent in enumerate(percents):
                    text = self.coarser.itemText(position)
                    self.coarser.setItemText(position, tr("{percent:.3g} % lost: {text}", percent=percent, text=text))

        self._worker.start(tr("VBAS release: coarser values"), work, show, lambda error: None)

    def _take_role(self, name: str, role: str) -> None:
        columns = [column for column in self._selected_with(name, role) if role != self.state.role(column)]
        if not columns:
            return
        for column in columns:
            self.state.choose(column, role)
        for row, other in enumerate(self.state.fields[: self._shown]):  # one of them may have lost the same role
            chooser = self.table.cellWidget(row, 1)
            chooser.setCurrentIndex(chooser.findData(self.state.role(other)))
        row, kept = self.state.fields.index(name), QItemSelectionModel.SelectionFlag.NoUpdate
        if len(columns) > 1:
            self.table.setCurrentCell(row, 0, kept)
        else:
            self.table.setCurrentCell(row, 0)
        self._show_column()
        self._changed()

    def _selected_with(self, name: str, role: str) -> list[str]:
        """The columns of the selected rows where this one is among them and several may have the role, else this.

        What one column alone may be, such as the area, stays unless its own list is used.
        """
        selected = [self.state.fields[index.row()] for index in self.table.selectionModel().selectedRows()]
        if name not in selected or role in SINGLE:
            return [name]
        return [column for column in selected if column == name or self.state.role(column) not in SINGLE]

    def _take_coarser(self, position: int) -> None:
        name = self._column()
        if position <= 0:
            self.state.coarser.pop(name, None)
        else:
            offer = self._offers[position - 1]
            self.state.coarser[name] = offer.rule, offer.level
        self._changed()

    def _take_demands(self) -> None:
        self.state.l_diversity, self.state.max_share = self.different.value(), self.share.value()
        self._changed()

    def _changed(self) -> None:
        if self.state.records:
            keep_answers(self.state.records, self.state.answers())
        self.changed.emit()


def _tip() -> str:
    return tr(
        "As it is, or coarser: fewer people are rare then. Once regions were looked at, each line says what these "
        "regions would suppress as one level."
    )


def _described(look: ColumnSummary) -> list[str]:
    """A column in two lines: kind, how many values, how many missing; examples."""
    values = plural("{n} value", "{n} values", look.n_values)
    first = tr("{kind}, {values}", kind=tr(look.kind), values=values)
    if look.missing:
        missing = 100 * look.missing / max(look.n_records, 1)
        first = tr("{first}, {missing:.2g} % missing", first=first, missing=missing)
    return [unbroken(first), *([", ".join(look.examples)] if look.examples else [])]
