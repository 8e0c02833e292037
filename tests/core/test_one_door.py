"""What makes, renames, replaces, locks or removes files passes one door: nothing else asks the system for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vbas.core.publish.files import FileSystem

from .round_the_door import ways

ROOT = Path(__file__).resolve().parents[2]
DOOR = "core/publish/files.py"
SHIPPED = [
    str(file.relative_to(ROOT))
    for room in ("core", "algorithms", "vbas_plugin")
    for file in (ROOT / room).rglob("*.py")
]
# Where outputs are delivered even what is only looked at passes the door, so that a simulated file system can answer.
DELIVERING = [
    *sorted(file for file in SHIPPED if Path(file).parent == Path("core/publish")),
    "core/package/place.py",
    "core/package/delivering.py",
]
# These are no files: a folder of a cluster and what Hadoop calls one, bytes in memory, and one more hold on an object.
NO_FILES = {
    ("core/engines/duckdb.py", "import ctypes"),
    ("core/engines/spark.py", "staged.rename"),
    ("core/engines/spark_destinations.py", "context.rename"),
    ("algorithms/form/signing.py", "buffer.open(QIODevice.OpenModeFlag.WriteOnly)"),
}
# What libraries write or open by themselves, in a folder that the door has made for the run; and pip, on a click.
IN_OWN_FOLDERS = {
    "core/engines/duckdb.py": {"rows.write_parquet", "rows.write_csv"},
    "core/package/writing.py": {"parquet.ParquetWriter", "writer.write_table", "write_csv", "sqlite3.connect"},
    **{
        f"core/publish/geopackage/{name}.py": {"sqlite3.connect"}
        for name in ("filling", "making", "pages", "recounting")
    },
    "core/records/sqlite_file.py": {"sqlite3.connect"},  # never to write: the mode is one of two
    "algorithms/layers/delivery/styles.py": {"layer.saveNamedStyle"},
    "algorithms/layers/delivery/writing.py": {"QgsVectorFileWriter"},
    "vbas_plugin/packages/window.py": {"QProcess"},
}


def _is_known(file, text):
    own = IN_OWN_FOLDERS.get(file, set())
    if text.startswith("from "):  # alone of its kind in that line
        return any(f" {name}" in text for name in own)
    return (file, text) in NO_FILES or text.partition("(")[0] in own


@pytest.mark.slow
@pytest.mark.parametrize("room", ["core", "algorithms", "vbas_plugin"])
def test_nothing_but_the_door_changes_files(room):
    found = [
        (file, line, text)
        for file in SHIPPED
        if file.startswith(f"{room}/") and file != DOOR
        for line, text in ways((ROOT / file).read_text(encoding="utf-8"), file in DELIVERING)
        if not _is_known(file, text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.replace(a, b)",
        "import os as system",
        "import os.path as paths",
        "from os import replace",
        "from os.path import os",
        "from pathlib import os",
        "import tempfile",
        "import shutil\nshutil.rmtree(a)",
        "import shutil as sh",
        "import codecs",
        "from io import FileIO",
        "from zipfile import ZipFile",
        "import gzip",
        "import subprocess\nsubprocess.run(['mv', a, b])",
        "from subprocess import run",
        "import posix",
        "os.fdopen(a, 'wb')",
        "os.system('mv a b')",
        "a.replace(b)",
        "a.replace(target=b)",
        "a.with_name('x').replace(b)",
        "Path.replace(a, b)",
        "Path.open(a, 'w')",
        "a.unlink(missing_ok=True)",
        "list(map(Path.unlink, a))",
        "stack.callback(a.unlink)",
        "methodcaller('unlink')(a)",
        "getattr(a, 'unlink')()",
        "getattr(os, 'replace')(a, b)",
        "__import__('os')",
        "import_module('shutil')",
        "importlib.import_module('tempfile')",
        "exec('import os')",
        "a.open('wb')",
        "a.open(mode='r+b')",
        "open(a, 'x')",
        "open(a, mode)",
        "open(a, 'wb' if new else 'ab')",
        "open(a, **how)",
        "def lock():\n    import fcntl",
        "np.save(a, b)",
        "np.savez_compressed(a, b=b)",
        "b.tofile(a)",
        "np.memmap(a, np.uint8, 'w+', shape=(1,))",
        "np.memmap(a, np.uint8)",
        "frame.to_csv(a)",
        "frame.to_pickle(path=a)",
        "pq.write_table(table, a)",
        "pyogrio.write_dataframe(frame, a)",
        "image.save(a)",
        "figure.savefig(a)",
        "logging.FileHandler(a)",
        "sqlite3.connect(a)",
        "sqlite3.connect(f'file:{a}?mode=rw', uri=True)",
        "from sqlite3 import connect",
        "import sqlite3 as database",
        "duckdb.connect(str(a))",
        "from qgis.PyQt.QtCore import QFile",
        "QtCore.QDir().mkpath(a)",
        "from qgis.core import QgsVectorFileWriter",
        "layer.saveNamedStyle(a)",
        "gdal.Unlink(a)",
        "gdal.VectorTranslate(a, b)",
    ],
)
def test_other_ways_are_seen(source):
    assert list(ways(source, False))


@pytest.mark.parametrize(
    "source",
    [
        "files.replace(a, b)",
        "DISK.remove(a)",
        "text.replace(a, b)",
        "replace(asked, k=5)",
        "when.replace(microsecond=0)",
        "from io import StringIO",
        "from .io import written",
        "import os.path",
        "getattr(os, 'O_NOFOLLOW', 0)",
        "import_module('networkx')",
        "frame.to_csv()",
        "painter.save()",
        "np.memmap(a, np.uint8, 'r')",
        "sqlite3.connect(':memory:')",
        "sqlite3.connect(files.uri(a, mode), uri=True)",
        "sqlite3.connect(sqlite_uri(a, 'mode=ro'), uri=True)",
        "duckdb.connect()",
        "duckdb.connect(a, read_only=True)",
    ],
)
def test_what_changes_no_file_is_let_pass(source):
    assert not list(ways(source, False))


@pytest.mark.parametrize("source", ["a.exists()", "os.path.lexists(a)", "a.open('rb')", "open(a)", "a.samefile(b)"])
def test_where_outputs_are_delivered_looking_is_seen_too(source):
    assert list(ways(source, True)) and not list(ways(source, False))


def test_what_the_door_offers_is_said():
    offered = [one for name, one in vars(FileSystem).items() if callable(one) and not name.startswith("_")]
    assert len(offered) > 30 and all(one.__doc__ for one in offered)
