"""Several files that get their names together: all or none, whatever fails and wherever the run is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from vbas.core.errors import VbasError
from vbas.core.publish.folders import BESIDE, clear_dead, own_folder
from vbas.core.publish.together import give_free_names

from ..files.deliveries import visible
from ..files.memory import AFTER, ALL, BEFORE, DENIED, FULL, LOST, OUT, Crash, Memory

NAMES = ("out_stays.csv", "out_drugs.csv", "out.csv")
WRITTEN = {name: name.encode() for name in NAMES}


def named(files: Memory) -> Path | None:
    """A run that gives its files their names; as the engine does, each is written in a folder of its own."""
    with own_folder(OUT, BESIDE, files) as folder, own_folder(OUT, BESIDE, files) as other:
        pairs = []
        for name in NAMES:
            staged = (folder if name == "out.csv" else other) / name
            files.write(staged, name.encode())
            pairs.append((staged, OUT / name))
        files.at += files.calls if files.at else 0  # what fails comes later
        return give_free_names(pairs, folder, files)


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.title)
def test_whatever_happens_at_any_call_all_have_their_names_or_none(rules):
    for fault in ("", BEFORE, AFTER, DENIED, FULL, LOST):
        for at in range(1, 60 if fault else 2):
            files = Memory(rules)
            try:
                files.arm(fault, at)
                ended = False
                try:
                    named(files)
                except (OSError, VbasError):
                    ended = True
                except Crash:
                    files.restart()
                    clear_dead(OUT, files)
                    if rules.locks != "kept":
                        continue  # nobody knows then who is dead: nothing is touched
                there = visible(files)
                assert there in ({}, WRITTEN), (fault, at)
                assert not (ended and there), (fault, at)
                assert fault or there == WRITTEN
            finally:
                files.end()


@pytest.mark.parametrize("taken", NAMES)
def test_a_name_that_is_taken_is_said_and_what_has_it_stays(taken):
    files = Memory(ALL[0])
    files.write(OUT / taken, b"mine")
    assert named(files) == OUT / taken
    assert visible(files) == {taken: b"mine"}
    files.end()


def test_what_came_after_a_killed_run_is_nobodys_to_remove():
    """A file of another program has the name of one that the killed run had given, and that was removed since."""
    for at in range(1, 40):
        files = Memory(ALL[0])
        files.arm(AFTER, at)
        try:
            named(files)
        except Crash:
            files.restart()
            for name in visible(files):
                files.remove(OUT / name)
                files.write(OUT / name, b"another program's")
            before = visible(files)
            clear_dead(OUT, files)
            assert visible(files) == before
        finally:
            files.end()
