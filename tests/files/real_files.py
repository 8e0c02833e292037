"""Deliveries of files and folders into a real folder, with a fault at each call of the door.

They are those of `deliveries`, which runs them in memory. Here the bytes lie on whatever file system the folder is of,
and what it does by itself is not simulated: a name, a link, a lock or a time is what that system makes of it.
"""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

from . import databases, deliveries
from .databases import Folder, calls_of, counted, dead_in_silence
from .memory import FAULTS, Rules

KINDS = deliveries.KINDS


def outcome(rules: Rules, kind: str, fault: str, at: int) -> tuple[bool, list[str]]:
    """One delivery with one fault: whether the fault happened, and what is wrong with what was left."""

    def made(rules: Rules) -> Folder:
        files = Folder(rules, Path(root), calls_of(True))
        files.out.mkdir()
        return files

    with tempfile.TemporaryDirectory(prefix="files-", dir=databases.beneath) as root, dead_in_silence():
        found = deliveries.outcome(rules, kind, fault, at, made)
        gc.collect()  # what the process had open
    return found


def matrix(every_rule, kinds=tuple(KINDS), faults=FAULTS, step=1, start=1):
    """All faults at all calls (or each step-th); counts by rules, kind and fault, and what is wrong."""
    return counted(outcome, every_rule, kinds, faults, step, start)
