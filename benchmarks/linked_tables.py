"""Persons with their stays and drugs, in one job against three: what it takes, and how many rows are shown.

    PYTHONPATH=build/package .venv/bin/python benchmarks/linked_tables.py [--persons 30000] [--classes 5 20 50 200]

Made-up people of 600 areas by sex and four age groups; 3, 9 and 30 rows a person of stays, tests and drugs on average
(geometric), with a known field of 12, 20 and 40 values. LINKED_K = 5. Three jobs: persons, stays and drugs each by
themselves, under the same regions, the latter two with PERSON_ID. Times are CPU seconds, without reading and writing.
The shares of rows are those of nested releases (600 areas, 30 regions, all) by how large the classes of the persons are
(K), and by what others know: the values of all rows of a person, or of one; how many rows there are; the values of all
of few stays, of which a person has 0.5 on average, and of no other table.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import Crosswalk, crosswalk_from_table
from vbas.core.levels import Levels
from vbas.core.linked.source import link
from vbas.core.linked.tables import ALL_ROWS, ONE_ROW, ROWS_KNOWN, LinkedTable
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import PERSONS, RecordTable
from vbas.core.source import Source

Tables = dict[str, tuple[np.ndarray, np.ndarray]]
Crosswalks = list[Crosswalk]
N_AREAS, N_REGIONS, LINKED_K, SEED = 600, 30, 5, 1
ROWS = {"stays": 3, "tests": 9, "drugs": 30}
VALUES = {"stays": 12, "tests": 20, "drugs": 40}


def coded(codes: np.ndarray, n: int) -> Column:
    """A column of whole numbers."""
    return Column(codes.astype(np.int32), np.arange(n).astype(object))


def people(n: int, rng: np.random.Generator) -> tuple[Areas, Crosswalks, np.ndarray, dict[str, Column]]:
    """The areas, their regions, and of n persons the area and the quasi-identifiers."""
    names = [f"{i:04}" for i in range(N_AREAS)]
    areas = make_areas(names, rng.uniform(0, 30_000, (N_AREAS, 2)).tolist())
    regions = (np.arange(N_AREAS) * N_REGIONS // N_AREAS + 1).tolist()
    home = rng.integers(0, N_AREAS, n)
    fields = {"sex": coded(rng.integers(0, 2, n), 2), "age": coded(rng.integers(0, 4, n), 4)}
    levels = [crosswalk_from_table(areas, names, of) for of in (range(1, N_AREAS + 1), regions, [1] * N_AREAS)]
    return areas, levels, home, fields


def owners(n: int, mean: float, rng: np.random.Generator) -> np.ndarray:
    """The person of each row, of `mean` rows a person."""
    return np.repeat(np.arange(n), rng.geometric(1 / (1 + mean), n) - 1)


def records_of(areas: Areas, home: np.ndarray, fields: dict[str, Column], whose: np.ndarray | None = None) -> Records:
    """Records of these people, or of their rows."""
    texts = column_from_values(areas.identifiers.tolist())
    table = RecordTable(Column(texts.codes[home], texts.categories), fields, {})
    if whose is not None:
        n = int(whose.max(initial=0)) + 1
        table = RecordTable(table.area, fields, {}, members={PERSONS: coded(whose, n)})
    return match_records(table, areas)


def cpu(work: Callable[[], Account]) -> tuple[float, Account]:
    """CPU seconds, and what was made."""
    started = time.process_time()
    account = work()
    return time.process_time() - started, account


def linked(areas: Areas, persons: Records, tables: Tables, known: str) -> Source:
    """Persons with tables; tables : of each the person and the value of each row; known : by others, “numbers”,
    or the values of ROWS_KNOWN"""
    made = []
    for name, (whose, value) in tables.items():
        column = {"value": coded(value, VALUES[name])}
        values = known in ROWS_KNOWN
        made.append(LinkedTable(name, whose, column if values else {}, {} if values else column, (), True))
    return link(persons, made, areas, k=LINKED_K, rows_known=known if known in ROWS_KNOWN else ALL_ROWS)


def main() -> None:
    """Print what one job takes beside three, and how many rows are shown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=30_000)
    parser.add_argument("--classes", type=int, nargs="*", default=[5, 20, 50, 200])
    given = parser.parse_args()
    rng = np.random.default_rng(SEED)
    areas, crosswalks, home, fields = people(given.persons, rng)
    levels, nested = Levels((crosswalks[1],)), Levels(tuple(crosswalks))
    persons = records_of(areas, home, fields)
    tables = {}
    for name, mean in ROWS.items():
        whose = owners(given.persons, mean, rng)
        tables[name] = (whose, rng.geometric(0.2, len(whose)).clip(1, VALUES[name]) - 1)
    print(f"{given.persons} persons, " + ", ".join(f"{len(whose)} {name}" for name, (whose, _) in tables.items()))
    alone = {"persons": cpu(lambda: anonymise(areas, persons, levels, Ask(k=LINKED_K)))[0]}
    for name in ("stays", "drugs"):
        whose, value = tables[name]
        own = {**{of: Column(column.codes[whose], column.categories) for of, column in fields.items()}}
        own["value"] = coded(value, VALUES[name])
        rows = records_of(areas, home[whose], own, whose)
        alone[name] = cpu(lambda rows=rows: anonymise(areas, rows, levels, Ask(k=LINKED_K)))[0]  # type: ignore[misc]
    two = {name: tables[name] for name in ("stays", "drugs")}
    joint, _ = cpu(lambda: anonymise(areas, linked(areas, persons, two, ALL_ROWS), levels, Ask(k=LINKED_K)))
    apart = " + ".join(f"{seconds:.1f}" for seconds in alone.values())
    print(
        f"three jobs {apart} = {sum(alone.values()):.1f} s; one job {joint:.1f} s, {joint / sum(alone.values()):.2f} x"
    )
    every, _ = cpu(lambda: anonymise(areas, linked(areas, persons, tables, ALL_ROWS), levels, Ask(k=LINKED_K)))
    print(f"one job with all {len(tables)} tables {every:.1f} s")
    few = owners(given.persons, 0.5, rng)
    kinds: dict[str, tuple[Tables, str]] = {
        ALL_ROWS: (tables, ALL_ROWS),
        ONE_ROW: (tables, ONE_ROW),
        "how many": (tables, "numbers"),
        "all rows of few stays": ({"stays": (few, rng.integers(0, 12, len(few)))}, ALL_ROWS),
    }
    print(
        "| K | " + " | ".join(kinds) + " | mean distance, m | persons suppressed |\n|---|" + "---|" * (len(kinds) + 2)
    )
    for k in given.classes:
        shares = []
        for of, known in kinds.values():
            _, account = cpu(
                lambda of=of, known=known, k=k: anonymise(  # type: ignore[misc]
                    areas, linked(areas, persons, of, known), nested, Ask(k=k)
                )
            )
            assert account.rows is not None
            shares.append([f"{100 * len(rows) / rows.n_given:.1f}" for rows in account.rows.linked])
        measures = account.measures
        cells = [*(", ".join(of) + " %" for of in shares), f"{measures.mean_distance:.0f}", str(measures.n_suppressed)]
        print(f"| {k} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
