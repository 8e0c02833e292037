"""GDAL as this plugin calls it: what fails goes to its handlers and gives no result, whatever others have set."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType

from osgeo import gdal, ogr, osr

from ...core.language import tr

PYTHON_OF_GDAL = Path(gdal.__file__).resolve().parent
MODULES = (gdal, ogr, osr)
JOURNAL_OF_SQLITE = "OGR_SQLITE_JOURNAL"
WAITING_OF_SQLITE = "OGR_SQLITE_SYNCHRONOUS"


@contextmanager
def told_to_handlers() -> Iterator[None]:
    """Have GDAL tell its handlers what fails, as where QGIS calls it, and not raise it in Python; also a decorator.

    Another plugin may have called `gdal.UseExceptions`, which counts for all of QGIS. From GDAL 3.7 on the way is set
    for this thread alone, in earlier ones for all until the block ends: keep it short.
    """
    with ExitStack() as stack:
        if hasattr(gdal, "ExceptionMgr"):
            for module in MODULES:
                stack.enter_context(module.ExceptionMgr(useExceptions=False))
        else:
            for module in _switched_off():
                stack.callback(module.UseExceptions)
        yield


def _switched_off() -> list[ModuleType]:
    """The modules that no longer raise, in the order that they were switched off; others that did raise still do.

    GDAL before 3.7 lets go only of what was switched on last, and of nothing while another handler lies above it.
    """
    raising, off = [module for module in MODULES if module.GetUseExceptions()], []
    for _ in range(len(raising)):
        for module in [other for other in raising if other not in off]:
            with suppress(RuntimeError):
                module.DontUseExceptions()
                off.append(module)
    return off


@contextmanager
def silent_gdal() -> Iterator[None]:
    """Have GDAL print nothing meanwhile: what QGIS asks it may fail without harm, and what matters QGIS reports."""
    with told_to_handlers():
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        try:
            yield
        finally:
            gdal.PopErrorHandler()


@contextmanager
def without_journals() -> Iterator[None]:
    """Have GDAL write and read files of SQLite without a log meanwhile, whatever its user has set; for staged files."""
    before = gdal.GetConfigOption(JOURNAL_OF_SQLITE)
    if before == os.environ.get(JOURNAL_OF_SQLITE):  # it was not set here
        before = None
    gdal.SetConfigOption(JOURNAL_OF_SQLITE, "DELETE")
    try:
        with _without_waiting():
            yield
    finally:
        gdal.SetConfigOption(JOURNAL_OF_SQLITE, before)


@contextmanager
def _without_waiting() -> Iterator[None]:
    """Have SQLite not wait for the disk where GDAL opens it in this thread.

    What it writes here is counted, and waited for when it is put in its place. Files that other threads open meanwhile
    are the user's.
    """
    if not hasattr(gdal, "SetThreadLocalConfigOption"):
        yield
        return
    before = gdal.GetThreadLocalConfigOption(WAITING_OF_SQLITE)
    gdal.SetThreadLocalConfigOption(WAITING_OF_SQLITE, "OFF")
    try:
        yield
    finally:
        gdal.SetThreadLocalConfigOption(WAITING_OF_SQLITE, before)


def raised_by_gdal(error: Exception) -> bool:
    """Whether an exception comes from GDAL's own Python."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = "" if trace is None else trace.tb_frame.f_code.co_filename
    return isinstance(error, RuntimeError) and PYTHON_OF_GDAL in Path(file).resolve().parents


def sentence_of_gdal(error: Exception) -> str:
    """What is told the user of such an exception."""
    return tr(
        "GDAL could not go on with a file: “{said}”. Nothing was written. Look whether the file is there and whole, "
        "whether another program has it open, and whether the disk has room.",
        said=" ".join(str(error).split()),
    )
