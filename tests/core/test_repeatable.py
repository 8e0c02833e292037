"""The same examples in every run, whatever else the process has loaded."""

from __future__ import annotations

import sys
from types import ModuleType

from hypothesis import given, settings
from hypothesis import strategies as st

from ..exploring import EXPLORES


def drawn():
    """What is drawn for a property."""
    seen: list[object] = []

    @settings(derandomize=True, database=None)
    @given(st.lists(st.floats(allow_nan=False), max_size=5), st.text(max_size=5), st.integers())
    def a_property(numbers, text, number):
        seen.append((numbers, text, number))

    a_property()
    return seen


def test_what_is_loaded_changes_no_example(tmp_path, monkeypatch):
    before = drawn()
    file = tmp_path / "of_its_own.py"
    file.write_text("\n".join(f"A{i} = {1_000 + i}, {i}.5, 'w{i}'" for i in range(300)), encoding="utf-8")
    module = ModuleType("of_its_own")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "of_its_own", module)
    assert EXPLORES or drawn() == before
