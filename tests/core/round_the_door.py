"""What of a source goes about files by another way than the door, as far as its text tells."""

from __future__ import annotations

import ast

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
SYSTEM = ("os", "shutil")
ELSEWHERE = {
    *("tempfile", "fcntl", "msvcrt", "io", "_io", "posix", "nt", "mmap", "ctypes", "subprocess", "fileinput"),
    *("codecs", "gzip", "bz2", "lzma", "zipfile", "tarfile", "shelve", "dbm"),
}
IN_MEMORY = {"StringIO", "BytesIO", "TextIOWrapper"}
CHANGING = {
    *("unlink", "mkdir", "rmdir", "rename", "touch", "symlink_to", "hardlink_to", "chmod", "lchmod"),
    *("write_text", "write_bytes"),
}
# What libraries write by themselves, if they are told where.
BY_LIBRARIES = {
    *("save", "savez", "savez_compressed", "savetxt", "tofile", "open_memmap", "savefig", "FileHandler"),
    *("to_csv", "to_parquet", "to_pickle", "to_feather", "to_excel", "to_hdf", "to_file", "to_json", "to_html"),
    *("ParquetWriter", "write_table", "write_csv", "write_parquet", "write_feather", "write_dataset"),
    *("write_dataframe", "write_arrow", "saveNamedStyle", "exportToPdf", "exportToImage", "exportToSvg"),
    *("Unlink", "Rename", "CreateDataSource", "DeleteDataSource", "CreateCopy", "VectorTranslate"),
}
PLACES = {"path", "path_or_buf", "fname", "file", "filename", "where", "name", "excel_writer"}
OF_QT = {
    *("QFile", "QSaveFile", "QDir", "QTemporaryFile", "QTemporaryDir", "QLockFile", "QProcess"),
    *("QgsVectorFileWriter", "QgsRasterFileWriter", "QgsLayoutExporter", "QgsVectorLayerExporter"),
}
SEEING = {
    *("exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "iterdir", "glob", "rglob", "samefile", "resolve"),
    *("read_text", "read_bytes", "open", "as_uri", "owner", "group"),
}
SEEING_OF_OS = {"realpath", "exists", "lexists", "isfile", "isdir", "islink", "getsize", "getmtime", "samefile"}


def ways(source, strict):
    """How a source goes about files without the door: the line, and what it says.

    strict : what is only looked at counts too
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            found = _is_taken_from(node)
        elif isinstance(node, ast.Import):
            found = any(
                one.name.partition(".")[0] in ELSEWHERE
                or (one.asname and one.name.partition(".")[0] in (*SYSTEM, "sqlite3", "pathlib"))
                for one in node.names
            )
        elif isinstance(node, ast.Attribute):
            found = _changes_or_asks(node, strict)
        else:
            found = isinstance(node, ast.Call) and _is_way(node, strict)
        if found and isinstance(node, (ast.stmt, ast.expr)):
            yield node.lineno, ast.unparse(node)


def _is_taken_from(node):
    room = (node.module or "").partition(".")[0]
    names = {one.name for one in node.names}
    if node.level:
        return False
    return (
        room in SYSTEM
        or (room in ELSEWHERE and not names <= IN_MEMORY)
        or bool(names & (OF_QT | {*SYSTEM, "FileHandler"}))
        or (room in ("sqlite3", "duckdb") and "connect" in names)
    )


def _changes_or_asks(node, strict):
    """Of a name behind a dot, called or handed on: whether what it names changes files."""
    of = ast.unparse(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else ""
    if of in SYSTEM:
        return f"{of}.{node.attr}" not in LOOKING
    if of == "os.path":
        return strict and node.attr in SEEING_OF_OS
    if of.rpartition(".")[2] in ("Path", "PosixPath"):
        return node.attr in CHANGING | {"replace", "open"}
    return (node.attr in CHANGING or node.attr in OF_QT) and not _is_asked(node.value)


def _is_way(call, strict):
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    first = call.args[0] if call.args else None
    said = first.value if isinstance(first, ast.Constant) else None
    if isinstance(call.func, ast.Name):
        if name == "open":
            return strict or _is_written(call, 1)
        if name == "getattr" and first is not None:
            what = call.args[1].value if isinstance(call.args[1], ast.Constant) else ""
            return (ast.unparse(first) in SYSTEM and not str(what).startswith(("O_", "RTLD_"))) or what in CHANGING
        if name in ("__import__", "exec", "eval"):
            return True
    elif not isinstance(call.func, ast.Attribute) or _is_asked(call.func.value):
        return False
    elif name == "open":
        return strict or _is_written(call, 0)
    elif name == "replace":  # of a text it takes two words
        return (len(call.args) == 1 and not call.keywords) or "target" in _words(call)
    elif strict and name in SEEING:
        return True
    elif name == "connect" and ast.unparse(call.func.value) in ("sqlite3", "duckdb"):
        return first is not None and not _is_opened_to_read(call)
    if name == "import_module":
        return said in ELSEWHERE or said in SYSTEM
    if name == "methodcaller":
        return said in CHANGING
    if name == "memmap":
        mode = [*call.args[2:3], *(word.value for word in call.keywords if word.arg == "mode")]
        return not (mode and isinstance(mode[0], ast.Constant) and mode[0].value in ("r", "c"))
    return name in BY_LIBRARIES and (first is not None or bool(PLACES & _words(call)))


def _words(call):
    return {word.arg for word in call.keywords}


def _is_opened_to_read(call):
    """Whether a database is in memory, read only, or found by the door."""
    said = ast.unparse(call.args[0])
    read = any(word.arg == "read_only" and ast.unparse(word.value) == "True" for word in call.keywords)
    return read or said == "':memory:'" or "mode=ro" in said or said.startswith(("files.", "DISK.", "self._files."))


def _is_asked(node):
    """Whether it is the door."""
    return ast.unparse(node) in ("files", "self._files", "self._at", "DISK")


def _is_written(call, position):
    """Whether what is opened may be written, which a mode that is worked out does not tell."""
    given = [*call.args[position : position + 1], *(word.value for word in call.keywords if word.arg in ("mode", None))]
    return any(
        not isinstance(one, ast.Constant) or (isinstance(one.value, str) and bool(set(one.value) & set("wax+")))
        for one in given
    )
