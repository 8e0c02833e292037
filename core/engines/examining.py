"""What the fields that are kept of records in an engine tell, by rows of some classes; nothing of them is kept here."""

from __future__ import annotations

import numpy as np

from ..plan import Plan
from ..privacy.kept_field import KeptField
from ..privacy.kept_fields import examine_rows
from ..records.columns import Column, column_from_values, smallest_integers
from .dictionaries import values_of
from .engine import Arrow, Expression, whole_numbers_of
from .in_place import InPlace, Matched

NOT_LOOKED_AT = -1


def examined_in_place(matched: Matched, plan: Plan, placed: Expression) -> list[KeptField]:
    """Look at every kept field, as `examine_kept_fields` does.

    placed : the rows, of which those are read whose l_look is their equivalence class
    """
    in_place = matched.in_place
    kept = [f"k{i}" for i in range(len(in_place.fields.kept))]
    fine, codes = columns_looked_at(in_place)
    coded = {key: f"c_{key}" for key in in_place.kept_values}
    looked_at = placed.filter(placed.l_look != NOT_LOOKED_AT).select(
        "c_a", "l_look", *(coded.get(key, key) for key in kept), *fine.values(), *codes.values()
    )
    batches = list(in_place.engine.fetch(looked_at))
    numbers = {name: whole_numbers(batches, name) for name in ("c_a", "l_look", *fine.values(), *codes.values())}
    columns = {}
    for key, name in zip(kept, in_place.fields.kept):
        if key in coded:
            values = values_of(in_place.engine, in_place.kept_values[key], key)
            columns[name] = _column(values.tolist(), whole_numbers(batches, coded[key]))
        else:
            columns[name] = encoded(batches, key)
    area, equivalence_class = matched.area_of[numbers["c_a"]], numbers["l_look"]
    originals = {name: numbers[key] for name, key in fine.items()}
    quasi = {name: categories_of(in_place, i, numbers[key]) for i, (name, key) in enumerate(codes.items())}
    return examine_rows(plan, equivalence_class, area, columns, quasi, originals)


def columns_looked_at(in_place: InPlace) -> tuple[dict[str, str], dict[str, str]]:
    """By quasi-identifier, the columns of its values as they were read, where all rows show them coarser, and of the
    values that rows were counted by, as codes."""
    quasi = dict(zip(in_place.fields.quasi_identifiers, in_place.quasi))
    return {name: f"o_{quasi[name]}" for name in in_place.coarsened}, {name: f"c_{key}" for name, key in quasi.items()}


def categories_of(in_place: InPlace, position: int, code: np.ndarray) -> np.ndarray:
    """The category of each code of a quasi-identifier in the engine."""
    category = np.zeros(in_place.sizes[in_place.quasi[position]] + 1, np.int64)
    category[in_place.codes[position]] = np.arange(len(in_place.codes[position]), dtype=np.int64)
    return category[code]


def encoded(batches: list, name: str) -> Column:
    """A field of all batches as a column; of its rows only the different values become Python's own."""
    import pyarrow as pa

    if not batches:
        return column_from_values([])
    every = pa.chunked_array([batch.column(name) for batch in batches]).dictionary_encode().unify_dictionaries()
    values = _different(every.chunk(0).dictionary)
    codes = np.concatenate(
        [part.indices.fill_null(len(values)).to_numpy(zero_copy_only=False) for part in every.chunks]
    )
    return _column(values, codes)


def _column(values: list, codes: np.ndarray) -> Column:
    """Rows by the codes of their values as a column; the code that follows them is that of rows without a value."""
    of_values = column_from_values([*values, None])
    there = np.zeros(len(of_values.categories), bool)
    there[of_values.codes[codes]] = True
    place = np.cumsum(there, dtype=np.int64) - 1
    return Column(smallest_integers(place[of_values.codes][codes], int(there.sum())), of_values.categories[there])


def _different(values: Arrow) -> list:
    """Values as Python's own, which only have to be told apart: dates that Python does not know as their numbers."""
    import pyarrow as pa

    try:
        return values.to_pylist()
    except OverflowError:
        return values.cast(pa.int32() if pa.types.is_date32(values.type) else pa.int64()).to_pylist()


def whole_numbers(batches: list, name: str) -> np.ndarray:
    """A field of whole numbers of all batches, (r,) int64."""
    parts = [whole_numbers_of(batch.column(name)).astype(np.int64) for batch in batches]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
