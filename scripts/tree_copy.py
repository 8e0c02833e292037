"""A copy of the checkout in which something is broken on purpose."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def copy_of_the_tree() -> Iterator[Path]:
    """A copy of what stands here, with uncommitted changes, that uses the same environment."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder) / "tree"
        leave = shutil.ignore_patterns(".git", ".venv", "build", "__pycache__", ".*_cache", ".hypothesis")
        shutil.copytree(ROOT, tree, ignore=leave, symlinks=True)
        (tree / ".venv").symlink_to(ROOT / ".venv")
        (tree / "build" / "package").mkdir(parents=True)
        (tree / "build" / "package" / "vbas").symlink_to(tree)
        # Compiled once, and known by what it holds: a mutant may be as long as the line it stands for, and as old.
        compiled = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(tree)]
        subprocess.run(compiled, env=surroundings(tree), check=True)
        yield tree


def surroundings(tree: Path) -> dict[str, str]:
    """The environment of what runs there: with what is compiled beside the code, and nothing compiled anew."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
    kept |= {"PYTHONPATH": str(tree / "build" / "package"), "PYTHONDONTWRITEBYTECODE": "1"}
    return kept | {"QT_QPA_PLATFORM": "offscreen", "PYTHONWARNINGS": "ignore"}
