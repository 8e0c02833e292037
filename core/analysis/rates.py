"""Maps of rates: cases over people at risk by area, smoothed, with what is known of each.

An area's rate varies by chance, the more the fewer cases are expected; a smoothed one borrows from others. What the
release hides adds to it: records that are spread may live in any area of their region.

Clayton & Kaldor 1987: Empirical Bayes estimates of age-standardized relative risks for use in disease mapping;
Marshall 1991: Mapping disease and mortality rates using empirical Bayes estimators; Fay & Feuer 1997: Confidence
intervals for directly standardized rates: a method based on the gamma distribution.
"""

from __future__ import annotations

import numpy as np

from ..dataclass import dataclass
from ..language import as_data
from ..progress import Progress, silent
from ..scientific import spatial, special
from ..synthetic.distributions import stream
from .outcome import Outcome, with_cases

KERNEL, EMPIRICAL_BAYES, RAW = as_data("kernel"), as_data("empirical Bayes"), as_data("none")
SMOOTHINGS = (KERNEL, EMPIRICAL_BAYES, RAW)
FOLDS, BANDWIDTHS = 5, 14
# How much the rate of all is believed beside what the kernel takes in: in the cases that it usually expects.
PRIORS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
AT_ONCE = 1_000  # rows of distances
ROUNDING = 1e-12  # of a variance of ratios: what adding up leaves where all are 1


@dataclass(frozen=True, eq=False)
class RateMap:
    """Rates of n areas, relative to that of all: 1 is as many cases as expected.

    cases, expected : estimated, (n,); raw_ratio : of them, NaN where none is expected
    ratio : smoothed; ratio_low, ratio_high : its 95 % interval, by chance and places together
    sd_chance : standard deviation of the ratio by chance alone; sd_places : what hidden places of records add
    bandwidth : of the kernel in metres, 0 for none; prior : expected cases that the rate of all weighs as much as
    """

    cases: np.ndarray
    expected: np.ndarray
    raw_ratio: np.ndarray
    ratio: np.ndarray
    ratio_low: np.ndarray
    ratio_high: np.ndarray
    sd_chance: np.ndarray
    sd_places: np.ndarray
    bandwidth: float
    prior: float = 0.0

    @property
    def hidden_share(self) -> np.ndarray:
        """What hidden places make up of the variance of each ratio, (n,); NaN where it has none."""
        variance = self.sd_chance**2 + self.sd_places**2
        return np.divide(self.sd_places**2, variance, out=np.full(len(variance), np.nan), where=variance > 0)


def rate_map(
    points: np.ndarray,
    outcome: Outcome,
    smoothing: str = KERNEL,
    bandwidth: float = 0.0,
    seed: int = 0,
    progress: Progress = silent,
) -> RateMap:
    """Rates by area relative to the rate of all, smoothed.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Of the areas, in metres.
    outcome : Outcome
        Of n areas; with strata the ratios are standardised by them.
    smoothing : str
        Of SMOOTHINGS.
    bandwidth : float
        Standard deviation of the kernel in metres; 0 to have it chosen, see `chosen_bandwidth`.
    seed : int
        Of that choice.
    progress : callable
        Called with the fraction that is done; raises to cancel.

    Returns
    -------
    RateMap
        The interval is of the smoothed ratio: what smoothing, and spreading over a region, take off a peak is not in
        it. Empirical Bayes that finds no more than chance believes the rate of all: its intervals are 1 alone then.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from vbas.core.analysis.outcome import Outcome
    >>> from vbas.core.analysis.rates import RAW, rate_map
    >>> at_risk, cases = np.array([100, 100]), np.array([15, 5])
    >>> outcome = Outcome(sparse.identity(2, format="csr"), np.zeros(2, int), np.arange(2), at_risk, cases)
    >>> found = rate_map(np.array([[0.0, 0.0], [900.0, 0.0]]), outcome, RAW)
    >>> found.ratio.tolist(), found.sd_places.tolist()
    ([1.5, 0.5], [0.0, 0.0])
    """
    cases, expected = outcome.cases_by_area, outcome.expected
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = np.where(expected > 0, cases / expected, np.nan)
    if smoothing == KERNEL:
        widths = np.array([bandwidth]) if bandwidth else None
        bandwidth, prior = chosen_bandwidth(points, outcome, seed, progress, widths)
        kernel = kernel_of(points, bandwidth)
        below = kernel @ expected + prior
        ratio = kernel_ratio(kernel, outcome, prior)
        factors = np.divide(kernel, below[:, None], out=np.zeros_like(kernel), where=below[:, None] > 0)
        own = factors.diagonal()
        known, hidden = _variances(outcome, factors)
    else:
        bandwidth = prior = 0.0
        share = np.ones(len(raw)) if smoothing == RAW else _credibility(outcome, raw)
        ratio = np.where(expected > 0, 1 + share * (np.nan_to_num(raw) - 1), np.nan if smoothing == RAW else 1.0)
        own = np.divide(share, expected, out=np.zeros_like(expected), where=expected > 0)
        known, hidden = _variances(outcome, np.diag(own))
    low, high = _interval(ratio, known + hidden, own)
    progress(1.0)
    return RateMap(cases, expected, raw, ratio, low, high, np.sqrt(known), np.sqrt(hidden), bandwidth, prior)


def kernel_of(points: np.ndarray, bandwidth: float) -> np.ndarray:
    """Weights of areas for each other by their distance, (n, n): a normal density without its factor."""
    kernel = spatial.distance.cdist(points, points, "sqeuclidean")
    kernel /= -2 * bandwidth**2
    return np.exp(kernel, out=kernel)


def kernel_ratio(kernel: np.ndarray, outcome: Outcome, prior: float) -> np.ndarray:
    """Ratios smoothed by a kernel, (n, n), and a prior in expected cases, (n,); NaN where nothing is expected near."""
    below = kernel @ outcome.expected + prior
    return np.divide(kernel @ outcome.cases_by_area + prior, below, out=np.full(len(below), np.nan), where=below > 0)


def chosen_bandwidth(
    points: np.ndarray,
    outcome: Outcome,
    seed: int = 0,
    progress: Progress = silent,
    widths: np.ndarray | None = None,
) -> tuple[float, float]:
    """The width and the prior that foretell best which records are cases: nothing but the release is asked.

    The cases are dealt at random into parts; the map made from all parts but one gives the likelihood of the cases of
    that part, each by the mean of the map over where it may live. Of all pairs the one with the largest sum.

    widths : those to try, in metres; `candidate_bandwidths` where None
    Returns the width in metres, and the prior in expected cases: the ratio of an area is the cases that the kernel
    takes in and the prior over the expected ones and the prior (Clayton & Kaldor 1987).
    """
    widths = candidate_bandwidths(points, outcome.expected) if widths is None else widths
    if not outcome.expected.any():  # nobody is a case: all maps foretell as well
        return float(widths[-1]), 0.0
    rng = stream(seed, "bandwidth")
    dealt = [held for held in _dealt(rng, outcome.cases) if 0 < held.sum() < outcome.n_cases]
    parts = [_Held(outcome, held) for held in dealt]
    expected = outcome.expected
    best = (-np.inf, float(widths[-1]), 0.0)
    for at, width in enumerate(widths.tolist()):
        kernel = kernel_of(points, width)
        below = kernel @ expected
        usual = float(np.median(below[expected > 0]))
        above = [kernel @ part.others for part in parts]
        for prior in (usual * share for share in PRIORS):
            score = sum(part.foretold(of, below, prior, expected) for part, of in zip(parts, above))
            best = max(best, (score, width, prior))
        progress((at + 1) / len(widths))
    return best[1:]


class _Held:
    """Cases that are held back, to be foretold from the others."""

    def __init__(self, outcome: Outcome, held: np.ndarray) -> None:
        self.others = with_cases(outcome, outcome.cases - held).cases_by_area * (
            outcome.n_cases / (outcome.n_cases - held.sum())
        )
        of_profiles = np.bincount(outcome.profile, held, outcome.weights.shape[0])
        seen = np.flatnonzero(of_profiles)
        self.weights, self.cases = outcome.weights[seen], of_profiles[seen]
        self.share = float(held.sum()) / outcome.n_cases

    def foretold(self, above: np.ndarray, below: np.ndarray, prior: float, expected: np.ndarray) -> float:
        """Their log likelihood; above : (n,), what the kernel takes in of the others."""
        map_of = np.divide(above + prior, below + prior, out=np.zeros_like(below), where=below + prior > 0)
        foretold = self.weights @ map_of
        return float(self.cases @ np.log(np.maximum(foretold, 1e-12))) - self.share * float(expected @ map_of)


def candidate_bandwidths(points: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Widths that are tried, in metres: from half the usual distance of neighbours to a third of the territory."""
    used = points[expected > 0] if (expected > 0).sum() > 1 else points
    nearest, _ = spatial.cKDTree(used).query(used, k=2)
    near = float(np.median(nearest[:, 1])) or float(nearest[:, 1].max()) or 1.0
    extent = float(np.hypot(*np.ptp(used, axis=0)))
    return np.geomspace(near / 2, max(extent / 3, near), BANDWIDTHS)


def _dealt(rng: np.random.Generator, cases: np.ndarray) -> list[np.ndarray]:
    """The cases of each cell in FOLDS parts at random, each (Q,)."""
    left, parts = cases.copy(), []
    for fold in range(FOLDS - 1):
        taken = rng.binomial(left, 1 / (FOLDS - fold))
        parts.append(taken)
        left = left - taken
    return [*parts, left]


def _credibility(outcome: Outcome, raw: np.ndarray) -> np.ndarray:
    """How much of each area's own ratio is believed, (n,), from 0 to 1 (Marshall's global estimator).

    The variance of a ratio by chance is that through the release: less than 1 over expected cases where records are
    spread.
    """
    expected = outcome.expected
    used = expected > 0
    chance = np.divide(outcome.information().diagonal(), expected**2, out=np.zeros_like(expected), where=used)
    share = expected / expected.sum()
    mean = float((share * np.nan_to_num(raw)).sum())
    between = float((share[used] * (raw[used] - mean) ** 2).sum() - (share * chance).sum())
    if between <= ROUNDING:
        return np.zeros(len(raw))
    return np.where(used, between / (between + chance), 0.0)


def _variances(outcome: Outcome, factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The variance of each smoothed ratio by chance, and what hidden places add to it, (n,) each.

    factors : (n, n), what a case in an area adds to each ratio. A case of a profile adds the mean of its factors over
    where it may live; where it really lives adds their variance there.
    """
    cases = np.bincount(outcome.profile, outcome.cases, outcome.weights.shape[0])
    seen = cases > 0
    weights, cases = outcome.weights[seen], cases[seen]
    known = np.zeros(len(factors))
    whole = np.zeros(len(factors))
    for start in range(0, len(factors), AT_ONCE):
        rows = factors[start : start + AT_ONCE]
        known[start : start + AT_ONCE] = ((weights @ rows.T) ** 2).T @ cases
        whole[start : start + AT_ONCE] = (rows**2) @ (weights.T @ cases)
    hidden = np.maximum(whole - known, 0.0)
    return known, np.where(hidden > 1e-12 * np.maximum(whole, 1e-300), hidden, 0.0)


def _interval(ratio: np.ndarray, variance: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 95 % interval of ratios as of a Poisson count with that mean and variance (Garwood 1936).

    own : (n,), what a case in the area itself adds to its ratio, the most that any case adds. Above, the interval is
    that of one case more, which may be of the area itself (Fay & Feuer 1997): far from all cases each adds next to
    nothing, and what one there would add is not known from them.
    """
    some = variance > 0
    count = np.divide(ratio**2, variance, out=np.ones_like(ratio), where=some)
    unit = np.divide(variance, ratio, out=np.ones_like(ratio), where=some)
    low = np.where(some, special.gammaincinv(np.maximum(count, 1e-9), 0.025) * unit, ratio)
    more, wider = ratio + own, variance + own**2
    count = np.divide(more**2, wider, out=np.ones_like(ratio), where=some)
    unit = np.divide(wider, more, out=np.ones_like(ratio), where=some)
    high = np.where(some, special.gammaincinv(count, 0.975) * unit, ratio + special.gammaincinv(1.0, 0.975) * own)
    return np.minimum(low, ratio), np.maximum(high, ratio)
