"""The figures of docs/analysing.md: what an analyst finds in a release of the demonstration city, read in several ways.

    PYTHONPATH=build/package .venv/bin/python benchmarks/analysing_example.py

The releases are those of `nested_example.py`: one level, and nested, k = 5. Shares by area are worked out from what is
published alone (released rows, crosswalk, people by area, where it says so a census table), and compared with those of
all records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vbas.benchmarks import nested_example
from vbas.benchmarks.nested_example import QUASI_IDENTIFIERS, QUESTIONS, Example
from vbas.core.analysis.fitting import fit, margin_of
from vbas.core.analysis.released import ReleasedRows
from vbas.core.analysis.spreading import AT_LEVEL_1, Spread, spread
from vbas.core.levels import Levels
from vbas.core.nesting.flattening import flatten
from vbas.core.plan import Plan
from vbas.core.records.columns import Column
from vbas.core.release import apply

ENOUGH = 95.0  # per cent of the rows, that a flattened level is to have
MARGIN = "age_group"


def rows_of(example: Example, plan: Plan, levels: Levels) -> ReleasedRows:
    """The released rows of a plan, in the areas as anybody knows them."""
    release = apply(plan, example.records)
    rows = release.rows
    fields = {name: Column(column.codes[rows], column.categories) for name, column in release.fields.items()}
    level, region = release.level[rows].astype(np.int64), release.region[rows].astype(np.int64)
    return ReleasedRows(example.areas, levels, level, region, fields)


def flattened(rows: ReleasedRows, target: int) -> ReleasedRows:
    """The rows that are shown at a level or finer, in its regions."""
    region = flatten(rows.levels, rows.level, rows.region, target)
    there = region >= 0
    fields = {name: Column(column.codes[there], column.categories) for name, column in rows.fields.items()}
    return replace(rows, level=np.full(there.sum(), target), region=region[there], fields=fields)


def asked_of(column: Column, value: str) -> np.ndarray:
    """Whether each row has the value."""
    return (column.categories == value)[column.codes]


def truth_of(example: Example) -> tuple[np.ndarray, list[np.ndarray]]:
    """Records of each area, and how many have the value of each question."""
    table, n = example.records.table, len(example.areas)
    home = example.areas.codes_of(table.area.categories)[table.area.codes]
    columns = {**table.quasi_identifiers, **table.kept}
    having = [np.bincount(home[asked_of(columns[name], value)], minlength=n) for name, value in QUESTIONS]
    return np.bincount(home, minlength=n), having


def line_of(example: Example, title: str, rows: ReleasedRows, weights: Spread) -> str:
    """A row of the table: of each question the share found over all rows, and how far off an area's is on average, in
    percentage points; and the slope of the estimated on the true share."""
    records, having = truth_of(example)
    lived_in = records > 0
    estimated = weights.counts().estimate[0]
    cells = []
    for (name, value), truth in zip(QUESTIONS, having):
        has = asked_of(rows.fields[name], value)
        share = np.divide(weights.total(has), estimated, out=np.zeros(len(records)), where=estimated > 0)[lived_in]
        true = truth[lived_in] / records[lived_in]
        off = 100 * np.average(np.abs(share - true), weights=records[lived_in])
        slope = np.cov(true, share, aweights=records[lived_in])[0, 1] / np.cov(true, aweights=records[lived_in])
        cells.append(f"{100 * has.mean():.2f} %, {off:.2f}, {slope:.2f}")
    used = 100 * len(rows) / records.sum()
    return f"| {title} | {used:.1f} % | {' | '.join(cells)} |"


def table(example: Example) -> Iterator[str]:
    """What is found, way by way."""
    names = [f"{value}: found, off by, slope" for _, value in QUESTIONS]
    yield f"| how rows are read | rows used | {' | '.join(names)} |"
    yield "|---|---|---|---|"
    nested = rows_of(example, example.plan, example.levels)
    single = rows_of(example, example.single, Levels((example.single.crosswalk,)))
    yield line_of(example, "nested, level 1 alone", flattened(nested, 0), spread(flattened(nested, 0)))
    levels = range(len(example.levels))
    target = next(level for level in levels if 100 * (nested.level <= level).mean() >= ENOUGH)
    flat = flattened(nested, target)
    yield line_of(example, f"nested, flattened at level {target + 1}", flat, spread(flat))
    yield line_of(example, "one level, spread", single, spread(single))
    plain = spread(nested)
    yield line_of(example, "**nested, spread**", nested, plain)
    narrowed = spread(nested, AT_LEVEL_1, QUASI_IDENTIFIERS)
    yield line_of(example, "the same, areas that show the class left out", nested, narrowed)
    census = f"the same, fitted to a census table of {MARGIN} by area"
    yield line_of(example, census, nested, fitted(example, nested, plain))


def fitted(example: Example, rows: ReleasedRows, weights: Spread) -> Spread:
    """Weights that meet the people by area and age."""
    records = example.records.table
    column = records.quasi_identifiers[MARGIN]
    home = example.areas.codes_of(records.area.categories)[records.area.codes]
    people = np.zeros((len(example.areas), len(column.categories)))
    np.add.at(people, (home, column.codes), 1.0)
    area, code = np.indices(people.shape).reshape(2, -1)
    columns = {MARGIN: Column(code, column.categories)}
    margin, _ = margin_of(rows, Column(area, example.areas.identifiers), columns, people.ravel())
    return fit(rows, weights, margin).spread


def printed(example: Example) -> Iterator[str]:
    """Everything the page quotes."""
    yield from table(example)


if __name__ == "__main__":
    print("\n".join(printed(nested_example.make_example())))
