"""Values of parameters, understood: numbers in bounds, words among the choices, fields by name; or one sentence."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from ..errors import InputError, first_values
from ..language import tr

# What QGIS keeps a whole number in, and what a real one may be: larger ones are slips, and would overflow later.
LARGEST_WHOLE, LARGEST = 2**31 - 1, 1e15
OURS = "vbas_"  # how fields begin that only this program writes
# In the place of bytes that are no letter in the encoding that a table is read in.
REPLACEMENT = "\ufffd"
MOST_NAMED, MOST_LETTERS = 3, 40  # of wrong names in a sentence


def quoted(values: Iterable[object]) -> str:
    """Values in quotation marks, one after the other."""
    return ", ".join(tr("“{value}”", value=value) for value in values)


def parts_of(typed: str) -> list[str]:
    """The parts of a line that semicolons separate."""
    return [part.strip() for part in typed.split(";") if part.strip()]


def some(names: Sequence[str]) -> str:
    """The first few of wrong names in quotation marks, cut where they are long."""
    cut = [name if len(name) <= MOST_LETTERS else f"{name[:MOST_LETTERS]}…" for name in names[:MOST_NAMED]]
    return quoted(cut) if len(names) <= MOST_NAMED else f"{quoted(cut)}, …"


def nearest(unknown: Iterable[str], known: Collection[str]) -> list[str]:
    """Of names that are not known the nearest that are, in whatever case; none where nothing is near."""
    spelled = {name.upper(): name for name in known}
    return [
        spelled[match]
        for name in unknown
        for match in get_close_matches(name.lstrip("-").upper(), spelled, 1, cutoff=0.5)
    ]


def choice_of(parameter: str, value: object, options: Sequence[str]) -> str:
    """The word of a choice that is given by its word or by its number, from 0. Raises InputError."""
    text = str(value).strip()
    if text.isdecimal() and int(text) < len(options):
        text = options[int(text)]
    if text not in options:
        raise InputError.saying(
            "{definition} is “{text}”, which is not among the choices: choose from {options}.",
            definition=parameter,
            text=text,
            options=quoted(options),
        )
    return text


def number_of(parameter: str, value: object, whole: bool, least: float = -math.inf, most: float = math.inf) -> float:
    """A number from least to most; an int where a whole one is asked for. Raises InputError."""
    largest = LARGEST_WHOLE if whole else LARGEST
    try:
        # Python reads 1_000 as a number, QGIS does not.
        number = math.nan if "_" in str(value) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    low, high = max(least, -largest), min(most, largest)
    if math.isnan(number) or (whole and math.isfinite(number) and not number.is_integer()):
        asked = _whole_number_asked(low, high, largest) if whole else _number_asked(low, high, largest)
        raise InputError.saying("{parameter} is “{value}”: {asked}.", parameter=parameter, value=value, asked=asked)
    if not low <= number <= high:
        if number > high:
            asked = (
                _number_up_to(high) if low == -largest else tr("give a number from {low} to {high}", low=low, high=high)
            )
        else:
            asked = _number_asked(low, high, largest)
        raise InputError.saying("{parameter} is {number}: {asked}.", parameter=parameter, number=number, asked=asked)
    return int(number) if whole else number


def _number_asked(low: float, high: float, largest: float) -> str:
    """What is asked for, with the bounds that are set."""
    if low > -largest and high < largest:
        return tr("give a number from {low} to {high}", low=low, high=high)
    if low > -largest:
        return tr("give a number of at least {low}", low=low)
    return _number_up_to(high) if high < largest else tr("give a number")


def _number_up_to(high: float) -> str:
    return tr("give a number up to {high}", high=high)


def _whole_number_asked(low: float, high: float, largest: float) -> str:
    """The same for a whole number."""
    if low > -largest and high < largest:
        return tr("give a whole number from {low} to {high}", low=low, high=high)
    if low > -largest:
        return tr("give a whole number of at least {low}", low=low)
    return tr("give a whole number up to {high}", high=high) if high < largest else tr("give a whole number")


def position_of(fields: Sequence[str], name: str) -> int:
    """Position of a field, by its very name or else in other case; -1 where there is none."""
    if name in fields:
        return list(fields).index(name)
    folded = [field.casefold() for field in fields]
    return folded.index(name.casefold()) if name and name.casefold() in folded else -1


def field_named(fields: Sequence[str], name: str, parameter: str, table: str) -> str:
    """A field as its table spells it. Raises InputError that lists the fields there are."""
    position = position_of(fields, name)
    if position < 0:
        raise InputError(no_field(name, parameter, table, first_values(fields, 12)))
    return fields[position]


def no_field(name: str, parameter: str, layer: str, there: str) -> str:
    """What is wrong with a field that is not there, or was not chosen; there : the fields there are."""
    if not there:
        return tr("{parameter}: {layer} has no fields: choose another layer.", parameter=parameter, layer=layer)
    if not name:
        return tr(
            "{parameter}: no field was chosen; {layer} has the fields {there}: choose one of them.",
            parameter=parameter,
            layer=layer,
            there=there,
        )
    if REPLACEMENT in there:
        return tr(
            "{parameter}: there is no field “{name}” in {layer}, which has the fields {there}. Those with {sign} are in"
            " another encoding: save it as UTF-8.",
            parameter=parameter,
            name=name,
            layer=layer,
            there=there,
            sign=REPLACEMENT,
        )
    if name.startswith(OURS):
        return tr(
            "{parameter}: there is no field “{name}” in {layer}, which has the fields {there}: choose a layer that "
            "this program made.",
            parameter=parameter,
            name=name,
            layer=layer,
            there=there,
        )
    return tr(
        "{parameter}: there is no field “{name}” in {layer}, which has the fields {there}: choose one of them.",
        parameter=parameter,
        name=name,
        layer=layer,
        there=there,
    )


ONE_LEVEL, NESTED = "one level", "nested levels"  # RELEASE
AREAS, CONFIGURATION = "areas", "configuration"  # FINEST
CENTROID, POINT_ON_SURFACE = "centroid", "point on surface"  # AREA_POINT
AREA_POINTS = (CENTROID, POINT_ON_SURFACE)


def refuse_twice(name: str, own: Sequence[str], typed: Sequence[str]) -> None:
    """Raise InputError where a parameter names a field twice; own : as the table spells them; typed : as they were."""
    twice = [field for i, field in enumerate(own) if field in own[:i]]
    if twice:
        raise InputError.saying(
            "{name} names a field twice ({first}; given: {given}): name each field once.",
            name=name,
            first=first_values(dict.fromkeys(twice)),
            given=first_values(typed, 12),
        )
