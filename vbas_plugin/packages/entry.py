"""The way into the window of packages: an entry in the Plugins menu."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qgis.PyQt.QtGui import QIcon
from qgis.PyQt.QtWidgets import QMenu

from ...algorithms.named import ICONS
from ...core.language import tr
from ..release.entry import MENU

if TYPE_CHECKING:
    from .window import PackagesWindow


class PackagesEntry:
    """What the plugin puts into the menu; `remove` takes it out again."""

    def __init__(self, iface: Any) -> None:
        self._iface = iface
        self.window: PackagesWindow | None = None
        self._maker = QMenu(iface.mainWindow())
        self.action = self._maker.addAction(QIcon(str(ICONS / "vbas.svg")), tr("Python packages…"))
        self.action.setObjectName("vbasPackages")
        self.action.triggered.connect(self.show)
        iface.addPluginToMenu(MENU, self.action)

    def show(self) -> None:
        """Open the window, which looks what is there now."""
        from .window import PackagesWindow

        self._forget()
        self.window = PackagesWindow(self._iface.mainWindow())
        self.window.show()

    def remove(self) -> None:
        """Take everything out: pip, where it runs, the window and the entry."""
        self._forget()
        self._iface.removePluginMenu(MENU, self.action)
        self._maker.deleteLater()

    def _forget(self) -> None:
        if self.window is not None:
            self.window.stop()
            self.window.close()
            self.window.deleteLater()
            self.window = None
