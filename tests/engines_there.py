"""What tests of engines need: they skip with the reason where it is absent, but not where it was asked for."""

from __future__ import annotations

import os
from importlib import import_module

import pytest

REQUIRED = os.environ.get("VBAS_ENGINES") == "required"


def absent(what: str, told: str = "docs/large-tables.md says how") -> None:
    """Skip, or fail where VBAS_ENGINES=required says that everything is there."""
    if REQUIRED:
        pytest.fail(f"{what} is not installed, but VBAS_ENGINES=required asks for it", pytrace=False)
    pytest.skip(f"{what} is not installed: {told}", allow_module_level=True)


def needed(name: str, told: str = "docs/large-tables.md says how"):
    """A module of an optional package."""
    try:
        return import_module(name)
    except ImportError:
        return absent(name.partition(".")[0], told)
