"""Tables delivered into a GeoPackage that holds other layers, by QGIS and GDAL, with a fault at each call of SQLite.

What SQLite is told of the file system is as in `databases`, and so are the faults. A page goes with the table, so that
each is put back where the other fails.
"""

from __future__ import annotations

import gc
import sqlite3
import tempfile
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from unittest import mock

from osgeo import ogr

from vbas.algorithms.layers.database_tables import sqlite as tables_of_sqlite
from vbas.algorithms.layers.database_tables.address import DatabaseTable
from vbas.algorithms.layers.database_tables.sqlite import SqlitePlace
from vbas.core.errors import VbasError
from vbas.core.publish.delivery import deliver
from vbas.core.publish.file_place import FilePlace
from vbas.core.publish.names import is_aside
from vbas.core.records.sqlite_uri import sqlite_uri

from .databases import PAGE, SHARED_MEMORY, Folder, calls_of, copied, counted, dead_in_silence
from .deliveries import held, in_order
from .memory import FAULTS, Crash, Rules

FILE, TABLE, OTHER = "city.gpkg", "released", "survey"
KINDS = {"a table beside others": False, "over a table": True}  # whether the table is there before


def _table(path: Path, name: str, rows: int) -> None:
    """Make a table of a GeoPackage, as GDAL does."""
    driver = ogr.GetDriverByName("GPKG")
    source = ogr.Open(str(path), 1) if path.exists() else driver.CreateDataSource(str(path))
    if source is None:
        raise VbasError("no table can be made")
    layer = source.CreateLayer(name, geom_type=ogr.wkbNone)
    if layer is None or layer.CreateField(ogr.FieldDefn("a", ogr.OFTInteger)):
        raise VbasError("no table can be made")
    for i in range(rows):
        row = ogr.Feature(layer.GetLayerDefn())
        row.SetField("a", i)
        if layer.CreateFeature(row):
            raise VbasError("no row can be written")
    if layer.SyncToDisk():
        raise VbasError("the rows cannot be kept")


@cache
def _before(kind: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="databases-")) / "out"
    folder.mkdir()
    _table(folder / FILE, OTHER, 40)
    if KINDS[kind]:
        _table(folder / FILE, TABLE, 3)
    (folder / PAGE).write_bytes(b"old")
    return folder


def _place(files: Folder) -> SqlitePlace:
    file = files.out / FILE
    return SqlitePlace(TABLE, DatabaseTable("ogr:", "ogr", f"dbname='{file}' table=\"{TABLE}\""), file)


def run(files: Folder) -> list[str]:
    """A delivery as forms make it: files first, then tables."""
    with ExitStack() as stack:
        held(files, [files.out / FILE, files.out / PAGE], stack)
        place = _place(files)
        told = list(stack.enter_context(place.held()))
        stack.callback(lambda: told.extend(place.discard()))
        place.begun = True
        _table(files.out / FILE, place.new, 7)
        staged = files.root / "staging" / PAGE
        staged.mkdir(parents=True)
        (staged / PAGE).write_bytes(b"new")
        return told + deliver([FilePlace(PAGE, staged / PAGE, files.out / PAGE, files=files), place])


def state(out: Path) -> tuple[dict[str, object], dict[str, int]]:
    """What everybody finds who opens the file and the page; and the rows of tables that are aside, by name."""
    found: dict[str, object] = {PAGE: (out / PAGE).read_bytes() if (out / PAGE).exists() else None}
    with closing(sqlite3.connect(sqlite_uri(out / FILE, "mode=rw"), uri=True)) as connection:
        found["integrity"] = connection.execute("PRAGMA integrity_check").fetchall()
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        listed = {name for (name,) in connection.execute("SELECT table_name FROM gpkg_contents")}
        rows = {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}
    found |= {name: rows.get(name) for name in (OTHER, TABLE)}
    found["listed"] = sorted(name for name in listed if not is_aside(name))
    return found, {name: rows[name] for name in tables if is_aside(name)}


@cache
def _after(kind: str) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="databases-") as root:
        copied(_before(kind), Path(root) / "out")
        assert run(Folder(Rules("ext4"), Path(root), calls_of(True))) == []
        found, aside = state(Path(root) / "out")
        assert aside == {}
        return found


def outcome(rules: Rules, kind: str, fault: str, at: int) -> tuple[bool, list[str]]:
    """One delivery with one fault: whether the fault happened, and what is wrong with what was left."""
    (old, _), new, calls = state(_before(kind)), _after(kind), calls_of(rules.title in SHARED_MEMORY)
    with tempfile.TemporaryDirectory(prefix="databases-") as root:
        copied(_before(kind), Path(root) / "out")
        files = Folder(rules, Path(root), calls)
        files.is_with_gdal = True
        files.arm(fault, at)
        said, ended, wrong = "", False, []
        with calls.before(), in_order(), mock.patch.object(tables_of_sqlite, "DISK", files), dead_in_silence():
            try:
                said, ended = " ".join(run(files)), True
            except Crash:
                pass
            except (VbasError, OSError) as error:
                said = str(error)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
                wrong += [] if files.dead else [f"no sentence: {said}"]
            gc.collect()
        happened, where, crashed = bool(files.said), " ".join(files.said), files.dead
        calls.calls = lambda name, path, do: do()
        files.restart()
        there, aside = state(files.out)
        kept = sorted(aside.values())
        wrong += [
            f"{name} is neither old nor new: {there[name]}"
            for name in there
            if there[name] not in (old[name], new[name])
            and not (name == TABLE and there[name] is None and old[TABLE] in kept)
            and not (name == "listed" and there[TABLE] is None)
        ]
        differ = [name for name in (PAGE, TABLE) if there[name] != old[name]]
        if ended:
            wrong += [] if there == new else ["it ends well, and what is there is not new"]
        elif not crashed and "Nothing was changed" in said:
            wrong += [f"{name} was changed" for name in differ]
        elif not crashed:
            wrong += [f"{name} is not as it was, and not named" for name in differ if name not in said]
        with in_order(), ExitStack() as stack:
            held(files, [files.out / FILE, files.out / PAGE], stack)
            told = " ".join(stack.enter_context(_place(files).held()))
        there, left = state(files.out)
        wrong += [f"{name} is left and not named" for name in left if name not in told]
        if crashed:
            wrong += [f"{name} is not put back" for name in there if there[name] not in (old[name], new[name])]
        wrong += [f"said: {said}"] if wrong else []
    return happened, [f"{rules.title}, {kind}, {fault} at {at} ({where}): {one}" for one in wrong]


def matrix(every_rule, kinds=tuple(KINDS), faults=FAULTS, step=1, start=1):
    """All faults at all calls (or each step-th); counts by rules, kind and fault, and what is wrong."""
    return counted(outcome, every_rule, kinds, faults, step, start)
