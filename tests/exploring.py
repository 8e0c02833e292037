"""How much a test tries: a part in every run, all of it with VBAS_EXPLORE=1."""

from __future__ import annotations

import os
from typing import TypeVar

EXPLORES = bool(os.environ.get("VBAS_EXPLORE"))
T = TypeVar("T")


def tried(in_every_run: T, when_exploring: T) -> T:
    """What is tried: the first in every run, the second where VBAS_EXPLORE asks for all."""
    return when_exploring if EXPLORES else in_every_run
