"""The list of breaks that the tests must notice: each can still be made. `scripts/mutants` makes them."""

from __future__ import annotations

import re
from contextlib import nullcontext

import pytest

from ..scripts import ROOT, script

pytest.importorskip("resource", reason="mutants are run in forks, which Windows does not have")

FEWEST = 60


MUTANTS = script("mutants").listed()


def test_there_are_many_and_each_once():
    assert len(MUTANTS) >= FEWEST
    assert len({mutant.title for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.file, mutant.text, mutant.instead) for mutant in MUTANTS}) == len(MUTANTS)


def code_of(file):
    """The text of a file, or none where there is no such file."""
    return (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).is_file() else ""


@pytest.mark.slow
def test_its_text_is_in_the_code_once_and_what_comes_instead_is_code():
    wrong = []
    for mutant in MUTANTS:
        try:
            compile(mutant.applied(code_of(mutant.file)), mutant.file, "exec")
        except (ValueError, SyntaxError) as error:
            wrong.append(f"{mutant.title}: {error}")
    assert not wrong, "\n".join(wrong)


def test_the_tests_that_it_names_are_there():
    wrong = []
    for mutant in MUTANTS:
        for test in mutant.tests:
            file, _, name = test.partition("::")
            if not re.search(rf"^def {name}\(" if name else ".", code_of(file), re.MULTILINE):
                wrong.append(f"{mutant.title}: {test}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("word", "ends"), [("--help", 0), ("--hepl", 2)])
def test_whoever_asks_for_help_or_mistypes_starts_no_run(word, ends, monkeypatch, capsys):
    mutants = script("mutants")
    monkeypatch.setattr(mutants, "copy_of_the_tree", lambda: pytest.fail("a run was started"))
    with pytest.raises(SystemExit) as ended:
        mutants.main([word])
    assert ended.value.code == ends and "words" in "".join(capsys.readouterr())


def test_words_that_no_mutant_has_start_no_run(monkeypatch, capsys):
    mutants = script("mutants")
    monkeypatch.setattr(mutants, "copy_of_the_tree", lambda: pytest.fail("a run was started"))
    assert mutants.main(["scripts/mutants.txt"]) == 2
    assert "No mutant has any of these in its title or file: scripts/mutants.txt" in capsys.readouterr().out


def test_tests_that_do_not_end_without_any_mutant_do_not_pass(monkeypatch, capsys, tmp_path):
    mutants = script("mutants")
    (tmp_path / "said.txt").write_text("so far\n", encoding="utf-8")
    monkeypatch.setattr(mutants, "copy_of_the_tree", lambda: nullcontext(tmp_path))
    monkeypatch.setattr(mutants, "ending", lambda tree, tests, seconds: None)
    assert mutants.main([MUTANTS[0].title]) == 2
    assert "Without any mutant the tests do not pass: so far" in capsys.readouterr().out


def test_a_text_that_is_not_there_once_is_noticed():
    mutant = MUTANTS[0]
    for code in ("", mutant.text + "\n" + mutant.text):
        with pytest.raises(ValueError, match=r"its text is [02] times in"):
            mutant.applied(code)
