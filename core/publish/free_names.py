"""Names given to finished files, of which none may take the place of what came there meanwhile."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from .files import DISK, FileSystem


def give_free_name(staged: Path, final: Path, files: FileSystem = DISK) -> bool:
    """Give a file its name; False where that is taken. Raises OSError where it cannot be had.

    A file system of a network may do what it is asked and not be able to say so: what is there is looked at.
    """
    written, problem = files.status_behind(staged), OSError()
    for name_it in (files.link, files.rename):  # unlike a rename, a link never replaces what came there meanwhile
        try:
            name_it(staged, final)
        except OSError as error:  # a file system without links, or an answer that is lost
            problem = error
        else:
            break
        with suppress(OSError):
            if os.path.samestat(files.status(final), written):
                break
        if files.is_there(final):
            return False
    else:
        raise problem
    with suppress(OSError):  # a second name of what has its name
        files.remove(staged, missing_ok=True)
    return True
