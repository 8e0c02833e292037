"""The modules of the plugin that use what Python has otherwise on Windows or macOS than on Linux, one a line.

scripts/types checks these for all three systems; of all others the types are the same everywhere. Which modules of
Python differ is read from the declarations that mypy checks by.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import mypy

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("core", "algorithms", "vbas_plugin")
DECLARED = Path(mypy.__file__).parent / "typeshed" / "stdlib"


def differing() -> set[str]:
    """Modules of Python, or packages, of which something is there on some systems alone."""
    files = (file for file in DECLARED.rglob("*.pyi") if "sys.platform" in file.read_text(encoding="utf-8"))
    return {file.relative_to(DECLARED).parts[0].removesuffix(".pyi") for file in files}


def imported(file: Path) -> Iterator[str]:
    """The first part of the name of each module that a file imports by its whole name."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]


def main() -> None:
    """Print them."""
    differ = differing()
    for file in sorted(file for room in SHIPPED for file in (ROOT / room).rglob("*.py")):
        if not differ.isdisjoint(imported(file)):
            parts = file.relative_to(ROOT).with_suffix("").parts
            print(".".join(("vbas", *(part for part in parts if part != "__init__"))))


if __name__ == "__main__":
    main()
