"""What the dock proposes of the layers of a project: the finest areas and their people, in whatever order they come."""

from __future__ import annotations

from itertools import permutations

import pytest
from qgis.core import QgsFeature, QgsProject, QgsVectorLayer
from qgis.PyQt import sip
from qgis.PyQt.QtCore import QDate, QDateTime, QTime

from vbas.core.preparing.column_values import DATE
from vbas.core.preparing.roles import LEAVE_OUT, column_summary
from vbas.core.progress import silent
from vbas.vbas_plugin.release import proposing
from vbas.vbas_plugin.release.data import DataStep
from vbas.vbas_plugin.release.sampling import Sample
from vbas.vbas_plugin.release.state import ReleaseState

from .conftest import make_layer
from .explorer_window import let_pass, wait_for

SQUARE = "Polygon(({0} 0, {1} 0, {1} 1, {0} 1, {0} 0))"
CODES = [f"46{n:03d}" for n in range(40)]


def layer_of(name, columns, kind=""):
    n = len(next(iter(columns.values())))
    wkts = {
        "": None,
        "polygon": [SQUARE.format(n, n + 1) for n in range(n)],
        "point": [f"Point({n} 0)" for n in range(n)],
    }[kind]
    layer = make_layer(columns, wkts)
    layer.setName(name)
    return layer


AREAS = {"zone": CODES, "group": [code[:4] for code in CODES]}
COARSER = {"dauid": sorted({code[:4] for code in CODES}), "nr": [1, 2, 3, 4]}
PEOPLE = {"age": [n % 60 for n in range(200)], "home": [CODES[n % 40] for n in range(200)], "ward": [1, 2, 3, 4] * 50}
# Others that stand in a project: with the names of fields, the values or the rows of what is looked for.
MADE = {
    "areas": lambda: layer_of("areas", AREAS, "polygon"),
    "people": lambda: layer_of("people", PEOPLE),
    "a coarser layer": lambda: layer_of("a coarser layer", COARSER, "polygon"),
    "counts": lambda: layer_of("counts", {"zone": CODES, "home": CODES, "dwellings": [n * 7 for n in range(40)]}),
    "meanings": lambda: layer_of("meanings", {"code": list(range(30)), "meaning": [f"m{n}" for n in range(30)]}),
    "a school": lambda: layer_of("a school", {"school": list(range(60))}, "point"),
}


@pytest.fixture
def step(provider):
    """The step of data of an empty project, on which it ends."""
    QgsProject.instance().removeAllMapLayers()
    made = []

    def one():
        made.append(DataStep(ReleaseState()))
        return made[-1]

    yield one
    for each in made:
        each.end()
        sip.delete(each)  # here, and not in the thread where Python may tidy up
    QgsProject.instance().removeAllMapLayers()


def add(*names):
    """Layers, one after the other."""
    layers = [MADE[name]() for name in names]
    for layer in layers:
        QgsProject.instance().addMapLayer(layer)
    return layers


def proposed(step):
    wait_for(lambda: not step.busy)
    names = [box.currentLayer().name() for box in (step.regions, step.records)]
    return (*names, step.state.region_id, step.state.record_region)


RIGHT = ("areas", "people", "zone", "home")


@pytest.mark.parametrize("at_once", [1_000, 3])
@pytest.mark.parametrize("open_before", [True, False])
@pytest.mark.parametrize("beside", [*list(MADE)[2:], "all"])
def test_the_areas_and_their_people_are_proposed(step, monkeypatch, beside, open_before, at_once):
    monkeypatch.setattr(proposing, "READ_AT_ONCE", at_once)  # of more areas all is read behind the window
    others = [beside] if beside != "all" else list(MADE)[2:]
    dock = step() if open_before else None
    add(*others, "areas", "people")
    assert proposed(dock or step()) == RIGHT


@pytest.mark.slow
def test_in_whatever_order_they_come(step):
    dock = step()
    for order in permutations(("areas", "people", "counts", "a coarser layer")):
        QgsProject.instance().removeAllMapLayers()
        add(*order)
        assert proposed(dock) == RIGHT, order


def test_codes_that_lost_their_zeros_are_known_again(step, monkeypatch):
    monkeypatch.setattr(proposing, "READ_AT_ONCE", 3)
    codes = [f"0{n:03d}" for n in range(100, 140)]
    people = {"home": [int(codes[n % 40]) for n in range(200)], "age": [n % 60 for n in range(200)]}
    add("meanings", "counts")
    QgsProject.instance().addMapLayers([layer_of("areas", {"zone": codes}, "polygon"), layer_of("people", people)])
    assert proposed(step()) == RIGHT


def test_many_layers_are_read_behind_the_window(step, monkeypatch):
    monkeypatch.setattr(proposing, "LAYERS_AT_ONCE", 4)
    dock = step()
    add(*list(MADE)[2:], "areas", "people")
    assert dock.busy
    assert proposed(dock) == RIGHT


def test_what_a_hand_chose_and_what_was_gone_on_with_stay(step):
    add("areas", "people", "counts")
    dock = step()
    assert proposed(dock) == RIGHT
    counts = QgsProject.instance().mapLayersByName("counts")[0]
    dock.records.setLayer(counts)
    add("meanings", "a school")
    assert proposed(dock)[:2] == ("areas", "counts")
    QgsProject.instance().removeMapLayer(counts.id())
    add("a coarser layer")
    assert proposed(dock) == RIGHT
    dock.settle()
    (finer,) = finer_layers()
    QgsProject.instance().addMapLayer(finer)
    assert proposed(dock) == RIGHT


def finer_layers():
    """Areas of which there are more, and whose codes the people have too."""
    codes = [*CODES, *(f"99{n:03d}" for n in range(20))]
    return [layer_of("finer", {"zone": codes}, "polygon")]


def test_finer_areas_that_come_before_anything_is_gone_on_with_are_taken(step):
    add("areas", "people")
    dock = step()
    assert proposed(dock) == RIGHT
    QgsProject.instance().addMapLayers(finer_layers())
    assert proposed(dock)[0] == "finer"


def test_nothing_begins_once_the_step_has_ended(step):
    dock = step()
    add("areas", "people")
    assert proposed(dock) == RIGHT
    dock.end()
    dock.end = lambda: None
    add("a coarser layer", "counts")
    QgsProject.instance().removeMapLayer(QgsProject.instance().mapLayersByName("areas")[0].id())
    let_pass()
    assert not dock._worker.busy and not dock._proposals.busy


def test_fields_of_dates_are_judged_as_dates(provider):
    """QGIS finds dates in CSV files and spreadsheets by itself; a day of birth is then no mere “many values”."""
    layer = QgsVectorLayer("None?field=born:date&field=seen:datetime", "people", "memory")
    born = [QDate(1930, 1, 1).addDays(30 * row) for row in range(600)]
    layer.dataProvider().addFeatures([_person(layer, day) for day in born for _ in range(5)])
    columns = Sample(layer).columns(silent)
    for name, column in columns.items():
        summary = column_summary(name, column)
        assert (summary.kind, summary.role, summary.alarming) == (DATE, LEAVE_OUT, True)
        assert summary.reason.startswith("Exact dates")


def _person(layer, day):
    feature = QgsFeature(layer.fields())
    feature.setAttributes([day, QDateTime(day, QTime(9, 30))])
    return feature
