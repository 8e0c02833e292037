"""When anonymity-driven clustering helps, and how much its start matters.

    python benchmarks/clustering_starts.py [East]

Over the six selections of `scenarios.SELECTIONS`, k = 5, with the number of sites of max combinations (2018) and of
entropy: both variants of the clustering (Croft 2015, 3.2.2; Croft 2018, 2.2.2) from the sites of balanced density, from
random sites, and each from the result of the other. Records suppressed and compactness in % of those of balanced
density itself, joined by basic Voronoi, as the clustering joins; a random start is three draws, shown by their mean.
Points: Statistics Canada, open licence. People: made up (`scenarios.py`).
"""

from __future__ import annotations

import sys
import time

import numpy as np

from vbas.benchmarks.scenarios import SELECTIONS, scenario
from vbas.core.aggregation import APPROACHES as AGGREGATIONS
from vbas.core.areas import Areas
from vbas.core.evaluation import evaluate
from vbas.core.plan import suppress
from vbas.core.profile import Profile
from vbas.core.site_location import APPROACHES as LOCATIONS
from vbas.core.site_location import LocationOptions
from vbas.core.site_number import APPROACHES as SITE_NUMBERS

K = 5
NUMBERS = ("max combinations (2018)", "entropy")
BALANCED, RANDOM = "balanced density", "random"
OLD, NEW = "anonymity-driven clustering (2015)", "anonymity-driven clustering"
# What is run: a location and what it starts from, empty where it starts from nothing.
RUNS = ((RANDOM, ""), (OLD, BALANCED), (NEW, BALANCED), (OLD, RANDOM), (NEW, RANDOM), (OLD, NEW), (NEW, OLD))
DRAWS = 3
MANY_CLASSES = 500


def rated(areas: Areas, profile: Profile, name: str, start: str, n_sites: int) -> np.ndarray:
    """Records suppressed, compactness and CPU seconds of a run, means over draws where chance plays a part."""
    values = []
    for seed in range(DRAWS if RANDOM in (name, start) else 1):
        options = LocationOptions(k=K, seed=seed, start=start or BALANCED)
        started = time.process_time()
        sites = LOCATIONS[name](areas, profile, n_sites, options).sites
        seconds = time.process_time() - started
        joined = AGGREGATIONS["basic Voronoi"](areas, None, sites)
        measures = evaluate(areas, suppress(profile, joined.crosswalk, K), joined.sites)[0]
        values.append((measures.n_suppressed, measures.compactness, seconds))
    return np.mean(values, axis=0)


def clustering_starts(part: str = "East") -> None:
    """Print a row for each selection and number of sites, and medians by how many classes there are."""
    titles = [f"{_short(name)} from {_short(start)}" if start else _short(name) for name, start in RUNS]
    print(f"{part}, k = {K}: suppressed / compactness, % of balanced density; CPU seconds of the two from it")
    print(f"| classes | sites | {' | '.join(titles)} | CPU s |")
    print("|---|---|" + "---|" * (len(RUNS) + 1))
    percents: list[np.ndarray] = []
    n_classes: list[int] = []
    for selection in range(len(SELECTIONS)):
        areas, profile = scenario(part, selection)
        for number in NUMBERS:
            n_sites = SITE_NUMBERS[number](profile, areas.identifiers).n_sites
            base = rated(areas, profile, BALANCED, "", n_sites)
            runs = np.array([rated(areas, profile, name, start, n_sites) for name, start in RUNS])
            percent = 100 * runs[:, :2] / np.maximum(base[:2], 1)
            percents.append(percent)
            n_classes.append(len(profile.classes))
            cells = " | ".join(f"{lost:.0f} / {compact:.0f}" for lost, compact in percent)
            print(f"| {n_classes[-1]} | {n_sites} | {cells} | {runs[1, 2]:.1f}, {runs[2, 2]:.1f} |", flush=True)
    many = np.array(n_classes) > MANY_CLASSES
    for label, of in ((f"up to {MANY_CLASSES} classes", ~many), (f"more than {MANY_CLASSES}", many)):
        middle = np.median(np.array(percents)[of], axis=0)
        print(f"| {label} | median | " + " | ".join(f"{lost:.0f} / {compact:.0f}" for lost, compact in middle) + " | |")


def _short(name: str) -> str:
    return {OLD: "2015", NEW: "2018", BALANCED: "density"}.get(name, name)


if __name__ == "__main__":
    clustering_starts(*sys.argv[1:])
