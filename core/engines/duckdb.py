"""DuckDB: Parquet, CSV and .duckdb files, worked on by a library in this process; nothing is sent anywhere."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Callable

import duckdb
import ibis
import numpy as np
import sqlglot as sg
import sqlglot.expressions as sge

from ..errors import InputError
from ..formulas import RUNS, refuse_formulas
from ..progress import Progress
from ..publish.files import DISK
from ..publish.folders import BESIDE, clear_dead, own_folder, temporary_folder
from ..publish.together import give_free_names
from .addresses import DATABASES, Address
from .dictionaries import kept_dictionary
from .duckdb_files import file_state, files_named, free_place, nothing_written_into, without_values
from .duckdb_reading import refuse_unlike, table_of_files
from .engine import NOTHING, Arrow, EngineError, Expression, arrow_table, changed_meanwhile, in_background, left_behind
from .queries import query_of, temporary

# The connection that DuckDB has for itself outlives Python, and its end would be that of QGIS before all is printed
# (Python 3.10, as in Ubuntu 22.04): nobody ever lets go of it.
ctypes.pythonapi.Py_IncRef(ctypes.py_object(duckdb.default_connection()))

ROWS = 250_000  # of a batch
BYTES_OF_ROW = 16  # at most, where rows are counted here: their numbers, and the cells that come of them
# What these types hold is written in one way only where it is equal; all else is compared as text.
PLAIN = ("BOOLEAN", "DATE", "TIMESTAMP", "DECIMAL")
# Moments of nanoseconds, and the type that holds them where none has any.
NANOSECONDS = {"TIMESTAMP_NS": "TIMESTAMP", "TIMESTAMPTZ_NS": "TIMESTAMPTZ"}
WIDE = ("HUGEINT", "UHUGEINT")  # whole numbers that Parquet has no type for: DuckDB would write the nearest real number


def open_engine(address: Address, table: str, schema: str, memory: int, progress: Progress) -> DuckDb:
    """An engine over a file, a folder or a pattern of them, or a table of a .duckdb file."""
    return DuckDb(address, table, schema, memory, progress)


class DuckDb:
    """See `Engine`. Its tables of its own are in memory, and beyond the limit in a folder that goes with it."""

    title = "DuckDB"
    decodes = True
    packs = True

    def __init__(self, address: Address, table: str, schema: str, memory: int, progress: Progress) -> None:
        self.rows_here = min(memory * 1_000_000 // BYTES_OF_ROW, 2**31 - 1)
        self._states = files_named(address.place)
        self._files = list(self._states)
        self._place, self._schema = address.place, schema
        self._unlike: Mapping[str, Mapping[str, str]] = {}
        self._is_database = address.place.lower().endswith(DATABASES)
        self._progress = progress
        self._own = ExitStack()  # its folders
        self._folder = self._own.enter_context(temporary_folder())
        self._staged: list[tuple[Path, Path]] = []  # where each was written, and where it goes
        self._others: dict[str, tuple[Any, Mapping[str, str], Mapping[str, Mapping[str, str]]]] = {}
        self._connection: Any = None
        try:
            self._connection = self._connected(memory)
            # A bar would be drawn into what a headless run prints; moments are written alike on every machine.
            self._guarded(lambda: self._connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'"))
            self._table = self._guarded(lambda: self._opened(table, schema))
            self._types = {name: str(kind) for name, kind in zip(self._table.columns, self._table.types)}
            self.fields: Mapping[str, str] = self._types
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> DuckDb:
        return self

    def __exit__(self, *raised: object) -> None:
        with suppress(duckdb.Error):  # which it raises while it still works, as when Ctrl-C comes twice
            if self._connection is not None:
                self._connection.close()
        try:
            for staged, final in self._staged:
                try:
                    DISK.remove(staged, missing_ok=True)
                except OSError as error:
                    ended = str(raised[1] if len(raised) > 1 and raised[1] else "") or f"DuckDB: {error.strerror}"
                    raise left_behind(ended, final, staged) from error
        finally:
            self._own.close()

    def check_free(self, destination: str) -> None:
        """See `Engine`. What a run that was killed has put there in part is taken away first."""
        clear_dead(Path(destination).absolute().parent)
        free_place(destination)

    def place_beside(self, destination: str, table: str) -> str:
        """See `Engine`."""
        path = Path(destination)
        return str(path.with_name(f"{path.stem}_{table}{path.suffix}"))

    def source(self, names: Mapping[str, str]) -> Expression:
        """See `Engine`."""
        refuse_unlike(self._unlike, names.values())
        return self._view("vbas_source", self._table, self._types, names)

    def _view(self, called: str, table: Any, types: Mapping[str, str], names: Mapping[str, str]) -> Expression:
        columns = [
            self._comparable(*self._in_digits_of_python(table, field, types[field])).as_(name, quoted=True)
            for name, field in names.items()
        ]
        selection = table.project(*(duckdb.SQLExpression(column.sql("duckdb")) for column in columns))
        return self._named(called, "VIEW", selection.sql_query())

    def fields_beside(self, table: str) -> Mapping[str, str]:
        """See `Engine`."""
        if table not in self._others:
            if self._is_database:
                schema, _, name = table.rpartition(".")
                rows, unlike = self._guarded(lambda: self._in_database(name, schema or self._schema)), {}
            else:
                states = files_named(table)
                beside = self._guarded(lambda: table_of_files(self._connection, list(states), table))
                rows, unlike = beside.rows, beside.unlike
                self._states.update(states)
                self._files += [path for path in states if path not in self._files]
            types = {name: str(kind) for name, kind in zip(rows.columns, rows.types)}
            self._others[table] = rows, types, unlike
        return self._others[table][1]

    def beside(self, table: str, names: Mapping[str, str], called: str) -> Expression:
        """See `Engine`."""
        self.fields_beside(table)
        rows, types, unlike = self._others[table]
        refuse_unlike(unlike, names.values())
        return self._view(called, rows, types, names)

    def dictionaries(self, source: Expression, columns: Sequence[str]) -> dict[str, tuple[Expression, np.ndarray]]:
        """See `Engine`."""
        return {column: kept_dictionary(self, source, column) for column in columns}

    def again(self, name: str, expression: Expression) -> Expression:
        """See `Engine`. Rows are as cheap to read anew."""
        return expression

    def keep(self, name: str, expression: Expression) -> Expression:
        """See `Engine`."""
        return self._named(name, "TABLE", query_of(expression, "duckdb"))

    def upload(self, name: str, columns: Mapping[str, np.ndarray]) -> Expression:
        """See `Engine`."""
        table = arrow_table(columns)
        self._connection.register(f"{name}_given", table)
        uploaded = ibis.table(ibis.Schema.from_pyarrow(table.schema), name=f"{name}_given")
        own_table = self.keep(name, uploaded)  # of a table of its own DuckDB knows the size
        self._connection.unregister(f"{name}_given")
        return own_table

    def fetch(self, expression: Expression) -> Iterator[Arrow]:
        """See `Engine`."""
        text = query_of(expression, "duckdb")
        reader = self._guarded(lambda: _reader(self._connection.sql(text)))
        while True:
            batch = self._guarded(lambda: next(reader, None))
            if batch is None:
                return
            yield batch

    def stage(
        self,
        expression: Expression,
        destination: str,
        dictionaries: Mapping[str, Expression],
        occurring: Mapping[str, np.ndarray] = NOTHING,
    ) -> Expression:
        """See `Engine`."""
        final = free_place(destination)
        staged = self._own.enter_context(_folder_beside(final)) / f"staged{final.suffix.lower()}"
        self._staged.append((staged, final))
        rows = self._connection.sql(query_of(expression, "duckdb"))
        rows = rows.project(
            *(self._decoded(name, dictionaries.get(name), occurring.get(name)) for name in rows.columns)
        )
        if staged.suffix == ".parquet":
            self._guarded(lambda: rows.write_parquet(str(staged)))
        else:
            self._guarded(lambda: rows.write_csv(str(staged), header=True))
            self._refuse_formulas(staged, final.name, rows.columns)
        DISK.keep_written(staged)
        written = self._written(staged, rows.columns)
        return self._named(f"vbas_written_{len(self._staged)}", "VIEW", written.sql_query())

    def _written(self, staged: Path, names: Sequence[str]) -> Any:
        """What was written, under the names that were: of a CSV file DuckDB reads them without blanks at their ends."""
        rows = table_of_files(self._connection, [staged], str(staged)).rows
        read = zip(rows.columns, names)
        return rows.project(*(_field(column).alias(name) for column, name in read))

    def _refuse_formulas(self, staged: Path, final: str, names: Sequence[str]) -> None:
        """Raise InputError where the staged CSV file holds what a spreadsheet program runs; final : its name later."""
        rows = self._written(staged, names)
        words = list(rows.columns)
        texts = [name for name, kind in zip(rows.columns, rows.types) if str(kind) == "VARCHAR"]
        pattern = duckdb.ConstantExpression(RUNS), duckdb.ConstantExpression("s")
        runs = [duckdb.FunctionExpression("regexp_matches", _field(name), *pattern) for name in texts]
        if runs:
            some = rows.filter(reduce(or_, runs)).limit(1)
            words += [value for row in self._guarded(some.fetchall) for value in row if isinstance(value, str)]
        refuse_formulas(f"DESTINATION: {final}", words)

    def unchanged(self) -> None:
        """See `Engine`."""
        try:
            now = {path: file_state(path) for path in self._files}
        except OSError:
            now = {}
        if now != self._states:
            raise changed_meanwhile()

    def publish(self) -> str:
        """See `Engine`."""
        if not self._staged:
            raise EngineError.saying("Nothing was staged.")
        first = self._staged[0][1]
        named = self._staged[::-1]  # the records last: whoever sees them, sees all
        taken = give_free_names(named, named[-1][0].parent)
        if taken is not None:
            raise EngineError.saying("DESTINATION: “{final}” was made meanwhile: nothing was written.", final=taken)
        self._staged = []
        return str(first)

    def _connected(self, memory: int) -> Any:
        config: dict[str, Any] = {
            "memory_limit": f"{memory}MB",
            "temp_directory": str(self._folder),
            "preserve_insertion_order": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        if not self._is_database:
            return duckdb.connect(config=config)
        return self._guarded(lambda: duckdb.connect(str(self._files[0]), read_only=True, config=config))

    def _opened(self, table: str, schema: str) -> Any:
        """The records, as a relation of DuckDB."""
        if not self._is_database:
            if table or schema:
                raise InputError.saying(
                    "TABLE and SCHEMA are for databases: leave them empty where CONNECTION is a file."
                )
            opened = table_of_files(self._connection, self._files, self._place)
            self._unlike = opened.unlike
            return opened.rows
        if not table:
            raise InputError.saying("TABLE is empty: name the table of the database that holds the records.")
        return self._in_database(table, schema)

    def _in_database(self, table: str, schema: str) -> Any:
        """A table of the .duckdb file, as a relation."""
        # Its database by name: a table of our own, which is temporary, would be found before one of the same name.
        ((file,),) = self._connection.sql(sg.select(sg.func("current_database")).sql("duckdb")).fetchall()
        source = sg.table(table, db=schema or "main", catalog=file, quoted=True)
        return self._connection.sql(sg.select("*").from_(source).sql("duckdb"))

    def _comparable(self, column: sge.Expression, kind: str) -> sge.Expression:
        """A column such that what is equal looks alike; kind : its type, in capitals."""
        whole = kind.endswith(("INT", "INTEGER")) and kind not in WIDE
        if whole or (kind.startswith(PLAIN) and not kind.endswith("]")):
            return column
        if kind in ("FLOAT", "DOUBLE"):
            # NaN is no value; adding 0 makes -0 the 0 that it equals. Asked whether a number is NaN, DuckDB 2.0 says no
            # where the least and the most of a Parquet file, which leave NaN out, are numbers.
            number = sge.Add(this=column, expression=sge.Literal.number("0.0"))
            is_number = sg.or_(sg.func("isfinite", column), sg.func("isinf", column))
            return sge.Case(ifs=[sge.If(this=is_number, true=number)])
        text = column if kind == "VARCHAR" else sge.Cast(this=column, to=sge.DataType.build("VARCHAR"))
        if not self._is_database:
            return text
        return sge.Collate(this=sge.Paren(this=text), expression=sg.to_identifier("binary", quoted=True))

    def _in_digits_of_python(self, table: Any, field: str, kind: str) -> tuple[sge.Expression, str]:
        """A field and its type, in capitals; without nanoseconds where it is declared to have some, as pandas declares
        all moments, and has none: the library reads these as moments too, others as text."""
        column, kind = sg.column(field, quoted=True), kind.upper()
        if kind not in NANOSECONDS:
            return column, kind
        rest = sge.Mod(this=sg.func("epoch_ns", column), expression=sge.Literal.number(1000))
        longer = table.filter(duckdb.SQLExpression(rest.sql("duckdb")) != 0).limit(1)
        if self._guarded(longer.fetchall):
            return column, kind
        return sge.Cast(this=column, to=sge.DataType.build(NANOSECONDS[kind])), NANOSECONDS[kind]

    def _decoded(self, name: str, dictionary: Expression | None, occurring: np.ndarray | None) -> Any:
        """A field of what is written; of codes, the value in a list, which keeps the order as no join would."""
        column: sge.Expression = sg.column(name, quoted=True)
        if dictionary is not None:
            value, code = dictionary.columns
            variable = f"vbas_list_{value}"
            if occurring is not None and len(occurring):
                listed = self._listed_as_enum(dictionary, occurring)
            else:
                by_code = dictionary.aggregate(v=dictionary[value].collect(order_by=dictionary[code]))
                listed = query_of(by_code, "duckdb")
            self._guarded(lambda: self._connection.execute(f"SET VARIABLE {variable} = ({listed})"))
            position = sge.Add(this=column, expression=sge.Literal.number(1))
            column = sg.func("list_extract", sg.func("getvariable", sge.Literal.string(variable)), position)
        return duckdb.SQLExpression(column.sql("duckdb")).alias(name)

    def _listed_as_enum(self, dictionary: Expression, occurring: np.ndarray) -> str:
        """A query of the values by code, as an enumeration of those that occur: a third of the cost of text.

        A Parquet file lists every value of an enumeration, whether a row has it or not.
        """
        value, code = dictionary.columns
        name = f"vbas_values_{value}"
        there = self.upload(f"vbas_occurring_{value}", {"there": np.sort(occurring)})
        joined = dictionary.left_join(there, dictionary[code] == there.there)
        text = joined.there.isnull().ifelse(ibis.null("string"), joined[value])
        listed = self.keep(f"vbas_listed_{value}", joined.select(code=joined[code], text=text))
        values = query_of(listed.filter(listed.text.notnull()).order_by("code").select("text"), "duckdb")
        self._guarded(lambda: self._connection.execute(f"CREATE TEMP TYPE {name} AS ENUM ({values})"))
        of_kind = sge.Cast(this=sg.column("text"), to=sge.DataType.build(name, udt=True))
        by_code = sge.Order(this=of_kind, expressions=[sg.column("code").asc()])
        return sg.select(sge.ArrayAgg(this=by_code)).from_(f"vbas_listed_{value}").sql("duckdb")

    def _named(self, name: str, kind: str, query: str) -> Expression:
        """A temporary view or table of this name."""
        self._guarded(lambda: self._connection.execute(temporary(kind, name, query, "duckdb")))
        rows = self._connection.sql(sg.select("*").from_(sg.table(name, quoted=True)).limit(0).sql("duckdb"))
        return ibis.table(ibis.Schema.from_pyarrow(_table(rows).schema), name=name)

    def _guarded(self, call: Callable[[], Any]) -> Any:
        """A call in the background; DuckDB's errors as a sentence without values."""
        try:
            return in_background(call, self._progress, self._interrupt)
        except (duckdb.Error, OSError) as error:  # rows that come as Arrow raise the latter
            raise EngineError(without_values(error)) from None

    def _interrupt(self) -> None:
        if self._connection is not None:
            self._connection.interrupt()


@contextmanager
def _folder_beside(final: Path) -> Iterator[Path]:
    """A hidden folder to write in; what killed runs have left there is removed first. Raises InputError."""
    with ExitStack() as stack:
        clear_dead(final.parent)
        try:
            folder = stack.enter_context(own_folder(final.parent, BESIDE))
        except OSError as error:
            raise nothing_written_into(final.parent, error) from None
        yield folder


def _field(name: str) -> Any:
    """A field as an expression of DuckDB, whatever its name: DuckDB 1 takes “a.b” for a field b of a."""
    return duckdb.SQLExpression(sg.column(name, quoted=True).sql("duckdb"))


def _reader(relation: Any) -> Any:
    """The batches of a result; DuckDB 1.5 gave the method a new name."""
    make = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    return make(ROWS)


def _table(relation: Any) -> Arrow:
    make = getattr(relation, "to_arrow_table", None) or relation.fetch_arrow_table
    return make()
