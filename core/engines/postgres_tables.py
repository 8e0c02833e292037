"""Tables of PostgreSQL that are written aside and take the place of others: the statements, as text.

A table that is being written may be read by its owner alone: what the schema gives to others by itself (ALTER DEFAULT
PRIVILEGES) is taken away before a row is in it, and given when the run has ended well. All that belongs together is one
statement here, which the server carries out whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..dataclass import dataclass
from ..language import as_data, tr
from ..publish.names import ASIDE, hexed, key_of

# What others wait for is given up after a while.
PATIENCE = "SET LOCAL lock_timeout = '60s'"
# The comment of a table that a run has made and not delivered yet; what a table is known by to the next run.
MARK = as_data("VBAS is writing this table: it is not counted yet, nobody is to use it.")


@dataclass(frozen=True)
class Right:
    """What a role may do with a relation; role : as it stands in SQL; column : empty where it is the whole table."""

    relation: str
    what: str
    role: str
    grantable: bool
    column: str = ""

    def granted(self, table: str = "") -> str:
        """The statement that gives it, for a table of another name where one is given."""
        kind = "SEQUENCE" if not table and self.relation.startswith("SEQUENCE ") else "TABLE"
        where = table or self.relation.partition(" ")[2]
        column = f" ({self.column})" if self.column else ""
        option = " WITH GRANT OPTION" if self.grantable else ""
        return f"GRANT {self.what}{column} ON {kind} {where} TO {self.role}{option}"


def quoted(*names: str) -> str:
    """A name, or one with its schema, as SQL takes it."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def literal(text: str) -> str:
    """A text as SQL takes it, however the server reads backslashes."""
    doubled = text.replace("\\", "\\\\").replace("'", "''")
    return f" E'{doubled}'"


def statement(*parts: str) -> str:
    """One statement, from its words and from names and texts that are quoted."""
    return " ".join(parts)


def all_of(*statements: str) -> str:
    """Statements that the server carries out together or not at all."""
    return "; ".join(statements)


def hold(schema: str, table: str) -> str:
    """Hold a table until the transaction ends, and let it last; fails where another run holds it."""
    return all_of(
        "SET LOCAL lock_timeout = '1s'",
        "SET LOCAL idle_in_transaction_session_timeout = 0",
        f"SELECT pg_advisory_xact_lock({key_of(schema, table)})",
    )


def left_behind(schema: str, table: str) -> str:
    """Tables of runs that have ended, and whether this role may drop them: nobody holds what they belong to, or it is
    this table, which this run holds."""
    return statement(
        "SELECT relname, pg_has_role(relowner, 'USAGE')::int FROM pg_class",
        "WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname =",
        literal(schema),
        f") AND relname ~ '^{ASIDE}$'",
        "AND (substr(relname, 10, 16) =",
        literal(hexed(schema, table)),
        "OR NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1",
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        "AND lpad(to_hex(classid::bigint), 8, '0') || lpad(to_hex(objid::bigint), 8, '0')",
        "= substr(relname, 10, 16))) ORDER BY relname",
    )


def standing(schema: str, table: str) -> str:
    """Of a table that is there: its kind, owner, comment, whether this role may replace it, and what protects its rows:
    rules of row security, labels, and tables that it is a part of or that are a part of it."""
    return statement(
        "SELECT relkind::text, pg_get_userbyid(relowner)::text, obj_description(c.oid, 'pg_class'),",
        "pg_has_role(relowner, 'USAGE')::int,",
        "(relrowsecurity OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid))::int,",
        "EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_class'::regclass AND objoid = c.oid)::int,",
        "EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhrelid, inhparent))::int",
        "FROM pg_class c WHERE oid =",
        _oid(schema, table),
    )


def why_it_stays(rows: Sequence[Sequence[object]]) -> str:
    """Why a table cannot be replaced, from what `standing` found: it is none, is another's, or its rows are protected
    in ways that a new table would not have; empty where it can."""
    if not rows:
        return ""
    kind, owner, _, *numbers = rows[0]
    mine, row_security, labels, parts = (int(str(number)) for number in numbers)
    reasons = (
        (kind != "r", tr("it is no plain table")),
        (not mine, tr("it belongs to “{owner}”", owner=owner)),
        (row_security, tr("row security decides who reads which of its rows, and a new table would have none")),
        (labels, tr("it has security labels, and a new table would have none")),
        (parts, tr("it is a part of another table, or has parts")),
    )
    return next((reason for holds, reason in reasons if holds), "")


def rights(schema: str, table: str) -> str:
    """What others than the owner may do with a table, its columns and the sequences that number its rows."""
    return statement(
        "SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || c.oid::regclass::text,",
        "a.privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,",
        "a.is_grantable::int, '' FROM pg_class c, aclexplode(relacl) a",
        "WHERE a.grantee <> c.relowner AND c.oid IN (",
        _with_sequences(schema, table),
        ") UNION ALL SELECT 'TABLE ' || c.oid::regclass::text, a.privilege_type,",
        "CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END, a.is_grantable::int,",
        "quote_ident(attname) FROM pg_class c JOIN pg_attribute t ON attrelid = c.oid, aclexplode(attacl) a",
        "WHERE NOT attisdropped AND a.grantee <> c.relowner AND c.oid =",
        _oid(schema, table),
        "ORDER BY 1, 5, 3, 2",
    )


def closed(schema: str, table: str, rights: Iterable[Right]) -> str:
    """Take an empty table, and what numbers its rows, from all but its owner, and mark it. Nobody looks meanwhile:
    whoever had it open has let go of it, and must ask for it anew."""
    roles = ["PUBLIC", *sorted({right.role for right in rights} - {"PUBLIC"})]
    relations = sorted({right.relation for right in rights if right.relation.startswith("SEQUENCE ")})
    whole = quoted(schema, table)
    return all_of(
        PATIENCE,
        f"LOCK TABLE {whole} IN ACCESS EXCLUSIVE MODE",
        *(f"REVOKE ALL ON {relation} FROM {', '.join(roles)} CASCADE" for relation in (f"TABLE {whole}", *relations)),
        f"COMMENT ON TABLE {whole} IS{literal(MARK)}",
    )


def swapped(schema: str, moves: Sequence[tuple[str, str]]) -> str:
    """Rename tables, all or none."""
    return all_of(PATIENCE, *(f"ALTER TABLE {quoted(schema, old)} RENAME TO {quoted(new)}" for old, new in moves))


def dropped(schema: str, table: str) -> str:
    """Drop a table, but nothing that depends on it."""
    return all_of(PATIENCE, f"DROP TABLE IF EXISTS {quoted(schema, table)}")


def columns(schema: str, table: str) -> str:
    """The columns of a table as SQL takes them, and their comments."""
    return statement(
        "SELECT quote_ident(attname), col_description(attrelid, attnum) FROM pg_attribute",
        "WHERE attnum > 0 AND NOT attisdropped AND attrelid =",
        _oid(schema, table),
    )


def may_own(schema: str, role: str) -> str:
    """Whether a table of a schema may be given to a role."""
    return statement(
        "SELECT (has_schema_privilege(",
        literal(role),
        ",",
        literal(schema),
        ", 'CREATE') OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user))::int",
    )


def not_taken_over(schema: str, old: str, new: str) -> str:
    """What was made for a table and is not there for the one that replaces it: indexes, triggers, constraints, rules,
    statistics and publications."""
    oid, other = _oid(schema, old), _oid(schema, new)
    defined = "regexp_replace(pg_get_indexdef(indexrelid), '^CREATE( UNIQUE)? INDEX .* USING ', '\\1 ')"
    return statement(
        "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisprimary AND indrelid =",
        oid,
        "AND",
        defined,
        "NOT IN (SELECT",
        defined,
        "FROM pg_index WHERE indrelid =",
        other,
        ") UNION SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid =",
        oid,
        "UNION SELECT conname FROM pg_constraint WHERE contype NOT IN ('p', 'n') AND conrelid =",
        oid,
        "UNION SELECT rulename FROM pg_rewrite WHERE ev_class =",
        oid,
        "UNION SELECT stxname FROM pg_statistic_ext WHERE stxrelid =",
        oid,
        "UNION SELECT pubname FROM pg_publication_rel JOIN pg_publication p ON p.oid = prpubid WHERE prrelid =",
        oid,
        "ORDER BY 1",
    )


def made_with(schema: str, table: str, prefix: str) -> str:
    """Sequences and indexes of a table that bear the name that it was written under: kind and name."""
    return statement(
        "SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'INDEX' END, relname FROM pg_class WHERE oid IN (",
        _with_sequences(schema, table),
        "UNION SELECT indexrelid FROM pg_index WHERE indrelid =",
        _oid(schema, table),
        ") AND relkind IN ('S', 'i') AND strpos(relname,",
        literal(prefix),
        ") > 0 ORDER BY 1, 2",
    )


def _with_sequences(schema: str, table: str) -> str:
    """The table and the sequences that number its rows."""
    oid = _oid(schema, table)
    return statement(
        "SELECT",
        oid,
        "UNION SELECT d.objid FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'",
        "WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass",
        "AND d.deptype IN ('a', 'i') AND d.refobjid =",
        oid,
    )


def _oid(schema: str, table: str) -> str:
    """The server's own number of a table, NULL where there is none."""
    return "to_regclass(" + literal(quoted(schema, table)) + ")::oid"
