"""How many people a point is hidden among: those of its area, or those of its area and category."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..areas import identifier_text
from ..arrays import to_list
from ..errors import InputError, first_values
from ..records.columns import Column
from .placing import NO_AREA

NO_CATEGORY = -1


@dataclass(frozen=True, eq=False)
class Populations:
    """People by area and category.

    counts : (m, c) float, not negative, 0 where missing; one column where there are no categories
    categories : c names, empty where there are none
    """

    counts: np.ndarray
    categories: tuple[str, ...] = ()

    def of_points(self, area_of: np.ndarray, category_of: np.ndarray | None = None) -> np.ndarray:
        """People of each point's area and category, (N,) float; 0 in no area, NaN where the category is missing.

        area_of : (N,) position of the area, -1 for none; category_of : (N,) column of `counts`, -1 for none.
        """
        column = np.zeros(len(area_of), np.int64) if category_of is None else category_of
        known = (area_of != NO_AREA) & (column != NO_CATEGORY)
        people = np.where(column == NO_CATEGORY, np.nan, 0.0)
        people[known] = self.counts[area_of[known], column[known]]
        return people


def make_populations(counts: np.ndarray, identifiers: np.ndarray, categories: tuple[str, ...] = ()) -> Populations:
    """Populations from the areas' fields, which are checked.

    counts : (m, c), NaN where missing; identifiers : (m,) of the areas, for messages.
    Raises InputError for a negative number.
    """
    counts = np.asarray(counts, dtype=float).reshape(len(identifiers), -1)
    negative = (counts < 0).any(axis=1)
    if negative.any():
        raise InputError(
            f"POPULATION is negative in {int(negative.sum())} areas (first: {first_values(identifiers[negative])}): "
            "correct the field or choose another."
        )
    return Populations(np.where(np.isfinite(counts), counts, 0.0), categories)


def categories_of(column: Column, categories: tuple[str, ...], field: str) -> np.ndarray:
    """Position of each point's category among `categories`, (N,) int64; -1 where it is missing.

    Raises InputError for values without a population.
    """
    position: dict[str | None, int] = {name: i for i, name in enumerate(categories)}
    values = to_list(column.categories)
    texts = [identifier_text(value) for value in values]
    codes = np.array([position.get(text, NO_CATEGORY) for text in texts], np.int64)
    unknown = [text for text, code in zip(texts, to_list(codes)) if text is not None and code == NO_CATEGORY]
    if unknown:
        raise InputError(
            f"CATEGORY_FIELD “{field}” has values without a population field ({first_values(unknown)}): name one for "
            "each in CATEGORY_POPULATIONS, or give AREAS a field of that name."
        )
    return codes[column.codes] if len(column) else np.empty(0, np.int64)
