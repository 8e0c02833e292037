"""What somebody says of fields of several releases: that they are the same under other names, or are not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from ..dataclass import dataclass
from ..errors import InputError, first_values
from .writing import one_is_cut, same_but_for_case

NOT = "not"
_NOT = re.compile(rf"{NOT}\s+(.+)", re.IGNORECASE)


@dataclass(frozen=True)
class Alias:
    """One row of ALIASES.

    field, other : two names, which may be the same one; same : whether they are one attribute
    values : (value of the field, value of the other) for those that are written in other words
    """

    field: str
    other: str
    same: bool
    values: tuple[tuple[str, str], ...] = ()

    def speaks_of(self, name: str, other: str) -> bool:
        """Whether it says something of these two names."""
        return {self.field, self.other} == {name, other}


@dataclass(frozen=True)
class Aliases:
    """All rows of ALIASES."""

    rows: tuple[Alias, ...] = ()

    def are_same(self, name: str, other: str) -> bool:
        """Whether two names were said to be one attribute."""
        return any(row.same and row.speaks_of(name, other) for row in self.rows)

    def are_different(self, name: str, other: str) -> bool:
        """Whether two names were said to be different attributes."""
        return any(not row.same and row.speaks_of(name, other) for row in self.rows)

    def names_for(self, name: str) -> list[str]:
        """Other names that were said to be the same attribute as one."""
        others = [
            (row.other if row.field == name else row.field) for row in self.rows if row.same and name in _names(row)
        ]
        return [other for other in others if other != name]


def aliases_of(rows: Iterable[tuple[str, str]], known: Sequence[str]) -> Aliases:
    """The rows as they are typed: a name, and what it is: “sex”, “not sex”, or “sex: 1=M; 2=F” where values differ.

    known : all names there are, as which names are taken whatever the case of their letters.
    Raises InputError for a name that there is not, and for values that do not go one to one.
    """
    return Aliases(tuple(_alias(field, words, known) for field, words in rows))


def _alias(field: str, words: str, known: Sequence[str]) -> Alias:
    field, as_name = _spelled(field, known, words), _known(words, known)
    if as_name is not None:
        return Alias(field, as_name, True)
    match = _NOT.fullmatch(words.strip())
    if match is not None:
        return Alias(field, _spelled(match[1], known, words), False)
    # A name may hold a colon itself: the longest beginning that is a name counts.
    ends = [colon.start() for colon in re.finditer(":", words)]
    for end in reversed(ends):
        other = _known(words[:end], known)
        if other is not None:
            return Alias(field, other, True, _values(field, other, words[end + 1 :]))
    return Alias(field, _spelled(words[: ends[0]] if ends else words, known, words), True)


def _values(field: str, other: str, words: str) -> tuple[tuple[str, str], ...]:
    """“1=M; 2=F” as pairs."""
    parts = [part.partition("=") for part in words.split(";") if part.strip()]
    pairs = tuple((value.strip(), of.strip()) for value, _, of in parts)
    if not pairs or not all(sign for _, sign, _ in parts):
        raise InputError.saying(
            "ALIASES: “{words}” says nothing of the values of “{field}” and “{other}”: write each value of “{field}” "
            "with that of “{other}”, such as 1=M; 2=F.",
            words=words.strip(),
            field=field,
            other=other,
        )
    for side in zip(*pairs):
        twice = sorted({value for value in side if side.count(value) > 1})
        if twice:
            raise InputError.saying(
                "ALIASES names the value “{value}” of “{field}” and “{other}” twice: values go one to one. Which "
                "values are part of a coarser one is said in HIERARCHIES.",
                value=twice[0],
                field=field,
                other=other,
            )
    return pairs


def _names(row: Alias) -> tuple[str, str]:
    return row.field, row.other


def _known(typed: str, known: Collection[str]) -> str | None:
    """A name as it is spelled, None where there is none."""
    typed = typed.strip()
    if typed in known:
        return typed
    return next((name for name in known if same_but_for_case(name, typed)), None)


def _spelled(typed: str, known: Sequence[str], words: str) -> str:
    spelling = _known(typed, known) or next((name for name in known if one_is_cut(name, typed.strip())), None)
    if spelling is None:
        raise InputError.saying(
            "ALIASES names “{typed}”, which no release has ({known}): give two names of fields, such as “gender” and "
            "“sex”, or “gender” and “not sex”.",
            typed=typed.strip(),
            known=first_values(known, 12),
        )
    return spelling
