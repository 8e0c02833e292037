"""Whether neighbouring areas have alike rates: Moran's I, calibrated through the release.

Spread records are alike in neighbouring areas because they are spread, so I is large without any pattern. It is held
against what it is where the outcome falls on records by chance and is spread as the data are.

Moran 1950: Notes on continuous stochastic phenomena; Anselin 1995: Local indicators of spatial association.
"""

from __future__ import annotations

import numpy as np

from ..adjacency import Adjacency
from ..dataclass import dataclass
from ..language import as_data
from ..progress import Progress, silent
from ..scientific import sparse
from .outcome import Outcome, p_values

HIGH_HIGH, LOW_LOW = as_data("high among high"), as_data("low among low")
HIGH_LOW, LOW_HIGH = as_data("high among low"), as_data("low among high")
NOT_TOLD = as_data("not told from chance")
ROUNDING = 1e-9  # of the expected cases of an area


@dataclass(frozen=True, eq=False)
class Moran:
    """I, and that of each of n areas.

    index : of the data; expected, deviation : its mean and standard deviation by chance, through the release
    p_value : of alike neighbours
    residual : (n,), cases less expected cases over the root of expected ones; local : (n,), each area's part of I
    local_p : (n,), that chance gives any area of the map a local I so much larger than usual there
    kind : (n,) of the four words, by the area and its neighbours
    """

    index: float
    expected: float
    deviation: float
    p_value: float
    residual: np.ndarray
    local: np.ndarray
    local_p: np.ndarray
    kind: np.ndarray

    @property
    def z(self) -> float:
        """Standard deviations above its mean by chance."""
        return (self.index - self.expected) / self.deviation if self.deviation > 0 else 0.0


def moran(
    neighbours: Adjacency, outcome: Outcome, n_draws: int = 999, seed: int = 0, progress: Progress = silent
) -> Moran:
    """Moran's I of rates, global and local.

    Parameters
    ----------
    neighbours : Adjacency
        Of the n areas; the neighbours of an area weigh the same, and add up to 1.
    outcome : Outcome
        Of n areas. Those in which nobody is expected are left out.
    n_draws, seed : int
        Of the calibration.
    progress : callable
        Called with the fraction that is done; raises to cancel.

    Returns
    -------
    Moran
        The p-value of each area holds for all areas together: that chance alone finds any is no likelier than it.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from vbas.core.adjacency import adjacency_of_pairs
    >>> from vbas.core.analysis.moran import moran
    >>> from vbas.core.analysis.outcome import Outcome
    >>> at_risk, cases = np.full(8, 100), np.array([30, 32, 29, 31, 5, 6, 4, 5])
    >>> outcome = Outcome(sparse.identity(8, format="csr"), np.zeros(8, int), np.arange(8), at_risk, cases)
    >>> row = adjacency_of_pairs(np.arange(7), np.arange(1, 8), np.ones(7), 8)
    >>> found = moran(row, outcome, n_draws=99)
    >>> bool(found.index > 0.7), found.p_value <= 0.05
    (True, True)
    """
    expected = outcome.expected
    weights = weights_of(neighbours, expected > 0)
    cases = outcome.cases_by_area
    index, local, residual = index_of(cases[None], expected, weights)
    # The data's own as exact as those of the draws: a draw of the same cases is then as large, and not a little less.
    drawn_index, drawn_local = [index], [local.astype(np.float32)]
    done = 0
    for drawn in outcome.drawn(n_draws, seed):
        of_draws = index_of(drawn, expected, weights)
        drawn_index.append(of_draws[0])
        drawn_local.append(of_draws[1].astype(np.float32))
        done += len(drawn)
        progress(done / n_draws)
    indices, locals_ = np.concatenate(drawn_index), np.concatenate(drawn_local)
    # each area by its own mean and deviation, the data among the draws, so that all stay exchangeable
    deviation = locals_.std(axis=0)
    standard = np.divide(locals_ - locals_.mean(axis=0), deviation, out=np.zeros_like(locals_), where=deviation > 1e-9)
    largest = standard[1:].max(axis=1, initial=0.0)
    own, lag = residual[0], weights @ residual[0]
    kind = np.where(own >= 0, np.where(lag >= 0, HIGH_HIGH, HIGH_LOW), np.where(lag >= 0, LOW_HIGH, LOW_LOW))
    return Moran(
        float(index[0]),
        float(indices[1:].mean()) if n_draws else np.nan,
        float(indices[1:].std(ddof=1)) if n_draws > 1 else np.nan,
        float(p_values(index, indices[1:])[0]),
        np.where(expected > 0, own, np.nan),
        np.where(expected > 0, local[0], np.nan),
        np.where(expected > 0, p_values(standard[0], largest), np.nan),
        kind,
    )


def weights_of(neighbours: Adjacency, used: np.ndarray) -> sparse.csr_matrix:
    """(n, n), each row adds up to 1 where the area has neighbours that are used."""
    keep = sparse.diags(used.astype(float))
    matrix = keep @ neighbours.matrix().astype(float) @ keep
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    return sparse.csr_matrix(sparse.diags(np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)) @ matrix)


def index_of(
    cases: np.ndarray, expected: np.ndarray, weights: sparse.csr_matrix
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """I of each draw, (D,), of each area, (D, n), and residuals, (D, n); cases : (D, n)."""
    used = expected > 0
    excess = cases - expected
    # Where all records weigh alike every draw is as expected, and what is left by adding up is no pattern.
    excess[np.abs(excess) <= ROUNDING * expected] = 0.0
    residual = np.divide(excess, np.sqrt(np.maximum(expected, 1e-300)), out=np.zeros_like(cases), where=used)
    residual = np.where(used, residual - residual[:, used].mean(axis=1, keepdims=True), 0.0)
    lag = (weights @ residual.T).T
    squares = np.maximum((residual**2).sum(axis=1), 1e-300)
    total = max(float(weights.sum()), 1e-300)
    n = int(used.sum())
    local = residual * lag * (n / squares)[:, None]
    return local.sum(axis=1) / total, local, residual
