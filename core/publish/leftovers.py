"""Hidden files beside a target: named so that a later run on it can tell what a killed one left, and tidy up."""

from __future__ import annotations

import hashlib
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from ..language import tr
from .files import DISK, FileSystem

NEW, OLD = "new", "old"


def hidden_beside(file: Path, target: Path, role: str) -> Path:
    """A name beside a file that nobody can predict; target : the output that the file belongs to; role : NEW or OLD."""
    token = secrets.token_hex(8)
    if not file.name.startswith(target.stem):
        return file.with_name(f".vbas-{token}")
    return file.with_name(f"{_named_for(target)}{token}.{role}{file.name[len(target.stem) :]}")


def tidy_up(target: Path, files: FileSystem = DISK) -> None:
    """Put back what a killed run was replacing, if it had not delivered all files of the target; else remove it.

    What was to come is removed. The target must be held, see `one_run_on`. A file that is new, where none was before,
    is left: it was counted before it was put there.
    """
    leftovers = left_beside(target, files)
    unfinished = any(role == NEW for _, role, _ in leftovers)
    # What was to come goes last: as long as it is there, a run that is killed here is tidied up after in the same way.
    for path, role, file in sorted(leftovers, key=lambda leftover: leftover[1] == NEW):
        with suppress(OSError):
            there = files.is_there(file)
            if role == OLD and unfinished and not (there and files.are_same(path, file)):
                files.replace(path, file)
            else:
                files.remove(path)


def left_beside(target: Path, files: FileSystem) -> list[tuple[Path, str, Path]]:
    """Hidden file, role, and the file that it is for; only plain files of this user, or of the target's owner."""
    form = re.compile(re.escape(_named_for(target)) + rf"[0-9a-f]{{16}}\.({NEW}|{OLD})(.*)", re.DOTALL)
    user = files.user()
    owners = {user}
    with suppress(OSError):
        owners.add(files.status(target).st_uid)
    leftovers = []
    with suppress(OSError):
        for name in files.names(target.parent):
            named = form.fullmatch(name)
            if named is None:
                continue
            status = files.status(target.with_name(name))
            if stat.S_ISREG(status.st_mode) and (user is None or status.st_uid in owners):
                leftovers.append((target.with_name(name), named[1], target.with_name(target.stem + named[2])))
    return leftovers


def _named_for(target: Path) -> str:
    return f".vbas-{hashlib.sha256(target.stem.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}-"


def removed(file: Path, files: FileSystem) -> list[str]:
    """Remove a file; a sentence where it stays."""
    try:
        files.remove(file, missing_ok=True)
    except OSError as error:
        return [stays(file, error)]
    return []


def stays(file: Path, error: OSError) -> str:
    """The sentence on what is in its place and ought not to be."""
    return tr(
        "{target} was already written and could not be removed ({reason}): remove it.",
        target=file,
        reason=error.strerror,
    )


def not_put_back(target: Path, kept: Path, error: OSError) -> str:
    """The sentence on what was there before, and could not be put back."""
    return tr(
        "{target} could not be put back ({reason}): what it held is in {kept}, rename it.",
        target=target,
        reason=error.strerror,
        kept=kept,
    )


def still_kept(target: Path, kept: Path, error: OSError) -> str:
    """The sentence on what was there before, and could not be removed."""
    return tr(
        "What {target} held before is still in {kept} ({reason}): remove it.",
        target=target,
        kept=kept,
        reason=error.strerror,
    )
