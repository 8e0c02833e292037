"""How often Python looks for garbage in a run."""

from __future__ import annotations

import gc

import pytest

from vbas.core.garbage import SELDOM, garbage_looked_for_seldom


def looked_for_seldom():
    """Python 3.14 has no third number and gives 0 for it."""
    return gc.get_threshold()[:2] == SELDOM[:2]


def test_it_is_as_before_afterwards_whatever_happens():
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="within"), garbage_looked_for_seldom():
        assert looked_for_seldom() and gc.get_threshold() != before
        raise ValueError("within")
    assert gc.get_threshold() == before


def test_of_several_runs_the_last_to_end_puts_it_back():
    """As in two threads, the first to begin ends first."""
    before, first, second = gc.get_threshold(), garbage_looked_for_seldom(), garbage_looked_for_seldom()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert looked_for_seldom()
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
