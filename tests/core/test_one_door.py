"""What makes, renames, replaces, locks or removes files passes one door: nothing else asks the system for it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from vbas.core.publish.files import FileSystem

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
# Of the modules of Python, what changes nothing on a disk.
LOOKING = {
    *(
        "os.environ",
        "os.path",
        "os.PathLike",
        "os.stat_result",
        "os.strerror",
        "os.fspath",
        "os.fstat",
        "os.getpid",
        "os.cpu_count",
    ),
    *("os.sep", "os.name", "os.devnull", "os.pathsep", "os.getenv", "os.add_dll_directory", "os.sched_getaffinity"),
    *("shutil.which",),
}
CHANGING = {
    *("unlink", "mkdir", "rmdir", "rename", "touch", "symlink_to", "hardlink_to", "chmod", "lchmod"),
    *("write_text", "write_bytes"),
}
SEEING = {
    *("exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "iterdir", "glob", "rglob", "samefile", "resolve"),
    *("read_text", "read_bytes", "open", "as_uri", "owner", "group"),
}
SEEING_OF_OS = {"realpath", "exists", "lexists", "isfile", "isdir", "islink", "getsize", "getmtime", "samefile"}
# These are no files: a folder of a cluster and what Hadoop calls one.
NO_FILES = {
    ("core/engines/spark.py", "staged.rename(final)"),
    ("core/engines/spark_destinations.py", "context.rename(self._of(self.path), self._of(final.path), none)"),
}


def ways(source, strict):
    """How a source goes about files without the door: the line, and what it says."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in ("os", "shutil", "tempfile", "fcntl", "msvcrt"):
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Import):
            yield from (
                (node.lineno, one.name) for one in node.names if one.name in ("tempfile", "fcntl", "msvcrt", "io")
            )
        elif isinstance(node, ast.Attribute):
            of = ast.unparse(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else ""
            text = f"{of}.{node.attr}"
            if (of in ("os", "shutil") and text not in LOOKING) or (
                strict and of == "os.path" and node.attr in SEEING_OF_OS
            ):
                yield node.lineno, text
        elif isinstance(node, ast.Call):
            yield from ((node.lineno, ast.unparse(node)) for _ in range(_changes(node, strict)))


def _changes(call, strict):
    if isinstance(call.func, ast.Name):
        return call.func.id == "open" and (strict or _is_written(call, 1))
    if not isinstance(call.func, ast.Attribute) or _is_asked(call.func.value):
        return False
    name = call.func.attr
    if name == "open":
        return strict or _is_written(call, 0)
    if name == "replace":  # of a text it takes two words
        return len(call.args) == 1 and not call.keywords
    return name in CHANGING or (strict and name in SEEING)


def _is_asked(node):
    """Whether it is the door."""
    return ast.unparse(node) in ("files", "self._files", "self._at", "DISK")


def _is_written(call, position):
    given = [*call.args[position : position + 1], *(word.value for word in call.keywords if word.arg == "mode")]
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) and set(one.value) & set("wax+") for one in given
    )


@pytest.mark.slow
@pytest.mark.parametrize("room", ["core", "algorithms", "vbas_plugin"])
def test_nothing_but_the_door_changes_files(room):
    found = [
        (file, line, text)
        for file in SHIPPED
        if file.startswith(f"{room}/") and file != DOOR
        for line, text in ways((ROOT / file).read_text(encoding="utf-8"), file in DELIVERING)
        if (file, text) not in NO_FILES
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.replace(a, b)",
        "from os import replace",
        "import tempfile",
        "import shutil\nshutil.rmtree(a)",
        "a.replace(b)",
        "a.unlink(missing_ok=True)",
        "a.open('wb')",
        "a.open(mode='r+b')",
        "open(a, 'x')",
        "def lock():\n    import fcntl",
    ],
)
def test_other_ways_are_seen(source):
    assert list(ways(source, False))


@pytest.mark.parametrize("source", ["a.exists()", "os.path.lexists(a)", "a.open('rb')", "open(a)", "a.samefile(b)"])
def test_where_outputs_are_delivered_looking_is_seen_too(source):
    assert list(ways(source, True)) and not list(ways(source, False))


def test_what_the_door_offers_is_said():
    offered = [one for name, one in vars(FileSystem).items() if callable(one) and not name.startswith("_")]
    assert len(offered) > 30 and all(one.__doc__ for one in offered)
