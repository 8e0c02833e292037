"""Months of the demonstration city, and what their releases show beside each other. Standard library alone.

python3 months.py make FOLDER DISTRICT     month_00.csv … month_12.csv from city_records.gpkg and city_areas.gpkg
python3 months.py compare FOLDER           a line for each month; ends with 1 if any class changed by 1 to 4

The last column is for whoever has the records alone: of the classes of regions, with those within, that show fewer than
the month before, in how many 1 to 4 people came or left in truth. So often is right who guesses that.
"""

from __future__ import annotations

import csv
import json
import random
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

MONTHS, MOVES, BIRTHS, K = 12, 0.003, 0.001, 5
FIELDS = ("area", "age_group", "sex", "marital_status", "education")
ALL = "all"


def make(folder: Path, district: str) -> None:
    """Write the months: people move to where others live; who dies is replaced by somebody as young as the youngest."""
    with closing(sqlite3.connect(folder / "city_areas.gpkg")) as areas:
        table = areas.execute("SELECT table_name FROM gpkg_contents WHERE data_type = 'features'").fetchone()[0]
        of_area = dict(areas.execute(f'SELECT area, district FROM "{table}"'))
    wanted = {area for area, of in of_area.items() if district in (ALL, of)}
    if not wanted:
        raise SystemExit(f"The city has no district “{district}”: {', '.join(sorted(set(of_area.values())))}.")
    with closing(sqlite3.connect(folder / "city_records.gpkg")) as records:
        table = records.execute("SELECT table_name FROM gpkg_contents").fetchone()[0]
        rows = records.execute(f'SELECT {", ".join(FIELDS)} FROM "{table}"')
        people = [list(row) for row in rows if row[0] in wanted]
    dice = random.Random(1)
    homes, first = [person[0] for person in people], min(person[1] for person in people)
    children = [list(person) for person in people if person[1] == first]
    for month in range(MONTHS + 1):
        with (folder / f"month_{month:02}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([FIELDS, *people])
        for at, person in enumerate(people):
            if dice.random() < MOVES:
                person[0] = dice.choice(homes)
            if dice.random() < BIRTHS:
                people[at] = list(dice.choice(children))


def compare(folder: Path) -> int:
    """Print what each month shows, and how many classes of regions changed by a few between it and any before."""
    released: list[tuple[Counter, Counter]] = []
    regions = _regions(folder)
    few_in_all, people = 0, list[Counter]()
    print("month  shown  suppressed  moved or lost, %  as before  changed  gone   new  changes of 1 to 4  guessed, %")
    for month in range(MONTHS + 1):
        labels, sums = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
        with (folder / f"released_{month:02}.csv").open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                level, values = int(row["vbas_level"]), tuple(row[name] for name in FIELDS[1:])
                labels[(row["vbas_level"], row["vbas_region"], *values)] += 1
                for at, region in enumerate(regions[level, row["vbas_region"]], level):
                    sums[(str(at), region, *values)] += 1
        few = sum(_few(old, new) for before in released for old, new in zip(before, (labels, sums)))
        few_in_all += few
        released.append((labels, sums))
        people = [*people[-1:], _people(folder, month)]
        results = json.loads((folder / f"result_{month:02}.json").read_text(encoding="utf-8"))["results"]
        numbers = [results.get(name, "") for name in ("N_SAME", "N_CHANGED", "N_GONE", "N_NEW")]
        moved = f"{results['MOVED_PERCENT']:.2f}" if "MOVED_PERCENT" in results else ""
        print(
            f"{month:5}  {labels.total():5}  {results['N_SUPPRESSED']:10}  {moved:>16}  {numbers[0]:>9}  "
            f"{numbers[1]:>7}  {numbers[2]:>4}  {numbers[3]:>4}  {few:17}  {_guessed(released, people):>10}"
        )
    return int(few_in_all > 0)


def _regions(folder: Path) -> dict[tuple[int, str], list[str]]:
    """By level and region, that region and those around it, level by level, from the crosswalk."""
    around = {}
    with (folder / "crosswalk.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = [value for name, value in row.items() if name.startswith("vbas_region_")]
            for at, region in enumerate(numbers):
                around[at + 1, region] = numbers[at:]
    return around


def _people(folder: Path, month: int) -> Counter:
    """Who lives in each region of each level, by class, from the records."""
    people, around = Counter[tuple[str, ...]](), {}
    with (folder / "crosswalk.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            around[row["area"]] = [value for name, value in row.items() if name.startswith("vbas_region_")]
    with (folder / f"month_{month:02}.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            values = tuple(row[name] for name in FIELDS[1:])
            people.update((str(at), region, *values) for at, region in enumerate(around[row["area"]], 1))
    return people


def _guessed(released: list[tuple[Counter, Counter]], people: list[Counter]) -> str:
    """Of all that is shown of fewer people than the month before, of how much 1 to 4 came or left, per cent."""
    if len(released) < 2:
        return ""
    (_, old), (_, new) = released[-2:]
    fell = [key for key in old if new[key] < old[key]]
    return f"{100 * sum(0 < abs(people[1][key] - people[0][key]) < K for key in fell) / max(len(fell), 1):.0f}"


def _few(old: Counter, new: Counter) -> int:
    return sum(0 < abs(new[key] - old[key]) < K for key in old.keys() & new.keys())


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(compare(Path(sys.argv[2])))
