"""Distributions: the share of each category of an attribute, province by province, and drawing from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .. import counted
from ..areas import identifier_text
from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import Counted, InputError, Shown, first_values, refuse_where
from ..language import plural, tr
from ..parameters import SEED
from ..records.columns import Column, column_from_values, columns_at, smallest_integers

# Shares read from a rounded table need not add up to exactly 1; if they are farther off, something is missing.
ROUNDING = 0.02
WORTH_A_NOTE = 1e-6

PerCent = Mapping[str, Mapping[str, Sequence[float]]]


@dataclass(frozen=True, eq=False)
class Shares:
    """One attribute.

    categories : (m,) object array of distinct values; None is the missing value, a category of its own
    shares : (P, m) float array, rows in the order of the provinces, each adding up to 1
    """

    categories: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True, eq=False)
class Distributions:
    """Shares of categories for each province (or districts, or other areas of that kind).

    provinces : (P,) object array of str, unique
    attributes : shares by attribute name
    notes : sentences for the user
    """

    provinces: np.ndarray
    attributes: Mapping[str, Shares]
    notes: tuple[str, ...] = ()

    def rows(self) -> list[tuple[str, str, object, float]]:
        """The table (province, attribute, category, share) of all shares above 0, as `make_distributions` reads it."""
        return [
            (province, attribute, category, share)
            for attribute, distribution in self.attributes.items()
            for province, row in zip(to_list(self.provinces), to_list(distribution.shares))
            for category, share in zip(to_list(distribution.categories), row)
            if share > 0
        ]

    def selection(self, attributes: Sequence[str]) -> Distributions:
        """The same provinces with these attributes only, in this order. Raises InputError for an unknown name."""
        unknown = [name for name in attributes if name not in self.attributes]
        if unknown:
            raise InputError.saying(
                "DISTRIBUTIONS has no attribute {first}: choose among {known}.",
                first=first_values(unknown),
                known=first_values(self.attributes, len(self.attributes)),
            )
        return Distributions(self.provinces, {name: self.attributes[name] for name in attributes}, self.notes)

    def samplers(self) -> tuple[Sampler, ...]:
        """A sampler per attribute, rows in the order of the provinces: each attribute is drawn independently."""
        return tuple(
            sampler_of_shares(name, distribution.categories, distribution.shares)
            for name, distribution in self.attributes.items()
        )


def province_rows(known: np.ndarray, provinces: Sequence[object] | np.ndarray) -> np.ndarray:
    """Position of each label (n,) among the known provinces (P,), (n,) int64; labels are compared as text.

    Raises InputError naming the labels that are not known.
    """
    labels = column_from_values([identifier_text(label) for label in provinces])
    position = {province: i for i, province in enumerate(known.tolist())}
    rows = np.array([position.get(label, -1) for label in labels.categories.tolist()], np.int64)
    lost = rows < 0
    if lost.any():
        raise InputError.counting(
            "There are no shares for the province of {n} area (first: {first}; known are {known}): give DISTRIBUTIONS "
            "or MICRODATA that have these provinces, or choose another PROVINCE.",
            "There are no shares for the province of {n} areas (first: {first}; known are {known}): give DISTRIBUTIONS "
            "or MICRODATA that have these provinces, or choose another PROVINCE.",
            int(lost[labels.codes].sum()),
            first=first_values(labels.categories[lost]),
            known=first_values(known),
        )
    return rows[labels.codes]


def make_distributions(
    provinces: Sequence[object], attributes: Sequence[object], categories: Sequence[object], shares: Sequence[object]
) -> Distributions:
    """Distributions from the columns of a table with a row per province, attribute and category.

    provinces, attributes : compared as text; categories : any values, None is the missing value, a category of its
    own; shares : not negative, adding up to 1 (or to 100) in each province and attribute. Sums that are off by
    rounding only are scaled to 1, with a note. A category that a province does not list has share 0 there.

    Raises InputError naming the first wrong entries.
    """
    province = _text_column(provinces, "province")
    attribute = _text_column(attributes, "attribute")
    category = column_from_values(categories)
    share = _checked_shares(shares, province, attribute)
    n_provinces, n_attributes = len(province.categories), len(attribute.categories)
    group = attribute.codes.astype(np.int64) * n_provinces + province.codes
    _refuse_doubles(group * len(category.categories) + category.codes, province, attribute, category)
    sums = np.bincount(group, share, n_attributes * n_provinces)
    listed = np.bincount(group, minlength=len(sums)) > 0
    if not listed.all():
        raise InputError.counting(
            "DISTRIBUTIONS lacks {n} combination of province and attribute (first: {first}): give every attribute in "
            "every province.",
            "DISTRIBUTIONS lacks {n} combinations of province and attribute (first: {first}): give every attribute in "
            "every province.",
            int((~listed).sum()),
            first=first_values(_group_names(~listed, province, attribute)),
        )
    scale, note = _scale(sums, province, attribute)
    share = share / sums[group]
    shares_of: dict[str, Shares] = {}
    # In the order in which the table first names them, which is the order a form shows.
    for code in dict.fromkeys(to_list(attribute.codes)):
        mine = attribute.codes == code
        used, position = np.unique(category.codes[mine], return_inverse=True)
        table = np.zeros((n_provinces, len(used)))
        table[province.codes[mine], position.reshape(-1)] = share[mine]
        shares_of[attribute.categories[code]] = Shares(category.categories[used], table)
    return Distributions(province.categories, shares_of, note if scale == 1 else (PER_CENT_NOTE, *note))


def distributions_of_table(provinces: Sequence[str], per_cent: PerCent) -> Distributions:
    """Distributions from per cent by attribute, category and province, the provinces in the order given."""
    rows = [
        (province, attribute, category, value / 100)
        for attribute, categories in per_cent.items()
        for category, values in categories.items()
        for province, value in zip(provinces, values)
    ]
    return make_distributions(*zip(*rows))


PER_CENT_NOTE = tr("The shares add up to 100: they were read as per cent.")


def _scale(sums: np.ndarray, province: Column, attribute: Column) -> tuple[int, tuple[str, ...]]:
    """What the shares of each province and attribute add up to, 1 or 100, and a note where it is not exact."""
    scale = 100 if (np.abs(sums - 100) <= 100 * ROUNDING).all() else 1
    off = np.abs(sums / scale - 1)
    wrong = off > ROUNDING
    if wrong.any():
        names = _group_names(wrong, province, attribute)
        raise InputError(
            plural(
                "The shares of DISTRIBUTIONS do not add up to 1 in {n} combination of province and "
                "attribute (first: {first}, which adds up to {total:g}): a category is missing.",
                "The shares of DISTRIBUTIONS do not add up to 1 in {n} combinations of province and "
                "attribute (first: {first}, which adds up to {total:g}): a category is missing.",
                int(wrong.sum()),
                first=first_values(names),
                total=sums[wrong][0],
            )
            if sums[wrong][0] < 1
            else plural(
                "The shares of DISTRIBUTIONS add up to more than 1 in {n} combination of province "
                "and attribute (first: {first}, which adds up to {total:g}): correct them.",
                "The shares of DISTRIBUTIONS add up to more than 1 in {n} combinations of province "
                "and attribute (first: {first}, which adds up to {total:g}): correct them.",
                int(wrong.sum()),
                first=first_values(names),
                total=sums[wrong][0],
            )
        )
    inexact = int((off > WORTH_A_NOTE).sum())
    note = plural(
        "The shares of {n} combination of province and attribute were scaled to add up to 1.",
        "The shares of {n} combinations of province and attribute were scaled to add up to 1.",
        inexact,
    )
    return scale, (note,) if inexact else ()


def _text_column(values: Sequence[object], field: str) -> Column:
    """A column of texts. Raises InputError where a value is missing or there is none."""
    texts = [identifier_text(value) for value in values]
    if not texts:
        raise InputError.saying("DISTRIBUTIONS is empty: give a table with province, attribute, category and share.")
    missing = texts.count(None)
    if missing:
        raise InputError.counting(
            "Field “{field}” of DISTRIBUTIONS is missing in {n} row: fill or remove it.",
            "Field “{field}” of DISTRIBUTIONS is missing in {n} rows: fill or remove them.",
            missing,
            field=field,
        )
    return column_from_values(texts)


def _checked_shares(shares: Sequence[object], province: Column, attribute: Column) -> np.ndarray:
    """The shares as float, (rows,). Raises InputError where one is missing or negative."""

    def first(wrong: np.ndarray) -> str:
        row = int(wrong.argmax())
        return tr(
            "“{province}, {attribute}”",
            province=province.categories[province.codes[row]],
            attribute=attribute.categories[attribute.codes[row]],
        )

    return checked_numbers(shares, tr("Field “share” of DISTRIBUTIONS"), counted.rows, first, tr("correct them."))


def checked_numbers(
    values: Sequence[object] | np.ndarray, field: str, rows: Counted, first: Shown, advice: str
) -> np.ndarray:
    """Numbers as float, (n,). Raises InputError, worded as by `refuse_where`, where one is missing or negative."""
    try:
        numbers = np.asarray([np.nan if value is None else value for value in values], dtype=float)
    except (TypeError, ValueError):
        raise InputError.saying("{field} is not a number in every row: choose a numeric field.", field=field) from None
    refuse_where({tr("missing"): ~np.isfinite(numbers), tr("negative"): numbers < 0}, field, rows, first, advice)
    return numbers


def _refuse_doubles(keys: np.ndarray, province: Column, attribute: Column, category: Column) -> None:
    """Raises InputError where a province lists a category of an attribute more than once."""
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    twice = np.sort(first[times > 1])
    if len(twice):
        names = (", ".join(str(c.categories[c.codes[row]]) for c in (province, attribute, category)) for row in twice)
        raise InputError.counting(
            "DISTRIBUTIONS lists {n} category more than once in a province (first: {first}): one row for each "
            "province, attribute and category.",
            "DISTRIBUTIONS lists {n} categories more than once in a province (first: {first}): one row for each "
            "province, attribute and category.",
            len(twice),
            first=first_values(names),
        )


def _group_names(marked: np.ndarray, province: Column, attribute: Column) -> list[str]:
    """“province, attribute” of the marked groups, (attributes * provinces,) bool."""
    rows, columns = np.divmod(np.flatnonzero(marked), len(province.categories))
    return [f"{province.categories[p]}, {attribute.categories[a]}" for a, p in zip(rows, columns)]


# Shares are held in steps of 2**-32: a draw is one random number of 32 bits, exact and quick to search for.
BITS = 32


def stream(seed: int, *names: str) -> np.random.Generator:
    """A stream of random numbers for what these names stand for, so that drawing one thing does not disturb another.

    It depends on the seed and the names alone. Raises InputError for a negative seed.
    """
    SEED.check(seed)
    return np.random.default_rng([seed, *"\n".join(names).encode()])


@dataclass(frozen=True, eq=False)
class Sampler:
    """Entries with shares, grouped by row (a province, or an area): a draw picks an entry of its row.

    upper : (E,) int64, ascending: entry e of row r owns the numbers from upper[e - 1] to upper[e] - 1, and row r
        owns those from r * 2**32 to (r + 1) * 2**32 - 1
    fields : what an entry gives a record: a column of E codes for each field
    """

    upper: np.ndarray
    fields: Mapping[str, Column]

    def draw(self, rows: np.ndarray, rng: np.random.Generator) -> dict[str, Column]:
        """A value of each field for each record; rows : (N,) int64, the row each record draws from."""
        number = (rows.astype(np.int64) << BITS) + rng.integers(0, 2**BITS, len(rows), dtype=np.uint32)
        entry = np.searchsorted(self.upper, number, side="right")
        return columns_at(self.fields, entry)


def sampler_of_shares(attribute: str, categories: np.ndarray, shares: np.ndarray) -> Sampler:
    """Draws a category of one attribute; categories : (m,); shares : (rows, m), each row adding up to 1."""
    n_rows, n_categories = shares.shape
    codes = smallest_integers(np.tile(np.arange(n_categories, dtype=np.int64), n_rows), n_categories)
    rows = np.repeat(np.arange(n_rows, dtype=np.int64), n_categories)
    return Sampler(_upper_ends(rows, shares.ravel(), n_rows), {attribute: Column(codes, categories)})


def sampler_of_entries(rows: np.ndarray, weights: np.ndarray, fields: Mapping[str, Column]) -> Sampler:
    """Draws whole entries, in proportion to their weights; the values of several fields stay together as in the entry.

    rows : (E,) int64, 0..R - 1, the row each entry belongs to, every one with a weight above 0; weights : (E,)
    """
    order = np.argsort(rows, kind="stable")
    return Sampler(_upper_ends(rows[order], weights[order], int(rows.max()) + 1), columns_at(fields, order))


def _upper_ends(rows: np.ndarray, weights: np.ndarray, n_rows: int) -> np.ndarray:
    """Where each entry's numbers end, (E,) int64; rows : (E,) ascending."""
    running = np.cumsum(weights)
    last = np.searchsorted(rows, np.arange(n_rows, dtype=np.int64), side="right") - 1
    before = np.concatenate([[0.0], running[last[:-1]]])
    total = running[last] - before
    # The last entry of a row ends at exactly 1, so that every number has an owner.
    share = (running - before[rows]) / total[rows]
    return np.floor(share * 2**BITS + 0.5).astype(np.int64) + (rows.astype(np.int64) << BITS)
