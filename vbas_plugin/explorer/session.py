"""A session of looking: read once, then any number of regions, by any approach, from the profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Callable

from qgis.PyQt.QtCore import QObject, pyqtSignal

from ...algorithms.explorer_data import Choices, ExplorerData, Reading, Settings, Shown, account_of, regions_shown
from ...core.errors import Cancelled, InputError
from ...core.language import tr
from ...core.progress import part
from ...core.region_account import RegionAccount
from ...core.trade_off.curve import Curve, CurvePoint, least_suppressed
from .work import Job, Worker


@dataclass(frozen=True, eq=False)
class ExplorerState:
    """All that a session knows at a time.

    data : parameters of the data, as they were read; choices, settings : what was chosen; explorer_data : what was
    read; curve : of these choices; least : per cent suppressed whatever the regions; points : of the curve, so far;
    shown : the regions on the map
    """

    data: Mapping[str, object]
    choices: Choices
    settings: Settings
    explorer_data: ExplorerData
    curve: Curve
    least: float
    shown: Shown
    points: list[CurvePoint] = field(default_factory=list)

    @property
    def parameters(self) -> dict[str, object]:
        """What the main algorithm is given to make the regions shown."""
        return {**self.data, **self.choices.parameters(self.shown.n_sites)}

    def account(self, level: int, number: int) -> RegionAccount:
        """What is told of a region: level, from 0, and its public number."""
        return account_of(self.explorer_data, self.settings, self.shown, level, number)


class ExplorerSession(QObject):
    """Reads and computes behind the window.

    changed : work began or ended; regions : others are to be shown; points : the curve is known better; said : a
    sentence for the user, and whether something is wrong; progressed : per cent
    """

    changed = pyqtSignal()
    regions = pyqtSignal()
    points = pyqtSignal()
    said = pyqtSignal(str, bool)
    progressed = pyqtSignal(float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state: ExplorerState | None = None
        self.reading = False  # from layers, which must stay meanwhile
        self._problem: Callable[[Exception], str] = str
        self._worker = Worker(self)
        self._worker.changed.connect(self.changed.emit)
        self._worker.progressed.connect(self.progressed.emit)

    @property
    def busy(self) -> bool:
        """Whether work is going on."""
        return self._worker.busy

    def begin(self, data: Mapping[str, object], choices: Choices) -> None:
        """Read the layers, and show the number of regions that the choice itself has."""
        reading, settings = self._understood(data, choices)
        if reading is None or settings is None:
            return

        def work(job: Job) -> ExplorerState:
            explorer_data = reading.read(job.feedback)
            return _first(data, choices, settings, explorer_data, None, job)

        self.reading = True
        self._run(tr("VBAS release: reading"), work)

    def choose(self, choices: Choices, n_sites: int | None = None) -> None:
        """Other choices over the same records; n_sites : the number of regions to show, None for the choice's own."""
        if self.state is None:
            return
        data, explorer_data = self.state.data, self.state.explorer_data
        _, settings = self._understood(data, choices)
        if settings is None:
            return
        self._run(tr("VBAS release: regions"), lambda job: _first(data, choices, settings, explorer_data, n_sites, job))

    def number(self, n_sites: int) -> None:
        """Another number of regions."""
        state = self.state
        if state is None:
            return
        if n_sites == state.shown.n_sites and not self.busy:
            self.regions.emit()
            return
        self._run(tr("VBAS release: regions"), lambda job: _at(state, n_sites, job))

    def budget(self, percent: float) -> None:
        """The most regions that suppress at most so many per cent."""
        state = self.state
        if state is None:
            return

        def work(job: Job) -> ExplorerState:
            point = state.curve.most_within(percent, part(job.progress, 0.0, 0.8))
            if point is None:
                raise InputError(
                    tr(
                        "No number of regions suppresses at most {budget:.3g} %: even one region takes {least:.3g} %.",
                        budget=percent,
                        least=state.curve.point(1).percent,
                    )
                )
            return _at(state, point.n_sites, job)

        self._run(tr("VBAS release: regions"), work)

    def cancel(self) -> None:
        """Stop what is going on; what is known stays."""
        self._worker.cancel()

    def stop(self) -> None:
        """Stop what is going on and wait until it has."""
        self._worker.stop()
        self.reading = False

    def forget(self) -> None:
        """Stop, and let go of all that was read."""
        self.stop()
        self.state = None
        self.changed.emit()

    def _understood(self, data: Mapping[str, object], choices: Choices) -> tuple[Reading | None, Settings | None]:
        """How to read, and the choices as core takes them; None of both where something is wrong, which is said."""
        self._problem = str
        try:
            reading = Reading({**data, **choices.parameters(1)})
            self._problem = reading.problem
            return reading, reading.settings(choices.favour)
        except Exception as error:
            self._fail(error)
            return None, None

    def _run(self, title: str, work: Callable[[Job], ExplorerState]) -> None:
        self._worker.start(title, work, self._take, self._fail)

    def _take(self, state: ExplorerState, warnings: list[str]) -> None:
        self.reading = False
        self.state = replace(state, points=state.curve.points)
        self.said.emit(
            " ".join([*state.explorer_data.warnings, *warnings]), bool(state.explorer_data.warnings or warnings)
        )
        self.regions.emit()
        self.points.emit()
        if not state.curve.whole and not self.busy:  # what was shown may have asked for other regions at once
            self._fill(state.curve)

    def _fill(self, curve: Curve) -> None:
        """The rest of the curve, point by point."""

        def work(job: Job) -> None:
            for _ in curve.filled(job.progress):
                job.told.emit(curve.points)

        def told(points: list[CurvePoint]) -> None:
            if self.state is not None and self.state.curve is curve:
                self.state = replace(self.state, points=points)
                self.points.emit()

        self._worker.start(tr("VBAS release: curve"), work, lambda *_: None, self._fail, told)

    def _fail(self, error: Exception) -> None:
        self.reading = False
        if isinstance(error, Cancelled):
            self.said.emit(tr("Cancelled; what is shown stays."), False)
        else:
            self.said.emit(self._problem(error), True)
        self.regions.emit()


def _first(
    data: Mapping[str, object],
    choices: Choices,
    settings: Settings,
    explorer_data: ExplorerData,
    n_sites: int | None,
    job: Job,
) -> ExplorerState:
    """The first regions of some choices."""
    if settings.needs_neighbours:
        explorer_data = explorer_data.with_neighbours(part(job.progress, 0.2, 0.4))
    areas, profile, terms = explorer_data.areas, explorer_data.profile, explorer_data.terms(settings.ask)
    if n_sites is None:
        n_sites = Curve(areas, profile, settings.own, terms).own_number()
    curve = Curve(areas, profile, settings.configuration, terms)
    shown = regions_shown(explorer_data, curve, settings, n_sites, part(job.progress, 0.4, 1.0))
    curve.point(n_sites)
    return ExplorerState(data, choices, settings, explorer_data, curve, least_suppressed(profile, terms), shown)


def _at(state: ExplorerState, n_sites: int, job: Job) -> ExplorerState:
    """The same with another number of regions."""
    shown = regions_shown(state.explorer_data, state.curve, state.settings, n_sites, job.progress)
    state.curve.point(n_sites)
    return replace(state, shown=shown)
