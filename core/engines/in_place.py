"""Records that stay where they are, once they are counted: their cells here, their rows there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from ..areas import identifier_text
from ..arrays import to_list
from ..dataclass import dataclass
from ..plan import stretches
from ..profile import Profile
from ..records.coarsened import Coarsened
from ..records.columns import Column
from ..records.fields import RecordFields
from ..records.table import RecordTable
from ..scientific import sparse
from .engine import Engine, Expression


@dataclass(frozen=True, eq=False)
class InPlace:
    """Records in an engine, counted by area and class.

    dictionaries : the values of each field by code, in the engine; sizes : how many values of each quasi-identifier
    rows : the rows with their codes, in the engine; with_others : with those of members and sensitive fields too
    areas : the values of the area's field by code, the missing one last (A,) object
    area, class_of, records : of each cell, (m,) int32; records int64 where there are more than 32 bits count
    classes : (C, Q) codes of the categories; class_keys : (C,) the number of each class in the engine
    categories : of each quasi-identifier, as `Profile` has them; codes : the code of each category in the engine
    coarsened : by name, the quasi-identifiers that are shown coarser; `original` has each of its values once
    kept_values : the dictionaries of kept fields of few values, by their names in the steps; none without `packs`
    """

    engine: Engine
    fields: RecordFields
    dictionaries: Mapping[str, Expression]
    sizes: Mapping[str, int]
    rows: Expression
    with_others: Expression
    areas: np.ndarray
    area: np.ndarray
    class_of: np.ndarray
    records: np.ndarray
    classes: np.ndarray
    class_keys: np.ndarray
    categories: tuple[np.ndarray, ...]
    codes: tuple[np.ndarray, ...]
    coarsened: Mapping[str, Coarsened] = field(default_factory=dict)
    kept_values: Mapping[str, Expression] = field(default_factory=dict)

    @property
    def quasi(self) -> list[str]:
        """The names that the quasi-identifiers have in the steps."""
        return list(self.sizes)

    @property
    def n_records(self) -> int:
        """All records, whether their area is known or not."""
        return int(self.records.sum(dtype=np.int64))

    def by_class(self) -> RecordTable:
        """A row for each class, of no area in particular: for what looks at values and how many records have them."""
        records = np.zeros(len(self.classes))
        for cells in stretches(len(self.class_of)):
            records += np.bincount(self.class_of[cells], self.records[cells], len(records))
        named = zip(self.fields.quasi_identifiers, self.classes.T, self.categories)
        quasi = {name: Column(codes, categories) for name, codes, categories in named}
        nowhere = Column(np.zeros(len(records), np.int8), self.areas[-1:])
        return RecordTable(nowhere, quasi, {}, records.astype(np.int64), coarsened=self.coarsened)

    def values(self) -> RecordTable:
        """A table that has each value once, for what looks at values and not at rows: its columns differ in length."""
        areas = Column(np.arange(len(self.areas), dtype=np.int64), self.areas)
        named = zip(self.fields.quasi_identifiers, self.categories)
        quasi = {name: Column(np.arange(len(categories), dtype=np.int64), categories) for name, categories in named}
        return RecordTable(areas, quasi, {}, None, coarsened=self.coarsened)

    def profile(self, area_of: np.ndarray, n_areas: int) -> Profile:
        """The profile of n areas; area_of : (A,) the position of each of `areas`, -1 for none."""
        row = area_of.astype(np.int32)[self.area]
        inside = row >= 0
        cells = (row, self.class_of) if inside.all() else (row[inside], self.class_of[inside])
        records = self.records if inside.all() else self.records[inside]
        counts = sparse.csr_matrix((records, cells), shape=(n_areas, len(self.classes)))
        return Profile(counts, self.classes, self.categories, self.fields.quasi_identifiers)


@dataclass(frozen=True, eq=False)
class Matched:
    """Records in an engine whose areas are known: as `Records`, without rows.

    area_of : (A,) position of each value of the area's field among the areas, -1 for none
    """

    in_place: InPlace
    area_of: np.ndarray
    profile: Profile
    n_unmatched: int


def cells_that_differ(in_place: InPlace, profile: RecordTable) -> int:
    """The cells, of an area and a class, that do not have as many records now as in a profile; 0 where all have.

    profile : rows that each stand for several records, of the same area field and quasi-identifiers; values are
    compared as text, since what holds a profile may know no other kind
    """
    area, unknown = _codes(profile.area, in_place.areas)
    key = np.zeros(len(profile), np.int64)
    for name, categories in zip(in_place.fields.quasi_identifiers, in_place.categories):
        code, not_there = _codes(profile.quasi_identifiers[name], categories)
        key = key * max(len(categories), 1) + code
        unknown |= not_there
    own = _class_keys(in_place)
    class_of = np.searchsorted(own, key)
    class_of[class_of == len(own)] = 0
    unknown |= own[class_of] != key
    counts = profile.counts if profile.counts is not None else np.ones(len(profile), np.int64)
    unknown &= counts > 0
    there = ~unknown
    before = _cells(in_place, area[there], class_of[there], counts[there])
    now = _cells(in_place, in_place.area, in_place.class_of, in_place.records)
    return int(unknown.sum()) + int((before != now).nnz)


def _cells(in_place: InPlace, area: np.ndarray, class_of: np.ndarray, records: np.ndarray) -> sparse.csr_matrix:
    shape = len(in_place.areas), len(in_place.classes)
    return sparse.csr_matrix((records, (area, class_of)), shape=shape)


def _class_keys(in_place: InPlace) -> np.ndarray:
    """A number for each class, ascending as the classes do, (C,) int64."""
    key = np.zeros(len(in_place.classes), np.int64)
    for codes, categories in zip(in_place.classes.T, in_place.categories):
        key = key * max(len(categories), 1) + codes
    return key


def _codes(column: Column, categories: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The position of each row's value among the categories, (N,) int32, and whether it is none of them, (N,) bool."""
    position = {text: i for i, text in enumerate(_texts(categories))}
    codes = np.array([position.get(text, -1) for text in _texts(column.categories)], np.int32)
    own_codes = codes[column.codes] if len(codes) else np.empty(0, np.int32)
    return np.maximum(own_codes, 0), own_codes < 0


def _texts(values: np.ndarray) -> list[tuple[bool, str]]:
    """Values as text, a missing one told apart from every text."""
    return [(value is None, "" if value is None else identifier_text(value) or "") for value in to_list(values)]
