"""How long anonymity-driven clustering and site optimisation take, and what counting incrementally saves.

    python benchmarks/clustering_speed.py [East] [West]

needs the package vbas on the path (PYTHONPATH=build/package), GDAL's Python module and the folder of real data (see
real_data.py).
Points: Statistics Canada, open licence. People: made up (scenarios.py), 400 to 700 in each area, five
quasi-identifiers with 900 classes, all in use. Times are CPU seconds from the profile to the sites; each part runs in a
process of its own, and `peak MB` is the most that the process ever held, libraries and profile included.

The last table counts everything again for each proposed move: nearest site of every area, every region's classes,
every least class. That is timed on proposals of the first regions, and each gives the same answer as the incremental
trial. The incremental trial is timed over the first moves that are made, the commits included.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from typing import Callable, NamedTuple, TypeVar

import numpy as np

from vbas.benchmarks import real_data
from vbas.benchmarks.scenarios import LARGE_SELECTION, scenario
from vbas.core.aggregation import APPROACHES as AGGREGATIONS
from vbas.core.areas import Areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.profile import Profile
from vbas.core.site_location import APPROACHES as LOCATIONS
from vbas.core.site_location import LocationOptions
from vbas.core.site_location.clustering.anonymity_driven_clustering import VARIANT, propose
from vbas.core.site_location.clustering.climbing import Climb, climb
from vbas.core.site_location.clustering.state import ClusteringState
from vbas.core.site_number import APPROACHES as SITE_NUMBERS
from vbas.core.voronoi import nearest_site

K = 5
PARTS = ("East", "West")
CLUSTERINGS = ("anonymity-driven clustering", "anonymity-driven clustering (2015)")
NUMBERS = ("max combinations (2018)", "entropy")
MOVES, PROPOSALS = 150, 40
MOST = {"East": 30.0, "West": 300.0}  # CPU seconds we want a clustering to stay within


class Timed(NamedTuple):
    """CPU seconds, and how it went."""

    seconds: float
    note: str


Result = TypeVar("Result")


def cpu_seconds(work: Callable[..., Result], *arguments: object) -> tuple[float, Result]:
    """(seconds, result); the smallest of three where it takes next to no time."""
    started = time.process_time()
    result = work(*arguments)
    seconds = time.process_time() - started
    if seconds < 1.0:
        for _ in range(2):
            started = time.process_time()
            work(*arguments)
            seconds = min(seconds, time.process_time() - started)
    return seconds, result


def measure(regions: Areas, profile: Profile, n_sites: int) -> dict[str, Timed]:
    """Every approach on one scenario."""
    timed_by_name = {}
    located, density = cpu_seconds(LOCATIONS["balanced density"], regions, profile, n_sites)
    joined, _ = cpu_seconds(AGGREGATIONS["iterative Voronoi"], regions, None, density.sites)
    timed_by_name["balanced density + iterative Voronoi"] = Timed(located + joined, "")
    for name in CLUSTERINGS:
        seconds, result = cpu_seconds(LOCATIONS[name], regions, profile, n_sites, LocationOptions(k=K))
        timed_by_name[name] = Timed(seconds, result.notes[-1].split(" made ")[1].split(" and stopped")[0])
    seconds, optimised = cpu_seconds(AGGREGATIONS["site optimisation"], regions, None, density.sites)
    timed_by_name["site optimisation"] = Timed(seconds, f"{optimised.crosswalk.n_regions} regions")
    return timed_by_name


def plain_objective(regions: Areas, profile: Profile, sites: np.ndarray) -> tuple[int, int, int]:
    """Sum of levels, classes at the lowest level and classes, with everything counted again."""
    region_of = nearest_site(regions.points, sites)
    grouped = (Crosswalk(region_of, len(sites)).membership() @ profile.counts).tocsr()
    filled = np.diff(grouped.indptr) > 0
    levels = np.minimum.reduceat(grouped.data, grouped.indptr[:-1][filled])
    return int(levels.sum()), int(np.count_nonzero(grouped.data == levels.min())), grouped.nnz


class Saved(NamedTuple):
    """CPU seconds a proposal takes."""

    incremental: float
    plain: float
    proposals: int


def against_counting_anew(regions: Areas, profile: Profile, n_sites: int) -> Saved:
    """Time the incremental climb over its first moves, and a plain recount over a few proposals."""
    sites = LOCATIONS["balanced density"](regions, profile, n_sites).sites
    state, record = ClusteringState(regions.points, profile.counts, sites), Climb()
    started = time.process_time()
    for _ in climb(state, VARIANT, K, record):
        if record.moves >= MOVES:
            break
    incremental = (time.process_time() - started) / record.proposals
    state = ClusteringState(regions.points, profile.counts, sites)
    lowest = np.flatnonzero(state.anonymity == state.lowest)
    plain, done = 0.0, 0
    for region in lowest[:: max(len(lowest) // 8, 1)].tolist():
        positions = propose(state, region, state.counts.at(region, state.lowest)[:5])
        trial = state.try_moves(region, positions)
        for i, position in enumerate(positions):
            moved = sites.copy()
            moved[region] = position
            started = time.process_time()
            again = plain_objective(regions, profile, moved)
            plain += time.process_time() - started
            terms = trial.terms
            if again != tuple(int(v[i]) for v in (terms.levels, terms.classes_at_lowest, terms.classes)):
                raise SystemExit("The incremental trial and the plain recount differ.")
            done += 1
        if done >= PROPOSALS:
            break
    return Saved(incremental, plain / done, record.proposals)


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_part(regions: Areas, profile: Profile) -> tuple[list[tuple[str, int, dict[str, Timed]]], Saved, float]:
    """All measurements of one part, and the peak memory of this process."""
    cases = [(number, SITE_NUMBERS[number](profile, regions.identifiers).n_sites) for number in NUMBERS]
    rows = [(number, n_sites, measure(regions, profile, n_sites)) for number, n_sites in cases]
    peak = peak_megabytes()
    return rows, against_counting_anew(regions, profile, cases[-1][1]), peak


def in_a_process(work: Callable[..., Result], *arguments: object) -> Result:
    """Run in a fresh process, so that its memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def main(arguments: list[str]) -> int:
    if not real_data.available():
        print(f"The folder of real data is not at {real_data.DATA}: set VBAS_DATA to where it is.")
        return 1
    note = "ratio: to balanced density + iterative Voronoi of the same line"
    print(f"Clustering and site optimisation, k = {K}, CPU seconds; {note}")
    print(f"{'part, site number, approach':62}{'sites':>6}{'CPU s':>8}{'ratio':>8}  {'made'}")
    saved = {}
    for part in arguments or PARTS:
        regions, profile = in_a_process(scenario, part, LARGE_SELECTION)
        rows, saved[part], peak = in_a_process(run_part, regions, profile)
        shape = f"{len(regions)} areas, {profile.n_records} records, {profile.counts.shape[1]} classes"
        print(f"{part}: {shape}, peak {peak:.0f} MB")
        for number, n_sites, timings in rows:
            base = timings["balanced density + iterative Voronoi"].seconds
            for name, timed in timings.items():
                late = name in CLUSTERINGS and timed.seconds > MOST.get(part, np.inf)
                print(
                    f"  {number + ', ' + name:60}{n_sites:6d}{timed.seconds:8.2f}{timed.seconds / base:8.1f}  "
                    f"{timed.note}{'  <- longer than wanted' if late else ''}",
                    flush=True,
                )
    print(f"\n{'a proposed move (entropy), microseconds of CPU':48}{'incremental':>12}{'recounted':>11}{'ratio':>8}")
    for part, s in saved.items():
        print(
            f"{f'{part}, first {MOVES} moves ({s.proposals} proposals)':48}{1e6 * s.incremental:12.0f}"
            f"{1e6 * s.plain:11.0f}{s.plain / s.incremental:8.0f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
