"""Releases beside an earlier one of a register: drawn of the same people, and looked at for what both give away."""

from __future__ import annotations

import json
from collections import Counter

from .people_shown import Records, whole
from .published import Shown, rests, shown_by
from .reading import identity, loose, plain, rows_of_output
from .registers import Register, added


def earlier_register(town):
    """A register with one release of the very records by other regions, where they are plain; else a new one."""
    dice = town.dice
    table, names = town.records()
    quasi = [name for role, name in names.items() if role.startswith("quasi")]
    values = [table.values(name) for name in quasi]
    homes = list(map(identity, table.values(names["area"])))
    texts = all(isinstance(one, str) and one.strip() for column in values for one in column)
    if not texts or "count" in names or None in homes or dice.chance(0.3):
        return Register(there=False)
    people = [(home, dict(zip(quasi, row))) for home, row in zip(homes, zip(*values))]
    areas = list(dict.fromkeys(map(identity, town.ids)))
    region_of = {area: dice.randint(1, max(1, len(areas) // 3)) for area in areas}
    k = dice.randint(2, 4)
    regions = {frozenset(a for a in areas if region_of[a] == one): one for one in set(region_of.values())}
    counts = [
        (1, 1, regions[one.areas], json.dumps([dict(one.values)[name] for name in quasi]), one.people)
        for one in shown_by(people, quasi, region_of, k)
    ]
    rows: dict[str, list[tuple]] = {
        "vbas_releases": [(1, "release 1", "2026-01-01T00:00:00+00:00", k, json.dumps(quasi), 1, 1, 1, "{}")],
        "vbas_crosswalks": [(1, 1, area, region) for area, region in region_of.items()],
        "vbas_counts": counts,
    }
    return Register(tuple((table, tuple(some)) for table, some in rows.items()))


def counts_of(records, outcome):
    """(level, region, values) -> records, as the release shows them; None where the register writes some of its texts
    in words of its own."""
    names, rows = rows_of_output(outcome.results["RELEASED_RECORDS"], outcome.context)
    if any(isinstance(value, str) and not value.strip() for row in rows for value in map(plain, row)):
        return None
    nested = "vbas_level" in names and "vbas_level" not in records.quasi
    front, released = 2 if nested else 1, Counter[tuple]()
    for row in rows:
        level, region = (int(float(row[0])), int(float(row[1]))) if nested else (1, int(float(row[0])))
        people = int(float(row[-1])) if records.count else 1
        released[level, region, tuple(map(loose, row[front : front + len(records.quasi)]))] += people
    return released


def registered(case, outcome, regions):
    """What a run with a register adds to it, and that nothing of fewer than k follows from it and the earlier one."""
    if not isinstance(case.parameters.get("REGISTER"), Register) or not regions:
        return
    records = Records(case, outcome)
    if records.members:
        return  # k counts others than records
    released = counts_of(records, outcome)
    if released is None:
        return
    yield from added(case, outcome, released)
    before, nested = outcome.layers["REGISTER"], len(next(iter(regions.values()))) > 1
    if nested or not before or len(before["vbas_releases"]) != 1:
        return
    k = min(before["vbas_releases"][0][3], max(whole(case.parameters.get("K"), 5), 2))
    names = json.loads(before["vbas_releases"][0][4])
    if names != records.quasi or any("undecided" in line or "hard to decide" in line for line in outcome.log):
        return
    if "PUBLISHED_COUNTS" in case.parameters and any("without this one" in line for line in outcome.log):
        return  # counts of others and the earlier release leave it, whatever is released now
    then: dict[object, set] = {}
    for _, _, area, region in before["vbas_crosswalks"]:
        then.setdefault(region, set()).add(area)
    old = [
        Shown(frozenset(then[region]), frozenset(zip(names, map(loose, json.loads(of)))), n)
        for _, _, region, of, n in before["vbas_counts"]
    ]
    now: dict[object, set] = {}
    for area, (region, *_) in regions.items():
        now.setdefault(region, set()).add(area)
    new = [
        Shown(frozenset(now[region]), frozenset(zip(names, values)), n) for (_, region, values), n in released.items()
    ]
    for one, left in (*rests(old, new, k), *rests(new, old, k)):
        yield f"Of {one.people} people in {sorted(one.areas)} the register and the release leave {left}."
