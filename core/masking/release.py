"""The release of masked points: nothing in it gives away where a point came from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import InputError, PrivacyError
from ..records.columns import Column
from .donut import Masking
from .placing import inside_own_area

# In metres: a position projected to the layer's coordinates and back may differ by half a millimetre, since equal-area
# projections are computed by series.
_TOLERANCE = 0.01


def release_order(places: np.ndarray, kept: Mapping[str, Column]) -> np.ndarray:
    """The order to write rows in, (n,) int64: by what they show, so that it gives away nothing of the original order.

    places : (n, 2) masked positions as they are written; kept : columns of n rows.
    """
    return np.lexsort([*(column.codes for column in reversed(list(kept.values()))), places[:, 1], places[:, 0]])


def check_released(
    written: np.ndarray, points: np.ndarray, masking: Masking, area_of: np.ndarray, shapes: np.ndarray
) -> None:
    """The second check, on the coordinates as written: each point where masking put it, in its ring and its area.

    written : (N, 2) in planar metres again, NaN where not released; points : (N, 2) true positions; area_of : (N,);
    shapes : (m,) prepared polygons. Raises PrivacyError.
    """
    released = np.flatnonzero(np.isfinite(written).any(axis=1))
    released = released[np.argsort(area_of[released], kind="stable")]
    shown, meant = written[released], masking.points[released]
    moved = np.hypot(*(shown - points[released]).T)
    good = masking.masked[released] & (np.hypot(*(shown - meant).T) < _TOLERANCE)
    good &= moved > masking.inner[released] - _TOLERANCE
    good &= moved < masking.outer[released] + _TOLERANCE
    good &= inside_own_area(meant, area_of[released], shapes)
    if not good.all():
        raise PrivacyError(
            f"{int((~good).sum())} masked points are not in their ring or not in their own area: nothing was written."
        )


def check_no_coordinates(kept: Mapping[str, Column], *coordinates: np.ndarray) -> None:
    """Refuse a released field that repeats a coordinate of the true position, rounded or not.

    kept : columns of N rows; coordinates : (N, 2) each, in every system a field might use. Raises InputError.
    """
    for field, column in kept.items():
        numbers = np.array([_number_or_nan(value) for value in column.categories], dtype=float)[column.codes]
        for values in (axis for pair in coordinates for axis in pair.T):
            placed = np.isfinite(values)
            near = np.abs(numbers - values)[placed] <= 1e-3 * (np.ptp(values[placed]) if placed.any() else 0.0)
            if len(near) and np.mean(near) > 0.5:
                raise InputError(
                    f"KEEP_FIELDS: “{field}” repeats a coordinate of the true places, which masking is to hide: take "
                    "it out."
                )


def kept_warnings(kept: Mapping[str, Column]) -> list[str]:
    """Sentences about released fields that single out persons."""
    return [
        f"KEEP_FIELDS: “{name}” has {len(column.categories)} different values in {len(column)} rows: if it is a "
        "number or a name of a person, do not release it."
        for name, column in kept.items()
        if len(column) > 1 and len(column.categories) > 0.5 * len(column)
    ]


def unmasked_sentence(counts: Mapping[str, int]) -> str:
    """How many points were not released and why, in one sentence; empty where all were."""
    lost = {reason: n for reason, n in counts.items() if reason != "masked"}
    if not lost:
        return ""
    why = ", ".join(f"{reason} ({n})" for reason, n in lost.items())
    return f"{sum(lost.values())} of {sum(counts.values())} points could not be masked and are not released: {why}."


def _number_or_nan(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")
