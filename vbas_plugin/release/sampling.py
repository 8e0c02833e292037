"""The first rows of a layer as columns: enough to say what a column looks like, without reading millions."""

from __future__ import annotations

from itertools import islice

from qgis.core import QgsFeatureRequest, QgsVectorLayer, QgsVectorLayerFeatureSource

from ...algorithms.compat import python_value
from ...core.progress import Progress
from ...core.records.columns import Column, ColumnBuilder

MOST_ROWS = 20_000
_AT_ONCE = 2_000


class Sample:
    """The first rows of a layer. Made in the thread of the window, with edits that were not saved; read in another one.

    names : of all fields
    """

    def __init__(self, layer: QgsVectorLayer) -> None:
        self.names = list(layer.fields().names())
        self._source = QgsVectorLayerFeatureSource(layer)

    def columns(self, progress: Progress) -> dict[str, Column]:
        """The fields of at most MOST_ROWS rows; progress raises to cancel."""
        request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry).setLimit(MOST_ROWS)
        builders, features, done = [ColumnBuilder() for _ in self.names], self._source.getFeatures(request), 0
        while True:
            rows = [feature.attributes() for feature in islice(features, _AT_ONCE)]
            if not rows:
                break
            for index, builder in enumerate(builders):
                builder.add_values([python_value(row[index]) for row in rows])
            done += len(rows)
            progress(done / MOST_ROWS)
        return {name: builder.column() for name, builder in zip(self.names, builders)}
