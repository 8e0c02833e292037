"""What two releases of the same people give away together, before and after a repair, and how long it takes to tell.

A province: the 4 480 dissemination areas of Eastern Canada, 2.4 million generated people in 900 classes, k = 5. Each
row is two releases, each k-anonymous by itself: regions of balanced density and iterative Voronoi, the same regions
with fewer quasi-identifiers, and an update with one more person. Reading the records, which sets the measure for the
time, is that of a GeoPackage by its fastest way (`sqlite3`, GROUP BY).

    PYTHONPATH=build/package .venv/bin/python benchmarks/earlier_releases.py [--repair]
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from vbas.benchmarks import real_data
from vbas.benchmarks.scenarios import LARGE_SELECTION, scenario
from vbas.core.aggregation import APPROACHES as AGGREGATIONS
from vbas.core.aggregation import AggregationOptions
from vbas.core.areas import Areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.counts import KINDS
from vbas.core.disclosure.published import publish
from vbas.core.plan import suppress
from vbas.core.profile import Profile
from vbas.core.progress import silent
from vbas.core.releases.examining import examine
from vbas.core.releases.repair import repair
from vbas.core.site_location import APPROACHES as LOCATIONS
from vbas.core.site_location import LocationOptions

K = 5


def regions(areas: Areas, profile: Profile, n: int) -> Crosswalk:
    sites = LOCATIONS["balanced density"](areas, profile, n, LocationOptions(), silent).sites
    return AGGREGATIONS["iterative Voronoi"](areas, None, sites, AggregationOptions(), silent).crosswalk


def fewer(profile: Profile, n: int) -> Profile:
    """The profile of the same people by the first n quasi-identifiers."""
    classes, of = np.unique(profile.classes[:, :n], axis=0, return_inverse=True)
    ones = np.ones(len(profile.classes), np.int64)
    shape = (len(profile.classes), len(classes))
    join = sparse.csr_matrix((ones, (np.arange(shape[0]), of.reshape(-1))), shape=shape)
    return replace(
        profile,
        counts=sparse.csr_matrix(profile.counts @ join),
        classes=classes,
        categories=profile.categories[:n],
        quasi_identifiers=profile.quasi_identifiers[:n],
    )


def one_more(profile: Profile) -> Profile:
    """The profile with one more person in the most frequent class."""
    counts = profile.counts.copy()
    counts.data[np.argmax(counts.data)] += 1
    return replace(profile, counts=counts)


def seconds_to_read(profile: Profile) -> float:
    """Reading and counting the records of a profile from an SQLite table of one row a person, in seconds."""
    cells = profile.counts.tocoo()
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(Path(folder) / "records.db")) as connection:
        connection.execute("CREATE TABLE records (area INTEGER, class INTEGER)")
        rows = zip(np.repeat(cells.row, cells.data).tolist(), np.repeat(cells.col, cells.data).tolist())
        connection.executemany("INSERT INTO records VALUES (?, ?)", rows)
        connection.commit()
        start = time.perf_counter()
        connection.execute("SELECT area, class, COUNT(*) FROM records GROUP BY area, class").fetchall()
        return time.perf_counter() - start


def main() -> None:
    problem = real_data.problem_with(["East"])
    if problem:
        sys.exit(problem)
    areas, profile = scenario("East", LARGE_SELECTION)
    crosswalk = regions(areas, profile, 40)
    pairs = {
        "40 and 41 regions": (suppress(profile, crosswalk, K), suppress(profile, regions(areas, profile, 41), K)),
        "8 and 10 regions": (
            suppress(profile, regions(areas, profile, 8), K),
            suppress(profile, regions(areas, profile, 10), K),
        ),
        "60 and 100 regions": (
            suppress(profile, regions(areas, profile, 60), K),
            suppress(profile, regions(areas, profile, 100), K),
        ),
        "three and four quasi-identifiers": (
            suppress(fewer(profile, 3), crosswalk, K),
            suppress(fewer(profile, 4), crosswalk, K),
        ),
        "four and five quasi-identifiers": (suppress(fewer(profile, 4), crosswalk, K), suppress(profile, crosswalk, K)),
        "one person more": (suppress(profile, crosswalk, K), suppress(one_more(profile), crosswalk, K)),
    }
    print(f"{len(areas)} areas, {len(profile.classes)} classes, {profile.n_records} people, k = {K}")
    print(f"Reading and counting the records: {seconds_to_read(profile):.1f} s\n")
    print(f"| releases | counts | {' | '.join(KINDS)} | change | exactly 1 | people | undecided | seconds |")
    print("|---" * (len(KINDS) + 7) + "|")
    for name, (old, new) in pairs.items():
        start = time.process_time()
        findings = examine(publish(new, areas), [publish(old, areas)])
        seconds = time.process_time() - start
        kinds = Counter(count.kind for count in findings.counts)
        changed = sum(len(changes) for _, changes in findings.changes)
        single = sum(count.high == 1 for count in findings.counts) + changed * (name == "one person more")
        people = 0 if findings.disclosed is None else findings.disclosed.n_persons
        people += sum(changes.n_persons for _, changes in findings.changes)
        of_kinds = " | ".join(str(kinds[kind]) for kind in KINDS)
        row = f"| {name} | {findings.n_counts} | {of_kinds} | {changed} | {single} | {people} | {findings.n_undecided}"
        print(f"{row} | {seconds:.1f} |", flush=True)
    if "--repair" not in sys.argv:
        return
    print("\n| repaired | counts before | after | more suppressed | of released | known by size | seconds |")
    print("|---" * 7 + "|")
    for name, (old, new) in pairs.items():
        start = time.process_time()
        done = repair(new, areas, [publish(old, areas)])
        seconds = time.process_time() - start
        cost = f"{done.n_suppressed} ({100 * done.n_suppressed / new.n_released:.2f} %)"
        row = f"| {name} | {done.before.n_counts} | {done.after.n_counts} | {cost} | {new.n_released}"
        print(f"{row} | {done.n_known_by_size} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
