"""Spark: Parquet folders and tables of a cluster, counted and released by it, through a driver here or Spark Connect.

Spark keeps no state of a table as a transaction would: it plans on the files that it listed, which are looked at once
more at the end, and what was written is counted against what the plan foretold.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Callable

import ibis
import numpy as np
import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.pyspark import Backend
from ibis.backends.sql.dialects import PySpark

from ..errors import InputError, OutcomeUnknown, VbasError
from ..language import tr
from ..progress import Progress
from . import steps
from .addresses import Address
from .dictionaries import coded_values, listed
from .engine import NOTHING, Arrow, EngineError, Expression, arrow_table, changed_meanwhile, in_background, left_behind
from .queries import query_of
from .spark_destinations import Destination, destination_of, is_path, quoted
from .spark_failures import FAILURES, UNKNOWN_FIELD, condition, in_words, lost, sentence
from .spark_session import opened_session

Backend.register_options()  # without them Ibis fails at the first field of floating point

# Types whose equal values are written alike, and what Ibis calls them; decimals too. All else is compared as text.
PLAIN = {
    "boolean": "boolean",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "date": "date",
    "timestamp": "timestamp('UTC')",
    "timestamp_ntz": "timestamp",
}
FLOATS = {"float": "float32", "double": "float64"}
WRITTEN_AS = {ibis_name: kind for kind, ibis_name in {**PLAIN, **FLOATS}.items()}
GOES_WITH_TASKS = 2**25  # bytes of a table from here that Spark takes into its plans
BINARY = "UTF8_BINARY"  # the collation that compares byte by byte


def open_engine(address: Address, table: str, schema: str, memory: int, progress: Progress) -> Spark:
    """An engine over a folder of Parquet files, or a table or view of the cluster's catalogue."""
    return Spark(address, table, schema, memory, progress)


class Spark:
    """See `Engine`. Its tables of its own are kept by the executors until it is left."""

    title = "Spark"
    decodes = True
    packs = False
    rows_here = 0

    def __init__(self, address: Address, table: str, schema: str, memory: int, progress: Progress) -> None:
        if not table:
            raise InputError.saying(
                "TABLE is empty: for Spark, give the folder of Parquet files as the cluster sees it, or the name of a "
                "table."
            )
        if schema and is_path(table):
            raise InputError.saying("SCHEMA is for tables: leave it empty where TABLE is a folder.")
        self._address, self._progress, self._given = address, progress, (schema, table)
        self._session: Any = None
        self._kept: list[Any] = []
        self._values: dict[str, Arrow] = {}  # dictionaries that came from here, whose codes ascend
        self._staged: Destination | None = None
        self._final: Destination | None = None
        self._tag = f"vbas-{secrets.token_hex(8)}"
        self._at: Any = None  # the Session
        self._lost = self._problem = ""  # in words, once Spark has gone; what it has said last
        try:
            self._at = self._guarded(lambda: opened_session(address, memory), tagged=False)
            self._session = self._at.session
            self._types: dict[str, str] = self._guarded(lambda: dict(self._table().dtypes))
            self.fields: Mapping[str, str] = self._types
            self._state = self._guarded(self._seen)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Spark:
        return self

    def __exit__(self, *raised: object) -> None:
        left = self._staged is not None and not self._removed(self._staged)
        for frame in self._kept if not self._lost else ():
            with suppress(*FAILURES):
                frame.unpersist()
        if self._at is not None:
            with suppress(*FAILURES):
                self._at.close()
        if left:
            error = raised[1] if len(raised) > 1 else None
            raise left_behind(
                tr("Spark: {problem}", problem=self._lost)
                if self._lost
                else str(error or "") or tr("Spark: what was staged could not be removed"),
                self._final,
                self._staged,
            ) from (error if isinstance(error, BaseException) else None)

    def check_free(self, destination: str) -> None:
        """See `Engine`."""
        self._free(destination)

    def place_beside(self, destination: str, table: str) -> str:
        """See `Engine`. Raises InputError, as `fields_beside`."""
        raise _linked_tables_elsewhere()

    def source(self, names: Mapping[str, str]) -> Expression:
        """See `Engine`."""
        columns = [self._comparable(field).as_(name, quoted=True) for name, field in names.items()]
        self._guarded(lambda: self._table().createOrReplaceTempView("vbas_table"))
        rows = self._sql(sg.select(*columns).from_(sg.table("vbas_table", quoted=True)).sql(PySpark))
        kinds = {name: self._kind(field) for name, field in names.items()}
        return self._named("vbas_source", rows, ibis.schema(kinds))

    def fields_beside(self, table: str) -> Mapping[str, str]:
        """See `Engine`. Raises InputError: linked tables are released in other engines."""
        raise _linked_tables_elsewhere()

    def beside(self, table: str, names: Mapping[str, str], called: str) -> Expression:
        """See `Engine`. Raises InputError, as `fields_beside`."""
        return self.fields_beside(table)

    def dictionaries(self, source: Expression, columns: Sequence[str]) -> dict[str, tuple[Expression, np.ndarray]]:
        """See `Engine`. All fields of one type by one job; coded here, from where Spark sends them with its tasks."""
        dictionary_of = {}
        for kind in {source[column].type() for column in columns}:
            names = [column for column in columns if source[column].type() == kind]
            batches = list(self.fetch(steps.distinct_values(source, names)))
            for position, name in enumerate(names):
                table, values = coded_values(batches, position, name)
                schema = ibis.schema({f"v_{name}": kind, f"c_{name}": "int32"})
                dictionary_of[name] = self._uploaded(f"vbas_{name}", table, schema), values
        return dictionary_of

    def keep(self, name: str, expression: Expression) -> Expression:
        """See `Engine`."""
        return self._kept_as(name, self._frame(expression), expression.schema())

    def again(self, name: str, expression: Expression) -> Expression:
        """See `Engine`. The executors keep them, in memory or on their disks."""
        return self.keep(name, expression)

    def upload(self, name: str, columns: Mapping[str, np.ndarray]) -> Expression:
        """See `Engine`."""
        table = arrow_table(columns)
        return self._uploaded(name, table, ibis.Schema.from_pyarrow(table.schema))

    def fetch(self, expression: Expression) -> Iterator[Arrow]:
        """See `Engine`."""
        rows = self._frame(expression)
        yield from self._guarded(rows.toArrow).to_batches()

    def stage(
        self,
        expression: Expression,
        destination: str,
        dictionaries: Mapping[str, Expression],
        occurring: Mapping[str, np.ndarray] = NOTHING,
    ) -> Expression:
        """See `Engine`. A folder of Parquet files for a destination with a slash in it, else a table."""
        place = self._free(destination)
        staged = place.beside(f"vbas_{secrets.token_hex(8)}")
        self._staged, self._final = staged, place
        query = sg.parse_one(query_of(expression, "pyspark"), read=PySpark)
        rows = self._sql(_sorted_apart(query, expression.columns).sql(PySpark))
        rows = rows.selectExpr(*(self._decoded(name, dictionaries.get(name)) for name in rows.columns))
        self._guarded(lambda: staged.write(rows))
        kinds = dict(expression.schema().items())
        kinds |= {name: values[values.columns[0]].type() for name, values in dictionaries.items()}
        return self._named("vbas_written", self._guarded(staged.read), ibis.schema(kinds))

    def unchanged(self) -> None:
        """See `Engine`."""
        if self._guarded(self._seen) != self._state:
            raise changed_meanwhile()

    def publish(self) -> str:
        """See `Engine`."""
        staged, final = self._staged, self._final
        if staged is None or final is None:
            raise EngineError.saying("Nothing was staged.")
        try:
            self._guarded(lambda: staged.rename(final), lasting=True)
        except VbasError:
            moved = None if self._lost else _moved(staged, final)
            if moved is False:
                raise
            self._staged = None
            if not moved:
                raise OutcomeUnknown.saying(
                    "Spark: {problem} at the last step. Look for “{final}”: if it is there, it is whole and was "
                    "counted twice; if not, remove “{staged}”.",
                    problem=self._problem,
                    final=str(final),
                    staged=str(staged),
                ) from None
        self._staged = None
        return str(final)

    def _decoded(self, name: str, dictionary: Expression | None) -> str:
        """A field of what is written; of codes, the value in a list, which keeps the order as no join would.

        The list is that of a row from here: as a literal it would stand in the cluster's logs of plans.
        """
        if dictionary is None:
            return quoted((name,))
        value, view = dictionary.columns[0], f"{dictionary.get_name()}_list"
        kind = str(dictionary[value].type())
        values = self._values[dictionary.get_name()][value].combine_chunks()
        cast = f"CAST(listed AS array<{WRITTEN_AS.get(kind, kind)}>) AS listed"
        rows = self._guarded(lambda: self._session.createDataFrame(listed(values)).selectExpr(cast))
        self._guarded(lambda: rows.createOrReplaceTempView(view))
        every = sg.select("listed").from_(sg.table(view, quoted=True)).subquery().sql(PySpark)
        return f"get({every}, {quoted((name,))}) AS {quoted((name,))}"

    def _free(self, destination: str) -> Destination:
        """The place of a release that is not there yet. Raises InputError."""
        place = destination_of(self._at, destination, self._given[0])
        self._guarded(place.check_free)
        return place

    def _table(self) -> Any:
        """The records, as a frame of Spark, planned on the files that are there now."""
        schema, table = self._given
        if is_path(table):
            return self._session.read.parquet(table)
        name = quoted((*(schema.split(".") if schema else ()), table))
        self._session.catalog.refreshTable(name)
        return self._session.table(name)

    def _seen(self) -> list[tuple] | None:
        """The files behind the records with their sizes and times; None where the table is not one of files."""
        if is_path(self._given[1]):
            every = self._session.read.format("binaryFile").option("recursiveFileLookup", "true")
            files = every.load(self._given[1]).select("path", "length", "modificationTime")
            return sorted(tuple(row) for row in files.collect())
        try:
            parts = (f"_metadata.file_{name}" for name in ("path", "size", "modification_time"))
            return sorted(tuple(row) for row in self._table().select(*parts).distinct().collect())
        except FAILURES as error:
            if condition(error) in UNKNOWN_FIELD:
                return None
            raise

    def _comparable(self, field: str) -> sge.Expression:
        """A field such that what is equal looks alike."""
        column, kind = sg.column(field, quoted=True), self._types[field]
        if kind in PLAIN or kind.startswith("decimal"):
            return column
        if kind in FLOATS:  # NaN is no value; adding 0 makes -0 the 0 that it equals
            number = sge.Add(this=column, expression=sge.Cast(this=sge.Literal.number(0), to=sge.DataType.build(kind)))
            return sge.Case(ifs=[sge.If(this=sg.func("isnan", column), true=sge.Null())], default=number)
        if kind == "string":
            return column
        if kind == "binary":
            return sg.func("hex", column)
        text = sge.Cast(this=column, to=sge.DataType.build("string"))
        return sge.Anonymous(this="collate", expressions=[text, sge.Literal.string(BINARY)])

    def _kind(self, field: str) -> str:
        kind = self._types[field]
        return {**PLAIN, **FLOATS}.get(kind) or (kind if kind.startswith("decimal") else "string")

    def _kept_as(self, name: str, rows: Any, schema: Expression) -> Expression:
        """Rows that are worked out once, when they are needed first, and kept."""
        self._kept.append(self._guarded(rows.persist))
        return self._named(name, rows, schema)

    def _uploaded(self, name: str, table: Arrow, schema: Expression) -> Expression:
        """A table from here. Of one that goes with every task Spark knows the size, and joins by that."""
        rows = self._guarded(lambda: self._from_here(table))
        if table.column_names[0].startswith("v_"):
            self._values[name] = table
        if table.nbytes < GOES_WITH_TASKS:
            return self._named(name, rows, schema)
        kept = self._kept_as(name, rows, schema)
        self._guarded(rows.count)
        return kept

    def _from_here(self, table: Arrow) -> Any:
        """A frame of a table from here. Spark Connect takes none without rows: it is given one, which is left out."""
        if table.num_rows:
            return self._session.createDataFrame(table)
        row = type(table).from_pylist([dict.fromkeys(table.column_names)], table.schema)
        return self._session.createDataFrame(row).limit(0)

    def _named(self, name: str, rows: Any, schema: Expression) -> Expression:
        self._guarded(lambda: rows.createOrReplaceTempView(name))
        return ibis.table(schema, name=name)

    def _frame(self, expression: Expression) -> Any:
        return self._sql(query_of(expression, "pyspark"))

    def _sql(self, text: str) -> Any:
        return self._guarded(lambda: self._session.sql(text))

    def _guarded(self, call: Callable[[], Any], tagged: bool = True, lasting: bool = False) -> Any:
        """A call in the background; what Spark says as a sentence without values and without secrets."""

        def under_tag() -> Any:  # what Spark does for this thread can be interrupted by its tag
            if tagged:
                self._at.mark(self._tag)
            return call()

        try:
            # What lasts is not interrupted: it would go on where it is done, with nobody waiting for its end.
            return in_background(under_tag, self._progress, (lambda: None) if lasting else self._interrupt, lasting)
        except FAILURES as error:
            problem = sentence(error, self._address.place)
            self._see_whether_lost(error)
            self._problem = self._lost or in_words(error)
        raise problem

    def _see_whether_lost(self, error: BaseException) -> None:
        self._lost = self._lost or lost(error, self._address.place)
        if self._lost and self._at is not None:
            self._at.give_up()

    def _removed(self, staged: Destination) -> bool:
        """Remove what was staged; whether that is sure: what has lost us over Spark Connect goes on with its work."""
        try:
            staged.remove()
        except FAILURES as error:
            self._see_whether_lost(error)
            return False
        return not self._lost or self._at.java is not None

    def _interrupt(self) -> None:
        with suppress(*FAILURES):
            if self._at is not None:
                self._at.interrupt(self._tag)


def _linked_tables_elsewhere() -> InputError:
    return InputError.saying(
        "Linked tables are released in place by DuckDB and PostgreSQL, and not by Spark yet: name none of them."
    )


def _moved(staged: Destination, final: Destination) -> bool | None:
    """Whether what was staged is in its place; None where nobody can tell."""
    with suppress(*FAILURES):
        is_staged, is_there = staged.there(), final.there()
        return False if is_staged else True if is_there else None
    return None


def _sorted_apart(statement: sge.Expression, names: Sequence[str]) -> sge.Expression:
    """A sorted query whose rows are dealt out by what they show, and sorted in every part.

    To sort across the parts Spark would work out all rows twice, once to see where to part them.
    """
    order = statement.args["order"]
    statement.set("order", None)
    statement.set("distribute", sge.Distribute(expressions=[sg.column(name, quoted=True) for name in names]))
    statement.set("sort", sge.Sort(expressions=order.expressions))
    return statement
