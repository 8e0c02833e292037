"""Points that may have been masked and released before: by a register, or by the file that is to be replaced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import shapely
from qgis.core import QgsCoordinateReferenceSystem, QgsProcessingParameterDefinition, QgsVectorLayer, QgsWkbTypes

from ...core.errors import InputError
from ...core.language import tr
from ...core.masking.homes import NEARLY_ALL, share_in_common
from ...core.masking.placing import own_areas
from ...core.publish.register.chain import broken_chain
from ...core.publish.register.entry import new_register
from ...core.publish.register.masked_points import maskings_in, new_masking
from ..form.form import Form
from ..layers.shapes.points import moved_coordinates
from ..layers.tables import Table
from ..privacy.releases import register_parameter
from .inputs import MaskingInputs

Placed = tuple[str, np.ndarray, QgsCoordinateReferenceSystem]


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
    """Warn where the points may be those of an earlier release, and where the register is new or was changed by hand;
    the warnings."""
    warnings = []
    if form.given("REGISTER"):
        path = Path(form.text("REGISTER"))
        broken = broken_chain(path) if path.exists() else new_register(path)
        warnings += [broken] if broken else []
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
        raise InputError.saying("REGISTER: there are no masked points to add.")
    coordinates = shapely.get_coordinates(np.asarray(masked.shapes))
    form.outputs.first(new_masking(Path(form.text("REGISTER")), masked.crs.toWkt(), coordinates))


def _earlier(form: Form) -> Iterator[Placed]:
    """Name, coordinates and reference system of earlier masked points."""
    if form.given("REGISTER") and Path(form.text("REGISTER")).exists():
        for masking in maskings_in(Path(form.text("REGISTER"))):
            name = tr(
                "release {masking} of masked points in the register ({time})", masking=masking.number, time=masking.time
            )
            yield name, masking.points, QgsCoordinateReferenceSystem.fromWkt(masking.crs)
    target = form.outputs.target("MASKED")
    if target is not None and target.exists():
        layer = QgsVectorLayer(str(target), "before", "ogr")
        if layer.isValid() and layer.geometryType() == QgsWkbTypes.GeometryType.PointGeometry and layer.crs().isValid():
            points = [feature.geometry() for feature in layer.getFeatures() if feature.hasGeometry()]
            single = [geometry.asPoint() for geometry in points if not geometry.isMultipart()]
            yield (
                tr("the file {target}", target=target),
                np.array([(point.x(), point.y()) for point in single]).reshape(-1, 2),
                layer.crs(),
            )
