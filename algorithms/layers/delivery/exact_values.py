"""Whether values come out of a file or layer as they went in: what a field can hold, and what was read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from qgis.core import QgsField
from qgis.PyQt.QtCore import QDate, QDateTime, QTime

from ....core.errors import InputError, first_values
from ....core.language import tr
from ....core.plain_text import plain_text
from ...compat import kind_of
from ..tables import Table

# Beyond, a floating-point number steps over whole numbers.
EXACT_WHOLE = 2**53
# Whole numbers from here on have more than the 15 digits that a text format writes of a real.
MOST_DIGITS = 10.0**15
MOMENTS = ("date", "time", "datetime")  # which are compared by their numbers alone
RANGES = {"integer": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1)}


def check_writable(output: str, table: Table) -> None:
    """Refuse a table that no file or layer could hold unchanged, before anything of it is written.

    Raises InputError that names the field and the first values.
    """
    _check_names(output, table.fields)
    for position, field in enumerate(table.fields):
        kind = kind_of(field)
        if kind is None:
            _refuse_type(field, output)
        values = [value for value in table.distinct(position) if value is not None]
        wrong = [] if _holds_all(values, str(kind)) else [value for value in values if not _holds(value, str(kind))]
        if wrong:
            raise InputError.saying(
                "{output}: field “{one}” ({type}) cannot hold the values {first} unchanged: correct them, or take the "
                "field out.",
                output=output,
                one=field.name(),
                type=field.typeName() or kind,
                first=first_values(map(_visible, wrong)),
            )


def exact_text(value: object, kind: str) -> str | None:
    """One text for a value however a format says it, by the kind of the field it was written into.

    None for the missing value and for empty text: CSV, DBF and others cannot tell them apart, and merging the two only
    makes classes larger. Reals keep the 15 significant digits that a text format writes, but whole numbers all of them:
    they may be the identifiers of areas.
    """
    if value is None or value == "" or value != value:
        return None
    try:
        return _TEXTS[kind](value)
    except (TypeError, ValueError, OverflowError):
        return tr("not {kind}: {value}", kind=kind, value=value)


def changed_values(written: Iterable[object], read: Iterable[object], kind: str) -> list[str]:
    """The written values, as people read them, that are not among those read."""
    there = {None, *(exact_text(value, kind) for value in read)}
    texts = ((value, exact_text(value, kind)) for value in written)
    return [plain_text(value) if kind in MOMENTS else str(text) for value, text in texts if text not in there]


def is_long_whole(value: float) -> bool:
    """Whether a real is a whole number of more digits than a text format writes."""
    return abs(value) >= MOST_DIGITS and value.is_integer()


def _check_names(output: str, fields: Sequence[QgsField]) -> None:
    used: set[str] = set()
    for field in fields:
        name = field.name()
        if not name or any(ord(character) < 32 or ord(character) == 127 for character in name):
            raise InputError.saying(
                "{output}: a field named “{field}” cannot be written: rename it first.",
                output=output,
                field=_visible(name),
            )
        if name.lower() in used:
            raise InputError.saying(
                "{output} would have two fields called “{name}”, which files and databases do not tell apart: rename "
                "the field in the input first.",
                output=output,
                name=name,
            )
        used.add(name.lower())


def _refuse_type(field: QgsField, parameter: str) -> None:
    raise InputError.saying(
        "{parameter}: field “{one}” holds values of type {type}, which cannot be written unchanged: choose a field of "
        "numbers, text, dates or times.",
        parameter=parameter,
        one=field.name(),
        type=field.typeName() or tr("unknown"),
    )


def _holds_all(values: Sequence[Any], kind: str) -> bool:
    """Whether values of one type can be said to be held without a look at each."""
    types = set(map(type, values))
    if types == {str}:
        return _holds("".join(values), kind)
    if types == {int} and kind in RANGES:
        return _holds(min(values), kind) and _holds(max(values), kind)
    return types == {float} and kind == "real"


def _holds(value: object, kind: str) -> bool:
    if kind == "text":
        return isinstance(value, str) and "\0" not in value and _encodable(value)
    if kind in RANGES:
        low, high = RANGES[kind]
        if isinstance(value, float):
            return value != value or (abs(value) < EXACT_WHOLE and value.is_integer() and low <= value <= high)
        return isinstance(value, int) and low <= value <= high
    if kind == "real":
        return isinstance(value, float) or (isinstance(value, int) and abs(value) <= EXACT_WHOLE)
    if kind == "boolean":
        return isinstance(value, (bool, int)) and value in (0, 1)
    return isinstance(value, {"date": QDate, "time": QTime, "datetime": QDateTime}[kind]) and value.isValid()


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _visible(value: object) -> object:
    """A value for a message: characters that break a line or end a text are shown by their number."""
    return (
        value.encode("unicode_escape").decode("ascii") if isinstance(value, str) and not value.isprintable() else value
    )


def _whole(value: object) -> str:
    if isinstance(value, float):
        if not value.is_integer():
            raise ValueError(value)
        return str(int(value))
    return str(int(value))  # type: ignore[call-overload]


def _real(value: object) -> str:
    number = float(value) + 0.0  # type: ignore[arg-type]  # -0.0 is 0
    return str(int(number)) if is_long_whole(number) else format(number, ".15g")


def _boolean(value: object) -> str:
    word = str(value).lower()
    return {"true": "1", "false": "0", "t": "1", "f": "0"}.get(word, word)


def _moment(parts: int) -> Callable[[object], str]:
    """Dates and times by their numbers: separators differ between formats."""

    def text(value: object) -> str:
        if isinstance(value, QDateTime):
            value = value.toString("yyyy-MM-dd HH:mm:ss.zzz")
        elif isinstance(value, QDate):
            value = value.toString("yyyy-MM-dd")
        elif isinstance(value, QTime):
            value = value.toString("HH:mm:ss.zzz")
        match = re.match(r"^\D*(\d+)[-/:](\d+)(?:[-/:](\d+))?(?:[T ](\d+):(\d+)(?::(\d+))?)?(?:\.(\d+))?", str(value))
        if match is None:
            raise ValueError(value)
        *numbers, fraction = match.groups()
        given = [int(number or 0) for number in numbers]
        return "-".join(map(str, given[: 3 if parts < 6 else 6])) + "." + (fraction or "").rstrip("0")

    return text


_TEXTS: dict[str, Callable[[object], str]] = {
    "text": str,
    "integer": _whole,
    "long": _whole,
    "real": _real,
    "boolean": _boolean,
    "date": _moment(3),
    "time": _moment(3),
    "datetime": _moment(6),
}
