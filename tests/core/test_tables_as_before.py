"""What is asked of drawn tables and registers comes to what it came to before: `as_before` says why."""

from __future__ import annotations

import pytest

from . import asked_registers, asked_tables
from .as_before import come_to_the_same, drawn

OF_TABLES = {"kept_fields": 60, "checked_tables": 60, "published_counts": 90, "rules": 60, "made_levels": 60}
OF_TABLES |= {"weights": 60, "edges": 1}
OF_REGISTERS = {"registers": 24, "damaged_registers": 40}


@pytest.mark.parametrize("name", OF_TABLES)
def test_what_is_asked_of_tables_comes_to_the_same(name):
    come_to_the_same(name, drawn(getattr(asked_tables, name), OF_TABLES[name]))


@pytest.mark.parametrize("name", OF_REGISTERS)
def test_what_is_asked_of_registers_comes_to_the_same(name):
    come_to_the_same(name, drawn(getattr(asked_registers, name), OF_REGISTERS[name]))
