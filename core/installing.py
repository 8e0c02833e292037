"""The lines that install what is missing, for the Python that runs this: what errors, dialogs and the guide tell.

No line replaces what QGIS came with. shapely is installed alone; whatever else needs numpy is chosen to go with the
numpy that is there. In the lines that a dialog shows there is no “<”, which it would take for markup.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

from .dataclass import dataclass

NEWER_PYTHON = (3, 12)  # from which on distributions have shapely 2
NEEDED = {"numpy": (1, 23), "scipy": (1, 9), "shapely": (2, 0)}  # the oldest
OLD_PYTHON = (3, 11)  # before which their numpy and scipy are too old: Ubuntu 22.04
NEWEST_NUMPY_1 = "numpy==1.26.*"  # which goes with what was built for any numpy 1
PYARROW_OF_NUMPY_2 = 26  # the first that needs numpy 2
# The last scipy that goes with numpy 1.26 goes with numpy 2 as well; with those before 1.26 an earlier one.
SCIPY_OF_NUMPY_1, SCIPY_BEFORE_NUMPY_1_26 = "scipy<1.18", "scipy<1.16"


@dataclass(frozen=True)
class Surroundings:
    """The Python that lacks something, and the system around it.

    program : how a terminal calls that Python; numpy : its version there, empty where there is none
    apt : the Python is the distribution's, which apt installs for; managed : it refuses pip (PEP 668)
    isolated : it is a virtual environment, which has no packages of a user
    flatpak : QGIS is Flatpak's, which a terminal enters by a command of its own
    """

    platform: str
    python: tuple[int, int]
    program: str = "python3"
    numpy: str = ""
    apt: bool = False
    managed: bool = False
    isolated: bool = False
    flatpak: bool = False


WINDOWS = Surroundings("win32", (3, 12), "python")  # in the OSGeo4W Shell
# pip is in what Flatpak calls the developers' runtime.
FLATPAK = Surroundings("linux", (3, 13), "flatpak run --devel --command=python3 org.qgis.qgis", flatpak=True)
INSIDE_FLATPAK = Path("/.flatpak-info")  # which stands in every Flatpak, and nowhere else
MACOS = Surroundings("darwin", (3, 12), "/Applications/QGIS.app/Contents/MacOS/bin/python3")


def this_one() -> Surroundings:
    """The Python that runs this."""
    isolated = sys.prefix != sys.base_prefix
    flatpak = INSIDE_FLATPAK.is_file()
    return Surroundings(
        sys.platform,
        sys.version_info[:2],
        FLATPAK.program if flatpak else _program(),
        version_of("numpy"),
        apt=not isolated and sys.prefix == "/usr" and shutil.which("apt") is not None,
        managed=not isolated and Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").exists(),
        isolated=isolated,
        flatpak=flatpak,
    )


def version_of(name: str) -> str:
    """The version of a package, empty where it cannot be loaded."""
    try:
        return str(getattr(import_module(name), "__version__", ""))
    except (ImportError, OSError):  # shapely 1.8 raises OSError where its library is missing
        return ""


def is_there(module: str) -> bool:
    """Whether a package is there and goes with the numpy there is, without loading it; of those that are looked for
    pyarrow alone may not, and does not ask pip for the numpy that it needs."""
    if find_spec(module) is None:
        return False
    if module != "pyarrow" or not _has_numpy_1():
        return True
    try:
        return int(metadata.version(module).partition(".")[0]) < PYARROW_OF_NUMPY_2
    except (metadata.PackageNotFoundError, ValueError):
        return True


def pyarrow_needed() -> str:
    """What pip is asked for to have a pyarrow that goes with the numpy there is."""
    return f"pyarrow>=14,<{PYARROW_OF_NUMPY_2}" if _has_numpy_1() else "pyarrow>=14"


def _has_numpy_1() -> bool:
    return version_of("numpy").startswith("1.")


def lines_for(missing: Sequence[str], where: Surroundings) -> str:
    """The lines that install what is missing of numpy, scipy and shapely: the distribution's where they will do."""
    since = {"shapely": NEWER_PYTHON}
    by_apt = [name for name in missing if where.apt and where.python >= since.get(name, OLD_PYTHON)]
    packages = [f"python3-{name}" for name in by_apt]
    by_pip = [_needed(name, where) for name in missing if name not in by_apt]
    return pip_lines(by_pip, where, packages) if by_pip else _apt(packages)


def pip_lines(requirements: Sequence[str], where: Surroundings, packages: Sequence[str] = ()) -> str:
    """The lines that install `packages` of the distribution, and requirements with pip beside the numpy there is."""
    how = ["install"]
    if not where.isolated:
        how.append("--user")
    if where.managed:
        how.append("--break-system-packages")
    wanted = list(requirements)
    if all(package.startswith("shapely") for package in wanted):
        how.append("--no-deps")  # all it needs is numpy
    else:
        wanted = [*_numpy_there(wanted, where), *wanted]
    quoted = " ".join(f'"{package}"' for package in wanted)
    line = f"{where.program} -m pip {' '.join(how)} {quoted}"
    # Lines that are still right where a dialog shows them as one.
    return f"{_apt([*packages, 'python3-pip'])} &&\n{line}" if where.apt else line


def into_folder(requirements: Sequence[str], folder: Path, where: Surroundings) -> list[str]:
    """What Python is called with so that pip puts requirements into a folder, and changes nothing else.

    Nothing of what is fetched is run: only built packages are taken.
    """
    how = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--only-binary=:all:"]
    return [*how, "--target", str(folder), *_beside_numpy(requirements, where)]


def folder_line(requirements: Sequence[str], folder: Path, where: Surroundings) -> str:
    """The line that does the same as `into_folder`, for a terminal; with “<” where a requirement has it."""
    words = into_folder(requirements, folder, where)
    if where.platform == "win32":
        return " ".join([where.program, *(f'"{word}"' if re.search(r"[\s<>=,*]", word) else word for word in words)])
    return f"{where.program} {shlex.join(words)}"


def for_folder(missing: Sequence[str], where: Surroundings) -> list[str]:
    """What pip is asked for, of numpy, scipy and shapely, to have them in a folder beside what is there."""
    return [_needed(name, where) for name in missing]


def pip_line(where: Surroundings) -> str:
    """The line that gets pip itself, where it is missing."""
    if where.flatpak:
        return "flatpak install --user org.kde.Sdk"
    return _apt(["python3-pip"]) if where.apt else f"{where.program} -m ensurepip --user"


def _beside_numpy(requirements: Sequence[str], where: Surroundings) -> list[str]:
    names = {re.split("[=<>]", requirement)[0] for requirement in requirements}
    if names <= {"shapely", "scipy"}:  # all they need is numpy
        return ["--no-deps", *requirements]
    return [*_numpy_there(requirements, where), *requirements]


def _numpy_there(requirements: Sequence[str], where: Surroundings) -> list[str]:
    """The numpy that is there, to stay, unless it is among what is asked for."""
    asked = any(requirement.startswith("numpy") for requirement in requirements)
    return [] if asked or not where.numpy else [f"numpy=={where.numpy}"]


def _apt(packages: Sequence[str]) -> str:
    return " ".join(("sudo", "apt", "install", *packages))


def _needed(name: str, where: Surroundings) -> str:
    # shapely 2.0 brings GEOS 3.11, that of Debian 12's QGIS.
    if name == "shapely":
        return "shapely==2.0.*" if where.python < NEWER_PYTHON else "shapely==2.*"
    if name == "numpy" and where.numpy.startswith("1."):
        return NEWEST_NUMPY_1
    if name == "scipy" and where.apt and where.python < OLD_PYTHON:
        return "scipy>={}.{}".format(*NEEDED[name])  # else pip is content with the distribution's
    if name == "scipy" and re.match(r"1\.([0-9]|1[0-9]|2[0-5])\b", where.numpy):
        return SCIPY_BEFORE_NUMPY_1_26
    if name == "scipy" and (not where.numpy or where.numpy.startswith("1.")):
        return SCIPY_OF_NUMPY_1
    return name


def interpreter() -> str:
    """The file of this Python, empty where none is found: within QGIS `sys.executable` may be QGIS, or whatever Python
    a terminal has first on its path."""
    beside = Path(sys.executable or sys.prefix).parent
    if sys.platform == "win32":
        places = [beside / "python.exe", Path(sys.prefix, "python.exe")]
    else:
        places = [Path(sys.prefix, "bin", "python3"), beside / "python3", Path(sys.prefix, "python3")]
    return next((str(place) for place in places if place.is_file()), "")


def _program() -> str:
    """How a terminal calls this Python."""
    if sys.platform == "win32":
        return WINDOWS.program
    there = interpreter()
    if there:
        return shlex.quote(there)
    return MACOS.program if sys.platform == "darwin" else "python3"
