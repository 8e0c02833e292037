"""Persons and a table that belongs to them, as they are released: who looks alike, and whose rows they are."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

from .people_shown import _several, whole
from .reading import loose, typed
from .registers import ticked

LINKED, PERSON, SHOWN, PLACE = "linked_tables0", "vbas_person", "shown", ("vbas_level", "vbas_region")


def linked(case, outcome):
    """vbas:anonymizelinked."""
    file = Path(str(outcome.results.get("RELEASED_TABLES", "")))
    if file.suffix.lower() != ".gpkg" or not file.is_file():
        return
    persons, rows = _tables(file)
    numbers, k = outcome.results, max(whole(case.parameters.get("K"), 5), 2)
    if len(persons) != numbers["N_RECORDS"] - numbers["N_SUPPRESSED"]:
        yield f"{len(persons)} persons are released, of {numbers['N_RECORDS']} {numbers['N_SUPPRESSED']} suppressed."
    quasi = [name.lower() for name in _several(case.parameters["QUASI_IDENTIFIERS"])]
    classes = [tuple(typed(person[name]) for name in (*PLACE, *quasi) if name in person) for person in persons]
    small = [(key, n) for key, n in Counter(classes).items() if n < k]
    if small:
        yield f"A class of {small[0][1]} persons is released, k is {k}: {small[0][0]!r}"
    given = case.parameters["LINKED_TABLES"][0]
    name, _, values = given.columns[-1]
    shown = Counter(loose(row[name]) for row in rows if name in row)
    if shown - Counter(map(loose, values)):
        yield f"{LINKED} shows rows that were not given: {shown - Counter(map(loose, values))!r}"
    if persons and PERSON in persons[0]:
        yield from _of_persons(case, dict(zip((person[PERSON] for person in persons), zip(classes, persons))), rows, k)
        if len({person[PERSON] for person in persons}) < len(persons):
            yield "Two persons have one key."
    elif any(PERSON in row for row in rows):
        yield f"{LINKED} has keys, the persons have none."


def _tables(file):
    """The rows of the persons and of the linked table, by name of the field in small letters."""
    with closing(sqlite3.connect(file)) as connection:
        found = {}
        for (table,) in connection.execute("SELECT table_name FROM gpkg_contents").fetchall():
            cursor = connection.execute(f'SELECT * FROM "{table}"')
            names = [column[0].lower() for column in cursor.description]
            found[table == LINKED] = [dict(zip(names, row)) for row in cursor.fetchall()]
    return found.get(False, []), found.get(True, [])


def _of_persons(case, by_key, rows, k):
    """Whoever knows what is said to be known of a person's rows finds k people or nobody."""
    given = case.parameters
    known = [one.strip().partition(".")[2].lower() for one in str(given.get("LINKED_KNOWN") or "").split(";") if one]
    counted, least = ticked(given.get("COUNT_KNOWN", True)), whole(given.get("LINKED_K"), 0) or k
    own: defaultdict[object, list] = defaultdict(list)
    for row in rows:
        if row[PERSON] not in by_key:
            yield f"A row belongs to {row[PERSON]}, who is no person."
            return
        person = by_key[row[PERSON]][1]
        if any(person[one] != row[one] for one in PLACE if one in person):
            yield f"A row of {row[PERSON]} is elsewhere than the person."
        own[row[PERSON]].append(tuple(typed(row[name]) for name in known))
    alike: Counter[object] = Counter()
    for key, (of_class, person) in by_key.items():
        flag, mine = person.get(f"vbas_{LINKED}"), own[key]
        if mine and flag == "left out":
            yield f"Rows of {key} are said to be left out, and are shown."
        if given.get("ROWS_KNOWN") in ("one row", 1):
            alike.update((of_class, value) for value in set(mine) if known)
        elif flag == SHOWN:
            seen = sorted(mine, key=repr) if known else len(mine) if counted else None
            alike[repr((of_class, seen))] += 1
        else:
            alike[repr((of_class, "left out"))] += 1
    few = [(one, n) for one, n in alike.items() if n < least]
    if few:
        yield f"{few[0][1]} persons look alike in what may be known, {least} are asked: {few[0][0]!r}"
