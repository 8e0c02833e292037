"""Sensitive values that releases show: how many records of each equivalence class have which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..areas import identifier_text
from ..dataclass import dataclass
from ..privacy.diversity import Shares
from ..privacy.requirement import Requirement
from ..records.matching import Records

MISSING = ""
"""How a missing value is written; text that is empty is told apart by its type."""


@dataclass(frozen=True, eq=False)
class KeptValues:
    """A sensitive field that is released: its values in each cell of a profile, and what the value codes stand for."""

    shares: Shares
    categories: np.ndarray


@dataclass(frozen=True, eq=False)
class Values:
    """What equivalence classes show of a sensitive field.

    field : its name; categories : (V,) object array of text, only values that are shown
    equivalence_class, value, records : (s,) int64, of each equivalence class (its position in what is published) and
    value, each pair once
    """

    field: str
    categories: np.ndarray
    equivalence_class: np.ndarray
    value: np.ndarray
    records: np.ndarray


def kept_values(records: Records, requirement: Requirement) -> tuple[KeptValues, ...]:
    """The sensitive fields of records, all of which are released; requirement : what is asked of these records."""
    return tuple(KeptValues(share, records.table.kept[share.field].categories) for share in requirement.shares)


def values_of_cells(kept: KeptValues, equivalence_class_of: np.ndarray) -> Values:
    """What is shown of a field; equivalence_class_of : (m,) of each cell, negative where it is not published."""
    shares = kept.shares
    equivalence_class = equivalence_class_of[shares.cell]
    there = equivalence_class >= 0
    return _added(shares.field, kept.categories, equivalence_class[there], shares.value[there], shares.records[there])


def values_of_rows(
    field: str, categories: np.ndarray, equivalence_class: np.ndarray, codes: np.ndarray, counts: np.ndarray | None
) -> Values:
    """What rows show of a field; equivalence_class, codes : (R,) of each row; counts : (R,) records, else ones."""
    return _added(
        field,
        categories,
        equivalence_class,
        codes,
        np.ones(len(equivalence_class), np.int64) if counts is None else counts,
    )


def as_text(values: Sequence[object]) -> list[str]:
    """Values as text by which releases are compared; values that only their type tells apart are told apart."""
    texts = [_text(value) for value in values]
    twice = {text for text, times in Counter(texts).items() if times > 1}
    return [f"{text} ({type(value).__name__})" if text in twice else text for text, value in zip(texts, values)]


def _text(value: object) -> str:
    """A value as text, other than that of each other value of its type; quotes in pairs stand for an empty text."""
    if value is None:
        return MISSING
    text = identifier_text(value) or ""
    return text + "''" if text == "''" * (len(text) // 2) else text


def as_value(text: str) -> str:
    """The text that is written so by `as_text`: without the quotes that stand for an empty one."""
    return text[:-2] if text and text == "''" * (len(text) // 2) else text


def _added(
    field: str, categories: np.ndarray, equivalence_class: np.ndarray, codes: np.ndarray, records: np.ndarray
) -> Values:
    n_values = max(len(categories), 1)
    keys, at = np.unique(equivalence_class.astype(np.int64) * n_values + codes, return_inverse=True)
    total = np.bincount(at.reshape(-1), records, len(keys)).astype(np.int64)
    there = total > 0
    of_equivalence_class, code = np.divmod(keys[there], n_values)
    used, value = np.unique(code, return_inverse=True)
    texts = np.array(as_text([categories[position] for position in used.tolist()]), dtype=object)
    return Values(field, texts, of_equivalence_class, value.reshape(-1).astype(np.int64), total[there])
