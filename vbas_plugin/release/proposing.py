"""The layers that a release may be made of: proposed anew when layers come, until the user chooses others."""

from __future__ import annotations

from collections.abc import Sequence

from qgis.core import QgsMapLayer, QgsProject, QgsVectorLayer
from qgis.gui import QgsMapLayerComboBox
from qgis.PyQt.QtCore import QObject, QTimer

from ...algorithms.form.usual_layers import (
    MOST_AREAS,
    Joins,
    Offered,
    best_areas,
    best_records,
    is_own_output,
    offered_of,
    vector_layers,
)
from ...core.language import tr
from ..explorer.work import Job, Worker

# Areas whose codes are read while the window waits; of more the fields' names have to do until they are read behind it.
READ_AT_ONCE = 1_000
MANY_ROWS = 2_000  # read of a table behind the window: of few rows all may have areas of their own
LAYERS_AT_ONCE = 12  # of more all is read behind the window


class JoinsKnown(QObject):
    """How layers join: what they hold is read once for all that is asked before the window goes on."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._joins: Joins | None = None

    def joins(self) -> Joins:
        """That of now."""
        if self._joins is None:
            self._joins = Joins(READ_AT_ONCE)
            QTimer.singleShot(0, self._forget)
        return self._joins

    def _forget(self) -> None:
        self._joins = None


class LayerProposals(QObject):
    """Has the lists of areas and of records show what fits. settled : the layers proposed stay, as if chosen by hand"""

    def __init__(
        self, regions: QgsMapLayerComboBox, records: QgsMapLayerComboBox, known: JoinsKnown, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._known = known
        self.settled = False
        self._lists, self._proposed, self._worker = (regions, records), ["", ""], Worker(self)
        project = QgsProject.instance()
        project.layersAdded.connect(self._take)
        project.layersWillBeRemoved.connect(self._stop)
        self._take([])

    @property
    def busy(self) -> bool:
        """Whether layers are being read."""
        return self._worker.busy

    def end(self) -> None:
        """For good."""
        project = QgsProject.instance()
        project.layersAdded.disconnect(self._take)
        project.layersWillBeRemoved.disconnect(self._stop)
        self._worker.stop()

    def _take(self, new: Sequence[QgsMapLayer]) -> None:
        """Propose among all layers; new : those that have just come, of which QGIS may have chosen one itself."""
        if new and all(_is_own(layer) for layer in new):
            return
        offered, chosen = offered_of(vector_layers()), self._chosen()
        if not self.settled and self._joins_nothing(offered, chosen):
            self._proposed = chosen  # so that any that comes may be the one
        kept = ["" if self._is_free(n, new) else identifier for n, identifier in enumerate(chosen)]
        if all(kept):
            return
        few = len(offered) <= LAYERS_AT_ONCE
        if few:
            self._show(_proposed(offered, kept, self._known.joins()), new)
        if not few or any(layer.may_be_areas and layer.n_rows > READ_AT_ONCE for layer in offered):
            seen = self._chosen()

            def work(job: Job) -> list[str]:
                return _proposed(offered, kept, Joins(MOST_AREAS, MANY_ROWS, job.progress))

            self._worker.start(
                tr("VBAS release: looking for layers"),
                work,
                lambda identifiers, _: self._show(identifiers, new, seen),
                lambda error: None,  # what is shown stays
            )

    def _chosen(self) -> list[str]:
        """The layers that the lists show, by their ids; empty for none."""
        return [box.currentLayer().id() if box.currentLayer() is not None else "" for box in self._lists]

    def _show(self, identifiers: Sequence[str], new: Sequence[QgsMapLayer], seen: Sequence[str] = ()) -> None:
        """Show what is proposed. seen : what the lists showed when it was asked for: what they show else by now was
        chosen by hand, and stays"""
        for n, (box, identifier) in enumerate(zip(self._lists, identifiers)):
            layer = QgsProject.instance().mapLayer(identifier)
            by_hand = bool(seen) and self._chosen()[n] != seen[n]
            if layer is not None and self._is_free(n, new) and not by_hand:
                self._proposed[n] = identifier
                box.setLayer(layer)

    def _is_free(self, n: int, new: Sequence[QgsMapLayer]) -> bool:
        """Whether a list shows what no user chose: nothing, what has just come, what was proposed, what is of ours."""
        layer, proposed = self._lists[n].currentLayer(), self._proposed[n]
        if layer is None or _is_own(layer) or QgsProject.instance().mapLayer(proposed) is None:
            return True
        return not self.settled and (layer.id() == proposed or layer in new)

    def _joins_nothing(self, offered: Sequence[Offered], chosen: Sequence[str]) -> bool:
        """Whether no field of the records chosen is known to hold areas of those chosen."""
        by_id = {layer.id: layer for layer in offered}
        areas, records = (by_id.get(identifier) for identifier in chosen)
        if areas is None or records is None or areas.n_rows > READ_AT_ONCE:
            return False
        return self._known.joins().best(areas, records) is None

    def _stop(self, gone: Sequence[str]) -> None:
        """Nothing may read these any more once this returns."""
        self._worker.stop()
        self.settled = self.settled and not {*gone} & {*self._proposed}


def _proposed(offered: Sequence[Offered], kept: Sequence[str], joins: Joins) -> list[str]:
    """The layers of areas and of records by their ids, empty for none. kept : those that stay, empty for none"""
    by_id = {layer.id: layer for layer in offered}
    areas = by_id.get(kept[0]) or best_areas(offered, "", joins)
    records = by_id.get(kept[1]) or best_records(offered, "", areas, "", joins)
    return ["" if layer is None else layer.id for layer in (areas, records)]


def _is_own(layer: QgsMapLayer) -> bool:
    return isinstance(layer, QgsVectorLayer) and is_own_output(layer)
