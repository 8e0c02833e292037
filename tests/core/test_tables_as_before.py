"""What is asked of drawn tables and registers comes to what it came to before: `as_before` says why."""

from __future__ import annotations

import pytest

from ..systems import of_posix
from . import asked_registers, asked_tables
from .as_before import come_to_the_same, drawn, in_parts

OF_TABLES = {"kept_fields": (60, 20), "checked_tables": (60, 20), "published_counts": (90, 45), "rules": (60, 60)}
OF_TABLES |= {"made_levels": (60, 20), "weights": (60, 60), "edges": (1, 1)}
OF_REGISTERS = {"registers": (24, 4), "damaged_registers": (40, 5)}


@pytest.mark.parametrize(("name", "n", "some"), in_parts(OF_TABLES))
def test_what_is_asked_of_tables_comes_to_the_same(name, n, some):
    come_to_the_same(name, drawn(getattr(asked_tables, name), n), some)


@pytest.mark.parametrize(("name", "n", "some"), in_parts(OF_REGISTERS))
@of_posix
def test_what_is_asked_of_registers_comes_to_the_same(name, n, some):
    come_to_the_same(name, drawn(getattr(asked_registers, name), n), some)
