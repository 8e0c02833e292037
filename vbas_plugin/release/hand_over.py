"""Hand over: the folder that may go out, the page to sign, the register, and the job that does it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from qgis.core import (
    QgsApplication,
    QgsMapLayer,
    QgsProcessingAlgRunnerTask,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProject,
    QgsVectorLayer,
)
from qgis.gui import QgsFileWidget
from qgis.PyQt.QtCore import QUrl, pyqtSignal
from qgis.PyQt.QtWidgets import QFileDialog, QLineEdit, QPushButton, QVBoxLayout, QWidget

from ...algorithms.explorer_data import MAIN
from ...algorithms.form.parameters import label_of
from ...algorithms.layers.delivery.styles import describe, style
from ...algorithms.layers.inputs import remembered
from ...algorithms.layers.leaving import LONGEST_WAIT
from ...core.errors import VbasError
from ...core.job.signing import PREPARED_BY, PURPOSE, RECIPIENT
from ...core.language import tr
from ...core.publish.files import DISK
from ...core.secrecy import without_secrets
from ...core.tables.schema import FOR_RELEASE
from ..explorer.widgets import SAID, WRONG, add_row, rows, thin_bar, unbroken, wrapped
from .earlier_jobs import differing
from .map_page import keep_template, map_page, text_below
from .state import ReleaseState

# Beside the folder that goes out, after its name.
BESIDE = {"SIGN_PAGE": "internal-page-to-sign.pdf", "REPORT": "internal-report.html", "JOB_FILE": "internal-job.toml"}
# Layers of the run: of these only the regions are shown, the folder has the rest.
LAYERS = {
    "RELEASED_RECORDS": "TEMPORARY_OUTPUT",
    "RELEASED_REGIONS": "TEMPORARY_OUTPUT",
    "CROSSWALK": "TEMPORARY_OUTPUT",
}
REGIONS = "RELEASED_REGIONS"
LAST_LINES = 3  # the verdict, the cost, and what to do next


class RunLog(QgsProcessingFeedback):
    """Keeps what a run says."""

    def __init__(self) -> None:
        super().__init__(False)
        self.lines: list[str] = []
        self.warnings: list[str] = []
        self.errors: list[str] = []

    def pushInfo(self, info: str) -> None:
        """Called by the run."""
        self.lines.append(without_secrets(info))

    def pushWarning(self, warning: str) -> None:
        """Called by the run."""
        self.warnings.append(without_secrets(warning))

    def reportError(self, error: str, fatalError: bool = False) -> None:  # noqa: N803
        """Called by QGIS with the sentence that ends a run."""
        self.errors.append(without_secrets(error))


class HandOverStep(QWidget):
    """The step. ended : a run did, with whether all is in its place; results : of the last run"""

    ended = pyqtSignal(bool)

    def __init__(self, state: ReleaseState, iface: Any = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state = state
        self.results: Mapping[str, Any] = {}
        self.ready: Callable[[], str] = lambda: ""  # a sentence on what has to be done before, empty for nothing
        self.folder, self.register = QgsFileWidget(), QgsFileWidget()
        self.recipient, self.purpose, self.prepared_by = QLineEdit(), QLineEdit(), QLineEdit()
        self.go, self.cancel, self.bar = QPushButton(tr("Make the release")), QPushButton(tr("Cancel")), thin_bar()
        self.earlier, self.layout_of_map = QPushButton(tr("An earlier job…")), QPushButton(tr("A page with the map…"))
        self._iface, self._regions = iface, ""
        self._refused = ""  # why the last run did not begin
        self._asked_about: Path | None = None  # the folder whose release is replaced once the button is pressed again
        self.message, self.links, self.compared = wrapped(), wrapped(), wrapped()
        self._task: QgsProcessingAlgRunnerTask | None = None
        self._kept: list[object] = []  # what a run needs until it has ended
        self._build()
        self.go.clicked.connect(self.run)
        self.cancel.clicked.connect(self._cancel)
        self.earlier.clicked.connect(self._choose_job)
        self.layout_of_map.clicked.connect(self.make_map_page)
        self._refresh()

    @property
    def busy(self) -> bool:
        """Whether a release is being made."""
        return self._task is not None

    def run(self) -> None:
        """Make the release, behind the window."""
        self.links.setText("")  # what an earlier run wrote is not of this one
        self._refused = self._refusal()
        problem = self._refused or self._replaced()
        if problem:
            self._say(problem, WRONG)
            return
        self._take()
        algorithm = QgsApplication.processingRegistry().createAlgorithmById(MAIN)
        if algorithm is None:
            self._say(tr("VBAS is not in the toolbox: switch the plugin off and on again under Plugins."), WRONG)
            return
        context, run_log, parameters = QgsProcessingContext(), RunLog(), {**self.state.job(), **LAYERS}
        context.setProject(QgsProject.instance())
        fits, problem = algorithm.checkParameterValues(parameters, context)
        if not fits:
            self._say(problem, WRONG)
            return
        self._say("")
        task = QgsProcessingAlgRunnerTask(algorithm, parameters, context, run_log)
        task.executed.connect(lambda ok, results: self._take_results(bool(ok), results, run_log, context))
        run_log.progressChanged.connect(lambda percent: self.bar.setValue(round(percent)))
        self._task, self._kept = task, [algorithm, context, run_log]
        self.bar.setValue(0)
        self._refresh()
        QgsApplication.taskManager().addTask(task)

    def refuse_anew(self) -> None:
        """What is still missing of what was, where that was said last."""
        if self._refused and self.message.text() == self._refused:
            self._refused = self._refusal()
            self._say(self._refused, WRONG)

    def compare(self, file: Path) -> None:
        """Show in what a job, or the folder of a release, differs from what is decided now."""
        try:
            self.compared.setText(differing(self.state.job(), file, _labels()))
        except VbasError as error:
            self.compared.setText(str(error))
        self._refresh()

    def show_on_map(self, on: bool) -> None:
        """Tick the released regions in the list of layers, or untick them."""
        node = QgsProject.instance().layerTreeRoot().findLayer(self._regions)
        if node is not None:
            node.setItemVisibilityChecked(on)

    def forget(self) -> None:
        """Let go of what was made; a run that goes on tells its own end."""
        self._regions = ""
        self.links.setText("")
        self._say("")

    def end(self) -> None:
        """Before the dock goes away for good."""
        if self._task is not None:
            self._task.executed.disconnect()
            task = self._task  # one that has not begun is let go of as it is cancelled
            task.cancel()
            task.waitForFinished(round(1_000 * LONGEST_WAIT))
            self._task = None

    def _build(self) -> None:
        self.folder.setStorageMode(QgsFileWidget.StorageMode.GetDirectory)
        self.folder.setDialogTitle(tr("A new folder for the release"))
        self.register.setStorageMode(QgsFileWidget.StorageMode.SaveFile)
        self.register.setConfirmOverwrite(False)
        self.register.setFilter(tr("Registers (*.gpkg)"))
        self.register.setDialogTitle(tr("The register of releases"))
        layout = rows()
        for text, widget, tip in (
            (
                tr("Folder of the release"),
                self.folder,
                tr(
                    "A new folder: what is in it may go out. What must not is put beside it, with “internal” in its "
                    "name."
                ),
            ),
            (tr("For whom"), self.recipient, tr("Who receives it, for the page that is signed.")),
            (tr("For which purpose"), self.purpose, tr("What it will be used for, for the page that is signed.")),
            (tr("Prepared by"), self.prepared_by, tr("Who made the release, for the page that is signed.")),
            (
                tr("Register of releases"),
                self.register,
                tr(
                    "Not needed for a first release. The release is checked against all in the register, so that "
                    "together they disclose no small count, and added to it."
                ),
            ),
        ):
            add_row(layout, text, widget, tip)
        for name, line in ((RECIPIENT, self.recipient), (PURPOSE, self.purpose), (PREPARED_BY, self.prepared_by)):
            line.setText(remembered(name) or "")
            line.textChanged.connect(self._take_words)
        self._take_words()
        self.links.setOpenExternalLinks(True)
        self.go.setToolTip(tr("Make the release, recount it and write it. If it does not hold, nothing is written."))
        self.earlier.setToolTip(
            tr("Show in what an earlier job, or the datapackage.json of a released folder, differs from this one.")
        )
        self.layout_of_map.setToolTip(tr("A print layout with the released regions, their legend and a scale."))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addLayout(layout)
        for part in (
            self.go,
            self.bar,
            self.cancel,
            self.message,
            self.links,
            self.layout_of_map,
            self.earlier,
            self.compared,
        ):
            outer.addWidget(part)
        outer.addStretch(1)

    def _refusal(self) -> str:
        """Why nothing can be handed over, in a sentence; empty where it can."""
        return self.ready() or self._missing()

    def _missing(self) -> str:
        if not self.state.decision:
            return tr("Choose a release under Decide first.")
        if not _path_of(self.folder):
            return tr("Choose a new folder for the release.")
        for path in (_path_of(self.folder), _path_of(self.register)):
            if path and not Path(path).is_absolute():
                return tr(
                    "Give the whole path, from the disk on: “{path}” would lie wherever QGIS was started.", path=path
                )
        return ""

    def _replaced(self) -> str:
        """A sentence on what stands in the folder, the first time that it would be replaced: that cannot be undone."""
        folder = Path(_path_of(self.folder))
        asked, self._asked_about = self._asked_about, None
        there: list[str] = []
        with suppress(OSError, ValueError):
            there = DISK.names(folder)
        if not there or asked == folder:
            return ""
        self._asked_about = folder
        return tr(
            "“{folder}” holds files already: an earlier release there, and what lies beside it under its name, is "
            "replaced if you press “{button}” once more. To keep it, choose a new folder.",
            folder=folder.name,
            button=self.go.text(),
        )

    def _take(self) -> None:
        """Have the state say what the lines do."""
        folder = Path(_path_of(self.folder))
        self.state.outputs = {"RELEASE_FOLDER": str(folder)}
        beside = {name: str(folder.with_name(f"{folder.name}-{file}")) for name, file in BESIDE.items()}
        self.state.outputs.update(beside)
        self._take_words()
        self.state.said["REGISTER"] = _path_of(self.register)

    def _take_words(self) -> None:
        """Have the state say, and so the preview of the page, for whom, why and by whom."""
        lines = {RECIPIENT: self.recipient, PURPOSE: self.purpose, PREPARED_BY: self.prepared_by}
        self.state.said.update({name: line.text().strip() for name, line in lines.items()})

    def _take_results(
        self, done: bool, results: Mapping[str, Any], run_log: RunLog, context: QgsProcessingContext
    ) -> None:
        cancelled = run_log.isCanceled()
        self._task, self._kept = None, []
        if done:
            self.results = dict(results)
            self._show_regions(context.takeResultLayer(str(results.get(REGIONS, ""))))
            # What came about, then what to heed.
            self._say(unbroken("\n".join([*run_log.lines[-LAST_LINES:], *run_log.warnings])))
            self.links.setText(self._links())
        elif cancelled:
            self._say("\n".join(run_log.errors) or tr("Cancelled: nothing was written."))
        else:
            self._say("\n".join(run_log.errors) or tr("The run ended without giving a reason."), WRONG)
        self._refresh()
        self.ended.emit(done)

    def _show_regions(self, layer: QgsMapLayer | None) -> None:
        """Put the released regions on the map, above all else."""
        if not isinstance(layer, QgsVectorLayer):
            return
        title = tr("Released regions ({kind})", kind=FOR_RELEASE)
        style(layer, REGIONS)
        describe(layer, title, f"{self.folder_name()} – {title}")
        QgsProject.instance().addMapLayer(layer, False)
        QgsProject.instance().layerTreeRoot().insertLayer(0, layer).setExpanded(True)
        self._regions = layer.id()

    def folder_name(self) -> str:
        """How the release is called: as its folder."""
        return Path(str(self.state.outputs.get("RELEASE_FOLDER", ""))).name

    def make_map_page(self) -> None:
        """Make a print layout of the released regions, and open it where QGIS can."""
        layer = QgsProject.instance().mapLayer(self._regions)
        if not isinstance(layer, QgsVectorLayer):
            self._say(tr("The released regions are not in the project any more: make the release again."), WRONG)
            return
        layout = map_page(layer, self.folder_name(), text_below())
        if hasattr(self._iface, "openLayoutDesigner"):
            self._iface.openLayoutDesigner(layout)
        said = [tr("The map is a print layout of the project now: “{name}”.", name=layout.name())]
        template = keep_template(layer, text_below())
        if template:
            said.append(tr("For other maps the layout manager has the template “{name}”.", name=template))
        self._say("\n".join(said))

    def _links(self) -> str:
        """What was written, to be opened by a click."""
        outputs = {name: str(value) for name, value in self.state.outputs.items()}
        titles = {
            "RELEASE_FOLDER": tr("Open the folder that may go out"),
            "SIGN_PAGE": tr("Open the page to sign (internal)"),
            "REPORT": tr("Open the report (internal)"),
            "JOB_FILE": tr("Open the job, to do this again (internal)"),
        }
        made = [(QUrl.fromLocalFile(outputs[name]).toString(), title) for name, title in titles.items()]
        return "<br>".join(f'<a href="{address}">{title}</a>' for address, title in made)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _choose_job(self) -> None:
        file, _ = QFileDialog.getOpenFileName(
            self, tr("An earlier job or release"), "", tr("Jobs and releases (*.toml datapackage.json)")
        )
        if file:
            self.compare(Path(file))

    def _say(self, text: str, style: str = SAID) -> None:
        self.message.setText(text)
        self.message.setStyleSheet(style)
        self._refresh()

    def _refresh(self) -> None:
        for widget in (self.bar, self.cancel):
            widget.setVisible(self.busy)
        self.go.setEnabled(not self.busy)
        self.layout_of_map.setVisible(bool(self._regions) and not self.busy)
        for label in (self.message, self.links, self.compared):
            label.setVisible(bool(label.text()))


def _path_of(chooser: QgsFileWidget) -> str:
    """What was typed or chosen, with the user's own folder for “~”; empty for nothing."""
    typed = chooser.filePath().strip()
    return str(Path(typed).expanduser()) if typed else ""


def _labels() -> dict[str, str]:
    """What the settings of the main algorithm are called."""
    algorithm = QgsApplication.processingRegistry().algorithmById(MAIN)
    return (
        {}
        if algorithm is None
        else {parameter.name(): label_of(parameter) for parameter in algorithm.parameterDefinitions()}
    )
