"""The claims of linked tables, for verify.py: it shares no line with the program that wrote the release."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

HOLDS, FAILS, UNSEEN = "holds", "does not hold", "not looked at"


def claims_of_linked(
    tables: dict[str, Any], linked: dict[str, dict[str, Any]], k: int
) -> Iterator[tuple[str, str, str]]:
    """That each row is of a person who shows it, where the person is, and that k people look alike in all tables."""
    names = "linked rows", "k of all tables"
    if not {"records", *linked} <= set(tables):
        yield from ((name, UNSEEN, "what it rests on cannot be read") for name in names)
        return
    records = tables["records"]
    whose = records.positions("person")
    if not whose:
        yield from ((name, UNSEEN, "the rows do not say whose they are") for name in names)
        return
    try:
        places, flags = records.positions("level", "region"), dict(zip(records.names, range(len(records.names))))
        own = records.positions("level", "region", "quasi-identifier", "shown")
        people = {row[whose[0]]: row for row in records.rows}
        looks: dict[Any, list[Any]] = {person: [tuple(row[i] for i in own)] for person, row in people.items()}
        astray = len(records) - len(people)
        of_rows: Counter[Any] = Counter()
        for name, how in linked.items():
            astray += _look_at(tables[name], people, looks, places, flags[f"vbas_{name}"], how, of_rows)
    except (IndexError, KeyError, TypeError) as error:
        yield names[0], FAILS, f"the linked tables are not as described: {error}"
        yield names[1], UNSEEN, "what it rests on cannot be read"
        return
    yield (
        names[0],
        FAILS if astray else HOLDS,
        (f"{astray} are of nobody there" if astray else "each is of a person who shows it there"),
    )
    alike = Counter(map(repr, looks.values())) + of_rows
    asked = max(k, *(int(how["k"]) for how in linked.values()))
    below = sum(number < asked for number in alike.values())
    found = f"{len(alike)} groups, the smallest of {min(alike.values(), default=0)} people, {below} below {asked}"
    yield names[1], FAILS if below else HOLDS, found


def _look_at(
    table: Any,
    people: dict[Any, Any],
    looks: dict[Any, list[Any]],
    places: list[int],
    flag: int,
    how: dict[str, Any],
    of_rows: Counter[Any],
) -> int:
    """Add to each person's looks what a table shows of them; the rows that are of nobody who shows them there.

    Where others may know one row of a person, the people who look alike and have each row go to of_rows instead.
    """
    whose, at, known = (
        table.positions("person")[0],
        table.positions("level", "region"),
        table.positions("quasi-identifier"),
    )
    rows: defaultdict[Any, list[str]] = defaultdict(list)
    astray, one_row = 0, how.get("rows_known") == "one row"
    for row, copies in table.rows.items():
        person = people.get(row[whose])
        if (
            person is None
            or person[flag] not in ("shown", "in part")
            or [person[i] for i in places] != [row[i] for i in at]
        ):
            astray += copies
        elif known or (how["count_known"] and not one_row):
            rows[row[whose]] += [repr(tuple(row[i] for i in known))] * copies
    if one_row:
        of_rows.update(f"{id(table)} {looks[person]!r} {value}" for person, own in rows.items() for value in set(own))
        return astray
    for person, own in looks.items():
        own.append(sorted(rows[person]))
    return astray
