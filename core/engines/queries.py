"""Expressions as SQL."""

from __future__ import annotations

from functools import lru_cache

import ibis
import sqlglot as sg

from .engine import Expression

QUERIES = 512  # that are remembered; a release asks some thirty


def query_of(expression: Expression, dialect: str) -> str:
    """An expression of tables that have names, as a query; dialect : "duckdb", "postgres" or "pyspark".

    The next release of fields of the same types asks the same, and writing a query out takes longer than a small table
    takes to answer it: what is equal is written out once.
    """
    return _query(expression.op(), dialect)


@lru_cache(maxsize=QUERIES)
def _query(operation: Expression, dialect: str) -> str:
    return str(ibis.to_sql(operation.to_expr(), dialect=dialect))


def temporary(kind: str, name: str, query: str, dialect: str) -> str:
    """The statement that makes a temporary view or table; kind : "VIEW" or "TABLE"."""
    return f"CREATE TEMPORARY {kind} {sg.to_identifier(name, quoted=True).sql(dialect)} AS {query}"
