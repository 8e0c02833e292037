"""Monthly releases of one geography for ten years in one register: its size, and what it takes to hold a new one to it.

    PYTHONPATH=build/package .venv/bin/python benchmarks/register_size.py [nested] [one-level] [--areas 5000]
        [--entries 12 60 120]

A drawn town: areas on a grid with 400 to 700 people each, of 90 classes (age in fifteen groups, sex, language), as
unevenly many as they are in towns. One level: regions of ten areas. Nested: levels as `core.nesting.making` makes them,
planned once by `core.nesting.planning`. Each month 3 in 100 of the counts that are shown change by k people, so that a
month beside another tells nothing. Printed after so many entries: the size of the file in MB, its counts in millions,
and CPU seconds to read and check the register, to make the releases comparable, to hold one more against all of them,
and to add it. Peak memory is that of the whole run, in MB.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.published import Published, publish
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan, suppress
from vbas.core.profile import Profile
from vbas.core.publish.register.published_releases import earlier_releases, new_entry
from vbas.core.records.columns import Column
from vbas.core.records.table import RecordTable
from vbas.core.releases.comparable import related
from vbas.core.releases.examining import examine

K, CHANGES = 5, 0.03
AGES, SEXES, LANGUAGES = 15, 2, 3


def town(n_areas: int, rng: np.random.Generator) -> tuple[Areas, Profile]:
    side = int(np.ceil(np.sqrt(n_areas)))
    at = np.arange(n_areas)
    people = rng.integers(400, 701, n_areas)
    points = np.column_stack([at % side, at // side]) * 250.0
    identifiers = [f"{46110000 + i}" for i in at.tolist()]
    weights = np.repeat([0.7, 0.2, 0.1], AGES * SEXES) * rng.uniform(0.5, 1.5, LANGUAGES * AGES * SEXES)
    shares = weights / weights.sum()
    counts = np.stack([rng.multinomial(n, shares) for n in people.tolist()])
    classes = np.stack(np.unravel_index(np.arange(len(shares)), (LANGUAGES, AGES, SEXES)), axis=1)
    names = ("language", "age", "sex")
    categories = tuple(
        np.array([f"{name} {i}" for i in range(n)], dtype=object) for name, n in zip(names, (LANGUAGES, AGES, SEXES))
    )
    profile = Profile(sparse.csr_matrix(counts), classes, categories, names)
    return make_areas(identifiers, points, profile.area_sizes.astype(float)), profile


def plan_of(kind: str, areas: Areas, profile: Profile) -> Plan:
    if kind == "nested":
        return nest(areas, profile, build_levels(areas, profile), K)
    crosswalk = number_compactly(np.arange(len(areas)) // 10)[0]
    return suppress(profile, crosswalk, K)


def next_month(release: Published, rng: np.random.Generator) -> Published:
    """A month later: some counts are k people more, or fewer where k are left."""
    changed = rng.random(len(release.records)) < CHANGES
    fewer = (rng.random(len(release.records)) < 0.5) & (release.records >= 2 * K)
    records = release.records + np.where(changed, np.where(fewer, -K, K), 0)
    return replace(release, records=records, held_back=None)


def months(kind: str, n_areas: int, entries: list[int]) -> Iterator[str]:
    """The rows of the table for releases of one kind."""
    rng = np.random.default_rng(0)
    areas, profile = town(n_areas, rng)
    release = publish(plan_of(kind, areas, profile), areas)
    release = replace(release, held_back=None, bounded=False, whole=False)
    columns = {name: Column(np.arange(0), of) for name, of in zip(release.quasi_identifiers, release.categories)}
    table = RecordTable(Column(np.arange(0), areas.identifiers), columns, {})
    counts = 0
    with tempfile.TemporaryDirectory() as folder:
        register = Path(folder) / "register.gpkg"
        for month in range(max(entries) + 1):
            release = next_month(release, rng)
            if month in entries:
                started = [time.process_time()]
                earlier = earlier_releases(register)
                started.append(time.process_time())
                same = related(earlier.releases, release, table, (), {}, {})
                started.append(time.process_time())
                findings = examine(
                    same.relate(release), [same.relate(earlier_release) for earlier_release in same.earlier]
                )
                assert not findings.n_counts and not earlier.broken
                started.append(time.process_time())
                new_entry(register, release, month).put()
                started.append(time.process_time())
                took = " | ".join(f"{second - first:.1f}" for first, second in zip(started, started[1:]))
                size = register.stat().st_size / 1e6
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
                total = started[-1] - started[0]
                yield f"| {kind} | {month} | {size:.1f} | {counts / 1e6:.2f} | {took} | {total:.1f} | {memory:.0f} |"
                del earlier, same, findings
            else:
                new_entry(register, release, month).put()
            counts += len(release.records)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=["one-level", "nested"])
    parser.add_argument("--areas", type=int, default=5000)
    parser.add_argument("--entries", type=int, nargs="*", default=[12, 60, 120])
    given = parser.parse_args()
    columns = (
        "releases",
        "entries",
        "MB",
        "million counts",
        "read, s",
        "relate, s",
        "hold, s",
        "add, s",
        "all, s",
        "MB",
    )
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|", flush=True)
    for kind in given.kinds:
        for row in months(kind, given.areas, given.entries):
            print(row, flush=True)


if __name__ == "__main__":
    main()
