"""Python packages of the plugin's own, in the user's profile of QGIS: no rights are needed, nothing of QGIS changes.

They lie in python/vbas_packages/3.12 of the profile: a folder for each version of Python, since what is compiled for
one does not load in another. It stands last on the path, so that what QGIS brings is found first, and it is filled only
where somebody asks for it. Removing the folder takes all of it back.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .errors import InputError
from .publish.files import DISK

FOLDER = "vbas_packages"
COMING, GONE = ".new-", ".old-"  # what a killed run left begins with one of these


def folder_of_packages(profile: str | Path) -> Path:
    """Where the packages for this Python lie; profile : the folder of the user's profile of QGIS."""
    return Path(profile, "python", FOLDER, f"{sys.version_info[0]}.{sys.version_info[1]}")


def find_packages(profile: str | Path) -> None:
    """Let Python find the packages, behind all others; nothing where there are none."""
    folder = folder_of_packages(profile)
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.append(str(folder))


def room_for(profile: str | Path) -> Path:
    """A new empty folder beside the packages, which pip fills. Raises InputError where none can be made."""
    folder = folder_of_packages(profile)
    try:
        for above in reversed((folder, *folder.parents)):
            if not DISK.is_folder(above):
                DISK.make_folder(above)
        for left in _left(folder):
            DISK.remove_tree(left, as_far_as_it_goes=True)
        return DISK.new_folder(folder, COMING)
    except OSError as error:
        raise _refused(folder, error) from error


def put_in_place(coming: Path) -> list[str]:
    """Move what pip has put into `coming` to the packages; of what was there before, the new is kept.

    A numpy that came along is left out: QGIS has the same. Returns the names. Raises InputError where something cannot
    be moved, such as what this QGIS has loaded on Windows.
    """
    folder = coming.parent
    names = [name for name in DISK.names(coming) if not name.startswith("numpy") and name != "bin"]
    try:
        for name in names:
            if DISK.is_there(folder / name):
                gone = DISK.new_folder(folder, GONE)
                DISK.rename(folder / name, gone / name)
            DISK.rename(coming / name, folder / name)
    except OSError as error:
        raise _refused(folder, error) from error
    for left in _left(folder):
        DISK.remove_tree(left, as_far_as_it_goes=True)
    return names


def give_up(coming: Path) -> None:
    """Remove what pip has begun."""
    DISK.remove_tree(coming, as_far_as_it_goes=True)


def _left(folder: Path) -> list[Path]:
    return [folder / name for name in DISK.names(folder) if name.startswith((COMING, GONE))]


def _refused(folder: Path, error: OSError) -> InputError:
    return InputError.saying(
        "Packages cannot be put into “{folder}” ({said}): close other windows of QGIS, and look whether you may write "
        "there.",
        folder=folder,
        said=error.strerror or str(error),
    )
