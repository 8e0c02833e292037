"""How often Python looks for garbage in a run."""

from __future__ import annotations

import gc

import pytest

from vbas.core.garbage import SELDOM, garbage_looked_for_seldom


def test_it_is_as_before_afterwards_whatever_happens():
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="within"), garbage_looked_for_seldom():
        assert gc.get_threshold() == SELDOM and gc.isenabled()
        raise ValueError("within")
    assert gc.get_threshold() == before
