"""How fast test people are made, against peers that do the same.

    python benchmarks/generator_speed.py [millions of records, 10 by default]

Areas of 400 to 700 people in ten provinces, six attributes drawn from their province's shares. Each way runs in a
process of its own, so that its peak memory is its own; `peak MB` is what it takes beyond the imports. The peers draw
area by area, as one would first write it. Needs the package installed (pip install -e .); pandas for the last row.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from typing import Callable

import numpy as np

from vbas.core.synthetic.canada import canadian_distributions
from vbas.core.synthetic.distributions import Distributions
from vbas.core.synthetic.generator import SyntheticRecords, generate_records

ATTRIBUTES = ("sex", "age_group", "marital_status", "ethnicity", "education", "language")


def distributions() -> Distributions:
    return canadian_distributions().selection(ATTRIBUTES)


def people(n_areas: int) -> SyntheticRecords:
    shares = distributions()
    provinces = shares.provinces[np.arange(n_areas) * 10 // n_areas]
    return generate_records(np.arange(n_areas), provinces, shares)


def by_chunks(n_areas: int) -> int:
    return sum(len(chunk) for chunk in people(n_areas).chunks())


def at_once(n_areas: int) -> int:
    return len(people(n_areas).table())


def choice_by_area(n_areas: int, labels: bool = False) -> int:
    """numpy Generator.choice of codes, or of the categories themselves, an area and an attribute at a time."""
    drawn = people(n_areas)
    shares = distributions()
    rng = np.random.default_rng(0)
    rows = drawn.draws[0].row_of_area
    columns = []
    for distribution in shares.attributes.values():
        parts = [
            rng.choice(
                distribution.categories if labels else len(distribution.categories),
                size=size,
                p=distribution.shares[row],
            )
            for row, size in zip(rows.tolist(), drawn.population.tolist())
        ]
        columns.append(np.concatenate(parts))
    return len(columns[0])


def choice_of_labels_by_area(n_areas: int) -> int:
    return choice_by_area(n_areas, labels=True)


def pandas_by_area(n_areas: int) -> int:
    """pandas Series.sample of categories with weights, an area and an attribute at a time."""
    import pandas as pd

    drawn = people(n_areas)
    shares = distributions()
    rng = np.random.default_rng(0)
    rows = drawn.draws[0].row_of_area
    columns = []
    for distribution in shares.attributes.values():
        categories = pd.Series(pd.Categorical(distribution.categories))
        parts = [
            categories.sample(size, replace=True, weights=distribution.shares[row], random_state=rng)
            for row, size in zip(rows.tolist(), drawn.population.tolist())
        ]
        columns.append(pd.concat(parts, ignore_index=True))
    return len(columns[0])


WAYS: dict[str, Callable[[int], int]] = {
    "vbas, chunk by chunk": by_chunks,
    "vbas, the whole table": at_once,
    "numpy choice of codes by area": choice_by_area,
    "numpy choice of labels by area": choice_of_labels_by_area,
    "pandas sample by area": pandas_by_area,
}


def measured(way: str, n_areas: int, results: multiprocessing.Queue) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    n_records = WAYS[way](n_areas)
    seconds = time.perf_counter() - started
    results.put((n_records, seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))


def main(arguments: list[str]) -> None:
    millions = float(arguments[0]) if arguments else 10.0
    n_areas = round(millions * 1e6 / 550)
    context = multiprocessing.get_context("spawn")
    base = None
    print(f"{n_areas} areas, {len(ATTRIBUTES)} attributes")
    print(f"{'way':34}{'records':>12}{'seconds':>9}{'ratio':>8}{'peak MB':>9}")
    for way in WAYS:
        results = context.Queue()
        process = context.Process(target=measured, args=(way, n_areas, results))
        process.start()
        process.join()
        if process.exitcode:
            print(f"{way:34}{'did not run (is its package installed?)':>38}")
            continue
        n_records, seconds, megabytes = results.get()
        base = base or seconds
        print(f"{way:34}{n_records:12d}{seconds:9.2f}{seconds / base:8.1f}{megabytes:9.0f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
