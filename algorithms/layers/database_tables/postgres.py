"""Tables of PostgreSQL as outputs: nobody but their owner reads them before the run has ended well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from qgis.core import QgsAbstractDatabaseProviderConnection, QgsTransaction

from ....core.engines import postgres_tables as sql
from ....core.engines.postgres_tables import Right
from ....core.errors import VbasError, first_values
from ....core.language import tr
from .address import DatabaseTable, first_line
from .swapping import TablePlace

# Bytes of a name; what is longer the server cuts.
LONGEST_NAME = "SHOW max_identifier_length"
# What would keep a replaced table from being dropped, and go on showing its old rows.
DEPENDENTS = """
SELECT n.nspname, c.relname, r.ev_class::regclass::text
FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class c ON c.oid = d.refobjid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND r.ev_class <> c.oid
UNION
SELECT n.nspname, c.relname, k.conrelid::regclass::text
FROM pg_constraint k JOIN pg_class c ON c.oid = k.confrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype = 'f'
UNION
SELECT n.nspname, c.relname, d.objid::regprocedure::text
FROM pg_depend d JOIN pg_class c ON c.oid = d.refobjid OR c.reltype = d.refobjid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE d.classid = 'pg_proc'::regclass
"""


def in_the_way(connection: QgsAbstractDatabaseProviderConnection, table: DatabaseTable) -> tuple[int, str, list[str]]:
    """What may keep a table from its name: the bytes that a name may have, why what is there cannot be replaced (empty
    where it can), and what depends on it."""
    longest = int(connection.executeSql(LONGEST_NAME)[0][0])
    schema, name = table.schema or str(connection.executeSql("SELECT current_schema()")[0][0]), table.parts.table()
    protecting = sql.why_it_stays(connection.executeSql(sql.standing(schema, name)))
    dependents = [str(by) for of, relation, by in connection.executeSql(DEPENDENTS) if (of, relation) == (schema, name)]
    return longest, protecting, dependents


class PostgresPlace(TablePlace):
    """A table that is closed to others while it is written, counted and put in its place; then it is as open as the one
    that it replaces, or as the schema opens new ones."""

    def __init__(self, name: str, table: DatabaseTable) -> None:
        super().__init__(name, table)
        self._rights: list[Right] = []  # that the schema gives to a new table
        self._comment = ""

    @contextmanager
    def held(self) -> Iterator[list[str]]:
        """Hold the table against other runs, and tidy up what killed ones left; sentences on that."""
        hold = QgsTransaction.create(self._table.parts.connectionInfo(True), "postgres")
        begun, message = hold.begin() if hold is not None else (False, tr("it has no transactions"))
        if not begun:
            raise self._said(message)
        try:
            taken, message = hold.executeSql(sql.hold(self._schema, self._final))
            if not taken and "lock timeout" in message:
                raise VbasError.saying(
                    "{name}: another run is writing to {target}: wait until it has ended, or choose another place.",
                    name=self._name,
                    target=self._final,
                )
            if not taken:
                raise self._said(message)
            yield self._tidied_up()
        finally:
            hold.rollback()

    def close_to_others(self) -> None:
        """Take the table, which is empty still, from all but its owner. Raises VbasError where others keep a right."""
        self._rights = self._rights_of(self._new)
        self._ask(sql.closed(self._schema, self._new, self._rights))
        others = self._rights_of(self._new)
        if others:
            raise VbasError.saying(
                "{name}: {roles} may read the table while it is written, before it is counted, and that could not be "
                "taken back: write into another schema, or into a file.",
                name=self._name,
                roles=first_values(sorted({right.role for right in others})),
            )

    def put(self) -> None:
        """Rename what is there and the new table at once: nobody ever finds the place empty."""
        if self._existed:
            there = self._standing(self._final)
            self._comment = "" if there is None else str(there[2] or "")
        kept = [(self._final, self._kept)] if self._existed else []
        self._ask(sql.swapped(self._schema, [*kept, (self._new, self._final)]))

    def _put_back(self, moves: list[tuple[str, str]]) -> None:
        if moves:
            self._ask(sql.swapped(self._schema, moves))

    def forget(self) -> list[str]:
        """Open the table to whom it is for, and drop what was kept, both or none."""
        self._delivered = True
        sentences = []
        try:
            if self._existed and self._comment != sql.MARK:
                sentences = self._not_taken_over()
                owned, other = self._owned_as_before()
                statements, sentences = [*self._taken_over(), *owned], [*sentences, *other]
            else:
                statements = [self._commented(""), *(right.granted(self._named(right)) for right in self._rights)]
            kept = [sql.dropped(self._schema, self._kept)] if self._existed else []
            self._ask(sql.all_of(sql.PATIENCE, *statements, *kept))
        except VbasError as error:
            if not self._existed:
                return [
                    tr(
                        "The table “{final}” is in its place, but its owner alone may read it ({error}): grant others "
                        "their rights.",
                        final=self._final,
                        error=error,
                    )
                ]
            return [
                tr(
                    "The table “{final}” is in its place, but its owner alone may read it, and what it held before is "
                    "still in the table “{kept}” ({error}): grant others their rights, and drop “{kept}” and what "
                    "depends on it.",
                    final=self._final,
                    kept=self._kept,
                    error=error,
                )
            ]
        self._name_parts()
        return sentences

    def _drop(self, table: str) -> None:
        self._ask(sql.dropped(self._schema, table))

    def _taken_over(self) -> list[str]:
        """Statements that give the new table the rights and the comments of the one that it replaces."""
        there = {str(name): comment for name, comment in self._ask(sql.columns(self._schema, self._final))}
        before = self._ask(sql.columns(self._schema, self._kept))
        whole = sql.quoted(self._schema, self._final)
        statements = [self._commented(self._comment)]
        statements += [
            f"COMMENT ON COLUMN {whole}.{column} IS{sql.literal(str(comment))}"
            for column, comment in before
            if column in there and comment
        ]
        for right in self._rights_of(self._kept):
            if right.relation.startswith("TABLE ") and (not right.column or right.column in there):
                statements.append(right.granted(whole))
        # Whoever may write into the table needs the numbers of its rows; others had none but by the schema.
        statements += [right.granted() for right in self._rights if right.relation.startswith("SEQUENCE ")]
        return statements

    def _owned_as_before(self) -> tuple[list[str], list[str]]:
        """Statements that give the new table to the owner of the one that it replaces, or all rights on it where that
        role may own none there; sentences on the latter."""
        old, new = self._standing(self._kept), self._standing(self._final)
        if old is None or new is None or old[1] == new[1]:
            return [], []
        owner, whole = str(old[1]), sql.quoted(self._schema, self._final)
        if int(str(self._ask(sql.may_own(self._schema, owner))[0][0])):
            return [f"ALTER TABLE {whole} OWNER TO {sql.quoted(owner)}"], []
        sentence = tr(
            "The table “{final}” belongs to “{user}” now and no longer to “{owner}”, which has all rights on it, but "
            "may not own tables in its schema (right CREATE).",
            final=self._final,
            user=new[1],
            owner=owner,
        )
        return [f"GRANT ALL ON TABLE {whole} TO {sql.quoted(owner)}"], [sentence]

    def _not_taken_over(self) -> list[str]:
        lost = [str(part) for (part,) in self._ask(sql.not_taken_over(self._schema, self._kept, self._final))]
        if not lost:
            return []
        return [
            tr(
                "The table “{final}” was replaced: it has the rights and the comments of the one before, but not its "
                "indexes, triggers, constraints, rules, statistics and publications ({lost}): make them "
                "again if they are needed.",
                final=self._final,
                lost=first_values(lost),
            )
        ]

    def _name_parts(self) -> None:
        """Let sequences and indexes bear the name of the table, where that is free and not too long: they work under
        any."""
        with suppress(VbasError):
            parts = self._ask(sql.made_with(self._schema, self._final, self._new))
            for kind, name in parts:
                renamed = str(name).replace(self._new, self._final)
                with suppress(VbasError):
                    self._ask(f"ALTER {kind} {sql.quoted(self._schema, str(name))} RENAME TO {sql.quoted(renamed)}")

    def _put_back_old(self, name: str) -> None:
        there = self._standing(self._final)
        if there is not None and there[2] != sql.MARK:
            raise VbasError(name)
        # What is there was not delivered: nobody was told of it, nobody may read it.
        gone = [] if there is None else [f"DROP TABLE {sql.quoted(self._schema, self._final)}"]
        self._ask(sql.all_of(sql.PATIENCE, *gone, sql.swapped(self._schema, [(name, self._final)])))

    def _left(self) -> list[tuple[str, bool]]:
        return [(str(name), bool(int(mine))) for name, mine in self._ask(sql.left_behind(self._schema, self._final))]

    def _standing(self, table: str) -> list[Any] | None:
        rows = self._ask(sql.standing(self._schema, table))
        return rows[0] if rows else None

    def _rights_of(self, table: str) -> list[Right]:
        rows = self._ask(sql.rights(self._schema, table))
        return [
            Right(str(of), str(what), str(role), bool(int(more)), str(column)) for of, what, role, more, column in rows
        ]

    def _named(self, right: Right) -> str:
        """The table of a right under its final name; empty for a sequence, which has its own still."""
        return sql.quoted(self._schema, self._final) if right.relation.startswith("TABLE ") else ""

    def _commented(self, comment: str) -> str:
        said = sql.literal(comment) if comment else " NULL"
        return f"COMMENT ON TABLE {sql.quoted(self._schema, self._final)} IS{said}"

    def _ask(self, statement: str) -> list[list[Any]]:
        return self._run(lambda connection: connection.executeSql(statement))

    def _said(self, message: str) -> VbasError:
        said = first_line(Exception(message), self._table)
        return VbasError.saying("{name}: the database says: {first_line}", name=self._name, first_line=said)

    def _schema_of(self, table: DatabaseTable) -> str:
        return table.schema or str(self._ask("SELECT current_schema()")[0][0])
