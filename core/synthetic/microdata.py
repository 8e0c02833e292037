"""Public-use microdata: columns, a weight, codes that mean “not stated”; the shares in them, and rows to draw from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Union

import numpy as np

from ..areas import identifier_text
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import plural, tr
from ..records.columns import Column, column_from_values, columns_at
from ..records.table import MOST_RECORDS
from .distributions import Distributions, Sampler, Shares, checked_numbers, sampler_of_entries

# Codes to leave out: of every attribute, or by attribute name.
MissingCodes = Union[Collection[object], Mapping[str, Collection[object]]]


@dataclass(frozen=True, eq=False)
class Microdata:
    """The rows of a microdata file that have a province and a weight above 0, M of them.

    provinces : (P,) object array of str; province : (M,) int64, position of each row's among them
    columns : a column per attribute; stated : (M,) bool per attribute, False where the value is missing or a code to
        leave out; weights : (M,) float, above 0; notes : sentences for the user
    """

    provinces: np.ndarray
    province: np.ndarray
    columns: Mapping[str, Column]
    stated: Mapping[str, np.ndarray]
    weights: np.ndarray
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class MicrodataRows:
    """Whole rows to draw from, by province and weight; provinces : (P,) object array of str."""

    provinces: np.ndarray
    sampler: Sampler
    notes: tuple[str, ...]

    def samplers(self) -> tuple[Sampler, ...]:
        """One sampler that gives all attributes of a row together."""
        return (self.sampler,)


def microdata_rows(
    provinces: Sequence[object],
    attributes: Mapping[str, Sequence[object]],
    weights: Sequence[object] | np.ndarray | None = None,
    missing: MissingCodes = (),
) -> MicrodataRows:
    """Rows of microdata to draw from, so that what belongs together in a row stays together.

    provinces, attributes, weights, missing : as for `read_microdata`; a row in which any attribute is not stated is
    left out. Raises InputError where no row is left.
    """
    data = read_microdata(provinces, attributes, weights, missing)
    whole = np.logical_and.reduce(list(data.stated.values()))
    if not whole.any():
        raise InputError.saying(
            "No row of MICRODATA states all of the attributes: choose fewer ATTRIBUTES or leave out fewer codes."
        )
    left_out = int((~whole).sum())
    note = plural(
        "{n} of {n_whole} rows was left out because an attribute is not stated.",
        "{n} of {n_whole} rows were left out because an attribute is not stated.",
        left_out,
        n_whole=len(whole),
    )
    known, row = np.unique(data.province[whole], return_inverse=True)
    sampler = sampler_of_entries(row.reshape(-1), data.weights[whole], columns_at(data.columns, whole))
    return MicrodataRows(data.provinces[known], sampler, (*data.notes, note) if left_out else data.notes)


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

    Raises InputError for unusable weights (see `read_microdata`) and where an attribute is not stated at all
    in a province.
    """
    data = read_microdata(provinces, attributes, weights, missing)
    n_provinces = len(data.provinces)
    shares: dict[str, Shares] = {}
    notes = list(data.notes)
    for name, column in data.columns.items():
        stated = data.stated[name]
        cell = data.province[stated] * len(column.categories) + column.codes[stated]
        table = np.bincount(cell, data.weights[stated], n_provinces * len(column.categories)).reshape(n_provinces, -1)
        totals = table.sum(axis=1, keepdims=True)
        empty = totals.ravel() == 0
        if empty.any():
            raise InputError.counting(
                "Attribute “{name}” is not stated by anyone in {n} province (first: {first}): take it out of "
                "ATTRIBUTES, leave out fewer codes, or leave out the rows of this province.",
                "Attribute “{name}” is not stated by anyone in {n} provinces (first: {first}): take it out of "
                "ATTRIBUTES, leave out fewer codes, or leave out the rows of these provinces.",
                int(empty.sum()),
                name=name,
                first=first_values(data.provinces[empty]),
            )
        used = table.any(axis=0)
        shares[name] = Shares(column.categories[used], table[:, used] / totals)
        if not stated.all():
            notes.append(
                plural(
                    "“{name}” is not stated in {n} of {n_rows} rows: it was left out.",
                    "“{name}” is not stated in {n} of {n_rows} rows: they were left out.",
                    int((~stated).sum()),
                    name=name,
                    n_rows=len(stated),
                )
            )
    return Distributions(data.provinces, shares, tuple(notes))


def missing_codes(text: str, attributes: Collection[str]) -> dict[str, list[str]]:
    """The codes to leave out, by attribute, from what a user types: “6, 9; age: 96, 99”.

    Codes stand between commas. A part without a name counts for every attribute that has no part of its own: in many
    files 6 means “not stated” in a field of one digit and is a valid age group in a field of two.
    Raises InputError for a name that is not among the attributes.
    """
    common: list[str] = []
    own: dict[str, list[str]] = {}
    for entry in text.split(";"):
        name, colon, codes = entry.rpartition(":")
        target = own.setdefault(name.strip(), []) if colon else common
        target.extend(code.strip() for code in codes.split(",") if code.strip())
    _refuse_unknown(own, attributes)
    return {name: own.get(name, common) for name in attributes}


def read_microdata(
    provinces: Sequence[object],
    attributes: Mapping[str, Sequence[object]],
    weights: Sequence[object] | np.ndarray | None = None,
    missing: MissingCodes = (),
) -> Microdata:
    """Check and encode microdata.

    provinces : of each row, compared as text; attributes : values of each attribute by name
    weights : how many people each row stands for, not negative; 1 where None
    missing : codes that mean “not stated”, compared as text: for all attributes, or by attribute name. An empty value
        is never stated.

    Rows without a province or with weight 0 are left out, with a note. Raises InputError where there are no
    attributes or rows, and where a weight is missing, negative or no number.
    """
    if not attributes:
        raise InputError.saying("ATTRIBUTES is empty: choose at least one field of MICRODATA.")
    province = column_from_values([identifier_text(value) for value in provinces])
    weight = _checked_weights(weights, len(province))
    known = np.array([label is not None for label in province.categories], bool)
    placed = known[province.codes]
    used = placed & (weight > 0)
    if not used.any():
        raise InputError.saying("No row of MICRODATA has a PROVINCE and a weight above 0: choose other fields.")
    _check_magnitudes(weight[used])
    notes = _left_out(int((~placed).sum()), int((placed & (weight <= 0)).sum()))
    columns = {name: column_from_values(values) for name, values in attributes.items()}
    codes = _codes_by_attribute(missing, list(attributes))
    stated = {name: _is_stated(column, codes[name])[used] for name, column in columns.items()}
    return Microdata(
        province.categories[known],
        province.codes[used].astype(np.int64),
        columns_at(columns, used),
        stated,
        weight[used],
        tuple(notes),
    )


def _left_out(n_placeless: int, n_weightless: int) -> list[str]:
    """A sentence for each reason why rows were left out."""
    placeless = plural(
        "{n} row of MICRODATA has no province and was left out.",
        "{n} rows of MICRODATA have no province and were left out.",
        n_placeless,
    )
    weightless = plural(
        "{n} row of MICRODATA has weight 0 and was left out.",
        "{n} rows of MICRODATA have weight 0 and were left out.",
        n_weightless,
    )
    return [*([placeless] if n_placeless else []), *([weightless] if n_weightless else [])]


def _rows_of_microdata(n: int) -> str:
    return plural("{n} row of MICRODATA", "{n} rows of MICRODATA", n)


def _is_stated(column: Column, left_out: set[str | None]) -> np.ndarray:
    """Whether each value is one to count, (N,) bool."""
    texts = [identifier_text(value) for value in column.categories]
    return np.array([text is not None and text not in left_out for text in texts], bool)[column.codes]


def _codes_by_attribute(missing: MissingCodes, attributes: list[str]) -> dict[str, set[str | None]]:
    """The codes to leave out of each attribute, as text."""
    if isinstance(missing, Mapping):
        _refuse_unknown(missing, attributes)
        return {name: {identifier_text(code) for code in missing.get(name, ())} for name in attributes}
    codes = {identifier_text(code) for code in missing}
    return dict.fromkeys(attributes, codes)


def _refuse_unknown(names: Collection[str], attributes: Collection[str]) -> None:
    unknown = [name for name in names if name not in attributes]
    if unknown:
        raise InputError.saying(
            "MISSING names {first}, which is not among ATTRIBUTES: choose among {known}.",
            first=first_values(unknown),
            known=first_values(attributes, len(attributes)),
        )


def _check_magnitudes(weights: np.ndarray) -> None:
    """Refuse weights above 0 whose sum cannot be told, or beside which the smallest would vanish. Raises InputError."""
    total = float(weights.sum(dtype=np.longdouble))
    if total >= MOST_RECORDS or weights.min() < total / MOST_RECORDS:
        raise InputError.saying(
            "WEIGHT is between {least:.3g} and {most:.3g}: these cannot be counted together exactly. A weight says how "
            "many people a row stands for: correct them, or leave WEIGHT empty to count every row once.",
            least=float(weights.min()),
            most=float(weights.max()),
        )


def _checked_weights(weights: Sequence[object] | np.ndarray | None, n_rows: int) -> np.ndarray:
    """The weights as float, (n_rows,)."""
    if weights is None:
        return np.ones(n_rows)
    advice = tr("correct them, or leave WEIGHT empty to count every row once.")
    return checked_numbers(
        weights, "WEIGHT", _rows_of_microdata, lambda wrong: tr("row {n}", n=wrong.argmax() + 1), advice
    )
