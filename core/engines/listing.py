"""The tables of a database, for lists to choose from."""

from __future__ import annotations

from typing import Any

import sqlglot as sg
import sqlglot.expressions as sge

from ..dataclass import dataclass
from .addresses import DATABASES, Address
from .engine import EngineError


@dataclass(frozen=True)
class TableThere:
    """A table or view; usual : whether it is found without its schema."""

    schema: str
    name: str
    usual: bool


def in_duckdb(address: Address) -> list[TableThere]:
    """The tables of a .duckdb file; none of other files. Raises EngineError."""
    if not address.place.lower().endswith(DATABASES):
        return []
    import duckdb

    query = sg.select("table_schema", "table_name").from_(sg.table("tables", db="information_schema"))
    try:
        with duckdb.connect(address.place, read_only=True) as connection:
            rows = connection.sql(query.sql("duckdb")).fetchall()
    except duckdb.Error as error:
        raise EngineError(f"DuckDB: {str(error).splitlines()[0].rstrip('. ')}.") from None
    return [TableThere(schema, name, schema == "main") for schema, name in rows]


def in_postgres(address: Address) -> list[TableThere]:
    """The tables and views that this user may read. Raises EngineError."""
    import adbc_driver_manager

    from .postgres import connected, sentence_of

    try:
        with connected(address) as connection, connection.cursor() as cursor:
            cursor.execute(_readable().sql("postgres"))
            rows: list[Any] = cursor.fetchall()
    except adbc_driver_manager.Error as error:
        problem = sentence_of(error, address)
    else:
        return [TableThere(str(schema), str(name), bool(usual)) for schema, name, usual in rows]
    raise EngineError(problem)


def _readable() -> sge.Select:
    """Schema, name and whether it is found without the schema, of what this user may read and did not come along."""
    oid = sge.column("oid", "c")
    query = sg.select("n.nspname", "c.relname", sg.func("pg_table_is_visible", oid))
    query = query.from_(sg.table("pg_class", db="pg_catalog").as_("c"))
    query = query.join(sg.table("pg_namespace", db="pg_catalog").as_("n"), on="n.oid = c.relnamespace")
    own = sge.Not(this=sge.In(this=sge.column("nspname", "n"), expressions=_texts("pg_catalog", "information_schema")))
    kinds = sge.In(this=sge.column("relkind", "c"), expressions=_texts("r", "v", "m", "p", "f"))
    return query.where(own, kinds, sg.func("has_table_privilege", oid, sge.Literal.string("select")))


def _texts(*values: str) -> list[sge.Expression]:
    return [sge.Literal.string(value) for value in values]
