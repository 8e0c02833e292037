"""Draws releases that are carried on: months of people, what was published of them so far, and who is there now."""

from __future__ import annotations

import json
from collections import Counter

from .given import Table
from .reading import identity
from .registers import Register
from .several import VALUES

QUASI = ("sex", "age")
MONTHS = (1, 1, 2, 3)


def carried_on(town):
    """A crosswalk, a register with the releases of some months under it, and the people of now; None where the
    crosswalk holds no plain regions of areas that are told apart."""
    dice, table = town.dice, town.crosswalk()
    paths = _paths(table)
    if paths is None:
        return None
    k, sensitive = dice.randint(2, 4), dice.pick([], [], ["ill"])
    people = _people(dice, list(paths))
    releases = [_shown(people, paths, k, sensitive)]
    for _ in range(dice.choice(MONTHS) - 1):
        nested = len(next(iter(paths.values()))) > 1
        people = people if nested or sensitive else _moved(dice, people, list(paths))
        again = nested or sensitive
        releases.append(releases[-1] if again else _carried(_classes(people, paths), releases, k))
    people = people if dice.chance(0.2) else _moved(dice, people, list(paths))
    given = {"CROSSWALK": table, "REGISTER": _register(releases, paths, k), **_records(dice, people, sensitive)}
    if dice.chance(0.3):
        given["K"] = dice.pick(k, k, k, 2, 5)
    if dice.chance(0.3):
        given["ENTRY"] = dice.pick("1", "release 1", "release 9")
    return {**given, **town.regions(optional=True)}


def _paths(table):
    """The regions of each area, the finest first."""
    try:
        numbered = [values for name, _, values in table.columns[1:] if name != "more"]
        columns = [[int(float(value)) for value in values] for values in numbered]
    except (TypeError, ValueError, OverflowError):
        return None
    paths = dict(zip(map(identity, table.columns[0][2]), zip(*columns)))
    if None in paths or len(paths) < len(table) or any(not 1 <= n < 2**31 for path in paths.values() for n in path):
        return None
    return paths


def _people(dice, areas):
    return [_person(dice, area) for area in areas for _ in range(dice.pick(0, 4, dice.randint(0, 20)))]


def _person(dice, area):
    return area, {
        name: dice.choice([value for value in values if value is not None]) for name, values in VALUES.items()
    }


def _moved(dice, people, areas):
    """A few of them left, a few came, a few moved."""
    stay = [person for person in people if not dice.chance(0.06)]
    moved = [(dice.choice(areas), values) if dice.chance(0.05) else (area, values) for area, values in stay]
    return moved + [_person(dice, dice.choice(areas)) for _ in range(dice.randint(0, 6))]


def _key(values):
    return tuple(values[name] for name in QUASI)


def _classes(people, paths):
    """(1, region, values) -> people, in regions of one level."""
    return Counter((1, paths[area][0], _key(values)) for area, values in people)


def _shown(people, paths, k, sensitive):
    """(counts, values): what a first release shows, each class where those not shown yet are k."""
    counts: Counter[tuple] = Counter()
    told: Counter[tuple] = Counter()
    left = people
    for level in range(len(next(iter(paths.values())))):
        there = Counter((paths[area][level], _key(values)) for area, values in left)
        rest = []
        for area, values in left:
            place = paths[area][level], _key(values)
            if there[place] < k:
                rest.append((area, values))
                continue
            counts[(level + 1, *place)] += 1
            for name in sensitive:
                told[(level + 1, *place, name, values[name])] += 1
        left = rest
    return counts, told


def _carried(there, releases, k):
    """As many as there are of each class, or fewer, so that from no release before it changes by 1 to k - 1."""
    counts: Counter[tuple] = Counter()
    for key, people in there.items():
        before = [counts_then[key] for counts_then, _ in releases if counts_then[key]]
        fits = (n for n in range(people, k - 1, -1) if all(n == then or abs(n - then) >= k for then in before))
        counts[key] = next(fits, 0)
    return +counts, Counter()


def _register(releases, paths, k):
    rows: dict[str, list[tuple]] = {
        name: [] for name in ("vbas_releases", "vbas_crosswalks", "vbas_counts", "vbas_values")
    }
    levels = len(next(iter(paths.values())))
    for number, (counts, told) in enumerate(releases, 1):
        first = int(number == 1)
        stated = number, f"release {number}", f"2026-0{number}-01T00:00:00+00:00", k, json.dumps(QUASI), levels
        rows["vbas_releases"].append((*stated, first, int(first and levels == 1), "{}"))
        rows["vbas_crosswalks"] += [
            (number, level, area, region) for area, path in paths.items() for level, region in enumerate(path, 1)
        ]
        rows["vbas_counts"] += [(number, *place, json.dumps(of), n) for (*place, of), n in counts.items()]
        rows["vbas_values"] += [
            (number, *place, json.dumps(of), name, value, n) for (*place, of, name, value), n in told.items()
        ]
    return Register(tuple((name, tuple(some)) for name, some in rows.items()))


def _records(dice, people, sensitive):
    """RECORDS and its fields: a row for each, or counted."""
    names = [*QUASI, *sensitive]
    rows = [(area, *(values[name] for name in names)) for area, values in people]
    fields = [("home", "text"), *((name, "text") for name in names)]
    given: dict[str, object] = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": list(QUASI)}
    if sensitive:
        given[dice.pick("SENSITIVE", "KEEP_FIELDS")] = list(sensitive)
    if dice.chance(0.3):
        rows = [(*row, n) for row, n in Counter(rows).items()]
        fields.append(("number", "long"))
        given["RECORD_COUNT"] = "number"
    else:
        dice.shuffle(rows)
    values = list(map(list, zip(*rows))) or [[] for _ in fields]
    columns = tuple((name, kind, column) for (name, kind), column in zip(fields, values))
    return {"RECORDS": Table(columns, stored=dice.pick("memory", "memory", "gpkg", "csv")), **given}
