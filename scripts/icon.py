"""Draw icons/vbas.png, which the plugin site wants, from icons/vbas.svg:  .venv/bin/python scripts/icon.py"""

from __future__ import annotations

from pathlib import Path

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtGui import QImage, QPainter
from qgis.PyQt.QtSvg import QSvgRenderer

ICONS = Path(__file__).resolve().parent.parent / "icons"
SIDE = 128  # pixels

image = QImage(SIDE, SIDE, QImage.Format.Format_ARGB32)
image.fill(Qt.GlobalColor.transparent)
painter = QPainter(image)
QSvgRenderer(str(ICONS / "vbas.svg")).render(painter)
painter.end()
image.save(str(ICONS / "vbas.png"))
