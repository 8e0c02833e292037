"""What the kept fields of a release give away beside the quasi-identifiers: the area, the person, a finer value.

k counts people who share region and quasi-identifiers. A field that is released with them is not counted: it may say
where in the region a person lives, or be a number that only one person has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..language import tr
from ..plan import SUPPRESSED, Plan, area_of_cells
from ..records.columns import Column
from ..records.matching import Records
from .association import (
    PINNED,
    agreement_of,
    area_bits,
    areas_in,
    best_prefix,
    gain,
    group_sizes,
    pinned_share,
    refined_identifier,
    regained_identifier,
)

ROWS_LOOKED_AT = 1_000_000  # of a larger release, whole classes drawn at random until there are as many
FEWEST_ROWS = 100  # below, a share says nothing
UNIQUE = 0.5  # rows with a value of their own, as a share, from which the field stands for the person
NOT_COARSENED: Mapping[str, tuple[np.ndarray, np.ndarray]] = {}


@dataclass(frozen=True)
class KeptField:
    """What one kept field gives away, over the released rows that have a value.

    values : different values; rows : rows with a value; unique : share of rows whose value nobody else has
    bits_before, bits_left : how hard it is to guess the area, by the region alone and with the value, bits per row
    pinned : share of rows whose value, in their region, occurs in one area only, and there more than once
    below_k : rows that fewer than k others share region, quasi-identifiers and value with; alone : those that none does
    refines : the quasi-identifier of which it is a finer value, empty for none
    base, agreement : of pairs of rows in one region of several areas, the share in one area; of all, and of those that
    share the value, or its first `prefix` characters where that is not 0; None for too few pairs
    regains : the quasi-identifier that is shown coarser and of which the value tells most, empty for none
    coarse_base, regained : of pairs of rows that show the same value of it, the share with the same original value; of
    all, and of those that share the value of the field
    """

    name: str
    k: int
    values: int
    rows: int
    unique: float
    bits_before: float
    bits_left: float
    pinned: float
    below_k: int
    alone: int
    refines: str
    base: float | None
    agreement: float | None
    prefix: int
    regains: str = ""
    coarse_base: float = 0.0
    regained: float = 0.0

    @property
    def refusal(self) -> str:
        """Why the field must not be released: it stands for the area or the person; empty where it does not."""
        if self.agreement is not None and self.base is not None and self.agreement >= PINNED > self.base + 0.1:
            stands = (
                tr("the first {prefix} characters of “{name}” stand", prefix=self.prefix, name=self.name)
                if self.prefix
                else tr("“{name}” stands", name=self.name)
            )
            return tr(
                "KEEP_FIELDS: {stands} for the area: {same_area}. Take it out.",
                stands=stands,
                same_area=self._same_area,
            )
        if self.regains and gain(self.coarse_base, self.regained) >= PINNED:
            return tr(
                "KEEP_FIELDS: “{name}” gives back what coarser values take: {same_original}. Take it out.",
                name=self.name,
                same_original=self._same_original,
            )
        if self.rows < FEWEST_ROWS:
            return ""
        if self.refines and self.alone >= UNIQUE * self.rows:
            return tr(
                "KEEP_FIELDS: “{name}” is a finer value of the quasi-identifier “{refines}”, and "
                "{alone} of {rows} rows would be alone with it in their class. Take it out, or make it the "
                "quasi-identifier.",
                name=self.name,
                refines=self.refines,
                alone=self.alone,
                rows=self.rows,
            )
        if self.unique >= UNIQUE:
            return tr(
                "KEEP_FIELDS: “{name}” has a value of its own in {unique:.0f} % of the {rows} "
                "rows that have one, as a number or a name of a person has. Take it out, or round or group it first.",
                name=self.name,
                unique=100 * self.unique,
                rows=self.rows,
            )
        return ""

    @property
    def warning(self) -> str:
        """What the custodian should know of the field before it is released; empty where there is nothing."""
        if self.refusal:
            return ""
        if self.regains:
            return tr(
                "KEEP_FIELDS: “{name}” gives back part of what coarser values take: {same_original}; with "
                "it {below_k} rows are in groups of fewer than {k}. Make it coarser too, or take it out.",
                name=self.name,
                same_original=self._same_original,
                below_k=self.below_k,
                k=self.k,
            )
        if self.refines and self.below_k:
            return tr(
                "KEEP_FIELDS: “{name}” is a finer value of the quasi-identifier “{refines}”: with it "
                "{below_k} rows are in classes of fewer than {k}, {alone} of them alone. Make it the "
                "quasi-identifier, or take it out.",
                name=self.name,
                refines=self.refines,
                below_k=self.below_k,
                k=self.k,
                alone=self.alone,
            )
        base = 1.0 if self.base is None else self.base
        if self.agreement is not None and self.agreement > max(base + 0.1, 2 * base):
            return tr(
                "KEEP_FIELDS: “{name}” says where in the region a person lives: {same_area}; "
                "{below_k} rows are in groups of fewer than {k}. Take it out unless you know that it "
                "does no harm.",
                name=self.name,
                same_area=self._same_area,
                below_k=self.below_k,
                k=self.k,
            )
        if self.unique > 0.1 and self.rows >= FEWEST_ROWS:
            return tr(
                "KEEP_FIELDS: “{name}” has a value of its own in {unique:.0f} % of its rows: if "
                "others know it of a person, do not release it.",
                name=self.name,
                unique=100 * self.unique,
            )
        return ""

    @property
    def _same_area(self) -> str:
        return tr(
            "two rows of one region that share it come from the same area in {agreement:.1f} % of "
            "cases, without it in {base:.1f} %",
            agreement=100 * (self.agreement or 0),
            base=100 * (self.base or 0),
        )

    @property
    def _same_original(self) -> str:
        return tr(
            "two rows with the same coarser “{regains}” that share it have the same original value in "
            "{regained:.1f} % of cases, without it in {coarse_base:.1f} %",
            regains=self.regains,
            regained=100 * self.regained,
            coarse_base=100 * self.coarse_base,
        )


def examine_kept_fields(plan: Plan, records: Records, seed: int = 0) -> list[KeptField]:
    """Look at every kept field of a release; seed : of the classes that are looked at where it is very large."""
    table = records.table
    if not table.kept:
        return []
    label = np.append(plan.label_of, SUPPRESSED)[records.cell_of]
    rows = rows_looked_at(label, len(plan.records), seed)
    area = area_of_cells(plan.profile)[records.cell_of[rows]]
    columns = {name: Column(column.codes[rows], column.categories) for name, column in table.kept.items()}
    fine = {name: one.original.codes[rows] for name, one in table.coarsened.items()}
    return examine_rows(plan, label[rows], area, columns, fine)


def rows_looked_at(label: np.ndarray, n_labels: int, seed: int) -> np.ndarray:
    """The rows that show a label, all of them or those of labels drawn at random where there are very many."""
    rows = np.flatnonzero(label != SUPPRESSED)
    if len(rows) > ROWS_LOOKED_AT:
        drawn = np.random.default_rng(seed).random(n_labels) < ROWS_LOOKED_AT / len(rows)
        rows = rows[drawn[label[rows]]]
    return rows


def examine_rows(
    plan: Plan,
    label: np.ndarray,
    area: np.ndarray,
    columns: Mapping[str, Column],
    fine: Mapping[str, np.ndarray],
) -> list[KeptField]:
    """Look at fields of released rows; label, area : (r,) int64, of each row its label in the plan and its area.

    fine : of the quasi-identifiers that are shown coarser, the code of each row's original value
    """
    first = np.cumsum([0, *(crosswalk.n_regions for crosswalk in plan.levels.crosswalks)])
    region = first[plan.level[label]] + plan.region[label]
    profile = plan.profile
    codes = profile.classes[plan.class_of[label]]
    quasi = {name: codes[:, i] for i, name in enumerate(profile.quasi_identifiers)}
    coarsened = {name: (quasi[name], original) for name, original in fine.items()}
    return examine_values(label, region, area, columns, quasi, plan.k, coarsened)


def examine_values(
    label: np.ndarray,
    region: np.ndarray,
    area: np.ndarray,
    columns: Mapping[str, Column],
    quasi_identifiers: Mapping[str, np.ndarray],
    k: int,
    coarsened: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> list[KeptField]:
    """Look at fields of rows; label, region, area : (r,), of each row, and the codes of its quasi-identifiers.

    coarsened : of those that are shown coarser, the codes of each row's coarser and original value
    """
    return [
        _examine(name, column, label, region, area, quasi_identifiers, k, coarsened) for name, column in columns.items()
    ]


def examine_columns(
    columns: Mapping[str, Column], class_of: np.ndarray, quasi_identifiers: Mapping[str, Column], k: int
) -> list[KeptField]:
    """Look at fields of any table, whose areas are not known; class_of : (N,) the class of each row."""
    nowhere = np.zeros(len(class_of), np.int64)
    quasi = {name: column.codes for name, column in quasi_identifiers.items()}
    return [_examine(name, column, class_of, nowhere, nowhere, quasi, k) for name, column in columns.items()]


def refuse_kept_fields(found: Sequence[KeptField]) -> None:
    """Raises InputError for the first field that gives away the area or the person."""
    for one in found:
        if one.refusal:
            raise InputError(one.refusal)


def _examine(
    name: str,
    column: Column,
    label: np.ndarray,
    region: np.ndarray,
    area: np.ndarray,
    quasi_identifiers: Mapping[str, np.ndarray],
    k: int,
    coarsened: Mapping[str, tuple[np.ndarray, np.ndarray]] = NOT_COARSENED,
) -> KeptField:
    """One field; label, region, area : of each released row, (r,), and the codes of the quasi-identifiers.

    coarsened : the codes shown and before, of those that are shown coarser
    """
    missing = np.array([value is None for value in column.categories], bool)
    there = np.flatnonzero(~missing[column.codes])
    value = column.codes[there].astype(np.int64)
    label, region, area = label[there], region[there], area[there]
    times = np.bincount(value, minlength=len(column.categories))
    groups = group_sizes(label, value)
    # Where a region is one area, there is nothing more to learn of it.
    several = np.flatnonzero(areas_in(region, area)[region] > 1) if len(area) else there[:0]
    base = agreement_of(region[several], area[several])
    agreement, prefix = agreement_of(region[several], area[several], value[several]), 0
    if agreement is None or agreement < PINNED:
        prefix, by_prefix = best_prefix(column.categories, value[several], region[several], area[several])
        agreement = by_prefix if prefix else agreement
    refines = refined_identifier(value, {quasi: codes[there] for quasi, codes in quasi_identifiers.items()})
    coarse = {one: (coarser[there], original[there]) for one, (coarser, original) in coarsened.items()}
    regains, coarse_base, regained = regained_identifier(value, coarse)
    return KeptField(
        name=name,
        k=k,
        values=int((times > 0).sum()),
        rows=len(value),
        unique=float((times == 1).sum() / max(len(value), 1)),
        bits_before=area_bits(region, area),
        bits_left=area_bits(region, area, value),
        pinned=pinned_share(region, area, value),
        below_k=int(groups[groups < k].sum()),
        alone=int((groups == 1).sum()),
        refines=refines,
        base=base,
        agreement=agreement,
        prefix=prefix,
        regains=regains,
        coarse_base=coarse_base,
        regained=regained,
    )
