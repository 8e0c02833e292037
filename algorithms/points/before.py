"""Points that may have been masked and released before: by a register, or by the file that is to be replaced."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import shapely
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsProcessingParameterDefinition,
    QgsVectorLayer,
    QgsWkbTypes,
)

from ...core.errors import InputError
from ...core.language import tr
from ...core.masking.again import NEARLY_ALL, share_in_common
from ...core.masking.placing import own_areas
from ...core.records.sqlite_file import reading
from ..form.form import Form
from ..layers.shapes.points import moved_coordinates
from ..layers.tables import Table
from ..privacy.register_file import Statement, check_register, new_register, now, written_entry
from ..privacy.releases import register_parameter
from .inputs import MaskingInputs

Placed = tuple[str, np.ndarray, QgsCoordinateReferenceSystem]
TAKE_OUT = ("DELETE FROM vbas_points WHERE masking = ?", "DELETE FROM vbas_maskings WHERE masking = ?")


def register() -> QgsProcessingParameterDefinition:
    """REGISTER."""
    return register_parameter(
        tr(
            "A GeoPackage that keeps where masked points were shown, and nothing else of them; a new name "
            "starts one. The run warns where the same points may have been released before: the middle of two "
            "masked places is nearer to the home than either. Afterwards this release is added."
        ),
        advanced=True,
    )


def warned_of_earlier(form: Form, case: MaskingInputs) -> list[str]:
    """Warn where the points may be those of an earlier release, and where the register is new; the warnings."""
    warnings = []
    if form.given("REGISTER") and not Path(form.text("REGISTER")).exists():
        warnings.append(new_register(Path(form.text("REGISTER"))))
    for name, coordinates, crs in _earlier(form):
        planar = moved_coordinates(coordinates, crs, case.areas.planar, form.context)
        share = share_in_common(case.points.area_of, own_areas(planar, case.areas.planar_shapes))
        if share >= NEARLY_ALL:
            warnings.append(
                tr(
                    "These may be the points that {name} showed already: {share:.0f} % of them can be the same. "
                    "Whoever has both results is nearer to each home than with either: publish the earlier one again "
                    "instead, or give it as EARLIER.",
                    name=name,
                    share=100 * share,
                )
            )
    form.warn(*warnings)
    return warnings


def keep(form: Form, masked: Table, for_release: bool) -> None:
    """Add masked points that are for release to the register, before the outputs have their places."""
    if not form.given("REGISTER"):
        return
    if not for_release:
        form.warn(tr("The masked points are not for release: REGISTER does not get them."))
        return
    if masked.crs is None or masked.shapes is None:
        raise InputError(tr("REGISTER: there are no masked points to add."))
    coordinates, crs = shapely.get_coordinates(np.asarray(masked.shapes)), masked.crs.toWkt()

    def write(connection: sqlite3.Connection) -> list[Statement]:
        number = connection.execute("SELECT coalesce(max(masking), 0) + 1 FROM vbas_maskings").fetchone()[0]
        connection.execute("INSERT INTO vbas_maskings (masking, time, crs) VALUES (?, ?, ?)", (number, now(), crs))
        rows = ((number, x, y) for x, y in coordinates.tolist())
        connection.executemany("INSERT INTO vbas_points (masking, x, y) VALUES (?, ?, ?)", rows)
        return [(statement, (number,)) for statement in TAKE_OUT]

    form.outputs.first(written_entry(Path(form.text("REGISTER")), write))


def _earlier(form: Form) -> Iterator[Placed]:
    """Name, coordinates and reference system of earlier masked points."""
    if form.given("REGISTER") and Path(form.text("REGISTER")).exists():
        path = Path(form.text("REGISTER"))
        with reading(path, "REGISTER") as connection:
            check_register(connection, path)
            found = connection.execute("SELECT masking, time, crs FROM vbas_maskings ORDER BY masking").fetchall()
            for masking, time, crs in found:
                rows = connection.execute("SELECT x, y FROM vbas_points WHERE masking = ?", (masking,)).fetchall()
                name = tr("release {masking} of masked points in the register ({time})", masking=masking, time=time)
                yield name, np.array(rows, float).reshape(-1, 2), QgsCoordinateReferenceSystem.fromWkt(crs)
    target = form.outputs.target("MASKED")
    if target is not None and target.exists():
        layer = QgsVectorLayer(str(target), "before", "ogr")
        if layer.isValid() and layer.geometryType() == QgsWkbTypes.GeometryType.PointGeometry and layer.crs().isValid():
            points = [feature.geometry() for feature in layer.getFeatures() if feature.hasGeometry()]
            single = [one.asPoint() for one in points if not one.isMultipart()]
            yield (
                tr("the file {target}", target=target),
                np.array([(one.x(), one.y()) for one in single]).reshape(-1, 2),
                layer.crs(),
            )
