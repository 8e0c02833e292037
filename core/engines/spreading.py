"""A release spread where it is: by one join with the weights of its regions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..analysis.released import LEVEL, REGION, ReleasedRows
from ..analysis.spreading import AreaCounts, spread
from ..areas import Areas
from ..dataclass import dataclass
from ..errors import InputError
from ..levels import Levels
from ..scientific import sparse
from .engine import Engine, Expression

NEAR = 1e-9  # of all records: by how much the join may differ from them by rounding


@dataclass(frozen=True, eq=False)
class CountsInPlace:
    """Estimated counts of G groups in n areas.

    counts : as `Spread.counts` has them, (G, n); groups : (G,) tuples of what the fields show, None for a missing value
    """

    counts: AreaCounts
    groups: tuple[tuple[object, ...], ...]

    @property
    def estimate(self) -> np.ndarray:
        """Estimated records, (G, n) float."""
        return self.counts.estimate


def weights_of_regions(areas: Areas, levels: Levels) -> dict[str, np.ndarray]:
    """The weights by the people of the areas, as the columns of a table: a row for each region and area in it.

    Returns w_level from 1, w_region as the crosswalk numbers it, w_area the position of the area, int64; weight, and
    alone, 1 where the region's people live in one area, float64.
    """
    sizes = [crosswalk.n_regions for crosswalk in levels.crosswalks]
    level, region = (
        np.repeat(np.arange(len(sizes), dtype=np.int64), sizes),
        np.concatenate([np.arange(size, dtype=np.int64) for size in sizes]),
    )
    rows = ReleasedRows(areas, levels, level, region, {})
    weights = spread(rows)
    matrix: sparse.csr_matrix = weights.row_weights()
    row = np.repeat(np.arange(len(level), dtype=np.int64), np.diff(matrix.indptr))
    number = rows.numbers(np.arange(len(rows), dtype=np.int64))
    return {
        "w_level": level[row] + 1,
        "w_region": number[row],
        "w_area": matrix.indices.astype(np.int64),
        "weight": matrix.data,
        "alone": weights.in_one_area[weights.profile_of][row].astype(float),
    }


def counts_in_place(
    engine: Engine, areas: Areas, levels: Levels, by: Sequence[str] = (), count: str = ""
) -> CountsInPlace:
    """Estimated records by area and group of a release in an engine just opened: one join, added up there.

    Parameters
    ----------
    engine : Engine
        Open over the released rows, nothing read of it yet.
    areas : Areas
        n areas with the people that anybody can look up.
    levels : Levels
        The crosswalk that came with the release.
    by : sequence of str
        Fields of the release that make groups.
    count : str
        The field that says how many records a row stands for; empty for none.

    Returns
    -------
    CountsInPlace
        Of G groups in n areas, arrays (G, n).

    Raises
    ------
    InputError
        For fields that are not there, and rows whose region the crosswalk does not have.

    Examples
    --------
    >>> from pathlib import Path
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.crosswalk import crosswalk_from_table
    >>> from vbas.core.engines import open_engine
    >>> from vbas.core.engines.spreading import counts_in_place
    >>> from vbas.core.levels import Levels
    >>> _ = Path("released.csv").write_text("vbas_region,sex\\n1,F\\n1,F\\n1,M\\n2,M\\n")
    >>> areas = make_areas(["a", "b", "c"], [[0, 0], [900, 0], [0, 900]]).with_population([30, 10, 20])
    >>> levels = Levels((crosswalk_from_table(areas, ["a", "b", "c"], [1, 1, 2]),))
    >>> with open_engine("released.csv") as engine:
    ...     counts = counts_in_place(engine, areas, levels, by=["sex"])
    >>> counts.groups, counts.estimate.tolist()
    ((('F',), ('M',)), [[1.5, 0.5, 0.0], [0.75, 0.25, 1.0]])
    """
    rows = _rows(engine, levels, by, count)
    table = engine.upload("vbas_weights", weights_of_regions(areas, levels))
    joined = rows.inner_join(table, [rows.level == table.w_level, rows.region == table.w_region])
    groups = [f"b{position}" for position in range(len(by))]
    summed = joined.group_by(["w_area", *groups]).agg(
        estimate=(joined.records * joined.weight).sum(),
        rows=joined.records.sum(),
        squares=(joined.records * joined.weight * joined.weight).sum(),
        known=(joined.records * joined.weight * joined.alone).sum(),
    )
    rows_of_sums = [row for batch in engine.fetch(summed) for row in batch.to_pylist()]
    _check_all_there(engine, rows, sum(float(row["estimate"]) for row in rows_of_sums))
    keys = [tuple(row[name] for name in groups) for row in rows_of_sums]
    known = {group: position for position, group in enumerate(dict.fromkeys(keys))}
    tables = np.zeros((4, max(len(known), 1), len(areas)))
    for row, group in zip(rows_of_sums, keys):
        values = [float(row[name]) for name in ("estimate", "rows", "squares", "known")]
        tables[:, known[group], int(row["w_area"])] = values
    return CountsInPlace(AreaCounts(*tables), tuple(known))


def _rows(engine: Engine, levels: Levels, fields: Sequence[str], count: str) -> Expression:
    """The rows with level, region, records and b0, b1, … for the fields."""
    import ibis

    nested = LEVEL in engine.fields
    if not nested and len(levels) > 1:
        raise InputError.saying(
            "CROSSWALK has several levels, but the release has no field vbas_level: use the crosswalk that came with "
            "the release."
        )
    wanted = [REGION, *fields, *([count] if count else [])]
    lost = [name for name in wanted if name not in engine.fields]
    if lost:
        raise InputError.saying(
            "The release has no field “{name}”: it has {names}.", name=lost[0], names=", ".join(engine.fields)
        )
    names = {f"b{position}": name for position, name in enumerate(fields)}
    names |= {"region": REGION, **({"level": LEVEL} if nested else {}), **({"n": count} if count else {})}
    source = engine.source(names)
    level = source.level.cast("int64") if nested else ibis.literal(1, type="int64")
    records = source.n.cast("float64") if count else ibis.literal(1.0, type="float64")
    own = {name: source[name] for name in names if name.startswith("b")}
    return source.select(level=level, region=source.region.cast("int64"), records=records, **own)


def _check_all_there(engine: Engine, rows: Expression, estimated: float) -> None:
    """Raises InputError where the join lost rows: the weights of each add up to 1."""
    summed = engine.fetch(rows.aggregate(records=rows.records.sum()))
    (released,) = (float(row["records"] or 0.0) for batch in summed for row in batch.to_pylist())
    lost = released - estimated
    if abs(lost) > NEAR * max(released, 1.0):
        raise InputError.counting(
            "{n} record shows a region that CROSSWALK does not have: use the crosswalk that came with the release.",
            "{n} records show a region that CROSSWALK does not have: use the crosswalk that came with the release.",
            max(round(lost), 1),
        )
