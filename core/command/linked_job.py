"""Linked tables in the file of a job: the parameters of “Anonymise linked tables” beside those of every job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import InputError
from ..job.linked import KEEP, KEY, KNOWN, SENSITIVE, Linking, by_table, table_name
from ..job.settings import is_blank
from ..job.values import choice_of, number_of
from ..linked.tables import ALL_ROWS, ROWS_KNOWN
from .files import LAYER, table_of_source

TABLES, KEYS, ROWS, COUNT_KNOWN, NEW_KEY, LEAST = (
    *("LINKED_TABLES", "LINKED_KEYS", "ROWS_KNOWN", "COUNT_KNOWN", "NEW_KEY", "LINKED_K"),
)
# In the order of the form.
LINKED = (KEY, TABLES, KNOWN, ROWS, KEEP, SENSITIVE, COUNT_KNOWN, NEW_KEY, LEAST, KEYS)


def linking_of(values: Mapping[str, object], beside: Path) -> Linking | None:
    """What a job asks of linked tables; None where it has none. Raises InputError.

    values : the job; beside : the folder that paths start from
    """
    inputs = {name: values[name] for name in LINKED if not is_blank(values.get(name))}
    if TABLES not in inputs:
        if inputs:
            raise InputError.saying(
                "{name} is for linked tables, of which the job names none: give LINKED_TABLES.", name=next(iter(inputs))
            )
        return None
    if KEY not in inputs:
        raise InputError.saying("{name} is needed, and is not given.", name=KEY)
    sources = sources_of(inputs[TABLES])
    tables = {name: table_of_source(source, beside, TABLES) for name, source in sources.items()}

    def named(parameter: str) -> dict[str, list[str]]:
        return by_table(parameter, _parts(inputs.get(parameter, ())), list(tables))

    least = inputs.get(LEAST, 0)
    return Linking(
        str(inputs[KEY]),
        tables,
        named(KNOWN),
        named(KEEP),
        named(SENSITIVE),
        {table: names[0] for table, names in named(KEYS).items()},
        _yes(COUNT_KNOWN, inputs.get(COUNT_KNOWN, True)),
        _yes(NEW_KEY, inputs.get(NEW_KEY, True)),
        int(number_of(LEAST, least, True, 0)),
        choice_of(ROWS, inputs.get(ROWS, ALL_ROWS), ROWS_KNOWN),
    )


def sources_of(tables: object) -> dict[str, str]:
    """Where each table is, by its name in the release: that of the job, else that of the file or its layer."""
    if isinstance(tables, Mapping):
        return {str(name): str(source) for name, source in tables.items()}
    sources: dict[str, str] = {}
    for source in _parts(tables):
        path, _, layer = source.partition(LAYER)
        name = table_name(layer or Path(path).stem)
        if name in sources:
            raise InputError.saying(
                "LINKED_TABLES: two tables have the same name; give each its own: "
                'LINKED_TABLES = {{ stays = "…", drugs = "…" }}.'
            )
        sources[name] = source
    return sources


def _parts(value: object) -> list[str]:
    """Several words: a list, or one text with semicolons."""
    parts: Sequence[object] = value.split(";") if isinstance(value, str) else value  # type: ignore[assignment]
    if not isinstance(parts, (list, tuple)):
        raise InputError.saying("{name}: give the names of fields as a list.", name=TABLES)
    return [str(part).strip() for part in parts if str(part).strip()]


def _yes(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError.saying("{name} is “{value}”: write true or false.", name=name, value=str(value))
    return value
