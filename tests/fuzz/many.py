"""Many cases in one process after the other: run, judged, counted."""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from qgis.core import QgsProject
from qgis.PyQt.QtCore import QCoreApplication

from .forms import case_of
from .frozen import oracle
from .judge import complaints
from .running import run_case

try:
    import resource
except ImportError:  # on Windows, where a case that never ends is ended by hand
    resource = None  # type: ignore[assignment]

LONGEST = 150  # seconds of the processor that a case may take, whatever else the machine does
AT_ONCE = 50  # cases, after which is written what came of them


@dataclass
class Tally:
    """What came of many cases: by form how many gave a result and how many a sentence; the findings by number.

    interrupted : whether there would have been more
    """

    results: Counter = field(default_factory=Counter)
    sentences: Counter = field(default_factory=Counter)
    findings: dict = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def n_cases(self):
        return sum(self.results.values()) + sum(self.sentences.values())

    def lines(self):
        """A table for a reader."""
        forms = sorted({*self.results, *self.sentences})
        yield f"{'form':22}{'results':>9}{'sentences':>11}"
        for form in forms:
            yield f"{form:22}{self.results[form]:9}{self.sentences[form]:11}"
        yield f"{'in all':22}{sum(self.results.values()):9}{sum(self.sentences.values()):11}"
        yield f"{self.n_cases} cases, {len(self.findings)} findings, {self.seconds:.0f} s of the processor"


def commit():
    """The commit that is run, with a mark where files of it were changed; empty outside of a repository."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    with suppress(OSError):
        return subprocess.run(
            words, cwd=Path(__file__).parent, capture_output=True, check=False, text=True
        ).stdout.strip()
    return ""


class Kept:
    """What came of the cases so far, in a file, so that a million of them can be gone on with.

    commits : from which case on which commit of the program was run
    Raises ValueError where the file is of another seed, of another form, or of cases that another oracle recounted.
    """

    def __init__(self, file, seed, only=None):
        self.file, self.of, self.next, self.tally = Path(file).absolute(), [seed, only, oracle()], 0, Tally()
        self.commits = []
        if self.file.exists():
            told = json.loads(self.file.read_text(encoding="utf-8"))
            if told["of"] != self.of:
                raise ValueError(f"{file} is of seed, form and oracle {told['of']}, not of {self.of}")
            findings = {int(number): found for number, found in told["findings"].items()}
            self.tally = Tally(Counter(told["results"]), Counter(told["sentences"]), findings, told["seconds"])
            self.next, self.commits = told["next"], told.get("commits", [])
        self.commits = [*self.commits, [self.next, commit()]]

    def keep(self, following):
        """Write it, whole or not at all; following : the number of the first case that has not been run."""
        self.next = following
        told = {"of": self.of, "next": following, "commits": self.commits, **vars(self.tally)}
        del told["interrupted"]
        coming = self.file.with_name(f"{self.file.name}.new")
        coming.write_text(json.dumps(told), encoding="utf-8")
        coming.replace(self.file)


@contextmanager
def own_folder(within=None):
    """An empty folder to run a case in, which is the current one meanwhile: nothing is written elsewhere."""
    folder, before = Path(tempfile.mkdtemp(prefix="vbas-fuzz-", dir=within)), Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def judged(case, within=None):
    """(outcome, complaints) of a case, run in a folder of its own."""
    try:
        with own_folder(within) as folder:
            outcome = run_case(case, folder)
            return outcome, complaints(case, outcome)
    finally:
        QgsProject.instance().removeAllMapLayers()
        # QGIS closes the files of layers that are gone by a timer, which needs the loop of events.
        QCoreApplication.processEvents()


def run_cases(seed, numbers, tell=lambda number, case, outcome, found: None, only=None, kept=None):
    """The tally of these cases, or of those before KeyboardInterrupt; tell is called after each.

    only : the form whose cases alone are run; kept : a `Kept`, whose cases are counted too and not run again
    """
    tally = Tally() if kept is None else kept.tally
    began = time.process_time() - tally.seconds
    numbers = numbers if kept is None else range(max(numbers[0], kept.next), numbers[-1] + 1)
    following = numbers[0] if len(numbers) else 0
    # An interruption while the folder of a case comes or goes leaves it there: it goes with this one.
    with own_folder() as whole:
        try:
            for number in numbers:
                case = case_of(seed, number)
                if only in (None, case.algorithm):
                    outcome, found = _within_limits(case, whole)
                    (tally.sentences if outcome.results is None else tally.results)[case.algorithm] += 1
                    if found:
                        tally.findings[number] = found
                    following = number + 1
                    tell(number, case, outcome, found)
                following = number + 1
                tally.seconds = time.process_time() - began
                if number % AT_ONCE == 0:
                    gc.collect()
                    if not gc.get_freeze_count():  # what is loaded by now is not searched for garbage again and again
                        gc.freeze()
                    if kept is not None:
                        kept.keep(following)
        except KeyboardInterrupt:
            tally.interrupted = True
    tally.seconds = time.process_time() - began
    if kept is not None:
        kept.keep(max(following, kept.next))
    return tally


def _within_limits(case, within):
    """What is `judged`; a case that never ends is seen, with where it is."""
    if resource is None:
        return judged(case, within)
    most = resource.getrlimit(resource.RLIMIT_CPU)
    # Told by the system, and within whatever it is in: a library may never come back to Python.
    faulthandler.register(signal.SIGXCPU, chain=True)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + LONGEST, most[1]))
    try:
        return judged(case, within)
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, most)
        faulthandler.unregister(signal.SIGXCPU)
