"""Release: the records as a plan shows them, with the area replaced by its region and nothing finer left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from .dataclass import dataclass
from .errors import PrivacyError
from .language import plural, tr
from .plan import Plan, of_rows
from .privacy.diversity import shares_of
from .privacy.kept_field import KeptField
from .privacy.kept_fields import examine_kept_fields, refuse_kept_fields
from .privacy.requirement import Requirement
from .records.columns import Column, different_rows, number_keys, smallest_integers
from .records.matching import Records
from .records.table import RecordTable

# What a run says that shows nothing, in its log and its report.
NOTHING_RELEASED = tr(
    "No record could be released: all were suppressed. Choose fewer quasi-identifiers, or fewer regions."
)
NOTHING_RELEASED_NESTED = tr("No record could be released: all were suppressed. Choose fewer quasi-identifiers.")


def nothing_released(requirement: Requirement, nested: bool) -> str:
    """Why a run shows nothing, and what to do: where no class of any people could meet what is asked of a sensitive
    field, that field is named, as neither fewer quasi-identifiers nor fewer regions help then.
    """
    for shares in requirement.shares if requirement.asks_for_values else ():
        n_values = len(np.unique(shares.value))
        if 0 < n_values < requirement.l_diversity:
            return plural(
                "No record could be released: field “{field}” has {n} value in all records, and L_DIVERSITY asks every "
                "class for {asked}. Set L_DIVERSITY to {n}, or take “{field}” out of SENSITIVE.",
                "No record could be released: field “{field}” has {n} values in all records, and L_DIVERSITY asks "
                "every class for {asked}. Set L_DIVERSITY to {n} at most, or take “{field}” out of SENSITIVE.",
                n_values,
                field=shares.field,
                asked=requirement.l_diversity,
            )
        if n_values and 100.0 / n_values > requirement.max_share:
            return plural(
                "No record could be released: field “{field}” has {n} value in all records, so that {percent:.4g} % of "
                "every class have it, and MAX_SHARE allows {asked:g} %. Set MAX_SHARE to 100, or take “{field}” out of "
                "SENSITIVE.",
                "No record could be released: field “{field}” has {n} values in all records, so that at least "
                "{percent:.4g} % of every class have one of them, and MAX_SHARE allows {asked:g} %. Set MAX_SHARE "
                "higher, or take “{field}” out of SENSITIVE.",
                n_values,
                field=shares.field,
                percent=100.0 / n_values,
                asked=requirement.max_share,
            )
    return NOTHING_RELEASED_NESTED if nested else NOTHING_RELEASED


@dataclass(frozen=True, eq=False)
class Release:
    """What is released, each different row once, in an order that depends only on what rows show.

    level, region : (R,) of the smallest types that hold them, 0-based, the finest level first; under one level all
    levels are 0
    fields : columns by name, quasi-identifiers first
    counts : (R,) int64, records that show this row
    counted : whether the row is given once, with its count, as the records came; else once for each record
    """

    level: np.ndarray
    region: np.ndarray
    fields: Mapping[str, Column]
    counts: np.ndarray
    counted: bool = False

    def __len__(self) -> int:
        """Number of rows that are given."""
        return len(self.region) if self.counted else self.n_records

    @property
    def rows(self) -> np.ndarray:
        """The position in the arrays of each row that is given, (n,) int64."""
        return (
            np.arange(len(self.region), dtype=np.int64)
            if self.counted
            else np.repeat(np.arange(len(self.region), dtype=np.int64), self.counts)
        )

    @property
    def n_records(self) -> int:
        """Number of records released."""
        return int(self.counts.sum())


def apply(
    plan: Plan, records: Records, kept: Sequence[KeptField] | None = None, requirement: Requirement | None = None
) -> Release:
    """Release the records by the plan: each record shows its equivalence class or is suppressed.

    The rows are sorted by what they show: the order they came in, often area by area, would give the areas away.
    For the same reason, rows with counts that show the same are added up.

    Parameters
    ----------
    plan : Plan
        Of the profile of these records, or made from one.
    records : Records
        N rows.
    kept : sequence of KeptField, optional
        What `examine_kept_fields` found; looked at here where None.
    requirement : Requirement, optional
        What is asked of the values of sensitive fields, counted once more here.

    Returns
    -------
    Release
        Each different row once, with its count.

    Raises
    ------
    InputError
        For a kept field that gives away the area or the person.
    PrivacyError
        If a recount of the result, from the rows themselves, finds a class below k, or one whose people have more in
        common than is asked for.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.plan import suppress
    >>> from vbas.core.release import apply
    >>> release = apply(suppress(records.profile, crosswalk, k=2), records)
    >>> sex = release.fields["sex"]
    >>> list(zip(release.region.tolist(), sex.categories[sex.codes].tolist(), release.counts.tolist()))
    [(0, 'F', 2), (0, 'M', 2), (1, 'F', 3)]
    """
    table, k = records.table, plan.k
    if table.kept:
        refuse_kept_fields(examine_kept_fields(plan, records) if kept is None else kept)
    n_regions = max(crosswalk.n_regions for crosswalk in plan.levels.crosswalks)
    level, region = (
        of_rows(of_rows(smallest_integers(of_class, n), plan.counted.equivalence_class_of), records.cell_of)
        for of_class, n in ((plan.level, len(plan.levels)), (plan.region, n_regions))
    )
    fields = {**plan.shown(table.quasi_identifiers, level), **table.kept}
    values_count = requirement is not None and requirement.asks_for_values
    # Codes follow the sorted categories, so their order is that of the values shown.
    (level, region, *codes), counts, shown_as = different_rows(
        [level, region, *(column.codes for column in fields.values())],
        [len(plan.levels), n_regions, *(len(column.categories) for column in fields.values())],
        table.counts,
        placed=values_count or bool(table.members),
    )
    different = {name: Column(code, column.categories) for (name, column), code in zip(fields.items(), codes)}
    result = Release(level, region, different, counts, table.counts is not None)
    rows = np.flatnonzero(shown_as >= 0)
    shown_as = shown_as[rows]
    smallest = smallest_class(result, len(table.quasi_identifiers))
    if smallest is not None and smallest < k:
        raise PrivacyError.saying("The release would hold a class of fewer than {k} records: nothing was written.", k=k)
    for kind, column in table.members.items():
        smallest = _fewest_members(result, len(table.quasi_identifiers), shown_as, column.codes[rows])
        if smallest is not None and smallest < k:
            raise PrivacyError.saying(
                "The release would hold a class of fewer than {k} {kind}: nothing was written.", k=k, kind=tr(kind)
            )
    if requirement is not None and len(result.counts) and int(result.counts.min()) < requirement.rows_identical:
        raise fewer_identical(requirement.rows_identical)
    if requirement is not None and values_count:
        class_of, n_classes = _classes_of_rows(result, len(table.quasi_identifiers))
        _check_values(requirement, table, rows, class_of[shown_as], n_classes)
    return result


def _check_values(
    requirement: Requirement, table: RecordTable, rows: np.ndarray, class_of: np.ndarray, n_classes: int
) -> None:
    """Count the sensitive values of the people behind each class once more, from the rows; raises PrivacyError.

    rows : (r,) the rows that are released; class_of : (r,) the class that each shows
    """
    counts = None if table.counts is None else table.counts[rows]
    who = {kind: column.codes[rows] for kind, column in table.members.items()}
    released_shares = tuple(
        shares_of(name, class_of, table.kept[name].codes[rows], counts, who) for name in table.sensitive
    )
    every = np.arange(n_classes, dtype=np.int64)
    wrong = int((~replace(requirement, members=(), shares=released_shares).holds(every, every, n_classes)).sum())
    if wrong:
        raise values_in_common(wrong)


def fewer_identical(k: int) -> PrivacyError:
    """What is said of a release whose second count finds a row that too few others look like."""
    return PrivacyError.saying(
        "The release would hold a row that fewer than {k} rows of its class look like: nothing was written.", k=k
    )


def values_in_common(n_classes: int) -> PrivacyError:
    """What is said of a release whose second count finds classes that have too much in common."""
    return PrivacyError.counting(
        "The release would hold {n} class whose people have more in common than L_DIVERSITY and MAX_SHARE allow: "
        "nothing was written.",
        "The release would hold {n} classes whose people have more in common than L_DIVERSITY and MAX_SHARE allow: "
        "nothing was written.",
        n_classes,
    )


def smallest_class(result: Release, n_quasi_identifiers: int) -> int | None:
    """Records of the smallest class (level, region and quasi-identifiers) of a release; None where it is empty."""
    sizes = class_sizes(result, n_quasi_identifiers)
    return int(sizes.min()) if len(sizes) else None


def class_sizes(result: Release, n_quasi_identifiers: int) -> np.ndarray:
    """Records of each class of a release, (C,) int64."""
    return different_rows(*_shown(result, n_quasi_identifiers), weights=result.counts)[1]


def _fewest_members(result: Release, n_quasi_identifiers: int, shown_as: np.ndarray, members: np.ndarray) -> int | None:
    """The fewest distinct members of a class; None where there is none.

    shown_as, members : (r,) of each record, its row and who it belongs to
    """
    if not len(members):
        return None
    class_of, n_classes = _classes_of_rows(result, n_quasi_identifiers)
    n_members = int(members.max()) + 1
    each_once = number_keys(class_of[shown_as] * n_members + members, n_classes * n_members)[0]
    return int(np.bincount(each_once // n_members, minlength=n_classes).min())


def _classes_of_rows(result: Release, n_quasi_identifiers: int) -> tuple[np.ndarray, int]:
    """The class of each row, (R,) int64, and how many classes there are."""
    if not len(result.region):
        return np.empty(0, np.int64), 0
    _, counts, class_of = different_rows(*_shown(result, n_quasi_identifiers), placed=True)
    return class_of.astype(np.int64), len(counts)


def _shown(result: Release, n_quasi_identifiers: int) -> tuple[list[np.ndarray], list[int]]:
    """What makes the class of each row: codes by column, (R,), and of how many values."""
    columns = list(result.fields.values())[:n_quasi_identifiers]
    return (
        [result.level, result.region, *(c.codes for c in columns)],
        [int(result.level.max(initial=0)) + 1, int(result.region.max(initial=0)) + 1]
        + [len(c.categories) for c in columns],
    )
