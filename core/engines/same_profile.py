"""Whether records in place still have the counts of a profile that was made of them earlier."""

from __future__ import annotations

import numpy as np

from ..areas import identifier_text
from ..arrays import to_list
from ..records.columns import Column
from ..records.table import RecordTable
from ..scientific import sparse
from .in_place import InPlace


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
