"""Whether masking keeps a cluster of the points: what is asked, and the search."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core.language import tr
from ...core.masking.donut import Masking, donut_mask
from ...core.masking.own_clusters import KeptCluster, kept_cluster
from ...core.masking.placing import NO_AREA, own_areas
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..form.parameters import yes
from .inputs import MaskingInputs

NUMBERS = {
    "CLUSTER_SENSITIVITY": tr("Of the cluster before masking, what is found after, per cent of its households"),
    "CLUSTER_SPECIFICITY": tr("Of the households outside it, those outside the cluster after, per cent"),
}
CONDITIONS: Conditions = {"FIND_CLUSTERS": [{"HOUSEHOLDS": GIVEN}]}


def cluster_search() -> Iterable[QgsProcessingParameterDefinition]:
    """FIND_CLUSTERS."""
    yield yes(
        "FIND_CLUSTERS",
        tr("Look for a cluster before and after masking"),
        False,
        tr(
            "The points are taken for cases and HOUSEHOLDS for the population: the report says whether the most likely "
            "cluster is significant, and how much of it the masked points still show. Internal: it tells where the "
            "points are."
        ),
        advanced=True,
    )


def kept_cluster_of(
    form: Form, case: MaskingInputs, masking: Masking, k_inner: float, k_outer: float, rng: np.random.Generator
) -> KeptCluster | None:
    """The cluster before and after; None where it was not asked for, or nothing can be searched."""
    if not form.yes("FIND_CLUSTERS") or case.households is None:
        return None
    households, shapes = case.households, case.areas.planar_shapes
    area_of = own_areas(households.points, shapes)
    rows = np.flatnonzero(np.isfinite(case.points.coordinates).all(axis=1) & (case.points.area_of != NO_AREA))
    drawn = area_of != NO_AREA
    if not len(rows) or not drawn.any():
        return None

    def masked(households_drawn: np.ndarray, source: np.random.Generator) -> Masking:
        """Cases at these households, with the categories of points drawn at random."""
        where = households_drawn.reshape(-1)
        alike = None if case.category_of is None else source.choice(case.category_of[rows], len(where))
        return donut_mask(
            households.points[where],
            area_of[where],
            case.populations.of_points(area_of[where], alike),
            shapes,
            k_inner,
            k_outer,
            form.text("DISTANCE"),
            source,
        )

    return kept_cluster(
        households, case.points.coordinates[rows], masking.points[rows], masked, drawn, rng, form.progress(80, 88)
    )


def numbers_of(cluster: KeptCluster | None) -> dict[str, object]:
    """The numeric outputs; none where there was no cluster to keep."""
    if cluster is None or not cluster.before:
        return {}
    return {"CLUSTER_SENSITIVITY": cluster.sensitivity, "CLUSTER_SPECIFICITY": cluster.specificity}
