"""How often Python looks for garbage: objects that hold each other, and that nobody else holds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (20_000, 20, 50)  # new objects, and times: that of Python is (700, 10, 10)


@contextmanager
def garbage_looked_for_seldom() -> Iterator[None]:
    """Look for garbage less often in what is done within: a run makes many objects, of which next to none hold each
    other, and each look goes through all that QGIS and its libraries hold."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
