"""Linked tables that stay where the persons are: read, once an engine is open."""

from __future__ import annotations

from pathlib import PurePath

from ...core.areas import Areas
from ...core.engines.engine import Engine
from ...core.engines.in_place import Matched
from ...core.engines.linked import LinkedEngineSource, LinkedFields, check_tables
from ...core.errors import InputError
from ...core.job.linked import KEEP, KNOWN, SENSITIVE, by_table, least_indistinguishable, table_name, with_sensitive
from ...core.job.values import parts_of
from ...core.records.fields import RecordFields
from ..form.form import FormJob
from ..form.linked import COUNT_KNOWN, KNOWN_OF, LINKED_K, LINKED_KEYS, LINKED_TABLES


def tables_of(job: FormJob, engine: Engine, fields: RecordFields) -> tuple[LinkedFields, ...]:
    """The linked tables of a job, checked, with the places that their rows go to. Raises InputError."""
    tables = {_name_of(table): table for table in parts_of(job.text(LINKED_TABLES))}
    if len(tables) < len(parts_of(job.text(LINKED_TABLES))):
        raise InputError.saying("LINKED_TABLES: two tables have the same name; rename one of them.")

    def named(parameter: str) -> dict[str, list[str]]:
        return by_table(parameter, parts_of(job.text(parameter)), list(tables))

    keys = named(LINKED_KEYS)
    known, kept, sensitive = ({**{name: [] for name in tables}, **named(of)} for of in (KNOWN, KEEP, SENSITIVE))
    linked = tuple(
        LinkedFields(
            name,
            table,
            keys.get(name, [fields.key])[0],
            tuple(known[name]),
            tuple(with_sensitive(name, known[name], kept[name], sensitive[name])),
            tuple(sensitive[name]),
        )
        for name, table in tables.items()
    )
    check_tables(engine, linked, [*fields.quasi_identifiers, *fields.kept], fields.key)
    for table in linked:
        engine.check_free(engine.place_beside(job.text("DESTINATION").strip(), table.name))
    return linked


def linked_in_place(
    job: FormJob, matched: Matched, areas: Areas, tables: tuple[LinkedFields, ...]
) -> LinkedEngineSource:
    """The persons of a form with their linked tables. Raises InputError."""
    return LinkedEngineSource(
        matched,
        job.text("DESTINATION").strip(),
        job.text("UNMATCHED"),
        tables,
        least_indistinguishable(job, job.whole(LINKED_K)),
        job.text(KNOWN_OF),
        job.yes(COUNT_KNOWN),
        areas,
        job,
    )


def _name_of(table: str) -> str:
    """The name of a table in the release: that of a file without its ending, that of a table without its schema."""
    is_file = "/" in table or "\\" in table or PurePath(table).suffix.lower() in (".parquet", ".csv", ".pq", ".gz")
    name = PurePath(table.replace("\\", "/")).name.partition(".")[0] if is_file else table.rpartition(".")[2]
    return table_name(name)
