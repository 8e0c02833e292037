"""Records in an engine by all that they show: what an update draws from, and what a register keeps of their rows.

Rows of one area that show the same are alike. How many of them are shown with which region is all that is to be drawn;
which of them these are shows nowhere. So what comes is a number for each area and what is shown there, and what goes
back is how many of each are shown where (`releasing`).
"""

from __future__ import annotations

import numpy as np

from ..disclosure.row_values import rows_beside
from ..disclosure.values import KeptValues
from ..plan import area_of_cells
from ..records.columns import Column
from ..records.matching import Records
from ..records.table import HOUSEHOLDS, PERSONS, RecordTable
from ..releases.update_refused import households_in_update, refuse_rows_of_one_person
from . import steps
from .dictionaries import values_of
from .in_place import InPlace, Matched
from .profiling import code_of_values, counted_by_values

MOST_COUNTED = 5_000_000
"""Combinations of an area and what is shown there that are fetched so that a register can keep what rows show."""


def counted_records(matched: Matched) -> Records:
    """Records of an engine as rows that each stand for those of an area and a class that show the same.

    The values of kept fields must have been counted, see `count_in_place`; areas are positions of the areas.
    Raises InputError for persons with several rows, and for households.
    """
    _check_members(matched.in_place)
    return _counted(matched)


def rows_beside_in_place(matched: Matched) -> KeptValues | None:
    """What rows show together beside quasi-identifiers, by cell, as `rows_beside`; None where sensitive fields tell the
    same, where kept fields were not counted by value, and where there are more than MOST_COUNTED combinations."""
    in_place = matched.in_place
    fields = in_place.fields
    if not fields.kept or (tuple(fields.kept) == tuple(fields.sensitive) and len(fields.kept) == 1):
        return None
    codes = [code_of_values(matched, name) for name in fields.kept]
    if any(code not in in_place.with_others.columns for code in codes):
        return None
    cells = steps.counted(in_place.with_others, ["c_a", "key", *codes], bool(fields.count))
    (number,) = (
        row["n"] for batch in in_place.engine.fetch(cells.aggregate(n=cells.count())) for row in batch.to_pylist()
    )
    return None if number > MOST_COUNTED else rows_beside(_counted(matched))


def _counted(matched: Matched) -> Records:
    in_place, profile = matched.in_place, matched.profile
    names = in_place.fields.kept
    if names:
        cell, *values, records = counted_by_values(matched, *(code_of_values(matched, name) for name in names))
    else:
        cell, values, records = np.arange(profile.counts.nnz, dtype=np.int64), [], profile.counts.data.astype(np.int64)
    classes = profile.classes[profile.counts.indices[cell]]
    quasi = {
        name: Column(codes, categories)
        for name, codes, categories in zip(profile.quasi_identifiers, classes.T, profile.categories)
    }
    kept = {name: Column(codes, _categories(in_place, f"k{at}")) for at, (name, codes) in enumerate(zip(names, values))}
    area = Column(area_of_cells(profile)[cell], np.arange(profile.counts.shape[0], dtype=np.int64).astype(object))
    table = RecordTable(
        area, quasi, kept, records, sensitive=tuple(in_place.fields.sensitive), coarsened=in_place.coarsened
    )
    return Records(table, profile, cell.astype(np.int64), matched.n_unmatched)


def _categories(in_place: InPlace, key: str) -> np.ndarray:
    """The values of a kept field by code in the engine; the missing one last."""
    values = values_of(in_place.engine, in_place.dictionaries[key], key)
    return np.append(values, np.array([None], dtype=object))


def _check_members(in_place: InPlace) -> None:
    """Refuse persons with several rows, and households. Raises InputError."""
    members = list(in_place.fields.members)
    if HOUSEHOLDS in members:
        raise households_in_update()
    if PERSONS in members:
        rows, code = in_place.with_others, f"c_m{members.index(PERSONS)}"
        (number,) = (
            row
            for batch in in_place.engine.fetch(rows.aggregate(rows=rows.count(), persons=rows[code].nunique()))
            for row in batch.to_pylist()
        )
        refuse_rows_of_one_person(int(number["rows"]) - int(number["persons"]))
