"""Numbers of things as a sentence names them: “1 region”, “20 000 records”.

For sentences that count several things; one that counts a single thing is whole in `plural`, verb and all.
"""

from __future__ import annotations

from .language import plural


def areas(n: int) -> str:
    """So many areas."""
    return plural("{n} area", "{n} areas", n)


def cells(n: int) -> str:
    """So many cells of a grid."""
    return plural("{n} cell", "{n} cells", n)


def classes(n: int) -> str:
    """So many classes."""
    return plural("{n} class", "{n} classes", n)


def few(k: int) -> str:
    """So many as are fewer than k, and some: “1”, “1 to 4”."""
    return plural("{n}", "1 to {n}", k - 1)


def groups(n: int) -> str:
    """So many groups."""
    return plural("{n} group", "{n} groups", n)


def homes(n: int) -> str:
    """So many homes."""
    return plural("{n} home", "{n} homes", n)


def households(n: float) -> str:
    """So many households."""
    return plural("{n:g} household", "{n:g} households", n)


def people(n: int) -> str:
    """So many people."""
    return plural("{n} person", "{n} people", n)


def points(n: int) -> str:
    """So many points."""
    return plural("{n} point", "{n} points", n)


def records(n: int) -> str:
    """So many records."""
    return plural("{n} record", "{n} records", n)


def rows(n: int) -> str:
    """So many rows of a table."""
    return plural("{n} row", "{n} rows", n)


def sites(n: int) -> str:
    """So many sites."""
    return plural("{n} site", "{n} sites", n)


def regions(n: int) -> str:
    """So many regions."""
    return plural("{n} region", "{n} regions", n)
