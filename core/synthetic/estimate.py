"""Estimating distributions from microdata: weighted shares by province."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import InputError, first_values
from .distributions import Distributions, Shares
from .microdata import MissingCodes, read_microdata


def estimate_distributions(
    provinces: Sequence[object],
    attributes: Mapping[str, Sequence[object]],
    weights: Sequence[object] | np.ndarray | None = None,
    missing: MissingCodes = (),
) -> Distributions:
    """The share of each category, by province and attribute (Croft 2015, section 4.1).

    provinces : of each row of microdata; attributes : values of each attribute by name; weights : how many people each
    row stands for, 1 where None; missing : codes that mean “not stated”, for all attributes or by attribute name; they
    and empty values are left out, attribute by attribute.

    Raises InputError for unusable weights (see `microdata.read_microdata`) and where an attribute is not stated at all
    in a province.
    """
    data = read_microdata(provinces, attributes, weights, missing)
    n_provinces = len(data.provinces)
    found: dict[str, Shares] = {}
    notes = list(data.notes)
    for name, column in data.columns.items():
        stated = data.stated[name]
        cell = data.province[stated] * len(column.categories) + column.codes[stated]
        table = np.bincount(cell, data.weights[stated], n_provinces * len(column.categories)).reshape(n_provinces, -1)
        totals = table.sum(axis=1, keepdims=True)
        empty = totals.ravel() == 0
        if empty.any():
            raise InputError(
                f"Attribute “{name}” is not stated by anyone in {int(empty.sum())} provinces (first: "
                f"{first_values(data.provinces[empty])}): take it out of ATTRIBUTES, leave out fewer codes, or leave "
                "out the rows of these provinces."
            )
        used = table.any(axis=0)
        found[name] = Shares(column.categories[used], table[:, used] / totals)
        if not stated.all():
            notes.append(f"“{name}” is not stated in {int((~stated).sum())} of {len(stated)} rows: they were left out.")
    return Distributions(data.provinces, found, tuple(notes))
