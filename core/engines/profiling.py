"""The profile, counted where the records are: what comes back is three whole numbers for each cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..areas import Areas, identifier_text
from ..arrays import objects, to_list
from ..errors import InputError, first_values
from ..language import tr
from ..plan import stretches
from ..privacy.diversity import Shares, held_of
from ..privacy.requirement import Members, Requirement
from ..privacy.weights import CountedRows
from ..progress import Progress, silent
from ..records.columns import Column, category_order, combine_codes
from ..records.fields import RecordFields
from ..records.matching import STOP, area_copy, match_areas
from ..records.table import MOST_RECORDS, RecordTable, check_enough_members, check_table, refuse_rows_of_nobody
from . import steps
from .engine import Arrow, Engine, EngineError, Expression, whole_numbers_of
from .fields import checked
from .in_place import InPlace, Matched

FEW_VALUES = 4096  # of a kept field, up to which rows have its codes
LOOKED_UP = 2**26  # classes there could be, up to which their numbers are found by a table


def count_in_place(
    engine: Engine,
    fields: RecordFields,
    progress: Progress = silent,
    released: bool = True,
    by_value: bool = False,
) -> InPlace:
    """Count the records of an open engine by area and class.

    released : whether they are to be released, so that their rows are read again; by_value : whether all kept fields
    get codes, as sensitive ones do, for what is counted by their values.
    Raises InputError for fields that are not there or cannot be released, an empty table, counts that are none, members
    without an identifier, and for more possible classes than 64 bits hold.
    """
    checked(fields, engine.fields)
    source = steps.filtered(engine.source(fields.names()), fields.filters, engine.fields)
    n_records = _checked_bounds(engine, source, fields)
    source = steps.with_whole_counts(source) if fields.count else source
    progress(0.1)
    quasi = [f"q{i}" for i in range(len(fields.quasi_identifiers))]
    members = [f"m{i}" for i in range(len(fields.members))]
    sensitive = [f"k{fields.kept.index(name)}" for name in (fields.kept if by_value else fields.sensitive)]
    dictionaries = _values_of(engine, source, fields, ["a", *quasi])
    values = {column: known for column, (_, known) in dictionaries.items()}
    tables = {column: table for column, (table, _) in dictionaries.items()}
    tables |= {
        column: engine.keep(f"vbas_{column}", steps.dictionary(source, column)) for column in (*members, *sensitive)
    }
    progress(0.3)
    sizes = {column: len(known) for column, known in values.items()}
    if steps.reach(sizes, quasi) > steps.MOST_CLASSES:
        raise InputError.saying(
            "QUASI_IDENTIFIERS could make more classes than 64 bits can number: choose fewer of them, or group their "
            "values first."
        )
    kept_values = _few_values(engine, source, fields, tables) if released and engine.packs else {}
    rows = steps.coded(source, {column: tables[column] for column in values}, sizes, quasi)
    if released:
        rows = engine.again("vbas_rows", rows.drop("a", *(quasi if engine.decodes else ())))
    others = {column: size_of(engine, tables[column]) for column in (*members, *sensitive)}
    with_others = steps.coded(source, tables, {**sizes, **others}, quasi) if others else rows
    reach = steps.reach(sizes, quasi)
    area, key, records = _cells_of(engine, rows, n_records, sizes["a"] + 1, reach, bool(fields.count))
    if int(records.sum(dtype=np.int64)) != n_records:
        raise EngineError.saying(
            "{title} counted {n_records} of {expected} records: start again.",
            title=engine.title,
            n_records=int(records.sum()),
            expected=n_records,
        )
    class_keys = _keys_there(key, reach)
    progress(0.9)
    classes, order, categories, codes = _in_order(class_keys, [values[column] for column in quasi])
    areas = np.append(values["a"], np.array([None], dtype=object))
    cells = area, _classes_of(key, class_keys, order), records
    of_quasi = {column: sizes[column] for column in quasi}
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
        kept_values=kept_values,
    )


def _cells_of(
    engine: Engine, rows: Expression, n_records: int, n_areas: int, reach: int, weighted: bool
) -> list[np.ndarray]:
    """Area, number of the class and records of each cell; n_areas, reach : how many areas and classes there could be.

    Where nearly every row is a cell of its own, counting is sorting, and numbers are sorted here in a fraction of the
    time that an engine takes to group them.
    """
    n_cells = n_areas * reach
    if not weighted and n_records <= engine.rows_here and n_records <= n_cells < 2**63:
        kind = "uint32" if n_cells <= 2**32 else "int64"
        cell = steps.cells_of_rows(rows, reach, kind)
        (numbers,) = _collected(engine.fetch(cell), [np.dtype(kind).type], n_records)
        return counted_cells(numbers, reach)
    kinds = np.int32, *(np.int32 if most < 2**31 else np.int64 for most in (reach, n_records))
    return _collected(engine.fetch(steps.counted(rows, ["c_a", "key"], weighted)), kinds)


def counted_cells(cell: np.ndarray, reach: int) -> list[np.ndarray]:
    """Area, number of the class and records of each cell, ascending by area and class; each (m,), records int32.

    cell : (N,) uint32 or int64, the area times `reach` plus the number of the class, of each row; it is sorted
    """
    cell.sort()
    last = np.ones(len(cell), bool)  # of the rows of a cell
    np.not_equal(cell[1:], cell[:-1], out=last[:-1])
    n_cells = int(np.count_nonzero(last))
    kind = np.int32 if reach < 2**31 else np.int64
    area, key, records = np.empty(n_cells, np.int32), np.empty(n_cells, kind), np.empty(n_cells, np.int32)
    start, counted, of_area = 0, 0, cell.dtype.type(reach)
    for some in stretches(len(cell)):
        ends = some.start + 1 + np.flatnonzero(last[some])
        here, start = slice(start, start + len(ends)), start + len(ends)
        numbers = cell[some][last[some]]
        areas = numbers // of_area
        area[here], key[here] = areas, numbers - areas * of_area
        records[here] = ends
        records[here][1:] -= ends[:-1]
        if len(ends):
            records[here.start] -= counted
            counted = int(ends[-1])
    return [area, key, records]


def _few_values(
    engine: Engine, source: Expression, fields: RecordFields, known: Mapping[str, Expression]
) -> dict[str, Expression]:
    """The dictionaries of kept fields of text that have few values, by their names in the steps.

    known : dictionaries that there are already
    """
    texts = [f"k{i}" for i in range(len(fields.kept)) if source[f"k{i}"].type().is_string()]
    if not texts:
        return {}
    about = source.aggregate(**{column: source[column].approx_nunique() for column in texts})
    (number,) = (row for batch in engine.fetch(about) for row in batch.to_pylist())
    return {
        column: known[column] if column in known else engine.keep(f"vbas_{column}", steps.dictionary(source, column))
        for column in texts
        if 0 < number[column] <= FEW_VALUES
    }


def _values_of(
    engine: Engine, source: Expression, fields: RecordFields, columns: list[str]
) -> dict[str, tuple[Expression, np.ndarray]]:
    """The dictionaries of areas and quasi-identifiers. Raises InputError for dates that Python does not know."""
    try:
        return engine.dictionaries(source, columns)
    except OverflowError:
        every = (fields.area, *fields.quasi_identifiers)
        dates = [name for name in every if engine.fields[name].lower()[:4] in ("date", "time")]
    raise InputError.saying(
        "{fields}: a record has a date before the year 1, after the year 9999, or infinity: make it a missing value, "
        "or the field a text, first.",
        fields=first_values(dates),
    )


def match_in_place(in_place: InPlace, areas: Areas, unmatched: str = STOP, k: int = 2) -> Matched:
    """Match the areas of records in an engine with areas: as `match_records`, with the same errors."""
    records = _records_of_areas(in_place)
    used = np.flatnonzero(records)
    names = {
        name: Column(np.zeros(len(used), np.int8), in_place.areas[:1]) for name in in_place.fields.quasi_identifiers
    }
    table = RecordTable(Column(used, in_place.areas), names, {}, records[used])
    check_table(table, k)
    check_enough_members(_members_of(in_place), in_place.n_records, k)
    area_of = np.full(len(in_place.areas), -1, np.int64)
    area_of[used] = match_areas(table, areas, unmatched, in_place.fields.area)
    named = zip(in_place.fields.quasi_identifiers, in_place.classes.T, in_place.categories)
    refuse_area_copies(in_place, areas, area_of, {name: Column(codes, values) for name, codes, values in named})
    n_unmatched = int(records[area_of < 0].sum())
    return Matched(in_place, area_of, in_place.profile(area_of, len(areas)), n_unmatched)


def _members_of(in_place: InPlace) -> dict[str, int]:
    """How many persons and households there are, by the dictionaries of their fields."""
    return {
        kind: size_of(in_place.engine, in_place.dictionaries[f"m{position}"])
        for position, kind in enumerate(in_place.fields.members)
    }


def refuse_area_copies(in_place: InPlace, areas: Areas, area_of: np.ndarray, columns: Mapping[str, Column]) -> None:
    """`check_no_area_copy` of the records, by their cells, some millions at a time.

    area_of : (A,) as in `Matched`; columns : what each class shows of its quasi-identifiers, columns of C rows
    """
    for name, column in columns.items():
        position = areas.named_by(np.array(list(map(identifier_text, column.categories)), object))
        if not (position >= 0).any():
            continue
        same = known = 0
        for cells in stretches(len(in_place.area)):
            area, records = area_of[in_place.area[cells]], in_place.records[cells]
            repeats = (position[column.codes[in_place.class_of[cells]]] == area) & (area >= 0)
            known += int(records[area >= 0].sum(dtype=np.int64))
            same += int(records[repeats].sum(dtype=np.int64))
        if same > 0.5 * known:
            raise area_copy(name)


def _records_of_areas(in_place: InPlace) -> np.ndarray:
    """The records of each value of the area's field, (A,) int64."""
    records = np.zeros(len(in_place.areas))
    for cells in stretches(len(in_place.area)):
        records += np.bincount(in_place.area[cells], in_place.records[cells], len(records))
    return records.astype(np.int64)


def requirement_in_place(matched: Matched, k: int, l_diversity: int = 1, max_share: float = 100.0) -> Requirement:
    """What is asked of the equivalence classes of these records, as `requirement_of`; counted in the engine."""
    fields, members, shares = matched.in_place.fields, [], []
    who = {kind: f"c_m{position}" for position, kind in enumerate(fields.members)}
    for kind, code in who.items():
        cell, member, _ = counted_by_values(matched, code)
        members.append(Members(kind, cell, member))
    for name in fields.sensitive:
        value_code = code_of_values(matched, name)
        cell, value, records = counted_by_values(matched, value_code)
        held = tuple(held_of(kind, *counted_by_values(matched, code, value_code)[:-1]) for kind, code in who.items())
        shares.append(Shares(name, cell, value, records, held))
    return Requirement(k, tuple(members), tuple(shares), l_diversity, max_share)


def code_of_values(matched: Matched, name: str) -> str:
    """What the code of a field that was counted by value is called in the rows with those of members."""
    return f"c_k{matched.in_place.fields.kept.index(name)}"


def counted_rows_in_place(matched: Matched) -> CountedRows | None:
    """The rows that stand for several records each, as `counted_rows`; one entry for those of a cell and a count."""
    if not matched.in_place.fields.count:
        return None
    rows = steps.with_counts(matched.in_place.rows)
    cell, count, n_rows = _by_cell(matched, steps.counted(rows, ["c_a", "key", "count"], False), 1)
    return CountedRows(matched.profile, cell, count, n_rows)


def counted_by_values(matched: Matched, *codes: str) -> list[np.ndarray]:
    """The records of each cell by further fields: cell, the codes of the values, records, of all that occurs."""
    in_place = matched.in_place
    counted = steps.counted(in_place.with_others, ["c_a", "key", *codes], bool(in_place.fields.count))
    return _by_cell(matched, counted, len(codes))


def _by_cell(matched: Matched, counted: Expression, n_values: int) -> list[np.ndarray]:
    """Cell, values, records of what was counted by area, key and so many whole numbers; of known areas alone."""
    in_place, profile = matched.in_place, matched.profile
    kinds = np.int32, *([np.int64] * (n_values + 2))
    area, key, *values, records = _collected(in_place.engine.fetch(counted), kinds)
    position = matched.area_of[area]
    inside = position >= 0
    order = np.argsort(in_place.class_keys)
    class_of = order[np.searchsorted(in_place.class_keys[order], key[inside])]
    n_classes = len(in_place.classes)
    stored = np.repeat(np.arange(profile.counts.shape[0], dtype=np.int64), np.diff(profile.counts.indptr)) * n_classes
    cell = np.searchsorted(stored + profile.counts.indices, position[inside] * n_classes + class_of)
    # Two ways to write one area make one cell.
    columns = [cell, *(codes[inside] for codes in values)]
    at, there = combine_codes(columns, [int(column.max(initial=0)) + 1 for column in columns])
    return [*there.T, np.bincount(at, records[inside], len(there)).astype(np.int64)]


def _checked_bounds(engine: Engine, source: Expression, fields: RecordFields) -> int:
    """The number of records; refuses counts that are none, and members without an identifier."""
    try:
        (totals,) = (row for batch in engine.fetch(steps.bounds(source, fields)) for row in batch.to_pylist())
    except EngineError as error:
        if fields.count and source["n"].type().is_string():
            raise InputError.saying(
                "RECORD_COUNT: the field “{field}” holds text, which cannot be read as numbers of records: choose "
                "another. {problem}",
                field=fields.count,
                problem=error,
            ) from None
        raise
    if not totals["rows"]:
        raise InputError.saying("The table has no row, or none that FILTER lets through: there is nothing to count.")
    for word in ("missing", "negative", "broken"):
        if totals.get(word):
            what = {"missing": tr("missing"), "negative": tr("negative"), "broken": tr("not a whole number")}[word]
            raise InputError.counting(
                "RECORD_COUNT field “{count}” is {what} in {n} row: each row must say how many records it stands for.",
                "RECORD_COUNT field “{count}” is {what} in {n} rows: each row must say how many records it stands for.",
                int(totals[word]),
                count=fields.count,
                what=what,
            )
    for position, kind in enumerate(fields.members):
        if lost := int(totals[f"m{position}"] or 0):
            refuse_rows_of_nobody(kind, lost)
    records = totals["records"] if fields.count else totals["rows"]
    if records >= MOST_RECORDS:
        raise InputError.saying(
            "RECORD_COUNT field “{count}” adds up to more than can be counted exactly.", count=fields.count
        )
    return int(records)


def size_of(engine: Engine, dictionary: Expression) -> int:
    """How many values a dictionary has."""
    (sizes,) = (row for batch in engine.fetch(dictionary.aggregate(n=dictionary.count())) for row in batch.to_pylist())
    return int(sizes["n"])


def _collected(batches: Iterable[Arrow], kinds: Sequence[type], n_rows: int = 1 << 16) -> list[np.ndarray]:
    """The columns of all batches, one array each; never twice in memory but for the last stretch.

    n_rows : how many rows are expected
    """
    columns: list[np.ndarray] = [np.empty(n_rows, kind) for kind in kinds]
    size = 0
    for batch in batches:
        end = size + batch.num_rows
        for position in range(len(columns)):
            if end > len(columns[position]):
                columns[position].resize(max(end, len(columns[position]) * 3 // 2), refcheck=False)
            columns[position][size:end] = whole_numbers_of(batch.column(position))
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
        rank[order] = np.arange(len(every), dtype=np.int64)
        sorted_values = objects([every[i] for i in order])
        codes.insert(0, rank[code])
        categories.insert(0, sorted_values)
        orders.insert(0, np.array(order, np.int64))
    classes = np.column_stack(codes)
    order_of_classes = np.lexsort(classes.T[::-1])
    return classes[order_of_classes], order_of_classes, tuple(categories), tuple(orders)
