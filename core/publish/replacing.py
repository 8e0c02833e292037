"""Whether a file may be replaced, asked before any work is done for what would take its place."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

from ..errors import InputError
from ..language import tr


def refuse_if_not_replaceable(file: Path, name: str) -> None:
    """Raise InputError where a file is there and cannot be replaced, such as one that is open elsewhere on Windows.

    name : of the output, for the message. The file is neither opened nor changed.
    """
    try:
        _ask(file)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(
            tr(
                "{name}: {file} cannot be replaced now ({reason}): close it in other programs and take its layer out "
                "of the project, or choose another place.",
                name=name,
                file=file,
                reason=error.strerror,
            )
        ) from error


def _ask(file: Path) -> None:
    """Raise OSError where a file cannot be replaced."""
    found = os.lstat(file)
    # A rename onto itself changes nothing; Windows refuses it for a file that is open elsewhere, as it would later.
    os.rename(file, file)  # noqa: PTH104
    folder = os.lstat(file.parent)
    if sys.platform == "win32" or not folder.st_mode & stat.S_ISVTX:
        return
    if os.geteuid() not in (0, found.st_uid, folder.st_uid):  # where only owners remove and rename files
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
