"""Releases written to files as anybody has them: rows, crosswalk, people by area."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from vbas.core.areas import Areas
from vbas.core.plan import Plan


def write(plan: Plan, areas: Areas, folder: Path) -> None:
    """rows.csv with a row for each level, region and class that is shown, crosswalk.csv and people.csv."""
    names, levels = plan.profile.quasi_identifiers, range(1, len(plan.levels) + 1)
    values = np.column_stack(
        [categories[codes] for categories, codes in zip(plan.profile.categories, plan.profile.classes.T)]
    )
    shown = np.flatnonzero(plan.released)
    columns = (plan.level[shown] + 1, plan.region[shown] + 1, values[plan.class_of[shown]], plan.records[shown])
    _table(
        folder / "rows.csv",
        ["vbas_level", "vbas_region", *names, "records"],
        ([level, region, *of_class, records] for level, region, of_class, records in zip(*columns)),
    )
    regions = np.column_stack([region_of + 1 for region_of in plan.levels.region_of])
    _table(
        folder / "crosswalk.csv",
        ["area", *(f"vbas_region_{level}" for level in levels)],
        ([area, *(region or "" for region in of_area)] for area, of_area in zip(areas.identifiers, regions.tolist())),
    )
    _table(folder / "people.csv", ["area", "people"], zip(areas.identifiers, areas.population.tolist()))


def _table(path: Path, header: list[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
