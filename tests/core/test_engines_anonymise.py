"""The recipe of a release over an engine and over arrays: the same rows, counts, sentences and measures."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from vbas.core.anonymise import Ask, anonymise
from vbas.core.engines import open_engine
from vbas.core.engines.fields import RecordFields
from vbas.core.engines.profiling import count_in_place, counted_rows_in_place, match_in_place
from vbas.core.engines.source import EngineSource
from vbas.core.privacy import weights
from vbas.core.publish.register.published_releases import earlier_releases

from ..engines_there import needed
from . import engine_cases as cases
from .engine_cases import K, areas, in_memory, one_level, people, rows_of, two_levels

pq = needed("pyarrow.parquet")
for package in ("ibis", "duckdb"):
    needed(package)

QUASI = ("sex", "age")


class Listener:
    def __init__(self):
        self.said = []

    def info(self, *sentences):
        self.said.extend(sentences)

    warn = info


def weighted(seed=0):
    """Respondents with a weight each: k by weight rests on few of them."""
    columns = people()
    rng = np.random.default_rng(seed)
    return {**columns, "records": rng.integers(15, 40, len(columns["area"])).tolist()}


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("nested", [False, True])
def test_engine_and_arrays_give_one_account(nested, counted, tmp_path):
    columns = weighted() if counted else people()
    source = cases.write_parquet(columns, tmp_path / "people.parquet")
    count = "records" if counted else ""
    records = in_memory(columns, kept=(), quasi=QUASI, count=count or None)
    levels = two_levels() if nested else one_level()
    ask = Ask(K, published_margins="age", earlier=earlier_releases(tmp_path / "register.gpkg"))
    heard, heard_there = Listener(), Listener()
    here = anonymise(areas(), records, levels, ask, population=np.full(len(areas()), 10.0), log=heard)
    with open_engine(str(source)) as engine:
        matched = match_in_place(count_in_place(engine, RecordFields("area", QUASI, count=count)), areas(), k=K)
        there = anonymise(
            areas(),
            EngineSource(matched, str(tmp_path / "out.parquet")),
            levels,
            ask,
            population=np.full(len(areas()), 10.0),
            log=heard_there,
        )
        assert there.rows is not None and there.rows.staged is not None
        place = there.rows.staged.publish()
        rows = counted_rows_in_place(matched)
    written = Counter(tuple(row.values()) for row in pq.read_table(place).to_pylist())
    assert written == rows_of(here.release, levels, nested)
    assert here.measures == there.measures and here.smallest == there.smallest and (here.smallest or 0) >= K
    assert heard.said == heard_there.said and here.weights == there.weights
    assert bool(here.weights) == counted
    assert here.published is not None and there.published is not None
    assert (here.published.records == there.published.records).all()
    if counted:
        ours = weights.rows_of(records)
        assert rows is not None
        assert rows.n_rows == ours.n_rows and rows.median == ours.median
        assert (np.bincount(rows.cell, rows.rows) == np.bincount(ours.cell)).all()
    else:
        assert rows is None
