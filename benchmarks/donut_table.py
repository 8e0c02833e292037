"""Donut masking: the paper's Table 1 on the pseudo-households of Ottawa, and how fast it is compared with MaskMyPy.

    python benchmarks/donut_table.py [table] [masks] [speed]

needs GDAL's Python module and the folder of real data (see `real_data.py`); MaskMyPy is measured where it can be
imported (pip install maskmypy, in an environment of its own) and named as absent otherwise.

Orange County: Allshouse et al. 2010, Table 1: 62 675 households in 56 block groups. Ottawa: 38 461 pseudo-households in
1 392 dissemination areas, derived from Statistics Canada's blocks (open licence). They are not households: nobody's
address is among them, a block's people are shared out evenly among its points, and a point stands for tens of persons.
So the table is printed three times: each point counted as one household; weighted, each as the persons it stands for;
and weighted with every K times 25, since below that a point is hidden by its own persons, who count as in the paper.
"""

from __future__ import annotations

import sys
import time
import warnings
from functools import partial
from typing import Any, Callable

import numpy as np
import shapely
from scipy.spatial import cKDTree

from vbas.benchmarks import ottawa_data
from vbas.core.masking.audit import Audit, Masker, OuterRule, Trial, audit, compared, donuts, smallest_k_inner
from vbas.core.masking.clusters import plant_clusters
from vbas.core.masking.comparison import COMPARED
from vbas.core.masking.donut import donut_mask, generator
from vbas.core.masking.placing import own_areas
from vbas.core.masking.populations import make_households

K_INNER = (5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 75)
K_MIN = (5, 10, 15, 20, 25)
PERSONS = 25  # about as many as a pseudo-household stands for
ORANGE_COUNTY = np.array(
    [
        [3.96, 13.00, 22.59, 31.40, 39.18],
        [1.14, 4.83, 9.70, 15.03, 20.37],
        [0.54, 2.23, 5.19, 8.64, 12.23],
        [0.30, 1.21, 3.02, 5.36, 8.04],
        [0.20, 0.79, 1.99, 3.59, 5.63],
        [0.13, 0.56, 1.37, 2.57, 3.96],
        [0.10, 0.35, 0.93, 1.81, 3.00],
        [0.07, 0.29, 0.64, 1.31, 2.28],
        [0.07, 0.25, 0.54, 1.04, 1.79],
        [0.05, 0.15, 0.41, 0.75, 1.33],
        [0.03, 0.11, 0.26, 0.52, 0.93],
        [0.03, 0.08, 0.16, 0.30, 0.50],
    ]
)
RING = (20.0, 200.0)  # metres: MaskMyPy takes one ring for all points


def masker(seed: int = 0, weighted: bool = False) -> Masker:
    """The pseudo-households of Ottawa, masked in their areas by what is counted there.

    weighted : each counts as the persons it stands for, those without persons not at all; else each as one household.
    """
    city = ottawa_data.ottawa()
    households = make_households(city.households, city.persons if weighted else None)
    area_of = own_areas(households.points, city.shapes)
    inside = area_of >= 0
    counted = np.bincount(area_of[inside], weights=households.weights[inside], minlength=len(city.shapes))
    people = np.where(inside, counted[area_of], 0.0)
    return Masker(households, area_of, people, city.shapes, "uniform in distance", seed)


def holds(grid: Audit) -> bool:
    """The paper's finding: with K_INNER three times K_MIN less than 1 % of the masked households fall short."""
    return all(grid.percent_below[K_INNER.index(3 * k), j] < 1.0 for j, k in enumerate(K_MIN) if 3 * k in K_INNER)


def table() -> None:
    """Table 1, Ottawa next to Orange County: each pseudo-household as one household, then as its persons."""
    _print_table(masker(), "each pseudo-household counted as one household")
    weighted = masker(weighted=True)
    _print_table(weighted, "weighted: each pseudo-household counted as the persons it stands for")
    _print_table(weighted, f"weighted, and every K times {PERSONS}", PERSONS)


def _print_table(ours: Masker, counted: str, times: int = 1) -> None:
    """times : what every K is multiplied by; where it is 1, the published figures are shown too."""
    k_inner, k_min = [times * k for k in K_INNER], [times * k for k in K_MIN]
    grid, needed = audit(ours, donuts(k_inner), k_min)
    weights, areas = ours.households.weights, np.unique(ours.area_of[ours.area_of >= 0])
    in_areas = np.bincount(ours.area_of[ours.area_of >= 0], minlength=len(ours.shapes))[areas]
    print(f"\nOttawa, {counted}: {len(ours.households)} points that stand for {weights.sum():.0f}")
    print(f"({weights.mean():.1f} each, {np.median(in_areas):.0f} points in an area in the median).")
    published = " (Orange County, published)" if times == 1 else ""
    print(f"Points whose actual anonymity is below K_MIN, % of what was masked: Ottawa{published}\n")
    print("| k_a | k_b | " + " | ".join(f"k_act < {k}" for k in k_min) + " | not masked, Ottawa |")
    print("|---|---|" + "---|" * (len(k_min) + 1))
    for k, row, paper, lost in zip(k_inner, grid.percent_below, ORANGE_COUNTY, grid.percent_not_masked):
        cells = [f"{own:.2f} ({there:.2f})" if times == 1 else f"{own:.2f}" for own, there in zip(row, paper)]
        print(f"| {k} | {10 * k} | " + " | ".join(cells) + f" | {lost:.2f} |")
    print(f"\nUnder 1 % fall short at K_INNER = 3 x K_MIN: {'yes' if holds(grid) else 'NO'}.")
    for smallest in smallest_k_inner(ours, grid, needed, 1.0):
        print(
            f"Smallest K_INNER with at most 1 % below {smallest.k_min:g}: {smallest.k_inner} "
            f"({smallest.percent_below:.2f} %; {smallest.percent_not_masked:.2f} % not masked)."
        )


def masks() -> None:
    """The donut with several radii, a perturbation without inner radius and the centre of the area, side by side:
    who falls short, who is guessed, how far points move, what is left of clusters."""
    ours = masker()
    rules = [OuterRule(number=number) for number in (50.0, 150.0, 500.0)]
    trials = donuts((5, 15, 50), rules)
    trials += compared(COMPARED, trials)
    tables = []
    for percent in (2.0, 5.0):
        rng = np.random.default_rng(0)
        planted = plant_clusters(ours.households, ours.people > 0, 100, 200, 3.0, percent, rng)
        tables.append((planted.before, audit(ours, trials, (5, 15), planted)[0]))
    print("\nOttawa, each pseudo-household counted as one household; 100 clusters of three times the risk, 200 cases\n")
    print(
        "| mask | k_a | k_b | k_act < 5 | < 15 | candidates < 5 | < 15 | guessed | not masked | mean m | median m |",
        end="",
    )
    print(" 2 % clusters: sensitivity | specificity | 5 %: sensitivity | specificity |")
    print("|" + "---|" * 15)
    before_masking = " | ".join(f"{before.sensitivity:.0f} | {before.specificity:.1f}" for before, _ in tables)
    print("| none | | | | | | | 100 | 0 | 0 | 0 | " + before_masking + " |")
    grid = tables[0][1]
    for i, trial in enumerate(trials):
        ring = "| |" if np.isnan(trial.k_outer) else f"{trial.k_inner:g} | {trial.k_outer:g} |"
        shares = [*grid.percent_below[i], *grid.percent_below_candidates[i], _guessed(ours, trial)]
        cells = [f"{share:.2f}" for share in (*shares, grid.percent_not_masked[i])]
        cells += [f"{grid.mean_displacement[i]:.0f}", f"{grid.median_displacement[i]:.0f}"]
        for _, planted_grid in tables:
            seen = planted_grid.detections[i]
            cells += [f"{seen.sensitivity:.0f}", f"{seen.specificity:.1f}"]
        print(f"| {trial.method} | {ring} " + " | ".join(cells) + " |")


def _guessed(ours: Masker, trial: Trial, nearest: int = 400) -> float:
    """Per cent of the masked households that are guessed right by whoever takes the nearest household of the area from
    which the point can have come, which is the likeliest where nearer places are. nearest : how many are looked at."""
    masking = ours.run(trial)
    rows, points = np.flatnonzero(masking.masked), ours.households.points
    inner = np.nan_to_num(masking.inner[rows])
    apart, household = cKDTree(points).query(masking.points[rows], k=nearest)
    possible = (ours.area_of[household] == ours.area_of[rows, None]) & (apart >= inner[:, None] - 1e-9)
    guess = household[np.arange(len(rows)), possible.argmax(axis=1)]
    return 100.0 * float(np.mean(possible.any(axis=1) & (guess == rows)))


def speed() -> None:
    """CPU seconds of the tasks that are promised, and of MaskMyPy on the same points."""
    rows = [("1 000 000 points in 1 000 areas: own areas and masking", "10", _seconds(_million()))]
    ours = masker()
    rows.append(
        ("12 x 5 audit of 38 461 pseudo-households", "30", _seconds(lambda: audit(ours, donuts(K_INNER), K_MIN))),
    )
    print("\n| task | limit, s | CPU s |\n|---|---|---|")
    for name, limit, seconds in rows:
        print(f"| {name} | {limit} | {seconds:.2f} |")
    try:
        import geopandas
        from maskmypy import donut
    except ImportError as error:
        print(f"\nMaskMyPy is absent ({error}): not compared.")
        return
    warnings.filterwarnings("ignore")
    print(f"\n| the same points, ring {RING[0]:g} to {RING[1]:g} m | points | VBAS, CPU s | MaskMyPy, CPU s | ratio |")
    print("|---|---|---|---|---|")
    whole = np.array([shapely.buffer(shapely.box(*shapely.total_bounds(ours.shapes)), 1000.0)], dtype=object)
    for name, shapes, contained in (("kept in their areas", ours.shapes, True), ("anywhere", whole, False)):
        points = ours.households.points
        # A ring that does not meet its area would keep MaskMyPy drawing for ever: such points are left out for both.
        points = points[_fixed_ring(points, shapes).masked]
        layer = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(*points.T), crs="EPSG:3347")
        container = geopandas.GeoDataFrame(geometry=list(shapes), crs="EPSG:3347") if contained else None
        own = min(_seconds(partial(_fixed_ring, points, shapes)) for _ in range(3))
        other = _seconds(partial(donut, layer, *RING, container=container, seed=1))
        print(f"| {name} | {len(points)} | {own:.3f} | {other:.2f} | {other / own:.0f} |")


def _million() -> Callable[[], Any]:
    """A million points in 32 x 32 areas of 100 corners each, a thousand people in every area."""
    rng = np.random.default_rng(0)
    side = np.arange(32) * 3125.0
    west, south = (axis.ravel() for axis in np.meshgrid(side, side))
    areas = shapely.segmentize(shapely.box(west, south, west + 3125, south + 3125), 125.0)
    points = rng.uniform(0, 100_000, (1_000_000, 2))
    people = np.full(len(points), 1000.0)

    def task() -> Any:
        return donut_mask(
            points, own_areas(points, areas), people, areas, 15, 150, "uniform in distance", generator(0, points)
        )

    return task


def _fixed_ring(points: np.ndarray, shapes: np.ndarray) -> Any:
    """The ring that MaskMyPy draws: density such that one person's circle has the inner radius."""
    area_of = own_areas(points, shapes)
    people = shapely.area(shapes)[area_of] / (np.pi * RING[0] ** 2)
    k_outer = (RING[1] / RING[0]) ** 2
    rng = np.random.default_rng(0)
    return donut_mask(points, area_of, people, shapes, 1.0, k_outer, "uniform in distance", rng)


def _seconds(task: Callable[[], Any]) -> float:
    started = time.process_time()
    task()
    return time.process_time() - started


TABLES = {"table": table, "masks": masks, "speed": speed}


def main(arguments: list[str]) -> int:
    """Print the tables asked for, all by default."""
    unknown = [name for name in arguments if name not in TABLES]
    if unknown or not ottawa_data.available():
        print(f"Unknown: {', '.join(unknown)}." if unknown else "The real data are not there: set VBAS_DATA.")
        return 1
    for name in arguments or TABLES:
        TABLES[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
