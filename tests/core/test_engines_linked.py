"""Persons and linked tables that stay in an engine: the release of arrays, counted there, written all or none."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import crosswalk_from_table
from vbas.core.engines import linked as in_engine
from vbas.core.engines import open_engine
from vbas.core.engines.engine import EngineError
from vbas.core.engines.linked import LinkedEngineSource, LinkedFields, check_tables
from vbas.core.engines.profiling import count_in_place, match_in_place
from vbas.core.errors import InputError, PrivacyError
from vbas.core.levels import Levels
from vbas.core.linked.source import link, new_keys
from vbas.core.linked.tables import ALL_ROWS, ONE_ROW, LinkedTable, persons_by_key, persons_of_rows
from vbas.core.linked.withholding import RowsOfPersons
from vbas.core.records.columns import column_from_values
from vbas.core.records.fields import RecordFields
from vbas.core.records.matching import STOP, match_records
from vbas.core.records.table import RecordTable

from ..engines_there import needed

AREAS = make_areas(list("abcd"), [(0, 0), (100, 0), (0, 900), (100, 900)])
LEVELS = Levels(
    (crosswalk_from_table(AREAS, list("abcd"), [1, 1, 2, 2]), crosswalk_from_table(AREAS, list("abcd"), [1, 1, 1, 1]))
)
Frame = dict[str, list[Any]]


def town(seed: int, n: int) -> tuple[Frame, dict[str, Frame]]:
    """Persons, their stays and drugs, with values that are missing or hard to tell apart."""
    rng = np.random.default_rng(seed)
    persons = {
        "id": [f"p{i}" for i in range(n)],
        "area": rng.choice(list("abcd"), n).tolist(),
        "sex": rng.choice(np.array(["F", "M", None], object), n, p=[0.5, 0.4, 0.1]).tolist(),
        "age": rng.integers(0, max(n // 50, 1), n).tolist(),
        "income": rng.integers(0, 3, n).tolist(),
    }
    stays, drugs = rng.integers(0, n, n), rng.integers(0, n, 2 * n)
    tables = {
        "stays": {
            "id": [f"p{i}" for i in stays],
            "month": rng.choice(np.array([1, 2, None], object), n).tolist(),
            "ward": rng.choice(np.array(["", "1:", "-", None], object), n, p=[0.7, 0.1, 0.1, 0.1]).tolist(),
            "days": rng.integers(1, 4, n).tolist(),
        },
        "drugs": {"patient": [f"p{i}" for i in drugs], "atc": rng.choice(list("NC"), 2 * n).tolist()},
    }
    return persons, tables


FIELDS = {"stays": (("month", "ward"), ("days",)), "drugs": ((), ("atc",))}


def of_arrays(people: Frame, tables: dict[str, Frame], k: int, nested: bool, rows_known: str, **more: Any) -> Account:
    columns = {name: column_from_values(values) for name, values in people.items()}
    table = RecordTable(
        columns["area"], {name: columns[name] for name in ("sex", "age")}, {"income": columns["income"]}
    )
    records = match_records(table, AREAS)
    persons = persons_by_key(columns["id"])
    linked = []
    for name, rows in tables.items():
        known, kept = ({of: column_from_values(rows[of]) for of in names} for names in FIELDS[name])
        keys = column_from_values(rows["id" if name == "stays" else "patient"])
        linked.append(LinkedTable(name, persons_of_rows(name, keys, persons), known, kept, (), True))
    source = link(records, linked, AREAS, k=2, rows_known=rows_known)
    levels = LEVELS if nested else Levels(LEVELS.crosswalks[:1])
    return anonymise(AREAS, source, levels, Ask(k=k, nested=nested, **more))


def released(account: Account) -> dict[str, Any]:
    """The persons with all rows of theirs, as a multiset that new keys do not change."""
    release = account.release
    persons = {}
    for i in release.rows:
        own = {name: of.categories[of.codes[i]] for name, of in release.fields.items()}
        number = account.levels.crosswalks[release.level[i]].numbers[release.region[i]]
        persons[own.pop("vbas_person")] = [release.level[i] + 1, number, own]
    assert account.rows is not None
    for table in account.rows.linked:
        assert table.person is not None
        for i, whose in enumerate(table.person):
            persons[whose].append([table.name, {name: of.categories[of.codes[i]] for name, of in table.fields.items()}])
    return told(persons.values())


def told(persons: Any) -> Counter[str]:
    def text(value: Any) -> str:
        return "" if value is None else str(value)

    return Counter(
        repr(
            [
                *map(int, (level, region)),
                {name: text(value) for name, value in own.items()},
                sorted(repr([name, {field: text(value) for field, value in row.items()}]) for name, row in rows),
            ]
        )
        for level, region, own, *rows in persons
    )


def rows_in(file: str) -> list[dict[str, Any]]:
    if file.endswith(".csv"):
        read = needed("duckdb").read_csv(file, all_varchar=True, header=True, allow_quoted_nulls=False)
        return [dict(zip(read.columns, row)) for row in read.fetchall()]
    return list(needed("pyarrow.parquet").read_table(file).to_pylist())


def file_beside(persons: str, table: str) -> str:
    """The file of a linked table beside that of the persons."""
    stem, _, kind = persons.rpartition(".")
    return f"{stem}_{table}.{kind}"


def as_told(persons: list[dict[str, Any]], tables: dict[str, list[dict[str, Any]]], nested: bool) -> Counter[str]:
    everybody: dict[int, list[Any]] = {}
    for row in persons:
        own = dict(row)
        whose, level = int(own.pop("vbas_person")), own.pop("vbas_level") if nested else 1
        everybody[whose] = [level, own.pop("vbas_region"), own]
    assert sorted(everybody) == list(range(1, len(persons) + 1))
    for name, rows in tables.items():
        for row in rows:
            own = {field: value for field, value in row.items() if not field.startswith("vbas_")}
            everybody[int(row["vbas_person"])].append([name, own])
    return told(everybody.values())


def written(folder: Path, people: Frame, tables: dict[str, Frame], kind: str) -> dict[str, str]:
    pa, pq, csv = needed("pyarrow"), needed("pyarrow.parquet"), needed("pyarrow.csv")
    files = {}
    for name, frame in {"persons": people, **tables}.items():
        files[name] = str(folder / f"{name}.{kind}")
        write = pq.write_table if kind == "parquet" else csv.write_csv
        write(pa.table(frame), files[name])
    return files


def fields_of(files: dict[str, str]) -> tuple[LinkedFields, ...]:
    return tuple(
        LinkedFields(name, files[name], "id" if name == "stays" else "patient", *FIELDS[name]) for name in FIELDS
    )


SEEDS = {ALL_ROWS: [(1, 200, 6)], ONE_ROW: [(1, 3000, 4)]}  # the second with some hundred classes
PERSONS = RecordFields("area", ("sex", "age"), ("income",), key="id")


def in_place(
    address: str,
    table: str,
    files: dict[str, str],
    destination: str,
    k: int,
    nested: bool,
    rows_known: str,
    areas: Areas = AREAS,
    unmatched: str = STOP,
) -> tuple[Account, str]:
    with open_engine(address, table) as engine:
        tables = fields_of(files)
        check_tables(engine, tables, ["sex", "age", "income"], "id")
        matched = match_in_place(count_in_place(engine, PERSONS), areas, unmatched)
        source = LinkedEngineSource(
            matched, destination, unmatched, tables, least=2, rows_known=rows_known, areas=areas
        )
        levels = LEVELS if nested else Levels(LEVELS.crosswalks[:1])
        account = anonymise(areas, source, levels, Ask(k=k, nested=nested))
        assert account.rows is not None and account.rows.staged is not None
        return account, account.rows.staged.publish()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nested", "kind", "rows_known"),
    [pytest.param(True, "parquet", ALL_ROWS, marks=pytest.mark.slow), (False, "csv", ONE_ROW)],
)
def test_an_engine_releases_what_arrays_do(
    tmp_path: Path, nested: bool, kind: str, rows_known: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed("duckdb")
    drawn = []

    def noted(there: np.ndarray) -> np.ndarray:
        drawn.append(len(there))
        return new_keys(there)

    monkeypatch.setattr(in_engine, "new_keys", noted)
    for seed, n, k in SEEDS[rows_known]:
        folder = tmp_path / str(seed)
        folder.mkdir()
        people, tables = town(seed, n)
        files = written(folder, people, tables, kind)
        if kind == "csv":  # which holds text, and nothing else
            people, tables = as_text(people), {name: as_text(frame) for name, frame in tables.items()}
        arrays = of_arrays(people, tables, k, nested, rows_known)
        destination = str(folder / f"out.{kind}")
        account, place = in_place(files["persons"], "", files, destination, k, nested, rows_known)
        rows = {name: rows_in(file_beside(destination, name)) for name in tables}
        assert drawn == [len(rows_in(place))]  # keys, from the system's own source
        assert as_told(rows_in(place), rows, nested) == released(arrays)
        assert account.rows is not None and arrays.rows is not None
        for one, other in zip(account.rows.linked, arrays.rows.linked, strict=True):
            counts = ("name", "n_given", "n_persons", "n_left_out", "flagged", "k", "known", "rows_known")
            assert [getattr(one, name) for name in counts] == [getattr(other, name) for name in counts]
            assert len(one) == len(other)
            assert [field.warning for field in account.kept] == [field.warning for field in arrays.kept]


def as_text(frame: Frame) -> Frame:
    return {name: [None if value is None else str(value) for value in values] for name, values in frame.items()}


@pytest.mark.slow
@pytest.mark.parametrize("destination", ["released", "public.csv", "public.parquet"])
def test_postgresql_releases_what_arrays_do_in_one_transaction(postgres: Any, destination: str) -> None:
    """Into tables beside that of the persons, whatever it is called: no name of a table is that of a file."""
    pa, dbapi = needed("pyarrow"), needed("adbc_driver_postgresql.dbapi")
    people, tables = town(2, 200)
    with postgres.another() as database:
        with dbapi.connect(database.address, autocommit=True) as connection, connection.cursor() as cursor:
            for name, frame in {"persons": people, **tables}.items():
                cursor.adbc_ingest(name, pa.table(frame), mode="create")
        files = {name: name for name in tables}
        account, place = in_place(database.address, "persons", files, destination, 6, True, ALL_ROWS)

        def rows(name: str) -> list[dict[str, Any]]:
            with dbapi.connect(database.address) as connection, connection.cursor() as cursor:
                cursor.execute(f"SELECT * FROM {name}")
                return list(cursor.fetch_arrow_table().to_pylist())

        assert place == f"public.{destination.rpartition('.')[2]}"
        written = {name: rows(f"{place}_{name}") for name in tables}
        assert as_told(rows(place), written, True) == released(of_arrays(people, tables, 6, True, ALL_ROWS))
        assert account.rows is not None and len(account.rows.linked[1]) == len(written["drugs"])


def wrong(tables: dict[str, Frame], people: Frame, what: str) -> None:
    if what == "twice":
        people["id"][0] = people["id"][1]
    elif what in ("missing", "blank"):
        people["id"][0] = None if what == "missing" else ""
    elif what == "nobody":
        tables["stays"]["id"][0] = "stranger"
    elif what == "home":
        home = dict(zip(people["id"], people["area"]))
        tables["stays"]["days"] = [home[who] for who in tables["stays"]["id"]]
    elif what == "person":  # a number of the person, in each row
        people["age"] = [0] * len(people["age"])
        tables["drugs"] = {"patient": people["id"] * 3, "atc": people["id"] * 3}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("twice", "KEY stands in several rows of RECORDS"),
        pytest.param("missing", "KEY is missing in 1 row", marks=pytest.mark.slow),
        ("blank", "KEY is missing in 1 row"),
        ("nobody", "Table “stays”: 1 row has a key that no person has"),
        pytest.param("home", r"stays\.days", marks=pytest.mark.slow),
        pytest.param("person", r"drugs\.atc", marks=pytest.mark.slow),
        ("unseen", "fewer than 2 people who look alike"),
    ],
)
def test_what_cannot_be_released_is_one_sentence_and_nothing_is_written(
    tmp_path: Path, what: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed("duckdb")
    people, tables = town(3, 200 if what == "person" else 80)
    wrong(tables, people, what)
    files = written(tmp_path, people, tables, "parquet")
    if what == "unseen":  # by the first count
        monkeypatch.setattr(
            in_engine, "withhold", lambda e, signatures, *_: RowsOfPersons(np.ones((len(signatures), len(e)), bool), e)
        )
    before = sorted(tmp_path.iterdir())
    with pytest.raises((InputError, PrivacyError), match=says):
        in_place(files["persons"], "", files, str(tmp_path / "out.parquet"), 4, False, ALL_ROWS)
    assert sorted(tmp_path.iterdir()) == before


def test_a_linked_table_that_takes_the_place_meanwhile_leaves_nothing(tmp_path: Path) -> None:
    needed("duckdb")
    people, tables = town(4, 60)
    files = written(tmp_path, people, tables, "parquet")
    with open_engine(files["persons"]) as engine:
        rows = engine.source({"sex": "sex"})
        for name in ("out", "out_stays", "out_drugs"):
            engine.stage(rows, str(tmp_path / f"{name}.parquet"), {})
        (tmp_path / "out_stays.parquet").write_bytes(b"mine")
        with pytest.raises(EngineError, match="was made meanwhile"):
            engine.publish()
    assert sorted(path.name for path in tmp_path.glob("out*")) == ["out_stays.parquet"]
    assert (tmp_path / "out_stays.parquet").read_bytes() == b"mine"


KILLED = """
import os, sys
from pathlib import Path
from vbas.core.engines import open_engine
from vbas.core.publish.files import FileSystem

folder, real = Path(sys.argv[1]), FileSystem.replace

def killed(files, old, new):
    if sys.argv[2] == "after":
        real(files, old, new)
    os._exit(9)

FileSystem.replace = killed
with open_engine(str(folder / "persons.parquet")) as engine:
    rows = engine.source({"sex": "sex"})
    for name in ("out", "out_stays", "out_drugs"):
        engine.stage(rows, str(folder / f"{name}.parquet"), {})
    engine.publish()
"""


@pytest.mark.slow
@pytest.mark.parametrize("moved", [False, True])
def test_a_run_killed_once_all_was_delivered_loses_nothing_and_one_killed_before_leaves_nothing(
    tmp_path: Path, moved: bool
) -> None:
    needed("duckdb")
    people, tables = town(4, 60)
    file = written(tmp_path, people, tables, "parquet")["persons"]
    before = sorted(tmp_path.iterdir())
    for when in ("before", "after"):
        done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), when], timeout=120, check=False)
        assert done.returncode == 9
        if moved and when == "after":
            (tmp_path / "out.parquet").rename(tmp_path / "mine.parquet")
        left = sorted(path for path in tmp_path.iterdir() if not path.name.startswith(".vbas"))
        with open_engine(file) as engine:
            if when == "before":
                engine.check_free(str(tmp_path / "out.parquet"))
            else:
                with pytest.raises(InputError, match="is there already"):
                    engine.check_free(str(tmp_path / "out_stays.parquet"))
        assert sorted(tmp_path.iterdir()) == (before if when == "before" else left)
    assert len(left) == len(before) + 3


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("area", ["{}", "0{}", "00{}"])
@pytest.mark.parametrize("read_as", [int, str])
def test_a_linked_field_that_repeats_the_area_is_refused(tmp_path: Path, kind: str, area: str, read_as: type) -> None:
    """As a number it has lost the leading zeros."""
    needed("duckdb")
    people, tables = town(4, 60)
    areas = make_areas([area.format(i) for i in range(1, 5)], AREAS.points)
    number = {name: i for i, name in enumerate("abcd", 1)}
    people["area"] = [area.format(number[home]) for home in people["area"]]
    home = dict(zip(people["id"], people["area"]))
    tables["stays"]["ward"] = [read_as(home[person]) for person in tables["stays"]["id"]]
    files = written(tmp_path, people, tables, kind)
    with pytest.raises(InputError, match=r"“stays\.ward” holds the identifier of the record's area"):
        in_place(files["persons"], "", files, str(tmp_path / f"out.{kind}"), 3, False, ALL_ROWS, areas)
