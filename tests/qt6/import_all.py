"""Imports the plugin with Qt 6 (PyQt6) and stand-ins for the classes of QGIS, and follows every name it uses of them.

    python import_all.py NAMES      NAMES is the file that names_of_qgis printed

No QGIS 4 can be had from Debian. The classes of Qt are the real ones of Qt 6; the names of QGIS are those of the QGIS
at hand, with enums by scope alone. What a method does is not seen by this. Prints what is wrong, a line each.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from pkgutil import walk_packages

# What is imported of QGIS's own plugin as the modules begin, each with a class of its name.
WRITTEN_IN_PYTHON = (
    "processing",
    "processing.gui",
    "processing.gui.AlgorithmDialog",
    "processing.gui.AlgorithmDialogBase",
    "processing.gui.ParametersPanel",
)
VERSION = 40000  # as QGIS 4.0 numbers itself


class StandIn:
    """Is called and subclassed, and does nothing."""

    def __init__(self, *_arguments: object, **_named: object) -> None:
        pass


def members(names: list[str]) -> type:
    """A nested class, such as an enum, with its members."""
    return type("Nested", (), {name: index for index, name in enumerate(names)})


def stand_in(name: str, told: dict) -> type:
    """A class of QGIS by what it names."""
    base: type = StandIn
    if told["qt"]:
        module, _, qt = told["qt"].partition(".")
        base = getattr(importlib.import_module(f"PyQt6.{module}"), qt, StandIn)  # Qt 6 has moved some
    attributes = {
        attribute: (lambda *_arguments, **_named: None) if inner is None else members(inner)
        for attribute, inner in told["names"].items()
        if attribute != "__init__" and not hasattr(base, attribute)
    }
    return type(name, (base,), attributes)


def install(names: dict[str, dict]) -> None:
    """Put Qt 6 and the stand-ins where the plugin imports them from."""
    qgis = sys.modules["qgis"] = types.ModuleType("qgis")
    qgis.__path__ = []
    for module, there in names.items():
        made = sys.modules[module] = types.ModuleType(module)
        setattr(qgis, module.partition(".")[2], made)
        for name, told in there.items():
            setattr(made, name, StandIn() if told is None else stand_in(name, told))
    sys.modules["qgis.core"].Qgis.QGIS_VERSION_INT = VERSION
    for module in WRITTEN_IN_PYTHON:
        made = sys.modules[module] = types.ModuleType(module)
        made.__path__ = []
        setattr(made, module.rpartition(".")[2], type(module.rpartition(".")[2], (StandIn,), {}))
    import PyQt6

    sys.modules["qgis.PyQt"] = PyQt6
    for name in ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtXml", "QtTest"):
        sys.modules[f"qgis.PyQt.{name}"] = importlib.import_module(f"PyQt6.{name}")


def unknown_names(path: Path) -> Iterator[str]:
    """Dotted names below what a file imports from QGIS or Qt that are not there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported: dict[str, object] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "qgis":
            module = importlib.import_module(node.module)
            for one in node.names:
                if not hasattr(module, one.name):
                    yield f"{path}:{node.lineno} {node.module}.{one.name}"
                imported[one.asname or one.name] = getattr(module, one.name, None)
    for node in ast.walk(tree):
        chain = _chain(node)
        if chain and isinstance(imported.get(chain[0]), type):
            value: object = imported[chain[0]]
            for name in chain[1:]:
                if not isinstance(value, type):
                    break
                if not hasattr(value, name):
                    yield f"{path}:{getattr(node, 'lineno', 0)} {'.'.join(chain)}"
                    break
                value = getattr(value, name)


def _chain(node: ast.AST) -> list[str]:
    """The names of `A.b.c`; empty for what does not begin with a name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if names and isinstance(node, ast.Name) else []


def main() -> int:
    """Import every module of the plugin, then look at its names."""
    install(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    import vbas

    root = Path(vbas.__file__).parent
    for package in ("algorithms", "vbas_plugin"):
        for module in walk_packages([str(root / package)], f"vbas.{package}."):
            importlib.import_module(module.name)
            print(f"imported {module.name}")
        for path in sorted((root / package).rglob("*.py")):
            for wrong in unknown_names(path):
                print(f"unknown {wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
