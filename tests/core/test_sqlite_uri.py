"""SQLite is told of files in one way, wherever they lie: on network drives of Windows and under odd names too."""

from __future__ import annotations

import ast
import sqlite3
from contextlib import closing
from pathlib import PurePosixPath, PureWindowsPath

import pytest

from vbas.core.records import sqlite_file
from vbas.core.records.sqlite_uri import is_no_database, sqlite_uri

from ..scripts import ROOT
from ..systems import of_posix

ODD = ("a b.gpkg", "50%.gpkg", "50%25.gpkg", "what?.gpkg", "one#two.gpkg", "été.gpkg", "a&mode=rw.gpkg", "+.gpkg")


@pytest.mark.parametrize(
    ("path", "there"),
    [
        (PureWindowsPath(r"\\srv\share\folder\a.gpkg"), "file:////srv/share/folder/a.gpkg?mode=ro"),
        (
            PureWindowsPath(r"\\srv\share\Unité 5\50%?#.gpkg"),
            "file:////srv/share/Unit%C3%A9%205/50%25%3F%23.gpkg?mode=ro",
        ),
        (PureWindowsPath(r"C:\folder\a b.gpkg"), "file:///C:/folder/a%20b.gpkg?mode=ro"),
        (PurePosixPath("/folder/a.gpkg"), "file:///folder/a.gpkg?mode=ro"),
        (PurePosixPath("//folder/a.gpkg"), "file:////folder/a.gpkg?mode=ro"),
    ],
)
def test_the_address_that_sqlite_takes(path, there):
    assert sqlite_uri(path, "mode=ro") == there


def test_sqlite_refuses_an_address_with_a_server():
    """What the address of a network drive says as pathlib gives it."""
    address = PureWindowsPath(r"\\srv\share\a.gpkg").as_uri() + "?mode=ro"
    with pytest.raises(sqlite3.OperationalError, match="invalid uri authority"):
        sqlite3.connect(address, uri=True)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("server", [False, True])
@of_posix
def test_files_are_read_under_any_name(tmp_path, monkeypatch, on_a_network_drive, name, server):
    path = tmp_path / name
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE records (a)")
        connection.execute("INSERT INTO records VALUES (1)")
    if server:
        on_a_network_drive()
        assert path.as_uri().startswith(f"file://{tmp_path.parts[1]}/")
    with sqlite_file.reading(path, "RECORDS") as connection:
        assert connection.execute("SELECT a FROM records").fetchall() == [(1,)]
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_only_what_sqlite_has_read_is_no_database(tmp_path):
    def error_of(content, address=None):
        path = tmp_path / "one.gpkg"
        path.write_bytes(content)
        with (
            pytest.raises(sqlite3.Error) as error,
            closing(sqlite3.connect(address or sqlite_uri(path, "mode=ro"), uri=True)) as connection,
        ):
            connection.execute("SELECT name FROM sqlite_master").fetchall()
        return error.value

    with closing(sqlite3.connect(tmp_path / "whole.gpkg")) as connection, connection:
        connection.execute("CREATE TABLE records (a)")
    whole = (tmp_path / "whole.gpkg").read_bytes()
    assert is_no_database(error_of(b"a text, long enough to be looked at " * 30))
    assert not is_no_database(error_of(whole[:100] + b"\xff" * (len(whole) - 100)))  # damaged
    assert not is_no_database(error_of(whole, "file://srv/share/one.gpkg?mode=ro"))
    assert not is_no_database(error_of(whole, f"{tmp_path.as_uri()}/none.gpkg?mode=ro"))
    assert not is_no_database(sqlite3.OperationalError("database is locked"))


@pytest.mark.slow
def test_everybody_asks_for_the_address():
    """Nobody else makes an address for SQLite."""
    for folder in ("core", "algorithms", "vbas_plugin"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
                if any(word.arg == "uri" for word in call.keywords):
                    first = call.args[0]
                    made = ast.unparse(first.func) if isinstance(first, ast.Call) else ""
                    assert made in ("sqlite_uri", "files.uri", "DISK.uri"), f"{file}:{call.lineno}"
                name = getattr(call.func, "attr", "")
                assert name != "as_uri" or file.name == "sqlite_uri.py", f"{file}:{call.lineno}"
