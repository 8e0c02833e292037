"""One exact allocation and a whole alternating run, against what else solves transportation problems.

    python benchmarks/transport_speed.py [made-up] [West] [small]

needs the package installed (pip install -e .). `made-up` is a generated country of 17 500 areas; `West` takes 17 500 of
the real points of Western Canada (GDAL's Python module and the folder of real data, see real_data.py); `small`
has 4 500 made-up areas and the naive peers. Without a word all three run, in about ten minutes. POT and
networkx are used where they are installed and named as absent where they are not.

Each row is a process of its own with one thread: CPU seconds of the method without reading and imports, peak memory of
the process. All exact methods must find the same cost; our relative optimality gap must be at most 1e-12.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment, linprog
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from vbas.benchmarks import real_data
from vbas.core.aggregation import APPROACHES, AggregationOptions
from vbas.core.areas import make_areas
from vbas.core.transport import allocate
from vbas.core.transport.facilities import alternate_location_allocation, facility_capacity

GAP_LIMIT = 1e-12
SAME_COST = 1e-9
SECONDS_LIMIT = 1800.0


class Problem(NamedTuple):
    """Destinations (n, 2), facilities (S, 2) and their capacity; the factor is the capacity over the even share."""

    points: np.ndarray
    facilities: np.ndarray
    capacity: int
    factor: float


class Answer(NamedTuple):
    """Cost of the allocation, and for our own methods the largest relative gap."""

    cost: float
    gap: float = float("nan")
    note: str = ""


def ours(problem: Problem) -> Answer:
    plan = allocate(problem.points, problem.facilities, problem.capacity)
    return Answer(plan.cost, plan.gap, f"{plan.n_chains} chains")


def ours_alternating(problem: Problem) -> Answer:
    areas = make_areas(range(len(problem.points)), problem.points)
    options = AggregationOptions(problem.factor)
    result = APPROACHES["alternating location-allocation"](areas, None, len(problem.facilities), options)
    cost = np.hypot(*(areas.points - result.sites[result.crosswalk.region_of]).T).sum()
    gap = float(result.notes[1].split("relative gap of ")[1].split()[0])
    return Answer(float(cost), gap, result.notes[0].split(" ended after ")[1])


def assignment_of_copies(problem: Problem) -> Answer:
    """scipy's dense assignment, each facility as many times as its capacity."""
    costs = np.repeat(cdist(problem.points, problem.facilities), problem.capacity, axis=1)
    rows, columns = linear_sum_assignment(costs)
    return Answer(float(costs[rows, columns].sum()))


def earth_movers(problem: Problem) -> Answer:
    """POT's network simplex on the dense matrix, with one more destination that takes what is left."""
    import ot

    costs = cdist(problem.points, problem.facilities)
    n, size = costs.shape
    costs = np.vstack([costs, np.zeros(size)])
    demand = np.append(np.ones(n), float(size * problem.capacity - n))
    flow = ot.emd(demand, np.full(size, float(problem.capacity)), costs, numItermax=10**9)
    return Answer(float((flow * costs).sum()))


def column_generation(problem: Problem) -> Answer:
    """scipy's linprog (HiGHS) on the nearest arcs; those that its prices show to be missing join, until none is."""
    points, facilities = problem.points, problem.facilities
    n, size = len(points), len(facilities)
    count = 12
    while True:
        owner, target = _nearest_arcs(points, facilities, count)
        result = _solve_arcs(owner, target, problem)
        if result.status == 0:
            break
        count *= 2
    while True:
        rent = -result.ineqlin.marginals
        worth = result.eqlin.marginals
        owner_new, target_new = [], []
        for first in range(0, n, 500):
            some = slice(first, first + 500)
            cheaper = cdist(points[some], facilities) + rent < worth[some, None] - 1e-6
            i, j = np.nonzero(cheaper)
            owner_new.append(i + first)
            target_new.append(j)
        missing = np.concatenate(owner_new) * size + np.concatenate(target_new)
        missing = np.setdiff1d(missing, owner * size + target)
        if not len(missing):
            return Answer(float(result.fun), note=f"{len(owner)} arcs")
        owner, target = np.append(owner, missing // size), np.append(target, missing % size)
        result = _solve_arcs(owner, target, problem)


def dense_linprog(problem: Problem) -> Answer:
    """scipy's linprog (HiGHS) on all arcs."""
    owner, target = _nearest_arcs(problem.points, problem.facilities, len(problem.facilities))
    return Answer(float(_solve_arcs(owner, target, problem).fun))


def _nearest_arcs(points: np.ndarray, facilities: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    count = min(count, len(facilities))
    target = cKDTree(facilities).query(points, k=count)[1].reshape(len(points), count)
    return np.repeat(np.arange(len(points)), count), target.ravel()


def _solve_arcs(owner: np.ndarray, target: np.ndarray, problem: Problem):  # type: ignore[no-untyped-def]
    n, size = len(problem.points), len(problem.facilities)
    ones, arcs = np.ones(len(owner)), np.arange(len(owner))
    return linprog(
        np.hypot(*(problem.points[owner] - problem.facilities[target]).T),
        A_eq=sparse.csr_matrix((ones, (owner, arcs)), (n, len(owner))),
        b_eq=np.ones(n),
        A_ub=sparse.csr_matrix((ones, (target, arcs)), (size, len(owner))),
        b_ub=np.full(size, float(problem.capacity)),
        method="highs-ds",
    )


def python_network_simplex(problem: Problem) -> Answer:
    """networkx in pure Python on all arcs, lengths in whole millimetres as it needs."""
    import networkx

    costs = cdist(problem.points, problem.facilities)
    graph = networkx.DiGraph()
    n, size = costs.shape
    for j in range(size):
        graph.add_edge(("facility", j), "end", capacity=problem.capacity, weight=0)
    graph.add_node("end", demand=n)
    for i, row in enumerate(np.rint(costs * 1000).astype(np.int64).tolist()):
        graph.add_node(i, demand=-1)
        graph.add_weighted_edges_from((i, ("facility", j), length) for j, length in enumerate(row))
    _, flow = networkx.network_simplex(graph)
    chosen = [next(j for (_, j), units in flow[i].items() if units) for i in range(n)]
    return Answer(float(costs[np.arange(n), chosen].sum()))


METHODS: dict[str, Callable[[Problem], Answer]] = {
    "vbas, exact allocation": ours,
    "vbas, alternating run": ours_alternating,
    "scipy linear_sum_assignment": assignment_of_copies,
    "scipy linprog, columns generated": column_generation,
    "scipy linprog, all arcs": dense_linprog,
    "POT emd": earth_movers,
    "networkx network_simplex": python_network_simplex,
}

LARGE = (
    (3_200, 1.0, ("scipy linprog, columns generated", "scipy linear_sum_assignment", "vbas, alternating run")),
    (350, 1.2, ("scipy linprog, columns generated", "POT emd", "vbas, alternating run")),
)
SMALL = ((90, 1.2, ("scipy linprog, all arcs", "networkx network_simplex", "POT emd", "scipy linear_sum_assignment")),)


def made_up_country(n: int) -> np.ndarray:
    """Points of a country 2 000 km wide: three in four around 60 towns of unequal size, the others anywhere."""
    rng = np.random.default_rng(2018)
    towns = rng.random((60, 2)) * 2e6
    share = 1.0 / np.arange(1, 61)
    town = rng.choice(60, n - n // 4, p=share / share.sum())
    spread = 3e4 * np.sqrt(share)[town][:, None]
    return np.vstack([towns[town] + rng.normal(0, 1, (len(town), 2)) * spread, rng.random((n // 4, 2)) * 2e6])


def west(n: int) -> np.ndarray:
    """n of the points of Western Canada, drawn."""
    points = real_data.canada("West").points
    return points[np.sort(np.random.default_rng(0).permutation(len(points))[:n])]


TABLES = {
    "made-up": ("a made-up country", lambda: made_up_country(17_500), LARGE),
    "West": ("Western Canada, thinned", lambda: west(17_500), LARGE),
    "small": ("a made-up country", lambda: made_up_country(4_500), SMALL),
}


def run_row(method: str, problem_file: str) -> None:
    """In a process of its own: solve and write what it cost to stdout as JSON."""
    stored = np.load(problem_file)
    problem = Problem(stored["points"], stored["facilities"], int(stored["capacity"]), float(stored["factor"]))
    started = time.process_time()
    try:
        answer = METHODS[method](problem)
    except ImportError as missing:
        print(json.dumps({"absent": missing.name}))
        return
    seconds = time.process_time() - started
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": megabytes, **answer._asdict()}))


def row(method: str, problem_file: Path) -> dict:
    """The row of one method, measured; {"late": True} where it took more than SECONDS_LIMIT by the clock."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, str(Path(__file__).resolve()), "--row", method, str(problem_file)]
    try:
        done = subprocess.run(
            command, env={**os.environ, **one_thread}, capture_output=True, text=True, timeout=SECONDS_LIMIT
        )
    except subprocess.TimeoutExpired:
        return {"late": True}
    if done.returncode:
        raise SystemExit(f"{method} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def transport_speed(names: tuple[str, ...] = tuple(TABLES)) -> None:
    """Print the tables of that name."""
    for name in names:
        title, make_points, tasks = TABLES[name]
        points = make_points()
        for n_sites, factor, peers in tasks:
            facilities = alternate_location_allocation(points, n_sites)
            problem = Problem(points, facilities, facility_capacity(len(points), n_sites, factor), factor)
            print(
                f"\n{title}: n = {len(points)}, S = {n_sites}, factor {factor:g}, capacity {problem.capacity}, "
                "facilities from the seeding"
            )
            _print_rows(problem, ("vbas, exact allocation", *peers))


def _print_rows(problem: Problem, methods: tuple[str, ...]) -> None:
    print(f"{'':34}{'CPU s':>9}{'ratio':>8}{'MB':>8}{'ratio':>8}{'cost, Mm':>12}{'gap':>10}")
    with tempfile.TemporaryDirectory() as folder:
        problem_file = Path(folder) / "problem.npz"
        np.savez(problem_file, **problem._asdict())
        own: dict = {}
        for method in methods:
            entry = row(method, problem_file)
            if "seconds" not in entry:
                print(
                    f"{method:34}{'absent: ' + entry['absent'] if 'absent' in entry else f'over {SECONDS_LIMIT:.0f} s'}"
                )
                continue
            own = own or entry
            _check(method, entry, own)
            gap = "" if np.isnan(entry["gap"]) else f"{entry['gap']:.1e}"
            print(
                f"{method:34}{entry['seconds']:9.2f}{own['seconds'] / entry['seconds']:8.3f}{entry['megabytes']:8.0f}"
                f"{own['megabytes'] / entry['megabytes']:8.3f}{entry['cost'] / 1e6:12.5f}{gap:>10}  {entry['note']}",
                flush=True,
            )


def _check(method: str, entry: dict, own: dict) -> None:
    """Stop where a gap is too large or two exact methods differ."""
    if entry["gap"] > GAP_LIMIT:
        raise SystemExit(f"{method}: the gap is {entry['gap']:.1e}, but must be at most {GAP_LIMIT:.0e}.")
    if method != "vbas, alternating run" and abs(entry["cost"] - own["cost"]) > SAME_COST * own["cost"]:
        raise SystemExit(f"{method}: the cost is {entry['cost']!r}, ours is {own['cost']!r}.")


def main(arguments: list[str]) -> int:
    """Print the tables named, or all; 1 where a name is unknown."""
    if arguments[:1] == ["--row"]:
        run_row(*arguments[1:])
        return 0
    unknown = [name for name in arguments if name not in TABLES]
    if unknown:
        print(f"Unknown: {', '.join(unknown)}; choose from {', '.join(TABLES)}.")
        return 1
    names = tuple(arguments) or tuple(name for name in TABLES if name != "West" or real_data.available())
    transport_speed(names)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
