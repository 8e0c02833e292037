"""What the audit compares a donut with: older masks, which are never offered for a release.

Without an inner radius a point may stay at home; at the centre of its area it shows nothing that lies within it.
"""

from __future__ import annotations

import numpy as np
import shapely

from ..errors import InputError
from ..language import as_data
from ..progress import Progress, silent
from .donut import MASKED, NO_POSITION, OUTSIDE, Masking, estimated_anonymity, move_in_rings
from .placing import NO_AREA

DONUT = as_data("donut")
RANDOM_PERTURBATION = as_data("random perturbation")
AREA_CENTRE = as_data("centre of the area")
#: What the audit can set beside the donut, in the words the user sees.
COMPARED = (RANDOM_PERTURBATION, AREA_CENTRE)


def random_perturbation(
    points: np.ndarray,
    area_of: np.ndarray,
    people: np.ndarray,
    shapes: np.ndarray,
    k_outer: float,
    distance: str,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Masking:
    """Donut masking without the inner radius: a point may land where it was (Allshouse 2010, section 1).

    All else is as in `donut_mask`, the own area included, so that a comparison shows the inner radius alone. Arguments
    as there. Raises InputError for a K_OUTER that is not above 0.
    """
    if not k_outer > 0:
        raise InputError.saying("K_OUTER is {k_outer:g}: choose more than 0.", k_outer=k_outer)
    return move_in_rings(points, area_of, people, shapes, 0.0, k_outer, distance, rng, progress)


def move_to_centre(points: np.ndarray, area_of: np.ndarray, people: np.ndarray, shapes: np.ndarray) -> Masking:
    """Each point moved to the centroid of its area (Allshouse 2010, section 1): all points of an area look alike.

    points : (N, 2) planar metres, NaN for none; area_of : (N,), -1 for none; people : (N,) of each point's area, for
    k_est; shapes : (m,) polygons. There is no ring, and nobody else has to live in the area. The centroid of a bent
    area may lie outside it, as in any GIS.
    """
    placed, inside = np.isfinite(points).all(axis=1), area_of != NO_AREA
    reason = np.select([~placed, ~inside], [NO_POSITION, OUTSIDE], MASKED).astype(np.int8)
    centres = shapely.get_coordinates(shapely.centroid(shapes))
    moved = np.where((reason == MASKED)[:, None], centres[area_of], np.nan)
    no_ring = np.full(len(points), np.nan)
    displacement = np.hypot(*(moved - points).T)
    surface = np.where(inside, shapely.area(shapes)[area_of], np.nan)
    estimated = estimated_anonymity(displacement, people, surface)
    return Masking(moved, reason, no_ring, no_ring, displacement, estimated)
