"""Release: the records as a plan shows them, with the area replaced by its region and nothing finer left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .errors import PrivacyError
from .language import tr
from .plan import SUPPRESSED, Plan
from .privacy.kept_fields import KeptField, examine_kept_fields, refuse_kept_fields
from .records.columns import Column, combine_codes, number_keys, smallest_integers
from .records.matching import Records


@dataclass(frozen=True, eq=False)
class Release:
    """The released rows, in an order that depends only on what they show.

    level, region : (R,) int64, 0-based, the finest level first; under one level all levels are 0
    fields : columns by name, quasi-identifiers first
    counts : (R,) records that each row stands for, None where each is one record
    """

    level: np.ndarray
    region: np.ndarray
    fields: Mapping[str, Column]
    counts: np.ndarray | None

    def __len__(self) -> int:
        return len(self.region)

    @property
    def n_records(self) -> int:
        """Number of persons released."""
        return len(self) if self.counts is None else int(self.counts.sum())


def apply(plan: Plan, records: Records, kept: Sequence[KeptField] | None = None) -> Release:
    """Release the records by the plan: each record shows its label or is suppressed.

    kept : what `examine_kept_fields` found; looked at here where None.

    The rows are sorted by what they show: the order they came in, often area by area, would give the areas away.
    For the same reason, rows with counts that show the same are added up. Raises InputError for a kept field that gives
    away the area or the person, and PrivacyError if a recount of the result, from the rows themselves, finds a class
    below k.
    """
    refuse_kept_fields(examine_kept_fields(plan, records) if kept is None else kept)
    table, k = records.table, plan.k
    label = np.append(plan.label_of, SUPPRESSED)[records.cell_of]  # the last entry is for rows in no cell
    rows = np.flatnonzero(label != SUPPRESSED)
    if table.counts is not None:
        rows = rows[table.counts[rows] > 0]
    level, region = plan.level[label[rows]], plan.region[label[rows]]
    shown = {**table.quasi_identifiers, **table.kept}
    fields = {name: Column(c.codes[rows], c.categories) for name, c in shown.items()}
    # Codes follow the sorted categories, so their order is that of the values shown.
    shown_as, distinct = combine_codes(
        [level, region, *(column.codes for column in fields.values())],
        [
            len(plan.levels),
            max(crosswalk.n_regions for crosswalk in plan.levels.crosswalks),
            *(len(column.categories) for column in fields.values()),
        ],
    )
    # Rows that show the same are the same: so many copies of each, or one where rows come with counts.
    if table.counts is None:
        copies, counts = np.bincount(shown_as, minlength=len(distinct)), None
    else:
        copies = np.ones(len(distinct), np.int64)
        counts = np.bincount(shown_as, weights=table.counts[rows], minlength=len(distinct)).astype(np.int64)
    level, region, *codes = distinct.T
    ordered = {
        name: Column(np.repeat(smallest_integers(code, len(column.categories)), copies), column.categories)
        for (name, column), code in zip(fields.items(), codes)
    }
    result = Release(np.repeat(level, copies), np.repeat(region, copies), ordered, counts)
    smallest = smallest_class(result, len(table.quasi_identifiers))
    if smallest is not None and smallest < k:
        raise PrivacyError(tr("The release would hold a class of fewer than {k} records: nothing was written.", k=k))
    for kind, column in table.members.items():
        of_rows = column.codes[rows][np.argsort(shown_as, kind="stable")]
        smallest = smallest_class(result, len(table.quasi_identifiers), of_rows)
        if smallest is not None and smallest < k:
            raise PrivacyError(
                tr("The release would hold a class of fewer than {k} {kind}: nothing was written.", k=k, kind=kind)
            )
    return result


def smallest_class(result: Release, n_quasi_identifiers: int, members: np.ndarray | None = None) -> int | None:
    """Size of the smallest class (level, region and quasi-identifiers) of a release; None where it is empty.

    members : (R,) who each row belongs to; the size is the number of distinct ones then, else of records
    """
    sizes = class_sizes(result, n_quasi_identifiers, members)
    return int(sizes.min()) if len(sizes) else None


def class_sizes(result: Release, n_quasi_identifiers: int, members: np.ndarray | None = None) -> np.ndarray:
    """Size of each class of a release, (C,) int64; arguments as for `smallest_class`."""
    if not len(result):
        return np.empty(0, np.int64)
    columns = list(result.fields.values())[:n_quasi_identifiers]
    key, distinct = combine_codes(
        [result.level, result.region, *(c.codes for c in columns)],
        [int(result.level.max()) + 1, int(result.region.max()) + 1, *(len(c.categories) for c in columns)],
    )
    if members is not None:
        n_members = int(members.max()) + 1
        key = number_keys(key * n_members + members, len(distinct) * n_members)[0] // n_members
    weights = None if members is not None else result.counts
    return np.bincount(key, weights=weights, minlength=len(distinct)).astype(np.int64)
