"""How often Python looks for garbage: objects that hold each other, and that nobody else holds."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (20_000, 20, 50)  # new objects, and times: that of Python is (700, 10, 10)
_changing = threading.Lock()
_usual: list[tuple[int, int, int]] = []  # of all who have it looked for seldom now, what the first one found


@contextmanager
def garbage_looked_for_seldom() -> Iterator[None]:
    """Look for garbage less often in what is done within: a run makes many objects, of which next to none hold each
    other, and each look goes through all that QGIS and its libraries hold. As before once the last of several ends."""
    with _changing:
        _usual.append(_usual[0] if _usual else gc.get_threshold())
        gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        with _changing:
            usual = _usual.pop()
            if not _usual:
                gc.set_threshold(*usual)
