"""Columns of SQLite tables that are not read from their pages: by thousands or row by row, they are the same."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.errors import Cancelled, InputError
from vbas.core.records import sqlite_columns
from vbas.core.records.sqlite_columns import read_table
from vbas.core.records.sqlite_pages import NotPlain

from ..exploring import tried

KINDS = {"text": "text", "number": "integer", "long": "long"}
TEXTS = st.one_of(
    st.none(), st.sampled_from(["", "a", "é", "NULL", "'", '"', "a,b", "1", "x" * 300]), st.text(max_size=5)
)
NUMBERS, LONGS = (st.one_of(st.none(), st.integers(-(2**bits), 2**bits - 1)) for bits in (31, 63))
ROWS = st.lists(st.tuples(TEXTS, NUMBERS, LONGS), max_size=40)
ALL = 'CREATE TABLE records (fid INTEGER PRIMARY KEY, "text" TEXT, number MEDIUMINT, long INTEGER)'


@pytest.fixture(scope="module", autouse=True)
def by_sqlite():
    def refuse(*_):
        raise NotPlain

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite_columns, "read_pages", refuse)
        yield


def made(path, rows, keys=None, table=ALL):
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(table)
        keys = range(len(rows)) if keys is None else keys
        connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", [(key, *row) for key, row in zip(keys, rows)])
    return path


def read(path, kinds=KINDS):
    columns = read_table(path, "records", kinds, "RECORDS", lambda _: None)
    return {
        name: (column.categories[column.codes].tolist(), column.categories.tolist()) for name, column in columns.items()
    }


@pytest.fixture
def by_thousands(monkeypatch):
    """Whether none of the last table was read row by row."""
    by_rows, seen = sqlite_columns._read_rows, []

    def one_by_one(*given):
        seen.append(True)
        return by_rows(*given)

    monkeypatch.setattr(sqlite_columns, "_read_rows", one_by_one)

    def answer():
        told, seen[:] = not seen, []
        return told

    return answer


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("sqlite") / "records.gpkg"


@pytest.mark.slow
@given(ROWS, st.integers(1, 9), st.integers(1, 50), st.data())
@settings(max_examples=tried(40, 100), deadline=None)
def test_the_same_as_row_by_row(path, rows, stretch, longest, data):
    first = data.draw(st.sampled_from([-(2**63), -3, 1, 2**63 - 200]))
    keys = sorted(data.draw(st.sets(st.integers(first, first + 199), min_size=len(rows), max_size=len(rows))))
    texts = [text for text, _, _ in rows if text is not None]
    if any("\0" in text for text in texts):
        return
    made(path, rows, keys)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite_columns, "FIRST_STRETCH", stretch)
        patch.setattr(sqlite_columns, "STRETCH", stretch + 1)
        patch.setattr(sqlite_columns, "LONGEST_ANSWER", longest)
        found = read(path)
        patch.setattr(sqlite_columns, "_key_of", lambda *_: None)
        assert found == read(path)
    assert [found[name][0] for name in KINDS] == [list(column) for column in zip(*rows)] or not rows


def test_tables_are_read_by_thousands(tmp_path, by_thousands):
    rows = [("F", 1, 10**15), (None, None, None), ("", -1, 0)] * 1_000
    path = made(tmp_path / "records.gpkg", rows)
    assert read(path)["text"][0] == [text for text, _, _ in rows] and by_thousands()
    assert read(made(path, []))["text"] == ([], []) and by_thousands()
    assert (
        read(made(path, rows, range(2**63 - 3_000, 2**63)))["text"][0] == [text for text, _, _ in rows]
        and by_thousands()
    )
    apart = [*range(2_999), 2**63 - 1]
    assert read(made(path, rows, apart))["text"][0] == [text for text, _, _ in rows] and not by_thousands()


@pytest.mark.parametrize(
    "text", ["\x1e\x1d\x01\x7f\n\r\t", 'a"b\\', "\\u0041", "null", "[1]", '{"a": 1}', "\U0001f600 \u2028", " "]
)
def test_texts_that_json_writes_otherwise(tmp_path, by_thousands, text):
    rows = [("F", 1, 1), (text, 2, 2), (None, None, None), (text + "x", 2, 2)]
    assert read(made(tmp_path / "records.gpkg", rows))["text"][0] == ["F", text, None, text + "x"] and by_thousands()


@pytest.mark.parametrize(
    "row, field",
    [
        ((b"F", 1, 1), "text"),
        ((b"\xff", 1, 1), "text"),
        ((b"\x17F", 1, 1), "text"),  # JSON, to some versions of SQLite: the text “F”, and true
        (("F", b"\x01", 1), "number"),
        (("a\0b", 1, 1), "text"),
        (("F", 1.5, 1), "number"),
        (("F", "one", 1), "number"),
        (("F", 2**31, 1), "number"),
        (("F", 1, 1e300), "long"),
        (("F", 1, b"1"), "long"),
    ],
)
def test_values_of_another_kind_are_refused(tmp_path, row, field):
    path = made(tmp_path / "records.gpkg", [("M", 2, 2), row, (None, None, None)])
    with pytest.raises(InputError, match=f"“{field}”"):
        read(path)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = made(tmp_path / "records.gpkg", [("M", 2, 2)])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE records SET text = CAST(x'ff41' AS TEXT)")
    with pytest.raises(InputError, match="not UTF-8"):
        read(path)


@pytest.mark.parametrize(
    "table",
    [
        ALL.replace("INTEGER PRIMARY KEY", "TEXT"),
        ALL.replace("INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY DESC"),
        ALL.replace("INTEGER PRIMARY KEY", "INT PRIMARY KEY"),
        ALL + " WITHOUT ROWID",
    ],
)
def test_tables_without_such_a_key(tmp_path, table):
    rows = [("M", 2, 2), ("F", None, 1), ("F", 3, 1)]
    assert read(made(tmp_path / "records.gpkg", rows, [3, 1, 2], table))["text"][0] in (
        ["M", "F", "F"],
        ["F", "F", "M"],
    )


def test_a_view_and_numbers_are_read_row_by_row(tmp_path, by_thousands):
    path = made(tmp_path / "records.gpkg", [("M", 2, 2)])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE VIEW seen AS SELECT * FROM records")
        connection.execute("ALTER TABLE records ADD COLUMN real REAL DEFAULT 0.30000000000000004")
    found = read_table(path, "seen", KINDS, "RECORDS", lambda _: None)
    assert found["text"].categories.tolist() == ["M"] and not by_thousands()
    assert read(path, {"real": "real"})["real"][0] == [0.1 + 0.2] and not by_thousands()


def test_cancelling_waits_for_the_stretch_that_is_read(tmp_path, monkeypatch):
    path = made(tmp_path / "records.gpkg", [("F", 1, 1)] * 5_000)
    busy: list[Callable] = []
    reading = sqlite_columns.reading
    left: list[str] = []
    asked: list[Callable] = []
    cancelled = threading.Event()

    class Slow(ThreadPoolExecutor):
        def submit(self, call, /, *given, **named):
            def slowly():
                try:
                    if call in asked[1:]:  # the next stretch is read until after the cancel
                        assert cancelled.wait(60)
                        time.sleep(0.3)
                    return call(*given, **named)
                finally:
                    busy.remove(call)

            busy.append(call)
            if call.__name__ == "ask":
                asked.append(call)
            return super().submit(slowly)

    @contextmanager
    def watched(*given):
        with reading(*given) as connection:
            try:
                yield connection
            finally:
                if threading.current_thread() is threading.main_thread():
                    left.extend(call.__name__ for call in busy)

    def cancel(_):
        assert "ask" in [call.__name__ for call in busy]
        cancelled.set()
        raise Cancelled("stopped")

    monkeypatch.setattr(sqlite_columns, "ThreadPoolExecutor", Slow)
    monkeypatch.setattr(sqlite_columns, "reading", watched)
    with pytest.raises(Cancelled):
        read_table(path, "records", KINDS, "RECORDS", cancel)
    assert "ask" not in left
