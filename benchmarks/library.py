"""CPU of a release by `anonymize`, against the functions that it calls one by one, as docs/library.md tells them.

Both have the same frame of pandas: 300 000 people of the demonstration city, drawn by a seed; one level and nested;
texts as objects, as categories and as Arrow has them, and whole numbers with gaps. They take turns, and the best of
three of each counts. Both end with the released rows as values.

    PYTHONPATH=build/package .venv/bin/python benchmarks/library.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from vbas import anonymize
from vbas.benchmarks import demonstration
from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.levels import Levels
from vbas.core.nesting.making import build_levels
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

RECORDS, TIMES = 300_000, 3
KINDS = ("object", "category", "string[pyarrow]", "Int64")
QUASI = ("age_group", "sex", "marital_status", "education")


def frames() -> tuple[dict[str, Any], pd.DataFrame]:
    """The areas as arrays, and the people as a frame."""
    city, table = demonstration.city(), demonstration.people()
    chosen = np.sort(np.random.default_rng(0).choice(len(table), RECORDS, replace=False))
    columns = {"area": table.area, **{name: table.quasi_identifiers[name] for name in QUASI}}
    values = {name: column.categories[column.codes[chosen]] for name, column in columns.items()}
    x, y = city.areas().points.T
    return {"area": city.identifiers, "x": x, "y": y, "population": city.population}, pd.DataFrame(values)


def of_kind(people: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The people with their fields in another type; “Int64” numbers the values."""
    if kind != "Int64":
        return people.astype(kind)
    codes = {name: people[name].astype("category").cat.codes.astype("Int64") for name in QUASI}
    return people.assign(**codes)


def by_one_call(areas: dict[str, Any], people: pd.DataFrame, nested: bool) -> tuple[int, object]:
    """As the page begins."""
    release = anonymize(
        areas,
        people,
        area="area",
        quasi_identifiers=QUASI,
        population="population",
        combination="fastest",
        release="nested levels" if nested else "one level",
    )
    return release.measures.n_suppressed, release.records


def by_steps(areas: dict[str, Any], people: pd.DataFrame, nested: bool) -> tuple[int, object]:
    """As the page goes on, and as it was alone before."""
    points = np.column_stack([areas["x"], areas["y"]])
    places = make_areas(areas["area"], points, areas["population"])
    quasi = {name: column_from_values(people[name]) for name in QUASI}
    records = match_records(RecordTable(column_from_values(people["area"]), quasi, kept={}), places, k=5)
    if nested:
        levels, sites = build_levels(places, records.profile), None
    else:
        run = aggregate(places, records.profile, Configuration("entropy", "balanced density", "basic Voronoi"))
        levels, sites = Levels((run.aggregation.crosswalk,)), run.aggregation.sites
    account = anonymise(places, records, levels, Ask(k=5), sites)
    release = account.release
    numbers = account.levels.numbers(release.level, release.region)
    columns = [column.categories[column.codes[release.rows]] for column in release.fields.values()]
    return account.measures.n_suppressed, list(zip(release.level[release.rows], numbers[release.rows], *columns))


def cpu(work: Callable[[], tuple[int, object]]) -> tuple[float, int]:
    """CPU seconds of this process, and records suppressed."""
    begun = time.process_time()
    suppressed, _ = work()
    return time.process_time() - begun, suppressed


def main() -> None:
    """Print the table."""
    areas, people = frames()
    print(f"{len(people)} records, {len(areas['area'])} areas")
    print(
        "| fields | release | one call, CPU s | step by step, CPU s | ratio | suppressed |\n|---|---|---|---|---|---|"
    )
    for kind in KINDS:
        held = of_kind(people, kind)
        for nested in (False, True):
            by_call, steps = [], []
            for _ in range(TIMES):
                by_call.append(cpu(partial(by_one_call, areas, held, nested)))
                steps.append(cpu(partial(by_steps, areas, held, nested)))
            (best, lost), (other, same) = min(by_call), min(steps)
            assert lost == same, (lost, same)
            name = "nested levels" if nested else "one level"
            print(f"| {kind} | {name} | {best:.2f} | {other:.2f} | {best / other:.2f} | {lost} |")


if __name__ == "__main__":
    main()
