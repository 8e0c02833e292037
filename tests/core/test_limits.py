"""The numbers that decide what is looked for and refused, and what is asked for where nothing is said: none changes."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from vbas.core.dataclass import make_whole

from ..scripts import ROOT
from ..systems import of_posix
from .as_before import KEPT, PINS, text_of

ROOMS = ("privacy", "releases", "disclosure", "nesting", "publish")
# How much is held in memory at a time, and what takes time alone: nothing else follows from them.
OF_THE_MACHINE = ("AT_ONCE", "AT_A_TIME", "BYTES_A", "LONGEST_RUN", "WORTH", "CELLS_A_VALUE", "LOOKED_AT", "MOST_CELLS")


def has_numbers(value: object) -> bool:
    """Whether there is a number in a constant."""
    if isinstance(value, (tuple, list)):
        return any(map(has_numbers, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def modules() -> Iterator[tuple[Path, str, ModuleType]]:
    """The files of the rooms, what each is called, and as it is loaded."""
    for file in sorted(path for room in ROOMS for path in (ROOT / "core" / room).rglob("*.py")):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        yield file, name, importlib.import_module(f"vbas.{name}")


def held(lines: list[str], name: str) -> None:
    """Hold lines against those of a file."""
    file = KEPT / f"{name}.txt"
    if PINS:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == file.read_text(encoding="utf-8").splitlines()


@of_posix
def test_limits():
    lines = []
    for file, name, module in modules():
        assigned = [node for node in ast.parse(file.read_bytes()).body if isinstance(node, ast.Assign)]
        for constant in [one.id for node in assigned for one in ast.walk(node.targets[0]) if isinstance(one, ast.Name)]:
            value = getattr(module, constant)
            if has_numbers(value) and not any(part in constant for part in OF_THE_MACHINE):
                lines.append(f"{name}.{constant} = {text_of(value)}")
    held(lines, "limits")


def made_in(module: ModuleType) -> Iterator[tuple[str, object]]:
    """What can be called of a module, with the methods of its classes."""
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", "") == module.__name__ and callable(thing):
            yield name, thing
            if inspect.isclass(thing):
                yield from (
                    (f"{name}.{own}", of)
                    for own, of in vars(thing).items()
                    if own[:2] != "__" and inspect.isfunction(of)
                )


def test_what_is_asked_for_where_nothing_is_said():
    lines = set()
    for _, name, module in modules():
        for called, thing in made_in(module):
            if isinstance(thing, type):
                make_whole(thing)
            try:
                parameters = inspect.signature(thing).parameters  # type: ignore[arg-type]
            except ValueError:  # of an exception
                continue
            for parameter in parameters.values():
                if isinstance(parameter.default, (bool, int, float)):
                    lines.add(f"{name}.{called}({parameter.name}) = {text_of(parameter.default)}")
    held(sorted(lines), "defaults")
