"""The window of packages: what is found, what is missing, the line to copy, and a button that gets it.

The button runs pip as a process of its own, whose words are shown as they come, into a folder of the plugin's own in
the user's profile. Without a click nothing is fetched and nothing is written.
"""

from __future__ import annotations

from pathlib import Path

from qgis.core import QgsApplication
from qgis.PyQt.QtCore import QProcess
from qgis.PyQt.QtGui import QCloseEvent, QFontDatabase
from qgis.PyQt.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from ...core.errors import InputError
from ...core.installing import interpreter, into_folder, pip_line, this_one
from ...core.language import tr
from ...core.own_packages import find_packages, folder_of_packages, give_up, put_in_place, room_for
from .needs import Need, needs

NO_PIP = "No module named pip"


class PackagesWindow(QDialog):
    """Says what is there, and gets what is not."""

    def __init__(self, parent: QWidget | None = None, profile: str = "") -> None:
        super().__init__(parent)
        self._profile = profile or QgsApplication.qgisSettingsDirPath()
        self._where = this_one()
        self._process: QProcess | None = None
        self._coming: Path | None = None
        self._need: Need | None = None
        self.buttons: list[QPushButton] = []
        self.setWindowTitle(tr("VBAS: Python packages"))
        self.resize(720, 480)
        self._layout = QVBoxLayout(self)
        folder = folder_of_packages(self._profile)
        for need in needs(self._where):
            self._show(need, folder)
        self.said = _text("")
        self.said.hide()
        self._layout.addWidget(self.said, 1)
        self.outcome = QLabel()
        self.outcome.setWordWrap(True)
        self._layout.addWidget(self.outcome)
        self.cancel = QPushButton(tr("Cancel the installation"))
        self.cancel.clicked.connect(self.stop)
        self.cancel.hide()
        self._layout.addWidget(self.cancel)
        self._layout.addStretch()
        closing = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        closing.rejected.connect(self.close)
        self._layout.addWidget(closing)

    def _show(self, need: Need, folder: Path) -> None:
        label = QLabel(need.sentence)
        label.setWordWrap(True)
        self._layout.addWidget(label)
        line = need.line(folder, self._where)
        if not line:
            return
        text = _text(line)
        text.setMaximumHeight(72)
        self._layout.addWidget(text)
        if need.replaced or self._where.flatpak or not interpreter():
            return
        button = QPushButton(tr("Install into the folder of VBAS in your profile"))
        button.setToolTip(tr("pip fetches the packages into {folder}; nothing of QGIS changes.", folder=folder))
        button.clicked.connect(lambda: self.install(need))
        self.buttons.append(button)
        self._layout.addWidget(button)

    def install(self, need: Need) -> None:
        """Let pip fetch what is missing; its words are shown as they come."""
        try:
            self._coming = room_for(self._profile)
        except InputError as error:
            self.outcome.setText(str(error))
            return
        self._need = need
        for button in self.buttons:
            button.setEnabled(False)
        self.outcome.setText("")
        self.said.clear()
        self.said.show()
        self.cancel.show()
        process = self._process = QProcess(self)
        process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._finished)
        process.errorOccurred.connect(self._not_started)
        process.start(interpreter(), into_folder(need.requirements, self._coming, self._where))

    def stop(self) -> None:
        """End pip where it runs; nothing of what it has begun stays."""
        if self._process is not None:
            self._process.finished.disconnect(self._finished)
            self._process.errorOccurred.disconnect(self._not_started)
            self._process.kill()
            self._process.waitForFinished(5_000)
            self._end(tr("Cancelled: nothing was installed."))

    def _read(self) -> None:
        if self._process is not None:
            words = bytes(self._process.readAllStandardOutput()).decode(errors="replace")
            self.said.appendPlainText(words.rstrip("\n"))

    def _not_started(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and self._process is not None:
            self._end(tr("{program} cannot be started: copy the line above into a terminal.", program=interpreter()))

    def _finished(self, code: int) -> None:
        self._read()
        if code == 0 and self._coming is not None and self._need is not None:
            try:
                put_in_place(self._coming)
            except InputError as error:
                self._end(str(error))
                return
            find_packages(self._profile)
            self._end(tr("Installed. Start QGIS again."))
        elif NO_PIP in self.said.toPlainText():
            self._end(
                tr(
                    "This Python has no pip. Copy this into a terminal, then try again: {line}",
                    line=pip_line(self._where),
                )
            )
        else:
            self._end(tr("pip ended with an error, which stands above: nothing was installed."))

    def _end(self, outcome: str) -> None:
        if self._process is not None:
            self._process.deleteLater()
            self._process = None
        if self._coming is not None:
            give_up(self._coming)
            self._coming = None
        for button in self.buttons:
            button.setEnabled(True)
        self.cancel.hide()
        self.outcome.setText(outcome)

    def closeEvent(self, event: QCloseEvent) -> None:
        """A window that is closed lets nothing run on."""
        self.stop()
        super().closeEvent(event)


def _text(text: str) -> QPlainTextEdit:
    box = QPlainTextEdit(text)
    box.setReadOnly(True)
    box.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    return box
