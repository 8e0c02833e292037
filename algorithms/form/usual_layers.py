"""Layers by what they hold: what a form, or the dock, proposes when it opens, in place of the active layer.

Areas are polygons, whose identifier some table of the project repeats; records are that table; outputs of ours are
neither. Where a layer is far away (a web service, a database), its values are not asked for: its fields have to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from qgis.core import (
    QgsFeatureRequest,
    QgsMapLayer,
    QgsProcessingContext,
    QgsProject,
    QgsVectorLayer,
    QgsVectorLayerFeatureSource,
)

from ...core.areas import identifier_text
from ...core.dataclass import dataclass
from ...core.preparing.joining import ENOUGH, Join, best_join, keys_of
from ...core.preparing.usual_names import ROW_NUMBERS, usual_field
from ...core.progress import Progress, silent
from ...core.records.columns import Column, column_from_values
from ...core.tables.schema import ESTIMATE, FOR_RELEASE, INTERNAL, kind_of_output
from ..compat import geometry_kind, python_value
from ..layers.reading.checked_source import with_all_of_one_name

NEAR = ("memory", "ogr", "delimitedtext", "spatialite")
MOST_AREAS, SAMPLE = 60_000, 200
OURS = "vbas_"


def is_own_output(layer: QgsVectorLayer) -> bool:
    """Whether a layer is what a form gave, for release, internal or estimated; test data are none."""
    titles = layer.metadata().title(), layer.name()
    ours = any(kind_of_output(title) in (FOR_RELEASE, INTERNAL, ESTIMATE) for title in titles)
    return ours or any(name.lower().startswith(OURS) for name in layer.fields().names())


def is_released_table(layer: QgsVectorLayer) -> bool:
    """Whether a table is released records: their region stands before all else."""
    names = [name.lower() for name in layer.fields().names() if name.lower() not in ROW_NUMBERS]
    others = any(kind_of_output(title) in (INTERNAL, ESTIMATE) for title in (layer.metadata().title(), layer.name()))
    return not layer.isSpatial() and not others and names[:1] in (["vbas_region"], ["vbas_level"])


def is_crosswalk(layer: QgsVectorLayer) -> bool:
    """Whether a table says which area is in which region."""
    names = [name.lower() for name in layer.fields().names() if name.lower() not in ROW_NUMBERS]
    return not layer.isSpatial() and len(names) > 1 and names[1] in ("vbas_region", "vbas_region_1")


@dataclass(frozen=True, eq=False)
class Offered:
    """A layer as it stands, which another thread may read. shape : what it draws, empty for none; n_rows : of one that
    draws, 0 of tables; names : of its fields; source : its rows, None of a layer that is far away"""

    id: str
    shape: str
    n_rows: int
    names: tuple[str, ...]
    source: QgsVectorLayerFeatureSource | None

    @classmethod
    def of(cls, layer: QgsVectorLayer) -> Offered:
        """Made in the thread of the window."""
        shape = geometry_kind(layer) if layer.isSpatial() else ""
        source = QgsVectorLayerFeatureSource(layer) if layer.providerType() in NEAR else None
        names = tuple(layer.fields().names())
        return cls(layer.id(), shape, layer.featureCount() if shape else 0, names, source)

    @property
    def may_be_areas(self) -> bool:
        """Whether it has the shapes of areas."""
        return self.shape in ("polygon", "point")

    def values(self, names: Iterable[str], most: int, progress: Progress = silent) -> dict[str, list[str | None]]:
        """The values of fields as identifiers are compared, of the first rows; none of a layer that is far away.
        progress raises to cancel."""
        indexes = {name: self.names.index(name) for name in names if name in self.names}
        indexes = {name: index for name, index in indexes.items() if name.lower() not in ROW_NUMBERS}
        if self.source is None or not indexes:
            return {}
        request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry).setLimit(most)
        request.setSubsetOfAttributes(list(indexes.values()))
        request = with_all_of_one_name(request, self.source.fields())
        features, values = self.source.getFeatures(request), _empty(indexes)
        while rows := [feature.attributes() for feature in islice(features, SAMPLE)]:
            for name, index in indexes.items():
                values[name] += [identifier_text(python_value(row[index])) for row in rows]
            progress(0.0)
        return values


class Joins:
    """How tables join areas; what a layer holds is read once, so that one is for one question, not for a session.

    most : of a layer with more areas no value is read, as of one that is far away; n_sample : the rows of a table that
    are read; progress : raises to cancel
    """

    def __init__(self, most: int = MOST_AREAS, n_sample: int = SAMPLE, progress: Progress = silent) -> None:
        self.most, self._n_sample, self._progress = most, n_sample, progress
        self._keys: dict[tuple[str, str], dict[str, set[str]]] = {}
        self._samples: dict[str, dict[str, Column]] = {}

    def best(self, areas: Offered, records: Offered, region_id: str = "") -> Join | None:
        """The fields by which records join areas best; None where none do. region_id : that of the areas, if known"""
        if areas.id == records.id:
            return None
        keys = self._keys_of(areas, region_id)
        return best_join(keys, self.sample(records)) if keys else None

    def _keys_of(self, areas: Offered, region_id: str) -> dict[str, set[str]]:
        """The fields that identify areas, with their values."""
        asked = areas.id, region_id
        if asked not in self._keys:
            # What the first rows repeat identifies no area: not read further.
            names = [region_id] if region_id else list(keys_of(self.sample(areas)))
            known = areas.values(names, self.most, self._progress) if areas.n_rows <= self.most else {}
            self._keys[asked] = keys_of(_columns(known))
        return self._keys[asked]

    def sample(self, records: Offered) -> dict[str, Column]:
        """The columns of its first rows."""
        if records.id not in self._samples:
            self._samples[records.id] = _columns(records.values(records.names, self._n_sample, self._progress))
        return self._samples[records.id]


def offered_of(layers: Iterable[QgsVectorLayer]) -> list[Offered]:
    """The layers that may be areas or records: those that are no outputs of ours."""
    return [Offered.of(layer) for layer in layers if not is_own_output(layer)]


def best_areas(offered: Sequence[Offered], active: str, joins: Joins) -> Offered | None:
    """The layer of areas: polygons, else points, that a table joins, the active one before others; None for none."""

    def rank(candidate: Offered) -> tuple[bool, bool, bool, bool, int]:
        joined, polygon = any(joins.best(candidate, table) for table in offered), candidate.shape == "polygon"
        # Of more areas than may be read now nobody knows what joins them; few that nothing joins are none.
        may_join = joined or (polygon and candidate.n_rows > joins.most)
        return may_join, polygon, joined, candidate.id == active, candidate.n_rows if may_join else 0

    return max((layer for layer in offered if layer.may_be_areas), key=rank, default=None)


def best_records(
    offered: Sequence[Offered], active: str, areas: Offered | None, region_id: str, joins: Joins
) -> Offered | None:
    """The table of records: the one that joins the areas best, else one without shapes; None for none."""

    def rank(candidate: Offered) -> tuple[bool, bool, bool, bool, int, tuple[float, bool, int]]:
        join = joins.best(areas, candidate, region_id) if areas is not None else None
        known = joins.sample(candidate)
        return (
            join is not None,
            join is not None and _repeats(known[join.record_region]),  # else it tells of areas, not of people
            not candidate.shape,
            candidate.id == active,
            # Where nobody knows what joins: the longer table.
            max(map(len, known.values()), default=0) if join is None else 0,
            (0.0, False, 0) if join is None else join.rank,
        )

    best = max((layer for layer in offered if areas is None or layer.id != areas.id), key=rank, default=None)
    return best if best is not None and (rank(best)[0] or not best.shape) else None


def area_layer(layers: Sequence[QgsVectorLayer], active: QgsMapLayer | None) -> QgsVectorLayer | None:
    """`best_areas` of layers."""
    return _layer_of(best_areas(offered_of(layers), _id_of(active), Joins()), layers)


def record_layer(
    layers: Sequence[QgsVectorLayer], active: QgsMapLayer | None, areas: QgsMapLayer | None, region_id: str = ""
) -> QgsVectorLayer | None:
    """`best_records` of layers."""
    joined = Offered.of(areas) if isinstance(areas, QgsVectorLayer) else None
    return _layer_of(best_records(offered_of(layers), _id_of(active), joined, region_id, Joins()), layers)


def id_field_of(areas: QgsMapLayer | None, usual: Iterable[str], joins: Joins | None = None) -> str:
    """The field that identifies areas: of a usual name, else one that a table of the project repeats; empty: none.

    joins : what was read of the layers already, here and below
    """
    if not isinstance(areas, QgsVectorLayer):
        return ""
    named = usual_field(areas.fields().names(), usual)
    joins, offered, here = joins or Joins(), [] if named else offered_of(vector_layers()), Offered.of(areas)
    matches = (joins.best(here, table) for table in offered)
    best = max((join for join in matches if join is not None), key=lambda join: join.rank, default=None)
    return named or ("" if best is None else best.region_id)


def area_field_of(
    areas: QgsMapLayer | None,
    region_id: str,
    records: QgsMapLayer | None,
    usual: Iterable[str],
    joins: Joins | None = None,
) -> str:
    """The field of the records that says their area: one of a usual name whose values are areas, else any such field,
    else that of a usual name; empty for none."""
    if not isinstance(records, QgsVectorLayer):
        return ""
    named = usual_field(records.fields().names(), usual)
    if not isinstance(areas, QgsVectorLayer) or not region_id:
        return named
    join = (joins or Joins()).best(Offered.of(areas), Offered.of(records), region_id)
    if join is None or join.record_region == named:
        return named
    by_name = Offered.of(records).values([named], SAMPLE).get(named, []) if named else []
    there = set(Offered.of(areas).values([region_id], MOST_AREAS).get(region_id, []))
    return (
        named if by_name and sum(value in there for value in by_name) >= ENOUGH * len(by_name) else join.record_region
    )


def first_that(fits: Callable[[QgsVectorLayer], bool], layers: Sequence[QgsVectorLayer]) -> QgsVectorLayer | None:
    """The first layer that fits, None for none."""
    return next((layer for layer in layers if fits(layer)), None)


def vector_layers() -> list[QgsVectorLayer]:
    """The vector layers of the project, in the order of their names."""
    every = QgsProject.instance().mapLayers().values()
    layers = [layer for layer in every if isinstance(layer, QgsVectorLayer) and layer.isValid()]
    return sorted(layers, key=lambda layer: layer.name().lower())


def chosen_layer(wrapper: Any) -> QgsMapLayer | None:
    """The layer of the project that a widget shows, None for none."""
    value = wrapper.parameterValue() if wrapper is not None else None
    return QgsProject.instance().mapLayer(str(value)) if value else None


def choose_layer(wrapper: Any, layer: QgsVectorLayer) -> None:
    """Have a widget show a layer."""
    context = QgsProcessingContext()
    context.setProject(QgsProject.instance())
    wrapper.setParameterValue(layer.id(), context)


def _repeats(column: Column) -> bool:
    """Whether a value occurs twice."""
    return len(column.categories) < len(column)


def _columns(values: Mapping[str, list[str | None]]) -> dict[str, Column]:
    return {name: column_from_values(texts) for name, texts in values.items()}


def _empty(names: Iterable[str]) -> dict[str, list[str | None]]:
    return {name: [] for name in names}


def _id_of(layer: QgsMapLayer | None) -> str:
    return "" if layer is None else layer.id()


def _layer_of(best: Offered | None, layers: Sequence[QgsVectorLayer]) -> QgsVectorLayer | None:
    return None if best is None else next(layer for layer in layers if layer.id() == best.id)
