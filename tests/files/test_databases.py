"""Deliveries into a register, a fault at a call of the door or of SQLite; `scripts/file_matrix` takes every call."""

from __future__ import annotations

from itertools import count

import pytest

from . import databases
from .databases import KINDS, matrix, outcome
from .memory import AFTER, BEFORE, CLOUD, CUT_OFF, DENIED, EXT4, FAT, FAULTS, LOST, NTFS, SMB_UNLOCKED, TAKEN
from .sqlite_calls import serves


@pytest.fixture(autouse=True)
def _sqlite(tmp_path):
    if not serves(tmp_path):
        pytest.skip("Python has an SQLite of its own, or a system without the name of its library")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rules", [EXT4, NTFS, FAT, SMB_UNLOCKED], ids=lambda rules: rules.title)
def test_without_a_fault_it_is_delivered(rules, kind):
    assert outcome(rules, kind, "", 0) == (False, [])


@pytest.mark.parametrize("fault", [BEFORE, AFTER, DENIED, LOST, CUT_OFF, TAKEN])
def test_where_sqlite_ends_its_change_it_is_there_or_not_and_is_said(fault, monkeypatch):
    """SQLite ends a change by removing its journal."""
    monkeypatch.setattr(databases, "only", ("delete",))
    for at in count(1):
        happened, wrong = outcome(NTFS, "one more, page and folder", fault, at)
        assert wrong == []
        if not happened:
            break
    assert at > 1


@pytest.mark.slow
@pytest.mark.parametrize("rules", [NTFS, FAT], ids=lambda rules: rules.title)
def test_where_a_new_register_gets_its_name_and_the_answer_is_lost_that_is_said(rules, monkeypatch):
    monkeypatch.setattr(databases, "only", ("link", "rename", "status", "open"))
    for fault in (LOST, CUT_OFF):
        for at in count(1):
            happened, wrong = outcome(rules, "a new register", fault, at)
            assert wrong == []
            if not happened:
                break


@pytest.mark.slow
def test_whatever_happens_at_any_call_it_is_old_or_new():
    """Some of the calls of each; what a fault leaves is named, or found by the next run."""
    kinds = ("a new register, page and folder", "one more, page and folder")
    counts, wrong = matrix((EXT4, NTFS, CLOUD), kinds, step=61, start=5)
    assert wrong == []
    assert len(counts) == 3 * len(kinds) * len(FAULTS)
