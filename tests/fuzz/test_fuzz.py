"""Thousands of runs drawn at random: each ends in a result that recounts, or in one sentence.

The same cases in every run; VBAS_FUZZ_SEED draws others, VBAS_FUZZ_CASES more of them. A case that fails is repeated by
`scripts/fuzz --seed SEED --case NUMBER`, and kept, as small as it can be, in `test_found.py`.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from vbas.algorithms.catalogue import ALGORITHMS
from vbas.core.errors import VbasError

from .forms import FORMS, WEIGHTS, case_of
from .many import judged, run_cases

SEED = os.environ.get("VBAS_FUZZ_SEED", "vbas")
CASES = int(os.environ.get("VBAS_FUZZ_CASES", "2000"))
PARTS = 4


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


# The judge must hear what is wrong: faults put into the program on purpose, each with words of the complaint.
def _invented(monkeypatch):
    import vbas.algorithms.one_level as module

    plain = module.release_table

    def more(form, release, *given):
        table, check = plain(form, release, *given)
        columns = [[*one[:0], *table_values(one), table_values(one)[0]] for one in table.columns]
        return replace(table, columns=columns), check

    monkeypatch.setattr(module, "release_table", more)


def table_values(column):
    values = column.categories[column.codes] if hasattr(column, "codes") else column
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _foreign(monkeypatch):
    monkeypatch.setattr("vbas.algorithms.one_level.evaluate", lambda *given: [][0])


def _warned(monkeypatch):
    import numpy as np

    from vbas.algorithms import one_level

    plain = one_level.evaluate

    def warned(*given):
        np.array([1.0]) / np.array([0.0])
        return plain(*given)

    monkeypatch.setattr(one_level, "evaluate", warned)


def _half_written(monkeypatch):
    from vbas.algorithms import one_level

    def failing(form, *given):
        (form.outputs.target("RELEASED_RECORDS").parent / "half.csv").write_text("half")
        raise VbasError("N_SITES is wrong: choose another one.")

    monkeypatch.setattr(one_level, "released", failing)


def _lower_k(monkeypatch):
    """Two are enough, wherever k is looked at: the plan, the recounts, the second count."""
    monkeypatch.setattr("vbas.algorithms.form.form.Form.whole", lambda form, name: 2 if name == "K" else 3)


def _raw(monkeypatch):
    def failing(*given):
        raise VbasError("'NoneType' object has no attribute 'fields'")

    monkeypatch.setattr("vbas.algorithms.one_level.evaluate", failing)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (_invented, "too many"),
        (_foreign, "nobody foresaw: IndexError"),
        (_warned, "divide by zero"),
        (_half_written, "there is half.csv"),
        (_lower_k, "k is 8"),
        (_raw, "Not a sentence"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_the_judge_hears_what_is_wrong(provider, monkeypatch, fault, words):
    from .given import Place, Table
    from .test_found import IDS, anonymize

    rare = ["F"] * 6 + ["M"] * 174
    rows = Table((("home", "text", [IDS[i % 9] for i in range(180)]), ("sex", "text", rare)))
    case = anonymize(RECORDS=rows, K=8, N_SITES=3, RELEASED_RECORDS=Place("{folder}/a.csv"))
    assert judged(case)[1] == []
    fault(monkeypatch)
    found = judged(case)[1]
    assert any(words in one for one in found), found
