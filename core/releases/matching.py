"""Which attributes of several releases are the same, whatever they are called: told by their contents.

A release whose `sex` was renamed `gender` is one more release of the same people by the same attribute, and must be
held against the others as such. Who says so is the person, not the name: where names differ and contents agree, the
run stops and asks; where nothing can be decided, it says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from ..dataclass import dataclass
from ..disclosure.published import Published
from ..errors import InputError, first_values
from ..language import tr
from ..plain_text import without_writing
from .aliases import Alias, Aliases
from .asking import ask_for_words, perhaps_coarser, perhaps_same, same_content
from .attributes import Attribute, Parts, are_apart, attributes_of, likeness, parts_of, recoded
from .naming import Named, in_release, with_names, with_values
from .said_words import in_said_words
from .writing import words_for_missing, written_otherwise

NEARLY_ALL, SOME, SELDOM, LIKELY_SAME, HARDLY = 0.9, 0.1, 0.1, 0.95, 0.6
"""Shares of records: whose values are in both for the same attribute; for a partly similar one; that may have values
that the other does not show; that agree in totals where words do not; and that must agree where words do."""
Levels = Mapping[str, Sequence[Collection[str]]]


@dataclass(eq=False)
class Matched:
    """Releases of which the same attributes have the same names and the same words for the same values.

    said : what was recognised; warnings : what nobody can decide; assumed : pairs of names that are taken for different
    attributes, the newer one first
    """

    releases: list[Published]
    said: list[str]
    warnings: list[str]
    assumed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def assumption(self) -> str:
        """What is taken for granted of fields under different names, empty for nothing."""
        if not self.assumed:
            return ""
        return tr(
            "Taken for different fields: {pairs}. If one is the other under a new name or in other words, say so in "
            "ALIASES.",
            pairs=first_values((tr("{name} / {other}", name=a, other=b) for a, b in self.assumed), 8),
        )


def matched(naming: Named, aliases: Aliases, levels: Levels) -> Matched:
    """The releases, the newest last, with values written alike, and attributes that are not the same kept apart.

    naming : as `named` gives them; levels : by name, the values that an attribute is known to have at each level
    Raises InputError where contents agree and names do not, and where an alias lacks what its values are.
    """
    work = _Matching(naming, aliases, levels)
    work.same_names()
    work.other_names()
    if work.asked:
        raise InputError(" ".join(dict.fromkeys(work.asked)))
    return Matched(work.releases, work.said, work.warnings, work.assumed)


class _Matching:
    """The releases while they are matched."""

    def __init__(self, naming: Named, aliases: Aliases, levels: Levels) -> None:
        self.releases = [in_said_words(i, naming, aliases) for i in range(len(naming.releases))]
        self.said, self.warnings = list(naming.said), list(naming.warnings)
        self.asked: list[str] = []
        self.assumed: list[tuple[str, str]] = []
        self._own, self._aliases, self._levels = [dict(names) for names in naming.own], aliases, levels
        self._attributes = [attributes_of(release) for release in self.releases]
        self._parts: dict[tuple[int, int, tuple[str, ...]], Parts] = {}
        self._seen: set[tuple[str, str]] = set()
        self._apart: dict[str, dict[str, Attribute]] = {}  # by name, those that are not the same under other names

    def same_names(self) -> None:
        """Write values as newer releases do, and keep attributes apart whose values are not the same."""
        for i in reversed(range(len(self.releases) - 1)):
            for name in list(self._attributes[i]):
                newer = [j for j in range(i + 1, len(self.releases)) if self._comparable(name, i, j)]
                if newer:
                    self._written_alike(name, i, newer)
                    self._compare_values(name, i, newer[-1])
                self._compare_kinds(name, i)

    def other_names(self) -> None:
        """Compare what has different names, the newest releases first."""
        n = len(self.releases)
        for j in reversed(range(n)):
            for i in reversed(range(j)):
                for name in sorted(self._attributes[j].keys() - self._attributes[i].keys()):
                    for other in sorted(self._attributes[i].keys() - self._attributes[j].keys()):
                        if (name, other) not in self._seen and self._may_be_one(name, j, other, i):
                            self._seen.update([(name, other), (other, name)])
                            self._compare(name, j, other, i)

    def _comparable(self, name: str, i: int, j: int) -> bool:
        """Whether two releases show an attribute at the same level; those of other levels are related by these."""
        attribute, other = self._attributes[i].get(name), self._attributes[j].get(name)
        return (
            attribute is not None
            and other is not None
            and (attribute.level, attribute.sensitive) == (other.level, other.sensitive)
        )

    def _compare_kinds(self, name: str, i: int) -> None:
        """Say where an attribute is a quasi-identifier in one release and sensitive in a newer one, or vice versa."""
        attribute = self._attributes[i].get(name)
        others = (attributes[name] for attributes in reversed(self._attributes[i + 1 :]) if name in attributes)
        other = next(
            (other for other in others if attribute is not None and other.sensitive != attribute.sensitive), None
        )
        if attribute is not None and other is not None:
            first, second = (attribute, other) if other.sensitive else (other, attribute)
            self.warnings.append(
                tr(
                    "“{name}” is a quasi-identifier of {first} and a sensitive field of {second}: what they give away "
                    "together by it is not looked at.",
                    name=name,
                    first=first.title,
                    second=second.title,
                )
            )

    def _written_alike(self, name: str, i: int, newer: Sequence[int]) -> None:
        known = [value for j in newer for value in self._attributes[j][name].values]
        values = written_otherwise(self._attributes[i][name].values, known)
        if values:
            self.releases[i] = with_values(self.releases[i], name, values)
            self._attributes[i] = attributes_of(self.releases[i])
            self.said.append(
                tr(
                    "“{name}”: {release} writes values otherwise ({first}); they are taken for the same.",
                    name=name,
                    release=self.releases[i].title,
                    first=_pairs(list(values.items())),
                )
            )

    def _compare_values(self, name: str, i: int, j: int) -> None:
        """Hold the values of one attribute in two releases against each other."""
        attribute, other = self._attributes[i][name], self._attributes[j][name]
        self._compare_missing(name, i, j)
        lacking, new = 1 - attribute.share_among(other.values), 1 - other.share_among(attribute.values)
        if not attribute.by_value or not other.by_value or not lacking or not new:
            return
        settled = self._settled(name, i, j)
        if settled is not None and (settled.values or settled.field == settled.other) and lacking < 1:
            return
        own = self._called(name, i)
        if lacking == 1:
            if settled is not None:
                raise InputError(ask_for_words(self._called(name, j), own, attribute, other))
            self._compare_words(name, j, self._set_apart(name, i), i, own)
            return
        self.warnings.append(
            tr(
                "“{name}”: {release} shows {first} and {newer} {others}, which the other does not show. If these are "
                "the same people in other words, it cannot be said what the releases give away together: give the "
                "words in ALIASES: {name}, “{own}: 1=M; 2=F”; or {name}, {own} where all is written alike.",
                name=self._called(name, j),
                own=own,
                release=attribute.title,
                first=first_values(_only(attribute, other), 3),
                newer=other.title,
                others=first_values(_only(other, attribute), 3),
            )
        )
        if min(lacking, new) > SELDOM and settled is None:
            self._set_apart(name, i)

    def _compare_missing(self, name: str, i: int, j: int) -> None:
        """Say where one release shows missing values, and the other what programs write for them."""
        attribute, other = self._attributes[i][name], self._attributes[j][name]
        words = [
            *words_for_missing(attribute.values, other.values),
            *words_for_missing(other.values, attribute.values),
        ]
        if words and self._settled(name, i, j) is None:
            self.warnings.append(
                tr(
                    "“{name}” is missing in one of {release} and {newer}, and “{word}” in the other: programs write "
                    "that for a missing value. If it is one, it cannot be said what the releases give away together: "
                    "write missing values alike. If not, say so in ALIASES: {name}, {own}.",
                    name=self._called(name, j),
                    own=self._called(name, i),
                    release=attribute.title,
                    newer=other.title,
                    word=words[0],
                )
            )

    def _settled(self, name: str, i: int, j: int) -> Alias | None:
        """What was said of the two names of one attribute."""
        names = self._called(name, i), self._called(name, j)
        rows = [row for row in self._aliases.rows if row.same and row.speaks_of(*names)]
        return max(rows, key=lambda row: len(row.values)) if rows else None

    def _set_apart(self, name: str, i: int) -> str:
        """Give an attribute of a release a name of its own, the same for older ones that have its values; that name."""
        attribute = self._attributes[i][name]
        like = (apart for apart, other in self._apart.get(name, {}).items() if _mostly_in_both(attribute, other))
        apart = next(like, in_release(name, self.releases[i].title))
        self._apart.setdefault(name, {}).setdefault(apart, attribute)
        self._own[i][apart] = self._own[i].pop(name)
        self.releases[i] = with_names(self.releases[i], {name: apart})
        self._attributes[i] = attributes_of(self.releases[i])
        self._seen.update([(name, apart), (apart, name)])
        return apart

    def _called(self, name: str, i: int) -> str:
        """What a release itself calls an attribute."""
        return self._own[i].get(name, name)

    def _may_be_one(self, name: str, j: int, other: str, i: int) -> bool:
        """Whether nobody said, and no release shows, that two attributes are different."""
        if self._aliases.are_different(self._called(name, j), self._called(other, i)):
            return False
        return not any(
            are_apart((name, other), attributes, release)
            for attributes, release in zip(self._attributes, self.releases)
        )

    def _compare(self, name: str, j: int, other: str, i: int) -> None:
        """Two attributes of different names: the same, perhaps the same, or taken for different ones."""
        new, old, own = self._attributes[j][name], self._attributes[i][other], self._called(other, i)
        if not new.by_value or not old.by_value:
            return
        both = new.share_among(old.values), old.share_among(new.values)
        agree = likeness(new, old, self._parts_of(i, j))
        if min(both) >= NEARLY_ALL and (agree is None or agree >= HARDLY):
            self._ask(name, j, own, old, first_values(_common(new, old), 4))
        elif self._at_another_level(name, new, other, old):
            self._ask(name, j, own, old, first_values(old.by_value, 4))
        elif min(both) >= SOME or max(both) >= NEARLY_ALL or new.level != old.level:
            self._warn(name, j, own, old)
        else:
            self._compare_words(name, j, other, i, own)

    def _compare_words(self, name: str, j: int, other: str, i: int, own: str) -> None:
        """Two attributes without words in common: whether totals say that they could be the same."""
        new, old, called = self._attributes[j][name], self._attributes[i][other], self._called(name, j)
        fit = recoded(new, old, self._parts_of(i, j))
        likely = fit is not None and fit.likeness >= LIKELY_SAME
        words = "; ".join(f"{value}={of}" for value, of in fit.values) if fit is not None and likely else ""
        if fit is not None and fit.exact:
            self.asked.append(
                tr(
                    "“{name}” of {newer} and “{other}” of {release} have the same totals in other words: if they are "
                    "the same field, say so in ALIASES: {name}, “{other}: {words}”; if not: {name}, not {other}.",
                    name=called,
                    newer=new.title,
                    other=own,
                    release=old.title,
                    words=words,
                )
            )
        elif likely and not words:
            self.warnings.append(perhaps_coarser(called, new, own, old))
        elif called == own or likely:
            self._warn(name, j, own, old, words)
        else:
            self.assumed.append((called, own))

    def _at_another_level(self, name: str, new: Attribute, other: str, old: Attribute) -> bool:
        """Whether one shows values that the other is known to have, coarser or finer."""
        return any(
            attribute.share_among(values) >= NEARLY_ALL
            and 2 * len({*map(without_writing, values)} & _plain(attribute)) >= len({*values})
            for attribute, known in ((old, name), (new, other))
            for values in self._levels.get(known, ())
        )

    def _parts_of(self, i: int, j: int) -> Parts:
        in_both = (name for name in self._attributes[i] if self._comparable(name, i, j))
        shared = tuple(name for name in in_both if not self._attributes[i][name].sensitive)
        if (i, j, shared) not in self._parts:
            self._parts[i, j, shared] = parts_of(self.releases[j], self.releases[i], shared)
        return self._parts[i, j, shared]

    def _ask(self, name: str, j: int, own: str, old: Attribute, values: str) -> None:
        self.asked.append(same_content(self._called(name, j), self.releases[j].title, own, old.title, values))

    def _warn(self, name: str, j: int, own: str, old: Attribute, words: str = "") -> None:
        self.warnings.append(perhaps_same(self._called(name, j), self._attributes[j][name], own, old, words))


def _mostly_in_both(attribute: Attribute, other: Attribute) -> bool:
    """Whether most records of each attribute have a value that the other has too."""
    return min(attribute.share_among(other.values), other.share_among(attribute.values)) >= 1 - SELDOM


def _plain(attribute: Attribute) -> set[str]:
    return {without_writing(value) for value in attribute.by_value}


def _common(attribute: Attribute, other: Attribute) -> list[str]:
    there = _plain(other)
    return [value for value in attribute.by_value if without_writing(value) in there]


def _only(attribute: Attribute, other: Attribute) -> list[str]:
    there = _plain(other)
    return [value for value in attribute.by_value if without_writing(value) not in there]


def _pairs(values: Sequence[tuple[str, str]]) -> str:
    return first_values((tr("{value} for {of}", value=value, of=of) for value, of in values), 3)
