"""Cases that are gone on with: none is run twice, and all are counted once."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from . import frozen, many
from .many import Kept, run_cases


@pytest.fixture
def run(monkeypatch):
    """The numbers of the cases that were run; no form is."""
    numbers: list[int] = []
    monkeypatch.setattr(many, "case_of", lambda seed, number: SimpleNamespace(algorithm=["even", "odd"][number % 2]))
    outcomes = [SimpleNamespace(results={}), SimpleNamespace(results=None)]

    def judged(case, within):
        return outcomes[case.algorithm == "odd"], ["wrong"] if len(numbers) == 7 else []

    monkeypatch.setattr(many, "judged", judged)
    return numbers


@pytest.mark.slow
def test_what_was_ended_is_gone_on_with(run, tmp_path):
    def tell(number, *_):
        run.append(number)
        if number == 120 and len(run) == 121:
            raise MemoryError

    with pytest.raises(MemoryError):
        run_cases("seed", range(200), tell, kept=Kept(tmp_path / "kept.json", "seed"))
    kept = Kept(tmp_path / "kept.json", "seed")
    assert kept.next == 101 and kept.tally.n_cases == 101  # what came since was not kept, and is run again
    tally = run_cases("seed", range(200), tell, kept=kept)
    assert run[121:] == list(range(101, 200))
    assert tally.results == {"even": 100} and tally.sentences == {"odd": 100} and list(tally.findings) == [7]
    again = run_cases("seed", range(200), tell, kept=Kept(tmp_path / "kept.json", "seed"))
    assert len(run) == 220 and again.n_cases == 200  # nothing is left
    assert run_cases("seed", range(250), tell, kept=Kept(tmp_path / "kept.json", "seed")).n_cases == 250
    with pytest.raises(ValueError, match="is of seed, form and oracle"):
        Kept(tmp_path / "kept.json", "another")


def test_what_one_oracle_recounted_another_does_not_go_on_with(run, tmp_path, monkeypatch):
    run_cases("seed", range(3), kept=Kept(tmp_path / "kept.json", "seed"))
    monkeypatch.setattr(many, "oracle", lambda: "another")
    with pytest.raises(ValueError, match="another"):
        Kept(tmp_path / "kept.json", "seed")


def test_the_oracle_is_the_frozen_one():
    """Who mends what recounts pins it anew, with its hash, and counts cases from none."""
    assert frozen.oracle() == frozen.FROZEN


def test_whatever_recounts_is_in_the_hash_of_the_oracle(tmp_path, monkeypatch):
    names = {path.stem for path in frozen.modules()}
    assert {"judge", "recounts", "reading", "people_shown", "several", "table_attack", "verify"} <= names
    for path in frozen.modules():
        copy = tmp_path / path.relative_to(frozen.TESTS.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    monkeypatch.setattr(frozen, "TESTS", tmp_path / "tests")
    assert frozen.oracle() == frozen.FROZEN  # however lines end
    for name in ("fuzz/several.py", "core/table_attack.py", "../verify/verify.py"):
        file = tmp_path / "tests" / name
        before = file.read_bytes()
        file.write_bytes(before + b"# more\r\n")
        assert frozen.oracle() != frozen.FROZEN
        file.write_bytes(before)


@pytest.mark.slow
def test_a_file_says_which_cases_were_run_on_which_commit(run, tmp_path, monkeypatch):
    for commit, n in (("one", 3), ("two", 120)):
        monkeypatch.setattr(many, "commit", lambda commit=commit: commit)
        run_cases("seed", range(n), kept=Kept(tmp_path / "kept.json", "seed"))
    assert json.loads((tmp_path / "kept.json").read_text())["commits"] == [[0, "one"], [3, "two"]]


@pytest.mark.slow
@pytest.mark.skipif(many.resource is None, reason="limits of the processor are those of POSIX")
def test_a_case_that_never_ends_is_ended_with_where_it_was():
    """By the time of the processor, and though it never comes back to Python's own signals."""
    code = (
        "from types import SimpleNamespace; from vbas.tests.fuzz import many; many.LONGEST = 1\n"
        "many.case_of = lambda *_: SimpleNamespace(algorithm='form')\n"
        "def judged(case, within):\n    return sum(range(10**12))\n"
        "many.judged = judged; many.run_cases('seed', range(1))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == -signal.SIGXCPU and "in judged" in ended.stderr


def test_who_interrupts_it_has_what_was_found_so_far(run, tmp_path):
    def tell(number, *_):
        run.append(number)
        if run == list(range(31)):
            raise KeyboardInterrupt

    tally = run_cases("seed", range(40), tell, kept=Kept(tmp_path / "kept.json", "seed"))
    assert tally.interrupted and tally.n_cases == 31 and list(tally.findings) == [7]
    kept = Kept(tmp_path / "kept.json", "seed")
    assert kept.next == 31 and kept.tally.n_cases == 31
    assert not run_cases("seed", range(40), tell, kept=kept).interrupted
    assert run == list(range(40))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@pytest.mark.parametrize("begun", [False, True], ids=["anywhere", "where QGIS asks a form for its name"])
def test_a_polite_kill_ends_it(tmp_path, begun):
    """Each run takes the signal for itself, and the next one began; where QGIS calls Python, raising is an abort."""
    kept = tmp_path / "kept.json"
    words = ["--cases", "1000000", "--seed", "today", "--resume", str(kept)]
    code = "from vbas.tests.fuzz.__main__ import main; main()"
    if begun:
        code = (
            "import os, signal; from pathlib import Path; from vbas.algorithms.form.base import VbasAlgorithm as form\n"
            "before = form.name\n"
            "def name(self):\n"
            f"    if Path({str(kept)!r}).exists() and signal.getsignal(15) is not signal.default_int_handler:\n"
            "        os.kill(os.getpid(), 15)\n"
            "    return before(self)\n"
            "form.name = name\n"
        ) + code
    running = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(tmp_path)},
    )
    while not kept.exists():
        assert running.poll() is None
        time.sleep(0.05)
    if not begun:
        running.terminate()
    said, _ = running.communicate(timeout=300)
    assert running.returncode == 130 and "interrupted" in said
    assert f"{Kept(kept, 'today').next} cases" in said
    assert not list(tmp_path.glob("vbas-fuzz-*"))


def test_those_who_recount_know_nothing_of_the_product():
    """Only what draws, runs and asks for the name of a label does: a fault cannot be on both sides."""
    folder = Path(many.__file__).parent
    modules = [path for path in folder.glob("*.py") if not path.name.startswith("test_")]
    knowing = {
        path.stem for path in modules if re.search(r"^\s*(?:from|import) vbas\b", path.read_text(), re.MULTILINE)
    }
    assert knowing == {"forms", "given", "judge", "running", "starting"}
    told = (folder / "judge.py").read_text()
    assert re.findall(r"^from vbas\S* import (.*)$", told, re.MULTILINE) == ["label_of"]
