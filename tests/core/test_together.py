"""Several files that get their names together: all or none, whatever fails and wherever the run is killed."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from vbas.core.errors import VbasError
from vbas.core.publish import together
from vbas.core.publish.folders import BESIDE, clear_dead, own_folder
from vbas.core.publish.together import give_free_names

from ..files.deliveries import visible
from ..files.memory import AFTER, ALL, BEFORE, DENIED, FULL, LOST, OUT, Crash, Memory, Node
from ..systems import of_posix

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
@of_posix
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
@of_posix
def test_a_name_that_is_taken_is_said_and_what_has_it_stays(taken):
    files = Memory(ALL[0])
    files.write(OUT / taken, b"mine")
    assert named(files) == OUT / taken
    assert visible(files) == {taken: b"mine"}
    files.end()


def moved(files: Memory, name: str) -> None:
    files.rename(OUT / name, OUT / f"mine-{name}")


def removed(files: Memory, name: str) -> None:
    files.remove(OUT / name)


def replaced(files: Memory, name: str) -> None:
    files.remove(OUT / name)
    files.write(OUT / name, b"another program's")


def left(files: Memory, name: str) -> None:
    """Nothing."""


# One of the files, or each of them.
ACTS = [[act] * len(NAMES) for act in (left, moved, removed, replaced)] + [
    [act if name == one else left for name in NAMES] for act in (moved, removed, replaced) for one in NAMES
]


@pytest.mark.parametrize("rules", [rules for rules in ALL if rules.locks == "kept"], ids=lambda rules: rules.title)
@of_posix
def test_of_what_was_delivered_nothing_is_touched_and_of_the_rest_nothing_stays(rules):
    """Killed after any call; then the owner moves, removes or replaces what is there, and the next run tidies up."""
    for acts in ACTS:
        states = []
        for at in count(1):
            files = Memory(rules)
            files.arm(AFTER, at)
            with suppress(Crash):
                named(files)
                if files.said:  # a call that was refused, as such systems do
                    continue
                break
            files.restart()
            there = visible(files)
            assert set(there) <= set(NAMES)
            states.append(there == WRITTEN)
            for name, act in zip(NAMES, acts):
                if name in there:
                    act(files, name)
            theirs = {
                name: one
                for name, one in visible(files).items()
                if states[-1] or name not in NAMES or acts[NAMES.index(name)] is replaced
            }
            clear_dead(OUT, files)
            assert visible(files) == theirs, (at, acts)
            assert not [name for name in files.names(OUT) if name.startswith(".vbas")], (at, acts)
            files.end()
        assert len(set(states)) == 2 and states == sorted(states)  # by one step


@pytest.mark.parametrize("at", range(4, 44, 4))
@of_posix
def test_what_one_run_cannot_take_back_the_next_one_does(at):
    """Killed after some call; the run that tidies up is denied any one of its own, the next one none."""
    for denied in count(1):
        files = Memory(ALL[0])
        files.arm(AFTER, at)
        with suppress(Crash):
            named(files)
        files.restart()
        given = visible(files) == WRITTEN
        files.arm(DENIED, denied)
        clear_dead(OUT, files)
        was_denied = files.said
        files.restart()
        clear_dead(OUT, files)
        assert visible(files) == (WRITTEN if given else {}), was_denied
        assert not [name for name in files.names(OUT) if name.startswith(".vbas")], was_denied
        files.end()
        if not was_denied:
            break


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.title)
@of_posix
def test_an_interrupt_once_all_is_decided_takes_all_back(rules, monkeypatch):
    files = Memory(rules)
    real = files.replace

    def interrupted(old, new):
        real(old, new)
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        named(files)
    assert visible(files) == {}
    files.end()


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.title)
@of_posix
def test_what_takes_the_last_name_in_between_stays(rules, monkeypatch):
    """Another program is quicker by a call, whichever: where files have several names, none of its is ever lost."""
    for at in range(1, 30):
        files = Memory(rules)
        real, calls = files._call, count(1)
        came: list[str] = []

        def quicker(name, path, do, *more, real=real, calls=calls, files=files, at=at, came=came):
            if next(calls) == at and files._key(OUT / "out.csv") not in files.nodes:
                came.append(name)
                files._add(OUT / "out.csv", Node(files._next(), 0o100644, b"mine"))
            return real(name, path, do, *more)

        with own_folder(OUT, BESIDE, files) as folder:
            pairs = []
            for name in NAMES:
                files.write(folder / name, name.encode())
                pairs.append((folder / name, OUT / name))
            with suppress(OSError), monkeypatch.context() as patched:
                patched.setattr(files, "_call", quicker)
                give_free_names(pairs, folder, files)
        there = visible(files)
        assert there in ({"out.csv": b"mine"}, WRITTEN), at
        assert there != WRITTEN or not (rules.links and came), at
        files.end()


@of_posix
def test_a_name_that_is_gone_already_need_not_be_taken_back(tmp_path, monkeypatch):
    """Another run that clears the same folder was quicker."""
    gone, left = tmp_path / "gone.csv", tmp_path / "left.csv"
    left.write_text("rows")
    monkeypatch.setattr(together, "_ours", lambda folder, files: [gone, left])
    together.finish(tmp_path)
    assert list(tmp_path.iterdir()) == []
