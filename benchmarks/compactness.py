"""How compact regions are at equal numbers of regions, against k-means.

    PYTHONPATH=build/package .venv/bin/python benchmarks/compactness.py [East] [West] [--runs 5]

The sum of the distances from the areas to the mean centre of their region, km: iterative Voronoi from balanced density,
from split and merge, and site optimisation from balanced density, which chooses its own number of regions near that
asked for; and k-means of scipy with k-means++ seeding, the median and the least of several seeds. CPU seconds of split
and merge alone, and of one k-means. Areas: dissemination areas as points (Statistics Canada, open licence), population
400 to 700 each, made up.
"""

from __future__ import annotations

import argparse
import sys
import time
from statistics import median

import numpy as np
from scipy.cluster.vq import kmeans2

from vbas.benchmarks import real_data
from vbas.core.aggregation import APPROACHES as AGGREGATIONS
from vbas.core.areas import Areas
from vbas.core.elementary import norms
from vbas.core.site_location import APPROACHES as SITE_LOCATIONS
from vbas.core.voronoi import mean_centres

NUMBERS = (20, 50, 100, 200, 500)


def kilometres(areas: Areas, region_of: np.ndarray) -> float:
    """The sum of the distances of such regions."""
    number = np.unique(region_of, return_inverse=True)[1].reshape(-1)
    centres = mean_centres(areas.points, number, int(number.max()) + 1)
    return float(norms(areas.points - centres[number]).sum()) / 1000


def regions(areas: Areas, n: int, location: str, aggregation: str) -> tuple[str, float]:
    """The number of regions and the kilometres as they stand in the table; CPU seconds of the site location."""
    began = time.process_time()
    sites = SITE_LOCATIONS[location](areas, None, n).sites
    seconds = time.process_time() - began
    crosswalk = AGGREGATIONS[aggregation](areas, None, sites).crosswalk
    return f"{kilometres(areas, crosswalk.region_of):.0f} ({crosswalk.n_regions})", seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["East"])
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    problem = real_data.problem_with(given.parts)
    if problem:
        sys.exit(problem)
    for part in given.parts:
        areas = real_data.canada(part)
        areas = areas.with_population(np.random.default_rng(0).integers(400, 701, len(areas)).astype(float))
        print(
            f"\n{part}: {len(areas)} areas; km (regions)\n\n| asked for | balanced density, iterative Voronoi | site "
            "optimisation | split and merge, iterative Voronoi | k-means, median | k-means, least | CPU s | of k-means "
            "|\n|---|---|---|---|---|---|---|---|"
        )
        for n in NUMBERS:
            plain, _ = regions(areas, n, "balanced density", "iterative Voronoi")
            optimised, _ = regions(areas, n, "balanced density", "site optimisation")
            own, seconds = regions(areas, n, "split and merge", "iterative Voronoi")
            began, theirs = time.process_time(), []
            for seed in range(given.runs):
                theirs.append(kilometres(areas, kmeans2(areas.points, n, iter=300, minit="++", seed=seed)[1]))
            each = (time.process_time() - began) / given.runs
            print(
                f"| {n} | {plain} | {optimised} | {own} | {median(theirs):.0f} | {min(theirs):.0f} | {seconds:.2f} | "
                f"{each:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
