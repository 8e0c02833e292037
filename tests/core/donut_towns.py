"""Areas and points that the tests of donut masking share."""

from __future__ import annotations

import numpy as np
import shapely

from vbas.core.masking.donut import donut_mask
from vbas.core.masking.placing import own_areas


def ragged_town(n_points=3000, seed=1):
    """Six by six areas with jagged borders, some in two pieces or with a hole, and clustered points in them."""
    rng = np.random.default_rng(seed)
    found = []
    for row in range(6):
        for col in range(6):
            corners = np.array([[0.0, 0], [950, 0], [950, 950], [0, 950]]) + np.array([1000 * col, 1000 * row])
            ring = np.vstack([np.linspace(a, b, 6)[:-1] for a, b in zip(corners, np.roll(corners, -1, axis=0))])
            found.append(shapely.make_valid(shapely.polygons(ring + rng.uniform(-60, 60, ring.shape))))
    cells = np.array(found, dtype=object)
    # The same jitter may make neighbours overlap by a little: each area gives way to those before it.
    for i in range(1, len(cells)):
        cells[i] = shapely.difference(cells[i], shapely.union_all(cells[:i]))
    centre = shapely.get_coordinates(shapely.centroid(cells[14]))[0]
    cells[14] = shapely.difference(cells[14], shapely.Point(centre).buffer(200))
    cells[21] = shapely.difference(cells[21], shapely.box(-1e4, 3380, 1e4, 3620))
    points = np.vstack([rng.uniform(0, 5950, (n_points // 2, 2)), rng.normal(2700, 500, (n_points - n_points // 2, 2))])
    return cells, points


def masked_town(k_inner=8, k_outer=80, distance="uniform in distance", seed=0, people=60.0, town=None):
    """(cells, points, area_of, masking) of the ragged town with as many people in every area."""
    cells, points = town or ragged_town()
    area_of = own_areas(points, cells)
    inhabitants = np.where(area_of >= 0, people, 0.0)
    rng = np.random.default_rng(seed)
    return cells, points, area_of, donut_mask(points, area_of, inhabitants, cells, k_inner, k_outer, distance, rng)
