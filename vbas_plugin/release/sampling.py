"""The first rows of a layer as columns: enough to say what a column looks like, without reading millions."""

from __future__ import annotations

from itertools import islice

from qgis.core import QgsFeatureRequest, QgsVectorLayer, QgsVectorLayerFeatureSource

from ...algorithms.compat import python_value
from ...core.progress import Progress
from ...core.records.columns import Column, ColumnBuilder

MOST_ROWS, MOST_CELLS = 20_000, 1_000_000
_AT_ONCE = 2_000


class Sample:
    """The first rows of a layer. Made in the thread of the window, with edits that were not saved; read in another one.

    names : of all fields; most : rows that are read, fewer of very many fields
    """

    def __init__(self, layer: QgsVectorLayer) -> None:
        self.names = list(layer.fields().names())
        self.most = min(MOST_ROWS, MOST_CELLS // max(len(self.names), 1))
        self._source = QgsVectorLayerFeatureSource(layer)

    def columns(self, progress: Progress) -> dict[str, Column]:
        """The fields of at most so many rows; progress raises to cancel."""
        request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry).setLimit(self.most)
        builders, features, done = [ColumnBuilder() for _ in self.names], self._source.getFeatures(request), 0
        while True:
            rows = [feature.attributes() for feature in islice(features, _AT_ONCE)]
            if not rows:
                break
            for index, builder in enumerate(builders):
                builder.add_values([python_value(row[index]) for row in rows])
            done += len(rows)
            progress(done / self.most)
        return {name: builder.column() for name, builder in zip(self.names, builders)}
