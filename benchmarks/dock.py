"""How long the dock takes for its steps, and how long its window is blocked by them.

    PYTHONPATH=build/package QT_QPA_PLATFORM=offscreen .venv/bin/python benchmarks/dock.py [areas …, 1000 5000 20000]

Square areas, in a GeoPackage, of 100 records each, in a CSV, of which the dock takes one column to be sensitive. Of
each step the seconds of CPU time until it is done, of all threads, and in brackets the longest time, in milliseconds,
in which the window could do nothing else: by the clock, and at most without other programs. That is the clock less the
time in which the window's thread waited for a core, and no more than the CPU time of all threads then: another thread
may have held the lock of Python. Adding the layers is the work of QGIS, and not counted.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any, Callable

import numpy as np
from qgis.core import (
    QgsApplication,
    QgsCoordinateTransformContext,
    QgsFeature,
    QgsGeometry,
    QgsProject,
    QgsRectangle,
    QgsVectorFileWriter,
    QgsVectorLayer,
)
from qgis.gui import QgsMapCanvas
from qgis.PyQt.QtCore import Qt, QTimer
from qgis.PyQt.QtWidgets import QMainWindow

PER_AREA, SIZE = 100, 300.0
QUEUE = Path("/proc/thread-self/schedstat")


class Window:
    """As much of QGIS's window as the dock asks for."""

    def __init__(self) -> None:
        self._canvas = QgsMapCanvas()

    def mapCanvas(self) -> QgsMapCanvas:
        """The map."""
        return self._canvas


class Heart:
    """Beats as long as the window lives. longest, alone : seconds between two beats at most, by the clock and at most
    without other programs; spent : CPU time of the beats themselves"""

    def __init__(self) -> None:
        self.longest = self.alone = self.spent = 0.0
        self._last, self._timer = (0.0, 0.0, 0.0), QTimer()
        self._timer.timeout.connect(self.beat)
        self._timer.start(1)

    def start(self) -> None:
        """Begin anew."""
        self.longest = self.alone = self.spent = 0.0
        self._last = self._now()

    def beat(self) -> None:
        """The window is free to do something."""
        started = time.thread_time()
        now = self._now()
        clock, waited, worked = (after - before for after, before in zip(now, self._last))
        self.longest, self.alone = max(self.longest, clock), max(self.alone, min(clock - waited, worked))
        self._last = now
        self.spent += time.thread_time() - started

    @staticmethod
    def _now() -> tuple[float, float, float]:
        """The clock, how long this thread has waited for a core, where the system says so, and CPU time of all."""
        try:
            waited = int(QUEUE.read_text().split()[1]) / 1e9
        except (OSError, IndexError):
            waited = 0.0
        return time.perf_counter(), waited, time.process_time()


def town(n_areas: int, folder: Path) -> tuple[Path, Path]:
    """Areas and records in files."""
    side, rng = int(np.ceil(np.sqrt(n_areas))), np.random.default_rng(1)
    areas = QgsVectorLayer("Polygon?crs=EPSG:26914&field=da:string&field=pop:integer", "areas", "memory")
    squares = []
    for i in range(n_areas):
        west, south = 600_000 + SIZE * (i % side), 5_500_000 + SIZE * (i // side)
        square = QgsFeature(areas.fields())
        square.setAttributes([f"46{i:06d}", PER_AREA])
        square.setGeometry(QgsGeometry.fromRect(QgsRectangle(west, south, west + SIZE, south + SIZE)))
        squares.append(square)
    areas.dataProvider().addFeatures(squares)
    options = QgsVectorFileWriter.SaveVectorOptions()
    file = folder / f"areas_{n_areas}.gpkg"
    QgsVectorFileWriter.writeAsVectorFormatV3(areas, str(file), QgsCoordinateTransformContext(), options)
    n = n_areas * PER_AREA
    drawn = zip(
        np.arange(n).tolist(),
        np.repeat(np.arange(n_areas), PER_AREA).tolist(),
        rng.integers(0, 18, n).tolist(),
        rng.integers(0, 2, n).tolist(),
        rng.integers(0, 30, n).tolist(),
    )
    table = folder / f"records_{n_areas}.csv"
    with table.open("w") as lines:
        lines.write("id,home,age_group,sex,diagnosis\n")
        lines.writelines(f"{i},46{home:06d},{age},{sex},d{illness}\n" for i, home, age, sex, illness in drawn)
    return file, table


def main() -> None:
    """A line for each number of areas."""
    application = QgsApplication([], True)
    application.initQgis()
    from vbas.vbas_plugin.provider import VbasProvider
    from vbas.vbas_plugin.release.dock import ReleaseDock

    provider, heart, window = VbasProvider(), Heart(), QMainWindow()
    QgsApplication.processingRegistry().addProvider(provider)

    def add_dock(made: list[Any]) -> None:
        made.append(ReleaseDock(Window(), window))

    def whole(dock: Any) -> bool:
        state = dock.look.session.state
        return state is not None and state.curve.whole

    def shown(dock: Any) -> bool:
        return bool(dock.look.session.state.shown.n_sites == dock.look.chooser.value())

    def free(dock: Any) -> bool:
        return not (dock.data.busy or dock.look.session.busy or dock.decide.busy)

    def timed(begin: Callable[[], None], dock: Any, done: Callable[[Any], bool] = free) -> str:
        application.processEvents()
        heart.start()
        started = time.process_time()
        begin()
        heart.beat()
        while not (done(dock) or free(dock)):
            application.processEvents()
            heart.beat()
            time.sleep(0.001)
        application.processEvents()
        heart.beat()
        took = time.process_time() - started - heart.spent
        longest, alone = 1000 * heart.longest, 1000 * heart.alone
        return f"{took:.2f} s ({longest:.0f}, {alone:.0f} ms)"

    print(
        "areas | records | dock made | data checked | roles | curve | nested | another number | beside it | candidates"
    )
    with tempfile.TemporaryDirectory() as folder:
        for n_areas in [int(n) for n in sys.argv[1:]] or [1_000, 5_000, 20_000]:
            files = town(n_areas, Path(folder))
            layers = [QgsVectorLayer(str(file), file.stem, "ogr") for file in files]
            QgsProject.instance().addMapLayers(layers)
            made: list[ReleaseDock] = []
            steps = [timed(partial(add_dock, made), None, lambda _: True)]
            dock = made[0]
            window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
            window.show()
            steps += [timed(lambda: None, dock), timed(partial(dock.go_to, 1), dock)]
            steps += [timed(partial(dock.go_to, 2), dock, whole), timed(lambda: None, dock)]
            steps.append(timed(partial(dock.look.chooser.number.setValue, n_areas // 10), dock, shown))
            steps.append(timed(lambda: None, dock))
            steps.append(timed(partial(dock.go_to, 3), dock))
            print(" | ".join([f"{n_areas}", f"{n_areas * PER_AREA}", *steps]), flush=True)
            dock.end()
            dock.deleteLater()
            QgsProject.instance().removeAllMapLayers()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
