"""The list of breaks that the tests must notice: each can still be made. `scripts/mutants` makes them."""

from __future__ import annotations

import re

import pytest

from ..scripts import ROOT, script

FEWEST = 60


MUTANTS = script("mutants").listed()


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
