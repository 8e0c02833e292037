"""Counts that are none: a survey weight says how many people a respondent stands for, and nobody of them is known.

A class of k by weight may rest on a single row, and whoever knows that respondent finds them there.
"""

from __future__ import annotations

import numpy as np

from .. import counted
from ..language import all_of, plural, tr
from ..plan import SUPPRESSED, Plan
from ..records.matching import Records

FEWEST_ROWS = 20
MOST_ONES = 0.02  # rows that stand for one record, as a share: in true counts of sparse tables most do
SPARSE = 0.5  # areas and classes that occur together, as a share of all pairs of those that occur
TOO_MANY = 1.05  # records per inhabitant, from which they cannot all live there


def classes_on_few_rows(plan: Plan, records: Records) -> tuple[int, int]:
    """Released classes that rest on fewer than k rows, whatever these stand for, and all released classes."""
    label = np.append(plan.label_of, SUPPRESSED)[records.cell_of]
    rows = np.bincount(label[label != SUPPRESSED], minlength=len(plan.records))[plan.shown]
    return int((rows < plan.k).sum()), len(rows)


def warning_of_weights(plan: Plan, records: Records, population: np.ndarray | None = None) -> str:
    """A warning where RECORD_COUNT looks like a survey weight; empty where it does not, or where rows are records.

    population : (n,) people of each area, None where it is not known. True counts of a table with many classes are
    small where few live, so that many are 1; weights hardly ever are, and may add up to more people than there are.
    """
    counts = records.table.counts
    if counts is None:
        return ""
    counts = counts[records.cell_of >= 0]
    counts = counts[counts > 0]
    total = int(counts.sum())
    signs = []
    if len(counts) >= FEWEST_ROWS:
        ones = float(np.mean(counts == 1))
        cells = records.profile.counts
        pairs = int((records.profile.area_sizes > 0).sum()) * int((records.profile.class_sizes > 0).sum())
        again = 1.0 - cells.nnz / len(counts)
        if ones < MOST_ONES and (cells.nnz < SPARSE * pairs or again > 1.0 - SPARSE):
            signs.append(
                tr(
                    "{ones:.1f} % of its rows stand for one record (the median is {median:.0f}), though "
                    "few live in each area and class",
                    ones=100 * ones,
                    median=np.median(counts),
                )
            )
    people = 0 if population is None else float(population.sum())
    if people and total > TOO_MANY * people:
        signs.append(
            tr(
                "its rows add up to {records}, more than the {people:.0f} people who live there",
                records=counted.records(total),
                people=people,
            )
        )
    if not signs:
        return ""
    few, shown = classes_on_few_rows(plan, records)
    return plural(
        "RECORD_COUNT looks like a survey weight: {signs}. {n} of {shown} released classes "
        "rests on fewer than {k} rows. If each row is one respondent, leave RECORD_COUNT "
        "empty, so that k counts respondents.",
        "RECORD_COUNT looks like a survey weight: {signs}. {n} of {shown} released classes "
        "rest on fewer than {k} rows. If each row is one respondent, leave RECORD_COUNT "
        "empty, so that k counts respondents.",
        few,
        signs=all_of(signs),
        shown=shown,
        k=plan.k,
    )
