"""The words of choices that a job is read by."""

from __future__ import annotations

ONE_LEVEL, NESTED = "one level", "nested levels"  # RELEASE
AREAS, CONFIGURATION = "areas", "configuration"  # FINEST
CENTROID, POINT_ON_SURFACE = "centroid", "point on surface"  # AREA_POINT
AREA_POINTS = (CENTROID, POINT_ON_SURFACE)
