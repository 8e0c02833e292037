"""Tables are read from their pages with the very values that SQLite hands over, or left to SQLite."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.errors import InputError
from vbas.core.records import byte_texts, sqlite_columns, sqlite_pages
from vbas.core.records.byte_texts import NotEncoded, TextEncoder
from vbas.core.records.columns import ColumnBuilder
from vbas.core.records.sqlite_file import reading
from vbas.core.records.sqlite_pages import NotPlain, PagesOfFile, read_pages

from ..exploring import tried
from ..systems import of_sqlite_since_3_40

KINDS = {"home": "text", "age": "integer", "id": "long", "income": "real", "fid": "long"}
DECLARED = (
    "fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, geom BLOB, home TEXT, age MEDIUMINT, id INTEGER, income REAL"
)
TEXTS = st.one_of(
    st.none(),
    st.sampled_from(["", "a", "a ", "A", "45 to 64", "45 to 640", "not in the labour force", "é" * 9, "b" * 33]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
)
WHOLE = st.one_of(st.none(), st.sampled_from([0, 1, -1, 127, -128, 2**15, 2**23, -(2**31), 2**31 - 1]))
LONG = st.one_of(WHOLE, st.sampled_from([2**47, -(2**47) - 1, 2**63 - 1, -(2**63)]), st.integers(-(2**63), 2**63 - 1))
REAL = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.0, 5e-324, float("inf"), 1 / 3, 2.0**60]), st.floats())
ROW = st.tuples(st.binary(max_size=90), TEXTS, WHOLE, LONG, REAL)


def made(path, rows, page_size=512, numbers=None, more=""):
    """A table of one number and these values for each row; more : a statement after them."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"pragma page_size = {page_size}")
        connection.execute(f"create table people ({DECLARED})")
        numbers = range(len(rows)) if numbers is None else numbers
        connection.executemany(
            "insert into people values (?, ?, ?, ?, ?, ?)", [(n, *row) for n, row in zip(numbers, rows)]
        )
        if more:
            connection.execute(more)
        connection.commit()
    return path


def from_pages(path, kinds=None):
    """The columns from the pages, and how many rows they have."""
    with PagesOfFile(path) as pages, reading(path, "RECORDS") as connection:
        return read_pages(pages, connection, "people", "fid", kinds or KINDS, lambda _: None)


def from_sqlite(path, kinds=None):
    with reading(path, "RECORDS") as connection:
        return sqlite_columns._read_columns(connection, "people", kinds or KINDS, lambda _: None)


def same(one, other):
    (columns, n_rows), (others, n_others) = one, other
    assert n_rows == n_others and list(columns) == list(others)
    for name, column in columns.items():
        assert column.codes.dtype == others[name].codes.dtype
        assert column.codes.tolist() == others[name].codes.tolist()
        assert list(map(repr, column.categories)) == list(map(repr, others[name].categories))


@given(st.lists(ROW, max_size=25), st.sampled_from([512, 1024, 65536]), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_values_are_those_that_sqlite_hands_over(tmp_path_factory, rows, page_size, random):
    numbers = random.sample([*range(-300, 300), 2**40, 2**63 - 1, -(2**63)], len(rows))
    path = made(tmp_path_factory.getbasetemp() / "drawn.db", rows, page_size, numbers)
    same(from_pages(path), from_sqlite(path))


def test_many_rows_on_several_floors_of_pages(tmp_path):
    draws = np.random.default_rng(1)
    rows = [
        (b"x" * 70, f"46{i % 700:04d}" if i % 5 else None, i % 90, i * 2**40, i / 4)
        for i in draws.permutation(5_000).tolist()
    ]
    path = made(tmp_path / "people.db", rows, more="delete from people where fid between 700 and 1900")
    same(from_pages(path), from_sqlite(path))
    assert from_pages(path)[1] == 5_000 - 1_201


@pytest.mark.parametrize(
    "change",
    [
        "update people set home = x'41' where fid = 3",
        "update people set age = 'old' where fid = 3",
        "update people set id = 0.5 where fid = 3",
        "update people set home = cast(x'ff' as text) where fid = 3",
        f"update people set home = '{'long ' * 150}' where fid = 3",
        "alter table people add column later TEXT",
        "alter table people add column twice AS (age * 2)",
    ],
)
def test_what_is_not_plain_is_left_to_sqlite(tmp_path, change):
    path = made(tmp_path / "people.db", [(b"", "a", 1, 1, 1.0)] * 9, more=change)
    with pytest.raises(NotPlain):
        from_pages(path, {"later": "text"} if "later" in change else None)


LINK = pytest.param(True, marks=pytest.mark.skipif(os.name == "nt", reason="Windows lets hardly anybody make links"))


@pytest.mark.parametrize("linked", [False, LINK])
def test_a_log_that_holds_something_is_left_to_sqlite(tmp_path, linked):
    """It stands beside the file, and not beside a link that leads there."""
    path = named = made(tmp_path / "people.db", [(b"", "a", 1, 1, 1.0)] * 9)
    if linked:
        (tmp_path / "links").mkdir()
        named = tmp_path / "links" / "people.db"
        named.symlink_to(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("update people set home = 'b'")
        connection.commit()
        with pytest.raises(NotPlain):
            from_pages(named)
        columns = sqlite_columns.read_table(named, "people", KINDS, "RECORDS", lambda _: None)
        assert columns["home"].categories.tolist() == ["b"]


@pytest.mark.skipif(os.name == "nt", reason="Windows replaces no open file")
def test_a_file_that_is_replaced_before_sqlite_opens_it_is_left_to_sqlite(tmp_path):
    path = made(tmp_path / "people.db", [(b"", "a", 1, 1, 1.0)] * 9)
    other = made(tmp_path / "other.db", [(b"", "b", 1, 1, 1.0)] * 9)
    with PagesOfFile(path) as pages:
        other.replace(path)
        with reading(path, "RECORDS") as connection, pytest.raises(NotPlain):
            read_pages(pages, connection, "people", "fid", KINDS, lambda _: None)


def test_a_file_that_cannot_be_read_on_is_left_to_sqlite(tmp_path, monkeypatch):
    path = made(tmp_path / "people.db", [(b"x" * 90, "a", 1, 1, 1.0)] * 99)
    monkeypatch.setattr(sqlite_pages, "BYTES_AT_ONCE", 512)
    with Path(os.devnull).open("wb") as nowhere, PagesOfFile(path) as pages, reading(path, "RECORDS") as connection:

        def take_away(_):
            assert pages._file is not None
            os.dup2(nowhere.fileno(), pages._file.fileno())

        with pytest.raises(NotPlain):
            read_pages(pages, connection, "people", "fid", KINDS, take_away)


FIELDS = [
    "fid INTEGER PRIMARY KEY",
    "home TEXT",
    "age MEDIUMINT",
    "id INTEGER",
    "income REAL",
    "geom BLOB",
    "gone TEXT",
]


@given(st.permutations(FIELDS), st.integers(0, 2), st.booleans(), st.lists(ROW, min_size=1, max_size=20), st.data())
@settings(max_examples=tried(12, 40), deadline=None)
def test_however_a_file_came_about(tmp_path_factory, fields, vacuum, reserved, rows, data):
    """Fields in any order, dropped and added later; pages that are free, tell of others, or leave bytes to others."""
    path = tmp_path_factory.getbasetemp() / "layouts.db"
    path.unlink(missing_ok=True)
    added = data.draw(st.sampled_from(["income REAL", "age MEDIUMINT DEFAULT 7", "home TEXT DEFAULT 'a'", ""]))
    fields = [field for field in fields if not added.startswith(field)]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma page_size = 1024")
        connection.execute(f"pragma auto_vacuum = {vacuum}")
        connection.execute("create table people (fid INTEGER)")
        connection.execute("drop table people")
        connection.execute("vacuum")
    if reserved and not vacuum:
        header = bytearray(path.read_bytes())
        header[20], header[105:107] = 32, (1024 - 32).to_bytes(2, "big")
        path.write_bytes(header)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma synchronous = off")
        connection.execute("begin")
        connection.execute("create table other (fid INTEGER PRIMARY KEY, text TEXT)")
        connection.execute(f"create table people ({', '.join(fields)})")
        names = [field.split()[0] for field in fields]
        insert = f"insert into people ({', '.join(names)}) values ({', '.join('?' for _ in names)})"
        for number, (geom, home, age, id_, income) in enumerate(rows * 9):
            values = {"fid": number - 9, "geom": geom, "home": home, "age": age, "id": id_, "income": income}
            connection.execute(insert, [values.get(name, "gone") for name in names])
            connection.execute("insert into other values (?, ?)", (number, "text " * 40))
        if added:
            connection.execute(f"alter table people add column {added}")
            if data.draw(st.booleans()):
                connection.execute(f"update people set {added.split()[0]} = NULL where fid % 2")
        if data.draw(st.booleans()) and sqlite3.sqlite_version_info >= (3, 35):
            connection.execute("alter table people drop column gone")
        connection.execute("delete from other")
        connection.execute("delete from people where fid % 7 = 3")
        connection.execute("commit")
    assert path.read_bytes()[20] == (32 if reserved and not vacuum else 0)
    try:
        read = from_pages(path)
    except NotPlain:
        assert added
        return
    with reading(path, "RECORDS") as connection:
        same(read, sqlite_columns._read_rows(connection, "people", KINDS, lambda _: None))


def outcome(path, kinds=None):
    """What a table is read as, or that it is refused."""
    try:
        columns = sqlite_columns.read_table(path, "people", kinds or KINDS, "RECORDS", lambda _: None)
    except InputError:
        return None
    return {name: (column.codes.tolist(), list(map(repr, column.categories))) for name, column in columns.items()}


@pytest.mark.slow
@given(st.data())
@settings(max_examples=120, deadline=None)
@of_sqlite_since_3_40
def test_damage_is_never_read_as_other_values_than_sqlite_reads(tmp_path_factory, data):
    """Bytes are changed anywhere: either is refused, or both give the same."""
    place = tmp_path_factory.getbasetemp()
    whole = place / "whole.db"
    if not whole.exists():
        made(whole, [(b"x" * 20, f"46{i % 70:04d}" * (1 + i % 4), i % 90, i * 2**20, i / 4) for i in range(150)])
    content = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(1024, len(content) - 1))
        if data.draw(st.booleans()):  # most faults of a page show in its first bytes
            at = at // 512 * 512 + at % 24
        content[at] = data.draw(st.sampled_from([0, 1, 5, 13, 0x7F, 0x80, 0xFF, content[at] ^ 1, content[at - 512]]))
    damaged = place / "damaged.db"
    damaged.write_bytes(content)
    read = outcome(damaged)
    if read is None:
        return
    assert read == read_by_sqlite(damaged, KINDS)


@pytest.mark.parametrize("numbers", [(0, 1, 2), (-(2**63), 2**63 - 1)], ids=["near", "far apart"])
def test_rows_whose_numbers_do_not_rise_are_left_to_sqlite(tmp_path, numbers):
    path = made(tmp_path / "people.db", [(b"", "a", 1, 1, 1.0)] * len(numbers), 4096, numbers)
    content = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("select rootpage from sqlite_master where name = 'people'").fetchall()
    cells = (root - 1) * 4096 + 8
    content[cells : cells + 4] = content[cells + 2 : cells + 4] + content[cells : cells + 2]
    assert seen_whole(path)
    path.write_bytes(content)
    assert "out of order" in checked(path)[0][0]
    with pytest.raises(NotPlain):
        from_pages(path)


def test_two_texts_of_one_key_are_not_taken_for_one(monkeypatch):
    monkeypatch.setattr(byte_texts, "_SPREAD", np.uint64(0))
    buffer = np.frombuffer(b"ab" + bytes(byte_texts.LONGEST), np.uint8).copy()
    with pytest.raises(NotEncoded):
        TextEncoder(ColumnBuilder().code_of).codes(buffer, np.array([0, 1]), np.array([1, 1]))


@pytest.mark.slow
@given(st.lists(st.lists(st.text(max_size=70), max_size=12), max_size=4))
@settings(max_examples=60)
def test_texts_of_all_lengths_get_the_codes_of_their_values(chunks):
    builder, plain = ColumnBuilder(), ColumnBuilder()
    encoder = TextEncoder(builder.code_of)
    for texts in chunks:
        parts = [text.encode("utf-8", "surrogatepass") for text in texts]
        length = np.array([len(part) for part in parts], np.int64)
        buffer = np.frombuffer(b"".join(parts) + bytes(byte_texts.LONGEST), np.uint8).copy()
        builder.add_codes(encoder.codes(buffer, np.cumsum(length) - length, length))
        plain.add_values(texts)
    assert builder.column().categories.tolist() == plain.column().categories.tolist()
    assert builder.column().codes.tolist() == plain.column().codes.tolist()


def checked(path):
    """What SQLite's own check of the table says."""
    with closing(sqlite3.connect(path)) as connection:
        try:
            return connection.execute("pragma quick_check(people)").fetchall()
        except sqlite3.DatabaseError as error:
            return [(str(error),)]


def seen_whole(path, kinds=None):
    """Whether the pages were read, and nothing is left that SQLite's check would look at."""
    with PagesOfFile(path) as pages, reading(path, "RECORDS") as connection:
        try:
            read_pages(pages, connection, "people", "fid", kinds or KINDS, lambda _: None)
        except NotPlain:
            return False
        return pages.whole


def varint(value, n_bytes):
    """A number in so many bytes, also in more than it needs."""
    shift = 8 if n_bytes == 9 else 7
    last, value = value & ((1 << shift) - 1 if n_bytes == 9 else 0x7F), value >> shift
    first = [value >> 7 * i & 0x7F | 0x80 for i in reversed(range(n_bytes - 1))]
    return bytes([*first, last])


def with_rows(path, cells):
    """The table in one page of these cells, without a gap."""
    content = bytearray(made(path, [(b"", "a", 1, 1, 1.0)], 4096).read_bytes())
    page, offsets = bytearray(4096), b""
    end = 4096
    for cell in cells:
        end -= len(cell)
        page[end : end + len(cell)] = cell
        offsets += end.to_bytes(2, "big")
    page[:8] = bytes([13, 0, 0]) + len(cells).to_bytes(2, "big") + end.to_bytes(2, "big") + b"\0"
    page[8 : 8 + len(offsets)] = offsets
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("select rootpage from sqlite_master where name = 'people'").fetchall()
    content[(root - 1) * 4096 : root * 4096] = page
    path.write_bytes(content)
    return path


def row(number, text="a", length=1, header=1, kind=1):
    """A cell of that number and text; length, header, kind : in how many bytes lengths of it, of its header and of the
    text are said."""
    kinds = b"\0\x0c" + varint(13 + 2 * len(text), kind) + b"\0\0\0"
    payload = varint(len(kinds) + header, header) + kinds + text.encode()
    return varint(len(payload), length) + varint(number, 1) + payload


def read_by_sqlite(path, kinds):
    """`outcome` of some fields, by SQLite alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite_columns, "read_pages", lambda *_: (_ for _ in ()).throw(NotPlain))
        return outcome(path, kinds)


@pytest.mark.parametrize("text", ["a" * 5, "a" * 120, "a" * 140])
@pytest.mark.parametrize(
    ("length", "header", "kind"), [(2, 1, 2), (5, 1, 2), (9, 1, 2), (2, 2, 2), (2, 9, 2), (2, 1, 9)]
)
def test_numbers_in_more_bytes_than_they_need_are_read_as_sqlite_reads_them(tmp_path, text, length, header, kind):
    """Of nine bytes that say how long a row is SQLite takes other bits than of all other numbers."""
    path = with_rows(tmp_path / "people.db", [row(1, text, length, header, kind), row(2)])
    for kinds in (KINDS, {"fid": "long"}):
        assert outcome(path, kinds) == read_by_sqlite(path, kinds)
        assert not seen_whole(path, kinds) or checked(path) == [("ok",)]


@of_sqlite_since_3_40
def test_lengths_beyond_all_numbers_are_not_added_up_to_the_end_of_a_row(tmp_path):
    """Together they are 2**64 bytes, which are none in the numbers of a processor."""
    kinds = b"\0" + varint(12 + 2 * 28, 1) + 4 * varint(2**63 - 2, 9)
    payload = varint(1 + len(kinds), 1) + kinds
    path = with_rows(tmp_path / "people.db", [varint(len(payload), 1) + b"\1" + payload])
    assert checked(path) != [("ok",)]
    assert not seen_whole(path, {"fid": "long"})
    assert outcome(path, {"fid": "long"}) is None is read_by_sqlite(path, {"fid": "long"})


@pytest.mark.skipif(os.name == "nt", reason="Windows would write all of a file that is mostly empty")
def test_the_page_of_the_locked_byte_is_no_page_of_a_table(tmp_path):
    path = made(tmp_path / "people.db", [(b"x" * 30_000, "a", 1, 1, 1.0)] * 3, 65536)
    same(from_pages(path), from_sqlite(path))
    locked = (1 << 30) // 65536 + 1
    with path.open("r+b") as file, closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("select rootpage from sqlite_master where name = 'people'").fetchall()
        file.seek((root - 1) * 65536)
        above = bytearray(file.read(65536))
        file.seek((int.from_bytes(above[8:12], "big") - 1) * 65536)
        last = file.read(65536)
        above[8:12] = locked.to_bytes(4, "big")
        for at, content in (((root - 1) * 65536, above), ((locked - 1) * 65536, last), (28, locked.to_bytes(4, "big"))):
            file.seek(at)
            file.write(content)
    with pytest.raises(NotPlain):
        from_pages(path)
    assert outcome(path) is None is read_by_sqlite(path, KINDS)


PLACES = [*range(12), 18, 19, 20, 50]  # in a page: its header, and the first cells


@pytest.mark.slow
@given(st.data())
@settings(max_examples=tried(80, 5000), deadline=None)
def test_what_is_seen_whole_passes_the_check_of_sqlite(tmp_path_factory, data):
    """Bytes are changed anywhere in a table on three floors of pages."""
    place = tmp_path_factory.getbasetemp()
    gaps = data.draw(st.booleans())
    whole = place / f"three floors {gaps}.db"
    if not whole.exists():
        rows = [(b"x" * 20, f"46{i % 70:04d}" * (1 + i % 4), i % 90, i * 2**20, i / 4) for i in range(900)]
        made(whole, rows, more="delete from people where fid in (30, 400, 403)" if gaps else "")
    assert seen_whole(whole) and checked(whole) == [("ok",)]
    content = bytearray(whole.read_bytes())
    n_pages = len(content) // 512
    above = [page for page in range(2, n_pages) if content[page * 512] == 5]
    page = data.draw(st.sampled_from(above) | st.integers(2, n_pages - 1))
    within = data.draw(st.sampled_from(PLACES) | st.integers(0, 511))
    at = page * 512 + within
    content[at] = data.draw(
        st.sampled_from([0, 1, 5, 13, 0x7F, 0xFF, content[at] ^ 1, (content[at] + 1) % 256, content[at - 512]])
    )
    damaged = place / "damaged at one place.db"
    damaged.write_bytes(content)
    if seen_whole(damaged, data.draw(st.sampled_from([None, {"home": "text"}, {"fid": "long"}]))):
        assert checked(damaged) == [("ok",)]


def test_no_byte_of_a_page_that_leads_to_others_is_overlooked(tmp_path):
    """Nor of the header of a page with rows, where they begin, and how one of them ends."""
    rows = [(b"x" * 20, f"46{i % 70:04d}", i % 90, i * 2**20, i / 4) for i in range(260)]
    path = made(tmp_path / "people.db", rows)
    content = path.read_bytes()
    above, leaf = (next(at for at in range(512, len(content), 512) if content[at] == kind) for kind in (5, 13))
    for at in (*range(above, above + 16), *range(above + 480, above + 512), *range(leaf, leaf + 12), leaf + 511):
        for more in (1, 255):
            path.write_bytes(content[:at] + bytes([(content[at] + more) % 256]) + content[at + 1 :])
            assert not seen_whole(path) or checked(path) == [("ok",)]


@pytest.mark.parametrize(
    "more",
    [
        "create index of_home on people (home)",
        "delete from people where fid % 2",
        "alter table people add column later TEXT",
        "pragma user_version = 3",
        "drop table people; create table people (fid integer primary key, home text not null, age mediumint, "
        "id integer, income real); insert into people values (1, 'a', 1, 1, 1.0)",
        "drop table people; create table people (fid integer primary key, home text, age mediumint check (age > 0), "
        "id integer, income real); insert into people values (1, 'a', 1, 1, 1.0)",
    ],
)
def test_what_has_gaps_or_rules_is_left_to_the_check_of_sqlite(tmp_path, more, monkeypatch):
    path = made(tmp_path / "people.db", [(b"", "abcdef", 1, 1, 1.0)] * 99)
    assert seen_whole(path)
    monkeypatch.setattr(sqlite_pages, "MOST_WITH_GAPS", 2)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(more)
    assert seen_whole(path) == (more == "pragma user_version = 3") and checked(path) == [("ok",)]
    assert outcome(path) is not None


def test_pages_whose_file_is_longer_than_it_says_are_left_to_the_check_of_sqlite(tmp_path):
    path = made(tmp_path / "people.db", [(b"", "a", 1, 1, 1.0)] * 99)
    path.write_bytes(path.read_bytes() + bytes(512))
    assert not seen_whole(path) and outcome(path) is not None
