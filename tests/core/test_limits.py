"""The numbers that decide what is looked for, how far, and what is refused: none changes unseen."""

from __future__ import annotations

import ast
import importlib

from ..scripts import ROOT
from .as_before import KEPT, PINS, text_of

ROOMS = ("privacy", "releases", "disclosure", "nesting", "publish")
# How much is held in memory at a time, and what takes time alone: nothing else follows from them.
OF_THE_MACHINE = ("AT_ONCE", "AT_A_TIME", "BYTES_A", "LONGEST_RUN", "WORTH", "CELLS_A_VALUE", "LOOKED_AT", "MOST_CELLS")


def has_numbers(value: object) -> bool:
    """Whether there is a number in a constant."""
    if isinstance(value, (tuple, list)):
        return any(map(has_numbers, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def test_limits():
    lines = []
    for file in sorted(path for room in ROOMS for path in (ROOT / "core" / room).rglob("*.py")):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        assigned = [node for node in ast.parse(file.read_bytes()).body if isinstance(node, ast.Assign)]
        for constant in [one.id for node in assigned for one in ast.walk(node.targets[0]) if isinstance(one, ast.Name)]:
            value = getattr(importlib.import_module(f"vbas.{name}"), constant)
            if has_numbers(value) and not any(part in constant for part in OF_THE_MACHINE):
                lines.append(f"{name}.{constant} = {text_of(value)}")
    file = KEPT / "limits.txt"
    if PINS:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == file.read_text(encoding="utf-8").splitlines()
