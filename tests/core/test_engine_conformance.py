"""What every engine must do: the recipe of a release gives the rows, counts, sentences and measures of arrays.

An engine that is added has a line in ADAPTERS, and its tests of what only it can do in a file of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, NamedTuple

import numpy as np
import pytest

from vbas.core.anonymise import Ask, anonymise
from vbas.core.disclosure.published import Published
from vbas.core.engines import ENGINES, open_engine
from vbas.core.engines.addresses import read_address
from vbas.core.errors import InputError
from vbas.core.privacy import weights
from vbas.core.privacy.derivable import CLASS_HAS_K, NO_SMALL_COUNT
from vbas.core.privacy.series import EACH_BY_ITSELF
from vbas.core.publish.register.published_releases import earlier_releases
from vbas.core.records.columns import column_from_values
from vbas.core.records.fields import RecordFields
from vbas.core.records.matching import match_records
from vbas.core.records.table import PERSONS
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.examining import examine_all
from vbas.core.releases.updating import Update

from ..engines_there import needed
from ..exploring import EXPLORES, tried
from . import engine_cases as cases
from .engine_cases import QUASI, K, areas, in_memory, one_level, people, rows_of, two_levels
from .rows_told import published_of

KEPT = ("diagnosis",)
NUMBERS = ("age", "records", "vbas_level", "vbas_region")  # fields of whole numbers, where an engine has such
Columns = Mapping[str, list[Any]]


class Place(NamedTuple):
    """People in an engine. table : of a database; destination : of the rows; read : those at the published place."""

    address: str
    table: str
    destination: str
    read: Callable[[str], list[tuple[Any, ...]]]


def in_parquet(columns: Columns, folder: Path, request: pytest.FixtureRequest) -> Place:
    source = cases.write_parquet(columns, folder / "people.parquet")
    return Place(str(source), "", str(folder / "out.parquet"), parquet_rows)


def in_csv(columns: Columns, folder: Path, request: pytest.FixtureRequest) -> Place:
    source = cases.write_csv(columns, folder / "people.csv")
    return Place(str(source), "", str(folder / "out.csv"), csv_rows)


def in_postgres(columns: Columns, folder: Path, request: pytest.FixtureRequest) -> Place:
    arrow, dbapi = needed("pyarrow"), needed("adbc_driver_postgresql.dbapi")
    address = request.getfixturevalue("server")
    kinds = {name: arrow.int64() if name in NUMBERS else arrow.string() for name in columns}
    given = arrow.table({name: arrow.array(values, kinds[name]) for name, values in columns.items()})
    with dbapi.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA IF EXISTS public CASCADE")
        cursor.execute("CREATE SCHEMA public")
        cursor.adbc_ingest("people", given, mode="create")

    def rows(place: str) -> list[tuple[Any, ...]]:
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {place}")
            return cursor.fetchall()

    return Place(address, "people", "released", rows)


def in_spark(columns: Columns, folder: Path, request: pytest.FixtureRequest) -> Place:
    return in_cluster(columns, folder, request.getfixturevalue("spark").driver)


def in_spark_connect(columns: Columns, folder: Path, request: pytest.FixtureRequest) -> Place:
    return in_cluster(columns, folder, request.getfixturevalue("spark").connect)


def in_cluster(columns: Columns, folder: Path, address: str) -> Place:
    (place := folder / "people").mkdir()
    cases.write_parquet(columns, place / "0.parquet")
    return Place(address, str(place), str(folder / "released"), parquet_rows)


def parquet_rows(place: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in needed("pyarrow.parquet").read_table(place).to_pylist()]


def csv_rows(place: str) -> list[tuple[Any, ...]]:
    """The fields as text, level and region as the numbers that they are."""
    read = needed("duckdb").read_csv(place, all_varchar=True, header=True, allow_quoted_nulls=False)
    regions = sum(name.startswith("vbas_") for name in read.columns)
    return [(*map(int, row[:regions]), *row[regions:]) for row in read.fetchall()]


class Adapter(NamedTuple):
    """A kind of place that records stay in.

    kind : a key of ENGINES; put : people into it; as_text : whether it holds nothing else, so that rows cannot have
    counts
    """

    kind: str
    put: Callable[[Columns, Path, pytest.FixtureRequest], Place]
    as_text: bool = False


ADAPTERS = {
    "DuckDB over Parquet": Adapter("duckdb", in_parquet),
    "DuckDB over CSV": Adapter("duckdb", in_csv, as_text=True),
    "PostgreSQL": Adapter("postgres", in_postgres),
    "Spark": Adapter("spark", in_spark),
    "Spark Connect": Adapter("connect", in_spark_connect),
}
SLOW = ("spark", "connect")  # a cluster takes its time to start
JOBS = [
    pytest.param(
        adapter, nested, counted, marks=[pytest.mark.slow] if adapter.kind in SLOW else [], id=f"{name}-{levels}-{of}"
    )
    for name, adapter in ADAPTERS.items()
    for levels, nested in (("one level", False), ("nested", True))
    for of, counted in (("records", False), ("counts", True))
    if not (counted and adapter.as_text)
    # The two ways to one cluster, whose queries take seconds: either pair of choices goes one of the ways, and that of
    # one of them is for VBAS_EXPLORE, as test_engine_spark.py goes it.
    if adapter.kind not in SLOW or (adapter.kind == "spark") == (nested == counted)
    if adapter.kind != tried("connect", "")
]


class Listener:
    def __init__(self):
        self.said = []

    def info(self, *sentences):
        self.said.extend(sentences)

    warn = info


@pytest.fixture(scope="module")
def server(postgres):
    """The address of a database of its own."""
    with postgres.another() as database:
        yield database.address


def people_of(adapter: Adapter, counted: bool, number: int = 1500) -> dict[str, list[Any]]:
    """The people, without the megabyte of text; counted ones are respondents with a weight each, so that k by weight
    rests on few of them."""
    columns = people(number)
    columns["odd"] = [None if value is None else value[:10] for value in columns["odd"]]
    if counted:
        rng = np.random.default_rng(0)
        columns["records"] = rng.integers(15, 40, len(columns["area"])).tolist()
    if adapter.as_text:
        return {name: [None if value is None else str(value) for value in values] for name, values in columns.items()}
    return columns


def people_beside(adapter: Adapter) -> dict[str, list[Any]]:
    """The same with the person that each row is of."""
    columns = people_of(adapter, False)
    columns["person"] = [f"p{number % (len(columns['area']) * 3 // 4)}" for number in range(len(columns["area"]))]
    return columns


def test_every_engine_is_run():
    assert {adapter.kind for adapter in ADAPTERS.values()} == set(ENGINES)


@pytest.mark.slow
@pytest.mark.parametrize(("adapter", "nested", "counted"), JOBS)
def test_engine_and_arrays_give_one_account(adapter, nested, counted, tmp_path, request):
    for package in ENGINES[adapter.kind][2]:
        needed(package)
    from vbas.core.engines.profiling import count_in_place, counted_rows_in_place, match_in_place
    from vbas.core.engines.source import EngineSource

    columns = people_of(adapter, counted)
    place = adapter.put(columns, tmp_path, request)
    assert read_address(place.address).kind == adapter.kind
    count = "records" if counted else ""
    records = in_memory(columns, KEPT, QUASI, count or None)
    levels = two_levels() if nested else one_level()
    k = 100 if counted else K
    ask = Ask(k, published_margins="age", earlier=earlier_releases(tmp_path / "register.gpkg"))
    population = np.full(len(areas()), 10.0)
    heard, heard_there = Listener(), Listener()
    here = anonymise(areas(), records, levels, ask, population=population, log=heard)
    with open_engine(place.address, place.table) as engine:
        fields = RecordFields("area", QUASI, KEPT, count)
        matched = match_in_place(count_in_place(engine, fields), areas(), k=k)
        source = EngineSource(matched, place.destination)
        there = anonymise(areas(), source, levels, ask, population=population, log=heard_there)
        assert there.rows is not None and there.rows.staged is not None
        rows = counted_rows_in_place(matched)
        published = there.rows.staged.publish()
    assert Counter(place.read(published)) == rows_of(here.release, levels, nested)
    assert here.release.n_records > 1000 and here.measures.n_suppressed > 10
    assert here.measures == there.measures
    assert here.smallest == there.smallest and (here.smallest or 0) >= k
    assert [one.name for one in here.kept] == [one.name for one in there.kept] == [*KEPT]
    assert heard.said == heard_there.said and here.weights == there.weights
    assert bool(here.weights) == counted
    assert here.published is not None and there.published is not None
    assert (here.published.records == there.published.records).all()
    if counted:
        ours = weights.counted_rows(records)
        assert rows is not None
        assert rows.n_rows == ours.n_rows and rows.median == ours.median
        assert (np.bincount(rows.cell, rows.rows) == np.bincount(ours.cell)).all()
    else:
        assert rows is None


@pytest.mark.slow
@pytest.mark.parametrize("persons", [False, True])
@pytest.mark.parametrize("name", ["DuckDB over Parquet", "PostgreSQL"])
def test_where_the_draws_are_the_same_so_are_the_zones(name, persons, tmp_path, request, monkeypatch):
    """DISCLOSURE draws from the system's source, here from one that says the same to both."""
    adapter = ADAPTERS[name]
    for package in ENGINES[adapter.kind][2]:
        needed(package)
    from vbas.core.engines.profiling import count_in_place, match_in_place
    from vbas.core.engines.source import EngineSource

    drawn = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=1: drawn(seed))
    columns = people_beside(adapter)
    members = {PERSONS: "person"} if persons else {}
    place = adapter.put(columns, tmp_path, request)
    inhabited = areas().with_population(np.full(len(areas()), 2_000.0))
    ask = Ask(
        K,
        published_margins="age",
        earlier=earlier_releases(tmp_path / "register.gpkg"),
        disclosure=NO_SMALL_COUNT,
        closed_by_chance=20.0,
    )
    records = in_memory(columns, KEPT)
    table = replace(records.table, members={kind: column_from_values(columns[one]) for kind, one in members.items()})
    records = match_records(table, areas(), k=K)
    here = anonymise(inhabited, records, two_levels(), ask)
    with open_engine(place.address, place.table) as engine:
        matched = match_in_place(
            count_in_place(engine, RecordFields("area", QUASI, KEPT, members=members)), areas(), k=K
        )
        there = anonymise(inhabited, EngineSource(matched, place.destination), two_levels(), ask)
        assert there.rows is not None and there.rows.staged is not None
        published = there.rows.staged.publish()
    assert Counter(place.read(published)) == rows_of(here.release, two_levels(), True)
    assert here.no_small_count and there.no_small_count and here.measures == there.measures
    plain = anonymise(inhabited, records, two_levels(), replace(ask, disclosure=CLASS_HAS_K))
    assert rows_of(plain.release, two_levels(), True) != rows_of(here.release, two_levels(), True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["DuckDB over Parquet", "PostgreSQL"])
def test_series_are_without_holes_there_as_here(name, tmp_path, request):
    """Any quasi-identifier may be the period: here it is the sex."""
    adapter = ADAPTERS[name]
    for package in ENGINES[adapter.kind][2]:
        needed(package)
    from vbas.core.engines.profiling import count_in_place, match_in_place
    from vbas.core.engines.source import EngineSource

    columns = people_beside(adapter)
    members = {PERSONS: "person"}
    place = adapter.put(columns, tmp_path, request)
    records = in_memory(columns, KEPT)
    table = replace(records.table, members={kind: column_from_values(columns[one]) for kind, one in members.items()})
    records = match_records(table, areas(), k=K)
    ask = Ask(K, period="sex")
    here = anonymise(areas(), records, two_levels(), ask)
    with open_engine(place.address, place.table) as engine:
        fields = RecordFields("area", QUASI, KEPT, members=members)
        matched = match_in_place(count_in_place(engine, fields), areas(), k=K)
        there = anonymise(areas(), EngineSource(matched, place.destination), two_levels(), ask)
        assert there.rows is not None and there.rows.staged is not None
        published = there.rows.staged.publish()
    assert Counter(place.read(published)) == rows_of(here.release, two_levels(), True)
    assert here.measures == there.measures
    plain = anonymise(areas(), records, two_levels(), replace(ask, periods=EACH_BY_ITSELF))
    assert plain.measures.n_suppressed < here.measures.n_suppressed


@pytest.mark.parametrize("name", ["DuckDB over Parquet", "DuckDB over CSV", "PostgreSQL"])
def test_rows_whose_person_is_blank_are_of_nobody_there_as_here(name, tmp_path, request):
    """As CSV files have it where an identifier is missing: all of them would be one person more."""
    adapter = ADAPTERS[name]
    for package in ENGINES[adapter.kind][2]:
        needed(package)
    from vbas.core.engines.profiling import count_in_place

    columns = {name: list(values) for name, values in people_beside(adapter).items()}
    columns["person"] = ["", " ", *map(str, columns["person"][2:])]
    place = adapter.put({**columns, "who": columns.pop("person")}, tmp_path, request)
    said = pytest.raises(InputError, match="PERSON_ID is missing in 2 rows")
    with open_engine(place.address, place.table) as engine, said:
        count_in_place(engine, RecordFields("area", QUASI, KEPT, members={PERSONS: "who"}))


@pytest.mark.parametrize("name", ["DuckDB over Parquet", "DuckDB over CSV", "PostgreSQL"])
def test_a_field_that_tells_fewer_than_k_apart_is_named_there_as_here(name, tmp_path, request):
    adapter = ADAPTERS[name]
    for package in ENGINES[adapter.kind][2]:
        needed(package)
    from vbas.core.engines.profiling import count_in_place, match_in_place

    columns = people_beside(adapter)
    columns["person"] = [f"p{number % 3}" for number in range(len(columns["person"]))]
    place = adapter.put(columns, tmp_path, request)
    with open_engine(place.address, place.table) as engine:
        in_place = count_in_place(engine, RecordFields("area", QUASI, KEPT, members={PERSONS: "person"}))
        with pytest.raises(InputError, match=r"K is 5, and PERSON_ID has only 3 values in 1.?500 records, so nothing"):
            match_in_place(in_place, areas(), k=5)
        match_in_place(in_place, areas(), k=3)


def month_after(columns: Columns, month: int) -> dict[str, list[Any]]:
    """The people a month later: some have left, some moved, some are new, and some have another diagnosis."""
    rng = np.random.default_rng(100 + month)
    stays = np.flatnonzero(rng.random(len(columns["area"])) > 0.01)
    again = np.concatenate([stays, rng.choice(stays, 40)])
    later = {name: [values[row] for row in again.tolist()] for name, values in columns.items()}
    for name, share in (("area", 0.01), ("diagnosis", 0.003)):
        moved = np.flatnonzero(rng.random(len(again)) < share).tolist()
        for row, other in zip(moved, rng.permutation(moved).tolist() if moved else []):
            later[name][row] = columns[name][int(again[other])]
    return later


UPDATED = [
    pytest.param(
        name,
        nested,
        kept,
        counted,
        marks=[pytest.mark.slow],
        id=f"{name}-{'nested' if nested else 'one level'}-{'kept' if kept else 'plain'}-{counted}",
    )
    for name in ("DuckDB over Parquet", "DuckDB over CSV", "PostgreSQL", "Spark")
    for nested, kept, counted in ((True, True, False), (False, False, False), (True, True, True))
    if not (counted and ADAPTERS[name].as_text) and (name != "Spark" or nested > counted)
    # Nested records with kept fields are those of DuckDB over CSV and of Spark, nested counts with them of the others.
    if EXPLORES or name not in ("DuckDB over Parquet", "PostgreSQL") or nested == counted
]


@pytest.mark.parametrize(("name", "nested", "kept", "counted"), UPDATED)
def test_an_update_in_place_shows_what_arrays_would(name, nested, kept, counted, tmp_path, request, monkeypatch):
    """The same draws are said to both: then every row of each month is the same, and the register learns the same."""
    adapter = ADAPTERS[name]
    for package in ENGINES[adapter.kind][2]:
        needed(package)
    from vbas.core.engines.profiling import count_in_place, match_in_place
    from vbas.core.engines.source import EngineSource

    drawn = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=1: drawn(seed))
    names = KEPT if kept else ()
    columns, k = people_of(adapter, counted, 4000), 60 if counted else K
    columns["odd"] = [columns["sex"][row] for row in range(len(columns["sex"]))]  # of few classes, which stay
    levels = two_levels() if nested else one_level()
    fields = RecordFields("area", QUASI, names, "records" if counted else "")
    told: list[list[Published]] = [[], []]
    months = []
    for month in range(tried(2, 3) if name == "Spark" else 3):
        if month:
            columns = month_after(columns, month)
        (folder := tmp_path / str(month)).mkdir()
        place = adapter.put(columns, folder, request)
        with open_engine(place.address, place.table) as engine:
            matched = match_in_place(count_in_place(engine, fields, by_value=True), areas(), k=k)
            source = EngineSource(matched, place.destination)
            of_arrays = in_memory(columns, names, count="records" if counted else None)
            if month:  # in the order in which the engine's are drawn
                of_arrays = source.to_update()
                assert of_arrays.table.n_records == sum(columns["records"]) if counted else len(columns["area"])
            accounts = []
            for at_hand, published in zip((of_arrays, source), told):
                update = Update(month - 1) if month else None
                accounts.append(anonymise(areas(), at_hand, levels, Ask(k, earlier=Earlier(published), update=update)))
                published.append(published_of(accounts[-1]))
            here, there = accounts
            assert there.rows is not None and there.rows.staged is not None
            rows = Counter(place.read(there.rows.staged.publish()))
        shown = rows_of(here.release, levels, nested)
        if not counted and here.release.counted:  # arrays with counts show each row once, the engine each record
            shown = Counter({row[:-1]: row[-1] for row in shown})
        assert rows == shown
        assert here.changed == there.changed and here.measures == there.measures
        ours, theirs = told[0][-1], told[1][-1]
        assert (ours.records == theirs.records).all() and (ours.rows is None) == (theirs.rows is None)
        months.append(rows)
    assert there.changed is not None and there.changed.other > 0 and there.changed.percent > 0
    assert not examine_all(told[1]).n_counts
    least = min(months[-1].values()) if not counted else min(row[-1] for row in months[-1])
    assert least >= k or not kept
