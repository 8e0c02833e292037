"""What it takes to spread a release: 300 000 rows over 910 areas of the demonstration city, k = 5, eleven levels.

    PYTHONPATH=build/package .venv/bin/python benchmarks/spread_speed.py

The rows are columns in memory, as a form or the reader has them. Weights are found and added up to counts by area and
group; the lines below add what is off by default. CPU seconds, the least of three runs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Callable

import numpy as np

from vbas.benchmarks import attack_places
from vbas.core.analysis.fitting import fit, margin_of
from vbas.core.analysis.released import ReleasedRows, released_rows
from vbas.core.analysis.spreading import AT_LEVEL_1, rows_of_equal_weights, spread
from vbas.core.areas import Areas, make_areas
from vbas.core.levels import Levels
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.records.columns import Column
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply

N_ROWS, N_AREAS, K, TIMES, TARGET = 300_000, 910, 5, 3, 1.0


def town() -> tuple[Areas, RecordTable]:
    """The areas nearest to the middle of the city, and some of their people."""
    city = attack_places.city()
    inhabited = np.flatnonzero(city.areas.population > 0)
    away = np.linalg.norm(city.areas.points[inhabited] - np.median(city.areas.points, axis=0), axis=1)
    chosen = np.sort(inhabited[np.argsort(away, kind="stable")[:N_AREAS]])
    position = np.full(len(city.areas), -1)
    position[chosen] = np.arange(len(chosen))
    rows = np.flatnonzero(position[city.area] >= 0)
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:N_ROWS])
    areas = make_areas(city.areas.identifiers[chosen], city.areas.points[chosen], city.areas.population[chosen])
    quasi = {name: Column(column.codes[rows], column.categories) for name, column in city.quasi.items()}
    return areas, RecordTable(Column(position[city.area[rows]], areas.identifiers), quasi, {})


def released(areas: Areas, table: RecordTable) -> tuple[Levels, dict[str, Column]]:
    """A nested release of them, as columns."""
    records = match_records(table, areas, k=K)
    levels = build_levels(areas, records.profile)
    release = apply(nest(areas, records.profile, levels, K), records)
    number = np.empty(len(release.rows), np.int64)
    level, region = release.level[release.rows], release.region[release.rows]
    for height, crosswalk in enumerate(levels.crosswalks):
        number[level == height] = crosswalk.numbers[region[level == height]]
    fields = {name: Column(column.codes[release.rows], column.categories) for name, column in release.fields.items()}
    places = {"vbas_level": level + 1, "vbas_region": number}
    columns = {name: Column(*np.unique(values, return_inverse=True)[::-1]) for name, values in places.items()}
    return levels, {**columns, **fields}


def seconds(call: Callable[[], object]) -> float:
    """The least CPU seconds of TIMES runs."""
    taken = []
    for _ in range(TIMES):
        started = time.process_time()
        call()
        taken.append(time.process_time() - started)
    return min(taken)


def printed() -> Iterator[str]:
    """The table."""
    areas, table = town()
    levels, columns = released(areas, table)
    quasi = [name for name in columns if not name.startswith("vbas_")]

    def rows() -> ReleasedRows:
        return released_rows(areas, levels, columns)

    def counted(leave_out: str = "none") -> None:
        shown = rows()
        group_of, groups = shown.groups(["age_group"])
        spread(shown, leave_out, quasi).counts(group_of, len(groups))

    shown = rows()
    weights = spread(shown)
    home, age = table.area, table.quasi_identifiers["age_group"]
    people = np.zeros((len(areas), len(age.categories)))
    np.add.at(people, (home.codes, age.codes), 1.0)
    grid = np.indices(people.shape).reshape(2, -1)
    margin, _ = margin_of(
        shown, Column(grid[0], areas.identifiers), {"age_group": Column(grid[1], age.categories)}, people.ravel()
    )
    traffic = np.random.default_rng(0).random(len(areas))
    yield f"{len(shown):,} rows, {len(areas)} areas, {len(levels)} levels, k = {K}; CPU seconds, target {TARGET:g} s"
    lines = {
        "spread, counts by area and age": counted,
        "the same, areas that show the class left out": lambda: counted(AT_LEVEL_1),
        "weights by class and area": lambda: rows_of_equal_weights(shown, spread(shown, AT_LEVEL_1, quasi), quasi),
        "fitted to people by area and age": lambda: fit(shown, weights, margin),
        "mean exposure and its spread": lambda: weights.exposure(traffic),
        "a weight for each row and area (a matrix)": weights.row_weights,
    }
    for name, call in lines.items():
        yield f"{name:50}{seconds(call):7.2f}"


if __name__ == "__main__":
    for line in printed():
        print(line, flush=True)
