"""A release delivered without QGIS: its folder, pages and its entry in a register, all in their place or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from ..errors import InputError
from ..publish.delivery import Place, deliver
from ..publish.file_place import FilePlace
from ..publish.files import DISK
from ..publish.folders import clear_dead, one_run_on, temporary_folder
from ..publish.leftovers import tidy_up
from ..publish.names import check_file_name
from ..publish.occupied import Occupied
from ..publish.replacing import check_nameable, check_what_is_there
from .folder import recount
from .place import FolderPlace, refuse_other_folders, tidy_up_folder


def deliver_release(
    folder: tuple[str, Path] | None,
    write: Callable[[Path], None],
    pages: Mapping[str, tuple[Path, Callable[[], str]]],
    first: Callable[[], Place] | None = None,
    reads: Mapping[str, Path] | None = None,
    last: Sequence[Callable[[], None]] = (),
) -> list[str]:
    """Write a release's folder and pages in a staging folder, and put all in their place, or leave all as it was.

    Parameters
    ----------
    folder : (str, Path), optional
        The name of the output, for messages, and where it goes.
    write : callable
        Fills the folder that it is given.
    pages : mapping of str to (Path, callable)
        By the name of the output, where a page goes and what it says.
    first : callable, optional
        Gives what is put before all files, such as the entry of a register.
    reads : mapping of str to Path, optional
        Files that the release was made of, such as its register, by the names of the inputs: none is replaced.
    last : sequence of callable
        Called when all is in its place; from then on nothing is undone.

    Returns
    -------
    list of str
        Warnings.

    Raises
    ------
    VbasError
        Where one cannot be put in its place: then none is.
    """
    to = {name: path for name, (path, _) in pages.items()}
    check_places(folder, to, reads or {})
    with ExitStack() as stack:
        targets = {**({folder[0]: folder[1]} if folder else {}), **to}
        held: set[tuple[str, str]] = set()
        for name, path in targets.items():
            target = DISK.real(path.parent) / path.name
            stem = (str(target.parent), target.stem.casefold())
            if stem in held:
                continue
            held.add(stem)
            sure = stack.enter_context(one_run_on(target, name))
            clear_dead(target.parent)
            if sure:
                tidy_up(target)
                tidy_up_folder(target)
        if folder:
            refuse_other_folders(*folder)
        staging = stack.enter_context(temporary_folder())
        places: list[Place] = []
        if first is not None:  # pages and description name it
            entry = first()
            stack.callback(entry.discard)
            places.append(entry)
        for name, (path, text) in pages.items():
            own = staging / name
            DISK.make_folder(own)
            staged = own / path.name
            DISK.write(staged, text().encode("utf-8"))
            places.append(FilePlace(name, staged, path))
        if folder:
            name, path = folder
            staged = staging / name
            DISK.make_folder(staged)
            write(staged)
            places.append(FolderPlace(name, staged, DISK.real(path.parent) / path.name, recount))
        return deliver(places, last=last)


def check_places(folder: tuple[str, Path] | None, pages: Mapping[str, Path], reads: Mapping[str, Path]) -> None:
    """Raise InputError where a release's folder or pages cannot be had, would take the place of what is no release of
    before, or of what is read, or would be in one place.

    folder : the name of the output, and where it goes; pages : where they go, by the names of the outputs; reads :
    files that are read, by the names of the inputs
    """
    occupied = Occupied()
    for name, path in reads.items():
        occupied.read_file(name, path)
    for name, path in [*pages.items(), *([folder] if folder else [])]:
        parent = DISK.real(path.parent)
        if not DISK.is_folder(parent):
            raise InputError.saying("{name}: there is no folder {parent}: make it first.", name=name, parent=parent)
    for name, path in pages.items():
        page = path.absolute()
        check_file_name(name, page.name, str(path))
        check_nameable(name, page, [page])
        occupied.add_file(name, page, [page])
        check_what_is_there(name, page, [page])
    if folder:
        name, place = folder[0], folder[1].absolute()
        check_file_name(name, place.name, str(folder[1]))
        refuse_other_folders(name, place)
        there = [place / file for file in DISK.names(place)] if DISK.is_folder(place) else []
        occupied.add_file(name, place, [place, *there])
