"""What several processes of a run of the tests read: made by the first that asks for it, while the others wait."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(temporary: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` filled, once in a run of the tests. What is in it is read, and never changed."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        make(folder := temporary.mktemp(name))
        return folder
    place = temporary.getbasetemp().parent  # that of all processes
    folder, whole = place / name, place / f"{name} is whole"
    with (place / f"{name} is being made").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a process in which it failed
            folder.mkdir()
            make(folder)
            whole.touch()
    return folder
