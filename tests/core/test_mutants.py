"""The list of breaks that the tests must notice: each can still be made. `scripts/mutants` makes them."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FEWEST = 60


def load(name):
    """A script as a module."""
    specification = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    # Dataclasses look for the module that they are in.
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setitem(sys.modules, name, module)
        specification.loader.exec_module(module)
    return module


MUTANTS = load("mutants").listed()


def test_there_are_many_and_each_once():
    assert len(MUTANTS) >= FEWEST
    assert len({one.title for one in MUTANTS}) == len(MUTANTS)
    assert len({(one.file, one.text, one.instead) for one in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.title)
def test_its_text_is_in_the_code_once_and_what_comes_instead_is_code(mutant):
    broken = mutant.applied((ROOT / mutant.file).read_text(encoding="utf-8"))
    compile(broken, mutant.file, "exec")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.title)
def test_the_tests_that_it_names_are_there(mutant):
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert not name or re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), test
        assert (ROOT / file).is_file()


def test_a_text_that_is_not_there_once_is_noticed():
    mutant = MUTANTS[0]
    for code in ("", mutant.text + "\n" + mutant.text):
        with pytest.raises(ValueError, match=r"its text is [02] times in"):
            mutant.applied(code)
