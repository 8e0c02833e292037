"""The demonstration city, made once for all that look at it in one process: making it takes seconds."""

from __future__ import annotations

from functools import cache

from vbas.core.records.table import RecordTable
from vbas.core.synthetic.city import City, demonstration_city


@cache
def city() -> City:
    """The city of every page, of seed 0."""
    return demonstration_city()


@cache
def people() -> RecordTable:
    """A record for each of its inhabitants, with all attributes."""
    return city().people().table()
