"""Files that are removed, and what is said where they stay."""

from __future__ import annotations

from pathlib import Path

from ..language import tr
from .files import FileSystem


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
