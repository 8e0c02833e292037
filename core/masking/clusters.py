"""What masking leaves of clusters: sensitivity and specificity of a detection, before and after.

Clusters are planted among known households, cases drawn, masked and searched for, so that what is found can be held
against what is there. The search is a plain circular scan with the Poisson model (Kulldorff 1997); any other function
from cases to households may take its place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..dataclass import dataclass
from ..errors import InputError
from ..progress import Progress, part, silent
from ..scientific import special
from .populations import Households

# Places of cases (c, 2), planar metres, to the likelihood ratio of the most likely cluster, as a logarithm, and which
# households (h,) bool it holds.
Detect = Callable[[np.ndarray], tuple[float, np.ndarray]]

CENTRES = 300  # circles are drawn around so many households at most
SHARES = (
    np.arange(1, 51, dtype=np.int64) / 100.0
)  # of the population, that a circle may hold; half at most, as is usual
NULL_DRAWS = 99  # of cases without a cluster, drawn from the same masked places
LEVEL = 0.05
_AT_ONCE = 4_000_000


class CircularScan:
    """Kulldorff's circular scan: of all circles, the one in which cases most exceed what its population promises.

    households : the population; circles lie around `centres` of them and hold each of `shares` of it.
    """

    def __init__(
        self,
        households: Households,
        rng: np.random.Generator,
        centres: int = CENTRES,
        shares: np.ndarray = SHARES,
        progress: Progress = silent,
    ) -> None:
        self._points, weights = households.points, households.weights
        chosen = np.sort(rng.permutation(len(households))[:centres])
        self.centres = self._points[chosen]
        self.radii = np.zeros((len(chosen), len(shares)))
        self.population = np.zeros_like(self.radii)
        for z, centre in enumerate(self.centres):
            apart = _distance(self._points, centre)
            order = np.argsort(apart, kind="stable")
            apart, total = apart[order], weights[order].cumsum()
            first = np.searchsorted(total, shares * total[-1] * (1.0 - 1e-12))
            self.radii[z] = apart[np.minimum(first, len(apart) - 1)]
            self.population[z] = total[np.searchsorted(apart, self.radii[z], side="right") - 1]
            progress((z + 1) / len(chosen))
        self._whole = float(weights.sum())

    def ratios(self, cases: np.ndarray) -> np.ndarray:
        """The logarithm of the likelihood ratio of each circle, (centres, shares); 0 where cases are not in excess.

        c log(c / e) + (C - c) log((C - c) / (C - e)) with c cases in the circle, C in all, e = C times its share of the
        population (Kulldorff 1997, the Poisson model). cases : (C, 2).
        """
        inside = self._cases_inside(cases)
        expected = len(cases) * np.minimum(self.population / self._whole, 1.0)
        outside, rest = len(cases) - inside, len(cases) - expected
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = special.xlogy(inside, inside / expected) + special.xlogy(outside, outside / rest)
        return np.where(inside > expected, ratio, 0.0)

    def most_likely(self, cases: np.ndarray) -> tuple[float, np.ndarray]:
        """The largest ratio, and the households (h,) bool in its circle; none where no circle has an excess."""
        ratios = self.ratios(cases)
        z, s = np.unravel_index(int(ratios.argmax()), ratios.shape)
        if not ratios[z, s] > 0:
            return 0.0, np.zeros(len(self._points), bool)
        return float(ratios[z, s]), _distance(self._points, self.centres[z]) <= self.radii[z, s]

    def _cases_inside(self, cases: np.ndarray) -> np.ndarray:
        """Cases in each circle, (centres, shares) int."""
        counts = np.zeros(self.radii.shape, np.int64)
        size = max(_AT_ONCE // max(len(cases) * self.radii.shape[1], 1), 1)
        for start in range(0, len(self.centres), size):
            some = slice(start, start + size)
            apart = _distance(cases[None], self.centres[some, None])
            counts[some] = (apart[:, None, :] <= self.radii[some, :, None]).sum(axis=2)
        return counts


def agreement(true: np.ndarray, detected: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Sensitivity and specificity of clusters, per cent: how much of the true ones is found, and how much of the rest
    is not.

    true, detected : (h,) bool, what lies in a cluster; weights : (h,) people. NaN where nobody is in one, or everybody.
    """
    within, without = weights[true].sum(), weights[~true].sum()
    return (
        100.0 * float(weights[true & detected].sum() / within) if within > 0 else float("nan"),
        100.0 * float(weights[~true & ~detected].sum() / without) if without > 0 else float("nan"),
    )


@dataclass(frozen=True)
class Detection:
    """What is found of planted clusters, in per cent, on average over them.

    clusters_found : how many are significant; sensitivity, specificity : as in `agreement`; a cluster that is not
    significant is not found, so its sensitivity is 0 and its specificity 100
    """

    clusters_found: float
    sensitivity: float
    specificity: float


@dataclass(frozen=True, eq=False)
class PlantedClusters:
    """Clusters planted among n of h households, and their cases.

    rows : (n,) the households that can be masked; weights : (n,) people
    truth : (t, n) bool, who lies in each cluster; cases : (t, c) positions among the n, cases of each; null : (d, c)
    cases without any cluster; detect : finds the most likely cluster among the n households; before : what it finds of
    the clusters from the true places
    """

    rows: np.ndarray
    weights: np.ndarray
    truth: np.ndarray
    cases: np.ndarray
    null: np.ndarray
    detect: Detect
    before: Detection

    def detection(self, places: np.ndarray, progress: Progress = silent) -> Detection:
        """What is found from masked places, (h, 2), NaN for a household that was not masked, whose cases are lost."""
        return _detected(places[self.rows], self.weights, self.truth, self.cases, self.null, self.detect, progress)


def plant_clusters(
    households: Households,
    can_be_masked: np.ndarray,
    clusters: int,
    cases: int,
    relative_risk: float,
    percent: float,
    rng: np.random.Generator,
    detect: Callable[[Households], Detect] | None = None,
    progress: Progress = silent,
) -> PlantedClusters:
    """Plant circles that hold a share of the households, one at a time, and draw cases.

    can_be_masked : (h,) bool, such as those in an area; clusters, cases : numbers, at least 1; relative_risk : of the
    households in a cluster, above 1; percent : of the households that a cluster holds, 0 to 50; detect : for these
    households, a detection; None for the circular scan. A case may be drawn from a household again. Raises InputError
    where fewer than three households can be masked.
    """
    rows = np.flatnonzero(can_be_masked)
    points, weights = households.points[rows], households.weights[rows]
    if len(rows) < 3:
        raise InputError.saying(
            "Clusters cannot be planted (PLANTED_CLUSTERS): fewer than three households lie in an area with people. "
            "Leave it at 0, or give the HOUSEHOLDS of these AREAS."
        )
    own = Households(points, weights)
    find = CircularScan(own, rng, progress=part(progress, 0.0, 0.5)).most_likely if detect is None else detect(own)
    truth = np.zeros((clusters, len(rows)), bool)
    drawn = np.zeros((clusters, cases), np.int64)
    for t, middle in enumerate(rng.integers(0, len(rows), clusters)):
        apart = _distance(points, points[middle])
        order = np.argsort(apart, kind="stable")
        last = np.searchsorted(weights[order].cumsum(), 0.01 * percent * weights.sum())
        truth[t] = apart <= apart[order[min(int(last), len(rows) - 1)]]
        risk = weights * np.where(truth[t], relative_risk, 1.0)
        drawn[t] = rng.choice(len(rows), cases, p=risk / risk.sum())
    null = rng.choice(len(rows), (NULL_DRAWS, cases), p=weights / weights.sum())
    before = _detected(points, weights, truth, drawn, null, find, part(progress, 0.5, 1.0))
    return PlantedClusters(rows, weights, truth, drawn, null, find, before)


def _detected(
    places: np.ndarray,
    weights: np.ndarray,
    truth: np.ndarray,
    cases: np.ndarray,
    null: np.ndarray,
    detect: Detect,
    progress: Progress = silent,
) -> Detection:
    """What is found of each cluster, on average. What counts as significant is drawn from the same places, so that the
    masking alone makes no cluster."""
    placed = np.isfinite(places).all(axis=1)
    by_chance = np.zeros(len(null))
    for d, own in enumerate(null):
        by_chance[d] = detect(places[own[placed[own]]])[0]
        progress((d + 1) / (len(null) + len(cases)))
    measures = np.zeros((len(truth), 3))
    for t, own in enumerate(cases):
        ratio, inside = detect(places[own[placed[own]]])
        significant = ratio > 0 and (1 + int((by_chance >= ratio).sum())) / (1 + len(null)) <= LEVEL
        within = inside if significant else np.zeros(len(weights), bool)
        progress((len(null) + t + 1) / (len(null) + len(cases)))
        measures[t] = (100.0 * significant, *agreement(truth[t], within, weights))
    return Detection(*(float(share) for share in measures.mean(axis=0)))


def _distance(points: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Metres from points (…, 2) to centres (…, 2), which broadcast."""
    return np.asarray(np.hypot(points[..., 0] - centre[..., 0], points[..., 1] - centre[..., 1]))
