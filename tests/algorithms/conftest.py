"""The toolbox inside a real QGIS: the provider, real layers, and a run that keeps the log."""

from __future__ import annotations

import gc
import inspect
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType, TracebackType

import numpy as np
import pytest
from osgeo import gdal, ogr
from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsField,
    QgsGeometry,
    QgsLayerTreeModel,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProject,
    QgsProviderRegistry,
    QgsVectorLayer,
)
from qgis.gui import QgsLayerTreeView
from qgis.PyQt.QtCore import QVariant

from vbas.algorithms.form.parameters import label_of
from vbas.algorithms.layers.inputs import PROJECT as REMEMBERED
from vbas.vbas_plugin.provider import VbasProvider

TYPES = {int: QVariant.Type.LongLong, float: QVariant.Type.Double, str: QVariant.Type.String}


@pytest.fixture(scope="session")
def provider(qgis_app, qgis_processing):
    """The provider, registered once."""
    registry = QgsApplication.processingRegistry()
    if registry.providerById("vbas") is None:
        registry.addProvider(VbasProvider())
    yield registry.providerById("vbas")
    # QGIS never lets go of an exception: a layer caught in its traceback would outlive QGIS, and crash at its end.
    for trace in [one for one in gc.get_objects() if isinstance(one, TracebackType)]:
        frame: FrameType | None = trace.tb_frame
        while frame is not None:
            if not frame.f_code.co_flags & inspect.CO_GENERATOR:
                with suppress(RuntimeError):  # of what is still running
                    frame.clear()
            frame = frame.f_back
    gc.collect()


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    """The project remembers what was typed for the page to sign; the next test is another user's."""
    yield
    project = QgsProject.instance()
    for name in project.entryList(REMEMBERED, ""):
        project.removeEntry(REMEMBERED, name)


@pytest.fixture
def qgis_iface(qgis_iface, monkeypatch):
    """The window's stub with a tree of layers, through which QGIS 3.44 adds the layers of a run."""
    view = QgsLayerTreeView()
    view.setModel(QgsLayerTreeModel(QgsProject.instance().layerTreeRoot(), view))
    monkeypatch.setattr(qgis_iface, "layerTreeView", lambda: view, raising=False)
    return qgis_iface


@pytest.fixture
def gdal_raises(qgis_app):
    """Errors of GDAL are raised in Python, as another plugin may have asked for, and as later versions do."""
    before = [module for module in (gdal, ogr) if not module.GetUseExceptions()]
    for module in before:
        module.UseExceptions()
    yield
    for module in reversed(before):  # the last one first
        module.DontUseExceptions()


@dataclass
class Run:
    """What a run gave: results, the layers behind them, the log."""

    results: dict
    context: QgsProcessingContext
    log: list[str] = field(default_factory=list)

    def layer(self, name):
        found = self.context.getMapLayer(self.results[name])
        if found is None:
            found = QgsVectorLayer(self.results[name], name, "ogr")
        assert found.isValid(), self.results[name]
        return found

    def rows(self, name):
        layer = self.layer(name)
        names = layer.fields().names()
        return [dict(zip(names, map(python, feature.attributes()))) for feature in layer.getFeatures()]


class Feedback(QgsProcessingFeedback):
    """Keeps what is said; cancels itself once the progress reaches `stop_at`."""

    def __init__(self, stop_at=None):
        super().__init__(False)
        self.said = []
        self.stop_at = stop_at
        self.progressChanged.connect(self._reached)

    def _reached(self, progress):
        if self.stop_at is not None and progress >= self.stop_at:
            self.cancel()

    def pushInfo(self, text):
        self.said.append(text)

    def pushWarning(self, text):
        self.said.append(text)


@pytest.fixture
def project():
    """QGIS's project, of which no layer is left."""
    yield QgsProject.instance()
    QgsProject.instance().removeAllMapLayers()


@pytest.fixture
def run(provider):
    """run(id, parameters) -> Run; bad input raises QgsProcessingException, worded as `by_ids` does.

    The exception also has what was said until then, where the run had begun.
    """

    def one(algorithm, stop_at=None, **parameters):
        context, feedback = QgsProcessingContext(), Feedback(stop_at)
        context.setProject(QgsProject.instance())
        found = QgsApplication.processingRegistry().algorithmById(f"vbas:{algorithm}").create()
        ok, message = found.checkParameterValues(parameters, context)
        if not ok:
            raise QgsProcessingException(by_ids(found, message)) from QgsProcessingException(message)
        try:
            results, ok = found.run(parameters, context, feedback, {}, False)
        except QgsProcessingException as error:
            assert "A fault of VBAS itself" not in str(error), "\n".join([str(error), *feedback.said])
            worded = QgsProcessingException(by_ids(found, str(error)))
            worded.said = feedback.said
            raise worded from error
        return Run(results, context, feedback.said)

    return one


def by_ids(algorithm, message):
    """A message with parameters named by their ids alone: labels are worded anew now and then, ids are a promise.

    What the user saw is the cause of the exception.
    """
    for definition in algorithm.parameterDefinitions():
        label = label_of(definition)
        message = message.replace(f"{label} ({definition.name()})", definition.name())
    return message


def python(value):
    return None if isinstance(value, QVariant) and value.isNull() else value


def make_layer(columns, wkts=None, crs="EPSG:26914", kind=None):
    """A layer in memory from columns of Python values (None = NULL) and WKT, one a row."""
    if wkts is None:
        layer = QgsVectorLayer("None", "table", "memory")
    else:
        kind = kind or wkts[0].split("(")[0].strip()
        layer = QgsVectorLayer(kind, "areas", "memory")
        layer.setCrs(QgsCoordinateReferenceSystem(crs))
    provider = layer.dataProvider()
    for name, values in columns.items():
        kind = next((type(v) for v in values if v is not None), str)
        provider.addAttributes([QgsField(name, TYPES[kind])])
    layer.updateFields()
    features = []
    for row, values in enumerate(zip(*columns.values())):
        feature = QgsFeature(layer.fields())
        feature.setAttributes(list(values))
        if wkts is not None and wkts[row]:
            feature.setGeometry(QgsGeometry.fromWkt(wkts[row]))
        features.append(feature)
    provider.addFeatures(features)
    layer.updateExtents()
    return layer


@pytest.fixture
def grid():
    """A town of 6 x 6 square areas with text identifiers of Manitoba, and 40 records in each."""
    return make_grid()


def make_grid(side=6, size=500.0, west=630_000.0, south=5_520_000.0, per_area=40, seed=1):
    identifiers = [f"46{row:02d}{col:02d}" for row in range(side) for col in range(side)]
    squares = [
        f"Polygon(({x} {y}, {x + size} {y}, {x + size} {y + size}, {x} {y + size}, {x} {y}))"
        for y in (south + size * np.arange(side))
        for x in (west + size * np.arange(side))
    ]
    areas = make_layer({"da": identifiers, "people": [per_area] * len(identifiers)}, squares)
    rng = np.random.default_rng(seed)
    n = len(identifiers) * per_area
    records = make_layer(
        {
            "home": np.repeat(identifiers, per_area).tolist(),
            "sex": rng.choice(["F", "M"], n).tolist(),
            "age": [int(a) for a in rng.integers(1, 6, n)],
            "diagnosis": [[None, "flu", "cold"][i] for i in rng.integers(0, 3, n)],
        }
    )
    return areas, records


@pytest.fixture
def anonymize(run, grid):
    """Run vbas:anonymize on the grid, with what the test changes; into memory layers unless told otherwise."""

    def one(**changes):
        areas, records = grid
        parameters = {
            "REGIONS": areas,
            "REGION_ID": "da",
            "RECORDS": records,
            "RECORD_REGION": "home",
            "QUASI_IDENTIFIERS": ["sex", "age"],
            "COMBINATION": "custom",
            "SITE_NUMBER": "given number",
            "N_SITES": 6,
            **dict.fromkeys(OUTPUTS, "memory:"),
            **changes,
        }
        return run("anonymize", **{name: value for name, value in parameters.items() if value is not None})

    return one


OUTPUTS = ("RELEASED_RECORDS", "RELEASED_REGIONS", "CROSSWALK", "REGION_AUDIT", "SITE_POINTS", "VORONOI")


@pytest.fixture(scope="module")
def server(qgis_app, request):
    """Address of a database of a running server."""
    if QgsProviderRegistry.instance().providerMetadata("postgres") is None:
        pytest.skip("this QGIS has no provider for PostgreSQL")
    with request.getfixturevalue("postgres").another() as database:
        yield database.uri


@pytest.fixture
def sql(server):
    """sql(statement) -> rows; on a database without tables of ours."""
    connection = QgsProviderRegistry.instance().providerMetadata("postgres").createConnection(server, {})
    connection.executeSql("DROP SCHEMA IF EXISTS public CASCADE")
    connection.executeSql("CREATE SCHEMA public")
    return connection.executeSql
