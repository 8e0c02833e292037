"""An outcome of released records: who has it, how many would be expected by area, and what chance alone would show.

A test on spread records is calibrated through the release: under the null hypothesis the outcome falls on records by
chance, whatever region they are shown in; what is spread from it, and the statistic of that, has the distribution that
the statistic of the data is held against. The level at which a record is shown may depend on all that makes its class,
but not on the outcome: an outcome that is a quasi-identifier has no such test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..areas import identifier_text
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import written
from ..plain_text import is_missing
from ..progress import Progress, silent
from ..records.columns import Column, combine_codes
from ..scientific import sparse
from ..synthetic.distributions import stream
from .released import ReleasedRows
from .spreading import Spread

DRAWS_AT_ONCE = 250
# A draw by counting takes a step for each case, one by hypergeometric numbers about this many for each cell.
STEPS_A_CELL = 30
MOST_DRAWN = 10**9  # records of a stratum: numpy draws from fewer
MOST_COUNTED = 2**26  # records: each takes a number while they are drawn


@dataclass(frozen=True, eq=False)
class Outcome:
    """Cases among the records at risk, by stratum and profile of weights: Q cells of S strata, in n areas.

    weights : (P, n) sparse, of profiles as in `Spread`
    stratum, profile : (Q,) int64, sorted by stratum; at_risk, cases : (Q,) int64
    population : (n,) people at risk from elsewhere, such as a census; None where the records are their own denominator
    """

    weights: sparse.csr_matrix
    stratum: np.ndarray
    profile: np.ndarray
    at_risk: np.ndarray
    cases: np.ndarray
    population: np.ndarray | None = None

    @property
    def n_cases(self) -> int:
        """All cases."""
        return int(self.cases.sum())

    @property
    def n_at_risk(self) -> int:
        """All records at risk."""
        return int(self.at_risk.sum())

    @property
    def rates(self) -> np.ndarray:
        """Cases over records at risk of each stratum, (S,)."""
        n = int(self.stratum.max(initial=-1)) + 1
        at_risk = np.bincount(self.stratum, self.at_risk, n)
        return np.asarray(np.bincount(self.stratum, self.cases, n) / np.maximum(at_risk, 1))

    def by_area(self, of_cells: np.ndarray) -> np.ndarray:
        """Numbers of the cells, (Q,), spread over the areas, (n,)."""
        return np.asarray(self.weights.T @ np.bincount(self.profile, of_cells, self.weights.shape[0]))

    @property
    def cases_by_area(self) -> np.ndarray:
        """Estimated cases of each area, (n,)."""
        return self.by_area(self.cases)

    @property
    def denominator(self) -> np.ndarray:
        """People at risk in each area, (n,): estimated records, or those from elsewhere."""
        return self.by_area(self.at_risk) if self.population is None else self.population

    @property
    def expected(self) -> np.ndarray:
        """Cases that each area would have if all had the rate of their stratum, (n,); they add up to all cases."""
        if self.population is not None:
            return np.asarray(self.population * (self.n_cases / self.population.sum()))
        return self.by_area(self.rates[self.stratum] * self.at_risk)

    def information(self) -> np.ndarray:
        """The covariance of estimated cases of areas if the outcome fell on records by chance, (n, n) float.

        Without the factor 1 - rate of a common outcome, so that its diagonal is, where all areas are known, expected
        cases times 1 minus their share of all.
        """
        rates, n_profiles = self.rates, self.weights.shape[0]
        own = np.bincount(self.profile, rates[self.stratum] * self.at_risk, n_profiles)
        strata = sparse.csr_matrix((self.at_risk.astype(float), (self.stratum, self.profile)), (len(rates), n_profiles))
        by_stratum = (strata @ self.weights).toarray()
        people = np.maximum(by_stratum.sum(axis=1), 1.0)
        squares = (self.weights.T @ sparse.diags(own) @ self.weights).toarray()
        return np.asarray(squares - by_stratum.T @ (by_stratum * (rates / people)[:, None]))

    def drawn(self, n_draws: int, seed: int = 0, progress: Progress = silent) -> Iterator[np.ndarray]:
        """Estimated cases by area if the outcome fell on the records of each stratum by chance, (D, n) at a time.

        As many cases of each stratum as there are; n_draws in all. Raises InputError for strata too large to draw from.
        """
        rng = stream(seed, "null")
        starts = np.searchsorted(self.stratum, np.arange(len(self.rates) + 1, dtype=np.int64))
        spread = self.weights.T.tocsr()
        for first in range(0, n_draws, DRAWS_AT_ONCE):
            n = min(DRAWS_AT_ONCE, n_draws - first)
            of_profiles = np.zeros((n, self.weights.shape[0]))
            for start, stop in zip(starts.tolist(), starts[1:].tolist()):
                at_risk, cases = self.at_risk[start:stop], int(self.cases[start:stop].sum())
                if not cases:
                    continue
                people = int(at_risk.sum())
                if people >= MOST_DRAWN:
                    raise InputError.saying(
                        "So many records are compared with each other ({n}) that chance cannot be drawn among them: "
                        "name more fields in ADJUST, or look at fewer records.",
                        n=people,
                    )
                by_count = min(cases, people - cases) < STEPS_A_CELL * len(at_risk)
                draw = rng.multivariate_hypergeometric
                of_profiles[:, self.profile[start:stop]] += (
                    draw(at_risk, cases, size=n, method="count")
                    if by_count and people < MOST_COUNTED
                    else draw(at_risk, cases, size=n, method="marginals")
                )
            progress((first + n) / n_draws)
            yield np.ascontiguousarray((spread @ of_profiles.T).T)


def outcome_of(
    rows: ReleasedRows,
    spread: Spread,
    is_case: np.ndarray,
    strata: tuple[str, ...] = (),
    population: np.ndarray | None = None,
) -> Outcome:
    """The outcome of released rows.

    Parameters
    ----------
    rows : ReleasedRows
        R rows, in n areas.
    spread : Spread
        Their weights.
    is_case : ndarray of shape (R,), int
        1 for a case, 0 for none, -1 where it is not known: such a row is left out.
    strata : tuple of str
        Fields of the release by which rates may differ anyhow, such as age: expected cases take account of them.
    population : ndarray of shape (n,), optional
        People at risk by area, in place of the records that are no cases; those of areas that the crosswalk leaves out
        do not count.

    Returns
    -------
    Outcome
        With as many strata as combinations occur.

    Raises
    ------
    InputError
        Where there is no case, or nobody at risk.

    Examples
    --------
    >>> import numpy as np
    >>> from vbas.core.analysis.outcome import outcome_of
    >>> from vbas.core.analysis.released import released_rows
    >>> from vbas.core.analysis.spreading import spread
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.levels import Levels, own_regions
    >>> from vbas.core.records.columns import column_from_values
    >>> areas = make_areas(["a", "b"], [(0, 0), (900, 0)], [3, 5])
    >>> rows = released_rows(areas, Levels((own_regions(2),)), {"vbas_region": column_from_values([1, 1, 1, 2])})
    >>> outcome = outcome_of(rows, spread(rows), np.array([1, 0, 0, 1]))
    >>> outcome.cases_by_area.tolist(), outcome.expected.tolist()
    ([1.0, 1.0], [1.5, 0.5])
    """
    stratum_of, _ = rows.groups(strata)
    known = np.flatnonzero(is_case >= 0)
    records = np.round(rows.records).astype(np.int64)[known]
    cell_of, cells = combine_codes(
        [stratum_of[known], spread.profile_of[known]],
        [int(stratum_of.max(initial=0)) + 1, spread.profiles.shape[0]],
    )
    at_risk = np.bincount(cell_of, records, len(cells)).astype(np.int64)
    cases = np.bincount(cell_of, records * (is_case[known] > 0), len(cells)).astype(np.int64)
    if not cases.sum():
        raise InputError.saying("No released record is a case: say in CASE_FIELD and CASE_VALUES which are.")
    if population is not None:  # of areas in which no record can be shown nobody is at risk
        somewhere = np.any([crosswalk.region_of >= 0 for crosswalk in rows.levels.crosswalks], axis=0)
        population = np.where(somewhere, population, 0.0)
    if population is not None and not population.sum() > 0:
        raise InputError.saying("POPULATION is 0 in every area: choose another field.")
    order = np.argsort(cells[:, 0], kind="stable")
    weights = spread.profiles.copy()
    weights.eliminate_zeros()
    return Outcome(weights, cells[order, 0], cells[order, 1], at_risk[order], cases[order], population)


def cases_of(column: Column, values: tuple[str, ...]) -> np.ndarray:
    """Which rows are cases, (R,) int64: 1, 0, or -1 where the value is missing.

    values : what a case has, as text; empty for a field of 1 and 0, or true and false. Raises InputError where no row
    has one of the values, or, without any, a value is something else.
    """
    if not len(column.categories):
        return np.full(len(column.codes), -1, np.int64)
    # An empty text is no value: so a CSV file writes a field that has none.
    texts = [None if is_missing(value) else identifier_text(value) for value in column.categories.tolist()]
    there = sorted({text for text in texts if text is not None})
    if not values:
        words = {"1": 1, "true": 1, "0": 0, "false": 0}
        strange = [text for text in there if text.lower() not in words]
        if strange:
            raise InputError.saying(
                "CASE_FIELD has values beside 1 and 0 ({first}): say in CASE_VALUES which of them is a case.",
                first=first_values(strange),
            )
        codes = [-1 if text is None else words[text.lower()] for text in texts]
    else:
        absent = [value for value in values if value not in there]
        if absent:
            raise InputError.saying(
                "CASE_FIELD has no value {absent}: it has {there}.",
                absent=first_values(absent),
                there=first_values(there, 12),
            )
        codes = [-1 if text is None else int(text in values) for text in texts]
    return np.array(codes, np.int64)[column.codes]


def p_values(observed: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """The share of statistics, the data's own among them, that are at least as large as each observed one.

    observed : (m,); drawn : (D,). Barnard 1963: discussion of Bartlett.
    """
    drawn = np.sort(drawn)
    at_least = len(drawn) - np.searchsorted(drawn, observed - 1e-12 * (1 + np.abs(observed)))
    return np.asarray((1 + at_least) / (len(drawn) + 1))


def p_text(p_value: float) -> str:
    """A p-value to a thousandth, and one that is smaller with its first digit: none is 0."""
    digits = 3 if p_value >= 0.001 else int(np.ceil(-np.log10(max(p_value, 1e-12)) - 1e-9))
    return written(f"{p_value:.{digits}f}")


def with_cases(outcome: Outcome, cases: np.ndarray) -> Outcome:
    """The same records with other cases, (Q,) int64."""
    return replace(outcome, cases=cases)
