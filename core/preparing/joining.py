"""How records join areas: the fields of both that hold the same values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..areas import identifier_text, without_zeros_of
from ..dataclass import dataclass
from ..records.columns import Column
from .usual_names import AREA_IDS, ROW_NUMBERS

ENOUGH = 0.5  # of the records have an area of the layer


@dataclass(frozen=True)
class Join:
    """A field of the areas and one of the records that hold the same values.

    share : of the records, whose value is that of an area, leading zeros aside; usual : whether the names say so too;
    distinct : how many areas the records have
    """

    region_id: str
    record_region: str
    share: float
    usual: bool
    distinct: int

    @property
    def rank(self) -> tuple[float, bool, int]:
        """The better the larger: how many records join, under a usual name, over how many values."""
        return round(self.share, 1), self.usual, self.distinct


def joining(areas: Mapping[str, Column], records: Mapping[str, Column]) -> list[Join]:
    """The pairs of fields by which records join areas, the best first; only those where some record joins.

    areas, records : columns by field. Values are compared as text, as a release compares them, but for leading zeros,
    which tables lose; what numbers rows is left aside.
    """
    return joins_of(keys_of(areas), records)


def keys_of(areas: Mapping[str, Column]) -> dict[str, set[str]]:
    """The fields that identify areas, no value of which occurs twice or is missing, with their values as text."""
    return {name: there for name, column in areas.items() if not _numbers_rows(name) and (there := _keys(column))}


def joins_of(keys: Mapping[str, set[str]], records: Mapping[str, Column]) -> list[Join]:
    """As `joining`, of areas whose `keys_of` are known."""
    joins = [
        join
        for name, column in records.items()
        if not _numbers_rows(name)
        for join in _joins(name, column, keys)
        if join.distinct
    ]
    return sorted(joins, key=lambda join: join.rank, reverse=True)


def best_join(keys: Mapping[str, set[str]], records: Mapping[str, Column]) -> Join | None:
    """The best of `joins_of`, None where none joins at least half of the records."""
    joins = joins_of(keys, records)
    return joins[0] if joins and joins[0].share >= ENOUGH else None


def _keys(column: Column) -> set[str]:
    """The values of a field that identifies areas; none of one that does not."""
    texts = {identifier_text(value) for value in column.categories.tolist()}
    if None in texts or len(texts) < len(column):
        return set()
    return {without_zeros_of(text) for text in texts if text is not None}


def _joins(name: str, column: Column, keys: Mapping[str, set[str]]) -> list[Join]:
    read = [identifier_text(value) for value in column.categories.tolist()]
    texts = [None if text is None else without_zeros_of(text) for text in read]
    held = np.bincount(column.codes, minlength=len(texts))
    joins = []
    for key, there in keys.items():
        known = np.array([text in there for text in texts], bool)
        usual = name.lower() == key.lower() or name.lower() in AREA_IDS
        distinct = len({*texts} & there)
        joins.append(Join(key, name, float(held[known].sum()) / max(len(column), 1), usual, distinct))
    return joins


def _numbers_rows(name: str) -> bool:
    return name.lower() in ROW_NUMBERS
