"""What the kept fields of a release give away beside the quasi-identifiers, looked at over the released rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import InputError
from ..plan import SUPPRESSED, Plan, area_of_cells
from ..records.columns import Column
from ..records.matching import Records
from .association import (
    area_bits,
    disclosed_by,
    disclosed_by_prefix,
    group_sizes,
    refined_identifier,
    regained_identifier,
    share_in_one_area,
)
from .kept_field import EXPOSED, RARE, KeptField

ROWS_LOOKED_AT = 1_000_000  # of a larger release, whole classes drawn at random until there are as many
NOT_COARSENED: Mapping[str, tuple[np.ndarray, np.ndarray]] = {}


def examine_kept_fields(plan: Plan, records: Records, seed: int = 0) -> list[KeptField]:
    """Look at every kept field of a release; seed : of the classes that are looked at where it is very large."""
    table = records.table
    if not table.kept:
        return []
    equivalence_class = np.append(plan.equivalence_class_of, SUPPRESSED)[records.cell_of]
    rows = rows_looked_at(equivalence_class, len(plan.records), seed)
    area = area_of_cells(plan.profile)[records.cell_of[rows]]
    columns = {name: Column(column.codes[rows], column.categories) for name, column in table.kept.items()}
    fine = {name: column.original.codes[rows] for name, column in table.coarsened.items()}
    return examine_rows(plan, equivalence_class[rows], area, columns, fine)


def rows_looked_at(equivalence_class: np.ndarray, n_equivalence_classes: int, seed: int) -> np.ndarray:
    """The rows that are in an equivalence class, or where there are very many those of some drawn at random."""
    rows = np.flatnonzero(equivalence_class != SUPPRESSED)
    if len(rows) > ROWS_LOOKED_AT:
        drawn = np.random.default_rng(seed).random(n_equivalence_classes) < ROWS_LOOKED_AT / len(rows)
        rows = rows[drawn[equivalence_class[rows]]]
    return rows


def examine_rows(
    plan: Plan,
    equivalence_class: np.ndarray,
    area: np.ndarray,
    columns: Mapping[str, Column],
    fine: Mapping[str, np.ndarray],
) -> list[KeptField]:
    """Look at fields of released rows; equivalence_class, area : (r,) int64, of each row.

    fine : of the quasi-identifiers that are shown coarser, the code of each row's original value
    """
    first = np.cumsum([0, *(crosswalk.n_regions for crosswalk in plan.levels.crosswalks)])
    region = first[plan.level[equivalence_class]] + plan.region[equivalence_class]
    profile = plan.profile
    codes = profile.classes[plan.class_of[equivalence_class]]
    quasi = {name: codes[:, i] for i, name in enumerate(profile.quasi_identifiers)}
    coarsened = {name: (quasi[name], original) for name, original in fine.items()}
    return examine_values(equivalence_class, region, area, columns, quasi, plan.k, coarsened)


def examine_values(
    equivalence_class: np.ndarray,
    region: np.ndarray,
    area: np.ndarray,
    columns: Mapping[str, Column],
    quasi_identifiers: Mapping[str, np.ndarray],
    k: int,
    coarsened: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> list[KeptField]:
    """Look at fields of rows; equivalence_class, region, area : (r,), of each row, and its quasi-identifiers.

    coarsened : of those that are shown coarser, the codes of each row's coarser and original value
    """
    return [
        _examine(name, column, equivalence_class, region, area, quasi_identifiers, k, coarsened)
        for name, column in columns.items()
    ]


def examine_columns(
    columns: Mapping[str, Column], class_of: np.ndarray, quasi_identifiers: Mapping[str, Column], k: int
) -> list[KeptField]:
    """Look at fields of any table, whose areas are not known; class_of : (N,) the class of each row."""
    nowhere = np.zeros(len(class_of), np.int64)
    quasi = {name: column.codes for name, column in quasi_identifiers.items()}
    return [_examine(name, column, class_of, nowhere, nowhere, quasi, k) for name, column in columns.items()]


def refuse_kept_fields(kept_fields: Sequence[KeptField]) -> None:
    """Raises InputError for the first field that gives away the area or the person."""
    for field in kept_fields:
        if field.refusal:
            raise InputError(field.refusal)


def _examine(
    name: str,
    column: Column,
    equivalence_class: np.ndarray,
    region: np.ndarray,
    area: np.ndarray,
    quasi_identifiers: Mapping[str, np.ndarray],
    k: int,
    coarsened: Mapping[str, tuple[np.ndarray, np.ndarray]] = NOT_COARSENED,
) -> KeptField:
    """One field; equivalence_class, region, area : of each released row, (r,), and the codes of the quasi-identifiers.

    coarsened : the codes shown and before, of those that are shown coarser. No value is a value too, as an empty text
    or “unknown” is one: it may stand for the area as others do, and never hides what the others tell.
    """
    value = column.codes.astype(np.int64)
    some = slice(None, None, max(1, len(value) // ROWS_LOOKED_AT))
    prefix, disclosed = 0, disclosed_by(region[some], area[some], value[some])
    if disclosed.placed_share < EXPOSED:
        prefix, by_prefix = disclosed_by_prefix(column.categories, region[some], area[some], value[some], EXPOSED)
        disclosed = by_prefix if prefix else disclosed
    codes = {quasi: of_quasi[some] for quasi, of_quasi in quasi_identifiers.items()}
    refines, finer = refined_identifier(value[some], codes, EXPOSED)
    given_back = {identifier: (shown[some], original[some]) for identifier, (shown, original) in coarsened.items()}
    regains, regained = regained_identifier(value[some], given_back, EXPOSED)
    missing = np.array([category is None for category in column.categories], bool)
    there = ~missing[value]
    times = np.bincount(value[there], minlength=len(column.categories))
    groups = group_sizes(equivalence_class[there], value[there])
    finer_groups = group_sizes(equivalence_class[some][finer], value[some][finer])
    return KeptField(
        name=name,
        k=k,
        values=int((times > 0).sum()),
        rows=int(there.sum()),
        looked_at=len(value),
        single=int((times == 1).sum()),
        rare=int(times[times < RARE].sum()),
        bits_before=area_bits(region[there], area[there]),
        bits_left=area_bits(region[there], area[there], value[there]),
        in_one_area=share_in_one_area(region[there], area[there], value[there]),
        below_k=int(groups[groups < k].sum()),
        alone=int((groups == 1).sum()),
        disclosed=disclosed,
        prefix=prefix,
        refines=refines,
        finer=int(finer.sum()),
        finer_alone=int((finer_groups == 1).sum()),
        regains=regains,
        regained=regained,
    )
