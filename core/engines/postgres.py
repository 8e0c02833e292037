"""PostgreSQL, and what speaks its protocol: everything in one transaction, which is undone unless it is published.

Rows come and go by COPY in binary (ADBC). The transaction sees the table as it was when it began (REPEATABLE READ), so
that nothing can change in between; tables of its own are temporary.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Callable

import adbc_driver_manager
import ibis
import numpy as np
import sqlglot as sg
import sqlglot.expressions as sge
from adbc_driver_postgresql import dbapi

from ..errors import InputError, OutcomeUnknown
from ..language import tr
from ..progress import Progress
from ..publish.names import check_length, check_name
from ..records.fields import is_identifier
from ..secrecy import without_secrets
from .addresses import Address
from .dictionaries import kept_dictionary
from .engine import NOTHING, Arrow, EngineError, Expression, arrow_table, in_background
from .queries import query_of, temporary

# Types whose equal values are written alike, as Ibis knows them; all else is compared as text.
PLAIN = {"int2": "int16", "int4": "int32", "int8": "int64", "bool": "boolean", "date": "date"}
FLOATS = {"float4": "float32", "float8": "float64"}
ZEROS_BEHIND = r"\.0*$|(\.[0-9]*[1-9])0+$"  # the last digits of a number, which say nothing
SECONDS_TO_ANSWER = 15
# Classes of errors after which a COMMIT may have been carried out: the connection is lost, or somebody ended the work.
LOST, ENDED = ("", "08"), "57"
DISK_FULL = "No space left on device"
# What libpq says of a connection that is gone, without a state.
GONE = ("server closed the connection", "no connection to the server", "SSL connection has been closed")
NO_RIGHT, READ_ONLY = "42501", "25006"
# Messages of these classes name no values: connection, rights, names, resources, an end by the administrator.
WITHOUT_VALUES = ("08", "25", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58")


def open_engine(address: Address, table: str, schema: str, memory: int, progress: Progress) -> Postgres:
    """An engine over a table or view of a PostgreSQL database."""
    return Postgres(address, table, schema, memory, progress)


class Postgres:
    """See `Engine`."""

    title = "PostgreSQL"
    decodes = False
    packs = False
    rows_here = 0

    def __init__(self, address: Address, table: str, schema: str, memory: int, progress: Progress) -> None:
        if not table:
            raise InputError.saying("TABLE is empty: name the table of the database that holds the records.")
        self._address, self._progress, self._given = address, progress, (schema, table)
        self._connection: Any = None
        self._cursor: Any = None
        self._final = ""
        self._named: Any = None  # the table of the release, in SQL
        self._made: list[tuple[str, str]] = []  # kind and name of what is dropped before the release is published
        try:
            self._connection = self._guarded(lambda: connected(address))
            self._cursor = self._connection.cursor()
            self._run(sg.parse_one("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", read="postgres"))
            for name, value in (
                ("work_mem", f"{max(memory // 4, 4)}MB"),
                ("client_min_messages", "error"),
                ("row_security", "off"),  # a policy that hides rows ends the work, and no part is taken for the whole
                ("timezone", "UTC"),  # moments are written alike whoever reads them
                # The server waits while the plan is made here, however long it takes.
                ("idle_in_transaction_session_timeout", "0"),
            ):
                self._run(_setting(name, value))
            self._schema, self._types = self._described(schema, table)
            self.fields: Mapping[str, str] = self._types
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Postgres:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(Exception):  # a connection that is lost has rolled back already
            if self._cursor is not None:
                self._cursor.close()
        with suppress(Exception):
            if self._connection is not None:
                self._connection.rollback()
        with suppress(Exception):
            if self._connection is not None:
                self._connection.close()

    def check_free(self, destination: str) -> None:
        """See `Engine`."""
        self._place(destination)

    def place_beside(self, destination: str, table: str) -> str:
        """See `Engine`. A table is no file, even where it is called “csv”, as “public.csv” names it."""
        return f"{destination}_{table}"

    def source(self, names: Mapping[str, str]) -> Expression:
        """See `Engine`."""
        return self._view("vbas_source", (self._schema, self._given[1]), self._types, names)

    def _view(self, called: str, of: tuple[str, str], types: Mapping[str, str], names: Mapping[str, str]) -> Expression:
        columns = [
            self._comparable(field, types, is_identifier(name)).as_(name, quoted=True) for name, field in names.items()
        ]
        table = sg.table(of[1], db=of[0], quoted=True)
        self._create(called, "VIEW", sg.select(*columns).from_(table).sql("postgres"))
        kinds = {name: {**PLAIN, **FLOATS}.get(types[field], "string") for name, field in names.items()}
        return ibis.table(kinds, name=called)

    def fields_beside(self, table: str) -> Mapping[str, str]:
        """See `Engine`."""
        return self._described_beside(table)[1]

    def _described_beside(self, table: str) -> tuple[str, dict[str, str]]:
        """The schema of another table, that of the records where none is named, and its fields with their types."""
        schema, _, name = table.rpartition(".")
        return self._described(schema or self._schema, name)

    def beside(self, table: str, names: Mapping[str, str], called: str) -> Expression:
        """See `Engine`."""
        schema, types = self._described_beside(table)
        return self._view(called, (schema, table.rpartition(".")[2]), types, names)

    def dictionaries(self, source: Expression, columns: Sequence[str]) -> dict[str, tuple[Expression, np.ndarray]]:
        """See `Engine`."""
        return {column: kept_dictionary(self, source, column) for column in columns}

    def again(self, name: str, expression: Expression) -> Expression:
        """See `Engine`. Rows are as cheap to read anew."""
        return expression

    def keep(self, name: str, expression: Expression) -> Expression:
        """See `Engine`."""
        self._create(name, "TABLE", query_of(expression, "postgres"))
        self._run(sge.Command(this="ANALYZE", expression=sg.to_identifier(name, quoted=True).sql("postgres")))
        return ibis.table(expression.schema(), name=name)

    def upload(self, name: str, columns: Mapping[str, np.ndarray]) -> Expression:
        """See `Engine`."""
        table = arrow_table(columns)
        self._guarded(lambda: self._cursor.adbc_ingest(name, table, mode="create", temporary=True))
        self._made.append(("TABLE", name))
        self._run(sge.Command(this="ANALYZE", expression=sg.to_identifier(name, quoted=True).sql("postgres")))
        return ibis.table(ibis.Schema.from_pyarrow(table.schema), name=name)

    def fetch(self, expression: Expression) -> Iterator[Arrow]:
        """See `Engine`."""
        cursor = self._connection.cursor()
        try:
            self._guarded(lambda: cursor.execute(query_of(expression, "postgres")))
            reader = cursor.fetch_record_batch()
            while True:
                batch = self._guarded(lambda: next(reader, None))
                if batch is None:
                    return
                yield batch
        finally:
            with suppress(Exception):
                cursor.close()

    def stage(
        self,
        expression: Expression,
        destination: str,
        dictionaries: Mapping[str, Expression],
        occurring: Mapping[str, np.ndarray] = NOTHING,
    ) -> Expression:
        """See `Engine`. The table stands in its place at once, where nobody sees it before the transaction ends."""
        schema, table = self._place(destination)
        into = sg.table(table, db=schema, quoted=True)
        self._execute(f"CREATE TABLE {into.sql('postgres')} AS {query_of(expression, 'postgres')}")
        if not self._final:  # the records, with which all else comes
            self._final, self._named = f"{schema}.{table}", _regclass(schema, table)
        return ibis.table(expression.schema(), name=table, database=schema)

    def unchanged(self) -> None:
        """See `Engine`. The transaction has seen one state of the table all along."""

    def publish(self) -> str:
        """See `Engine`."""
        if not self._final:
            raise EngineError.saying("Nothing was staged.")
        for kind, name in reversed(self._made):
            own = sg.table(name, db="pg_temp", quoted=True).sql("postgres")
            self._run(sge.Command(this="DROP", expression=f"{kind} {own}"))
        self._commit()
        return self._final

    def _commit(self) -> None:
        """Make the release valid. Where that is not known from its end, the server is asked whether it is."""
        made = self._guarded(lambda: self._number(self._cursor))
        try:
            in_background(self._connection.commit, self._progress, self._interrupt, lasting=True)
        except (adbc_driver_manager.Error, OSError) as error:
            refused = EngineError(sentence_of(error, self._address))
            state = (getattr(error, "sqlstate", None) or "")[:2]
        else:
            return
        if state not in (*LOST, ENDED):
            raise refused
        there, is_known = None, False
        with suppress(adbc_driver_manager.Error, OSError), connected(self._address) as anew, anew.cursor() as cursor:
            there, is_known = self._number(cursor), state == ENDED
        if there == made:
            return
        if is_known:
            self._progress(0.0)  # which raises where it was the user who ended it
            raise refused
        raise OutcomeUnknown.saying(
            "The connection to PostgreSQL was lost at the last step. Look for the table “{final}”: if it is there, it "
            "is whole and was counted twice; if not, nothing was written.",
            final=self._final,
        )

    def _number(self, cursor: Any) -> Any:
        """The server's own number of the table of the release, None where there is none that others see."""
        numbered = sg.select("oid").from_(sg.table("pg_class", db="pg_catalog"))
        cursor.execute(numbered.where(sg.column("oid").eq(self._named)).sql("postgres"))
        row = cursor.fetchone()
        return row and row[0]

    def _described(self, schema: str, table: str) -> tuple[str, dict[str, str]]:
        """The schema of the table, and its fields with the names of their types."""
        query = sg.select("n.nspname", "a.attname", sge.column("typname", "t").as_("kind"), "a.attnum")
        query = query.from_(sg.table("pg_attribute", db="pg_catalog").as_("a"))
        for name, alias, joined in (
            ("pg_class", "c", "c.oid = a.attrelid"),
            ("pg_namespace", "n", "n.oid = c.relnamespace"),
            ("pg_type", "t", "t.oid = a.atttypid"),
        ):
            query = query.join(sg.table(name, db="pg_catalog").as_(alias), on=joined)
        query = query.where("a.attnum > 0", "NOT a.attisdropped", "c.relkind IN ('r', 'v', 'm', 'p', 'f')")
        query = query.where(sge.column("relname", "c").eq(sge.Literal.string(table)))
        visible = sg.func("pg_table_is_visible", sge.column("oid", "c"))
        query = query.where(sge.column("nspname", "n").eq(sge.Literal.string(schema)) if schema else visible)
        self._run(query.order_by("a.attnum"))
        rows = self._guarded(self._cursor.fetchall)
        if not rows:
            where = tr("schema “{schema}”", schema=schema) if schema else tr("the schemas that this user looks in")
            raise InputError.saying(
                "TABLE: there is no “{table}” in {where} of the database: correct TABLE or SCHEMA.",
                table=table,
                where=where,
            )
        return str(rows[0][0]), {str(name): str(kind) for _, name, kind, _ in rows}

    def _comparable(self, field: str, types: Mapping[str, str], identifies: bool) -> sge.Expression:
        """A field such that what is equal looks alike: of text, byte by byte, whatever the column's own rule.

        identifies : areas and people, of which 7 and 7.00 are one, and not two, as for all who read them elsewhere
        """
        column, kind = sg.column(field, quoted=True), types[field]
        if kind in PLAIN:
            return column
        if kind in FLOATS:  # NaN is no value; adding 0 makes -0 the 0 that it equals
            nan = sge.Cast(this=sge.Literal.string("NaN"), to=sge.DataType.build(kind, "postgres"))
            number = sge.Add(this=sge.Nullif(this=column, expression=nan), expression=sge.Literal.number(0))
            return sge.Cast(this=number, to=sge.DataType.build(kind, "postgres"))  # a sum has more digits than a float4
        text: sge.Expression = sge.Cast(this=column, to=sge.DataType.build("text"))
        if identifies and kind == "numeric":
            text = sg.func("regexp_replace", text, sge.Literal.string(ZEROS_BEHIND), sge.Literal.string(r"\1"))
        return sge.Collate(this=sge.Paren(this=text), expression=sg.to_identifier("C", quoted=True))

    def _place(self, destination: str) -> tuple[str, str]:
        """Schema and table of a release that is not there yet. Raises InputError."""
        schema, _, table = destination.rpartition(".")
        if not table or "/" in destination:
            raise InputError.saying("DESTINATION is not the name of a table: give one, or schema.name.")
        check_name("DESTINATION", table, destination)
        # The server would cut what is longer, and the table would not be found under the name that was asked for.
        self._run(sg.select(sg.func("current_setting", sge.Literal.string("max_identifier_length"))))
        longest = int(self._guarded(self._cursor.fetchone)[0])
        for name in (schema, table):
            check_length("DESTINATION", name, longest)
        schema = schema or self._schema
        self._run(sg.select(sg.func("has_schema_privilege", sge.Literal.string(schema), sge.Literal.string("CREATE"))))
        if not self._guarded(self._cursor.fetchone)[0]:
            raise InputError.saying(
                "DESTINATION: this user may not make a table in the schema “{schema}” (right CREATE): write "
                "schema.name with a schema where that is allowed.",
                schema=schema,
            )
        self._run(sg.select(sge.Cast(this=_regclass(schema, table), to=sge.DataType.build("text"))))
        if self._guarded(self._cursor.fetchone)[0] is not None:
            raise InputError.saying(
                "DESTINATION: the table “{schema}.{table}” is there already: choose a new name.",
                schema=schema,
                table=table,
            )
        return schema, table

    def _create(self, name: str, kind: str, query: str) -> None:
        self._execute(temporary(kind, name, query, "postgres"))
        self._made.append((kind, name))

    def _run(self, statement: sge.Expression) -> None:
        self._execute(statement.sql("postgres"))

    def _execute(self, statement: str) -> None:
        self._guarded(lambda: self._cursor.execute(statement))

    def _guarded(self, call: Callable[[], Any]) -> Any:
        """A call in the background; what the server says as a sentence without values and without secrets."""
        try:
            return in_background(call, self._progress, self._interrupt)
        except (adbc_driver_manager.Error, OSError) as error:  # rows that come as Arrow raise the latter
            problem = sentence_of(error, self._address)
        raise EngineError(problem)

    def _interrupt(self) -> None:
        with suppress(Exception):
            self._connection.adbc_cancel()
        with suppress(Exception):
            self._cursor.adbc_cancel()


def connected(address: Address) -> Any:
    """A connection; a server that does not answer is given up after a while, unless the user says when."""
    connection = address.connection
    if "connect_timeout" not in connection and "PGCONNECT_TIMEOUT" not in os.environ:
        is_url = "://" in connection
        connection += f"{('&' if '?' in connection else '?') if is_url else ' '}connect_timeout={SECONDS_TO_ANSWER}"
    return dbapi.connect(connection)


def sentence_of(error: Any, address: Address) -> str:
    """What the server says, without values and without secrets."""
    state, text = getattr(error, "sqlstate", None) or "", str(error)
    if not state and DISK_FULL in text:  # of errors without a state nothing else is known to hold no values
        return tr("PostgreSQL: {told} (SQLSTATE {state}): nothing was written.", told=DISK_FULL, state="53100")
    if not state and any(words in text.partition("Query was:")[0] for words in GONE):
        return tr(
            "The connection to PostgreSQL was lost, or the server ended it: nothing was written. Start again once the "
            "server answers."
        )
    if not state and "Failed to connect" in text:
        first = text.partition("Failed to connect: ")[2].split("\n")[0]
        message_told = without_secrets(first, address.connection)
        return tr("CONNECTION: PostgreSQL cannot be reached: {told}.", told=message_told.rstrip(". "))
    if state == "23505":  # the server's own list of tables is all that knows of no twins here
        return tr("DESTINATION: a table of this name was made meanwhile: nothing was written. Choose a new name.")
    message = re.search(r"(?:ERROR|FATAL):\s+(.*)", text)
    if message and state == NO_RIGHT:
        what_to_do = tr("Have that right granted to this user (GRANT), or connect as one who has it.")
        if "row-level security" in message[1]:
            what_to_do = tr(
                "This user sees some of its rows only, and a release of them would be taken for one of all: have "
                "somebody run it who sees all, or give a table of those that are meant."
            )
        message_told = without_secrets(message[1], address.connection).rstrip(". ")
        return tr("PostgreSQL: {told}: nothing was written. {what_to_do}", told=message_told, what_to_do=what_to_do)
    if state == READ_ONLY:
        return tr(
            "PostgreSQL: this server or user only reads (as a standby does, or default_transaction_read_only), and "
            "records are counted in temporary tables: nothing was written. Connect to the primary server, or as "
            "another user; or give the table as a layer to “Anonymise records”, which only reads it."
        )
    if message and state[:2] in WITHOUT_VALUES:
        message_told = without_secrets(message[1], address.connection)
        return tr(
            "PostgreSQL: {told} (SQLSTATE {state}): nothing was written.", told=message_told.rstrip(". "), state=state
        )
    return tr("PostgreSQL ended the work (SQLSTATE {state}): nothing was written.", state=state or tr("unknown"))


def _regclass(schema: str, table: str) -> sge.Expression:
    """A table as the server knows it, NULL where there is none."""
    return sg.func("to_regclass", sge.Literal.string(sg.table(table, db=schema, quoted=True).sql("postgres")))


def _setting(name: str, value: str) -> sge.Expression:
    return sg.select(sg.func("set_config", sge.Literal.string(name), sge.Literal.string(value), sge.true()))
