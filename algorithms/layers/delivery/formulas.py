"""Texts that a spreadsheet program may run, in files that do not say what is text and what is a formula."""

from __future__ import annotations

from pathlib import Path

from ....core.formulas import may_be_run, refuse_formulas, shown
from ....core.language import tr
from ...compat import kind_of
from ..tables import Table

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
