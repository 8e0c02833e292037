"""The oracle of the fuzz, held fast: what recounts is the same from the first of many cases to the last.

What draws cases and runs them may follow the program. What says whether a result is right may not: cases that ran
before would have been held against something else. FROZEN is its hash. Who mends it pins the new one, and counts cases
anew: a file of what came of the cases so far is of one oracle, and is not gone on with by another.
"""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
FROZEN = "97bd4f1cddd6b3674316af7296b5dc123a780db659a19dd4d3b54138d774b802"


def modules() -> list[Path]:
    """The judge, all that it calls of these tests, and the verifier that recounts folders."""
    found: set[Path] = set()
    due = [TESTS / "fuzz" / "judge.py"]
    while due:
        path = due.pop()
        if path not in found:
            found.add(path)
            due += _called_by(path)
    return [*sorted(found), TESTS.parent / "verify" / "verify.py"]


def _called_by(path: Path) -> list[Path]:
    imports = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.ImportFrom)]
    called = []
    for node in imports:
        if node.level:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            named = [folder / f"{alias.name}.py" for alias in node.names]
            called += [file for file in [folder.with_suffix(".py"), *named] if file.is_file()]
    return called


def oracle() -> str:
    """The hash of what recounts, however its lines end here."""
    whole = hashlib.sha256()
    for path in modules():
        text = path.read_bytes().replace(b"\r\n", b"\n")
        whole.update(f"{path.name} {len(text)}\n".encode() + text)
    return whole.hexdigest()
