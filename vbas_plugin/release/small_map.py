"""Small maps of releases side by side: the mean distance in each area, and where each loses people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from qgis.PyQt.QtCore import QPointF, Qt
from qgis.PyQt.QtGui import QColor, QImage, QPainter, QPolygonF

from ...core.evaluation import ByArea
from ...core.progress import Progress

SIZE = 220  # pixels of the longer side
FINE, COARSE, LOST = QColor("#e8f1f8"), QColor("#08519c"), QColor("#d55e00")
ALL_LOST = 0.25  # of the records of an area: where so many are suppressed it is as red as can be


def small_maps(shapes: np.ndarray, of: Sequence[ByArea], progress: Progress) -> list[QImage]:
    """A map for each release, all in the same colours. May be drawn in another thread than that of the window.

    shapes : (n,) polygons or points of the areas; of : by release; progress raises to cancel
    """
    known = [by_area.mean_distance[np.isfinite(by_area.mean_distance) & (by_area.mean_distance > 0)] for by_area in of]
    metres = np.concatenate(known) if known else np.empty(0)
    low, high = (float(metres.min()), float(metres.max())) if len(metres) else (1.0, 1.0)
    places, width, height = _places(shapes)
    maps = []
    for done, by_area in enumerate(of):
        maps.append(_drawn(places, width, height, _colours(by_area, low, high)))
        progress((done + 1) / len(of))
    return maps


def _places(shapes: np.ndarray) -> tuple[list[list[np.ndarray]], int, int]:
    """The outlines of each area in pixels, and how large the map is."""
    west, south, east, north = shapely.total_bounds(shapes)
    per_pixel = max(east - west, north - south, 1e-9) / (SIZE - 4)
    kept = shapely.simplify(shapes, per_pixel / 3)
    corner = np.array([west, north])
    outlines = [
        [2.0 + (shapely.get_coordinates(part) - corner) * (1 / per_pixel, -1 / per_pixel) for part in _parts(shape)]
        for shape in kept
    ]
    return outlines, int((east - west) / per_pixel) + 5, int((north - south) / per_pixel) + 5


def _parts(shape: shapely.Geometry) -> list[shapely.Geometry]:
    """The outer rings of a shape, or the shape itself, where it is a point."""
    return [part.exterior if hasattr(part, "exterior") else part for part in shapely.get_parts(shape)]


def _colours(by_area: ByArea, low: float, high: float) -> list[QColor]:
    """The colour of each area: the darker the larger its mean distance, the redder the more are lost."""
    lost = by_area.suppressed / np.maximum(by_area.records, 1)
    metres = np.clip(np.nan_to_num(by_area.mean_distance, nan=high), low, high)
    coarse = np.log(metres / low) / max(np.log(high / low), 1e-9)
    return [
        _between(_between(FINE, COARSE, far), LOST, min(share / ALL_LOST, 1.0))
        for far, share in zip(coarse.tolist(), lost.tolist())
    ]


def _between(colour: QColor, other: QColor, share: float) -> QColor:
    parts = ((colour.red(), other.red()), (colour.green(), other.green()), (colour.blue(), other.blue()))
    return QColor(*(round(a + (b - a) * share) for a, b in parts))


def _drawn(places: list[list[np.ndarray]], width: int, height: int, colours: list[QColor]) -> QImage:
    # As the window's pixmaps are: Qt 5 converts other images in the threads that run tasks, and waits for them. Where
    # these run Python, they wait for the window, and it would never go on.
    image = QImage(max(width, 5), max(height, 5), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setPen(Qt.PenStyle.NoPen)
    for outlines, colour in zip(places, colours):
        painter.setBrush(colour)
        for outline in outlines:
            corners = [QPointF(x, y) for x, y in outline.tolist()]
            if len(corners) == 1:
                painter.drawEllipse(corners[0], 2.0, 2.0)
            else:
                painter.drawPolygon(QPolygonF(corners))
    painter.end()
    return image
