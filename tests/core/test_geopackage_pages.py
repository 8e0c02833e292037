"""Tables written as pages hold the very rows that SQLite would have put there, and SQLite finds nothing wrong."""

from __future__ import annotations

import sqlite3
import traceback
from contextlib import closing
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.errors import VbasError
from vbas.core.progress import silent
from vbas.core.publish.geopackage import filling, pages
from vbas.core.publish.geopackage.filling import fill_geopackage
from vbas.core.publish.geopackage.making import LONG, REAL, TEXT, make_geopackage
from vbas.core.records.columns import column_from_values

NAMES = {"home": TEXT, "id": LONG, "income": REAL, "note": TEXT}
TEXTS = st.one_of(
    st.none(), st.sampled_from(["", "a", "a ", "é" * 30, "45 to 64", "b" * 90]), st.text("ab1é", max_size=9)
)
WHOLE = st.one_of(
    st.none(),
    st.sampled_from([n for bits in (0, 7, 8, 15, 23, 31, 47, 63) for n in (2**bits - 1, -(2**bits))]),
    st.integers(-(2**63), 2**63 - 1),
)
NUMBERS = st.one_of(
    st.none(), st.sampled_from([0.0, -0.0, 1.0, 5e-324, float("inf"), 2.0**60]), st.floats(allow_nan=False)
)
ROWS = st.lists(st.tuples(TEXTS, WHOLE, NUMBERS, TEXTS), min_size=1, max_size=12)


class Given:
    """Rows in columns with codes, each so many times."""

    def __init__(self, rows, copies=None):
        self.columns = [column_from_values(list(values)) for values in zip(*rows)]
        self.copies = copies

    def __len__(self):
        return len(self.columns[0]) if self.copies is None else int(self.copies.sum())

    def coded(self):
        return [(column.codes, column.categories.tolist()) for column in self.columns], self.copies

    def runs(self):
        return None

    def rows_at(self, positions):
        return [self.rows()[position] for position in positions]

    def rows(self):
        positions = np.repeat(np.arange(len(self.columns[0])), 1 if self.copies is None else self.copies)
        return list(zip(*(column.categories[column.codes[positions]].tolist() for column in self.columns)))

    def chunks(self):
        yield 0, self.rows()


def made(file, page_size=4096, columns=NAMES):
    """An empty table `people` in a GeoPackage with pages of that size."""
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"pragma page_size = {page_size}")
        connection.execute("vacuum")
    make_geopackage(file, {file.stem: columns})
    return file


def held(file):
    """The rows of the table by their numbers, each value with its type, once SQLite has found nothing wrong."""
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
        ((n_pages, page_size),) = connection.execute("select * from pragma_page_count, pragma_page_size")
        assert file.stat().st_size == n_pages * page_size  # nothing is left behind the last page
        rows = connection.execute("select * from people order by fid").fetchall()
        last = connection.execute("select seq from sqlite_sequence where name = 'people'").fetchall()
    return [[(type(value), value) for value in row] for row in rows], last


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    rows=ROWS,
    times=st.sampled_from([1, 3, 40, 700]),
    copied=st.booleans(),
    page_size=st.sampled_from([512, 1024, 4096, 65536]),
    at_once=st.sampled_from([300, 100_000]),
    together=st.sampled_from([0, 1_000]),
)
def test_pages_hold_what_sqlite_would_have_put_there(
    rows, times, copied, page_size, at_once, together, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("pages", numbered=True)
    table = Given(rows, np.arange(1, len(rows) + 1) * times) if copied else Given(rows * times)
    results = []
    for worth in (1, 10**9):
        file = made(folder / "people.gpkg", page_size)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(filling, "WORTH_PAGES", worth)
            patch.setattr(filling, "CELLS_A_VALUE", 0)
            patch.setattr(pages, "ROWS_AT_ONCE", at_once if page_size <= 1024 else 100_000)
            patch.setattr(pages, "FEWEST_TEXTS", together)
            fill_geopackage(file, list(NAMES), table, silent)
        results.append(held(file))
    assert results[0] == results[1] and len(results[0][0]) == len(table)


def test_a_table_can_be_read_and_added_to_by_sqlite_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr(filling, "WORTH_PAGES", 1)
    monkeypatch.setattr(filling, "CELLS_A_VALUE", 0)
    file = made(tmp_path / "people.gpkg", 512)
    fill_geopackage(file, list(NAMES), Given([("a", 1, 0.5, None), ("b", 2, None, "x")] * 3_000), silent)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("select home, id from people where fid in (1, 3001, 6000)").fetchall() == [
            ("a", 1),
            ("a", 1),
            ("b", 2),
        ]
        connection.execute("insert into people (home) values ('c')")
        connection.execute("delete from people where fid between 100 and 4000")
        connection.commit()
    rows, last = held(file)
    assert len(rows) == 2_100 and rows[-1][0] == (int, 6_001) and last == [(6_001,)]


@pytest.mark.parametrize(("n_homes", "by_pages"), [(9, True), (400, False)])
def test_values_that_differ_in_most_rows_are_left_to_sqlite(n_homes, by_pages, tmp_path, monkeypatch):
    """Each is looked at by itself, which takes longer than to hand the rows over."""
    monkeypatch.setattr(filling, "WORTH_PAGES", 1)
    table = Given([(f"home {i % n_homes}", i % n_homes, None, None) for i in range(400)])
    made_by = filling._pages_of(made(tmp_path / "people.gpkg"), list(NAMES), table, silent)
    assert (made_by is not None) == by_pages


def write_another(field, changed_to):
    """Pages with another value in place of the third of a field."""
    write = pages.cells_of

    def written(coded, target, copies, progress):
        changed = [(codes, list(values)) for codes, values in coded]
        values = changed[field][1]
        values[2 % len(values)] = changed_to
        return write(changed, target, copies, progress)

    return written


@pytest.mark.parametrize("field", range(4))
@pytest.mark.parametrize("copied", [False, True])
def test_a_value_that_is_written_as_another_is_noticed(field, copied, tmp_path, monkeypatch):
    monkeypatch.setattr(filling, "WORTH_PAGES", 1)
    monkeypatch.setattr(filling, "CELLS_A_VALUE", 0)
    rows = [(f"home {i % 7}", i, i / 4, "x" if i % 5 else None) for i in range(900)]
    table = Given(rows, np.full(900, 3) if copied else None)
    another = {0: "home 9", 1: 77, 2: 0.1, 3: "y"}[field]
    monkeypatch.setattr(filling, "cells_of", write_another(field, another))
    with pytest.raises(VbasError, match=r"people\.gpkg was not written whole"):
        fill_geopackage(made(tmp_path / "people.gpkg"), list(NAMES), table, silent)


def test_of_each_value_of_a_field_of_few_some_row_is_looked_at(tmp_path, monkeypatch):
    """Of 900 rows five all over the table are, none of which has the third of five values."""
    monkeypatch.setattr(filling, "WORTH_PAGES", 1)
    monkeypatch.setattr(filling, "CELLS_A_VALUE", 0)
    monkeypatch.setattr(pages, "LOOKED_AT", 5)
    rows = [(f"home {i % 5}", i, i / 4, None) for i in range(900)]
    assert not {i % 5 for i in np.linspace(0, 899, 5).astype(int).tolist()} & {1, 2, 3}
    monkeypatch.setattr(filling, "cells_of", write_another(0, "home 9"))
    with pytest.raises(VbasError, match=r"people\.gpkg was not written whole"):
        fill_geopackage(made(tmp_path / "people.gpkg"), list(NAMES), Given(rows), silent)


def test_the_page_of_the_locked_byte_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(filling, "WORTH_PAGES", 1)
    monkeypatch.setattr(filling, "CELLS_A_VALUE", 0)
    monkeypatch.setattr(pages, "LOCKED_BYTE", 20 * 512)
    file = made(tmp_path / "people.gpkg", 512)
    table = Given([("a" * 80, i, None, None) for i in range(300)])
    fill_geopackage(file, list(NAMES), table, silent)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("select home, id, income, note from people").fetchall() == table.rows()
        ((found,),) = connection.execute("pragma integrity_check").fetchall()
        assert (
            found.replace(":", " is") == "*** in database main ***\nPage 21 is never used"
        )  # SQLite 3.46: “21: never”
    assert file.read_bytes()[20 * 512 : 21 * 512] == bytes(512)
    assert pages.page_numbers(20, 3, 512) == [22, 23, 24] and pages.page_numbers(19, 2, 512) == [20, 22]


@pytest.mark.parametrize(
    "rows",
    [
        [(1, 1, 0.5, None)],
        [("a", "1", 0.5, None)],
        [("a", True, 0.5, None)],
        [("a", 1, 1, None)],
        [("a" * 5_000, 1, 0.5, None)],
    ],
    ids=["a number as text", "text as a number", "a boolean", "a whole number as real", "longer than a page"],
)
def test_what_is_not_plain_is_left_to_sqlite(rows, tmp_path):
    target = pages.plain_target(made(tmp_path / "people.gpkg"), "people", list(NAMES))
    assert target is not None
    assert pages.cells_of(Given(rows).coded()[0], target) is None


@pytest.mark.parametrize(
    "change",
    [
        "create index of_home on people (home)",
        "insert into people (home) values ('a')",
        "alter table people add column more text",
        "drop table people; create table people (fid integer primary key, home text unique, id integer, "
        "income real, note text)",
        "drop table people; create table people (fid text primary key, home text, id integer, income real, note text)",
        "drop table people; create table people (fid integer primary key, home text check (home > ''), id integer, "
        "income real, note text)",
        "drop table people; create table people (fid integer primary key, home numeric, id integer, "
        "income real, note text)",
        "drop table people; create table people (fid integer primary key, home text not null, id integer, "
        "income real, note text)",
    ],
)
def test_a_table_that_is_not_plain_is_left_to_sqlite(change, tmp_path):
    file = made(tmp_path / "people.gpkg")
    assert pages.plain_target(file, "people", list(NAMES)) is not None
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(change)
    assert pages.plain_target(file, "people", list(NAMES)) is None


class Cancelled(Exception):
    """Somebody does not want to wait any more."""


def test_it_is_cancelled_wherever_it_is_and_says_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(filling, "WORTH_PAGES", 1)
    monkeypatch.setattr(filling, "CELLS_A_VALUE", 0)
    monkeypatch.setattr(pages, "ROWS_AT_ONCE", 100)
    monkeypatch.setattr(pages, "READ_AT_ONCE", 10)
    table = Given([(str(i % 7), i, i / 2, None) for i in range(400)])
    told, where = [], []

    def tell(fraction, cancelled_at=None):
        told.append(fraction)
        where.append({frame.name for frame in traceback.extract_stack()})
        if len(told) - 1 == cancelled_at:
            raise Cancelled

    fill_geopackage(made(tmp_path / "people.gpkg", 512), list(NAMES), table, tell)
    assert told == sorted(told) and told[0] >= 0 and told[-1] <= 1
    steps = [{"cells_of"}, {"write_pages"}, {"compare_some"}]
    counts = [sum(step <= names for names in where) for step in steps]
    assert min(counts) >= 3, counts  # a step of each field, of each so many rows
    for at in [next(i for i, names in enumerate(where) if step <= names) + 1 for step in steps]:
        told.clear()
        with pytest.raises(Cancelled):
            fill_geopackage(made(tmp_path / "people.gpkg", 512), list(NAMES), table, partial(tell, cancelled_at=at))
        assert len(told) == at + 1


@pytest.mark.slow
@pytest.mark.parametrize("copied", [False, True])
def test_a_page_that_is_just_full_holds_no_byte_more(tmp_path, monkeypatch, copied):
    """The first page is left with every number of bytes, one too few for the next row among them."""
    monkeypatch.setattr(filling, "WORTH_PAGES", 1)
    monkeypatch.setattr(filling, "CELLS_A_VALUE", 0)
    for length in range(60):
        rows = [("a" * length, 1, 0.5, None), *[("b" * 39, 2, 0.5, None)] * 23]
        table = Given([rows[0], rows[1]], np.array([1, 23])) if copied else Given(rows)
        file = made(tmp_path / "people.gpkg", 512)
        fill_geopackage(file, list(NAMES), table, silent)
        found, _ = held(file)
        assert [tuple(value for _, value in row[1:]) for row in found] == rows


class Runs(Given):
    """The same, of which nothing is known but how often each row follows itself."""

    def coded(self):
        return None

    def runs(self):
        return np.arange(len(self.copies)), self.copies

    def rows_at(self, positions):
        return [tuple(column.categories[column.codes[at]] for column in self.columns) for at in positions.tolist()]


@pytest.mark.parametrize("longest", [1, 2, 3, 4, 100])
def test_runs_are_written_whole_however_long_they_are(longest, tmp_path, monkeypatch):
    monkeypatch.setattr(filling, "LONGEST_RUN", longest)
    monkeypatch.setattr(filling, "RUNS_AT_ONCE", 4)
    table = Runs([("a", 1, 0.5, None), ("b", 2, 1.5, "x"), ("c", 3, 2.5, None)], np.array([4, 1, 7]))
    told: list[float] = []
    file = made(tmp_path / "people.gpkg")
    fill_geopackage(file, list(NAMES), table, told.append)
    assert [tuple(value for _, value in row[1:]) for row in held(file)[0]] == table.rows()
    assert told == sorted(told) and told[0] >= 0 and told[-1] <= 1


def test_a_row_that_a_page_just_cannot_hold_is_left_to_sqlite(tmp_path, monkeypatch):
    """A table of one field: rows of every length about that of a page."""
    monkeypatch.setattr(filling, "WORTH_PAGES", 1)
    monkeypatch.setattr(filling, "CELLS_A_VALUE", 0)
    by_pages = []
    for length in range(460, 486):
        rows = [("a" * length,), ("b",), ("c" * length,)]
        file = made(tmp_path / "people.gpkg", 512, {"home": TEXT})
        target = pages.plain_target(file, "people", ["home"])
        assert target is not None
        by_pages.append(pages.cells_of(Given(rows).coded()[0], target) is not None)
        changes = int.from_bytes(file.read_bytes()[24:28], "big")
        fill_geopackage(file, ["home"], Given(rows), silent)
        found, _ = held(file)
        assert [tuple(value for _, value in row[1:]) for row in found] == rows
        header = file.read_bytes()
        assert int.from_bytes(header[24:28], "big") > changes and header[24:28] == header[92:96]
    n_by_pages = sum(by_pages)
    assert by_pages == [True] * n_by_pages + [False] * (len(by_pages) - n_by_pages) and 0 < n_by_pages < len(by_pages)


@pytest.mark.skipif(not hasattr(sqlite3.Connection, "setlimit"), reason="this Python sets no limits of SQLite")
@pytest.mark.parametrize("n_fields", [1, 2, 40, 999])
def test_no_statement_binds_more_values_than_every_sqlite_can(n_fields):
    names = [f"f{i}" for i in range(n_fields)]
    rows = [tuple(range(i, i + n_fields)) for i in range(1_100 // n_fields + 3)]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"create table people ({', '.join(names)})")
        connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)
        filling._insert_rows(connection, "people", names, Given(rows), silent)
        assert connection.execute("select * from people order by f0").fetchall() == rows
