"""Records in Spark: the profile and the release, against Spark SQL written by hand for the same table.

    PYTHONPATH=build/package .venv/bin/python benchmarks/spark.py [records, 5 million by default] [rounds, 3] [areas]

The people are those of `engines.py`, as one Parquet file; the cluster has two executors on this machine
(`local-cluster[2,1,1024]`), and both work in turns in the same session, in Java that is warm: a first round counts for
nothing, of the others the medians are taken. CPU seconds are those of Python, the driver and the executors together.

By hand: the profile is one GROUP BY of the fields as they are, fetched as Arrow. The release is a join with the regions
of that profile's areas, a window that counts classes, and rows sorted by what they show in each file, written as
Parquet: the window has dealt them out by region and quasi-identifiers, so that no second exchange is needed. Who cares
counts what was written once more: that is measured apart, and both ratios are printed. What that does not do: check
fields, look at kept fields, hold every class against the plan, see whether files have changed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from vbas.benchmarks import engines

MASTER, MEMORY = "local-cluster[2,1,1024]", 2_000
FIELDS = ", ".join(engines.QUASI)
PROFILE = f"SELECT area, {FIELDS}, count(*) AS n FROM people GROUP BY area, {FIELDS}"
RELEASE = f"""
SELECT region, {FIELDS}, diagnosis FROM (
SELECT region, {FIELDS}, diagnosis, count(*) OVER (PARTITION BY region, {FIELDS}) AS n
FROM people JOIN regions USING (area)) WHERE n >= {engines.K} SORT BY region, {FIELDS}, diagnosis"""
COUNT = f"""
SELECT sum(n), count(*), min(n) FROM (SELECT count(*) AS n FROM parquet.`{{folder}}` GROUP BY region, {FIELDS})"""


class Measured:
    """CPU seconds by name, in the order of the rounds."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        before = cpu_of_all()
        yield
        self.seconds.setdefault(name, []).append(cpu_of_all() - before)

    def of(self, *names: str) -> float:
        """The medians of these steps, added up, without the first round."""
        return sum(median(self.seconds[name][1:]) for name in names)


def cpu_of_all() -> float:
    """CPU seconds of this process and of all that it started, which Java's own processes are."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                fields = (place / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            parents[int(place.name)], ticks[int(place.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    total = 0
    for process in ticks:
        above = process
        while above not in (0, os.getpid()):
            above = parents.get(above, 0)
        total += ticks[process] if above else 0
    return total / os.sysconf("SC_CLK_TCK")


def by_hand(session: Any, folder: Path, measured: Measured) -> tuple[int, int]:
    """What somebody would write who knows Spark SQL; the cells and the rows that it makes."""
    import pyarrow as pa

    out = folder / "by hand"
    shutil.rmtree(out, ignore_errors=True)
    with measured.step("profile by hand"):
        profile = session.sql(PROFILE).toArrow()
    with measured.step("release by hand"):
        areas = sorted(profile["area"].unique().to_pylist())
        region = (np.arange(len(areas)) + 1) * engines.REGIONS // (1 + len(areas))
        session.createDataFrame(pa.table({"area": areas, "region": region})).createOrReplaceTempView("regions")
        session.sql(RELEASE).write.parquet(str(out))
    with measured.step("counted once more by hand"):
        ((rows, _, least),) = session.sql(COUNT.format(folder=out)).collect()
    if least < engines.K:
        sys.exit("The release by hand has a class below k.")
    return profile.num_rows, rows


def ours(folder: Path, measured: Measured) -> tuple[int, int]:
    """The profile and the release as the toolbox makes them; their cells and rows."""
    from vbas.core.areas import make_areas
    from vbas.core.crosswalk import Crosswalk
    from vbas.core.engines import open_engine
    from vbas.core.engines.profiling import count_in_place, match_in_place
    from vbas.core.engines.releasing import stage_in_place
    from vbas.core.plan import suppress
    from vbas.core.records.fields import RecordFields

    out = folder / "released"
    shutil.rmtree(out, ignore_errors=True)
    with open_engine(MASTER, str(folder / "people.parquet"), memory=MEMORY) as engine:
        with measured.step("profile"):
            in_place = count_in_place(engine, RecordFields("area", engines.QUASI, ("diagnosis",)))
        with measured.step("plan, profile matched"):
            identifiers = sorted(value for value in in_place.areas if value is not None)
            n = len(identifiers)
            matched = match_in_place(in_place, make_areas(identifiers, np.zeros((n, 2))))
            crosswalk = Crosswalk((np.arange(n) + 1) * engines.REGIONS // (1 + n), engines.REGIONS)
            plan = suppress(matched.profile, crosswalk, engines.K)
        with measured.step("release, counted once more"):
            done = stage_in_place(matched, plan, str(out))
            done.publish()
    return len(in_place.records), done.rows


def main(records: int, rounds: int, areas: int) -> None:
    from vbas.core.engines.addresses import read_address
    from vbas.core.engines.spark_session import opened_session

    with tempfile.TemporaryDirectory() as name:
        folder, measured = Path(name), Measured()
        engines.make(folder, records, areas)
        print(f"{records} records, {areas} areas, {MASTER}, {rounds} rounds after the first\n", flush=True)
        at = opened_session(read_address(MASTER), MEMORY)
        at.session.read.parquet(str(folder / "people.parquet")).createOrReplaceTempView("people")
        for turn in range(rounds + 1):
            started = time.perf_counter()
            theirs, own = by_hand(at.session, folder, measured), ours(folder, measured)
            print(f"round {turn}: {time.perf_counter() - started:.0f} seconds", flush=True)
            if theirs != own:
                sys.exit(f"By hand there are {theirs} cells and rows, here {own}.")
        at.close()
    print(f"\n{own[0]} cells, {own[1]} rows released\n\n| step | CPU seconds, each round | median without the first |")
    print("|---|---|---|")
    for step, seconds in measured.seconds.items():
        print(f"| {step} | {', '.join(f'{second:.1f}' for second in seconds)} | {measured.of(step):.1f} |")
    profile, release, count = "profile by hand", "release by hand", "counted once more by hand"
    both = measured.of("profile", "release, counted once more")
    print(f"\nThe profile costs {measured.of('profile') / measured.of(profile):.2f} times the CPU of that by hand,")
    print(f"profile and release {both / measured.of(profile, release, count):.2f} times both by hand with their count,")
    print(f"{both / measured.of(profile, release):.2f} times without it.")


if __name__ == "__main__":
    main(*(int(text) for text in (sys.argv[1:] + ["5000000", "3", "17500"][len(sys.argv) - 1 :])))
