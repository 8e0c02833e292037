"""Quasi-identifiers that are identifiers: looked for before anything long begins."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from .. import counted
from ..errors import InputError
from ..language import tr
from .columns import Column, combine_columns, count_codes

MOST_ALONE = 0.5


def refuse_identifiers(
    quasi_identifiers: Mapping[str, Column],
    counts: np.ndarray | None = None,
    persons: Column | None = None,
    coarser: Collection[str] = (),
) -> list[str]:
    """Raise InputError where a quasi-identifier has a value of its own for every record, or every person: whatever the
    regions, no class would have two. Gives warnings of those that have one for most.

    quasi_identifiers : columns of the same length; counts : (N,) records that each row stands for; persons : whose each
    row is; coarser : the quasi-identifiers that may yet be shown coarser, which are let be
    """
    warnings: list[str] = []
    if persons is not None and (count_codes(persons.codes, len(persons.categories)) > 0).sum() < 2:
        return warnings  # values that differ are one person's, or of rows whose person is missing
    for name, column in quasi_identifiers.items():
        if name in coarser or not len(column):
            continue
        held = _held(column, counts, persons)
        alone, whole = int((held == 1).sum()), int(held.sum())
        if alone == whole > 1:
            raise InputError(_refusal(name, persons is not None))
        if persons is None and alone > MOST_ALONE * whole:
            warnings.append(
                tr(
                    "Most records will be suppressed: “{name}” has a value of its own in {n} of {records}. If it is an "
                    "identifier, leave it out; if it is a number or a date, group it first.",
                    name=name,
                    n=alone,
                    records=counted.records(whole),
                )
            )
    return warnings


def _held(column: Column, counts: np.ndarray | None, persons: Column | None) -> np.ndarray:
    """How many records, or persons, have each value."""
    if persons is None:
        return count_codes(column.codes, len(column.categories), counts)
    _, pairs = combine_columns([column, persons])
    return np.bincount(pairs[:, 0], minlength=len(column.categories))


def _refusal(name: str, of_persons: bool) -> str:
    if of_persons:
        return tr(
            "Nothing can be released: “{name}” is different for every person. It is an identifier: leave it out.",
            name=name,
        )
    return tr(
        "Nothing can be released: “{name}” is different in every record. It is an identifier: leave it out.", name=name
    )
