"""How long anonymity exchange takes, and whether it finds the same regions as another version of the program.

    PYTHONPATH=build/package .venv/bin/python benchmarks/exchange_speed.py [--against FOLDER] [--runs 5] [city …]

runs the exchange with a budget over the demonstration city and real areas; a city of 15 000 classes, most of which live
in few areas; and a grid of six classes. `--against` names the folder in which the package vbas of another commit lies
(`git worktree add OTHER COMMIT`, then a folder with a link vbas to it): both take turns, each run in a process of its
own, and the medians are printed. Seconds are CPU seconds of the exchange alone. Areas: open statistics; records: made
up. k = 5.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from vbas.benchmarks import real_data
from vbas.benchmarks.anonymity_exchange import DATA_SETS, K, said
from vbas.benchmarks.nested_release import CITY, city
from vbas.benchmarks.peers import place
from vbas.core.aggregation import AggregationOptions
from vbas.core.aggregation.anonymity_exchange import exchanged
from vbas.core.areas import Areas, make_areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.neighbours import neighbours_of, point_neighbours
from vbas.core.profile import Profile, profile_records
from vbas.core.records.columns import Column
from vbas.core.site_number import SiteNumberOptions

# Name, budget in per cent.
CASES = (
    ("grid of 1000", 5.0),
    ("grid of 4000", 5.0),
    ("city", 1.0),
    ("city", 5.0),
    ("fine city", 60.0),
    ("Winnipeg", 5.0),
    ("East", 5.0),
)
VALUES = 50  # of the attribute that multiplies the classes of the city
PEOPLE, AGES = (20, 61), 12  # of an area of the grid


def with_neighbours(name: str) -> tuple[Areas, Profile]:
    """The areas of a case, and their records."""
    draws = np.random.default_rng(1)
    if name.startswith("grid"):
        areas, profile = grid(int(name.split()[-1]), draws)
    elif name.endswith("city"):
        areas, profile = city(CITY)
        profile = finer(profile, draws) if name == "fine city" else profile
    else:
        areas, profile = place(DATA_SETS[name])
    return replace(areas, neighbours=neighbours_of(areas)), profile


def grid(n: int, draws: np.random.Generator) -> tuple[Areas, Profile]:
    """So many areas, a hundred metres apart."""
    side = int(np.ceil(np.sqrt(n)))
    places = np.arange(n)
    points = np.column_stack([places % side, places // side]) * 100.0 + draws.random((n, 2))
    areas = make_areas([str(place) for place in places], points, draws.integers(*PEOPLE, n).astype(float))
    homes = np.repeat(places, areas.population.astype(np.int64))
    columns = {
        name: Column(draws.integers(0, size, len(homes)), np.arange(size).astype(object))
        for name, size in (("sex", 2), ("age", AGES))
    }
    return replace(areas, neighbours=point_neighbours(points)), profile_records(homes, columns, n)[0]


def finer(profile: Profile, draws: np.random.Generator) -> Profile:
    """The same people with one attribute more."""
    cells = profile.counts.tocoo()
    homes, classes = (np.repeat(ends, cells.data) for ends in (cells.row, cells.col))
    columns = {
        name: Column(profile.classes[classes, at], profile.categories[at])
        for at, name in enumerate(profile.quasi_identifiers)
    }
    columns["finer"] = Column(draws.integers(0, VALUES, len(homes)), np.arange(VALUES).astype(object))
    return profile_records(homes, columns, profile.counts.shape[0])[0]


def run_of(name: str, budget: float) -> dict[str, object]:
    """A run: its CPU seconds, what it found, and the size of what it was given."""
    areas, profile = with_neighbours(name)
    number = SiteNumberOptions(budget=budget, k=K)
    start = aggregate(areas, profile, Configuration("suppression budget", number_options=number)).aggregation.crosswalk
    began = time.process_time()
    end = exchanged(areas, profile, start, AggregationOptions(k=K, budget=budget)).crosswalk
    seconds = time.process_time() - began
    return {
        "seconds": seconds,
        "found": hashlib.sha256(end.region_of.tobytes()).hexdigest(),
        "size": f"{len(areas)} | {profile.counts.shape[1]} | {profile.counts.nnz / len(areas):.0f} | {end.n_regions}",
    }


def run_by(package: str | None, name: str, budget: float) -> dict[str, object]:
    """The same in a process of its own, by the package vbas of that folder."""
    environment = dict(os.environ, **({} if package is None else {"PYTHONPATH": package}))
    command = [sys.executable, __file__, "--one", name, "--budget", str(budget)]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--against", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--budget", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run_of(given.one, given.budget)))
        return
    print(
        "| areas of | budget | areas | classes | of them in an area | regions | CPU s | other version | ratio | same |"
        "\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for name, budget in CASES:
        if (given.names and name not in given.names) or (name in DATA_SETS and name != "city" and not there()):
            continue
        runs = [
            [run_by(package, name, budget) for package in (None, given.against and str(given.against.resolve()))]
            for _ in range(given.runs)
        ]
        new, old = (median(float(str(pair[at]["seconds"])) for pair in runs) for at in (0, 1))
        same = len({str(run["found"]) for pair in runs for run in pair}) == 1
        against = f"{old:.1f} | {new / old:.2f} | {said(same)}" if given.against else "- | - | -"
        print(f"| {name} | {budget:g} % | {runs[0][0]['size']} | {new:.1f} | {against} |", flush=True)


def there() -> bool:
    if not real_data.available():
        print(real_data.problem_with([]), file=sys.stderr)
    return real_data.available()


if __name__ == "__main__":
    main()
