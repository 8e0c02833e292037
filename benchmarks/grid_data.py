"""The population grids of Statistics Norway, kept next to the project (never in it), as cells."""

from __future__ import annotations

import gzip
from typing import NamedTuple

import numpy as np

from vbas.benchmarks.real_data import DATA
from vbas.core.cells import Cells, Minimum, make_cells
from vbas.core.cells.cells import grid_borders, grid_positions


class Grid(NamedTuple):
    """A grid that is published: what to call it, its file, the side of a cell in metres."""

    title: str
    file: str
    size: float


GRIDS = {
    "Oslo": Grid("Oslo 250 m 2010-2019", "oslo_250m_population_2010_2019.csv.gz", 250.0),
    "Norway": Grid("Norway 1 km 2008-2019", "norway_1km_population_2008_2019.csv.gz", 1000.0),
}


def population_grid(name: str, corners: bool = False) -> Cells:
    """The cells of a grid, neighbours by shared edge, or also by corner."""
    grid = GRIDS[name]
    with gzip.open(DATA / grid.file, "rt", encoding="utf-8") as file:
        fields = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",", dtype=np.int64)
    positions = grid_positions(table[:, 1:3].astype(float), grid.size, table[:, 0])
    low = positions * grid.size
    return make_cells(
        table[:, 0].tolist(),
        np.hstack([low, low + grid.size]),
        table[:, 3:].astype(float),
        fields[3:],
        grid_borders(positions, corners),
        grid.size,
    )


def every_year(cells: Cells, k: float) -> list[Minimum]:
    """At least k people in every year."""
    return [Minimum(tuple(range(len(cells.fields))), k, "people")]
