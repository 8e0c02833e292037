"""A table in its place, and back again: what the databases share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TypeVar

from qgis.core import QgsAbstractDatabaseProviderConnection

from ....core.errors import VbasError
from ....core.language import tr
from ....core.publish.delivery import Place
from ....core.publish.names import NEW, OLD, name_aside, role_of
from ..gdal_errors import silent_gdal
from .address import DatabaseTable, first_line

Result = TypeVar("Result")


class TablePlace(Place):
    """The place of a table that is written under a name of its own, and gets its final name with all other outputs."""

    def __init__(self, name: str, table: DatabaseTable) -> None:
        self._name, self._table = name, table
        self._final = table.parts.table()
        self._schema = self._schema_of(table)
        self._new, self._kept = (name_aside(role, self._schema, self._final) for role in (NEW, OLD))
        self._existed = self._delivered = False
        self.begun = False  # whether anything was written under its new name

    @property
    def new(self) -> str:
        """The name that the table is written under."""
        return self._new

    @property
    def called(self) -> str:
        """The table in its place, as people name it."""
        if self._table.file is not None:
            return f"{self._table.file}, {self._final}"
        return ".".join(filter(None, (self._table.schema, self._final)))

    @property
    def staging(self) -> str:
        """The destination to be written to."""
        return self._table.named(self._new)

    def final(self, identifier: str) -> str:
        """The address of the table in its place, from that of the table as it was written."""
        return identifier.replace(self._new, self._final)

    @abstractmethod
    def held(self) -> AbstractContextManager[Sequence[str]]:
        """Hold the table against other runs, and tidy up what killed ones left; gives sentences on that."""

    def close_to_others(self) -> None:
        """Called when the table is made and empty: nobody but its owner is to read it before the run has ended."""

    def prepare(self) -> None:
        """See that both tables can be reached."""
        self._existed = self._exists(self._final)

    def check(self) -> None:
        """The database has renamed what was counted: it is the same table."""

    def undo(self) -> list[str]:
        """Rename back, as far as `put` came: the database shows how far."""
        kept: bool | None = None
        try:
            kept, new, final = (self._exists(table) for table in (self._kept, self._new, self._final))
            ours = [(self._final, self._new)] if final and not new and (kept or not self._existed) else []
            self._put_back([*ours, *([(self._kept, self._final)] if kept else [])])
        except VbasError as error:
            where = tr("look what it holds")
            if kept:
                where = tr("what it held is in the table “{kept}”, rename it", kept=self._kept)
            elif kept is None and self._existed:
                where = tr(
                    "if there is a table “{kept}”, that is what it held: rename it, in the place of what has its name "
                    "now",
                    kept=self._kept,
                )
            return [
                tr(
                    "The table “{final}” could not be put back ({error}): {where}.",
                    final=self._final,
                    error=error,
                    where=where,
                )
            ]
        return []

    @abstractmethod
    def _put_back(self, moves: list[tuple[str, str]]) -> None:
        """Rename tables, each from one name to another."""

    def discard(self) -> list[str]:
        """Drop the new table; sentences on what could not be dropped."""
        if self._delivered:
            return []
        try:
            self._drop_new()
        except (VbasError, OSError) as error:
            if self.begun:
                return [
                    tr(
                        "What was written for “{final}” may still be in the table “{new}”, which nobody is to use "
                        "({error}): drop it.",
                        final=self._final,
                        new=self._new,
                        error=error,
                    )
                ]
        return []

    def _drop_new(self) -> None:
        if self._exists(self._new):
            self._drop(self._new)

    def _tidied_up(self) -> list[str]:
        """Drop what a killed run was writing, put back what it was replacing; sentences on that, and on what others
        left."""
        sentences = []
        for name, mine in self._left():
            role = role_of(name, self._schema, self._final)
            if role and mine:
                with suppress(VbasError):
                    sentences.append(self._tidied(name, role))
                    continue
            sentences.append(
                tr(
                    "There is the table “{table}” of a run of VBAS that was ended before its end ({where}): nobody is "
                    "to use it, its owner is to drop it.",
                    where=self._schema or self._table.file,
                    table=name,
                )
            )
        return sentences

    def _tidied(self, name: str, role: str) -> str:
        if role == OLD:
            self._put_back_old(name)
            return tr(
                "A run that was ended before its end was replacing “{final}”: it was put back.", final=self._final
            )
        self._drop(name)
        return tr(
            "A run that was ended before its end had left the table “{table}”, of what was to be “{final}”: it was "
            "dropped.",
            table=name,
            final=self._final,
        )

    @abstractmethod
    def _put_back_old(self, name: str) -> None:
        """Put back what a killed run was replacing. Raises VbasError where something stands there that may be meant."""

    @abstractmethod
    def _left(self) -> list[tuple[str, bool]]:
        """The tables that runs which have ended left, and whether this one may drop them."""

    def _schema_of(self, table: DatabaseTable) -> str:
        return table.schema

    def _exists(self, table: str) -> bool:
        return self._run(lambda connection: connection.tableExists(self._table.schema, table))

    def _drop(self, table: str) -> None:
        self._run(lambda connection: connection.dropVectorTable(self._table.schema, table))

    def _rename(self, old: str, new: str) -> None:
        self._run(lambda connection: connection.renameVectorTable(self._table.schema, old, new))

    def _run(self, action: Callable[[QgsAbstractDatabaseProviderConnection], Result]) -> Result:
        try:
            with silent_gdal():  # QGIS renames styles along with a table, in files too that have none
                return action(self._table.connect())
        except Exception as error:  # QGIS 3.22 raises a kind that it does not export
            said = first_line(error, self._table)
            raise VbasError.saying(
                "{name}: the database says: {first_line}", name=self._name, first_line=said
            ) from None
