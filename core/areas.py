"""The areas: small areas, each an identifier, a point and a population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from . import counted
from .adjacency import Adjacency
from .dataclass import dataclass
from .errors import Counted, InputError, first_values, refuse_where
from .language import tr
from .plain_text import is_missing, plain_text
from .scientific import spatial

MOST_PEOPLE = 1e12  # in one place: a hundred times the world population; sums over a million places are still exact


def without_zeros_of(code: str) -> str:
    """A code without leading zeros and a “.0” at its end, which it loses and gains where a table takes it for a number;
    zeros alone stay."""
    whole = code[:-2] if code.endswith(".0") else code
    return whole.lstrip("0") or whole


def said_of_lost_zeros(values: Sequence[object] | np.ndarray) -> str:
    """A sentence on values that are areas but for leading zeros or a “.0”, with the first of them."""
    return tr(
        "{first}: there are such areas but for leading zeros, which go where a code is read as a number, or a “.0”, "
        "which comes then. Read it as text in both tables.",
        first=first_values(values),
    )


@dataclass(frozen=True, eq=False)
class Areas:
    """The n areas, in the order of the layer they came from.

    identifiers : (n,) object array of str, unique
    points : (n, 2) float array, planar coordinates in metres
    population : (n,) float array, not negative
    neighbours : which areas share a border, None where that is not known; see `neighbours.neighbours_of`
    """

    identifiers: np.ndarray
    points: np.ndarray
    population: np.ndarray
    neighbours: Adjacency | None = None

    def __len__(self) -> int:
        return len(self.identifiers)

    @cached_property
    def rank(self) -> np.ndarray:
        """The place of each area in the order of the identifiers, (n,) int64: decides between equal ones."""
        rank = np.empty(len(self), np.int64)
        rank[np.argsort(self.identifiers.astype(str), kind="stable")] = np.arange(len(self), dtype=np.int64)
        return rank

    def with_population(self, population: np.ndarray) -> Areas:
        """The same areas with another population, (n,)."""
        return replace(self, population=checked_population(population, self.identifiers))

    def codes_of(self, identifiers: np.ndarray) -> np.ndarray:
        """Position of each identifier among the areas, (m,) int64; -1 where it is not one of them."""
        return np.fromiter((self._positions.get(i, -1) for i in identifiers.tolist()), np.int64, len(identifiers))

    def named_by(self, values: np.ndarray) -> np.ndarray:
        """As `codes_of`, but what codes lose and gain aside that are read as numbers (`without_zeros_of`); -1 where
        they would name several."""
        codes = self.codes_of(values)
        lost = np.flatnonzero(codes < 0)
        bare_values = (value and without_zeros_of(value) for value in values[lost].tolist())
        codes[lost] = np.fromiter((self._without_zeros.get(value, -1) for value in bare_values), np.int64, len(lost))
        return codes

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {identifier: i for i, identifier in enumerate(self.identifiers.tolist())}

    @cached_property
    def _without_zeros(self) -> dict[str, int]:
        """Positions by what identifiers are `without_zeros_of`; -1 where several are the same."""
        positions: dict[str, int] = {}
        for identifier, position in self._positions.items():
            bare = without_zeros_of(identifier)
            positions[bare] = -1 if bare in positions else position
        return positions


def make_areas(
    identifiers: Sequence[object] | np.ndarray,
    points: ArrayLike,
    population: ArrayLike | None = None,
    field: str = "REGION_ID",
    layer: str = "REGIONS",
    in_metres: bool = False,
) -> Areas:
    """Areas from plain columns, which are checked.

    Parameters
    ----------
    identifiers : sequence of n values
        Compared as text (see `identifier_text`).
    points : array_like of shape (n, 2)
        Metres.
    population : array_like of shape (n,), optional
        Ones where None.
    field, layer : str
        The identifier's field name, and what holds it, for messages.
    in_metres : bool
        Whether the points are known to be metres, and not asked whether they look like degrees.

    Returns
    -------
    Areas
        In the order in which they were given.

    Raises
    ------
    InputError
        Where there are fewer than two areas, an identifier is missing or not unique, a point is missing, or a
        population is missing or negative; and where the points look like degrees (`look_like_degrees`).

    Examples
    --------
    >>> from vbas.core.areas import make_areas
    >>> areas = make_areas([4611, "4612", 4613.0], [(0, 0), (500, 0), (0, 700)], [120, 80, 45])
    >>> areas.identifiers.tolist(), areas.population.tolist()
    (['4611', '4612', '4613'], [120.0, 80.0, 45.0])
    """
    points = np.asarray(points, dtype=float).reshape(-1, 2)
    if len(points) == 0:
        raise InputError.saying("{layer} is empty: give a layer with at least two areas.", layer=layer)
    if len(points) == 1:
        raise InputError.saying(
            "{layer} has only one area, so there is nothing to merge: give a layer with at least two areas.",
            layer=layer,
        )
    texts = checked_identifiers(identifiers, tr("Field “{field}” of {layer}", field=field, layer=layer))
    unusable = ~np.isfinite(points).all(axis=1)
    if unusable.any():
        raise InputError.counting(
            "{n} area of {layer} has an empty geometry ({first}): repair or remove it.",
            "{n} areas of {layer} have an empty geometry ({first}): repair or remove them.",
            int(unusable.sum()),
            layer=layer,
            first=first_values(texts[unusable]),
        )
    if not in_metres and look_like_degrees(points):
        raise InputError.saying(
            "{layer} has longitudes and latitudes in place of metres, it seems: all its points are within ±180 and "
            "±90, most less than one from the next. Project them to metres first, or say in_metres=True if that is "
            "what they are.",
            layer=layer,
        )
    if population is None:
        population = np.ones(len(texts))
    return Areas(texts, points, checked_population(population, texts))


def look_like_degrees(points: np.ndarray) -> bool:
    """Whether points, (n, 2), are longitudes and latitudes rather than metres, as far as numbers can tell.

    They are where all lie within ±180 and ±90, beyond ±1, and most less than 1 from another one. No areas of people lie
    less than a metre apart. Within ±1 towns are made up: where degrees are that small there is only sea. Areas more
    than a degree apart, as large as countries, could as well be a small town in metres, and are taken for one.
    """
    within = (np.abs(points) <= (180.0, 90.0)).all() and bool((np.abs(points) > 1.0).any())
    distinct = np.unique(points, axis=0) if within else points[:0]
    if len(distinct) < 2:
        return False
    nearest, _ = spatial.cKDTree(distinct).query(distinct, k=2)
    return bool(np.median(nearest[:, 1]) < 1.0)


def checked_identifiers(
    identifiers: Sequence[object] | np.ndarray, field: str, things: Counted = counted.areas
) -> np.ndarray:
    """Identifiers as text, (n,). Raises InputError, naming the field, where one is missing or not unique.

    things : what the n are
    """
    texts = np.array([identifier_text(value) for value in identifiers], dtype=object)
    missing = sum(text is None for text in texts)
    if missing:
        raise InputError.saying(
            "{field} is missing in {things}: give each an identifier.", field=field, things=things(missing)
        )
    unique, counts = np.unique(texts.astype(str), return_counts=True)
    if len(unique) < len(texts):
        twice = unique[counts > 1]
        raise InputError.counting(
            "{field} is not unique: {n} identifier occurs more than once ({first}): choose another field, or dissolve "
            "the layer first.",
            "{field} is not unique: {n} identifiers occur more than once ({first}): choose another field, or dissolve "
            "the layer first.",
            len(twice),
            field=field,
            first=first_values(twice),
        )
    return texts


def checked_population(population: ArrayLike, identifiers: np.ndarray) -> np.ndarray:
    """The population as float, (n,).

    Raises InputError where it is missing, negative or beyond MOST_PEOPLE, or where nobody lives anywhere.
    """
    population = np.asarray(population, dtype=float)
    wrongs = {
        tr("missing"): ~np.isfinite(population),
        tr("negative"): population < 0,
        tr("above {most_people:g}", most_people=MOST_PEOPLE): population > MOST_PEOPLE,
    }
    advice = tr("correct the field, or leave POPULATION empty, where it may be, to use the number of records.")
    refuse_where(wrongs, "POPULATION", counted.areas, lambda wrong: first_values(identifiers[wrong]), advice)
    if not population.any():
        raise InputError.saying("POPULATION is 0 in every area: choose another field or leave it empty.")
    return population


def identifier_text(value: object) -> str | None:
    """An identifier as the text it is compared by: 46110001, 46110001.0 and “46110001” are one; None is missing."""
    if type(value) is str:  # nearly all are
        return value or None
    if is_missing(value):
        return None
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    text = plain_text(value)
    return text if text else None
