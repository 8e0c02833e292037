"""The toolbox where the forms cannot be loaded: the same names, which say what is missing and how to get it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from importlib import import_module
from traceback import walk_tb

from qgis.core import QgsProcessingContext, QgsProcessingException, QgsProcessingFeedback

from ..core.installing import NEEDED, lines_for, this_one, version_of
from ..core.language import all_of, tr
from .named import NamedAlgorithm


class Unavailable(NamedAlgorithm):
    """An algorithm whose form cannot be loaded, and why: without parameters, and not to be run."""

    def __init__(self, ID: str, why: str) -> None:
        super().__init__()
        self.ID = ID
        self.why = why

    def createInstance(self) -> Unavailable:
        return type(self)(self.ID, self.why)

    def initAlgorithm(self, configuration: dict[str, object] | None = None) -> None:
        """There is nothing to declare."""

    def shortHelpString(self) -> str:
        why, _, lines = self.why.partition("\n")
        return f"<p><b>{escape(why)}</b></p>" + (f"<pre>{escape(lines)}</pre>" if lines else "")

    def canExecute(self) -> tuple[bool, str]:
        return False, self.why

    def checkParameterValues(self, parameters: dict[str, object], context: QgsProcessingContext) -> tuple[bool, str]:
        # The dialog of QGIS 3.22 does not ask canExecute: it opens, and this is what its Run button asks.
        return self.canExecute()

    def processAlgorithm(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        # Headless QGIS 3.22 does not ask canExecute.
        raise QgsProcessingException(self.why)


def not_loaded(error: Exception) -> str:
    """One sentence of what kept the forms from being loaded, where no package is missing."""
    if isinstance(error, MemoryError) or OF_MEMORY.search(str(error)):
        how = tr("close other programs, or give QGIS more memory; then start it again")
    elif package := _of_others(error):
        how = tr(
            "install the Python package {package} again, in a version that goes with this Python, and start QGIS again",
            package=package,
        )
    else:
        how = tr("install VBAS again, and start QGIS again")
    return tr(
        "VBAS could not be loaded ({kind}: {said}): {how}.",
        kind=type(error).__name__,
        said=" ".join(str(error).split()),
        how=how,
    )


def _of_others(error: Exception) -> str:
    """The package that failed, where it is none of this plugin; empty where it is."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        module = error.name
    else:
        modules = [str(frame.f_globals.get("__name__", "")) for frame, _ in walk_tb(error.__traceback__)]
        module = next((name for name in reversed(modules) if not name.startswith("importlib")), "")
    package = module.partition(".")[0]
    return "" if package == __name__.partition(".")[0] else package


OF_MEMORY = re.compile("allocate|memory|failed to map")  # as the system's loader says it
UNKNOWN = "0+"  # as versions begin that were not known when a package was built


def missing_packages() -> list[str]:
    """Those of the packages needed that are absent or too old, or do not go with this QGIS."""
    load_shapely()
    lacking = [name for name in NEEDED if _too_old(name)]
    if "shapely" not in lacking and not works_here():
        lacking.append("shapely")
    return lacking


def _too_old(name: str) -> bool:
    """Whether a package is absent or too old. Debian's shapely 2.2 calls itself “0+unknown”: there it is asked for what
    2.0 brought."""
    version = version_of(name)
    if name == "shapely" and version.startswith(UNKNOWN):
        return not hasattr(import_module(name), "to_wkb")
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < NEEDED[name]


def _wanted(name: str) -> str:
    oldest, there = NEEDED[name], version_of(name)
    if _too_old(name):
        return tr("{name} {version} or later", name=name, version=".".join(map(str, oldest)))
    return tr(
        "a {name} whose GEOS goes with that of QGIS (another plugin has loaded {version})", name=name, version=there
    )


def missing_message() -> str:
    """What is missing, and the lines that install it in this QGIS; empty where all is there."""
    missing = missing_packages()
    if not missing:
        return ""
    wanted, where = all_of(map(_wanted, missing)), this_one()
    if where.platform == "win32":
        message = tr(
            "VBAS needs {wanted}, which this QGIS does not have. Copy this into the OSGeo4W Shell of your QGIS (Start "
            "menu), then start QGIS again:",
            wanted=wanted,
        )
    else:
        message = tr(
            "VBAS needs {wanted}, which this QGIS does not have. Copy this into a terminal, then start QGIS again:",
            wanted=wanted,
        )
    # What is to be copied is last, on lines of its own: some dialogs of QGIS show all as one line.
    return f"{message}\n{lines_for(missing, where)}"


COMPILED = ("shapely", "shapely.geometry", "shapely.lib", "shapely._geos", "shapely._geometry_helpers")


def load_shapely() -> None:
    """Load all that is compiled in shapely, bound to its own GEOS; what is absent or broken stays for who needs it."""
    with suppress(ImportError, OSError):  # shapely 1.8 raises OSError where its library is missing
        import_module("numpy")  # shapely would load it, and it has nothing of its own to be bound to
        with _bound_deeply():
            for name in COMPILED:
                import_module(name)


def works_here() -> bool:
    """Whether shapely writes shapes in this process: not where another plugin loaded it first, bound to QGIS's GEOS."""
    import shapely

    try:
        return bool(shapely.to_wkb(shapely.box(0, 0, 1, 1)))
    except shapely.GEOSException:
        return False


@contextmanager
def _bound_deeply() -> Iterator[None]:
    if sys.platform != "linux":  # elsewhere a library's own are taken anyway
        yield
        return
    before = sys.getdlopenflags()
    sys.setdlopenflags(before | getattr(os, "RTLD_DEEPBIND", 0))  # which not every Linux has
    try:
        yield
    finally:
        sys.setdlopenflags(before)
