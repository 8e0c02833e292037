"""Counts that are none: a survey weight says how many people a respondent stands for, and nobody of them is known.

A class of k by weight may rest on a single row, and whoever knows that respondent finds them there.
"""

from __future__ import annotations

import numpy as np

from .. import counted
from ..dataclass import dataclass
from ..language import all_of, plural, tr
from ..plan import SUPPRESSED, Plan
from ..profile import Profile
from ..records.matching import Records

FEWEST_ROWS = 20
MOST_ONES = 0.02  # rows that stand for one record, as a share: in true counts of sparse tables most do
SPARSE = 0.5  # areas and classes that occur together, as a share of all pairs of those that occur
TOO_MANY = 1.05  # records per inhabitant, from which they cannot all live there


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows that stand for several records each, those of no known area and those of none left out.

    profile : what they are counted in; cell : (r,) the cell of it that each is in; count : (r,) the records that each
    stands for; rows : (r,) how many such rows there are
    """

    profile: Profile
    cell: np.ndarray
    count: np.ndarray
    rows: np.ndarray

    @property
    def n_rows(self) -> int:
        """All of them."""
        return int(self.rows.sum())

    @property
    def median(self) -> float:
        """The median of the records that a row stands for."""
        order = np.argsort(self.count, kind="stable")
        upto, n = np.cumsum(self.rows[order]), self.n_rows
        middle = np.searchsorted(upto, [(n - 1) // 2 + 1, n // 2 + 1])
        return float(self.count[order][middle].mean())


def counted_rows(records: Records) -> CountedRows:
    """The rows of records; without counts each stands for one."""
    counts = np.ones(len(records.cell_of), np.int64) if records.table.counts is None else records.table.counts
    there = np.flatnonzero((records.cell_of >= 0) & (counts > 0))
    return CountedRows(
        records.profile, records.cell_of[there].astype(np.int64), counts[there], np.ones(len(there), np.int64)
    )


def classes_on_few_rows(plan: Plan, rows: CountedRows) -> tuple[int, int]:
    """Released classes that rest on fewer than k rows, whatever these stand for, and all released classes."""
    equivalence_class = plan.equivalence_class_of[rows.cell]
    there = equivalence_class != SUPPRESSED
    behind = np.bincount(equivalence_class[there], rows.rows[there], minlength=len(plan.records))[plan.released]
    return int((behind < plan.k).sum()), len(behind)


def warning_of_weights(plan: Plan, rows: CountedRows, population: np.ndarray | None = None) -> str:
    """A warning where RECORD_COUNT looks like a survey weight; empty where it does not.

    plan : of the cells that the rows are counted in; population : (n,) people of each area, None where it is
    not known. True counts of a table with many classes are small where few live, so that many are 1; weights hardly
    ever are, and may add up to more people than there are.
    """
    n_rows, cells = rows.n_rows, rows.profile.counts
    total = int((rows.count * rows.rows).sum())
    signs = []
    if n_rows >= FEWEST_ROWS:
        ones = float(rows.rows[rows.count == 1].sum() / n_rows)
        pairs = int((rows.profile.area_sizes > 0).sum()) * int((rows.profile.class_sizes > 0).sum())
        again = 1.0 - cells.nnz / n_rows
        if ones < MOST_ONES and (cells.nnz < SPARSE * pairs or again > 1.0 - SPARSE):
            signs.append(
                tr(
                    "{ones:.1f} % of its rows stand for one record (the median is {median:.0f}), though "
                    "few live in each area and class",
                    ones=100 * ones,
                    median=rows.median,
                )
            )
    people = 0 if population is None else float(population.sum())
    if people and total > TOO_MANY * people:
        signs.append(
            tr(
                "its rows add up to {records}, more than the population there, {people:.0f}",
                records=counted.records(total),
                people=people,
            )
        )
    if not signs:
        return ""
    few, released = classes_on_few_rows(plan, rows)
    return plural(
        "RECORD_COUNT looks like a survey weight: {signs}. {n} of {shown} released classes "
        "rests on fewer than {k} rows. If each row is one respondent, leave RECORD_COUNT "
        "empty, so that k counts respondents.",
        "RECORD_COUNT looks like a survey weight: {signs}. {n} of {shown} released classes "
        "rest on fewer than {k} rows. If each row is one respondent, leave RECORD_COUNT "
        "empty, so that k counts respondents.",
        few,
        signs=all_of(signs),
        shown=released,
        k=plan.k,
    )
