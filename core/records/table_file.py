"""A table in a file: read by SQLite alone where that gives just what is shown, else held still and counted while others
read it.

Who shows the table describes it once, and hands it over; all that a file itself says is asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..dataclass import dataclass
from ..errors import InputError
from . import sqlite_file
from .columns import Column
from .plain_files import check_shp, count_dbf, csv_rows, scan_csv
from .sqlite_columns import read_table

_SIDE_FILES = (".shp", ".shx", ".dbf", ".cpg", ".csvt")
_ALTERED = (
    *("invalid value", "invalid content", "truncat", "overflow", "out of range", "recode", "not a valid"),
    *("parsed incompletely", "clamped"),
)
_MAPINFO = b"!table"  # the first line of a table of MapInfo
State = list["tuple[int, int, int] | None"]
# The declarations that GeoPackages have for values that need no conversion.
DECLARED = {
    sqlite_file.INTEGER: ("MEDIUMINT",),
    sqlite_file.LONG: ("INTEGER", "INT"),
    sqlite_file.REAL: ("DOUBLE", "REAL"),
    sqlite_file.TEXT: ("TEXT",),
}


@dataclass(frozen=True)
class TableFile:
    """A table in a file, as it is shown.

    path : of the file; table : its name there, in SQLite; fields : the names of all that it shows, in their order
    read : fields that are read; kinds : what those hold that come from the file itself, SHORT, LONG, TEXT, …
    """

    path: Path
    table: str
    fields: Sequence[str]
    read: Sequence[str]
    kinds: Mapping[str, str]


@dataclass(frozen=True)
class Held:
    """n_rows : rows of the table, counted without its reader, None where nothing else can; longest : bytes of the
    longest row of a CSV file, else 0."""

    n_rows: int | None
    longest: int = 0


def check_rows(n_read: int, n_rows: int | None, parameter: str) -> None:
    """Raises InputError where another number of rows was read than the table has; n_rows : None where not known."""
    if n_rows not in (None, n_read):
        raise InputError.counting(
            "{parameter}: {n} row was read where {n_rows} are: the data are damaged, or another program is changing "
            "them. Run again with a whole file that nothing writes to.",
            "{parameter}: {n} rows were read where {n_rows} are: the data are damaged, or another program is changing "
            "them. Run again with a whole file that nothing writes to.",
            n_read,
            parameter=parameter,
            n_rows=n_rows,
        )


def altered_values(said: Iterable[str]) -> str:
    """Of what GDAL said while it read, the first that tells of values which it gave otherwise than they are; empty for
    none."""
    return next((text for text in said if any(word in text.lower() for word in _ALTERED)), "")


def unread_as_it_is(parameter: str, said: str) -> InputError:
    """What is said of a table that a reader altered or broke off; said : what the reader said of it."""
    return InputError.saying(
        "{parameter} cannot be read as it is ({found}): correct it, or use an undamaged copy.",
        parameter=parameter,
        found=said.strip().rstrip("."),
    )


def is_csv(path: Path) -> bool:
    """Whether a file is one of plain rows, by its ending; MapInfo's tables end as some of them do."""
    ending = path.suffix.lower()
    if ending == ".tab":
        with path.open("rb") as file:
            return file.read(len(_MAPINFO)).lower() != _MAPINFO
    return ending in (".csv", ".tsv", ".psv")


def read_as_declared(file: TableFile, parameter: str, progress: Callable[[float], None]) -> dict[str, Column] | None:
    """The columns of a table of SQLite's; None where a field may show other values than SQLite holds.

    parameter : for messages. Raises InputError where not every row can be read, or a value is not of its field's kind.
    """
    if any(name not in file.kinds for name in file.read):
        return None
    declared = sqlite_file.declared_types(file.path, file.table, parameter)
    kinds = {name: file.kinds[name] for name in file.read}
    if any(declared.get(name, "").partition("(")[0] not in DECLARED.get(kind, ()) for name, kind in kinds.items()):
        return None
    return read_table(file.path, file.table, kinds, parameter, progress)


@contextmanager
def held(file: TableFile, parameter: str) -> Iterator[Held]:
    """The rows of the table, counted without its reader, while its files stay as they are.

    The values of the fields that are read are checked where the format does not hold them to the field's type;
    parameter : for messages. Raises InputError, also afterwards where the files were changed meanwhile.
    """
    before = state_of(file.path)
    if sqlite_file.is_sqlite(file.path):
        with sqlite_file.reading(file.path, parameter) as connection:
            count = None
            if sqlite_file.has_table(connection, file.table):
                declared = sqlite_file.columns_of(connection, file.table)
                kinds = {
                    name: sqlite_file.SHORT if declared[name] in ("SMALLINT", "TINYINT") else kind
                    for name, kind in file.kinds.items()
                    if name in declared
                }
                count = sqlite_file.check_table(connection, file.path, file.table, parameter)
                sqlite_file.check_values(connection, file.path, file.table, kinds, parameter)
            yield Held(count)
    else:
        yield _counted(file, parameter)
    if state_of(file.path) != before:
        raise InputError.saying(
            "{parameter}: {name} was changed by another program while it was read: run again when that has ended.",
            parameter=parameter,
            name=file.path.name,
        )


def state_of(path: Path) -> State:
    """Which file this is, how large and when written; its side files too."""
    states: State = []
    for file in (path, *(path.with_suffix(end) for end in _SIDE_FILES)):
        try:
            status = file.stat()
        except OSError:
            states.append(None)
        else:
            states.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return states


def _counted(file: TableFile, parameter: str) -> Held:
    suffix = file.path.suffix.lower()
    if suffix in (".shp", ".dbf"):
        dbf = file.path.with_suffix(".dbf") if suffix == ".shp" else file.path
        if file.path.with_suffix(".shp").is_file():
            check_shp(file.path.with_suffix(".shp"), parameter)
        if dbf.is_file():
            return Held(count_dbf(dbf, file.read, parameter))
    if is_csv(file.path):
        scan = scan_csv(file.path, parameter)
        return Held(csv_rows(scan, file.path, file.fields), scan.longest)
    return Held(None)
