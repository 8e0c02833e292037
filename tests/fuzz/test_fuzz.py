"""Thousands of runs drawn at random: each ends in a result that recounts, or in one sentence.

The same cases in every run; VBAS_FUZZ_SEED draws others, VBAS_FUZZ_CASES more of them. A case that fails is repeated by
`scripts/fuzz --seed SEED --case NUMBER`, and kept, as small as it can be, in `test_found.py`.
"""

from __future__ import annotations

import os
import sys

import pytest

from vbas.algorithms.catalogue import ALGORITHMS

from ..exploring import tried
from .forms import FORMS, WEIGHTS, case_of
from .many import run_cases

pytestmark = pytest.mark.slow

SEED = os.environ.get("VBAS_FUZZ_SEED", "vbas")
CASES = int(os.environ.get("VBAS_FUZZ_CASES", tried(90, 600)))
PARTS = tried(1, 4)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="csv of Python before 3.11 writes no NUL, which cases hold")
@pytest.mark.parametrize("part", range(PARTS))
def test_every_run_ends_in_a_result_that_recounts_or_in_one_sentence(provider, part):
    tally = run_cases(SEED, range(part, CASES, PARTS))
    print(f"seed {SEED}, part {part}", *tally.lines(), sep="\n")
    assert not tally.findings, f"scripts/fuzz --seed {SEED} --case N repeats one of {tally.findings}"
    # A judge who hears nothing but refusals judges nothing.
    assert sum(tally.results.values()) > 0.35 * tally.n_cases
    assert tally.results["anonymize"] and tally.results["releaserecords"]


def test_every_form_of_the_toolbox_is_drawn(provider):
    forms = {algorithm.ID for algorithm in ALGORITHMS}
    assert forms == {*FORMS, "demonstrationcity"}
    assert set(WEIGHTS) <= forms


def test_a_case_follows_from_its_number(provider):
    assert case_of(SEED, 17) == case_of(SEED, 17) != case_of(SEED, 18)
