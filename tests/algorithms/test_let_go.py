"""What a form declared goes with it, and a run with all that it held, without waiting for Python to tidy up.

PyQt knows objects by their place in memory. A Python object whose own is gone unheard is given out for whatever is at
that place next: a choice is a text then, and a form fails, or ends QGIS.
"""

from __future__ import annotations

import gc
import weakref

import pytest
from qgis.PyQt import sip

from vbas.algorithms.form.base import VbasAlgorithm


@pytest.fixture
def untidy():
    """Python does not look for what holds itself: newer versions (3.14) leave it for long."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def kinds(algorithm):
    return {one.name(): type(one) for one in algorithm.parameterDefinitions()}


@pytest.fixture
def forms(provider):
    return [form for form in provider.algorithms() if isinstance(form, VbasAlgorithm)]


@pytest.fixture
def ran(monkeypatch):
    """The forms that ran, as far as they are still there."""
    ran = []

    def noted(self, *given):
        ran.append(weakref.ref(self))
        return processed(self, *given)

    processed = VbasAlgorithm.processAlgorithm
    monkeypatch.setattr(VbasAlgorithm, "processAlgorithm", noted)
    return ran


def test_what_a_form_declares_goes_with_it(forms):
    for form in forms:
        made = form.create()
        declared = made.parameterDefinitions()
        sip.delete(made)
        assert declared and all(map(sip.isdeleted, declared)), form.ID


def test_what_a_form_declares_is_not_taken_for_what_another_declared(forms, untidy):
    """Each form is gone for QGIS, and held on by Python, as by a traceback, when the next is opened."""
    held, right = [], {form.ID: kinds(form) for form in forms}
    for _ in range(3):
        for form in forms:
            held.append(form.create())
            assert kinds(held[-1]) == right[form.ID], form.ID
            sip.delete(held[-1])


def test_a_run_lets_go_of_all_it_held(anonymize, untidy, ran, tmp_path):
    anonymize(REPORT=str(tmp_path / "report.html"))
    assert [one() for one in ran] == [None]
