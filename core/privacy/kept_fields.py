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

ROWS_LOOKED_AT = 1_000_000  # of a larger release, whole classes drawn at random until there are as many
ROWS_FOR_PREFIXES = 100_000
FEWEST_ROWS, FEWEST_PAIRS = 100, 50  # below, a share says nothing
FEWEST_DIFFERING = 10  # pairs that would differ by chance, below which it says nothing that they do not
PINNED = 0.8  # rows of one value that lie in one area, as a share of pairs, from which the field stands for the area
UNIQUE = 0.5  # rows with a value of their own, as a share, from which the field stands for the person
DETERMINED = 0.999  # pairs of equal values that share a quasi-identifier, from which the field is a finer one
LONGEST_PREFIX = 12
TELLS = 0.1  # of what is given up, the share that a field gives back, from which it is warned of
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
        if self.regains and _gain(self.coarse_base, self.regained) >= PINNED:
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
    groups = _sizes(label, value)
    # Where a region is one area, there is nothing more to learn of it.
    several = np.flatnonzero(_areas_in(region, area)[region] > 1) if len(area) else there[:0]
    base = _agreement(region[several], area[several])
    agreement, prefix = _agreement(region[several], area[several], value[several]), 0
    if agreement is None or agreement < PINNED:
        prefix, by_prefix = _best_prefix(column.categories, value[several], region[several], area[several])
        agreement = by_prefix if prefix else agreement
    refines = _refined(value, {quasi: codes[there] for quasi, codes in quasi_identifiers.items()})
    coarse = {one: (coarser[there], original[there]) for one, (coarser, original) in coarsened.items()}
    regains, coarse_base, regained = _regained(value, coarse)
    return KeptField(
        name=name,
        k=k,
        values=int((times > 0).sum()),
        rows=len(value),
        unique=float((times == 1).sum() / max(len(value), 1)),
        bits_before=_area_bits(region, area),
        bits_left=_area_bits(region, area, value),
        pinned=_pinned(region, area, value),
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


def _sizes(*codes: np.ndarray) -> np.ndarray:
    """The sizes of the groups of rows that share all codes."""
    return np.unique(_key(codes), return_counts=True)[1]


def _key(codes: Sequence[np.ndarray]) -> np.ndarray:
    """A number for each combination of codes, (r,) int64."""
    key, reach = codes[0].astype(np.int64), int(codes[0].max(initial=0)) + 1
    for column in codes[1:]:
        size = int(column.max(initial=0)) + 1
        if reach > np.iinfo(np.int64).max // size:
            unique, key = np.unique(key, return_inverse=True)
            reach, key = len(unique), key.reshape(-1)
        key, reach = key * size + column, reach * size
    return key


def _agreement(region: np.ndarray, area: np.ndarray, value: np.ndarray | None = None) -> float | None:
    """Of the pairs of rows in one region (that share a value), the share in one area; None for too few pairs."""
    within = (region,) if value is None else (region, value)
    all_pairs, same = (float((sizes * (sizes - 1.0)).sum()) for sizes in (_sizes(*within), _sizes(*within, area)))
    return same / all_pairs if all_pairs >= 2 * FEWEST_PAIRS else None


def _area_bits(region: np.ndarray, area: np.ndarray, value: np.ndarray | None = None) -> float:
    """The conditional entropy of the area, given the region (and the value), bits per row."""
    within = (region,) if value is None else (region, value)
    whole, parts = _sizes(*within).astype(float), _sizes(*within, area).astype(float)
    n = max(parts.sum(), 1.0)
    return float(((whole * np.log2(whole)).sum() - (parts * np.log2(parts)).sum()) / n)


def _pinned(region: np.ndarray, area: np.ndarray, value: np.ndarray) -> float:
    """The share of rows whose value, in a region of several areas, occurs in one area only, and more than once."""
    if not len(area):
        return 0.0
    _, group, sizes = np.unique(_key((region, value)), return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    once = (_areas_in(group, area)[group] == 1) & (sizes[group] > 1)
    return float((once & (_areas_in(region, area)[region] > 1)).mean())


def _areas_in(group: np.ndarray, area: np.ndarray) -> np.ndarray:
    """The number of different areas in each group."""
    n_areas = int(area.max()) + 1
    return np.bincount(np.unique(group.astype(np.int64) * n_areas + area) // n_areas)


def _best_prefix(categories: np.ndarray, value: np.ndarray, region: np.ndarray, area: np.ndarray) -> tuple[int, float]:
    """The number of leading characters that stand for the area, and their agreement; 0 where none do."""
    texts = np.array(["" if one is None else str(one) for one in categories], dtype=str)
    longest = min(LONGEST_PREFIX, texts.dtype.itemsize // 4 - 1)
    step = max(1, len(value) // ROWS_FOR_PREFIXES)
    value, region, area = value[::step], region[::step], area[::step]
    for length in range(longest, 0, -1):
        codes = np.unique(texts.astype(f"<U{length}"), return_inverse=True)[1].reshape(-1)
        agreement = _agreement(region, area, codes[value])
        if agreement is not None and agreement >= PINNED:
            return length, agreement
    return 0, 0.0


def _refined(value: np.ndarray, quasi_identifiers: Mapping[str, np.ndarray]) -> str:
    """The quasi-identifier that the value determines while it has more values, empty for none."""
    sizes = _sizes(value).astype(float)
    pairs, n_values = float((sizes * (sizes - 1)).sum()), len(sizes)
    if pairs < 2 * FEWEST_PAIRS:
        return ""
    for name, codes in quasi_identifiers.items():
        same = _sizes(value, codes).astype(float)
        if 1 < len(np.unique(codes)) < n_values and float((same * (same - 1)).sum()) >= DETERMINED * pairs:
            return name
    return ""


def _regained(value: np.ndarray, coarsened: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> tuple[str, float, float]:
    """The coarsened quasi-identifier that the value tells most of, empty for none; and the two shares of pairs.

    coarsened : by name, the codes of what is shown and of the original, (r,)
    """
    best, base, regained = "", 0.0, 0.0
    for name, (shown, original) in coarsened.items():
        without, with_value = _agreement(shown, original), _agreement(shown, original, value)
        if without is None or with_value is None:
            continue
        sizes = _sizes(shown, value).astype(float)
        # Where hardly any pair could differ, that none does says nothing.
        if (sizes * (sizes - 1.0)).sum() / 2 * (1.0 - without) < FEWEST_DIFFERING:
            continue
        if _gain(without, with_value) > max(TELLS, _gain(base, regained) if best else 0.0):
            best, base, regained = name, without, with_value
    return best, base, regained


def _gain(base: float, agreement: float) -> float:
    """How far a share of pairs goes from its base to all of them, 0 to 1."""
    return (agreement - base) / (1.0 - base) if base < 1.0 else 0.0
