"""What rows show together beside quasi-identifiers: of each equivalence class how many have which values of all fields.

Sensitive fields by themselves do not tell which values stood in one row, and say nothing of kept fields. Who compares
two releases compares rows; so does an update that shows several fields, or one that is only kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ..privacy.diversity import Shares
from ..records.columns import Column, combine_codes
from ..records.matching import Records
from ..records.table import RecordTable
from ..releases.writing import written_otherwise
from .values import KeptValues, Values, as_text

if TYPE_CHECKING:
    from .published import Published

ROWS = "vbas_rows "  # begins what stands in place of the field


def written_names(names: Sequence[str]) -> str:
    """What stands in place of the field of values that are those of several fields, or of one that is only kept."""
    return ROWS + json.dumps(list(names), ensure_ascii=False)


def names_of(values: Values) -> tuple[str, ...]:
    """The fields whose values these are, in their order; one where they are of a sensitive field."""
    return fields_of(values.field)


def fields_of(field: str) -> tuple[str, ...]:
    """The fields that what is written in place of one stands for; itself where it is one."""
    return tuple(map(str, json.loads(field[len(ROWS) :]))) if is_of_rows(field) else (field,)


def is_of_rows(field: str) -> bool:
    """Whether a field is none, but stands for those of `written_names`."""
    return field.startswith(ROWS)


def names_beside(table: RecordTable) -> tuple[str, ...]:
    """The fields that the rows of a release show beside quasi-identifiers, in order."""
    return tuple(sorted(table.kept))


def column_beside(table: RecordTable, rows: np.ndarray) -> Column:
    """What some rows show in all these fields, each as one text; the value itself where it is one field.

    rows : (r,) positions in the table, which has such fields
    """
    columns = [table.kept[name] for name in names_beside(table)]
    texts = [as_text(column.categories.tolist()) for column in columns]
    if len(columns) == 1:
        return Column(columns[0].codes[rows], np.array(texts[0], dtype=object))
    sizes = [len(column.categories) for column in columns]
    value, of_each = combine_codes([column.codes[rows] for column in columns], sizes)
    joined = [_joined([own[code] for own, code in zip(texts, codes)]) for codes in of_each.tolist()]
    return Column(value, np.array(joined, dtype=object))


def parts_of(text: str, n: int) -> list[str]:
    """The values of n fields that a text of `column_beside` joins."""
    return [text] if n == 1 else [str(part) for part in json.loads(text)]


def rows_beside(records: Records) -> KeptValues | None:
    """What the rows of records show in all fields beside quasi-identifiers, by cell.

    None where the sensitive fields tell the same: where there is no field, or one, which is sensitive.
    """
    table = records.table
    if not table.kept or (tuple(table.kept) == tuple(table.sensitive) and len(table.kept) == 1):
        return None
    row = np.flatnonzero(records.cell_of >= 0)
    column = column_beside(table, row)
    n_values = max(len(column.categories), 1)
    keys, at = np.unique(records.cell_of[row] * n_values + column.codes, return_inverse=True)
    weights = None if table.counts is None else table.counts[row]
    numbers = np.bincount(at.reshape(-1), weights, len(keys)).astype(np.int64)
    cell, value = np.divmod(keys, n_values)
    names = names_beside(table)
    # Values of one field are written as text where they are published: what is text already would be written anew.
    categories = table.kept[names[0]].categories if len(names) == 1 else column.categories
    return KeptValues(Shares(written_names(names), cell, value, numbers), categories)


def row_values_in(release: Published, names: Sequence[str]) -> Values | None:
    """What rows of a release are known to show in some fields together, given in order; None where it is not known."""
    for values in reversed(all_values(release)):
        own = names_of(values)
        if own == tuple(names):
            return values
        if set(names) <= set(own):
            return _of_some(values, [own.index(name) for name in names], names)
    return None


def all_values(release: Published) -> tuple[Values, ...]:
    """The sensitive fields of a release, and last what its rows show together, where that is known."""
    return release.sensitive if release.rows is None else (*release.sensitive, release.rows)


def apart(values: Sequence[Values]) -> tuple[tuple[Values, ...], Values | None]:
    """Of all values of a release those of sensitive fields, and what its rows show together, None where not known."""
    rows = [column for column in values if is_of_rows(column.field)]
    return tuple(column for column in values if not is_of_rows(column.field)), rows[0] if rows else None


def known_fields(release: Published) -> set[str]:
    """The fields of a release of which the register knows what its rows show."""
    return {name for values in all_values(release) for name in names_of(values)}


def n_that_can_be_followed(release: Published, earlier: Sequence[Published], k: int) -> int:
    """Rows of an update, and of the last earlier release that shows its fields, whose values fewer than k rows of their
    class show anywhere in it: whoever compares the two may know again who stayed, and so who left."""
    names = known_row_fields(release)
    if not names:
        return 0
    return sum(_n_rare(published, names, k) for published in (release, *_before(earlier, names)))


def fields_in_new_words(release: Published, earlier: Sequence[Published], k: int) -> list[str]:
    """The fields of an update that may be the same in other words: of the last earlier release that shows them a value
    of k rows or more is in none now, and one of k rows or more was in none then."""
    names = known_row_fields(release)
    now, fields = row_values_in(release, names), []
    for before in (row_values_in(other, names) for other in _before(earlier, names)):
        if before is None or now is None:
            continue
        before = written_as(before, now.categories.tolist())
        for name, then, own in zip(names, *(rows_by_value(values) for values in (before, now))):
            if _of_k(then, k) - own.keys() and _of_k(own, k) - then.keys():
                fields.append(name)
    return fields


def _before(earlier: Sequence[Published], names: Sequence[str]) -> Iterator[Published]:
    """The last of some releases of which it is known what rows show in some fields together, or none."""
    return islice((release for release in reversed(earlier) if names and row_values_in(release, names) is not None), 1)


def rows_by_value(values: Values) -> list[Counter[str]]:
    """Of each field, how many rows show which value."""
    numbers = np.bincount(values.value, values.records, len(values.categories)).astype(np.int64).tolist()
    of_fields: list[Counter[str]] = [Counter() for _ in names_of(values)]
    for text, number in zip(values.categories.tolist(), numbers):
        for of_field, part in zip(of_fields, parts_of(text, len(of_fields))):
            of_field[part] += number
    return of_fields


def _of_k(numbers: Mapping[str, int], k: int) -> set[str]:
    return {text for text, number in numbers.items() if number >= k}


def known_row_fields(release: Published) -> tuple[str, ...]:
    """The fields beside quasi-identifiers of which it is known what rows show in them together; none for none."""
    return next((names_of(values) for values in reversed(all_values(release))), ())


def _n_rare(release: Published, names: Sequence[str], k: int) -> int:
    values = row_values_in(release, names)
    if values is None:
        return 0
    key = release.class_of[values.equivalence_class] * max(len(values.categories), 1) + values.value
    _, position = np.unique(key, return_inverse=True)
    n_identical = np.bincount(position.reshape(-1), values.records)[position.reshape(-1)]
    return int(values.records[n_identical < k].sum())


def with_field_names(values: Values, name_of: Mapping[str, str]) -> Values:
    """The same with other names of fields; those without one keep theirs."""
    if not is_of_rows(values.field):
        return replace(values, field=name_of.get(values.field, values.field))
    names = [name_of.get(name, name) for name in names_of(values)]
    order = sorted(range(len(names)), key=names.__getitem__)
    return _of_some(values, order, [names[at] for at in order])


def with_field_values(values: Values, name: str, value_of: Mapping[str, str]) -> Values:
    """The same with other values of one field, one to one; those without one stay as they are."""
    names = names_of(values)
    if name not in names:
        return values
    at, n = names.index(name), len(names)
    texts = []
    for text in values.categories.tolist():
        parts = parts_of(text, n)
        parts[at] = value_of.get(parts[at], parts[at])
        texts.append(parts[0] if n == 1 else _joined(parts))
    return replace(values, categories=np.array(texts, dtype=object))


def written_as(values: Values, known: Sequence[str]) -> Values:
    """The same with each field's values written as known texts of `column_beside` write them: “Flu” as “flu”."""
    names = names_of(values)
    own, theirs = (list(zip(*(parts_of(text, len(names)) for text in texts))) for texts in (values.categories, known))
    for name, texts, others in zip(names, own, theirs):
        values = with_field_values(values, name, written_otherwise(texts, others))
    return values


def _of_some(values: Values, at: Sequence[int], names: Sequence[str]) -> Values:
    """What rows show in some of their fields, by their positions among all."""
    n = len(names_of(values))
    number: dict[str, int] = {}
    parts = ([parts_of(text, n)[i] for i in at] for text in values.categories.tolist())
    texts = (own[0] if len(own) == 1 else _joined(own) for own in parts)
    value_of = np.array([number.setdefault(text, len(number)) for text in texts], np.int64)
    width = max(len(number), 1)
    keys, position = np.unique(values.equivalence_class * width + value_of[values.value], return_inverse=True)
    records = np.bincount(position.reshape(-1), values.records, len(keys)).astype(np.int64)
    return Values(written_names(names), np.array(list(number), dtype=object), *np.divmod(keys, width), records)


def _joined(parts: Sequence[str]) -> str:
    return json.dumps(list(parts), ensure_ascii=False)
