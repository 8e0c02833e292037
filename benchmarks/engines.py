"""Records in place: every step against what the engine does by itself, and the table of what is to be reached.

    PYTHONPATH=build/package QT_QPA_PLATFORM=offscreen .venv/bin/python benchmarks/engines.py [--rows 10000000]
        [--areas 18077] [--folder DIR] [--only profile release rivals nested linear postgres]

The people are made up: five quasi-identifiers with missing values, as skewed as people are. Every line is a process of
its own, so that its CPU seconds and its peak memory are its own; of PostgreSQL, whose server works in processes of its
own, the seconds are those of the clock. In a DIR people and figures stay: what is measured there already is not
measured again, so that a large run can be made part by part, and the table is that of all parts.

“Rivals” holds both against the best of DuckDB's own with text and with enumerations, and polars where it is installed,
whose memory has no limit: medians of alternated runs. The rivals of the other lines: DuckDB's own GROUP BY of the same
fields to Arrow, and its COPY of the same join sorted by the same fields; PostgreSQL's own GROUP BY without transfer.
What the rivals do not do: check fields, look at kept fields, count what was written once more. A nested plan (levels,
optimum, plan, measures) is held against reading the profile: what a run does with the GeoPackage that
vbas:profiledatabase writes before it begins, every row read, checked, matched and counted (of 10 million records at
most; beyond, the same CPU seconds a cell are taken); and against counting it in DuckDB, which is how
vbas:releasedatabase has it. “Linear” holds the CPU seconds a row of profile and release, without those of a run over
1 000 rows, against those of the largest table.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Callable

from vbas.benchmarks.engine_jobs import AREAS, MEMORY, QUASI, REGIONS, K, make

PARTS = ("profile", "release", "rivals", "nested", "linear", "postgres")
RIVAL_ROUNDS = 3
OF_POSTGRES = 5_000_000  # rows, at most
READ_ROWS = 10_000_000  # whose profile is read: reading takes some 130 bytes a cell in memory
NESTED_ROWS = 85_000_000  # at most, which make some 65 million cells in 57 936 areas
SIZES = (1_000_000, 10_000_000)
__all__ = ["MEMORY", "QUASI", "REGIONS", "K", "make", "measured"]


@dataclass(frozen=True)
class Run:
    """What a job found and took: rows; seconds of the clock and of the CPU; MB; CPU seconds by part."""

    rows: int
    wall: float
    cpu: float
    peak: float
    parts: dict[str, float] = field(default_factory=dict)


def process(folder: Path, *arguments: str) -> Run:
    """Run one of the jobs in a process of its own."""
    command = [sys.executable, __file__, "job", str(folder), *arguments]
    started = time.perf_counter()
    done = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert done.stdout is not None
    with done.stdout:
        printed = done.stdout.read().decode().strip()
    _, status, usage = os.wait4(done.pid, 0)
    if status:
        sys.exit(f"{' '.join(arguments)} failed.")
    rows, parts = json.loads(printed.split("\n")[-1])
    return Run(rows, time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, parts)


def measured(title: str, folder: Path, *arguments: str) -> tuple[float, float]:
    """Run one of the jobs and print its line; its CPU seconds and those of the clock."""
    figures = line(title, process(folder, *arguments))
    return figures.cpu, figures.wall


def line(title: str, run: Run) -> Run:
    print(f"| {title} | {run.rows} | {run.wall:.1f} | {run.cpu:.1f} | {run.peak:.0f} |", flush=True)
    return run


def job(folder: Path, what: str, *arguments: str) -> None:
    from vbas.benchmarks import engine_jobs

    jobs: dict[str, Callable[..., engine_jobs.Outcome]] = {
        "plain": engine_jobs.plain,
        "copy": engine_jobs.copy,
        "copy_enum": engine_jobs.copy_enum,
        "plain_polars": engine_jobs.plain_polars,
        "copy_polars": engine_jobs.copy_polars,
        "ours": engine_jobs.ours,
    }
    jobs |= {"nested": engine_jobs.nested, "postgres": engine_jobs.in_postgres}
    jobs |= {"write": engine_jobs.write_profile, "read": engine_jobs.read_profile}
    figures = jobs[what](folder, *arguments)
    print(json.dumps(figures if isinstance(figures, tuple) else (figures, {})))


class Bench:
    """Jobs over people in a folder, whose figures stay there."""

    def __init__(self, folder: Path, rows: int, areas: int) -> None:
        self.folder, self.rows, self.areas = folder, rows, areas
        self._file = folder / f"figures of {rows} in {areas}.json"
        self._printed: set[str] = set()
        self._known = json.loads(self._file.read_text()) if self._file.exists() else {}

    def people(self, rows: int) -> Path:
        """The folder with so many people, who are made where they are not there."""
        folder = self.folder / f"{rows} in {self.areas}"
        if not (folder / "people.parquet").exists():
            folder.mkdir(exist_ok=True)
            make(folder, rows, self.areas)
        return folder

    def run(self, title: str, rows: int, what: str, *arguments: str) -> Run:
        """The figures of a job, measured unless they are known, and its line, once.

        Words in braces are files in the folder of the people.
        """
        key = " ".join([str(rows), what, *arguments])
        if key not in self._known:
            folder = self.people(rows)
            given = [str(folder / argument[1:-1]) if argument[:1] == "{" else argument for argument in arguments]
            for argument, path in zip(arguments, given):
                if argument[:1] == "{" and argument != "{people.parquet}":
                    Path(path).unlink(missing_ok=True)
            self._known[key] = asdict(process(folder, what, *given))
            self._file.write_text(json.dumps(self._known, indent=1))
        known_run = Run(**self._known[key])
        if key not in self._printed:
            self._printed.add(key)
            line(title, known_run)
        return known_run


def reached(step: str, against: str, reach: str, figures: str, good: bool | None) -> str:
    answer = {True: "yes", False: "NO", None: "not measured here"}[good]
    return f"| {step} | {against} | {reach} | {figures} | {answer} |"


def profile(bench: Bench) -> list[str]:
    own = bench.run("DuckDB's own GROUP BY to Arrow", bench.rows, "plain")
    ours = bench.run("profile in DuckDB", bench.rows, "ours", "{people.parquet}", "", "")
    ratio, peak = ours.cpu / own.cpu, ours.peak / 1000
    figures = f"{ratio:.2f} x, {peak:.2f} GB"
    good = ratio <= 0.6 and peak <= 2.2
    return [
        reached(
            f"profile of {bench.rows:,} rows, DuckDB", "its own GROUP BY to Arrow", "0.6 x CPU, 2.2 GB", figures, good
        )
    ]


def release(bench: Bench) -> list[str]:
    ours = bench.run("profile in DuckDB", bench.rows, "ours", "{people.parquet}", "", "")
    own = bench.run("DuckDB's own COPY of the join, sorted", bench.rows, "copy")
    both = bench.run("profile and release in DuckDB", bench.rows, "ours", "{people.parquet}", "", "{out.parquet}")
    ratio = (both.cpu - ours.cpu) / own.cpu
    figures = f"{ratio:.2f} x, {both.peak / 1000:.2f} GB"
    return [
        reached(
            f"release of {bench.rows:,} rows, second count included",
            "its own COPY of the same join",
            "1.3 x CPU",
            figures,
            ratio <= 1.3,
        )
    ]


def rivals(bench: Bench) -> list[str]:
    """Profile and release against the best of several ways, by medians of alternated runs."""
    polars = importlib.util.find_spec("polars") is not None
    ours = {"profile": ("ours", "people", ""), "both": ("ours", "people", "out")}
    others = {"profile": {"GROUP BY": "plain"}, "release": {"text COPY": "copy", "COPY of enumerations": "copy_enum"}}
    if polars:
        others["profile"]["polars"] = "plain_polars"
        others["release"]["polars"] = "copy_polars"
    folder = bench.people(bench.rows)
    taken: dict[str, list[float]] = {}
    for _ in range(RIVAL_ROUNDS):
        for word, (what, source, target) in ours.items():
            (folder / "out.parquet").unlink(missing_ok=True)
            place = str(folder / "out.parquet") if target else ""
            run = process(folder, what, str(folder / f"{source}.parquet"), "", place)
            taken.setdefault(word, []).append(run.cpu)
        for named in others.values():
            for what in named.values():
                taken.setdefault(what, []).append(process(folder, what).cpu)
    seconds = {word: statistics.median(runs) for word, runs in taken.items()}
    seconds["release"] = seconds["both"] - seconds["profile"]
    lines = []
    for step, named in others.items():
        best = min(seconds[what] for what in named.values())
        of_others = ", ".join(f"{title} {seconds[what]:.1f}" for title, what in named.items())
        figures = f"{seconds[step] / best:.2f} x ({seconds[step]:.1f}; {of_others} CPU s)"
        title = f"{step} of {bench.rows:,} rows, DuckDB"
        lines.append(reached(title, "the best of its rivals", "0.8 x CPU", figures, seconds[step] <= 0.8 * best))
    return lines


def nested(bench: Bench) -> list[str]:
    rows = min(bench.rows, NESTED_ROWS)
    plan = bench.run(f"profile of {rows:,} rows, nested plan and its measures", rows, "nested", "")
    few = min(bench.rows, READ_ROWS)
    bench.run(f"the profile of {few:,} rows written by vbas:profiledatabase, bytes", few, "write")
    read = bench.run("that profile read, matched and counted", few, "read")
    ours = sum(plan.parts[part] for part in ("levels", "nest", "measures"))
    reading, peak = sum(read.parts.values()) * plan.rows / read.rows, plan.peak / 1000
    figures = f"{ours / reading:.2f} x, {peak:.2f} GB"
    good = ours <= 3 * reading and peak <= 4
    lines = [reached(f"nested plan of {plan.rows:,} cells", "reading the profile", "3 x CPU, 4 GB", figures, good)]
    counting = plan.parts["count"]
    return [
        *lines,
        reached("the same", "counting it in DuckDB", "3 x CPU", f"{ours / counting:.2f} x", ours <= 3 * counting),
    ]


def linear(bench: Bench) -> list[str]:
    start = bench.run(
        "start: profile and release of 1,000 rows", 1_000, "ours", "{people.parquet}", "", "{out.parquet}"
    )
    sizes = [*(rows for rows in SIZES if rows < bench.rows), bench.rows]
    runs = [
        bench.run(f"profile and release of {rows:,} rows", rows, "ours", "{people.parquet}", "", "{out.parquet}")
        for rows in sizes
    ]
    each = [1e6 * (run.cpu - start.cpu) / rows for run, rows in zip(runs, sizes)]
    figures = ", ".join(f"{seconds:.2f} µs" for seconds in each)
    step = f"{sizes[0]:,} to {sizes[-1]:,} rows, CPU a row"
    return [
        reached(
            step,
            "that of the largest",
            "within 20 %",
            figures,
            all(abs(seconds / each[-1] - 1) <= 0.2 for seconds in each),
        )
    ]


def postgres(bench: Bench) -> list[str]:
    from vbas.tests import postgres_server

    rows = min(bench.rows, OF_POSTGRES)
    with ExitStack() as servers:
        server = servers.enter_context(postgres_server.running()).address
        folder = bench.people(rows)
        line("load into PostgreSQL", process(folder, "postgres", server, "load"))
        own = line("PostgreSQL's own GROUP BY, counted there", process(folder, "postgres", server, "count"))
        ours = line("profile in PostgreSQL", process(folder, "ours", server, "people", ""))
        line("profile and release in PostgreSQL", process(folder, "ours", server, "people", "released"))
    ratio = ours.wall / own.wall
    return [
        reached(
            f"profile of {rows:,} rows in PostgreSQL",
            "its own GROUP BY",
            "1.6 x seconds",
            f"{ratio:.2f} x",
            ratio <= 1.6,
        )
    ]


def main(rows: int, areas: int, folder: Path, only: list[str]) -> None:
    bench = Bench(folder, rows, areas)
    print(f"{rows:,} records, {areas:,} areas\n")
    print("| run | rows | seconds | CPU seconds | peak MB |\n|---|---|---|---|---|", flush=True)
    parts = {"profile": profile, "release": release, "rivals": rivals}
    parts |= {"nested": nested, "linear": linear, "postgres": postgres}
    lines = []
    for part in only:
        lines += parts[part](bench)
    lines.append(reached("Spark, profile and release", "Spark SQL by hand", "1.1 x CPU", "benchmarks/spark.py", None))
    lines.append(
        reached("headless, GeoPackage in and out", "GDAL's copy", "1.0 x", "benchmarks/headless_scale.py", None)
    )
    print("\n| step | against | reach, at most | measured | reached |\n|---|---|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    if sys.argv[1:2] == ["job"]:
        job(Path(sys.argv[2]), *sys.argv[3:])
    else:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        parser = argparse.ArgumentParser()
        parser.add_argument("--rows", type=int, default=10_000_000)
        parser.add_argument("--areas", type=int, default=AREAS)
        parser.add_argument("--folder", type=Path)
        parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
        given = parser.parse_args()
        with tempfile.TemporaryDirectory() as name:
            where = given.folder or Path(name)
            where.mkdir(exist_ok=True)
            main(given.rows, given.areas, where, given.only)
