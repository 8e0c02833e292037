"""A look: read once, then any number of regions, by any approach, from the profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Callable

from qgis.PyQt.QtCore import QObject, pyqtSignal

from ...algorithms.explored import Choices, Explored, Reading, Settings, Shown, account_of, regions_shown
from ...core.errors import Cancelled, InputError
from ...core.language import tr
from ...core.progress import part
from ...core.region_account import RegionAccount
from ...core.trade_off.curve import Curve, CurvePoint, least_suppressed
from .work import Job, Worker


@dataclass(frozen=True, eq=False)
class Seen:
    """All that one look knows at a time.

    data : parameters of the data, as they were read; choices, settings : what was chosen; explored : what was read;
    curve : of these choices; least : per cent suppressed whatever the regions; points : of the curve, so far;
    shown : the regions on the map
    """

    data: Mapping[str, object]
    choices: Choices
    settings: Settings
    explored: Explored
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
        return account_of(self.explored, self.settings, self.shown, level, number)


class Look(QObject):
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
        self.seen: Seen | None = None
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

        def work(job: Job) -> Seen:
            explored = reading.read(job.feedback)
            return _first(data, choices, settings, explored, None, job)

        self.reading = True
        self._run(tr("VBAS explorer: reading"), work)

    def choose(self, choices: Choices, n_sites: int | None = None) -> None:
        """Other choices over the same records; n_sites : the number of regions to show, None for the choice's own."""
        if self.seen is None:
            return
        data, explored = self.seen.data, self.seen.explored
        _, settings = self._understood(data, choices)
        if settings is None:
            return
        self._run(tr("VBAS explorer: regions"), lambda job: _first(data, choices, settings, explored, n_sites, job))

    def number(self, n_sites: int) -> None:
        """Another number of regions."""
        seen = self.seen
        if seen is None:
            return
        if n_sites == seen.shown.n_sites and not self.busy:
            self.regions.emit()
            return
        self._run(tr("VBAS explorer: regions"), lambda job: _at(seen, n_sites, job))

    def budget(self, percent: float) -> None:
        """The most regions that suppress at most so many per cent."""
        seen = self.seen
        if seen is None:
            return

        def work(job: Job) -> Seen:
            point = seen.curve.most_within(percent, part(job.progress, 0.0, 0.8))
            if point is None:
                raise InputError(
                    tr(
                        "No number of regions suppresses at most {budget:.3g} %: even one region takes {least:.3g} %.",
                        budget=percent,
                        least=seen.curve.point(1).percent,
                    )
                )
            return _at(seen, point.n_sites, job)

        self._run(tr("VBAS explorer: regions"), work)

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
        self.seen = None
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

    def _run(self, title: str, work: Callable[[Job], Seen]) -> None:
        self._worker.start(title, work, self._take, self._fail)

    def _take(self, seen: Seen, warnings: list[str]) -> None:
        self.reading = False
        self.seen = replace(seen, points=seen.curve.points)
        self.said.emit(" ".join([*seen.explored.warnings, *warnings]), bool(seen.explored.warnings or warnings))
        self.regions.emit()
        self.points.emit()
        if not seen.curve.whole and not self.busy:  # what was shown may have asked for other regions at once
            self._fill(seen.curve)

    def _fill(self, curve: Curve) -> None:
        """The rest of the curve, point by point."""

        def work(job: Job) -> None:
            for _ in curve.filled(job.progress):
                job.told.emit(curve.points)

        def told(points: list[CurvePoint]) -> None:
            if self.seen is not None and self.seen.curve is curve:
                self.seen = replace(self.seen, points=points)
                self.points.emit()

        self._worker.start(tr("VBAS explorer: curve"), work, lambda *_: None, self._fail, told)

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
    explored: Explored,
    n_sites: int | None,
    job: Job,
) -> Seen:
    """The first regions of some choices."""
    if settings.needs_neighbours:
        explored = explored.with_neighbours(part(job.progress, 0.2, 0.4))
    areas, profile, terms = explored.areas, explored.profile, explored.terms(settings.k)
    if n_sites is None:
        n_sites = Curve(areas, profile, settings.own, terms).own_number()
    curve = Curve(areas, profile, settings.configuration, terms)
    shown = regions_shown(explored, curve, settings, n_sites, part(job.progress, 0.4, 1.0))
    curve.point(n_sites)
    return Seen(data, choices, settings, explored, curve, least_suppressed(profile, terms), shown)


def _at(seen: Seen, n_sites: int, job: Job) -> Seen:
    """The same look with another number of regions."""
    shown = regions_shown(seen.explored, seen.curve, seen.settings, n_sites, job.progress)
    seen.curve.point(n_sites)
    return replace(seen, shown=shown)
