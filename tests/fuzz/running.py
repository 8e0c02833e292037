"""One case run in QGIS, and everything that can be seen of it."""

from __future__ import annotations

import threading
import time
import traceback
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from qgis.core import (
    QgsApplication,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingFeedback,
    QgsProject,
)

import vbas.core.synthetic.city
from vbas.algorithms.form.base import VbasAlgorithm
from vbas.core.errors import VbasError

from .given import Place, Table, layer_of, write_csv, write_parquet
from .registers import Register, write_register

FEW_AREAS = 12  # of the demonstration city, which has hundreds
PATIENCE = 15.0  # seconds of the processor until a run is cancelled: a thousand million rounds were asked for, say


@dataclass
class Outcome:
    """What a run did.

    results : None where it ended in an error; error : its text; foreign : the traceback of an exception that nobody
    foresaw, wherever QGIS or the plugin caught it; warnings : of Python and its libraries
    files : what lay in the folder of outputs before and after, by name
    """

    results: dict | None = None
    error: str = ""
    foreign: str = ""
    warnings: list = field(default_factory=list)
    log: list = field(default_factory=list)
    files: tuple = ({}, {})
    layers: dict = field(default_factory=dict)
    context: object = None
    folder: Path | None = None
    seconds: float = 0.0


class Feedback(QgsProcessingFeedback):
    """Keeps what is said, and cancels once the progress is there.

    interrupted : whether the run has cancelled itself, as it does at a signal
    """

    def __init__(self, stop_at):
        super().__init__(False)
        self.said, self.stop_at, self.interrupted = [], stop_at, False
        self.progressChanged.connect(self._reached)

    def cancel(self):
        self.interrupted = True
        super().cancel()

    def _reached(self, progress):
        if self.stop_at is not None and progress >= self.stop_at:
            super().cancel()

    def pushInfo(self, text):
        self.said.append(text)

    def pushWarning(self, text):
        self.said.append(text)

    def reportError(self, text, fatal=False):
        self.said.append(text)


def run_case(case, folder):
    """Run a case; its inputs go into folder/given, its outputs into folder/made.

    A run in the main thread takes SIGINT and SIGTERM for itself: then KeyboardInterrupt is raised once it has ended.
    """
    inputs, outputs = folder / "given", folder / "made"
    inputs.mkdir(parents=True)
    outputs.mkdir()
    outcome = Outcome(folder=outputs)
    outcome.context = context = QgsProcessingContext()
    context.setProject(QgsProject.instance())
    feedback = Feedback(case.stop_at)
    form = QgsApplication.processingRegistry().algorithmById(f"vbas:{case.algorithm}").create()
    parameters = {name: _resolved(name, value, inputs, outputs, outcome) for name, value in case.parameters.items()}
    before = _contents(outputs)
    began = time.process_time()
    with (
        _watched(outcome),
        _log_of_qgis(feedback.said),
        _impatient(feedback),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            ok, problem = form.checkParameterValues(parameters, context)
            if ok:
                outcome.results, _ = form.run(parameters, context, feedback, {}, False)
            else:
                outcome.error = problem
        except QgsProcessingException as error:
            outcome.error = str(error)
        except Exception as error:
            outcome.error, outcome.foreign = str(error), traceback.format_exc()
    outcome.seconds = time.process_time() - began
    if feedback.interrupted:
        raise KeyboardInterrupt
    outcome.warnings = [f"{one.category.__name__}: {one.message} ({one.filename}:{one.lineno})" for one in caught]
    outcome.log = feedback.said
    outcome.files = before, _contents(outputs)
    return outcome


def _resolved(name, value, inputs, outputs, outcome):
    """A parameter as QGIS takes it."""
    if isinstance(value, Place):
        text = value.text.replace("{folder}", str(outputs))
        if value.before is not None:
            with suppress(OSError, ValueError):  # names that no file can have
                Path(text).write_bytes(value.before)
        return text
    if isinstance(value, Register):
        outcome.layers[name] = write_register(value, outputs)
        return str(outputs / value.name)
    if isinstance(value, Table):
        if name == "CONNECTION":
            write = write_parquet if value.stored == "parquet" else write_csv
            return str(write(value, inputs / f"{name}.{value.stored}"))
        layer = outcome.layers[name] = layer_of(value, inputs, name)
        if value.selected is not None and layer.isValid():
            QgsProject.instance().addMapLayer(layer, False)
            return QgsProcessingFeatureSourceDefinition(layer.id(), True)
        return layer
    if isinstance(value, list) and value and isinstance(value[0], Table):
        layers = [layer_of(one, inputs, f"{name}{i}") for i, one in enumerate(value)]
        outcome.layers[name] = layers
        QgsProject.instance().addMapLayers([one for one in layers if one.isValid()], False)
        return layers
    return value.replace("{folder}", str(outputs)) if isinstance(value, str) else value


@contextmanager
def _watched(outcome):
    """Note every exception within a run that is no sentence of the plugin, whatever becomes of it."""
    plain = VbasAlgorithm._result

    def watched(self, *given):
        try:
            return plain(self, *given)
        except (VbasError, QgsProcessingException):
            raise
        except BaseException:
            outcome.foreign = traceback.format_exc()
            raise

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(VbasAlgorithm, "_result", watched)
        monkeypatch.setattr(vbas.core.synthetic.city, "N_AREAS", FEW_AREAS)
        yield


@contextmanager
def _impatient(feedback):
    """Cancel after PATIENCE, of the processor: how much of it a run gets is the matter of the machine."""
    ended, latest = threading.Event(), time.process_time() + PATIENCE

    def watch():
        while not ended.wait(0.5):
            if time.process_time() > latest:
                return QgsProcessingFeedback.cancel(feedback)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


@contextmanager
def _log_of_qgis(said):
    """What goes into QGIS's own log, too; its “Cannot open … ().()”, of QGIS 3.40, without the brackets."""
    log = QgsApplication.messageLog()

    def note(text, tag, level):
        said.append(f"{tag}: {text.replace(' ().()', '') if tag == 'OGR' else text}")

    log.messageReceived.connect(note)
    try:
        yield
    finally:
        log.messageReceived.disconnect(note)


def _contents(folder):
    """What is in a folder, by path, with what it holds."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
