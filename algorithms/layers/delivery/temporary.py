"""Large temporary tables: GeoPackages in the temporary folder of QGIS, not layers in memory.

QGIS shows a layer there as temporary all the same, asks before it is lost, and removes the folder at its end. A million
rows are written in a quarter of the time, and take no memory. The folder is open to the user alone; what is internal
stays in memory nevertheless.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qgis.core import QgsProcessingContext, QgsProcessingUtils, QgsVectorLayer

from ....core.tables.schema import INTERNAL, kind_of_output
from ..tables import Table

LARGE = 50_000  # rows


def belongs_in_a_file(table: Table, title: str) -> bool:
    """Whether a table that was asked for as a temporary layer is large enough for a file, and may stand in one."""
    large = len(table) >= LARGE and table.geometry == "none" and table.plain
    return large and kind_of_output(title) != INTERNAL


def temporary_file(name: str) -> Path:
    """A new place for an output of this name."""
    return Path(QgsProcessingUtils.generateTempFilename(f"{name.lower()}.gpkg"))


@contextmanager
def noted(context: QgsProcessingContext, made: set[str]) -> Iterator[None]:
    """Note what QGIS makes of outputs meanwhile, also where that fails: layers of the context, and what it will load.

    made : their identifiers, which are added to
    """
    before = _known(context)
    try:
        yield
    finally:
        made |= _known(context) - before


def withdraw(context: QgsProcessingContext, made: set[str]) -> None:
    """Empty the layers that a run has made which ends without a result: QGIS would load them all the same."""
    store = context.temporaryLayerStore()
    for identifier in made:
        layer = store.mapLayer(identifier)
        # What still writes may know it: it is emptied and not removed.
        if isinstance(layer, QgsVectorLayer) and layer.providerType() == "memory":
            layer.dataProvider().truncate()
    loaded = context.layersToLoadOnCompletion().items()
    context.setLayersToLoadOnCompletion({layer_id: how for layer_id, how in loaded if layer_id not in made})


def _known(context: QgsProcessingContext) -> set[str]:
    return {*context.temporaryLayerStore().mapLayers(), *context.layersToLoadOnCompletion()}
