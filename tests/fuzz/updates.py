"""Updates held against every release of their register: nothing changes by a few, and what changed is counted right."""

from __future__ import annotations

import json
from collections import Counter

from .earlier import counts_of
from .people_shown import Records, whole
from .reading import loose

UPDATES = ("a further period", "the same people updated", 1, 2)


def asked_of(case, outcome):
    """k of an update: what is given, else that of the release that is updated."""
    return whole(case.parameters.get("K"), 0) or _updated(case, outcome.layers["REGISTER"])[3]


def _updated(case, before):
    """The row of the release that is updated: the one named, else the last."""
    named = str(case.parameters.get("ENTRY") or "").strip()
    rows = [row for row in before["vbas_releases"] if named in (str(row[0]), row[1])]
    return (rows or before["vbas_releases"])[-1]


def changes_seen(case, outcome, regions, k):
    """Whatever two releases show of a class of a region, alone or with the regions within, differs by nobody or k."""
    before, records = outcome.layers["REGISTER"], Records(case, outcome)
    new = counts_of(records, outcome)
    if new is None or not all(any(path) for path in regions.values()):
        return
    last = _updated(case, before)
    for number, _, _, _, names, *_ in before["vbas_releases"]:
        paths, shown = _paths(before, number), json.loads(names)
        if sorted(shown) != sorted(records.quasi) or paths != regions:
            yield f"Release {number} has other regions or quasi-identifiers, and was taken."
            return
        old = _counts(before, number, [shown.index(name) for name in records.quasi])
        for then, now in ((old, new), (_with_those_within(old, paths), _with_those_within(new, paths))):
            few = [(key, then[key], n) for key, n in now.items() if key in then and 0 < abs(n - then[key]) < k]
            if few:
                yield f"Between release {number} and this one classes change by fewer than {k}: {few[:3]!r}"
        if number == last[0] and not records.kept and "N_SAME" in outcome.results:
            yield from _said(outcome.results, old, new)


def _paths(before, number):
    found: dict[object, list] = {}
    for of, _, area, region in sorted(before["vbas_crosswalks"], key=lambda row: row[1]):
        if of == number:
            found.setdefault(area, []).append(region)
    return found


def _counts(before, number, order):
    """(level, region, values) -> people; order : where the values stand that the release has one after the other"""
    counts: Counter[tuple] = Counter()
    for of, level, region, values, people in before["vbas_counts"]:
        if of == number:
            told = json.loads(values)
            counts[level, region, tuple(loose(told[at]) for at in order)] += people
    return counts


def _with_those_within(counts, paths):
    above = {(level, region): path for path in paths.values() for level, region in enumerate(path, 1)}
    sums: Counter[tuple] = Counter()
    for (level, region, values), people in counts.items():
        path = above[level, region]
        for higher in range(level, len(path) + 1):
            sums[higher, path[higher - 1], values] += people
    return sums


def _said(numbers, old, new):
    """What the run says of what stays and changes."""
    both = old.keys() & new.keys()
    counted = {
        "N_SAME": sum(old[key] == new[key] for key in both),
        "N_CHANGED": sum(old[key] != new[key] for key in both),
        "N_GONE": len(old.keys() - new.keys()),
        "N_NEW": len(new.keys() - old.keys()),
    }
    for name, number in counted.items():
        if numbers[name] != number:
            yield f"{name} is {numbers[name]}, by hand {number}."
