"""Texts that a spreadsheet program runs as formulas: a CSV file does not say what is text and what is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .errors import InputError, first_values
from .language import tr

BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")  # as OWASP lists them under “CSV injection”
# What begins with “=” is run by every spreadsheet program; what begins with another sign by some, and then can do more
# than count where it calls a function, links to another program, or names a sheet: “+cmd|…”, “@SUM(…”, “-x!A1”. Written
# so that the engines of databases understand it too.
RUNS = r"^[\t\r]*(=.|[-+@][^ ]*[A-Za-z_.][(|!])"
_RUNS = re.compile(RUNS, re.DOTALL)


def is_run(text: str) -> bool:
    """Whether a spreadsheet program runs a text of a CSV file as a formula, and it could do more than count."""
    return _RUNS.match(text) is not None


def may_be_run(text: str) -> bool:
    """Whether some spreadsheet program may take a text of a CSV file for a formula."""
    return text.startswith(BEGINNINGS) and not _is_number(text)


def refuse_formulas(place: str, texts: Iterable[str]) -> None:
    """Raise InputError where a CSV file would hold texts that are run; place : the parameter and the file."""
    formulas = [text for text in dict.fromkeys(texts) if is_run(text)]
    if formulas:
        raise InputError.saying(
            "{place} would hold texts that spreadsheet programs run as formulas when they open the file (first: "
            "{first}): write .gpkg, .xlsx or .parquet, which say what is text, or change these values.",
            place=place,
            first=shown(formulas),
        )


def warning_of_folder(file: str, texts: Sequence[str]) -> str:
    """A sentence where a CSV file of a release's folder holds texts that some spreadsheet program may run; else empty.

    Raises InputError for those that every one runs, or that could do more than count.
    """
    runs, may_run = ([text for text in texts if of_kind(text)] for of_kind in (is_run, may_be_run))
    if runs:
        raise InputError.saying(
            "RELEASE_FOLDER: {file} would hold texts that spreadsheet programs run as formulas when they open the file "
            "(first: {first}): set FOLDER_FORMAT to “Parquet” or “GeoPackage”, which say what is text, or change these "
            "values.",
            file=file,
            first=shown(runs),
        )
    if not may_run:
        return ""
    return tr(
        "RELEASE_FOLDER: {file} holds texts that a spreadsheet program may run as formulas when it opens the file "
        "(first: {first}): import it with all columns as text, or set FOLDER_FORMAT to “Parquet” or “GeoPackage”.",
        file=file,
        first=shown(may_run),
    )


def shown(texts: Iterable[str]) -> str:
    """The first of these texts for a message, with what nobody sees written out."""
    return first_values([text.encode("unicode_escape").decode("ascii")[:40] for text in dict.fromkeys(texts)])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
