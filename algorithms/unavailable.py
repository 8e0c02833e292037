"""The toolbox of a QGIS that lacks a package: the same algorithms, which say what is missing."""

from __future__ import annotations

import ast
from pathlib import Path

from .base import VbasAlgorithm


def unavailable_algorithms() -> list[VbasAlgorithm]:
    """An algorithm for each form, with its names and no parameters.

    The forms cannot be imported without the packages that core needs, so their names are read from their files.
    """
    found = []
    for file in sorted(Path(__file__).parent.glob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                names = _constants(node)
                if "ID" in names:
                    found.append(type(node.name, (VbasAlgorithm,), names)())
    return found


def _constants(node: ast.ClassDef) -> dict[str, object]:
    """The class's constants: ID, TITLE, GROUP, …"""
    constants = {}
    for line in node.body:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            try:
                constants[line.targets[0].id] = ast.literal_eval(line.value)
            except ValueError:
                continue  # not a constant
    return constants
