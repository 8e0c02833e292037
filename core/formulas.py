"""Texts that a spreadsheet program runs as formulas: a CSV file does not say what is text and what is none."""

from __future__ import annotations

import re
from collections.abc import Iterable

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
        raise InputError(
            tr(
                "{place} would hold texts that spreadsheet programs run as formulas when they open the file (first: "
                "{first}): write .gpkg, .xlsx or .parquet, which say what is text, or change these values.",
                place=place,
                first=shown(formulas),
            )
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
