"""A release spread where it is: as arrays spread it, in every engine."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.analysis.released import ReleasedRows, released_rows
from vbas.core.analysis.spreading import spread
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.engines import ENGINES, open_engine
from vbas.core.errors import InputError
from vbas.core.levels import Levels, own_regions
from vbas.core.records.columns import column_from_values

from ..engines_there import needed
from .test_engine_conformance import ADAPTERS, SLOW, server  # noqa: F401  a fixture

# Of the two ways to one cluster, whose queries take seconds, one has the rows and one the counts.
ENGINES_THERE = [
    pytest.param(
        adapter,
        counted,
        marks=[pytest.mark.slow] if adapter.kind in SLOW else [],
        id=f"{'counts' if counted else 'rows'}-{name}",
    )
    for counted in (False, True)
    for name, adapter in ADAPTERS.items()
    if adapter.kind not in SLOW or (adapter.kind == "spark") != counted
]
AREAS = make_areas([f"a{i}" for i in range(7)], np.zeros((7, 2)), [30, 0, 10, 25, 5, 40, 0], in_metres=True)
MIDDLE = Crosswalk(np.array([0, 0, 0, 1, 1, 2, 2]), 3, np.array([4, 9, 11]))
LEVELS = Levels((own_regions(7), MIDDLE, Crosswalk(np.zeros(7, int), 1)))
SEXES = ("F", "M", None, "é", "")


def released(counted: bool) -> dict[str, list]:
    """Columns of a release as its table has them."""
    rng = np.random.default_rng(3)
    level = np.minimum(rng.integers(1, 5, 400), 3)
    numbers = [np.arange(1, 8), np.array([4, 9, 11]), np.array([1])]
    sexes = rng.integers(0, len(SEXES), 400)
    # No class stands in a region all of whose areas show it.
    region = [int(rng.choice(numbers[one - 1])) if one > 1 else int(rng.integers(3, 5)) for one in level]
    columns: dict[str, list] = {
        "vbas_level": level.tolist(),
        "vbas_region": region,
        "sex": [SEXES[i] for i in sexes],
        "age": [None if i == 3 else int(i) for i in rng.integers(0, 4, 400)],
    }
    if counted:
        columns["records"] = rng.integers(1, 9, 400).tolist()
    return columns


def in_arrays(columns) -> ReleasedRows:
    counts = np.array(columns["records"]) if "records" in columns else None
    fields = {name: column_from_values(values) for name, values in columns.items() if name != "records"}
    return released_rows(AREAS, LEVELS, fields, counts)


def text(value):
    return None if value is None else str(value)


@pytest.fixture
def opened(tmp_path, request):
    """opened(adapter, columns)() is an open engine over the release; each serves one question."""

    def one(adapter, columns):
        for package in ENGINES[adapter.kind][2]:
            needed(package)
        if adapter.as_text:
            columns = {name: [text(value) for value in values] for name, values in columns.items()}
        place = adapter.put(columns, tmp_path, request)
        return lambda: open_engine(place.address, place.table)

    return one


@pytest.mark.parametrize(("adapter", "counted"), ENGINES_THERE)
def test_one_join_gives_what_arrays_give(opened, adapter, counted):
    from vbas.core.engines.spreading import counts_in_place

    columns = released(counted)
    rows = in_arrays(columns)
    group_of, groups = rows.groups(["sex", "age"])
    here = spread(rows).counts(group_of, len(groups))
    wanted = {
        tuple(text(rows.fields[name].categories[code]) for name, code in zip(("sex", "age"), codes)): position
        for position, codes in enumerate(groups.tolist())
    }
    count = "records" if counted else ""
    again = opened(adapter, columns)
    with again() as engine:
        there = counts_in_place(engine, AREAS, LEVELS, ["sex", "age"], count)
    with again() as engine:
        alone = counts_in_place(engine, AREAS, LEVELS, count=count)
    order = [wanted[tuple(map(text, group))] for group in there.groups]
    assert sorted(order) == list(range(len(groups)))
    for name in ("estimate", "rows", "squares", "known"):
        np.testing.assert_allclose(getattr(there.counts, name), getattr(here, name)[order], atol=1e-9)
    np.testing.assert_allclose(alone.estimate[0], here.estimate.sum(axis=0))


def test_what_does_not_go_together_is_said(opened):
    from vbas.core.engines.spreading import counts_in_place

    columns = released(False)
    columns["vbas_region"][0] = 77
    again = opened(ADAPTERS["DuckDB over Parquet"], columns)
    with again() as engine, pytest.raises(InputError, match="1 record shows a region that CROSSWALK does not have"):
        counts_in_place(engine, AREAS, LEVELS)
    with again() as engine, pytest.raises(InputError, match="no field “tenure”: it has vbas_level"):
        counts_in_place(engine, AREAS, LEVELS, ["tenure"])


def test_a_release_of_one_level(opened):
    from vbas.core.engines.spreading import counts_in_place

    columns = {"vbas_region": [4, 9, 9, 11], "sex": ["F", "M", "F", "M"]}
    again = opened(ADAPTERS["DuckDB over Parquet"], columns)
    with again() as engine:
        there = counts_in_place(engine, AREAS, Levels((MIDDLE,)))
    with again() as engine, pytest.raises(InputError, match="no field vbas_level"):
        counts_in_place(engine, AREAS, LEVELS)
    np.testing.assert_allclose(there.estimate[0], [30 / 40, 0, 10 / 40, 2 * 25 / 30, 2 * 5 / 30, 1, 0])
