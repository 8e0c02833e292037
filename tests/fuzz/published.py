"""What releases show, as sets of areas and how many people live in them; and what follows from two by subtraction."""

from __future__ import annotations

from dataclasses import dataclass

MISSING = "(missing)"


@dataclass(frozen=True)
class Shown:
    """A count: so many people with these values of quasi-identifiers, (name, text) each, live in these areas."""

    areas: frozenset
    values: frozenset
    people: int

    def within(self, other):
        """Whether all whom this counts the other counts too, as far as areas and values tell."""
        return self.areas <= other.areas and other.values <= self.values


def shown_by(people, names, region_of, k):
    """What a release of one level shows of people who are (area, values by name): every class of k and more."""
    counts: dict[tuple, int] = {}
    for area, values in people:
        if region_of.get(area) is not None:
            key = region_of[area], frozenset((name, text_of(values[name])) for name in names)
            counts[key] = counts.get(key, 0) + 1
    areas: dict[object, set] = {}
    for area, region in region_of.items():
        areas.setdefault(region, set()).add(area)
    return [Shown(frozenset(areas[region]), values, n) for (region, values), n in counts.items() if n >= k]


def text_of(value):
    """A value as reports name it."""
    return MISSING if value is None else str(value)


def rests(ones, others, k):
    """(count, what is left of it) wherever the counts of the other release within it leave 1 to k - 1 people."""
    for outer in ones:
        left = outer.people - sum(inner.people for inner in others if inner.within(outer))
        if 1 <= left < min(k, outer.people):
            yield outer, left


def changes(before, after, k):
    """(count before, count after) wherever the same areas and values have 1 to k - 1 people more or fewer."""
    then = {(one.areas, one.values): one for one in before}
    for one in after:
        old = then.get((one.areas, one.values))
        if old is not None and 1 <= abs(one.people - old.people) < k:
            yield old, one
