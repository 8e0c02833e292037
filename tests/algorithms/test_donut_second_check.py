"""What the form does when masking itself errs: nothing is released."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from vbas.algorithms.points import masked as mask_outputs
from vbas.core.masking import donut

from .test_donut_forms import SIDE, areas, mask, people_in  # noqa: F401 - fixtures


def unmoved(masking, points):
    return replace(masking, points=np.where(np.isfinite(masking.points), points, np.nan))


def first_unmoved(masking, points):
    moved = masking.points.copy()
    moved[0] = points[0]
    return replace(masking, points=moved)


def too_near(masking, points):
    return replace(masking, points=points + 0.9 * masking.inner[:, None] * direction(masking, points))


def too_far(masking, points):
    return replace(masking, points=points + 1.1 * masking.outer[:, None] * direction(masking, points))


def in_another_area(masking, points):
    moved = points + np.array([SIDE, 0.0])
    return replace(masking, points=moved, outer=np.full(len(points), 9e9))


def direction(masking, points):
    return (masking.points - points) / masking.displacement[:, None]


@pytest.mark.parametrize("crs", ["EPSG:26914", "EPSG:4326"])
@pytest.mark.parametrize("err", [unmoved, first_unmoved, too_near, too_far, in_another_area])
def test_masking_that_errs_releases_nothing(err, crs, mask, monkeypatch, tmp_path):  # noqa: F811
    real = donut.donut_mask
    monkeypatch.setattr(
        "vbas.algorithms.points.donut_mask.donut_mask", lambda points, *rest: err(real(points, *rest), points)
    )
    with pytest.raises(
        QgsProcessingException,
        match=r"points? (is|are) not in (its|their) ring or not in (its|their) own area: nothing was written",
    ):
        mask(people_in(40, crs=crs), MASKED=str(tmp_path / "m.gpkg"), AUDIT=str(tmp_path / "a.gpkg"))
    assert not list(tmp_path.iterdir())


def test_conversion_that_errs_releases_nothing(mask, monkeypatch, tmp_path):  # noqa: F811
    points = people_in(40, crs="EPSG:4326")
    real = mask_outputs.moved_coordinates

    def shifted(coordinates, source, target, context):
        # A metre to the east on the way to the layer's degrees.
        return real(coordinates + (1.0 if target.authid() == "EPSG:4326" else 0.0), source, target, context)

    monkeypatch.setattr(mask_outputs, "moved_coordinates", shifted)
    with pytest.raises(QgsProcessingException, match="masked points are not in their ring"):
        mask(points, MASKED=str(tmp_path / "m.gpkg"))
    assert not list(tmp_path.iterdir())
