"""The way into the dock: an entry in the Plugins menu and a button. Nothing else is loaded before it is used."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any

from qgis.core import Qgis
from qgis.PyQt.QtCore import QEventLoop, Qt, QTimer
from qgis.PyQt.QtGui import QIcon
from qgis.PyQt.QtWidgets import QDockWidget, QMainWindow, QMenu, QWidget

from ...algorithms.named import ICONS
from ...algorithms.unavailable import missing_message
from ...core.language import tr

if TYPE_CHECKING:
    from .dock import ReleaseDock

MENU = "VBAS"
# How wide the dock is when it is first opened, in letters, and at most of the window: tables are read whole then.
LETTERS, OF_WINDOW = 66, 0.3


class ReleaseEntry:
    """What the plugin puts into the window; `remove` takes all of it out again."""

    def __init__(self, iface: Any) -> None:
        self._iface = iface
        self.dock: ReleaseDock | None = None
        self._loading = self._removed = False
        # A menu that nobody sees makes the action: its own class has moved from Qt 5 to Qt 6.
        self._maker = QMenu(iface.mainWindow())
        self.action = self._maker.addAction(QIcon(str(ICONS / "vbas.svg")), tr("VBAS release"))
        self.action.setObjectName("vbasRelease")
        self.action.setCheckable(True)
        self.action.setToolTip(tr("VBAS release: look around, decide, and hand over, in five steps"))
        self.action.triggered.connect(self.show)
        iface.addPluginToMenu(MENU, self.action)
        iface.addToolBarIcon(self.action)

    def show(self, on: bool = True) -> None:
        """Open the dock, or close it."""
        if self._loading:  # the window goes on meanwhile: what was clicked once more is not a second dock
            return
        opened = on and self.dock is None
        if on and self.dock is None:
            self._loading = True
            _load_beside()
            self._loading = False
            if self._removed:
                return
            missing = missing_message()
            if missing:
                self.action.setChecked(False)
                # The bar has room for a line or two; its button shows all, the lines to copy as they are.
                why, _, lines = missing.partition("\n")
                self._iface.messageBar().pushMessage("VBAS", why, lines, Qgis.MessageLevel.Warning)
                return
            from .dock import ReleaseDock

            self.dock = ReleaseDock(self._iface, self._iface.mainWindow())
            self.dock.closed.connect(lambda: self.action.setChecked(False))
            _add_in_front(self._iface, self.dock)
        if self.dock is not None:
            self.action.setChecked(on)
            if on:
                self.dock.show()
                self.dock.raise_()
                if opened:
                    _widen(self._iface.mainWindow(), self.dock)
            else:
                self.dock.close()

    def remove(self) -> None:
        """Take everything out: work that runs, layers, the dock, the entry in the menu and the button."""
        self._removed = True
        if self.dock is not None:
            self.dock.end()
            self._iface.removeDockWidget(self.dock)
            self.dock.deleteLater()
            self.dock = None
        self._iface.removePluginMenu(MENU, self.action)
        self._iface.removeToolBarIcon(self.action)
        self._maker.deleteLater()


def _load_beside() -> None:
    """Import what the dock needs in a thread of its own: the window is not blocked by it, and this returns after it."""

    def load() -> None:
        with suppress(Exception):  # whatever it is, it is raised once more where the dock is imported
            if not missing_message():
                import_module(".dock", __package__)

    thread, waiting, timer = Thread(target=load, daemon=True), QEventLoop(), QTimer()
    thread.start()
    timer.timeout.connect(lambda: None if thread.is_alive() else waiting.quit())
    timer.start(5)
    if thread.is_alive():
        waiting.exec()


def _add_in_front(iface: Any, dock: QDockWidget) -> None:
    """Put the dock at the right, over other panels there as one tab more: below one another all would be too low."""
    if hasattr(iface, "addTabifiedDockWidget"):
        iface.addTabifiedDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock, [], True)
    else:
        iface.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)


def _widen(window: QWidget, dock: QDockWidget) -> None:
    """Give the dock the width that its tables want, where the window has room; what is wider stays."""
    wanted = min(LETTERS * dock.fontMetrics().averageCharWidth(), round(OF_WINDOW * window.width()))
    if isinstance(window, QMainWindow) and not dock.isFloating() and dock.width() < wanted:
        window.resizeDocks([dock], [wanted], Qt.Orientation.Horizontal)
