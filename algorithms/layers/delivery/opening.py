"""Staged files as layers: opened, and let go of with all that QGIS keeps of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qgis.core import QgsVectorLayer


@contextmanager
def opened(file: Path, name: str) -> Iterator[QgsVectorLayer]:
    """A file as a layer, valid or not.

    QGIS keeps connections to files whose features were read, in case the layer is read again: for a minute after the
    layer is gone, and for ever where no window runs its clock. Each run stages its files under another name: a process
    with many runs would hold ever more files that are long removed, and Windows could not remove them.
    """
    layer = QgsVectorLayer(str(file), name, "ogr")
    try:
        yield layer
    finally:
        if layer.isValid():
            layer.dataProvider().reloadData()
