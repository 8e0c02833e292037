"""The dock from a shapefile and a CSV to a folder that verify.py finds good, by its widgets, with clicks counted."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from qgis.core import QgsCoordinateTransformContext, QgsProject, QgsVectorFileWriter, QgsVectorLayer

from vbas.core.preparing.roles import LEAVE_OUT, PERSON, QUASI, SENSITIVE

from .conftest import make_grid
from .explorer_window import let_pass, settle, wait_for
from .test_explorer import entry

__all__ = ["entry"]

VERIFY = Path(__file__).resolve().parents[2] / "verify" / "verify.py"


class Walk:
    """Counts what a hand does."""

    def __init__(self, dock):
        self.dock, self.clicks, self.typed = dock, 0, 0

    def click(self, button):
        assert button.isEnabled()
        button.click()
        self.clicks += 1
        self.settle()

    def type(self, line, text):
        line.setText(text)
        self.clicks += 1
        self.typed += len(text.split())

    def settle(self):
        dock = self.dock
        wait_for(lambda: not (dock.data.busy or dock.look.session.busy or dock.decide.busy or dock.hand_over.busy))
        let_pass()
        settle(dock.look)


@pytest.fixture(scope="module")
def files(qgis_app, tmp_path_factory):
    """A town as a shapefile, and visits of its people as a CSV: several rows of a person, a name, a diagnosis."""
    folder, (areas, _) = tmp_path_factory.mktemp("town"), make_grid()
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = "ESRI Shapefile"
    QgsVectorFileWriter.writeAsVectorFormatV2(
        areas, str(folder / "areas.shp"), QgsCoordinateTransformContext(), options
    )
    rng = np.random.default_rng(3)
    homes = sorted(feature["da"] for feature in areas.getFeatures())
    with (folder / "visits.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["visit", "patient", "name", "home", "sex", "age_group", "diagnosis"])
        visit = 0
        for person in range(1500):
            home, sex, age = homes[person % len(homes)], "mf"[rng.integers(2)], int(rng.integers(4))
            for _ in range(int(rng.integers(1, 4))):
                visit += 1
                illness = ["flu", "cold", "asthma", "cough"][rng.integers(4)]
                rows.writerow([visit, f"P{person}", f"Name {person}", home, sex, age, illness])
    return folder


@pytest.fixture
def project(files, entry):
    for name, provider in (("areas.shp", "ogr"), ("visits.csv", "ogr")):
        layer = QgsVectorLayer(str(files / name), Path(name).stem, provider)
        assert layer.isValid()
        QgsProject.instance().addMapLayer(layer)
    return entry


def test_from_two_files_to_a_folder_that_holds(project, tmp_path):
    project.action.trigger()
    walk = Walk(project.dock)
    walk.clicks += 1
    dock = project.dock
    walk.settle()
    state = dock.state
    assert (state.region_id, state.record_region) == ("da", "home")
    assert "100 %" in dock.data.said.text() and "1500 people" in dock.data.several.toolTip()
    assert [state.role(name) for name in ("visit", "patient", "name", "sex", "age_group", "diagnosis")] == [
        LEAVE_OUT,
        PERSON,
        LEAVE_OUT,
        QUASI,
        QUASI,
        SENSITIVE,
    ]
    for _ in range(3):
        walk.click(dock.next)
    assert dock.look.session.state is not None and not dock.look.message.isVisible(), dock.look.message.text()
    found = dock.decide.found
    assert len(found) == 3 and not [one.problem for one in found if one.problem]
    assert state.decision
    walk.click(dock.next)
    walk.type(dock.hand_over.folder.lineEdit(), str(tmp_path / "release"))
    walk.type(dock.hand_over.recipient, "The university")
    walk.type(dock.hand_over.purpose, "A study of asthma")
    walk.click(dock.hand_over.go)
    assert dock.hand_over.results, dock.hand_over.message.text()
    chosen = found[dock.decide.table.currentRow()].measures
    assert dock.hand_over.results["N_SUPPRESSED"] == chosen.n_suppressed
    assert dock.hand_over.results["MEAN_DISTANCE"] == pytest.approx(chosen.mean_distance)
    done = subprocess.run([sys.executable, str(VERIFY), str(tmp_path / "release")], capture_output=True, text=True)
    held = {line[:14].strip() for line in done.stdout.splitlines() if line[:1].strip()}
    assert "holds" in held and held <= {"holds", "not looked at"}, done.stdout + done.stderr
    beside = sorted(file.name for file in tmp_path.iterdir() if file.is_file())
    assert beside == [f"release-internal-{name}" for name in ("job.toml", "page-to-sign.pdf", "report.html")]
    assert walk.clicks <= 25 and walk.typed <= 10
    dock.hand_over.compare(tmp_path / "release-internal-job.toml")
    assert dock.hand_over.compared.text() == "“release-internal-job.toml” asks for the same."
    dock.hand_over.compare(tmp_path / "release" / "datapackage.json")
    assert "asks for the same" in dock.hand_over.compared.text()
