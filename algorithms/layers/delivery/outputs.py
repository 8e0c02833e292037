"""Outputs: written whole in a staging folder, counted there, put in their place all together, and compared there.

Where they may go is settled before any work (`destinations`); how they get there is in `places`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from qgis.core import QgsProcessing, QgsProcessingFeedback, QgsProcessingUtils, QgsVectorLayer

from ....core.errors import InputError, VbasError
from ....core.language import tr
from ....core.package.place import FolderPlace, tidy_up_folder
from ....core.progress import Progress, part
from ....core.publish.counting import Counting, SecondCount
from ....core.publish.delivery import Place, deliver
from ....core.publish.file_place import FilePlace
from ....core.publish.files import DISK
from ....core.publish.folders import clear_dead, one_run_on, temporary_folder
from ....core.publish.leftovers import tidy_up
from ....core.publish.side_files import note_on, says_itself, stale_beside
from ....core.publish.sqlite_targets import SUFFIXES, settle
from ....core.secrecy import without_values
from ....core.tables.schema import ESTIMATE, FOR_RELEASE, INTERNAL, TEST_DATA, kind_of_output, named
from ..database_tables.address import DatabaseTable
from ..database_tables.postgres import PostgresPlace
from ..database_tables.sqlite import SqlitePlace
from ..database_tables.swapping import TablePlace
from ..feedback import GoingOn, addresses_in, check_cancelled
from ..gdal_errors import silent_gdal, without_journals
from ..inputs import Inputs
from ..tables import Table
from .announcing import Announcing
from .csv_cells import warning_of_formulas
from .destinations import checked_destinations, with_destination
from .exact_values import check_writable
from .formats import WITHOUT_SHAPES
from .second_count import check_file, check_layer
from .temporary import belongs_in_a_file, noted, temporary_file, withdraw
from .writing import fill_sink, in_one_sentence, write_bytes, write_file, write_text

Held = TypeVar("Held")
# Where writing ends and the second count begins, of the stretch of an output on the bar.
WRITTEN = 0.4
SAID: dict[str, Callable[[str], str]] = {
    FOR_RELEASE: lambda outputs: tr("You may publish: {outputs}.", outputs=outputs),
    INTERNAL: lambda outputs: tr("Internal, not to be published: {outputs}.", outputs=outputs),
    TEST_DATA: lambda outputs: tr("Test data: {outputs}.", outputs=outputs),
    ESTIMATE: lambda outputs: tr("Estimates, not to be published as counts: {outputs}.", outputs=outputs),
}
NOTE = tr(
    "{name} is internal: do not publish it.\n\n"
    "{title}: what is suppressed in a release could be derived from it.\n"
    "This note stands beside the file because its format has no place for it: keep the two together.\n"
)


class Outputs:
    """Collects the outputs of one run; use as a context manager, end with `deliver()`.

    Whatever ends the run before that (an error, Cancel, Ctrl-C) leaves nothing behind.
    """

    def __init__(
        self, inputs: Inputs, feedback: QgsProcessingFeedback, group_title: str = "", history: Callable[[], str] = str
    ) -> None:
        """group_title : the title of the run's layers in the layer tree; history : gives a sentence for metadata"""
        self._inputs, self._feedback = inputs, feedback
        self._addresses = addresses_in(inputs.parameters, inputs.context)
        self._files: dict[str, tuple[Path, Path]] = {}
        self._folders: dict[str, tuple[Path, Callable[[Path], None]]] = {}  # staged, and how each is counted
        self._tables: dict[str, TablePlace] = {}
        self._results: dict[str, object] = {}
        self._destinations: dict[str, Path | str] = {}
        self._temporary: set[str] = set()
        self._made: set[str] = set()  # layers that QGIS knows of before the run has ended
        self._last: list[Callable[[], None]] = []
        self._first: list[Place] = []
        self.in_place = False  # whether the outputs were put in their place
        destinations = checked_destinations(inputs)
        with ExitStack() as stack:
            self._hold(destinations, stack)
            self._staging = stack.enter_context(temporary_folder())
            self._counting = stack.enter_context(Counting())  # which ends before the folder does
            for name, destination in destinations.items():
                self._destinations[name] = self._settled(name, destination, stack)
            self._held = stack.pop_all()
        self._announcing = Announcing(self._inputs, self._destinations, group_title, history)

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.in_place:
            withdraw(self._inputs.context, self._made)
        self._held.__exit__(kind, error, trace)
        # What was to be put in its place may hold the run, which holds its outputs.
        self._first.clear()
        self._last.clear()

    def wanted(self, name: str) -> bool:
        """Whether the user asked for this output."""
        return name in self._destinations

    def target(self, name: str) -> Path | None:
        """The file that an output goes to, None where it goes elsewhere."""
        destination = self._destinations.get(name)
        return destination if isinstance(destination, Path) else None

    def keep_after_cancel(self) -> None:
        """Write what there is even if the user has cancelled: for results that are of use unfinished."""
        self._feedback = GoingOn(self._feedback, ())

    def check_cancelled(self) -> None:
        """Raise Cancelled once the user has pressed Cancel, unless what there is is kept."""
        check_cancelled(self._feedback)

    def add(
        self,
        name: str,
        table: Table,
        check: SecondCount | None = None,
        title: str = "",
        progress: Progress | None = None,
    ) -> None:
        """Write a table of rows. With a check it is a release: what was written is recounted, from the file or layer
        itself; a class below k raises PrivacyError. title : of the layer, where it says more than the form can;
        progress : by rows, on the stretch of the bar that this output takes.
        """
        if not self.wanted(name):
            return
        destination = self._destinations[name]
        title = self._announcing.titles[name] = title or self._inputs.definition(name).description()
        check_writable(name, table)
        if destination == QgsProcessing.TEMPORARY_OUTPUT and belongs_in_a_file(table, title):
            destination = temporary_file(name)
            self._temporary.add(name)
        progress = progress or (lambda _: check_cancelled(self._feedback))
        if isinstance(destination, Path):
            lost = _warning_of_shapes(name, destination, table)
            if lost:
                self._feedback.pushWarning(lost)
            formulas = warning_of_formulas(name, destination, table)
            if formulas:
                self._feedback.pushWarning(formulas)
            with in_one_sentence(name), without_journals():
                file = self._stage(name, destination)
                write_file(file, table, title, part(progress, 0.0, WRITTEN))
                if not file.exists():  # a Shapefile without shapes is a .dbf alone
                    file, destination = file.with_suffix(".dbf"), destination.with_suffix(".dbf")
                    self._files[name] = (file, destination)
                self._announcing.store_style(file, name, table.geometry != "none")
                self._note(file, destination, title)
                if file.suffix.lower() in SUFFIXES:
                    settle(file)
                self._counting.begin(file, partial(_recount, name, table, check))
        else:
            with in_one_sentence(name):
                self._to_sink(name, table, check, progress)

    def add_text(self, name: str, text: Callable[[], str]) -> None:
        """Write a text file, such as a report."""
        if self.wanted(name):
            content = self.without_addresses(text())
            self.add_file(name, lambda file: write_text(file, content))

    def without_addresses(self, text: str) -> str:
        """A text as it is written: without passwords of what the run was given."""
        return without_values(text, self._addresses)

    def add_bytes(self, name: str, content: Callable[[], bytes]) -> None:
        """Write a file that is no text, such as a page to print."""
        self.add_file(name, lambda file: write_bytes(file, content()))

    def add_file(self, name: str, write: Callable[[Path], None]) -> None:
        """Write a file of another kind, such as one of several tables. write : fills the file that it is given, and
        counts it once more"""
        if self.wanted(name):
            destination = self._destinations[name]
            if not isinstance(destination, Path):
                raise InputError.saying("{name}: give the name of a file.", name=name)
            self._announcing.titles[name] = self._inputs.definition(name).description()
            with in_one_sentence(name), without_journals():
                file = self._stage(name, destination)
                write(file)
                self._counting.note(file)

    def add_folder(self, name: str, write: Callable[[Path], None], count: Callable[[Path], None]) -> None:
        """Write a folder of files. write : fills the folder that it is given; count : looks at one in its place once
        more, and raises VbasError"""
        if self.wanted(name):
            self._announcing.titles[name] = self._inputs.definition(name).description()
            folder = self._staging / name
            DISK.make_folder(folder)
            self._folders[name] = folder, count
            with in_one_sentence(name), without_journals():
                write(folder)

    def first(self, place: Place) -> None:
        """Have something put before all files and tables, such as what a register is to say of them."""
        self._first.append(place)
        self._held.callback(place.discard)

    def hold(self, context: AbstractContextManager[Held]) -> Held:
        """Enter a context, and leave it however the run ends, after all that is delivered."""
        return self._held.enter_context(context)

    def last(self, publish: Callable[[], None], close: Callable[[], object] = lambda: None) -> None:
        """Have something published that cannot be undone, once all else is in its place; if it fails, all else is put
        back. close : called however the run ends"""
        self._last.append(publish)
        self._held.callback(close)

    def deliver(self) -> dict[str, object]:
        """Put all files in their place and return the results of the algorithm."""
        check_cancelled(self._feedback)
        self._counting.wait()
        self._let_go_of_tables()
        places = [
            FilePlace(name, staged, destination, stale_beside(destination), self._counting.refuse_if_changed)
            for name, (staged, destination) in self._files.items()
        ]
        folders = [
            FolderPlace(name, staged, Path(str(self._destinations[name])), count)
            for name, (staged, count) in self._folders.items()
        ]
        tables = {name: place for name, place in self._tables.items() if name in self._results}
        # Files first: they fail more often, and are put back more easily.
        every = [*self._first, *places, *folders, *tables.values()]
        last = [*self._last, self._have_their_place]
        for warning in deliver(every, lambda: check_cancelled(self._feedback), last):
            self._feedback.pushWarning(warning)
        for name, place in tables.items():
            self._results[name] = self._announcing.table(place, str(self._results[name]))
        for name in tables:
            self._announcing.dress(name, str(self._results[name]))
        for name, (_, destination) in self._files.items():
            announce = self._announcing.temporary if name in self._temporary else self._announcing.file
            self._results[name] = announce(name, destination)
        self._results.update({name: str(self._destinations[name]) for name in self._folders})
        self._say_what_may_be_published()
        return self._results

    def _have_their_place(self) -> None:
        self.in_place = True

    def _say_what_may_be_published(self) -> None:
        """End the log with which outputs are for release, and which are not."""
        for kind, sentence in SAID.items():
            places = {name: place.called for name, place in self._tables.items()}
            places |= {name: str(self._files[name][1]) for name in self._files.keys() - self._temporary}
            places |= {name: str(self._destinations[name]) for name in self._folders}
            where = [
                f"{named(title)} ({places[name]})" if name in places else named(title)
                for name, title in self._announcing.titles.items()
                if name in self._results and kind_of_output(title) == kind
            ]
            if where:
                self._feedback.pushInfo(sentence(", ".join(where)))

    def _let_go_of_tables(self) -> None:
        """Close the layers that show tables under the names they were written under."""
        store = self._inputs.context.temporaryLayerStore()
        for layer in list(store.mapLayers().values()):
            if any(place.new in layer.source() for place in self._tables.values()):
                store.removeMapLayer(layer)

    def _hold(self, destinations: Mapping[str, object], stack: ExitStack) -> None:
        """One run at a time: hold every target until the end."""
        held: set[tuple[str, str]] = set()
        for name, destination in destinations.items():
            file = destination.file if isinstance(destination, DatabaseTable) else destination
            if not isinstance(file, Path):
                continue
            # A link in the place of a file is refused; a table goes into the database that a link leads to.
            target = file.resolve() if isinstance(destination, DatabaseTable) else file.parent.resolve() / file.name
            stem = (str(target.parent), target.stem.casefold())
            if stem not in held:
                sure = stack.enter_context(one_run_on(target, name))
                held.add(stem)
                clear_dead(target.parent)
                if sure:
                    tidy_up(target)
                    if self._inputs.definition(name).type() == "folderDestination":
                        tidy_up_folder(target)

    def _settled(self, name: str, destination: Path | str | DatabaseTable, stack: ExitStack) -> Path | str:
        if not isinstance(destination, DatabaseTable):
            return destination
        # A table of a database is written under a name of its own, and gets the one asked for when all is in place.
        file = destination.file
        place = PostgresPlace(name, destination) if file is None else SqlitePlace(name, destination, file)
        self._tables[name] = place
        for warning in stack.enter_context(place.held()):
            self._feedback.pushWarning(warning)
        stack.callback(self._drop, place)
        stack.callback(self._let_go_of_tables)
        staged = with_destination(self._inputs.parameters.get(name), place.staging)
        self._inputs = self._inputs.with_parameters(**{name: staged})
        return place.staging

    def _drop(self, place: TablePlace) -> None:
        for left in place.discard():
            self._feedback.pushWarning(left)

    def _stage(self, name: str, destination: Path) -> Path:
        folder = self._staging / name
        DISK.make_folder(folder)
        # A .dbf is a Shapefile without shapes, which is written as one.
        file = folder / (destination.with_suffix(".shp") if destination.suffix == ".dbf" else destination).name
        self._files[name] = (file, destination)
        return file

    def _note(self, file: Path, destination: Path, title: str) -> None:
        """Say beside an internal file that it is internal, where its format has no place for it."""
        if kind_of_output(title) == INTERNAL and not says_itself(destination):
            words = NOTE.format(name=destination.name, title=title)
            write_text(file.with_name(file.stem + note_on(destination)[len(destination.stem) :]), words)

    def _to_sink(self, name: str, table: Table, check: SecondCount | None, progress: Progress) -> None:
        place = self._tables.get(name)
        if place is not None:
            place.begun = True
        with noted(self._inputs.context, self._made):
            made = None if place is None else place.close_to_others
            sink, identifier = fill_sink(self._inputs, name, table, made, part(progress, 0.0, WRITTEN))
        if sink is None:
            raise VbasError.saying("{name} could not be created: check where it is to be written.", name=name)
        with silent_gdal():  # QGIS asks for a spatial index of what has no shapes; what is in the table is counted
            del sink
        layer = QgsProcessingUtils.mapLayerFromString(identifier, self._inputs.context)
        try:
            check_layer(name, layer, table, check, part(progress, WRITTEN, 1.0))
        except VbasError:
            if layer is not None:
                layer.dataProvider().truncate()
            raise
        if isinstance(layer, QgsVectorLayer):
            self._announcing.show(layer, name)
        if name not in self._tables:  # they are dressed under their final name
            self._announcing.dress(name, identifier)
        self._results[name] = identifier


def _warning_of_shapes(name: str, file: Path, table: Table) -> str:
    """What to say of a table whose shapes the file does not hold; empty where nothing is lost.

    Raises InputError where nothing would be left of it.
    """
    suffix = file.suffix.lower()
    if table.geometry == "none" or suffix not in WITHOUT_SHAPES:
        return ""
    if not table.fields:
        raise InputError.saying(
            "{name} is nothing but shapes, which a {suffix} file does not hold: give a name that ends in .gpkg, "
            ".geojson or .shp.",
            name=name,
            suffix=suffix,
        )
    return tr(
        "{name}: a {suffix} file holds no shapes, so its rows are written without. For a map give a name that ends in "
        ".gpkg, .geojson or .shp.",
        name=name,
        suffix=suffix,
    )


def _recount(name: str, table: Table, check: SecondCount | None, file: Path) -> None:
    with in_one_sentence(name):
        check_file(name, file, table, check)
