"""shapely's own GEOS beside that of QGIS.

A wheel of shapely brings a GEOS of its own, with functions of the same names as those of the GEOS that QGIS is linked
with. Linux hands out a name from where it was loaded first: shapely would call QGIS's, and with another version of it
write no shape, or a wrong one. Bound deeply, what is loaded takes its own first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module

COMPILED = ("shapely", "shapely.geometry", "shapely.lib", "shapely._geos", "shapely._geometry_helpers")


def load_shapely() -> None:
    """Load all that is compiled in shapely, bound to its own GEOS; what is absent or broken stays for who needs it."""
    with suppress(ImportError, OSError):  # shapely 1.8 raises OSError where its library is missing
        import_module("numpy")  # shapely would load it, and it has nothing of its own to be bound to
        with _bound_deeply():
            for name in COMPILED:
                import_module(name)


def works_here() -> bool:
    """Whether shapely writes shapes in this process: not where another plugin loaded it first, bound to QGIS's GEOS."""
    import shapely

    try:
        return bool(shapely.to_wkb(shapely.box(0, 0, 1, 1)))
    except shapely.GEOSException:
        return False


@contextmanager
def _bound_deeply() -> Iterator[None]:
    if sys.platform != "linux":  # elsewhere a library's own are taken anyway
        yield
        return
    before = sys.getdlopenflags()
    sys.setdlopenflags(before | getattr(os, "RTLD_DEEPBIND", 0))  # which not every Linux has
    try:
        yield
    finally:
        sys.setdlopenflags(before)
