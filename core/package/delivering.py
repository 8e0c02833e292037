"""A release delivered without QGIS: its folder, pages and its entry in a register, all in their place or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from ..errors import InputError
from ..language import tr
from ..publish.delivery import Place, deliver
from ..publish.file_place import FilePlace
from ..publish.files import DISK
from ..publish.folders import clear_dead, one_run_on, temporary_folder
from ..publish.leftovers import tidy_up
from .folder import recount
from .place import FolderPlace, refuse_other_folders, tidy_up_folder


def deliver_release(
    folder: tuple[str, Path] | None,
    write: Callable[[Path], None],
    pages: Mapping[str, tuple[Path, Callable[[], str]]],
    first: Callable[[], Place] | None = None,
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

    Returns
    -------
    list of str
        Warnings.

    Raises
    ------
    VbasError
        Where one cannot be put in its place: then none is.
    """
    with ExitStack() as stack:
        targets = {**({folder[0]: folder[1]} if folder else {}), **{name: path for name, (path, _) in pages.items()}}
        held: set[tuple[str, str]] = set()
        for name, path in targets.items():
            target = DISK.real(path.parent) / path.name
            if not DISK.is_folder(target.parent):
                raise InputError(
                    tr("{name}: there is no folder {parent}: make it first.", name=name, parent=target.parent)
                )
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
        return deliver(places)
