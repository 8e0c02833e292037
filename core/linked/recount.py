"""A second count of persons and linked rows as they are released: from what they show, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import PrivacyError
from ..privacy.diversity import shares_of
from ..privacy.requirement import Requirement
from ..records.columns import Column, combine_codes, combine_columns
from ..records.table import PERSONS
from .rows import LinkedRows
from .tables import ONE_ROW, PERSON


def check_linked_rows(
    places: tuple[np.ndarray, np.ndarray],
    fields: dict[str, Column],
    n_quasi_identifiers: int,
    flags: Sequence[np.ndarray],
    tables: Sequence[LinkedRows],
    requirement: Requirement,
) -> int | None:
    """Count the people who look alike in all released tables together; the fewest, None where nobody is released.

    places : level and region of each of n released persons; fields : their columns, the quasi-identifiers first, and
    PERSON; flags : for each table (n,) bool, whether the person's rows are shown; tables : with the new key
    Raises PrivacyError for fewer than k, for values that too many have in common, and for rows that are not of a
    person, or not where the person is.
    """
    person = _numbers(fields[PERSON])
    n = len(person)
    if not n:
        if any(len(rows) for rows in tables):
            raise strange()
        return None
    position = np.full(int(person.max()) + 1, -1, np.int64)
    position[person] = np.arange(n, dtype=np.int64)
    if len(np.unique(person)) < n:
        raise strange()
    columns = list(fields.values())[:n_quasi_identifiers]
    codes = [*places, *(np.asarray(flag, np.int64) for flag in flags), *(column.codes for column in columns)]
    group, groups = combine_codes(codes, [int(code.max(initial=0)) + 1 for code in codes])
    n_groups, whose = len(groups), []
    for rows, flag in zip(tables, flags):
        if rows.person is None:  # which is left out only once all was counted
            raise strange()
        key = rows.person
        of = np.where(key < len(position), position[np.minimum(key, len(position) - 1)], -1)
        astray = (of < 0) | ~flag[of] | (places[0][of] != rows.level) | (places[1][of] != rows.region)
        if astray.any():
            raise strange()
        whose.append(of)
        if rows.rows_known == ONE_ROW:
            _check_each_row(group, of, rows, requirement.k)
            continue
        group, n_groups = _refined(group, n_groups, of, rows)
    _, group = np.unique(group, return_inverse=True)
    group = group.reshape(-1)
    sizes = np.bincount(group)
    below = int((sizes < requirement.k).sum())
    if below:
        raise too_few(below, requirement.k)
    if requirement.l_diversity > 1 or requirement.max_share < 100:
        for rows, of in zip(tables, whose):
            _check_values(rows, of, group, requirement)
    return int(sizes.min())


def _check_each_row(group: np.ndarray, of: np.ndarray, rows: LinkedRows, k: int) -> None:
    """Count the people who have a row with the known values of each row; raises PrivacyError."""
    known = list(rows.fields.values())[: rows.known]
    if not known or not len(of):
        return
    like = np.column_stack([group[of], *(column.codes for column in known)])
    order = np.lexsort((of, *like.T))
    like, whose = like[order], of[order]
    new = np.append(True, (like[1:] != like[:-1]).any(axis=1))
    first = new | np.append(True, whose[1:] != whose[:-1])
    below = int((np.add.reduceat(first.astype(np.int64), np.flatnonzero(new)) < k).sum())
    if below:
        raise too_few(below, k)


def _refined(group: np.ndarray, n_groups: int, of: np.ndarray, rows: LinkedRows) -> tuple[np.ndarray, int]:
    """The groups, told apart by the known values of a table: those of each person's first row, second row and so on."""
    if not rows.known:
        if not rows.count_known:
            return group, n_groups
        number = np.bincount(of, minlength=len(group))
        group, groups = combine_codes([group, number], [n_groups, int(number.max()) + 1])
        return group, len(groups)
    item, _ = combine_columns(list(rows.fields.values())[: rows.known])
    order = np.lexsort((item, of))
    of, item = of[order], item[order]
    times = np.bincount(of, minlength=len(group))
    start = np.cumsum(times) - times
    there = np.flatnonzero(times)
    for rank in range(int(times.max(initial=0))):
        there = there[times[there] > rank]
        own, width = np.unique(group[there], return_inverse=True)[1].reshape(-1), int(item.max()) + 1
        finer = np.unique(own * width + item[start[there] + rank], return_inverse=True)[1].reshape(-1)
        group[there] = n_groups + finer
        n_groups += int(finer.max()) + 1
    return group, n_groups


def _check_values(rows: LinkedRows, of: np.ndarray, group: np.ndarray, requirement: Requirement) -> None:
    """Count the sensitive values of each group's people once more; raises PrivacyError."""
    of_group = group[of]
    here, number = np.unique(of_group, return_inverse=True)
    cells = np.arange(len(here), dtype=np.int64)
    for name in rows.sensitive:
        shares = shares_of(name, number.reshape(-1), rows.fields[name].codes, None, {PERSONS: of})
        asked = Requirement(requirement.k, (), (shares,), requirement.l_diversity, requirement.max_share)
        wrong = int((~asked.holds(cells, cells, len(here))).sum()) if len(here) else 0
        if wrong:
            raise too_homogeneous(wrong, name, rows.name)


def _numbers(column: Column) -> np.ndarray:
    return np.asarray(column.categories.tolist(), np.int64)[column.codes]


def too_few(n_groups: int, k: int) -> PrivacyError:
    """What is said of so many groups of fewer than k people who look alike."""
    return PrivacyError.counting(
        "The linked tables would show {n} group of fewer than {k} people who look alike: nothing was written.",
        "The linked tables would show {n} groups of fewer than {k} people who look alike: nothing was written.",
        n_groups,
        k=k,
    )


def too_homogeneous(n_groups: int, field: str, table: str) -> PrivacyError:
    """What is said of so many groups of people who have too much of a field in common."""
    return PrivacyError.counting(
        "“{field}” of table “{table}” would be alike, more than L_DIVERSITY and MAX_SHARE allow, in {n} group of "
        "people: nothing was written.",
        "“{field}” of table “{table}” would be alike, more than L_DIVERSITY and MAX_SHARE allow, in {n} groups of "
        "people: nothing was written.",
        n_groups,
        field=field,
        table=table,
    )


def strange() -> PrivacyError:
    """What is said of linked rows of nobody, or of somebody elsewhere."""
    return PrivacyError.saying(
        "A linked table would show a row of nobody, or in another region than its person: nothing was written."
    )
