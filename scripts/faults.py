"""Injects faults into runs, and sees what they leave: the old file or the new whole one, nothing else.

Started by `bash scripts/faults`; `--few` injects one or two of most kinds, into copies of a QGIS that is loaded once
rather than into `qgis_process` (but where memory is limited); a number is the seed of the moments. Prints
how many faults of each kind were injected and survived, and what was wrong. Ends with 1 if anything was.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from fault_bench import ABSENT, FEW, FILES, MANY, Bench, Contents, Run, contents, others

if TYPE_CHECKING:
    from vbas.tests.headless.loaded import LoadedQgis

Outcome = Iterator[list[str]]  # of each fault what was wrong
HELD = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE'); print(1, flush=True); input()"
)
ENDED_BADLY = (
    "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    "c.execute('PRAGMA journal_mode = ' + sys.argv[2]); c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN')\n"
    "c.execute('UPDATE released SET sex = sex || 1'); c.execute('COMMIT') if sys.argv[2] == 'WAL' else None\n"
    "os.kill(os.getpid(), 9)\n"
)


def left(bench: Bench, run: Run, before: Contents, new: Contents, killed: bool = False) -> list[str]:
    """What is wrong with what a run left behind; killed : it could not tidy up after itself."""
    there = contents(bench.final)
    wrong = run.complaints(killed)
    wrong += [f"{file} is neither old nor new" for file in there if there[file] not in (before[file], new[file])]
    wrong += [f"{name} is left" for name in others(bench.final, hidden=not killed)]
    if not killed:
        wrong += [] if there in (before, new) else ["some outputs are old and some new"]
        wrong += ["it ends well, and the outputs are not new"] if run.code == 0 and there != new else []
        wrong += [f"{path.name} is left in the temporary folder" for path in bench.staging.glob("vbas-*")]
    return wrong


def started_over(bench: Bench, old: int | None) -> Contents:
    """The bench as it is before a fault; what stands in the final folder."""
    bench.clear(old)
    return contents(bench.final)


def moments(bench: Bench, chance: random.Random) -> Iterator[Callable[[Run], None]]:
    """Waits for moments of a run: by turns any, and one of the short time in which it writes and delivers."""

    def wait(run: Run, writing: bool, share: float) -> None:
        if writing:
            run.wait_until_it_writes()
        else:
            run.wait_until_it_reads()
        time.sleep(share * (bench.writing if writing else bench.seconds))

    for i in count():
        yield partial(wait, writing=i % 2 == 1, share=chance.uniform(0.0, 1.1))


def killed(bench: Bench, chance: random.Random, n: int) -> Outcome:
    """Runs that are killed, one after another on the same targets; a whole one at the end must find its way."""
    before = started_over(bench, FEW)
    for i, moment in zip(range(n), moments(bench, chance)):
        n_sites = (MANY, FEW)[i % 2]
        run = Run(bench, n_sites)
        moment(run)
        run.process.kill()
        run.end()
        yield left(bench, run, before, bench.releases[n_sites], killed=True)
        before = contents(bench.final)
    yield left(bench, Run(bench, MANY).end(), before, bench.releases[MANY])


def interrupted(bench: Bench, chance: random.Random, n: int) -> Outcome:
    """Runs that are told to stop, by Ctrl-C or by the system: they tidy up after themselves."""
    for i, moment in zip(range(n), moments(bench, chance)):
        before = started_over(bench, (FEW, None)[i // 2 % 2])
        run = Run(bench, MANY)
        moment(run)
        run.process.send_signal((signal.SIGINT, signal.SIGTERM)[i // 4 % 2])
        wrong = left(bench, run.end(), before, bench.releases[MANY])
        yield [complaint for complaint in wrong if "without a sentence" not in complaint]


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[None]:
    """A disk of that size in the place of a folder; what the folder holds is moved there."""
    held = [(path.name, path.read_bytes()) for path in folder.iterdir()]
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)], check=True)
    try:
        for name, content in held:
            (folder / name).write_bytes(content)
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def disk_is_full(bench: Bench, chance: random.Random, n: int) -> Outcome:
    """The disk of the outputs is full at one of them after the other, with an earlier release there or without."""
    sizes = {file: (bench.old(MANY) / file).stat().st_size // 1024 + 4 for file in FILES.values()}
    earlier = sum((bench.old(FEW) / file).stat().st_size // 1024 + 4 for file in FILES.values())
    places = [(old, i) for i in range(len(sizes)) for old in (FEW, None)]
    for old, i in places[:n]:
        before = started_over(bench, old)
        room = sum(list(sizes.values())[:i]) + list(sizes.values())[i] // 2 + (earlier if old else 0)
        with small_disk(bench.final, room):
            yield left(bench, Run(bench, MANY).end(), before, bench.releases[MANY])


def temporary_disk_is_full(bench: Bench, chance: random.Random, n: int) -> Outcome:
    """The disk of temporary files is full sooner or later."""
    for i in range(n):
        before = started_over(bench, (FEW, None)[i % 2])
        with small_disk(bench.staging, 8 * 2**i):
            yield left(bench, Run(bench, MANY).end(), before, bench.releases[MANY])


def files_are_limited(bench: Bench, chance: random.Random, n: int) -> Outcome:
    """No file may become larger than so many bytes."""
    for i in range(n):
        before = started_over(bench, (FEW, None)[i % 2])
        run = Run(bench, MANY, limits={resource.RLIMIT_FSIZE: 1000 * 3**i}).end()
        yield left(bench, run, before, bench.releases[MANY])


def memory_is_limited(bench: Bench, chance: random.Random, n: int) -> Outcome:
    """QGIS itself may end anywhere then, as if it were killed, or wait in a window of its own."""
    most = bench.memory_of_a_process()
    for i in range(n):
        before = started_over(bench, (FEW, None)[i % 2])
        share = 0.98 - 0.45 * i / n
        run = Run(bench, MANY, limits={resource.RLIMIT_AS: int(share * most)}, copied=False).end()
        yield left(bench, run, before, bench.releases[MANY], killed=run.code != 0)


def folder_is_removed(bench: Bench, chance: random.Random, n: int) -> Outcome:
    """The folder of the outputs, or that of temporary files, is removed with all that is in it."""
    for i, moment in zip(range(n), moments(bench, chance)):
        before = started_over(bench, FEW)
        folder = (bench.final, bench.staging)[i // 2 % 2]
        run = Run(bench, MANY)
        moment(run)
        shutil.rmtree(folder, ignore_errors=True)
        run.end()
        if folder == bench.final:  # what is removed while it is being written to is not to be had
            wrong = run.complaints()
            there = contents(bench.final)
            wrong += [f"{file} is not new" for file in there if there[file] not in (ABSENT, bench.releases[MANY][file])]
            yield wrong + [f"{name} is left" for name in others(bench.final)]
        else:
            yield left(bench, run, before, bench.releases[MANY])


def cut(file: Path) -> None:
    """Leave a third of a file."""
    os.truncate(file, file.stat().st_size // 3)


def delete_rows(file: Path) -> None:
    """Delete a third of the rows, as another program would: not while somebody reads them."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(file, timeout=0.1)) as connection, connection:
        connection.execute("DELETE FROM records WHERE fid % 3 = 0")


CHANGES: tuple[tuple[str, Callable[[Path], None]], ...] = (("gpkg", cut), ("csv", cut), ("gpkg", delete_rows))


def input_is_changed(bench: Bench, chance: random.Random, n: int) -> Outcome:
    """Cut short or changed while it is read: the release is that of the whole input, or of the changed one."""
    possible: dict[int, Contents | None] = {}
    for i, moment in zip(range(n), moments(bench, chance)):
        ending, change = CHANGES[i % len(CHANGES)]
        if i % len(CHANGES) not in possible:
            bench.clear()
            change(bench.town / f"records.{ending}")
            done = Run(bench, MANY, ending).end()
            possible[i % len(CHANGES)] = contents(bench.final) if done.code == 0 else None
            bench.new_town()
        before = started_over(bench, FEW)
        run = Run(bench, MANY, ending)
        moment(run)
        change(bench.town / f"records.{ending}")
        run.end()
        bench.new_town()
        new = [
            new_contents
            for new_contents in (whole_of(bench, ending), possible[i % len(CHANGES)])
            if new_contents is not None
        ]
        yield min((left(bench, run, before, new_contents) for new_contents in new), key=len)


def whole_of(bench: Bench, ending: str) -> Contents:
    """The release of the whole input: a CSV shows in the report under its own name."""
    key = MANY if ending == "gpkg" else -MANY
    if key not in bench.releases:
        held = {path: path.read_bytes() for path in bench.final.iterdir()}
        bench.clear()
        Run(bench, MANY, ending).end()
        bench.releases[key] = contents(bench.final)
        bench.clear()
        for path, content in held.items():
            path.write_bytes(content)
    return bench.releases[key]


def target_is_locked(bench: Bench, chance: random.Random, n: int) -> Outcome:
    """Another program works in the target, or has left a journal beside it; or works in the input."""
    target = bench.final / "released.gpkg"
    for i in range(n):
        before = started_over(bench, FEW)
        if i % 4 in (0, 3):
            held = target if i % 4 == 0 else bench.town / "records.gpkg"
            with subprocess.Popen(
                [sys.executable, "-c", HELD, str(held)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as other:
                assert other.stdout is not None
                other.stdout.readline()
                run = Run(bench, MANY).end()
                other.communicate("\n")
            yield left(bench, run, before, before) + (["it takes no notice"] if run.code == 0 else [])
            continue
        journal = ("WAL", "DELETE")[i % 4 - 1]
        subprocess.run([sys.executable, "-c", ENDED_BADLY, str(target), journal], check=False)
        beside = set(others(bench.final))
        run = Run(bench, MANY).end()
        wrong = run.complaints()
        there, kept = contents(bench.final), set(others(bench.final))
        good = (there == bench.releases[MANY] and not kept) if run.code == 0 else kept == beside
        yield wrong + ([] if good else ["a journal is left, or the new file is not whole"])


def two_runs_on_one_target(bench: Bench, chance: random.Random, n: int) -> Outcome:
    """Two runs that make other releases, at once or one a little after the other."""
    for i in range(n):
        started_over(bench, None)
        runs = [Run(bench, FEW)]
        time.sleep((0.0, chance.uniform(0.0, 1.0))[i % 2])
        runs.append(Run(bench, MANY))
        codes = [run.end().code for run in runs]
        there = contents(bench.final)
        wrong = [complaint for run in runs for complaint in run.complaints()] + [
            f"{name} is left" for name in others(bench.final)
        ]
        wrong += [] if 0 in codes else ["none of the two succeeds"]
        yield wrong + ([] if there in (bench.releases[FEW], bench.releases[MANY]) else ["the outputs are of both"])


# What happens, how often, and how often where there is little time: not what tests/headless do on their own.
KINDS: tuple[tuple[str, Callable[[Bench, random.Random, int], Outcome], int, int], ...] = (
    ("killed", killed, 30, 1),
    ("interrupted", interrupted, 30, 0),
    ("disk of the outputs full", disk_is_full, 10, 1),
    ("disk of temporary files full", temporary_disk_is_full, 8, 0),
    ("size of files limited", files_are_limited, 8, 0),
    ("memory limited", memory_is_limited, 8, 1),
    ("folder removed", folder_is_removed, 10, 1),
    ("input cut or changed", input_is_changed, 12, 1),
    ("target or input locked, or with a journal", target_is_locked, 8, 1),
    ("two runs on one target", two_runs_on_one_target, 6, 0),
)


def _loaded(home: Path) -> AbstractContextManager[LoadedQgis]:
    from vbas.tests.headless.loaded import loaded_qgis

    return loaded_qgis(home)


def main(words: list[str]) -> int:
    """Inject all faults, or few; words : --few, the seed."""
    few, numbers = "--few" in words, [word for word in words if word.isdecimal()]
    seed = int(numbers[0]) if numbers else 1
    named = [word for word in words if word != "--few" and word not in numbers]
    root = os.geteuid() == 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
        bench = Bench(folder, stack.enter_context(_loaded(folder / "home")) if few else None)
        bench.prepare(twice=not few)  # a run after one that was killed shows it, too
        print(f"A run takes {bench.seconds:.1f} s from its first word and {bench.memory >> 20} MiB; seed {seed}.")
        injected = survived = 0
        for title, inject, n, n_few in KINDS:
            n = n_few if few else n
            if not n or (named and not any(word in title for word in named)):
                continue
            if inject in (disk_is_full, temporary_disk_is_full) and not root:
                print(f"{title}: left out, only root may mount a small disk")
                continue
            faults = list(inject(bench, random.Random(seed), n))
            injected, survived = injected + len(faults), survived + faults.count([])
            print(f"{title}: {len(faults)} injected, {faults.count([])} survived", flush=True)
            for position, wrong in enumerate(faults):
                for complaint in wrong:
                    print(f"  {position + 1}: {complaint}", flush=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{injected} faults injected, {survived} survived, {spent.ru_utime + spent.ru_stime:.0f} s of processor time."
    )
    return int(survived < injected)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
