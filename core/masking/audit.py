"""The audit: how often donut masking with a given K_INNER falls short of a wanted anonymity (Allshouse 2010, 2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..areas import MOST_PEOPLE
from ..errors import InputError
from ..language import tr
from ..progress import Progress, part, silent
from .candidates import candidates
from .donut import MASKED, REASONS, Masking, check_ring, donut_mask
from .placing import NO_AREA
from .populations import Households

# K_INNER is searched for up to this number; beyond it, a donut is too wide for any realistic area.
LARGEST_K_INNER = 10_000


@dataclass(frozen=True, eq=False)
class Masker:
    """Everything that a masking needs except K_INNER, so that it can be run for many.

    households : those that are masked and counted; area_of, people : (h,) of each; shapes : (m,) valid polygons
    outer_factor : K_OUTER = outer_factor x K_INNER; distance : a key of DISTANCES; seed : of every run, so
        that a run depends only on its own K_INNER
    """

    households: Households
    area_of: np.ndarray
    people: np.ndarray
    shapes: np.ndarray
    outer_factor: float
    distance: str
    seed: int

    def run(self, k_inner: float, progress: Progress = silent) -> Masking:
        """Mask every household."""
        return donut_mask(
            self.households.points,
            self.area_of,
            self.people,
            self.shapes,
            k_inner,
            k_inner * self.outer_factor,
            self.distance,
            np.random.default_rng(self.seed),
            progress,
        )


@dataclass(frozen=True, eq=False)
class Audit:
    """The grid of an audit, households weighted by how many each location stands for.

    k_inner, k_outer : (i,); k_min : (j,)
    below : (i, j, m) masked households of each area whose k_act is below k_min
    below_candidates : (i, j) masked households whose masked place has fewer than k_min candidate addresses
    masked : (i, m) households of each area that were masked; households : (m,) in each area
    reasons : (i, len(REASONS)) households by outcome
    """

    k_inner: np.ndarray
    k_outer: np.ndarray
    k_min: np.ndarray
    below: np.ndarray
    below_candidates: np.ndarray
    masked: np.ndarray
    households: np.ndarray
    reasons: np.ndarray

    @property
    def percent_below(self) -> np.ndarray:
        """Share of the masked households that fall short, per cent, (i, j); NaN where none was masked."""
        return _percent(self.below.sum(axis=2), self.masked.sum(axis=1)[:, None])

    @property
    def percent_below_candidates(self) -> np.ndarray:
        """Share whose masked place could have come from fewer than k_min households, per cent, (i, j); NaN likewise."""
        return _percent(self.below_candidates, self.masked.sum(axis=1)[:, None])

    @property
    def percent_below_by_area(self) -> np.ndarray:
        """The same share in each area, (i, j, m)."""
        return _percent(self.below, self.masked[:, None, :])

    @property
    def percent_not_masked(self) -> np.ndarray:
        """Share of the households that could not be masked, per cent, (i,)."""
        return 100.0 - _percent(self.reasons[:, MASKED], self.reasons.sum(axis=1))


@dataclass(frozen=True)
class SmallestKInner:
    """The smallest K_INNER that meets a wanted failure rate; None where none up to LARGEST_K_INNER does.

    percent_below, percent_not_masked : at that K_INNER
    """

    k_min: float
    k_inner: int | None
    percent_below: float
    percent_not_masked: float


def audit(
    masker: Masker, k_inner: Sequence[float], k_min: Sequence[float], progress: Progress = silent
) -> tuple[Audit, np.ndarray]:
    """Mask all households for each K_INNER and count whose anonymity is below each K_MIN.

    Returns the grid and (h, j) the distance within which each household reaches each K_MIN, which later
    searches can reuse. k_inner, k_min : numbers above 0, at least one each. Raises InputError for impossible rings.
    """
    for k in k_inner:
        check_ring(k, k * masker.outer_factor)
    numbers = np.asarray(k_min, dtype=float)
    households, n_areas = masker.households, len(masker.shapes)
    needed = households.distance_to_reach(households.points, numbers, part(progress, 0.0, 0.2))
    below = np.zeros((len(k_inner), len(numbers), n_areas))
    below_candidates = np.zeros((len(k_inner), len(numbers)))
    masked = np.zeros((len(k_inner), n_areas))
    reasons = np.zeros((len(k_inner), len(REASONS)))
    for i, k in enumerate(k_inner):
        masking = masker.run(k, part(progress, 0.2 + 0.8 * i / len(k_inner), 0.2 + 0.8 * (i + 1) / len(k_inner)))
        reasons[i] = np.bincount(masking.reason, weights=households.weights, minlength=len(REASONS))
        rows = masking.masked
        masked[i] = _by_area(masker, rows)
        area_of = masker.area_of
        possible = candidates(households, area_of, masking.points, area_of, masking.inner, masking.outer)
        below_candidates[i] = households.weights @ (possible[:, None] < numbers)
        for j in range(len(numbers)):
            below[i, j] = _by_area(masker, rows & (masking.displacement <= needed[:, j]))
    grid = Audit(
        np.asarray(k_inner, dtype=float),
        np.asarray(k_inner, dtype=float) * masker.outer_factor,
        numbers,
        below,
        below_candidates,
        masked,
        _by_area(masker, masker.area_of != NO_AREA),
        reasons,
    )
    return grid, needed


def smallest_k_inner(
    masker: Masker, grid: Audit, needed: np.ndarray, percent: float, progress: Progress = silent
) -> list[SmallestKInner]:
    """For each K_MIN the smallest whole K_INNER with which at most `percent` of the masked households fall short of it.

    grid, needed : of `audit` for the same masker. The search starts from the grid and goes on by doubling and halving:
    the K_INNER it gives meets the rate, and K_INNER - 1 does not. This tests the paper's advice, to triple it, on the
    user's own households. The rate depends on the places drawn: near the wanted rate, another seed may give a K_INNER
    close by.
    """
    runs = {
        int(k): (grid.percent_below[i], float(grid.percent_not_masked[i]))
        for i, k in enumerate(grid.k_inner.tolist())
        if k == int(k)
    }
    return [
        _smallest(
            masker, j, float(k_min), runs, needed, percent, part(progress, j / len(needed.T), (j + 1) / len(needed.T))
        )
        for j, k_min in enumerate(grid.k_min)
    ]


def _smallest(
    masker: Masker,
    j: int,
    k_min: float,
    runs: dict[int, tuple[np.ndarray, float]],
    needed: np.ndarray,
    percent: float,
    progress: Progress,
) -> SmallestKInner:
    """The search for one K_MIN; runs : by K_INNER, per cent below each K_MIN and per cent not masked, added to here."""

    def meets(k: int) -> bool:
        if k not in runs:
            runs[k] = _rates(masker, k, needed)
            progress(min(len(runs) / 40.0, 1.0))
        return bool(runs[k][0][j] <= percent)

    enough = [k for k in sorted(runs) if meets(k)]
    high = enough[0] if enough else max([int(np.ceil(k_min)), *runs])
    low = max((k for k in runs if k < high and not meets(k)), default=0)
    while not meets(high):
        if high >= LARGEST_K_INNER or np.isnan(runs[high][0][j]):
            return SmallestKInner(k_min, None, float(runs[high][0][j]), runs[high][1])
        low, high = high, min(2 * high, LARGEST_K_INNER)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return SmallestKInner(k_min, high, float(runs[high][0][j]), runs[high][1])


def _rates(masker: Masker, k_inner: int, needed: np.ndarray) -> tuple[np.ndarray, float]:
    """Per cent of the masked households that fall short of each K_MIN, (j,), and per cent not masked."""
    masking = masker.run(k_inner)
    weights = masker.households.weights
    short = (masking.displacement[:, None] <= needed) & masking.masked[:, None]
    masked = weights[masking.masked].sum()
    return _percent(weights @ short, masked), 100.0 - float(_percent(masked, weights.sum()))


def _by_area(masker: Masker, rows: np.ndarray) -> np.ndarray:
    """Households of each area among the rows (h,) bool, (m,)."""
    rows = rows & (masker.area_of != NO_AREA)
    return np.bincount(masker.area_of[rows], weights=masker.households.weights[rows], minlength=len(masker.shapes))


def numbers_of(text: str, name: str) -> list[float]:
    """The numbers of a list written as `5,10,15`, each once.

    Raises InputError for what is not a number, not above 0, or above MOST_PEOPLE.
    """
    try:
        numbers = [float(word) for word in text.replace(";", " ").replace(",", " ").split()]
    except ValueError:
        numbers = []
    if not numbers or not all(0 < number <= MOST_PEOPLE for number in numbers):
        raise InputError(
            tr(
                "{name} is “{text}”: write one or more numbers above 0 and up to {most_people:g}, such as 5,10,15.",
                name=name,
                text=text,
                most_people=MOST_PEOPLE,
            )
        )
    return list(dict.fromkeys(numbers))


def _percent(some: np.ndarray, of: np.ndarray) -> np.ndarray:
    """100 some / of, NaN where `of` is 0."""
    return 100.0 * np.divide(some, of, out=np.full(np.broadcast(some, of).shape, np.nan), where=np.asarray(of) > 0)
