"""The toolbox where the forms cannot be loaded: the same names, which say what is missing and how to get it."""

from __future__ import annotations

import importlib
import re
import sys
from html import escape

from qgis.core import QgsProcessingContext, QgsProcessingException, QgsProcessingFeedback

from ..core.language import tr
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
        return f"<p><b>{escape(self.why)}</b></p>"

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
    else:
        how = tr("install VBAS again, and start QGIS again")
    return tr(
        "VBAS could not be loaded ({kind}: {said}): {how}.",
        kind=type(error).__name__,
        said=" ".join(str(error).split()),
        how=how,
    )


OF_MEMORY = re.compile("allocate|memory|failed to map")  # as the system's loader says it
NEEDED = {"numpy": (1, 20), "scipy": (1, 6), "shapely": (2, 0)}


def missing_packages() -> list[str]:
    """Names of the packages that are absent or too old, with the version needed."""
    lacking = []
    for name, oldest in NEEDED.items():
        try:
            version = str(getattr(importlib.import_module(name), "__version__", ""))
        except (ImportError, OSError):  # shapely 1.8 raises OSError where its library is missing
            version = ""
        numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
        if numbers < oldest:
            lacking.append(tr("{name} {version} or later", name=name, version=".".join(map(str, oldest))))
    return lacking


def missing_message() -> str:
    """One sentence that says what is missing and how to get it on this platform; empty where all is there."""
    lacking = missing_packages()
    if not lacking:
        return ""
    names = " ".join(name.split()[0] for name in lacking)
    if sys.platform == "win32":
        how = tr(
            "open the OSGeo4W Shell of your QGIS and run: python -m pip install --user --upgrade {names}", names=names
        )
    elif sys.platform == "darwin":
        how = tr(
            "open a terminal and run: /Applications/QGIS.app/Contents/MacOS/bin/python3 "
            "-m pip install --user --upgrade {names}",
            names=names,
        )
    else:
        packages = " ".join(f"python3-{name}" for name in names.split())
        how = tr(
            "install your distribution's {packages}; where that is too old (Debian 12), make a virtual environment "
            "with --system-site-packages, install {names} there and start QGIS with PYTHONPATH set to it",
            packages=packages,
            names=names,
        )
    return tr(
        "VBAS needs {lacking}, which this QGIS does not have: {how}. Or let the plugin QPIP install what "
        "requirements.txt of VBAS asks for. Then restart QGIS.",
        lacking=", ".join(lacking),
        how=how,
    )
