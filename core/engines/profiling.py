"""The profile, counted where the records are: what comes back is three whole numbers for each cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from ..areas import Areas, identifier_text
from ..arrays import to_list
from ..errors import InputError
from ..language import tr
from ..plan import stretches
from ..privacy.requirement import Members, Requirement, Shares
from ..profile import Profile
from ..progress import Progress, silent
from ..records.coarsened import Coarsened
from ..records.columns import Column, category_order
from ..records.matching import STOP, check_no_area_copy, match_areas
from ..records.table import MOST_RECORDS, RecordTable, check_table, refuse_rows_of_nobody
from . import steps
from .engine import Arrow, Engine, EngineError, Expression
from .fields import RecordFields, checked

LOOKED_UP = 2**26  # classes there could be, up to which their numbers are found by a table


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

    @property
    def quasi(self) -> list[str]:
        """The names that the quasi-identifiers have in the steps."""
        return list(self.sizes)

    def table(self) -> RecordTable:
        """The cells as rows that stand for several records each."""
        quasi = {
            name: Column(self.classes[:, i].astype(np.min_scalar_type(len(categories)))[self.class_of], categories)
            for i, (name, categories) in enumerate(zip(self.fields.quasi_identifiers, self.categories))
        }
        return RecordTable(Column(self.area, self.areas), quasi, {}, self.records, coarsened=self.coarsened)

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

    found: InPlace
    area_of: np.ndarray
    profile: Profile
    n_unmatched: int


def count_in_place(engine: Engine, fields: RecordFields, progress: Progress = silent, released: bool = True) -> InPlace:
    """Count the records of an open engine by area and class.

    released : whether they are to be released, so that their rows are read again.
    Raises InputError for fields that are not there or cannot be released, an empty table, counts that are none, members
    without an identifier, and for more possible classes than 64 bits hold.
    """
    checked(fields, engine.fields)
    source = steps.filtered(engine.source(fields.names()), fields.filters)
    n_records = _checked_bounds(engine, source, fields)
    progress(0.1)
    quasi = [f"q{i}" for i in range(len(fields.quasi_identifiers))]
    members = [f"m{i}" for i in range(len(fields.members))]
    sensitive = [f"k{fields.kept.index(name)}" for name in fields.sensitive]
    found = engine.dictionaries(source, ["a", *quasi])
    values = {one: known for one, (_, known) in found.items()}
    tables = {one: table for one, (table, _) in found.items()}
    tables |= {one: engine.keep(f"vbas_{one}", steps.dictionary(source, one)) for one in (*members, *sensitive)}
    progress(0.3)
    sizes = {one: len(known) for one, known in values.items()}
    if steps.reach(sizes, quasi) > steps.MOST_CLASSES:
        raise InputError(
            tr(
                "QUASI_IDENTIFIERS could make more classes than 64 bits can number: choose fewer of them, or "
                "group their values first."
            )
        )
    rows = steps.coded(source, {one: tables[one] for one in values}, sizes, quasi)
    if released:
        rows = engine.again("vbas_rows", rows.drop("a", *(quasi if engine.decodes else ())))
    others = {one: _size(engine, tables[one]) for one in (*members, *sensitive)}
    with_others = steps.coded(source, tables, {**sizes, **others}, quasi) if others else rows
    counted = steps.counted(rows, ["c_a", "key"], bool(fields.count))
    reach = steps.reach(sizes, quasi)
    kinds = np.int32, *(np.int32 if most < 2**31 else np.int64 for most in (reach, n_records))
    area, key, records = _collected(engine.fetch(counted), kinds)
    if int(records.sum(dtype=np.int64)) != n_records:
        raise EngineError(
            tr(
                "{title} counted {n_records} of {expected} records: start again.",
                title=engine.title,
                n_records=int(records.sum()),
                expected=n_records,
            )
        )
    class_keys = _keys_there(key, reach)
    progress(0.9)
    classes, order, categories, codes = _in_order(class_keys, [values[one] for one in quasi])
    areas = np.append(values["a"], np.array([None], dtype=object))
    cells = area, _classes_of(key, class_keys, order), records
    of_quasi = {one: sizes[one] for one in quasi}
    return InPlace(
        engine,
        fields,
        tables,
        of_quasi,
        rows,
        with_others,
        areas,
        *cells,
        classes,
        class_keys[order],
        categories,
        codes,
    )


def match_in_place(found: InPlace, areas: Areas, unmatched: str = STOP, k: int = 2) -> Matched:
    """Match the areas of records in an engine with areas: as `match_records`, with the same errors."""
    records = _records_of_areas(found)
    used = np.flatnonzero(records)
    names = {name: Column(np.zeros(len(used), np.int8), found.areas[:1]) for name in found.fields.quasi_identifiers}
    table = RecordTable(Column(used, found.areas), names, {}, records[used])
    check_table(table, k)
    area_of = np.full(len(found.areas), -1, np.int64)
    area_of[used] = match_areas(table, areas, unmatched, found.fields.area)
    if any((areas.codes_of(np.array(list(map(identifier_text, one)), object)) >= 0).any() for one in found.categories):
        check_no_area_copy(found.table(), areas, area_of[found.area])
    n_unmatched = int(records[area_of < 0].sum())
    return Matched(found, area_of, found.profile(area_of, len(areas)), n_unmatched)


def _records_of_areas(found: InPlace) -> np.ndarray:
    """The records of each value of the area's field, (A,) int64."""
    records = np.zeros(len(found.areas))
    for cells in stretches(len(found.area)):
        records += np.bincount(found.area[cells], found.records[cells], len(records))
    return records.astype(np.int64)


def requirement_in_place(matched: Matched, k: int, l_diversity: int = 1, max_share: float = 100.0) -> Requirement:
    """What is asked of the labels of these records, as `requirement_of`; counted in the engine."""
    fields, members, shares = matched.found.fields, [], []
    for position, kind in enumerate(fields.members):
        cell, member, _ = _by_value(matched, f"c_m{position}")
        members.append(Members(kind, cell, member))
    for name in fields.sensitive:
        cell, value, records = _by_value(matched, f"c_k{fields.kept.index(name)}")
        shares.append(Shares(name, cell, value, records))
    return Requirement(k, tuple(members), tuple(shares), l_diversity, max_share)


def _by_value(matched: Matched, code: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The records of each cell by one more field: cell, code of the value, records, of every pair that occurs."""
    found, profile = matched.found, matched.profile
    counted = steps.counted(found.with_others, ["c_a", "key", code], bool(found.fields.count))
    area, key, value, records = _collected(found.engine.fetch(counted), (np.int32, np.int64, np.int64, np.int64))
    position = matched.area_of[area]
    inside = position >= 0
    order = np.argsort(found.class_keys)
    class_of = order[np.searchsorted(found.class_keys[order], key[inside])]
    n_classes = len(found.classes)
    stored = np.repeat(np.arange(profile.counts.shape[0]), np.diff(profile.counts.indptr)) * n_classes
    cell = np.searchsorted(stored + profile.counts.indices, position[inside] * n_classes + class_of)
    # Two ways to write one area make one cell.
    pairs, at = np.unique(np.column_stack([cell, value[inside]]), axis=0, return_inverse=True)
    return pairs[:, 0], pairs[:, 1], np.bincount(at.reshape(-1), records[inside], len(pairs)).astype(np.int64)


def _checked_bounds(engine: Engine, source: Expression, fields: RecordFields) -> int:
    """The number of records; refuses counts that are none, and members without an identifier."""
    (found,) = (row for batch in engine.fetch(steps.bounds(source, fields)) for row in batch.to_pylist())
    if not found["rows"]:
        raise InputError(tr("The table has no row, or none that FILTER lets through: there is nothing to count."))
    for word in ("missing", "negative", "broken"):
        if found.get(word):
            what = {"missing": tr("missing"), "negative": tr("negative"), "broken": tr("not a whole number")}[word]
            raise InputError(
                tr(
                    "RECORD_COUNT field “{count}” is {what} in {found} rows: each row must say how many "
                    "records it stands for.",
                    count=fields.count,
                    what=what,
                    found=int(found[word]),
                )
            )
    for position, kind in enumerate(fields.members):
        if lost := int(found[f"m{position}"] or 0):
            refuse_rows_of_nobody(kind, lost)
    records = found["records"] if fields.count else found["rows"]
    if records >= MOST_RECORDS:
        raise InputError(
            tr("RECORD_COUNT field “{count}” adds up to more than can be counted exactly.", count=fields.count)
        )
    return int(records)


def _size(engine: Engine, dictionary: Expression) -> int:
    (found,) = (row for batch in engine.fetch(dictionary.aggregate(n=dictionary.count())) for row in batch.to_pylist())
    return int(found["n"])


def _collected(batches: Iterable[Arrow], kinds: Sequence[type]) -> list[np.ndarray]:
    """The columns of all batches, one array each; never twice in memory but for the last stretch."""
    columns: list[np.ndarray] = [np.empty(1 << 16, kind) for kind in kinds]
    size = 0
    for batch in batches:
        end = size + batch.num_rows
        for position in range(len(columns)):
            if end > len(columns[position]):
                columns[position].resize(max(end, len(columns[position]) * 3 // 2), refcheck=False)
            columns[position][size:end] = batch.column(position).to_numpy(zero_copy_only=False)
        size = end
    for column in columns:
        column.resize(size, refcheck=False)
    return columns


def _keys_there(key: np.ndarray, reach: int) -> np.ndarray:
    """The keys that occur, ascending, (C,) int64; reach : how many there could be."""
    if reach > LOOKED_UP:
        known: np.ndarray = np.empty(0, np.int64)
        for cells in stretches(len(key)):
            known = np.union1d(known, key[cells])
        return known.astype(np.int64)
    there = np.zeros(reach, bool)
    for cells in stretches(len(key)):
        there[key[cells]] = True
    return np.flatnonzero(there)


def _classes_of(key: np.ndarray, class_keys: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The class of each cell, (m,) int32; order : the keys by class. Of 32 bits, the keys make room for it."""
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    class_of = key if key.dtype == np.int32 else np.empty(len(key), np.int32)
    looked_up = len(class_keys) and class_keys[-1] < LOOKED_UP
    if looked_up:
        by_key = np.empty(int(class_keys[-1]) + 1, np.int32)
        by_key[class_keys] = rank
    for cells in stretches(len(key)):
        class_of[cells] = by_key[key[cells]] if looked_up else rank[np.searchsorted(class_keys, key[cells])]
    return class_of


def _in_order(
    class_keys: np.ndarray, values: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Codes of the classes by sorted categories, the order that sorts the classes by them, the categories, and the code
    of each in the engine.

    The engine sorts values its own way: here they are in the order that every profile has.
    """
    codes: list[np.ndarray] = []
    categories: list[np.ndarray] = []
    orders: list[np.ndarray] = []
    rest = class_keys
    for known in reversed(values):
        rest, code = np.divmod(rest, len(known) + 1)
        every = [*to_list(known), None] if (code == len(known)).any() else to_list(known)
        order = sorted(range(len(every)), key=lambda i: category_order(every[i]))
        rank = np.empty(len(every), np.int64)
        rank[order] = np.arange(len(every))
        sorted_values = np.empty(len(every), dtype=object)
        sorted_values[:] = [every[i] for i in order]
        codes.insert(0, rank[code])
        categories.insert(0, sorted_values)
        orders.insert(0, np.array(order, np.int64))
    classes = np.column_stack(codes)
    order_of_classes = np.lexsort(classes.T[::-1])
    return classes[order_of_classes], order_of_classes, tuple(categories), tuple(orders)
