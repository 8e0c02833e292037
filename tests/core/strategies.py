"""Small random cases for properties."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from vbas.core.areas import Areas, make_areas
from vbas.core.records.columns import Column, ColumnBuilder
from vbas.core.records.table import RecordTable


def column_from_array(values: np.ndarray, missing: np.ndarray | None = None) -> Column:
    """A numpy array of numbers or text as a column."""
    builder = ColumnBuilder()
    builder.add_array(values, missing)
    return builder.column()


@st.composite
def regions(draw, least: int = 2, most: int = 60, coinciding: bool = True) -> Areas:
    """Areas on a coarse grid, so that points coincide and distances tie; some without people."""
    n = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    reach = draw(st.sampled_from([2, 10, 100_000] if coinciding else [100_000_000]))
    points = rng.integers(0, reach, (n, 2)).astype(float) * 10
    population = rng.integers(0, draw(st.sampled_from([2, 50, 700])), n).astype(float)
    population[rng.integers(n)] = 1 + population.max()
    return make_areas([f"46{i:04d}" for i in range(n)], points).with_population(population)


@st.composite
def tables(draw, areas: Areas, counted: bool = False) -> RecordTable:
    """Records in those areas, some areas without any, some records with missing values and of no known area."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(10, 400))
    used = areas.identifiers[rng.integers(0, len(areas), max(1, len(areas) // 2))]
    area = np.append(used, ["nowhere"]).astype(str)[rng.integers(0, len(used) + draw(st.integers(0, 1)), n)]
    columns = {
        name: column_from_array(rng.integers(0, size, n), rng.random(n) < 0.1)
        for name, size in (("sex", 2), ("age", draw(st.integers(1, 6))))
    }
    kept = {"diagnosis": column_from_array(rng.integers(0, 3, n).astype(str))}
    counts = rng.integers(0, 9, n) + (np.arange(n) == 0) if counted else None
    return RecordTable(column_from_array(area), columns, kept, counts)
