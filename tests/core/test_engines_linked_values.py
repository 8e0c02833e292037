"""Households and sensitive values of persons and linked tables in an engine: what arrays release, recounted."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.engines import linked as in_engine
from vbas.core.engines import open_engine
from vbas.core.engines.linked import LinkedEngineSource, LinkedFields, check_tables
from vbas.core.engines.linked_asked import People
from vbas.core.engines.profiling import count_in_place, match_in_place
from vbas.core.errors import InputError, PrivacyError
from vbas.core.levels import Levels
from vbas.core.linked import source as in_arrays
from vbas.core.linked.source import link
from vbas.core.linked.tables import ALL_ROWS, ONE_ROW, LinkedTable, persons_by_key, persons_of_rows
from vbas.core.linked.withholding import RowsOfPersons
from vbas.core.records.columns import column_from_values
from vbas.core.records.fields import RecordFields
from vbas.core.records.matching import match_records
from vbas.core.records.table import HOUSEHOLDS, RecordTable

from ..engines_there import needed
from .test_engines_linked import AREAS, LEVELS, Frame, as_told, file_beside, released, rows_in, written

Town = tuple[Frame, dict[str, Frame]]
FIELDS = {"stays": (("month",), ("days", "reason"), ("reason",)), "drugs": ((), ("atc",), ("atc",))}
ASKED: dict[str, dict[str, Any]] = {
    "values": {"l_diversity": 2, "max_share": 70.0},
    "households": {"households": True},
    "all": {"households": True, "sensitive": ("income",), "l_diversity": 2, "max_share": 80.0},
}


def town(seed: int, n: int) -> Town:
    """Persons of households, with stays and drugs; some values are missing, some persons have several of one."""
    rng = np.random.default_rng(seed)
    persons = {
        "id": [f"p{i}" for i in range(n)],
        "area": rng.choice(list("abcd"), n).tolist(),
        "sex": rng.choice(np.array(["F", "M"], object), n).tolist(),
        "age": [0] * n,
        "income": rng.integers(0, 3, n).tolist(),
        "home": [f"h{i}" for i in rng.integers(0, max(n // 12, 5), n)],
    }
    stays, drugs = rng.integers(0, n, n), rng.integers(0, n, 2 * n)
    reasons = np.array(["E10", "G35", None], object)
    tables = {
        "stays": {
            "id": [f"p{i}" for i in stays],
            "month": rng.choice(np.array([1, 2], object), n).tolist(),
            "days": rng.integers(1, 4, n).tolist(),
            "reason": rng.choice(reasons, n, p=[0.7, 0.2, 0.1]).tolist(),
        },
        "drugs": {"patient": [f"p{i}" for i in drugs], "atc": rng.choice(list("NC"), 2 * n, p=[0.8, 0.2]).tolist()},
    }
    return persons, tables


def of_arrays(
    town: Town,
    k: int,
    nested: bool,
    rows_known: str = ALL_ROWS,
    households: bool = False,
    sensitive: Any = (),
    **more: Any,
) -> Account:
    people, tables = town
    columns = {name: column_from_values(values) for name, values in people.items()}
    table = RecordTable(
        columns["area"],
        {name: columns[name] for name in ("sex", "age")},
        {"income": columns["income"]},
        members={HOUSEHOLDS: columns["home"]} if households else {},
        sensitive=sensitive,
    )
    records = match_records(table, AREAS)
    persons = persons_by_key(columns["id"])
    linked = []
    for name, rows in tables.items():
        *names, values = FIELDS[name]
        known, kept = ({of: column_from_values(rows[of]) for of in some} for some in names)
        keys = column_from_values(rows["id" if name == "stays" else "patient"])
        linked.append(LinkedTable(name, persons_of_rows(name, keys, persons), known, kept, values, True))
    source = link(records, linked, AREAS, k=2, rows_known=rows_known)
    levels = LEVELS if nested else Levels(LEVELS.crosswalks[:1])
    return anonymise(AREAS, source, levels, Ask(k=k, nested=nested, **more))


def in_place(
    address: str,
    table: str,
    files: dict[str, str],
    destination: str,
    k: int,
    nested: bool,
    rows_known: str = ALL_ROWS,
    households: bool = False,
    sensitive: Any = (),
    **more: Any,
) -> tuple[Account, str]:
    fields = RecordFields(
        "area",
        ("sex", "age"),
        ("income",),
        members={HOUSEHOLDS: "home"} if households else {},
        sensitive=sensitive,
        key="id",
    )
    with open_engine(address, table) as engine:
        tables = tuple(
            LinkedFields(name, files[name], "id" if name == "stays" else "patient", *FIELDS[name]) for name in FIELDS
        )
        check_tables(engine, tables, ["sex", "age", "income"], "id")
        matched = match_in_place(count_in_place(engine, fields), AREAS)
        source = LinkedEngineSource(matched, destination, tables=tables, least=2, rows_known=rows_known, areas=AREAS)
        levels = LEVELS if nested else Levels(LEVELS.crosswalks[:1])
        account = anonymise(AREAS, source, levels, Ask(k=k, nested=nested, **more))
        assert account.rows is not None and account.rows.staged is not None
        return account, account.rows.staged.publish()


def recounted(
    persons: list[dict[str, Any]], tables: dict[str, list[dict[str, Any]]], l_diversity: int = 1, max_share: float = 100
) -> int:
    """How many people look alike in all released rows, at least; of whom no sensitive value is too common."""
    rows: dict[str, dict[int, list[dict[str, Any]]]] = {name: defaultdict(list) for name in tables}
    for name, every in tables.items():
        for row in every:
            rows[name][int(row["vbas_person"])].append(row)
    looks = defaultdict(list)
    for person in persons:
        whose = int(person["vbas_person"])
        shows = {name: value for name, value in person.items() if name not in ("vbas_person", "income")}
        known = [
            [name, sorted(repr([row[of] for of in FIELDS[name][0]]) for row in rows[name][whose])] for name in tables
        ]
        looks[repr([shows, known])].append(whose)
    for alike in looks.values():
        for name in tables:
            for field in FIELDS[name][2]:
                values = [{row[field] for row in rows[name][whose]} for whose in alike if rows[name][whose]]
                if values:
                    most = [number for _, number in Counter(v for one in values for v in one).most_common()]
                    assert most[0] <= len(values) * max_share / 100 + 1e-9
                    assert sum(most[: l_diversity - 1]) < len(values)
    return min(map(len, looks.values()), default=2)


@pytest.mark.slow
@pytest.mark.parametrize("asks", ASKED)
@pytest.mark.parametrize(("nested", "kind"), [pytest.param(True, "parquet", marks=pytest.mark.slow), (False, "csv")])
def test_an_engine_asks_of_values_and_households_what_arrays_do(
    tmp_path: Path, asks: str, nested: bool, kind: str
) -> None:
    needed("duckdb")
    asked = ASKED[asks]
    people, tables = town(1, 100)
    files = written(tmp_path, people, tables, kind)
    if kind == "csv":  # which holds text, and nothing else
        frames = {"": people, **tables}
        texts = {
            name: {of: [None if value is None else str(value) for value in values] for of, values in frame.items()}
            for name, frame in frames.items()
        }
        people, tables = texts.pop(""), texts
    arrays = of_arrays((people, tables), 4, nested, **asked)
    account, place = in_place(files["persons"], "", files, str(tmp_path / f"out.{kind}"), 4, nested, **asked)
    rows = {name: rows_in(file_beside(place, name)) for name in tables}
    assert as_told(rows_in(place), rows, nested) == released(arrays)
    more = {name: asked[name] for name in ("l_diversity", "max_share") if name in asked}
    assert recounted(rows_in(place), rows, **more) >= 2
    assert account.rows is not None and arrays.rows is not None
    for one, other in zip(account.rows.linked, arrays.rows.linked, strict=True):
        counts = ("name", "n_left_out", "flagged", "k", "known", "sensitive")
        assert [getattr(one, name) for name in counts] == [getattr(other, name) for name in counts]
        assert len(one) == len(other)
    plain = of_arrays((people, tables), 4, nested)
    assert plain.rows is not None  # what is asked leaves rows out
    assert sum(map(len, plain.rows.linked)) > sum(map(len, arrays.rows.linked)) > 0


@pytest.mark.slow
def test_postgresql_asks_of_values_and_households_what_arrays_do(postgres: Any) -> None:
    pa, dbapi = needed("pyarrow"), needed("adbc_driver_postgresql.dbapi")
    people, tables = town(3, 120)
    with postgres.another() as database:
        with dbapi.connect(database.address, autocommit=True) as connection, connection.cursor() as cursor:
            for name, frame in {"persons": people, **tables}.items():
                cursor.adbc_ingest(name, pa.table(frame), mode="create")
        files = {name: name for name in tables}
        in_place(database.address, "persons", files, "released", 4, True, **ASKED["all"])

        def rows(name: str) -> list[dict[str, Any]]:
            with dbapi.connect(database.address) as connection, connection.cursor() as cursor:
                cursor.execute(f"SELECT * FROM {name}")
                return list(cursor.fetch_arrow_table().to_pylist())

        there = {name: rows(f"released_{name}") for name in tables}
        assert as_told(rows("released"), there, True) == released(of_arrays((people, tables), 4, True, **ASKED["all"]))
        assert recounted(rows("released"), there, 2, 80.0) >= 2


@pytest.mark.slow
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**20), st.integers(12, 50), st.integers(2, 4), st.booleans(), st.sampled_from(sorted(ASKED)))
def test_of_any_people_who_look_alike_an_engine_asks_what_arrays_do(
    seed: int, n: int, k: int, nested: bool, asks: str
) -> None:
    """Of small towns: what is asked is asked alike of classes, and of those of them who have rows of a table or none;
    and what was written holds it."""
    needed("duckdb")
    asked = ASKED[asks]
    people, tables = town(seed, n)
    heard: dict[str, Any] = {}
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:

        def noted(name: str, real: Any) -> Any:
            def noting(*given: Any) -> RowsOfPersons:
                heard[name] = given
                return real(*given)

            return noting

        patched.setattr(in_engine, "withhold", noted("engine", in_engine.withhold))
        patched.setattr(in_arrays, "withhold", noted("arrays", in_arrays.withhold))
        of_arrays((people, tables), k, nested, **asked)
        files = written(Path(folder), people, tables, "parquet")
        _, place = in_place(files["persons"], "", files, f"{folder}/out.parquet", k, nested, **asked)
        rows = {name: rows_in(file_beside(place, name)) for name in tables}
        more = {name: asked[name] for name in ("l_diversity", "max_share") if name in asked}
        assert recounted(rows_in(place), rows, **more) >= 2
    (e, signatures, ours, _), (classes, _, theirs) = heard["engine"], heard["arrays"]
    n_labels = 2 * int(max(classes.max(), 0) + 1)
    persons = {name: set(rows["id" if name == "stays" else "patient"]) for name, rows in tables.items()}
    for i, name in enumerate(tables):
        has = np.array([person in persons[name] for person in people["id"]])
        label = np.where(classes >= 0, 2 * classes + has, -1)
        groups = 2 * e + (signatures[i] > 0)
        assert list(ours.people(groups, n_labels)) == list(theirs.people(label, n_labels))
        for table in range(len(tables)):
            assert list(ours.values(table, groups, n_labels)) == list(theirs.values(table, label, n_labels))


def test_one_row_known_does_not_go_with_what_is_asked_beside_k(tmp_path: Path) -> None:
    needed("duckdb")
    people, tables = town(1, 60)
    files = written(tmp_path, people, tables, "parquet")
    for asked in ASKED.values():
        for release in (
            lambda asked=asked: in_place(
                files["persons"], "", files, str(tmp_path / "out.parquet"), 4, True, ONE_ROW, **asked
            ),
            lambda asked=asked: of_arrays((people, tables), 4, True, ONE_ROW, **asked),
        ):
            with pytest.raises(InputError, match="ROWS_KNOWN “one row” does not go together yet with HOUSEHOLD_ID"):
                release()
    assert not list(tmp_path.glob("out*"))


@pytest.mark.slow
def test_values_that_are_alike_are_seen_in_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("duckdb")
    people, tables = town(1, 60)
    files = written(tmp_path, people, tables, "parquet")
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(People, "values", lambda self, table, label, n_labels: np.ones(n_labels, bool))
    with pytest.raises(PrivacyError, match="would be alike, more than L_DIVERSITY and MAX_SHARE allow, in"):
        in_place(files["persons"], "", files, str(tmp_path / "out.parquet"), 4, True, **ASKED["values"])
    assert sorted(tmp_path.iterdir()) == before
