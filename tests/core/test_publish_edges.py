"""What stands on an edge of what is published to files: registers, packs, and what is in the way."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import sys
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from vbas.core.arrays import to_list
from vbas.core.errors import InputError, VbasError
from vbas.core.publish import file_place, files, sqlite_targets
from vbas.core.publish.counting import Counting, SecondCount
from vbas.core.publish.files import DISK, FileSystem
from vbas.core.publish.geopackage.making import TEXT, make_geopackage
from vbas.core.publish.geopackage.pages import REALS, _held
from vbas.core.publish.geopackage.recounting import _count_classes, _shapes_of_geopackage, read_geopackage
from vbas.core.publish.names import NEW, OLD, is_aside, key_of, name_aside
from vbas.core.publish.occupied import Occupied
from vbas.core.publish.register import packs
from vbas.core.publish.register.chain import Chain, Link, content_of
from vbas.core.publish.register.listing import taking_out
from vbas.core.publish.register.packs import COUNTS, Unpacked, packs_of, read_pack
from vbas.core.publish.register.published_releases import new_entry
from vbas.core.publish.replacing import check_nameable, check_what_is_there
from vbas.core.publish.sqlite_targets import _in_use, refuse_if_closed

from ..systems import of_posix
from .test_register_packs import release_of


def register_of(release, tmp_path):
    """A register with the packs of a release, open."""
    path = tmp_path / "register.gpkg"
    new_entry(path, release, 0).put()
    return sqlite3.connect(path)


@pytest.mark.parametrize(("name", "wrong"), [("level", -1), ("level", 2), ("region", -1), ("class", -1)])
def test_a_pack_that_numbers_what_there_is_not_is_refused(tmp_path, monkeypatch, name, wrong):
    monkeypatch.setattr(packs, "ROWS_THAT_STAY", 0)
    release = release_of(1)
    with closing(register_of(release, tmp_path)) as connection:
        read = Unpacked().release(connection, 1, release)
        assert read is not None and read.records.sum() == release.records.sum()
        pack = packs_of(release)[COUNTS]
        columns = {of: column.copy() for of, column in pack.columns.items()}
        columns[name][0] = wrong
        content = replace(pack, columns=columns).compressed()
        own = hashlib.sha256(content).hexdigest()
        connection.execute("INSERT INTO vbas_packs (hash, content) VALUES (?, ?)", (own, content))
        connection.execute("UPDATE vbas_packed SET hash = ? WHERE part = ?", (own, COUNTS))
        with pytest.raises((ValueError, IndexError)):
            Unpacked().release(connection, 1, release)


@pytest.mark.parametrize(
    "columns", [{}, {"none": []}, {"zeros": [0, 0]}, {"steps": [5, 6, 7]}, {"wide": [-128, 127, 128]}]
)
def test_a_pack_is_read_as_it_was(columns):
    pack = packs_of(release_of(2))[COUNTS]
    of_columns = {name: np.array(column, np.int64) for name, column in columns.items()}
    read = read_pack(replace(pack, columns=of_columns).compressed())
    assert {name: column.tolist() for name, column in read.columns.items()} == columns


def test_who_did_what_to_which_release_last():
    def link(entry, what, number, by):
        return Link(entry, "2026-01-01", what, number, "", "", by, "", "")

    chain = Chain(
        [link(1, "added", 1, "a"), link(2, "approved", 1, "b"), link(3, "added", 2, "c"), link(4, "added", 1, "d")]
    )
    assert [chain.by(*of) for of in (("added", 1), ("approved", 1), ("added", 2), ("approved", 2))] == [
        "d",
        "b",
        "c",
        "",
    ]


def test_the_content_of_a_packed_release_is_reckoned_while_its_packs_are_there(tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "ROWS_THAT_STAY", 0)
    with closing(register_of(release_of(1), tmp_path)) as connection:
        before = content_of(connection, "release", 1)
        assert len(before) == 64
        (name,) = connection.execute("SELECT hash FROM vbas_packed LIMIT 1").fetchone()
        assert content_of(connection, "release", 1, (name,)) == ""  # a pack that was changed
        connection.execute("DELETE FROM vbas_packs WHERE hash = ?", (name,))
        assert content_of(connection, "release", 1) == ""


def test_a_new_register_that_has_no_name_yet_has_no_entry(tmp_path):
    entry = new_entry(tmp_path / "register.gpkg", release_of(1), 0)
    assert entry.staged != entry.path and not entry._has_come_in()
    entry.put()
    assert entry._has_come_in()


class Protected(FileSystem):
    """A disk on which nobody may write into what is there."""

    def may_write(self, path):
        return False


def test_a_geopackage_that_is_no_register_is_not_written_to(tmp_path):
    path = tmp_path / "people.gpkg"
    make_geopackage(path, {"people": {"age": TEXT}})
    before = path.read_bytes()
    with pytest.raises(InputError, match="is not a register"):
        new_entry(path, release_of(1), 0)
    assert path.read_bytes() == before


def test_a_file_that_lacks_a_field_says_which_and_how_many_rows_it_has(tmp_path):
    path = tmp_path / "people.gpkg"
    make_geopackage(path, {"people": {"age": TEXT}})
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO people (age) VALUES ('old'), ('young')")
    there = read_geopackage(path, ["age", "sex"], SecondCount(2, 2))
    assert (there.names, there.n_rows) == (["age", None], 2)


@of_posix
def test_a_name_that_is_too_long_is_refused_before_anything_is_worked_out(tmp_path):
    for stem, refused in (("people", False), ("people" * 50, True)):
        path = tmp_path / f"{stem}.csv"
        with pytest.raises(InputError, match="Choose another name") if refused else nullcontext():
            check_nameable("OUTPUT", path, [path])


def test_no_table_is_added_to_a_database_that_another_program_has_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_targets, "SECONDS_TO_WAIT", 0)
    path = tmp_path / "people.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("CREATE TABLE people (age)")
        refuse_if_closed(path, "OUTPUT")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputError, match="no table can be added"):
            refuse_if_closed(path, "OUTPUT")


def test_what_is_write_protected_is_not_replaced(tmp_path):
    target = tmp_path / "a.csv"
    check_what_is_there("OUTPUT", target, [target], Protected())
    target.write_text("old")
    check_what_is_there("OUTPUT", target, [target], DISK)
    with pytest.raises(InputError, match="write-protected"):
        check_what_is_there("OUTPUT", target, [target], Protected())


def test_two_outputs_or_an_input_and_an_output_are_not_one_file(tmp_path):
    (tmp_path / "read.csv").write_text("a")
    occupied = Occupied()
    occupied.read_file("RECORDS", tmp_path / "read.csv")
    occupied.add_file("MAP", tmp_path / "a.csv", [tmp_path / "a.csv", tmp_path / "a.prj"])
    occupied.add_file("TABLE", tmp_path / "b.csv", [tmp_path / "b.csv"])
    for name in ("read.csv", "a.csv"):
        with pytest.raises(InputError, match="the same file"):
            occupied.add_file("OTHER", tmp_path / name, [tmp_path / name])
    with pytest.raises(InputError, match="which belongs to MAP"):
        occupied.add_file("OTHER", tmp_path / "c.csv", [tmp_path / "c.csv", tmp_path / "a.prj"])
    with pytest.raises(InputError, match=r"a\.prj, which belongs to MAP"):  # of which nobody was told
        occupied.add_file("OTHER", tmp_path / "a.prj", [tmp_path / "a.prj"])


@pytest.mark.skipif(not DISK.lists_locks(), reason="the system does not tell which files are locked")
def test_a_database_that_is_written_into_is_in_use(tmp_path):
    target = tmp_path / "a.gpkg"
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE a (b)")
        assert not _in_use(target, DISK)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO a VALUES (1)")
        assert _in_use(target, DISK)  # its log is open
    assert not _in_use(target, DISK)


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no list of locks")
def test_a_file_is_worked_in_where_another_process_holds_a_lock_to_write_it(tmp_path, monkeypatch):
    """By a list of locks as Linux gives it: of a file by its device and its number, and who holds the lock."""
    target, other = tmp_path / "a.gpkg", tmp_path / "b.gpkg"
    for file in (target, other):
        file.touch()
    state = target.stat()
    place = f"{os.major(state.st_dev):02x}:{os.minor(state.st_dev):02x}:{state.st_ino}"
    monkeypatch.setattr(files, "LOCKS", tmp_path / "locks")
    own = os.getpid()
    for kind, held_by, written, read_too in (
        ("WRITE", own + 1, True, True),
        ("READ ", own + 1, False, True),
        ("WRITE", own, False, True),
    ):
        (tmp_path / "locks").write_text(f"1: POSIX  ADVISORY  {kind} {held_by} {place} 0 EOF\n", encoding="ascii")
        assert DISK.is_worked_in([other, target], read_too=False) == written
        assert DISK.is_worked_in([target], read_too=True) == read_too
        assert not DISK.is_worked_in([other], read_too=True)


def test_names_aside_are_known_whatever_their_table():
    made = [
        name_aside(role, schema, table) for role in (NEW, OLD) for schema, table in (("public", "people"), ("s", "t"))
    ]
    assert all(is_aside(name) for name in made) and len(set(made)) == len(made)
    assert not any(is_aside(name) for name in ("people", "vbas_new", made[0][:-1], f"{made[0]}_", f"x{made[0]}"))


def test_the_number_of_a_table_has_64_bits_and_is_of_its_schema_too():
    keys = [key_of(schema, table) for schema in "abc" for table in ("x", "y", "ab")]
    assert len(set(keys)) == len(keys) and all(-(2**63) <= key < 2**63 for key in keys)
    assert max(map(abs, keys)) > 2**60 and min(keys) < 0 < max(keys)


def test_of_a_release_that_is_not_there_those_that_are_there_are_named(tmp_path):
    register_of(release_of(1), tmp_path).close()
    with pytest.raises(InputError, match="REMOVE is 3, but the register has the releases 1:"):
        taking_out(tmp_path / "register.gpkg", 3)


def test_a_zero_with_a_sign_is_held_as_a_zero():
    assert _held(-0.0, REALS) == _held(0.0, REALS) == (b"\7", bytes(8))


@pytest.mark.parametrize("name", ["a.csv", "a.gpkg"])
def test_what_changes_after_its_count_is_refused(tmp_path, name):
    file = tmp_path / name
    counted: list[object] = []
    file.write_text("counted")
    with Counting() as counting:
        counting.begin(file, counted.append)
        counting.wait()
        assert counted == [file]
        counting.refuse_if_changed(file)
        file.write_text("changed since")
        with pytest.raises(VbasError, match="has just changed"):
            counting.refuse_if_changed(file)


def test_shapes_count_where_they_are_there_and_the_index_finds_them():
    """Of four, one is empty and one NULL; the index has fewer, as many, or more."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE a (geom)")
        shapes = [b"GP\0\x01....", b"GP\0\x01....", b"GP\0\x11....", None]
        connection.executemany("INSERT INTO a VALUES (?)", [(shape,) for shape in shapes])
        assert _shapes_of_geopackage(connection, "a", "geom") == 2
        connection.execute("CREATE TABLE rtree_a_geom_rowid (id)")
        for found, expected in ((0, 0), (1, 1), (2, 2), (3, 2)):
            connection.execute("DELETE FROM rtree_a_geom_rowid")
            connection.executemany("INSERT INTO rtree_a_geom_rowid VALUES (?)", [(i,) for i in range(found)])
            assert _shapes_of_geopackage(connection, "a", "geom") == expected


@pytest.mark.parametrize("stand", ["by class", "by class, with gaps between", "anyhow"])
def test_rows_of_a_file_are_counted_by_class_whatever_their_order_and_numbers(tmp_path, stand):
    """Up to three classes of one or two rows, for a k of 2."""
    draws, file = np.random.default_rng(1), tmp_path / "out.gpkg"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("CREATE TABLE out (fid INTEGER PRIMARY KEY, a, b, c)")
        for sizes in (sizes for n in range(4) for sizes in product((1, 2), repeat=n)):
            of_class = np.repeat(np.arange(len(sizes)), sizes)
            numbers = np.arange(len(of_class)) + draws.integers(-3, 4)
            if stand == "anyhow":
                draws.shuffle(of_class)
            elif stand != "by class":
                numbers += of_class
            rows = [
                (i, code or None, 0 if code else "z", code % 2) for i, code in zip(to_list(numbers), to_list(of_class))
            ]
            connection.execute("DELETE FROM out")
            connection.executemany("INSERT INTO out VALUES (?, ?, ?, ?)", rows)
            connection.commit()
            counted = _count_classes(connection, file, "fid", ["a", "b", "c"], SecondCount(2, 3))
            assert counted == (len(rows), min(sizes, default=None))


class OfAnother(FileSystem):
    """A folder in which files can be given to nobody, or to no other user."""

    def __init__(self, groups: bool) -> None:
        self.groups = groups
        self.asked: list[tuple[int, int]] = []

    def give(self, path, user, group):
        self.asked.append((user, group))
        if not self.groups or user != -1:
            raise PermissionError(1, "not permitted")


@pytest.mark.parametrize(
    ("mode", "with_group", "without"),
    [
        (0o664, 0o664, 0o644),
        (0o660, 0o660, 0o600),
        (0o666, 0o666, 0o666),
        (0o600, 0o600, 0o600),
        (0o670, 0o670, 0o600),
        (0o647, 0o647, 0o677),
        (0o604, 0o604, 0o644),
        (0o631, 0o631, 0o611),
    ],
)
@of_posix
def test_where_a_group_cannot_be_had_its_rights_are_those_of_others(tmp_path, mode, with_group, without):
    for groups, expected in ((True, with_group), (False, without)):
        part, files = tmp_path / f"{groups}", OfAnother(groups)
        part.touch()
        values = list(part.stat())
        values[0], values[4], values[5] = stat.S_IFREG | mode, part.stat().st_uid + 1, part.stat().st_gid + 1
        like = os.stat_result(values)
        file_place._take_over(part, like, files)
        assert stat.S_IMODE(part.stat().st_mode) == expected
        assert files.asked == [(like.st_uid, like.st_gid), (-1, like.st_gid)]
        own = list(part.stat())
        own[0] = stat.S_IFREG | mode
        files.asked.clear()
        file_place._take_over(part, os.stat_result(own), files)
        assert stat.S_IMODE(part.stat().st_mode) == mode and not files.asked


@pytest.mark.parametrize("journal", sqlite_targets.JOURNALS)
def test_a_database_beside_which_a_journal_stays_was_not_written_whole(tmp_path, journal):
    file = tmp_path / "people.gpkg"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("create table people (name)")
    sqlite_targets.settle(file)

    class WithJournal(FileSystem):
        def is_there(self, path):
            return path.name == f"people.gpkg{journal}"

    with pytest.raises(VbasError, match=r"people\.gpkg was not written whole"):
        sqlite_targets.settle(file, WithJournal())
