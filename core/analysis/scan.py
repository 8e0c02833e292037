"""Where cases cluster: the circular scan statistic, calibrated through the release.

Of every circle around an area's point that holds no more than a share of the expected cases, the likelihood ratio says
how much more likely the cases are if the risk differs inside. A circle's cases are estimated where records are spread;
so they vary less by chance than if every record's area were known. The circle is therefore taken for one of as many
expected cases as have the true variance, its effective expected cases, and of as many cases beyond them as were
estimated. Where all areas are known this is the published statistic.

Kulldorff 1997: A spatial scan statistic.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..dataclass import dataclass
from ..language import as_data
from ..progress import Progress, part, silent
from ..scientific import spatial
from .outcome import Outcome, p_values

POISSON, BERNOULLI = as_data("Poisson"), as_data("Bernoulli")
MODELS = (POISSON, BERNOULLI)
HIGH, LOW, EITHER = as_data("high rates"), as_data("low rates"), as_data("either")
LOOKED_FOR = (HIGH, LOW, EITHER)
LEAST_CASES = 2.0  # effective cases of a cluster
NEAR = 1e-9  # by how much sums may fall short of what they are, or pass it, by rounding
MOST_IN_A_CIRCLE = 1_000  # areas: beyond it a scan of many small areas would take hours


@dataclass(frozen=True, eq=False)
class Cluster:
    """A circle in which the risk differs.

    centre : the area whose point it is drawn around; areas : (m,) int64, those inside, the centre first
    radius : metres; cases, expected : estimated; effective : of the expected cases, as many as their variance has
    relative_risk : inside over outside, with what spreading took off put back; NaN without cases outside
    llr, p_value : of all circles and draws
    """

    centre: int
    areas: np.ndarray
    radius: float
    cases: float
    expected: float
    effective: float
    relative_risk: float
    llr: float
    p_value: float


@dataclass(frozen=True, eq=False)
class ScanResult:
    """clusters : those that do not overlap, the most likely first, whatever their p; most_likely : the first, None
    where no circle has cases enough; drawn : (D,), the largest ratio of each draw."""

    clusters: tuple[Cluster, ...]
    drawn: np.ndarray

    @property
    def most_likely(self) -> Cluster | None:
        """The first."""
        return self.clusters[0] if self.clusters else None


def scan(
    points: np.ndarray,
    outcome: Outcome,
    model: str = POISSON,
    looked_for: str = HIGH,
    largest: float = 0.5,
    n_draws: int = 999,
    seed: int = 0,
    progress: Progress = silent,
    at_most: int = 10,
) -> ScanResult:
    """Scan for clusters by circles.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Of the areas, in metres.
    outcome : Outcome
        Of n areas.
    model : str
        Of MODELS. BERNOULLI takes account of a common outcome, and wants a single stratum and denominators inside.
    looked_for : str
        Of LOOKED_FOR.
    largest : float
        Share of the expected cases that a circle of several areas may hold, above 0 and at most 0.5; an area by itself
        may hold up to half.
    n_draws, seed : int
        Of the calibration.
    progress : callable
        Called with the fraction that is done; raises to cancel.
    at_most : int
        Clusters to give.

    Returns
    -------
    ScanResult
        Each cluster with the p-value of the largest ratio anywhere, which is exact for the first and on the safe side
        for the others.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from vbas.core.analysis.outcome import Outcome
    >>> from vbas.core.analysis.scan import scan
    >>> at_risk, cases = np.full(6, 100), np.array([30, 28, 5, 6, 4, 5])
    >>> outcome = Outcome(sparse.identity(6, format="csr"), np.zeros(6, int), np.arange(6), at_risk, cases)
    >>> found = scan(np.column_stack([np.arange(6) * 500.0, np.zeros(6)]), outcome, n_draws=99).most_likely
    >>> sorted(found.areas.tolist()), found.p_value
    ([0, 1], 0.01)
    """
    circles = Circles(points, outcome, model, looked_for, largest, part(progress, 0.0, 0.15))
    best = np.zeros(0)
    for drawn in outcome.drawn(n_draws, seed):
        done = len(best) / max(n_draws, 1)
        step = part(progress, 0.15 + 0.8 * done, 0.15 + 0.8 * (len(best) + len(drawn)) / n_draws)
        best = np.concatenate([best, circles.largest_of(drawn, step)])
    likeliest = circles.clusters(outcome.cases_by_area, at_most)
    p = p_values(np.array([cluster[0] for cluster in likeliest]), best)
    clusters = [circles.cluster(llr, centre, size, float(at)) for (llr, centre, size), at in zip(likeliest, p)]
    progress(1.0)
    return ScanResult(tuple(clusters), best)


class Circles:
    """All circles: of each area its nearest areas in order, and what is expected in each circle around it."""

    def __init__(
        self, points: np.ndarray, outcome: Outcome, model: str, looked_for: str, largest: float, progress: Progress
    ) -> None:
        self.points, self.outcome, self.looked_for = points, outcome, looked_for
        self.expected = outcome.expected
        self.total, self.rate = float(self.expected.sum()), 0.0
        n = len(points)
        scale = 1.0
        if model == BERNOULLI:
            self.rate = outcome.n_cases / outcome.n_at_risk
            scale = 1.0 / self.rate  # information in people
        people = self.total * scale
        information = outcome.information()
        tree = spatial.cKDTree(points)
        self.order, self.inside, self.effective = [], [], []
        for centre in range(n):
            _, near = tree.query(points[centre], k=min(n, MOST_IN_A_CIRCLE))
            near = np.asarray(near)
            distance = np.hypot(*(points[near] - points[centre]).T)
            near = near[np.lexsort((near, distance))]
            distance = np.sort(distance)
            inside = np.cumsum(self.expected[near])
            n_inside = max(int(np.searchsorted(inside, largest * self.total * (1 + NEAR), side="right")), 1)
            near, inside, distance = near[:n_inside], inside[:n_inside], distance[: n_inside + 1]
            block = information[np.ix_(near, near)]
            added = 2 * np.cumsum(block, axis=1).diagonal() - block.diagonal()
            variance = np.maximum(np.cumsum(added) * scale, 0.0)
            # e (people - e) / people = variance, for the e below half of all
            effective = people / 2 * (1 - np.sqrt(np.maximum(1 - 4 * variance / (people or 1.0), 0.0)))
            # areas at the same distance come in together
            whole = np.append(np.diff(distance) > 0, True)[:n_inside]
            # an area by itself is looked at whatever is asked, but not with more than half, which is the rest's circle
            whole &= inside <= self.total / 2 * (1 + NEAR)
            effective = np.where(whole, effective, 0.0)
            self.order.append(near)
            self.inside.append(inside)
            self.effective.append(effective)
            if centre % 50 == 0:
                progress(centre / n)
        self.people = people

    def _bounds(self, effective: np.ndarray) -> np.ndarray:
        """What the squared excess is multiplied by to be no less than the ratio."""
        of_share = 1.0 if not self.rate else 1.0 / (self.rate * (1 - self.rate)) if self.rate < 1 else 0.0
        with np.errstate(divide="ignore"):
            return np.where(effective > 0, of_share * (1 / effective + 1 / (self.people - effective)), 0.0)

    def _ratio(self, excess: np.ndarray, effective: np.ndarray) -> np.ndarray:
        """The log likelihood ratio of circles, -inf for one with too few cases."""
        if not self.rate:
            cases = np.clip(effective + excess, 0.0, self.total)
            ratio = _entropy(cases, effective) + _entropy(self.total - cases, self.total - effective)
        else:
            cases = np.clip(effective * self.rate + excess, 0.0, effective)
            all_cases, outside = self.rate * self.people, self.people - effective
            rest = np.clip(all_cases - cases, 0.0, outside)
            ratio = _entropy(cases, effective * self.rate) + _entropy(effective - cases, effective * (1 - self.rate))
            ratio += _entropy(rest, outside * self.rate) + _entropy(outside - rest, outside * (1 - self.rate))
        least = cases if self.looked_for == HIGH else np.maximum(cases, effective * (self.rate or 1.0))
        return np.where((least >= LEAST_CASES - NEAR) & (effective > 0), ratio, -np.inf)

    def _of_interest(self, excess: np.ndarray) -> np.ndarray:
        if self.looked_for == HIGH:
            return np.maximum(excess, 0.0)
        return np.minimum(excess, 0.0) if self.looked_for == LOW else excess

    def largest_of(self, drawn: np.ndarray, progress: Progress) -> np.ndarray:
        """The largest ratio of each draw, (D,); drawn : (D, n), cases by area."""
        cases = np.ascontiguousarray(drawn.T)
        best = np.zeros(cases.shape[1])
        for centre, (near, inside, effective) in enumerate(zip(self.order, self.inside, self.effective)):
            excess = np.cumsum(cases[near], axis=0)
            excess -= inside[:, None]
            excess = self._of_interest(excess)
            bound = excess * excess
            bound *= self._bounds(effective)[:, None]
            # the draw's most promising circle first: few others then remain
            first, each = bound.argmax(axis=0), np.arange(len(best), dtype=np.int64)
            np.maximum(best, self._ratio(excess[first, each], effective[first]), out=best)
            size, draw = np.nonzero(bound > best)
            if len(size):
                np.maximum.at(best, draw, self._ratio(excess[size, draw], effective[size]))
            if centre % 50 == 0:
                progress(centre / len(self.order))
        return best

    def ratios(self, cases: np.ndarray) -> Iterator[np.ndarray]:
        """The ratio of each circle around each area; cases : (n,)."""
        for near, inside, effective in zip(self.order, self.inside, self.effective):
            yield self._ratio(self._of_interest(np.cumsum(cases[near]) - inside), effective)

    def clusters(self, cases: np.ndarray, at_most: int, least: float = 0.0) -> list[tuple[float, int, int]]:
        """The likeliest circles that share no area: ratio, centre, number of areas; none with a ratio below `least`."""
        ratios = list(self.ratios(cases))
        taken = np.zeros(len(self.order), bool)
        likeliest: list[tuple[float, int, int]] = []
        while len(likeliest) < at_most:
            best = (0.0, -1, 0)
            for centre, (near, ratio) in enumerate(zip(self.order, ratios)):
                free = int(np.argmax(taken[near])) if taken[near].any() else len(near)
                if free:
                    size = int(np.argmax(ratio[:free]))
                    if ratio[size] > best[0] + 1e-9:
                        best = (float(ratio[size]), centre, size + 1)
            if best[1] < 0 or best[0] < least:
                break
            likeliest.append(best)
            taken[self.order[best[1]][: best[2]]] = True
        return likeliest

    def cluster(self, llr: float, centre: int, size: int, p_value: float) -> Cluster:
        """What is known of a circle."""
        near, effective = self.order[centre][:size], float(self.effective[centre][size - 1])
        observed = float(self.outcome.cases_by_area[near].sum())
        expected = float(self.inside[centre][size - 1])
        own = effective * (self.rate or 1.0)
        cases = own + observed - expected
        left = self.total - cases
        # Where no case is outside, adding up leaves next to nothing in place of nothing.
        elsewhere = 0 < own < self.total and left > 1e-9 * self.total
        risk = cases / own / (left / (self.total - own)) if elsewhere else np.nan
        radius = float(np.hypot(*(self.points[near] - self.points[centre]).T).max())
        return Cluster(centre, near, radius, observed, expected, own, risk, llr, p_value)


def _entropy(cases: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """cases log(cases / expected), 0 where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(cases > 0, cases * np.log(cases / np.maximum(expected, 1e-300)), 0.0)
