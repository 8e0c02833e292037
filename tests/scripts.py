"""Scripts of the project as modules, and as they are started."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def script(name: str) -> Any:
    """A script of Python as a module."""
    specification = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    with pytest.MonkeyPatch.context() as monkeypatch:  # dataclasses look for the module that they are in
        monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.syspath_prepend(str(ROOT / "scripts"))
        specification.loader.exec_module(module)
    return module


def started(name: str, *words: str, seconds: int = 600) -> subprocess.CompletedProcess:
    """A script, run to its end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "package"), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / f"{name}.py"), *words],
        capture_output=True,
        text=True,
        env=environment,
        timeout=seconds,
        check=False,
    )
