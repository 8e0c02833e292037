"""Anonymity-driven clustering (2015): sites move to where the records are that their own region lacks."""

from __future__ import annotations

import numpy as np
import shapely

from ...areas import Areas
from ...profile import Profile
from ...progress import Progress, silent
from ..options import DEFAULTS, LocationOptions, SiteLocation
from .anonymity_driven_clustering import clustered
from .climbing import Variant
from .counts import Terms
from .state import ClusteringState

NAME = "anonymity-driven clustering (2015)"


def anonymity_driven_clustering_2015(
    areas: Areas,
    profile: Profile,
    n_sites: int,
    options: LocationOptions = DEFAULTS,
    progress: Progress = silent,
) -> SiteLocation:
    """The first published form of anonymity-driven clustering: sites move to where the records are that their own
    region lacks (Croft 2015, 3.2.2, Eqs. 14, 18, 19).

    areas : n areas with points (metres); profile : of the same areas, in the same order; 1 <= n_sites <= n.
    options.k : the level at which a region is left alone; options.start, options.start_sites : what it starts from.

    The objective is alpha |R| - |R_alpha|. A region at the lowest level alpha proposes, for each class of which it has
    alpha records, the mean centre of that class's records in the region's neighbourhood: its own areas and those inside
    the polygon through the adjacent sites. The move is made if the objective rises.

    What the paper leaves open is settled as in the later variant, see `anonymity_driven_clustering`. An area on the
    polygon's outline counts as inside; fewer than three adjacent sites make no polygon.
    """
    return clustered(NAME, VARIANT, areas, profile, n_sites, options, progress)


def propose(state: ClusteringState, region: int, classes: np.ndarray) -> np.ndarray:
    """For each bottleneck class (B,) where the site of a region should go, (B, 2) (Eqs. 18, 19)."""
    areas = _neighbourhood(state, region)
    weights = state.profile_counts[areas][:, classes].T
    offsets = state.points[areas] - state.sites[region]
    members = np.asarray(weights.sum(axis=1), dtype=float)
    return state.sites[region] + (weights @ offsets) / members.reshape(-1, 1)


def _neighbourhood(state: ClusteringState, region: int) -> np.ndarray:
    """The areas of a region and those inside the polygon through the adjacent sites, ascending."""
    inside = state.region_of == region
    corners = state.sites[state.adjacent(region)]
    if len(corners) > 2:
        (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
        x, y = state.points.T
        boxed = np.flatnonzero((x >= left) & (x <= right) & (y >= low) & (y <= high))
        polygon = shapely.Polygon(corners)
        shapely.prepare(polygon)
        inside[boxed[shapely.intersects_xy(polygon, x[boxed], y[boxed])]] = True
    return np.flatnonzero(inside)


def rises(now: Terms, then: Terms) -> np.ndarray:
    """Whether the objective (Eq. 14) is higher after each move, (B,) bool."""
    return (then.changes_regions == 0) & (_objective(then) > _objective(now))


def _objective(terms: Terms) -> np.ndarray:
    """alpha |R| - |R_alpha|; whole numbers."""
    return terms.lowest * terms.regions - terms.regions_at_lowest


def window(now: Terms, then: Terms) -> tuple[float, float] | None:
    """No limits: what is refused lowers alpha, or leaves as many of the regions nearby at alpha, whatever the share."""
    return -np.inf, np.inf


VARIANT = Variant(propose, rises, window)
