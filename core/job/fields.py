"""Fields by name."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError, first_values
from ..language import tr


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
    return tr(
        "{parameter}: there is no field “{name}” in {layer}, which has the fields {there}: choose one of them.",
        parameter=parameter,
        name=name,
        layer=layer,
        there=there,
    )
