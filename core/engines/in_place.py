"""Records that stay where they are, once they are counted: their cells here, their rows there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

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
        areas = Column(np.arange(len(self.areas)), self.areas)
        named = zip(self.fields.quasi_identifiers, self.categories)
        quasi = {name: Column(np.arange(len(categories)), categories) for name, categories in named}
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
