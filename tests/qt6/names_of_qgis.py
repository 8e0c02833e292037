"""Prints what the QGIS at hand names, as JSON: modules, classes, the Qt class that each is one of, and their enums.

The values of enums are told under the enum alone, as Qt 6 has them: `QgsX.Kind.One`, never `QgsX.One`.
"""

from __future__ import annotations

import inspect
import json
from importlib import import_module

MODULES = ("qgis.core", "qgis.gui", "qgis.analysis", "qgis.utils")
SPECIAL = {"__init__", "__call__", "__bool__"}


def told(cls: type) -> dict[str, object]:
    """A class: its attributes, None or the members of a nested class, and the nearest class of Qt, empty for none."""
    names: dict[str, list[str] | None] = {}
    nested = {one for name in dir(cls) if inspect.isclass(one := getattr(cls, name, None))}
    for name in dir(cls):
        value = getattr(cls, name, None)
        if name.startswith("__") and name not in SPECIAL:
            continue
        if inspect.isclass(value):
            of_it = [one for one in dir(cls) if type(getattr(cls, one, None)) is value]
            names[name] = sorted({*of_it, *(one for one in dir(value) if not one.startswith("_"))})
        elif type(value) not in nested:
            names[name] = None
    of_qt = [one for one in cls.__mro__ if one.__module__.startswith("PyQt5.Qt")]
    return {"names": names, "qt": f"{of_qt[0].__module__[6:]}.{of_qt[0].__name__}" if of_qt else ""}


def main() -> None:
    """Print the modules."""
    print(
        json.dumps(
            {
                module: {
                    name: told(value) if inspect.isclass(value) else None
                    for name, value in vars(import_module(module)).items()
                    if not name.startswith("__")
                }
                for module in MODULES
            }
        )
    )


if __name__ == "__main__":
    main()
