"""Files as one table of DuckDB: no value is read as another field's, or as another value, whatever the files hold."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections import Counter
from datetime import date, datetime, timezone
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas.core import plan as plan_module
from vbas.core.engines import open_engine
from vbas.core.engines.engine import EngineError
from vbas.core.engines.profiling import count_in_place, counted_cells, match_in_place
from vbas.core.errors import InputError
from vbas.core.library.frames import frame_of
from vbas.core.plan import suppress
from vbas.core.records.fields import RecordFields

from ..engines_there import needed
from ..patience import PATIENCE
from ..systems import of_posix
from . import engine_cases as cases
from .engine_cases import release_in_place

pa = needed("pyarrow")
pq = needed("pyarrow.parquet")
for package in ("ibis", "duckdb"):
    needed(package)
DUCKDB_1 = int(needed("duckdb").__version__.partition(".")[0]) < 2

ROWS: dict[str, list] = {
    "area": cases.AREAS * 10,
    "sex": ["F", "M", "F", None, "M", "F"] * 10,
    "age": ["0-17", "0-17", "65+"] * 20,
    "diagnosis": ["flu", None] * 30,
}
HALVES = [{name: values[part] for name, values in ROWS.items()} for part in (slice(0, 30), slice(30, 60))]
FIELDS = RecordFields("area", ("sex", "age"), ("diagnosis",))


def counted(place, fields=FIELDS, **options):
    """How many records each area and class have, as the engine counts them."""
    with open_engine(str(place), **options) as engine:
        in_place = count_in_place(engine, fields, released=False)
        shown = [
            tuple(categories[code] for code, categories in zip(one, in_place.categories))
            for one in in_place.classes.tolist()
        ]
        cells = zip(in_place.area.tolist(), in_place.class_of.tolist(), in_place.records.tolist())
        return Counter({(in_place.areas[area], *shown[one]): records for area, one, records in cells})


def written(rows, place):
    """By the ending of the place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    parquet(rows, place) if place.suffix == ".parquet" else place.write_text(csv_text(rows, list(rows)))


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [4, 70_000])
def test_rows_that_are_counted_here_make_the_cells_that_the_engine_groups(n_values, tmp_path):
    draws = np.random.default_rng(n_values)
    rows: dict[str, list] = {"area": draws.choice(cases.AREAS, 500).tolist()}
    for name in ("first", "second"):  # beyond 32 bits where there are many values
        rows[name] = [*(None if value == 1 else f"v{value}" for value in draws.integers(0, n_values, 500).tolist())]
    if n_values > 500:
        rows = {name: values + [f"{name} {i}" for i in range(n_values)] for name, values in rows.items()}
        rows["area"][500:] = draws.choice(cases.AREAS, n_values).tolist()
    parquet(rows, tmp_path / "people.parquet")
    fields = RecordFields("area", ("first", "second"))
    both = []
    for grouped_there in (False, True):
        with open_engine(str(tmp_path / "people.parquet")) as engine:
            engine.rows_here = 0 if grouped_there else engine.rows_here
            both.append(count_in_place(engine, fields, released=False))
    here, there = both
    assert np.array_equal(here.classes, there.classes)
    for one, other in zip(here.categories, there.categories):
        assert one.tolist() == other.tolist()
    positions = np.arange(len(here.areas))
    counts, grouped = (of.profile(positions, len(positions)).counts for of in (here, there))
    assert (counts != grouped).nnz == 0 and counts.sum() == len(rows["area"])
    assert [of.records.dtype for of in (here, there)] == [np.int32, np.int32]


@given(st.data())
def test_numbers_of_cells_are_counted_as_by_hand(data):
    reach = data.draw(st.sampled_from([1, 3, 31_122, 2**33]))
    kind = np.uint32 if reach * 5 <= 2**32 else np.int64
    key = st.one_of(st.integers(0, min(reach, 3) - 1), st.integers(0, reach - 1))
    rows = data.draw(st.lists(st.tuples(st.integers(0, 4), key), max_size=40))
    some = data.draw(st.sampled_from([1, 7, 1 << 18]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plan_module, "CELLS_AT_ONCE", some)
        cells = counted_cells(np.array([area * reach + number for area, number in rows], kind), reach)
    assert list(zip(*(column.tolist() for column in cells))) == [
        (*cell, records) for cell, records in sorted(Counter(rows).items())
    ]


def of_rows(rows, *names):
    return Counter(zip(*(rows[name] for name in names)))


def parquet(rows, place):
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(rows), place)


def csv_text(rows, names, separator=","):
    lines = zip(*(["" if value is None else value for value in rows[name]] for name in names))
    return "\n".join(separator.join(line) for line in (names, *lines)) + "\n"


EVERYTHING = of_rows(ROWS, "area", "sex", "age")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([0, 1] * 15, [0.5, 1.5] * 15),
        ([1, 2] * 15, ["01", "2"] * 15),
        ([date(2020, 1, 1)] * 30, [datetime(2020, 1, 1, 12)] * 30),
        ([Decimal("1.5")] * 30, [Decimal("1.25")] * 30),
    ],
    ids=["number", "text", "time", "decimals"],
)
@pytest.mark.parametrize("turn", [1, -1])
def test_files_that_hold_a_field_in_several_types_are_refused(first, second, turn, tmp_path):
    """DuckDB takes the type of the first file, and rounds what the others hold."""
    for number, (rows, values) in enumerate(list(zip(HALVES, (first, second)))[::turn]):
        parquet({**rows, "value": values}, tmp_path / f"{number}.parquet")
    with pytest.raises(InputError, match=r"the field “value” is .* in the file “.*0.parquet” and .* in “.*1.parquet”"):
        counted(tmp_path, RecordFields("area", ("sex", "value")))
    assert counted(tmp_path) == EVERYTHING


@pytest.mark.parametrize("first", [0, 1])
def test_a_file_without_a_field_is_named(first, tmp_path):
    parquet(HALVES[first], tmp_path / f"{first}.parquet")
    parquet({name: HALVES[1][name] for name in ("area", "age", "diagnosis")}, tmp_path / f"{1 - first}.parquet")
    with pytest.raises(InputError, match=rf"the file “.*{1 - first}.parquet” has no field “sex”"):
        counted(tmp_path)
    counted(tmp_path, RecordFields("area", ("age",)))


def test_whole_numbers_of_any_size_and_files_without_any_value_are_read_together(tmp_path):
    for number, (kind, value) in enumerate([(pa.int64(), 3_000_000_000), (pa.int32(), 7), (pa.null(), None)]):
        parquet({**HALVES[0], "value": pa.array([value] * 30, kind)}, tmp_path / f"{2 - number}.parquet")
    found = counted(tmp_path, RecordFields("area", ("value",)))
    assert {cell[1] for cell in found} == {3_000_000_000, 7, None}
    assert sum(found.values()) == 90


def test_csv_files_are_read_by_the_names_of_their_fields(tmp_path):
    (tmp_path / "1.csv").write_text(csv_text(HALVES[0], list(ROWS)))
    (tmp_path / "2.csv").write_text(csv_text(HALVES[1], list(ROWS)[::-1], ";"))
    assert counted(tmp_path / "*.csv") == EVERYTHING
    (tmp_path / "3.csv").write_text(csv_text(HALVES[1], ["area", "sex"]))
    with pytest.raises(InputError, match=r"the file “.*3.csv” has no field “age”"):
        counted(tmp_path / "*.csv")
    with pytest.raises(InputError, match="no Parquet file in that folder"):
        counted(tmp_path)


@pytest.mark.parametrize("pattern", ["", "/*/*.parquet", "/*/*.csv"])
@of_posix
def test_names_of_folders_are_fields_of_text(pattern, tmp_path):
    if DUCKDB_1 and not pattern.endswith("csv"):
        pytest.skip("DuckDB 1 takes a column without any value for whole numbers, which text does not go with")
    folder, file = tmp_path / "year=2020", f"part{pattern[-4:] if pattern.endswith('csv') else '.parquet'}"
    rows = list(zip(*ROWS.values()))
    for area in cases.AREAS:
        here = dict(zip(ROWS, zip(*(row for row in rows if row[0] == area))))
        written({name: here[name] for name in ("sex", "age", "diagnosis")}, folder / f"area={area}" / file)
    assert counted(f"{folder}{pattern}") == EVERYTHING
    written(HALVES[0], folder / "area=x" / file)
    with pytest.raises(InputError, match=rf"the field “area” is in the file “.*area=x/{file}” and in the name"):
        counted(f"{folder}{pattern}")


@pytest.mark.slow
def test_numbers_and_missing_values_in_names_of_folders(tmp_path):
    there = set()
    for value, shown in (("7", "7"), ("12", "12"), ("007", "007"), ("__HIVE_DEFAULT_PARTITION__", None)):
        parquet(HALVES[0], tmp_path / f"value={value}" / "part.parquet")
        there.add(shown)
        assert {cell[1] for cell in counted(tmp_path, RecordFields("area", ("value",)))} == there
    parquet(HALVES[0], tmp_path / "other=1" / "part.parquet")
    with pytest.raises(InputError, match="name other fields than those of"):
        counted(tmp_path, RecordFields("area", ("sex",)))


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("others", [[1.5, -0.0], [1.5], [float("inf"), -1.0], [None, 2.0], []])
def test_what_is_no_number_is_missing_whatever_a_parquet_file_says_of_its_numbers(kind, others, tmp_path):
    """The least and the most that it keeps of a field leave NaN out, with missing values beside it and without."""
    numbers = [*others, float("nan")]
    rows = {"area": ["a"] * len(numbers), "real": pa.array(numbers, {"float": pa.float32()}.get(kind, pa.float64()))}
    pq.write_table(pa.table(rows), tmp_path / "people.parquet")
    found = counted(tmp_path / "people.parquet", RecordFields("area", ("real",)))
    wanted = Counter(("a", None if number is None or np.isnan(number) else number + 0.0) for number in numbers)
    assert found == wanted


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_name_with_brackets_is_that_file_and_no_other(ending, tmp_path):
    for name, rows in (("people[1]", ROWS), ("people1", HALVES[0])):
        if ending == "csv":
            (tmp_path / f"{name}.csv").write_text(csv_text(rows, list(rows)))
        else:
            parquet(rows, tmp_path / f"{name}.parquet")
    assert counted(tmp_path / f"people[1].{ending}") == EVERYTHING


@pytest.mark.parametrize("memory", [256, 2000])
def test_a_packed_csv_file_needs_little_memory(memory, tmp_path):
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress(csv_text(ROWS, list(ROWS)).encode()))
    assert counted(tmp_path / "people.csv.gz", memory=memory) == EVERYTHING


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    [[True], [date(2020, 1, 1)], [datetime(2020, 1, 1)], [Decimal("1.50")], [1], ["a"], {"of": Decimal("1.50")}],
    ids=["booleans", "dates", "times", "decimals", "numbers", "texts", "struct"],
)
def test_lists_are_released_as_text(value, tmp_path):
    parquet({**ROWS, "value": [value] * 60}, tmp_path / "people.parquet")
    with open_engine(str(tmp_path / "people.parquet")) as engine:
        matched = match_in_place(count_in_place(engine, RecordFields("area", ("value",))), cases.areas(), k=cases.K)
        plan = suppress(matched.profile, cases.one_level().crosswalks[0], cases.K)
        done = release_in_place(matched, plan, str(tmp_path / "out.parquet"))
    (shown,) = set(pq.read_table(done.place)["value"].to_pylist())
    assert isinstance(shown, str)
    assert done.rows == 60


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("UUID", [f"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1{digit}" for digit in (1, 2)]),
        ("HUGEINT", ["9007199254740992", "9007199254740993"]),
        ("HUGEINT", ["170141183460469231731687303715884105727", "-1"]),
        ("UHUGEINT", ["340282366920938463463374607431768211455", "0"]),
    ],
    ids=["identifiers", "beyond real numbers", "largest", "largest without sign"],
)
def test_values_of_types_that_files_do_not_have_are_released_digit_by_digit(kind, values, tmp_path):
    """A quasi-identifier and a kept field: DuckDB would write wide whole numbers as the nearest real ones."""
    duckdb, place = needed("duckdb"), tmp_path / "people.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute(f"CREATE TABLE people (area VARCHAR, own {kind}, kept {kind})")
        first, second = values
        for area in cases.AREAS:
            rows = [(area, first, second), (area, first, first), (area, second, second)]
            connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    with open_engine(str(place), "people") as engine:
        in_place = count_in_place(engine, RecordFields("area", ("own",), ("kept",)))
        matched = match_in_place(in_place, cases.areas(), k=cases.K)
        plan = suppress(matched.profile, cases.one_level().crosswalks[0], cases.K)
        done = release_in_place(matched, plan, str(tmp_path / "out.parquet"))
    table = pq.read_table(done.place)
    assert Counter(zip(table["own"].to_pylist(), table["kept"].to_pylist())) == {
        (first, second): 6,
        (first, first): 6,
        (second, second): 6,
    }


MOMENTS_COUNTED = """
import sys
from vbas.core.engines import open_engine
from vbas.core.engines.profiling import count_in_place
from vbas.core.records.fields import RecordFields
with open_engine(sys.argv[1]) as engine:
    print(*count_in_place(engine, RecordFields("area", ("moment",))).categories[0])
"""


@pytest.mark.slow
def test_moments_are_written_alike_whatever_zone_a_machine_is_in(tmp_path):
    moments = [datetime(2024, 3, 10, 23, 30, tzinfo=timezone.utc)] * 60
    parquet({"area": ROWS["area"], "moment": moments}, tmp_path / "people.parquet")
    command = [sys.executable, "-c", MOMENTS_COUNTED, str(tmp_path / "people.parquet")]
    environment = {**os.environ, "TZ": "America/Winnipeg"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.split() == ["2024-03-10", "23:30:00+00:00"], done.stderr


@pytest.mark.parametrize(
    ("nanoseconds", "shown"), [(1000, "2020-01-01 00:00:00.000001"), (1, "2020-01-01 00:00:00.000000001")]
)
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_moments_of_pandas_are_those_that_the_library_reads(nanoseconds, shown, zone, tmp_path):
    """pandas declares nanoseconds, whether there are any or not."""
    if DUCKDB_1 and zone and nanoseconds == 1:
        pytest.skip("DuckDB 1 reads moments of a time zone to the microsecond")
    moments = pa.array([1_577_836_800_000_000_000 + nanoseconds, None] * 30, pa.timestamp("ns", zone))
    table = pa.table({"area": ROWS["area"], "at": moments})
    pq.write_table(table, tmp_path / "people.parquet")
    with open_engine(str(tmp_path / "people.parquet")) as engine:
        in_place = count_in_place(engine, RecordFields("area", ("at",)))
    column = frame_of(table, "RECORDS").column("at")
    assert nanoseconds == 1 or type(in_place.categories[0][0]) is type(column.categories[0]) is datetime
    assert str(in_place.categories[0][0]) == str(column.categories[0]) == shown + "+00:00" * (zone == "UTC")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_blanks_at_the_ends_of_a_name_are_kept(ending, tmp_path):
    """DuckDB takes them off the names of a CSV file that it reads, as it does to count the release once more."""
    columns = {" sex": ROWS["sex"], "age ": ROWS["age"], " kept ": ROWS["diagnosis"]}
    parquet({"area": ROWS["area"], **columns}, tmp_path / "people.parquet")
    with open_engine(str(tmp_path / "people.parquet")) as engine:
        in_place = count_in_place(engine, RecordFields("area", (" sex", "age "), (" kept ",)))
        matched = match_in_place(in_place, cases.areas(), k=cases.K)
        plan = suppress(matched.profile, cases.one_level().crosswalks[0], cases.K)
        done = release_in_place(matched, plan, str(tmp_path / f"out.{ending}"))
    place = tmp_path / f"out.{ending}"
    if ending == "csv":
        assert place.read_text(encoding="utf-8").splitlines()[0] == "vbas_region, sex,age , kept "
    else:
        assert pq.read_schema(place).names == ["vbas_region", *columns]
    assert done.rows > 0


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("people.csv", "area,sex,age\n" + "1,é,x\n" * 9, "not in the encoding UTF-8"),
        (
            "people.csv",
            "area,sex,age\n" + "1,F,x\n" * 40_000 + "1,secret\n" + "1,F,x\n" * 9,
            "line 40002 of a CSV file",
        ),
        (
            "people.csv",
            "area,sex,age\n" + "1,F,x\n" * 9 + "1,secret\n",
            "some lines of “.*people.csv” have more or fewer",
        ),
        ("people.csv", "People\narea,sex,age\n" + "1,secret,x\n" * 9, "cannot tell the fields of a CSV file"),
        ("people.parquet", "area,sex,age\n" + "1,F,x\n" * 9, "ends in .parquet is none"),
        ("people.parquet", "PAR1", "ends in .parquet is none"),
    ],
    ids=["encoding", "late line", "short line", "title", "no parquet", "small"],
)
def test_what_is_wrong_with_a_file_is_said_without_its_values(name, content, sentence, tmp_path):
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    if DUCKDB_1 and content.startswith("People\n"):
        pytest.skip("DuckDB 1 reads a CSV file without the title above its fields")
    with pytest.raises((InputError, EngineError), match=sentence) as error:
        counted(tmp_path / name, RecordFields("area", ("sex", "age")))
    assert "secret" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_folder_of_a_file_tells_no_field(ending, tmp_path):
    """Neither of the records that one file holds, nor of the release that is counted there a second time."""
    (folder := tmp_path / "area=007" / "sex=5").mkdir(parents=True)
    written(ROWS, folder / f"people.{ending}")
    assert counted(folder / f"people.{ending}") == EVERYTHING
    with open_engine(str(folder / f"people.{ending}")) as engine:
        assert set(engine.fields) == set(ROWS)
        matched = match_in_place(count_in_place(engine, FIELDS), cases.areas(), k=2)
        plan = suppress(matched.profile, cases.one_level().crosswalks[0], 2)
        done = release_in_place(matched, plan, str(folder / f"out.{ending}"))
    assert done.rows == 60
    if ending == "parquet":
        assert pq.ParquetFile(done.place).schema.names == ["vbas_region", "sex", "age", "diagnosis"]


def test_what_was_staged_goes_though_the_engine_still_works(tmp_path, monkeypatch):
    """Ctrl-C that comes twice ends the wait for a query, and DuckDB closes no connection that is at work."""
    duckdb = needed("duckdb")
    from vbas.core.engines.releasing import stage_in_place

    place = str(cases.write_parquet(cases.people(200), tmp_path / "people.parquet"))
    fields = RecordFields("area", ("sex",), ())

    class AtWork:
        def close(self):
            raise duckdb.ConnectionException("connection is busy")

    with pytest.raises(KeyboardInterrupt), open_engine(place) as engine:
        matched = match_in_place(count_in_place(engine, fields), cases.areas(), k=cases.K)
        plan = suppress(matched.profile, cases.one_level().crosswalks[0], cases.K)
        stage_in_place(matched, plan, str(tmp_path / "released.parquet"), False)
        assert any(path.name.startswith(".vbas-") for path in tmp_path.iterdir())
        monkeypatch.setattr(engine, "_connection", AtWork())
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]
