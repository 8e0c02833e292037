"""How coarse the values of a column could be shown: rules that fit them, offered with what they would show."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..crosswalk import Crosswalk
from ..dataclass import dataclass
from ..errors import InputError
from ..generalising.hierarchies import Hierarchy
from ..generalising.rules import BANDS, LEADING, hierarchy_rule
from ..language import plural, tr
from ..plain_text import is_missing, plain_text, value_text
from ..profile import Profile
from ..progress import Progress, silent
from ..records.columns import Column, combine_codes
from ..suppression import Terms, suppressed_by_class, suppression_percent
from .column_values import DATE, kind_of

WIDTHS = ((5, 10, 20), (10, 20), (10, 50, 100), (100, 500, 1000), (1000, 5000, 10_000), (10_000, 50_000, 100_000))
CHARACTERS = ((4, 3, 2, 1), (3, 2, 1), (2, 1), (1,))
PREVIEWED = 4
MOST_OFFERED = 6
MOST_VALUES = 3_000  # of a column that is tried: more are an identifier, or need a table


@dataclass(frozen=True)
class Coarser:
    """One way to show a column coarser: the rule as HIERARCHY_RULES takes it, the level, and what it would show.

    n_values : how many values are left; first : some of them, the first in order
    """

    rule: str
    level: int
    n_values: int
    first: tuple[str, ...]

    @property
    def text(self) -> str:
        """What it shows, in short."""
        more = "…" if self.n_values > len(self.first) else ""
        return plural(
            "{n} value: {first}{more}",
            "{n} values: {first}{more}",
            self.n_values,
            first=", ".join(self.first),
            more=more,
        )


def coarser_offers(name: str, column: Column) -> list[Coarser]:
    """The ways that fit the values, the finest first; none where no rule fits.

    Only rules that look at values alone: which values a rule such as “other below” names would say how many have them.
    """
    values = column.categories
    if len(values) > MOST_VALUES or len(values) < 2:
        return []
    offers: dict[int, Coarser] = {}
    # Of a date that begins with its day, the first characters would group days of all months and years.
    leading = [] if _begins_with_day(values.tolist()) else _of(LEADING, CHARACTERS)
    for rule in (*_of(BANDS, WIDTHS), *leading):
        for offer in _levels(name, rule, values, np.bincount(column.codes, minlength=len(values))):
            if 1 < offer.n_values < len(values):
                offers.setdefault(offer.n_values, offer)
        if offers and rule.startswith(BANDS) and min(offers) <= 12:
            break  # numbers: wider bands would show nothing any more
    return [offers[n] for n in sorted(offers, reverse=True)][-MOST_OFFERED:]


def what_each_suppresses(
    profile: Profile,
    crosswalk: Crosswalk,
    terms: Terms,
    name: str,
    offers: Sequence[Coarser],
    progress: Progress = silent,
) -> list[float]:
    """Per cent of all records that these regions suppress as one level: with the values of a quasi-identifier as they
    are, then with each offer.

    profile, crosswalk : of the same areas; name : one of the profile's quasi-identifiers; offers : of its values.
    Raises InputError for an offer that does not fit all of them.
    """
    at = profile.quasi_identifiers.index(name)
    values, codes = profile.categories[at], list(profile.classes.T)
    sizes = [len(categories) for categories in profile.categories]
    held = np.bincount(codes[at], profile.class_sizes, len(values))
    lost = [suppressed_by_class(profile, crosswalk, terms)]
    for done, offer in enumerate(offers):
        progress((done + 1) / (len(offers) + 1))
        codes_offered = hierarchy_rule(name, offer.rule).hierarchy(values, held).codes[offer.level]
        coarser, _ = combine_codes([*codes[:at], codes_offered[codes[at]], *codes[at + 1 :]], sizes)
        lost.append(suppressed_by_class(profile, crosswalk, terms, coarser))
    return [suppression_percent(profile, levels, terms) for levels in lost]


def as_it_is(column: Column) -> str:
    """What is shown where nothing is coarser, in short."""
    first_texts = [value_text(value) for value in column.categories[:PREVIEWED].tolist() if not is_missing(value)]
    if len(column.categories) > PREVIEWED:
        return tr("as it is: {first}…", first=", ".join(first_texts))
    return tr("as it is: {first}", first=", ".join(first_texts))


def _begins_with_day(values: Sequence[object]) -> bool:
    present = [value for value in values if not is_missing(value) and value != ""]
    return kind_of(present) == DATE and not any(re.match(r"\d{4}", plain_text(value)) for value in present)


def _of(kind: str, numbers: Sequence[Sequence[int]]) -> list[str]:
    return [f"{kind} {', '.join(map(str, some))}" for some in numbers]


def _levels(name: str, words: str, values: np.ndarray, records: np.ndarray) -> list[Coarser]:
    try:
        hierarchy = hierarchy_rule(name, words).hierarchy(values, records)
    except InputError:  # which does not fit these values
        return []
    return [_offer(words, level, hierarchy) for level in range(1, len(hierarchy))]


def _offer(words: str, level: int, hierarchy: Hierarchy) -> Coarser:
    # In the order of the values, so that 5-9 stands before 10-14.
    _, first = np.unique(hierarchy.codes[level], return_index=True)
    values = hierarchy.categories[level][hierarchy.codes[level][np.sort(first)]].tolist()
    texts = [value_text(value) for value in values if not is_missing(value)]
    return Coarser(words, level, len(texts), tuple(texts[:PREVIEWED]))
