"""Layers that are taken out of the project while a run behind the window reads them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from qgis.core import QgsProcessingAlgorithm, QgsProcessingContext, QgsProcessingFeedback, QgsProject
from qgis.PyQt.QtCore import Qt

from ...core.errors import Cancelled, InputError
from .feedback import texts_in

LONGEST_WAIT = 20.0  # seconds for a run to see that it is cancelled
OF_LAYERS = ("source", "vector", "multilayer", "layer")


@contextmanager
def layers_stay(
    algorithm: QgsProcessingAlgorithm,
    parameters: Mapping[str, object],
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> Iterator[None]:
    """Have a layer of the run that is about to leave the project cancel the run, and stay until that has ended.

    QGIS would end where it reads a layer that has gone. In the thread of the window none can leave meanwhile.
    Raises InputError for what was cancelled so.
    """
    if threading.current_thread() is threading.main_thread():
        yield
        return
    ended, gone = threading.Event(), []
    project = context.project() or QgsProject.instance()
    given = set(_given(algorithm, parameters))

    def leave(identifiers: list[str]) -> None:
        leaving = [layer for layer in map(project.mapLayer, identifiers) if layer is not None]
        read = [layer.name() for layer in leaving if given & {layer.id(), layer.name(), layer.source()}]
        if read:
            gone.extend(read)
            feedback.cancel()
            ended.wait(LONGEST_WAIT)

    project.layersWillBeRemoved.connect(leave, Qt.ConnectionType.DirectConnection)
    try:
        yield
    except Cancelled as error:
        if gone:
            raise InputError.saying(
                "The layer “{name}” was removed from the project while it was read: nothing was written. Add it again, "
                "and run once more.",
                name=gone[0],
            ) from error
        raise
    finally:
        ended.set()
        project.layersWillBeRemoved.disconnect(leave)


def _given(algorithm: QgsProcessingAlgorithm, parameters: Mapping[str, object]) -> Iterator[str]:
    """What the layers of a run are called: identifiers, names or sources."""
    for definition in algorithm.parameterDefinitions():
        if definition.type() in OF_LAYERS:
            yield from texts_in(parameters.get(definition.name()))
