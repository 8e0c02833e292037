"""Partitions of population grids: the published algorithm rendered plainly, random growth and compact growth.

    python benchmarks/cells_table.py [Oslo] [Norway]

needs the package installed (pip install -e .) and the folder of real data next to the checkout (or where the
environment variable VBAS_DATA points). Population: Statistics Norway, open data. k = 100 persons in every year,
neighbours by edge, β = 0.99. Each row runs in a process of its own, so that seconds (processor time, children included)
and memory are its own. A row is the best of its restarts, but where it says “mean of runs”: that shows how long one run
takes to reach its loss. The plain rendering is run for Oslo only.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from vbas.benchmarks.grid_data import GRIDS, every_year, population_grid
from vbas.benchmarks.published_partition import plain_partition
from vbas.core.cells import Cells, PartitionOptions, partition_cells
from vbas.core.cells.cells import squares
from vbas.core.cells.measures import describe_groups, measure_partition
from vbas.core.crosswalk import Crosswalk

K = 100
PLAIN = "published, plain (mean of runs)"
SINGLE = "random growth (mean of runs)"
RESTARTS = {"Oslo": 20, "Norway": 3}
CHUNK_CELLS = 2000
PLAIN_ATTEMPTS = 10_000


@dataclass(frozen=True)
class Row:
    """What an approach gave. ratio : mean of the groups' area over hull area; narrow : share of groups below 0.4."""

    name: str
    restarts: int
    cpu: float
    wall: float
    loss: float
    weighted_dist: float
    non_pop: float
    groups: float
    ratio: float
    narrow: float
    megabytes: float


def run(area: str, approach: str, restarts: int, chunk_cells: int = 0) -> Row:
    """A row of the table, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--row", json.dumps([area, approach, restarts, chunk_cells])],
        check=True,
        capture_output=True,
        text=True,
    )
    return Row(**json.loads(done.stdout))


def make_row(area: str, approach: str, restarts: int, chunk_cells: int) -> Row:
    """Run one approach in this process."""
    cells = population_grid(area)
    started, used = time.perf_counter(), _cpu()
    if approach == PLAIN:
        partitions = [
            _crosswalk(cells, plain_partition(cells, K, PLAIN_ATTEMPTS, seed, True)) for seed in range(restarts)
        ]
    elif approach == SINGLE:
        single = {"restarts": 1}
        partitions = [_partition(cells, "random growth", seed=seed, **single) for seed in range(restarts)]
    else:
        partitions = [_partition(cells, approach, restarts=restarts, chunk_cells=chunk_cells)]
    wall, cpu = (time.perf_counter() - started) / len(partitions), (_cpu() - used) / len(partitions)
    megabytes = (
        sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    )
    loss, weighted_dist, non_pop, groups, ratio, narrow = np.mean(
        [_rated(area, cells, crosswalk) for crosswalk in partitions], axis=0
    ).tolist()
    name = approach + (f", chunks of {chunk_cells}" if chunk_cells else "")
    return Row(name, restarts, cpu, wall, loss, weighted_dist, non_pop, groups, ratio, narrow, megabytes)


def _partition(cells: Cells, approach: str, **options: Any) -> Crosswalk:
    return partition_cells(cells, every_year(cells, K), approach, PartitionOptions(**options)).crosswalk


def _rated(area: str, cells: Cells, crosswalk: Crosswalk) -> tuple[float, ...]:
    """Loss, weighted_dist, non_pop, groups, mean ratio of area to hull, share of groups whose ratio is below 0.4."""
    minimums = every_year(cells, K)
    measures = measure_partition(cells, minimums, crosswalk, PartitionOptions().beta)
    shapes = squares(cells.boxes[:, :2], GRIDS[area].size, np.zeros(2))
    ratio = describe_groups(cells, minimums, crosswalk, shapes).area_hull
    return (
        measures.loss,
        measures.weighted_dist,
        measures.non_pop,
        measures.n_groups,
        ratio.mean(),
        (ratio < 0.4).mean(),
    )


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _crosswalk(cells: Cells, groups: list[set[int]]) -> Crosswalk:
    region_of = np.full(len(cells), -1, np.int64)
    for group, members in enumerate(groups):
        region_of[list(members)] = group
    return Crosswalk(region_of, len(groups))


def show(row: Row) -> None:
    """Print a row."""
    print(
        f"{row.name:34}{row.restarts:>6}{row.cpu:>9.2f}{row.wall:>9.2f}{row.loss:>11.5f}{row.weighted_dist:>10.4f}"
        f"{row.non_pop:>9.4f}{row.groups:>8.0f}{row.ratio:>8.3f}{100 * row.narrow:>9.1f}{row.megabytes:>7.0f}",
        flush=True,
    )


def table(area: str) -> None:
    """All rows of a grid."""
    print(f"{GRIDS[area].title}, k = {K} in every year (Statistics Norway)")
    print(f"{'':34}{'':>6}{'CPU':>9}{'wall':>9}{'':>11}{'weighted':>10}{'non':>9}{'':>8}{'area /':>8}{'% below':>9}")
    print(
        f"{'approach':34}{'runs':>6}{'s':>9}{'s':>9}{'loss':>11}{'dist':>10}{'pop':>9}{'groups':>8}{'hull':>8}"
        f"{'0.4':>9}{'MB':>7}"
    )
    if area == "Oslo":
        plain, single = run(area, PLAIN, 3), run(area, SINGLE, 20)
        show(plain)
        show(single)
        print(f"At equal loss a plain run takes {plain.cpu / single.cpu:.0f} times as long (processor time, means).")
    restarts = RESTARTS[area]
    random = run(area, "random growth", restarts)
    compact = run(area, "compact growth", restarts)
    equal = run(area, "random growth", max(1, round(restarts * compact.cpu / random.cpu)))
    for row in (random, run(area, "compact growth", 1), compact, equal):
        show(row)
    if find_spec("networkx"):
        show(run(area, "random growth", restarts, CHUNK_CELLS))
    print(f"At equal time: compact growth {compact.loss:.5f}, random growth {equal.loss:.5f}\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--row"]:
        print(json.dumps(asdict(make_row(*json.loads(sys.argv[2])))))
    else:
        for chosen in sys.argv[1:] or GRIDS:
            table(chosen)
