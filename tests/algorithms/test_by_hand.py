"""What users do with a form beside running it once: several runs as a batch, and one of the history again."""

from __future__ import annotations

import time

import pytest
from qgis.core import (
    QgsApplication,
    QgsCoordinateTransformContext,
    QgsProcessingContext,
    QgsProject,
    QgsVectorFileWriter,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QTimer
from qgis.PyQt.QtWidgets import QApplication, QComboBox, QTextEdit

from ..patience import PATIENCE
from .dialogs import click_run
from .test_dialogs import PEOPLE, REGIONS, by_hand, filled, town

__all__ = ["by_hand", "filled", "people", "town"]


@pytest.fixture
def people():
    """No files of persons are needed here."""
    return []


def ids(fields):
    """What the fields of a form are given, layers by their id."""
    named = {layer.name(): layer.id() for layer in QgsProject.instance().mapLayers().values()}
    return {
        name: named[value[1:]] if isinstance(value, str) and value.startswith("@") else value
        for name, value in fields.items()
    }


@pytest.mark.slow
def test_a_batch_makes_each_of_its_releases(by_hand, tmp_path):
    """Two values of k, in the table of QGIS's own dialog: two releases, of which the stricter shows fewer records."""
    from processing.gui.BatchAlgorithmDialog import BatchAlgorithmDialog

    algorithm = QgsApplication.processingRegistry().createAlgorithmById("vbas:anonymize")
    dialog = BatchAlgorithmDialog(algorithm)
    dialog.show()
    panel = dialog.mainWidget()
    panel.addRow(2 - panel.batchRowCount())
    columns = panel.column_to_parameter_definition
    for row, k in enumerate((5, 400)):
        given = ids({**REGIONS, **PEOPLE, "K": k})
        context = QgsProcessingContext()
        for column, parameter in columns.items():
            if parameter in given:
                panel.wrappers[row][column].setParameterValue(given[parameter], context)
            elif parameter == "RELEASED_RECORDS":  # pages fail in the batch of QGIS 3.22 itself, once all is done
                panel.tblParameters.cellWidget(row + 1, column).setValue(str(tmp_path / f"released_{k}.csv"))
    try:
        dialog.runButton().click()
        # QGIS 3.40 runs on behind the window, and lets its button be pressed again meanwhile.
        log, until = "", time.monotonic() + PATIENCE
        while "Batch execution completed" not in log and time.monotonic() < until:
            QApplication.processEvents()
            log = dialog.findChild(QTextEdit, "txtLog").toPlainText()
    finally:
        dialog.close()
        dialog.deleteLater()
    n_rows = [len((tmp_path / f"released_{k}.csv").read_text().splitlines()) for k in (5, 400)]
    assert n_rows[0] > n_rows[1] > 1, log
    assert log.count("You may publish") == 2


def from_files(folder):
    """Have the layers of the project come from files: the history of QGIS knows a temporary layer by no more than its
    fields."""
    project, options = QgsProject.instance(), QgsVectorFileWriter.SaveVectorOptions()
    for layer in list(project.mapLayers().values()):
        if layer.name() in ("areas", "records"):
            file, name = str(folder / f"{layer.name()}.gpkg"), layer.name()
            QgsVectorFileWriter.writeAsVectorFormatV3(layer, file, QgsCoordinateTransformContext(), options)
            project.removeMapLayer(layer.id())
            project.addMapLayer(QgsVectorLayer(file, name, "ogr"))


def logged(algorithm, parameters):
    """The command that the history keeps of a run, as its dialog asks for it."""
    context = QgsProcessingContext()
    context.setProject(QgsProject.instance())
    return algorithm.asPythonCommand(parameters, context)


@pytest.mark.slow
@pytest.mark.parametrize(
    "more", [{}, {"SENSITIVE": ["sex"], "L_DIVERSITY": 2, "RULE": "OMOP tools"}], ids=["k", "rule"]
)
def test_a_run_of_the_history_is_made_again(by_hand, tmp_path, more):
    """The history opens the form with what the run was given, in a dialog that waits until it is closed."""
    import processing

    from_files(tmp_path)
    fields = {**REGIONS, **PEOPLE, **more}
    if more:
        fields["QUASI_IDENTIFIERS"] = ["age_group"]
    first = by_hand("anonymize", fields, {"RELEASED_RECORDS": tmp_path / "first.csv"})
    assert first.successful, first.log
    algorithm = QgsApplication.processingRegistry().algorithmById("vbas:anonymize")
    given = ids({**fields, "RELEASED_RECORDS": str(tmp_path / "again.csv")})
    command = logged(algorithm, given).replace("processing.run(", "processing.execAlgorithmDialog(")
    again = []

    def press():
        # It is shown before it waits, and so none that Qt calls modal.
        shown = [each for each in QApplication.topLevelWidgets() if each.isVisible() and hasattr(each, "runButton")]
        if not shown:
            QTimer.singleShot(50, press)
            return
        again.append(click_run(shown[0]))
        shown[0].close()

    QTimer.singleShot(50, press)
    exec("from qgis.core import *\n" + command, {"processing": processing})  # as the history does
    assert again and again[0].successful, again[0].log
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()
    assert again[0].results["N_SUPPRESSED"] == first.results["N_SUPPRESSED"]


def test_choices_of_a_batch_are_read_in_words(by_hand):
    from processing.gui.BatchAlgorithmDialog import BatchAlgorithmDialog

    dialog = BatchAlgorithmDialog(QgsApplication.processingRegistry().createAlgorithmById("vbas:anonymize"))
    panel = dialog.mainWidget()
    wrapper = panel.wrappers[0][panel.parameter_to_column["RELEASE"]]
    box = wrapper.wrappedWidget()
    assert isinstance(box, QComboBox) and box.count() == 2
    assert wrapper.parameterValue() == "one level"
    dialog.deleteLater()
