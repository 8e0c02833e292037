"""A session of looking: read once, then any number of regions, by any approach, from the profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import Callable

from qgis.core import QgsProcessingException
from qgis.PyQt.QtCore import QObject, pyqtSignal

from ...algorithms.explorer_data import (
    Choices,
    ExplorerData,
    Reading,
    Settings,
    Shown,
    account_of,
    curve_of,
    nested_curve_of,
    regions_shown,
)
from ...core.dataclass import dataclass
from ...core.errors import Cancelled, InputError, VbasError
from ...core.language import rounded_up, tr
from ...core.progress import part
from ...core.region_account import RegionAccount
from ...core.trade_off.curve import Curve, CurvePoint, coarse_to_fine, numbers_on_curve
from ...core.trade_off.nested_curve import NestedCurve
from .work import Job, Worker

COARSER = ("GENERALISE", "HIERARCHY_RULES")  # the parameters by which values are shown coarser
MOST_PLAIN = 13  # points of the line of values as they are


@dataclass(frozen=True)
class Lines:
    """The lines that are drawn, so far: of one level, of nested ones, and of one level with the values as they are."""

    points: list[CurvePoint] = field(default_factory=list)
    nested: list[CurvePoint] = field(default_factory=list)
    plain: list[CurvePoint] = field(default_factory=list)


@dataclass(eq=False)
class BesideCurve:
    """What is drawn beside the curve. nested : None where no levels can be made; reading, settings : of the values as
    they are, None where they are shown so; plain : their curve, once it is known"""

    nested: NestedCurve | None = None
    reading: Reading | None = None
    settings: Settings | None = None
    plain: Curve | None = None


@dataclass(frozen=True, eq=False)
class ExplorerState:
    """All that a session knows at a time.

    data : parameters of the data, as they were read; choices, settings : what was chosen; explorer_data : what was
    read; curve : of these choices; beside : what is drawn beside it; lines : so far; shown : the regions on the map
    """

    data: Mapping[str, object]
    choices: Choices
    settings: Settings
    explorer_data: ExplorerData
    curve: Curve
    beside: BesideCurve
    shown: Shown
    lines: Lines = field(default_factory=Lines)

    @property
    def parameters(self) -> dict[str, object]:
        """What the main algorithm is given to make the regions shown."""
        return {**self.data, **self.choices.parameters(self.shown.n_sites)}

    @property
    def points(self) -> list[CurvePoint]:
        """Of the curve, so far."""
        return self.lines.points

    @property
    def released(self) -> tuple[CurvePoint, CurvePoint | None]:
        """What the number of regions shown gives with one level and with nested ones, None where that is not known."""
        n_sites, nested = self.shown.n_sites, self.beside.nested
        return self.curve.point(n_sites), None if nested is None else nested.known(n_sites)

    @property
    def whole(self) -> bool:
        """Whether nothing is left to be drawn."""
        nested, beside = self.beside.nested, self.beside
        levels = nested is None or (nested.whole and nested.known(self.shown.n_sites) is not None)
        return self.curve.whole and levels and (beside.reading is None or beside.plain is not None)

    def lines_now(self) -> Lines:
        """What is known of the lines by now."""
        nested, plain = self.beside.nested, self.beside.plain
        return Lines(self.curve.points, nested.points if nested else [], plain.points if plain else [])

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
        beside = self._beside(data, choices)

        def work(job: Job) -> ExplorerState:
            explorer_data = reading.read(job.feedback)
            return _first(data, choices, settings, explorer_data, beside, None, job)

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
        beside = self._beside(data, choices)

        def work(job: Job) -> ExplorerState:
            return _first(data, choices, settings, explorer_data, beside, n_sites, job)

        self._run(tr("VBAS release: regions"), work)

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
                raise InputError.saying(
                    "No number of regions suppresses at most {budget:.3g} %: even one region takes {least:.3g} %.",
                    budget=percent,
                    least=rounded_up(state.curve.point(1).percent),
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
            return reading, reading.settings(choices.combination)
        except Exception as error:
            self._fail(error)
            return None, None

    def _beside(self, data: Mapping[str, object], choices: Choices) -> tuple[Settings | None, BesideCurve]:
        """The choices with nested levels, None where they cannot be; and what is drawn beside the curve, before any of
        it is known."""
        nested, beside = None, BesideCurve()
        levels = replace(choices, nested=True)
        with suppress(VbasError, QgsProcessingException):
            nested = Reading({**data, **levels.parameters(1)}).settings(levels.combination)
        if any(name in data for name in COARSER):
            plain = {name: value for name, value in data.items() if name not in COARSER}
            with suppress(VbasError, QgsProcessingException):
                single = replace(choices, nested=False)
                reading = Reading({**plain, **single.parameters(1)})
                beside.settings, beside.reading = reading.settings(single.combination), reading
        return nested, beside

    def _run(self, title: str, work: Callable[[Job], ExplorerState]) -> None:
        self._worker.start(title, work, self._take, self._fail)

    def _take(self, state: ExplorerState, warnings: list[str]) -> None:
        self.reading = False
        self.state = replace(state, lines=state.lines_now())
        # Reading may say what is kept with the data.
        sentences = dict.fromkeys([*state.explorer_data.warnings, *warnings])
        self.said.emit(" ".join(sentences), bool(sentences))
        self.regions.emit()
        self.points.emit()
        if not state.whole and not self.busy:  # what was shown may have asked for other regions at once
            self._fill(state)

    def _fill(self, state: ExplorerState) -> None:
        """The rest of the lines, point by point."""

        def work(job: Job) -> None:
            for _ in _filled(state, job):
                job.reported.emit(state.lines_now())

        def show_lines(lines: Lines) -> None:
            if self.state is not None and self.state.curve is state.curve:
                self.state = replace(self.state, lines=lines)
                self.points.emit()

        def done(*_: object) -> None:
            self.reading = False

        self.reading = state.beside.reading is not None and state.beside.plain is None
        self._worker.start(tr("VBAS release: curve"), work, done, self._fail, show_lines)

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
    asked_beside: tuple[Settings | None, BesideCurve],
    n_sites: int | None,
    job: Job,
) -> ExplorerState:
    """The first regions of some choices."""
    if settings.needs_neighbours:
        explorer_data = explorer_data.with_neighbours(part(job.progress, 0.2, 0.4))
    curve, (nested, beside) = curve_of(explorer_data, settings), asked_beside
    if n_sites is None:
        own = replace(settings, configuration=settings.own)
        n_sites = curve_of(explorer_data, own).own_number()
    shown = regions_shown(explorer_data, curve, settings, n_sites, part(job.progress, 0.4, 1.0))
    curve.point(n_sites)
    if nested is not None:
        beside.nested = nested_curve_of(explorer_data, curve, nested)
    state = ExplorerState(data, choices, settings, explorer_data, curve, beside, shown)
    _remember(state)
    return state


def _at(state: ExplorerState, n_sites: int, job: Job) -> ExplorerState:
    """The same with another number of regions."""
    shown = regions_shown(state.explorer_data, state.curve, state.settings, n_sites, job.progress)
    state.curve.point(n_sites)
    state = replace(state, shown=shown)
    _remember(state)
    return state


def _remember(state: ExplorerState) -> None:
    """Nested levels that are shown are a point of their line."""
    if state.settings.nested and state.beside.nested is not None:
        state.beside.nested.remember(state.shown.n_sites, state.shown.measures)


def _filled(state: ExplorerState, job: Job) -> Iterator[None]:
    """Work out the lines point by point, that of nested levels after the other, beside what is shown first."""
    beside, n_sites = state.beside, state.shown.n_sites
    for _ in state.curve.filled(part(job.progress, 0.0, 0.5)):
        yield
    if beside.nested is not None:
        try:
            beside.nested.point(n_sites, part(job.progress, 0.5, 0.6))
        except VbasError as error:
            if isinstance(error, Cancelled):
                raise
            beside.nested = None  # such as an approach that makes no level of so few regions
        yield
    if beside.nested is not None:
        try:
            for _ in beside.nested.filled(part(job.progress, 0.6, 0.8)):
                yield
        except VbasError as error:
            if isinstance(error, Cancelled):
                raise
            beside.nested.give_up()
    if beside.reading is not None and beside.settings is not None and beside.plain is None:
        try:
            explorer_data = beside.reading.read(job.feedback)
        except (InputError, QgsProcessingException):
            beside.reading = None
            return
        if beside.settings.needs_neighbours:
            explorer_data = explorer_data.with_neighbours(part(job.progress, 0.8, 0.9))
        plain = curve_of(explorer_data, beside.settings)
        for number in coarse_to_fine(numbers_on_curve(len(explorer_data.areas), MOST_PLAIN)):
            plain.point(number)
            job.progress(0.9)
        beside.plain = plain
        yield
