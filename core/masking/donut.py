"""Donut geomasking: each point moved within a ring, inside its own area (Allshouse 2010, 2.2), and its release."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
import shapely

from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import InputError, PrivacyError
from ..language import as_data, plural, tr
from ..progress import Progress, part, silent
from ..records.columns import Column
from ..records.table import singling_out
from . import DISTANCES
from .placing import NO_AREA, DistanceLaw, first_inside, inside_own_area, mask_stragglers

MASKED, NO_POSITION, OUTSIDE, CATEGORY_MISSING, NOBODY, OUT_OF_REACH, SLIVER = range(7)
FEW_CANDIDATES, EARLIER_ELSEWHERE = 7, 8
#: The outcome of a point, by the codes above; only points with the first are released.
REASONS = (
    as_data("masked"),
    as_data("no position"),
    as_data("in no area"),
    as_data("category missing"),
    as_data("area without people"),
    as_data("ring does not meet the area"),
    as_data("ring meets the area in a sliver only"),
    as_data("held back: fewer than K_MIN candidate addresses"),
    as_data("held back: an earlier place is not in the ring"),
)
# Draws for each point still without a place, round by round. Most points find one in the first; those still without one
# after the last are placed area by area.
PLAIN_DRAWS = (1, 1, 2, 4, 8, 16, 32)
# In metres: a position projected to the layer's coordinates and back may differ by half a millimetre, since equal-area
# projections are computed by series.
_TOLERANCE = 0.01
_ROUNDING = 1e-3  # of the extent: how far a coordinate may be rounded that is known again
_ENOUGH_FOR_A_PLANE = 10  # different places, so that a plane does not go through all of them by chance


@dataclass(frozen=True, eq=False)
class Masking:
    """N points and where they went.

    points : (N, 2) masked positions, planar metres, NaN where not masked
    reason : (N,) int8, position in REASONS; inner, outer : (N,) radii in metres, NaN where there is no ring
    displacement : (N,) metres; k_est : (N,) estimated anonymity; both NaN where not masked, but known of points that
    were masked and are held back
    """

    points: np.ndarray
    reason: np.ndarray
    inner: np.ndarray
    outer: np.ndarray
    displacement: np.ndarray
    k_est: np.ndarray

    @property
    def masked(self) -> np.ndarray:
        """Which points were masked, (N,) bool."""
        return self.reason == MASKED

    @property
    def drawn(self) -> np.ndarray:
        """Which points found a place, those held back included, (N,) bool."""
        return np.isfinite(self.displacement)

    def counts(self) -> dict[str, int]:
        """Number of points by outcome, without the outcomes that do not occur."""
        numbers = to_list(np.bincount(self.reason, minlength=len(REASONS)))
        return {reason: n for reason, n in zip(REASONS, numbers) if n}


def check_ring(k_inner: float, k_outer: float) -> None:
    """Refuse an impossible ring. Raises InputError."""
    if not k_inner > 0:
        raise InputError.saying(
            "K_INNER is {k_inner:g}: choose more than 0, or points could stay where they are.", k_inner=k_inner
        )
    if not k_outer > k_inner:
        raise InputError.saying(
            "K_OUTER is {k_outer:g}, K_INNER {k_inner:g}: choose a K_OUTER that is larger.",
            k_outer=k_outer,
            k_inner=k_inner,
        )


def radii(
    square_metres: np.ndarray, people: np.ndarray, k_inner: float, k_outer: float
) -> tuple[np.ndarray, np.ndarray]:
    """Inner and outer radius of each ring, metres (Allshouse 2010, Eqs. 1a and 1b).

    square_metres, people : (N,) of the point's area; NaN where there are no people, or so few of them that no number
    holds the radius.
    """
    with np.errstate(over="ignore"):
        share = np.where(people > 0, square_metres, np.nan) / (np.pi * np.where(people > 0, people, 1.0))
        held = np.isfinite(share * k_outer)
    share = np.where(held, share, np.nan)
    return np.sqrt(share * k_inner), np.sqrt(share * k_outer)


def generator(seed: int | None, points: np.ndarray) -> np.random.Generator:
    """The random source of the moves: from the seed and the points, or from the system where seed is None.

    Whoever knows the whole source can reverse the moves. A seed such as 0 is easily guessed, so the points' true
    coordinates, which only the custodian has, are mixed in: the same points and seed give the same moves.
    """
    if seed is None:
        return np.random.default_rng()
    secret = hashlib.sha256(np.ascontiguousarray(points, dtype="<f8").tobytes()).digest()
    return np.random.default_rng([seed, *np.frombuffer(secret, "<u4").tolist()])


def donut_mask(
    points: np.ndarray,
    area_of: np.ndarray,
    people: np.ndarray,
    shapes: np.ndarray,
    k_inner: float,
    k_outer: float,
    distance: str,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Masking:
    """Move each point in a random direction, by a distance between its radii, so that it stays in its own area.

    points : (N, 2) planar metres, NaN for none; area_of : (N,) position of each point's area, -1 for none;
    people : (N,) float, people of the point's area (and category), NaN where the category is missing;
    shapes : (m,) valid polygons; distance : a key of DISTANCES.
    Directions and distances are drawn again until the point falls inside its area (section 2.2), which gives the law
    of the distance on the part of the ring that lies in the area. Points for which no draw can succeed stay unmasked,
    with the reason. Raises InputError for an impossible ring.
    """
    check_ring(k_inner, k_outer)
    return move_in_rings(points, area_of, people, shapes, k_inner, k_outer, distance, rng, progress)


def move_in_rings(
    points: np.ndarray,
    area_of: np.ndarray,
    people: np.ndarray,
    shapes: np.ndarray,
    k_inner: float,
    k_outer: float,
    distance: str,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Masking:
    """`donut_mask` with any 0 <= k_inner < k_outer, which is the caller's to check; arguments as there."""
    inside = area_of != NO_AREA
    surface = np.where(inside, shapely.area(shapes)[area_of], np.nan)
    inner, outer = radii(surface, people, k_inner, k_outer)
    reason = np.select(
        [~np.isfinite(points).all(axis=1), ~inside, np.isnan(people), people <= 0],
        [NO_POSITION, OUTSIDE, CATEGORY_MISSING, NOBODY],
        OUT_OF_REACH,
    ).astype(np.int8)
    moved = np.full((len(points), 2), np.nan)
    left = np.flatnonzero(reason == OUT_OF_REACH)
    left = left[np.argsort(area_of[left], kind="stable")]
    shapely.prepare(shapes)
    law = DISTANCES[distance]
    for step, draws in enumerate(PLAIN_DRAWS):
        moved[left] = _plain_draws(points[left], area_of[left], inner[left], outer[left], shapes, law, draws, rng)
        left = left[np.isnan(moved[left, 0])]
        progress(0.5 * (step + 1) / len(PLAIN_DRAWS))
    reason[np.isfinite(moved[:, 0])] = MASKED
    moved[left], met = mask_stragglers(
        points[left], area_of[left], inner[left], outer[left], shapes, law, rng, part(progress, 0.5, 1.0)
    )
    reason[left[met]] = SLIVER
    reason[left[np.isfinite(moved[left, 0])]] = MASKED
    displacement = np.hypot(*(moved - points).T)
    return Masking(moved, reason, inner, outer, displacement, estimated_anonymity(displacement, people, surface))


def estimated_anonymity(displacement: np.ndarray, people: np.ndarray, square_metres: np.ndarray) -> np.ndarray:
    """People nearer than the displacement if they were spread evenly (Allshouse 2010, Eq. 2), (N,) float.

    displacement : (N,) metres; people, square_metres : (N,) of each point's area.
    """
    return np.pi * displacement**2 * people / square_metres


def _plain_draws(
    points: np.ndarray,
    area_of: np.ndarray,
    inner: np.ndarray,
    outer: np.ndarray,
    shapes: np.ndarray,
    law: DistanceLaw,
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """A place for each point, (n, 2), NaN where no draw fell inside; area_of : equal values are adjacent."""
    direction = rng.uniform(0.0, 2.0 * np.pi, (len(points), draws))
    distance = law(rng.random((len(points), draws)), inner[:, None], outer[:, None])
    area = np.repeat(area_of, draws)
    return first_inside(points, direction, distance, inner, outer, lambda places: inside_own_area(places, area, shapes))


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
    written_points, meant = written[released], masking.points[released]
    moved = np.hypot(*(written_points - points[released]).T)
    good = masking.masked[released] & (np.hypot(*(written_points - meant).T) < _TOLERANCE)
    good &= moved > masking.inner[released] - _TOLERANCE
    good &= moved < masking.outer[released] + _TOLERANCE
    good &= inside_own_area(meant, area_of[released], shapes)
    if not good.all():
        raise PrivacyError.counting(
            "{n} masked point is not in its ring or not in its own area: nothing was written.",
            "{n} masked points are not in their ring or not in their own area: nothing was written.",
            int((~good).sum()),
        )


def check_no_coordinates(kept: Mapping[str, Column], *coordinates: np.ndarray) -> None:
    """Refuse a released field that repeats a coordinate of the true position, rounded or not, in whatever unit.

    kept : columns of N rows; coordinates : (N, 2) each, in every system a field might use. Raises InputError.
    """
    for field, column in kept.items():
        numbers = np.array([_number_or_nan(value) for value in column.categories], dtype=float)[column.codes]
        repeats = any(_repeats(numbers, values) for pair in coordinates for values in pair.T)
        if repeats or any(_lies_in_a_plane(numbers, pair) for pair in coordinates):
            raise InputError.saying(
                "KEEP_FIELDS: “{field}” repeats a coordinate of the true places, which masking is to hide: take it "
                "out.",
                field=field,
            )


def _repeats(numbers: np.ndarray, values: np.ndarray) -> bool:
    """Whether most numbers (N,) are these values (N,), but for rounding."""
    placed = np.isfinite(values)
    near = np.abs(numbers - values)[placed] <= _ROUNDING * (np.ptp(values[placed]) if placed.any() else 0.0)
    return bool(len(near) and np.mean(near) > 0.5)


def _lies_in_a_plane(numbers: np.ndarray, places: np.ndarray) -> bool:
    """Whether numbers (N,) follow from places (N, 2), as coordinates of another unit, origin or system nearly do."""
    known = np.isfinite(numbers) & np.isfinite(places).all(axis=1)
    if len(np.unique(places[known], axis=0)) < _ENOUGH_FOR_A_PLANE or 2 * known.sum() < len(numbers):
        return False
    numbers, places = numbers[known], places[known] - places[known].mean(axis=0)
    spread = float(np.std(numbers))
    sides = np.column_stack([np.ones(len(numbers)), places / max(float(np.abs(places).max()), 1e-300)])
    if not (spread > 0 and np.isfinite(spread)):
        return False
    left = numbers - sides @ np.linalg.lstsq(sides, numbers, rcond=None)[0]
    return bool(np.std(left) <= _ROUNDING * spread)


def kept_warnings(kept: Mapping[str, Column]) -> list[str]:
    """Sentences about released fields that single out persons."""
    return [warning for name, column in kept.items() if (warning := singling_out(name, column))]


def unmasked_sentence(counts: Mapping[str, int]) -> str:
    """How many points could not be masked and why, in one sentence; empty where all could."""
    masked = {REASONS[code] for code in (MASKED, FEW_CANDIDATES, EARLIER_ELSEWHERE)}
    lost = {reason: n for reason, n in counts.items() if reason not in masked}
    if not lost:
        return ""
    why = ", ".join(f"{tr(reason)} ({n})" for reason, n in lost.items())
    if sum(counts.values()) == 1:
        return tr("The only point could not be masked and is not released: {why}.", why=why)
    return plural(
        "{n} of {n_points} points could not be masked and is not released: {why}.",
        "{n} of {n_points} points could not be masked and are not released: {why}.",
        sum(lost.values()),
        n_points=sum(counts.values()),
        why=why,
    )


def _number_or_nan(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")
