"""Donut geomasking of points, and the audit of what it protects (Allshouse et al. 2010)."""

from __future__ import annotations

from .draws import Law, uniform_in_area, uniform_in_distance

#: How far a point moves within its ring; the keys are the words the user sees.
DISTANCES: dict[str, Law] = {
    "uniform in distance": uniform_in_distance,
    "uniform in area": uniform_in_area,
}
