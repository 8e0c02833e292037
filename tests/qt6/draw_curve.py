"""Draws the explorer's curve and moves its slider with Qt 6.    python draw_curve.py NAMES, as `import_all`"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import import_all

import_all.install(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))

from PyQt6.QtCore import QEvent, QPoint, Qt  # noqa: E402
from PyQt6.QtGui import QColor, QHelpEvent  # noqa: E402
from PyQt6.QtTest import QTest  # noqa: E402
from PyQt6.QtWidgets import QApplication  # noqa: E402

application = QApplication([])
from vbas.core.trade_off.curve import CurvePoint  # noqa: E402
from vbas.vbas_plugin.explorer.chooser import NumberChooser  # noqa: E402
from vbas.vbas_plugin.explorer.curve_view import LINE, CurveView  # noqa: E402

view = CurveView()
picked: list[int] = []
view.picked.connect(picked.append)
view.resize(320, 220)
line = [CurvePoint(1, 1, 0.0, 9000.0), CurvePoint(10, 10, 3.0, 3000.0), CurvePoint(100, 99, 20.0, 400.0)]
view.show_points(line, [CurvePoint(1, 1, 0.0, 9000.0), CurvePoint(100, 99, 0.5, 700.0)], line[:2])
view.mark(line[1], CurvePoint(10, 10, 0.2, 3100.0))
image = view.grab().toImage()
blue = sum(
    QColor(image.pixel(x, y)).getRgb()[:3] == LINE.getRgb()[:3]
    for x in range(image.width())
    for y in range(image.height())
)
test: Any = QTest  # which is not made to be called, whatever PyQt says of its methods
test.mouseClick(
    view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, view.place(400.0, 20.0).toPoint() - QPoint(3, 0)
)
view.event(QHelpEvent(QEvent.Type.ToolTip, QPoint(50, 50), QPoint(50, 50)))
chooser = NumberChooser()
chosen: list[int] = []
chooser.chosen.connect(chosen.append)
chooser.set_areas(100)
chooser.set_value(10)
test.keyClick(chooser.slider, Qt.Key.Key_Right)
print(blue > 150, picked, chosen)
