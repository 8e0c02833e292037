"""Deliveries on simulated file systems, with a fault at every call; `scripts/file_matrix` goes through all of them."""

from __future__ import annotations

import pytest

from ..exploring import tried
from . import real_files
from .databases import MOUNTED
from .deliveries import KINDS, matrix, outcome
from .memory import ALL, FAULTS


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.title)
@pytest.mark.parametrize("kind", KINDS)
def test_without_a_fault_it_is_delivered(rules, kind):
    assert outcome(rules, kind, "", 0) == (False, [])


@pytest.mark.slow
def test_whatever_happens_at_any_call_it_is_old_or_new():
    """Some of the calls of each; what a fault leaves is named, or found by the next run."""
    counts, wrong = matrix(ALL, step=tried(37, 23))
    assert wrong == []
    assert len(counts) == len(ALL) * len(KINDS) * len(FAULTS)


@pytest.mark.parametrize("kind", KINDS)
def test_in_a_real_folder_it_is_old_or_new_too(kind):
    assert real_files.outcome(MOUNTED, kind, "", 0) == (False, [])
    counts, wrong = real_files.matrix((MOUNTED,), (kind,), step=41, start=3)
    assert wrong == []
    assert len(counts) == len(FAULTS)
