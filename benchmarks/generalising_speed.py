"""What a coarser profile takes, against reading the records: every node of a lattice over Winnipeg.

    PYTHONPATH=build/package QT_QPA_PLATFORM=offscreen .venv/bin/python benchmarks/generalising_speed.py

Made-up people in the real areas of Winnipeg, in a CSV that is read as `vbas:anonymize` reads it. CPU seconds.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np
from qgis.core import QgsApplication, QgsProcessingFeedback, QgsVectorLayer

from vbas.benchmarks import real_areas, real_data
from vbas.core.generalising import generalise_profile, make_hierarchy
from vbas.core.generalising.hierarchies import Hierarchy
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.synthetic.canada import canadian_distributions
from vbas.core.synthetic.generator import generate_records, province_from_identifiers

RECORDS = 600_000
ATTRIBUTES = ("sex", "age_group", "marital_status", "education", "income_group")
COARSENED, LEVELS = ATTRIBUTES[1:], 3
K = 5


def main() -> int:
    """Print the table."""
    problem = real_data.problem_with(["West"])
    if problem:
        print(problem)
        return 0
    areas = real_areas.areas("Winnipeg")
    each = RECORDS // len(areas) + 1
    provinces = province_from_identifiers(areas.identifiers)
    people = generate_records(
        areas.identifiers, provinces, canadian_distributions().selection(ATTRIBUTES), (each, each), seed=0
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.csv"
        _write(people.table(), path)
        started = time.process_time()
        table = _read(path)
        reading = time.process_time() - started
    started = time.process_time()
    records = match_records(table, areas, k=K)
    matching = time.process_time() - started
    hierarchies = {name: _halved(name, table.quasi_identifiers[name].categories) for name in COARSENED}
    profile = records.profile
    seconds, fewest, most = [], len(profile.classes), 0
    for levels in product(range(LEVELS), repeat=len(COARSENED)):
        node = [0, *(min(level, len(hierarchies[name]) - 1) for name, level in zip(COARSENED, levels))]
        if any(node):
            started = time.process_time()
            coarse, _ = generalise_profile(profile, hierarchies, node)
            seconds.append(time.process_time() - started)
            fewest, most = min(fewest, len(coarse.classes)), max(most, len(coarse.classes))
    print(f"{len(table)} records in {len(areas)} areas, {len(profile.classes)} classes, {profile.counts.nnz} cells.")
    print("| step | CPU seconds |\n|---|---|")
    print(f"| reading the records | {reading:.2f} |")
    print(f"| matching and counting them | {matching:.2f} |")
    print(f"| a coarser node, median of {len(seconds)} ({fewest} to {most} classes) | {np.median(seconds):.4f} |")
    print(f"| the slowest of them | {max(seconds):.4f} |")
    print(f"\nA node takes 1/{reading / np.median(seconds):.0f} of reading the records.")
    return 0


def _halved(name: str, categories: np.ndarray) -> Hierarchy:
    """A hierarchy that joins neighbouring values two by two, and then once more."""
    first, second = (np.arange(len(categories)) // width for width in (2, 4))
    return make_hierarchy(name, categories, [[f"{value:02d}" for value in level] for level in (first, second)])


def _write(table: RecordTable, path: Path) -> None:
    columns = {"area": table.area, **table.quasi_identifiers}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.categories[column.codes].tolist() for column in columns.values())))


def _read(path: Path) -> RecordTable:
    from vbas.algorithms.layers.reading.checked_source import CheckedSource
    from vbas.algorithms.layers.reading.records import read_records
    from vbas.core.records.fields import RecordFields

    layer = QgsVectorLayer(str(path), "records", "ogr")
    source = CheckedSource("RECORDS", layer, str(path), layer)
    return read_records(source, RecordFields("area", ATTRIBUTES), QgsProcessingFeedback())


if __name__ == "__main__":
    application = QgsApplication([], False)
    application.initQgis()
    code = main()
    sys.stdout.flush()
    import os

    os._exit(code)
