"""The judge hears what is wrong: faults put into the program on purpose, each with words of the complaint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vbas.algorithms import handed_over
from vbas.algorithms.compat import field
from vbas.core import anonymise
from vbas.core.errors import VbasError

from .given import Place, Table
from .judge import read_badly
from .many import judged
from .running import Outcome
from .test_found import IDS, anonymize


def _invented(monkeypatch):
    """The first row is released twice, where it is counted too."""
    plain = handed_over.release_table

    def more(*given):
        table, check = plain(*given)
        assert table.copies is not None
        copies = table.copies.copy()
        copies[0] += 1
        return replace(table, copies=copies), check

    monkeypatch.setattr(handed_over, "release_table", more)


def _renamed(monkeypatch):
    """A quasi-identifier is released under another name."""
    plain = handed_over.release_table

    def more(*given):
        table, check = plain(*given)
        return replace(table, fields=[*table.fields[:-1], field("other", "text")]), check

    monkeypatch.setattr(handed_over, "release_table", more)


def _foreign(monkeypatch):
    monkeypatch.setattr("vbas.core.anonymise.evaluate", lambda *given: [][0])


def _warned(monkeypatch):
    plain = anonymise.evaluate

    def warned(*given):
        np.array([1.0]) / np.array([0.0])
        return plain(*given)

    monkeypatch.setattr(anonymise, "evaluate", warned)


def _half_written(monkeypatch):
    def failing(form, *given):
        (form.outputs.target("RELEASED_RECORDS").parent / "half.csv").write_text("half")
        raise VbasError("N_SITES is wrong: choose another one.")

    monkeypatch.setattr(handed_over, "release_table", failing)


def _lower_k(monkeypatch):
    """Two are enough, wherever k is looked at: the plan, the recounts, the second count."""
    monkeypatch.setattr("vbas.core.job.job.Job.whole", lambda job, name: 2 if name == "K" else 3)


def _raw(monkeypatch):
    def failing(*given):
        raise VbasError("'NoneType' object has no attribute 'fields'")

    monkeypatch.setattr("vbas.core.anonymise.evaluate", failing)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (_invented, "too many"),
        (_renamed, "has the fields"),
        (_foreign, "nobody foresaw: IndexError"),
        (_warned, "divide by zero"),
        (_half_written, "there is half.csv"),
        (_lower_k, "k is 8"),
        (_raw, "Not a sentence"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_the_judge_hears_what_is_wrong(provider, monkeypatch, fault, words):
    rare = ["F"] * 6 + ["M"] * 174
    rows = Table((("home", "text", [IDS[i % 9] for i in range(180)]), ("sex", "text", rare)))
    case = anonymize(RECORDS=rows, K=8, N_SITES=3, RELEASED_RECORDS=Place("{folder}/a.csv"))
    assert judged(case)[1] == []
    fault(monkeypatch)
    found = judged(case)[1]
    assert any(words in one for one in found), found


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("Coefficients give a cut-off of 2.8e+62 people.", "a power of ten"),
        ("ethnic: : 100 % of it is suppressed", "empty"),
        ("“” has no records", "empty"),
        ("20 000 records make 1 regions", "one of several"),
        ("The mean distance is nan m", "none"),
        ("You may publish: Released records (/tmp/vbas-fuzz-5i9r5e07/a.csv, /tmp/vbas-fuzz-12345e07/a.csv)", ""),
        ("1 record makes 1 region; level 1 regions; 2.1 records; “nan” and “1 records” are names; 0.1 people", ""),
    ],
)
def test_what_reads_badly_is_heard(tmp_path, line, what):
    page = tmp_path / "report.html"
    page.write_text(f"<style>1e10</style><p>{line}</p>", encoding="utf-8")
    for outcome in (Outcome(log=[line]), Outcome(error=line), Outcome(results={"REPORT": str(page)})):
        told = read_badly(outcome)
        assert len(told) == bool(what) and (not what or what in told[0])


def test_what_stands_alone_and_was_given_reads_as_it_does(tmp_path):
    page = tmp_path / "report.html"
    page.write_text("<td>NULL</td><p>The mean is NULL.</p>", encoding="utf-8")
    outcome = Outcome(results={"REPORT": str(page)})
    assert "'NULL'" in read_badly(outcome)[0]
    assert "The mean is NULL" in read_badly(outcome, {"NULL"})[0]
    page.write_text("<td>NULL · F · 3</td>", encoding="utf-8")
    assert read_badly(outcome, {"NULL"}) == [] and "'NULL · F · 3'" in read_badly(outcome)[0]
