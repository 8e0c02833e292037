"""CSV files of many rows: GDAL writes each different value once, and lines are put together from what it wrote.

So a cell is what GDAL makes of it, whatever its version and quotation marks, and a row costs no feature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ....core.dataclass import dataclass
from ....core.formulas import may_be_run, refuse_formulas, shown
from ....core.language import tr
from ....core.progress import Progress
from ....core.publish.files import DISK
from ....core.publish.folders import temporary_folder
from ....core.records.table import unused_name
from ...compat import field, kind_of
from ..tables import CHUNK, StreamedTable, Table

MANY = 20_000  # rows, from which on it is worth it
ROWS_A_VALUE = 4  # and rows for each different value
_CELL = re.compile(r'(?:^|,)("(?:[^"]|"")*"|[^,"]*)')


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of a CSV file: codes, (n,) of each column, and the texts that they stand for.

    end : of a line; last : (n,) int64, up to which row of the file each stands, None for once
    """

    codes: Sequence[np.ndarray]
    texts: Sequence[np.ndarray]
    end: str
    last: np.ndarray | None

    def append_to(self, file: Path, progress: Progress) -> None:
        """Append all rows to a file that holds the names of the fields. Raises OSError."""
        names = DISK.read_bytes(file)
        n_rows = len(self.codes[0]) if self.last is None else int(self.last[-1])
        with DISK.staged(file) as out:
            out.write(names)
            for first in range(0, n_rows, CHUNK):
                progress(first / n_rows)
                rows: slice | np.ndarray = slice(first, first + CHUNK)
                if self.last is not None:
                    rows = np.searchsorted(
                        self.last, np.arange(first, min(first + CHUNK, n_rows), dtype=np.int64), side="right"
                    )
                columns = [texts[codes[rows]].tolist() for texts, codes in zip(self.texts, self.codes)]
                lines = self.end.join(map(",".join, zip(*columns)))
                out.write((lines + self.end).encode("utf-8"))


def cells_of(table: Table, write: Callable[[Path, Table], None]) -> Cells | None:
    """The cells of a table, None for one whose lines are to be written by GDAL.

    write : has GDAL write a table into a new file. Raises VbasError.
    """
    if isinstance(table, StreamedTable) or len(table) < MANY or table.geometry != "none":
        return None
    # Of one column alone GDAL marks what is empty.
    coded = table.coded() if len(table.fields) > 1 and table.plain else None
    if coded is None:
        return None
    codes, values = zip(*coded[0])
    longest = max(map(len, values))
    if longest * ROWS_A_VALUE > len(table):
        return None
    if any(isinstance(value, str) and ("\n" in value or "\r" in value) for of in values for value in of):
        return None
    number = field(unused_name("n", [of.name() for of in table.fields]), "long")
    once = Table(
        [number, *table.fields],
        [np.arange(longest, dtype=np.int64), *([*of, *[None] * (longest - len(of))] for of in values)],
    )
    with temporary_folder() as folder:
        write(folder / "values.csv", once)
        content = DISK.read_bytes(folder / "values.csv").decode("utf-8")
    end = "\r\n" if content.partition("\n")[0].endswith("\r") else "\n"
    rows = [_CELL.findall(line) for line in content.split(end)[1:-1]]
    if len(rows) != longest or any(len(row) != len(once.fields) for row in rows):
        return None
    texts = [np.array(column, dtype=object) for column in list(zip(*rows))[1:]]
    return Cells(codes, texts, end, None if table.copies is None else np.cumsum(table.copies))


WITHOUT_TYPES = (".csv", ".tsv", ".psv", ".txt")


def warning_of_formulas(output: str, file: Path, table: Table) -> str:
    """A sentence where a file holds names or texts that some spreadsheet program may take for formulas; else empty.

    Such texts are released as they are: whoever put a mark before them would change what is known of a person, and who
    reads the file by a program that runs nothing would read other values than were counted. Raises InputError for those
    that every spreadsheet program runs, or that could do more than count.
    """
    if file.suffix.lower() not in WITHOUT_TYPES:
        return ""
    names = [field.name() for field in table.fields]
    texts = [
        value
        for position, field in enumerate(table.fields)
        if kind_of(field) == "text"
        for value in table.distinct(position)
        if isinstance(value, str)
    ]
    refuse_formulas(f"{output}: {file.name}", (*names, *texts))
    formulas = [text for text in (*names, *texts) if may_be_run(text)]
    if not formulas:
        return ""
    return tr(
        "{output}: {file} holds texts that a spreadsheet program may run as formulas when it opens the file (first: "
        "{first}): import it there with all columns as text, or write a GeoPackage or .xlsx.",
        output=output,
        file=file.name,
        first=shown(formulas),
    )
