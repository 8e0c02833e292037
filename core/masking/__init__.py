"""Donut geomasking of points, and the audit of how well it protects them (Allshouse et al. 2010)."""

from __future__ import annotations

from .placing import DistanceLaw, uniform_in_area, uniform_in_distance

#: How far a point moves within its ring; the keys are the words the user sees.
DISTANCES: dict[str, DistanceLaw] = {
    "uniform in distance": uniform_in_distance,
    "uniform in area": uniform_in_area,
}
