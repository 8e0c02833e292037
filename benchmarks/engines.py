"""Records in place: the profile and the release in DuckDB and PostgreSQL, against what the engine does by itself.

    PYTHONPATH=build/package .venv/bin/python benchmarks/engines.py [records, 10 million by default] [areas, 18 077]

The people are made up: five quasi-identifiers with missing values, as skewed as people are. Every line is a process of
its own, so that its CPU seconds and its peak memory are its own; of PostgreSQL, whose server works in processes of its
own, the seconds are those of the clock. The rivals: DuckDB's own GROUP BY of the same fields to Arrow, and its COPY of
the same join sorted by the same fields; PostgreSQL's own GROUP BY without transfer. What the rivals do not do: check
fields, look at kept fields, count what was written once more.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

AREAS, REGIONS, K, MEMORY = 18_077, 60, 5, 2_000
QUASI = ("sex", "age_group", "marital_status", "education", "language")
MAKE = """
COPY (SELECT lpad(cast(cast(floor({areas} * pow(random(), 1.3)) AS int) AS varchar), 8, '0') AS area,
CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex,
'age ' || cast(floor(18 * random()) AS int) AS age_group,
CASE WHEN random() < 0.02 THEN NULL ELSE 'status ' || cast(floor(5 * pow(random(), 2)) AS int) END AS marital_status,
CASE WHEN random() < 0.03 THEN NULL ELSE 'degree ' || cast(floor(6 * pow(random(), 1.5)) AS int) END AS education,
'language ' || cast(floor(12 * pow(random(), 4)) AS int) AS language,
'diagnosis ' || cast(floor(200 * pow(random(), 3)) AS int) AS diagnosis
FROM range({records})) TO '{path}' (FORMAT parquet)
"""
PLAIN = f"SELECT area, {', '.join(QUASI)}, count(*) AS n FROM {{table}} GROUP BY ALL"
COUNTED = (
    f"SELECT count(*) FROM (SELECT area, {', '.join(QUASI)}, count(*) FROM people GROUP BY 1, 2, 3, 4, 5, 6) cells"
)
# The join that releases: regions by a table of areas, classes of k by a window, rows sorted by what they show.
COPY = f"""
COPY (SELECT region, {", ".join(QUASI)}, diagnosis FROM (
SELECT region, {", ".join(QUASI)}, diagnosis, count(*) OVER (PARTITION BY region, {", ".join(QUASI)}) AS n
FROM '{{path}}' JOIN (
SELECT area, cast(row_number() OVER (ORDER BY area) * {REGIONS} // (1 + {{areas}}) AS int) AS region
FROM (SELECT DISTINCT area FROM '{{path}}')) USING (area)) WHERE n >= {K}
ORDER BY ALL) TO '{{out}}' (FORMAT parquet)
"""


def connection(folder: Path):
    import duckdb

    config = {"memory_limit": f"{MEMORY}MB", "temp_directory": str(folder / "own"), "preserve_insertion_order": "false"}
    return duckdb.connect(config=config)


def make(folder: Path, records: int, areas: int) -> None:
    with connection(folder) as duck:
        duck.execute("SELECT setseed(0.5)")
        duck.execute(MAKE.format(areas=areas, records=records, path=folder / "people.parquet"))


def plain(folder: Path) -> int:
    with connection(folder) as duck:
        relation = duck.sql(PLAIN.format(table=f"'{folder / 'people.parquet'}'"))
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
        return sum(batch.num_rows for batch in reader(1_000_000))


def copy(folder: Path) -> int:
    with connection(folder) as duck:
        ((areas,),) = duck.sql(f"SELECT count(DISTINCT area) FROM '{folder / 'people.parquet'}'").fetchall()
        duck.execute(COPY.format(path=folder / "people.parquet", out=folder / "copied.parquet", areas=areas))
        ((rows,),) = duck.sql(f"SELECT count(*) FROM '{folder / 'copied.parquet'}'").fetchall()
        return rows


def ours(folder: Path, address: str, table: str, destination: str) -> int:
    """Profile, and release where there is a destination."""
    from vbas.core.areas import make_areas
    from vbas.core.crosswalk import Crosswalk
    from vbas.core.engines import open_engine
    from vbas.core.engines.fields import RecordFields
    from vbas.core.engines.profiling import count_in_place, match_in_place
    from vbas.core.engines.releasing import release_in_place
    from vbas.core.plan import suppress

    with open_engine(address, table, memory=MEMORY) as engine:
        found = count_in_place(engine, RecordFields("area", QUASI, ("diagnosis",)))
        if not destination:
            return len(found.records)
        identifiers = sorted(value for value in found.areas if value is not None)
        n = len(identifiers)
        areas = make_areas(identifiers, np.zeros((n, 2)))
        matched = match_in_place(found, areas)
        plan = suppress(matched.profile, Crosswalk((np.arange(n) + 1) * REGIONS // (1 + n), REGIONS), K)
        return sum(one.records for one in release_in_place(matched, plan, destination).levels.values())


def nested(folder: Path, address: str) -> int:
    """Profile, then the plan of nested levels on a plane of squares, and its measures."""
    from vbas.core.areas import make_areas
    from vbas.core.engines import open_engine
    from vbas.core.engines.fields import RecordFields
    from vbas.core.engines.profiling import count_in_place, match_in_place
    from vbas.core.nesting.making import LevelOptions, build_levels
    from vbas.core.nesting.measures import evaluate_levels
    from vbas.core.nesting.planning import nest

    with open_engine(address, memory=MEMORY) as engine:
        found = count_in_place(engine, RecordFields("area", QUASI))
        identifiers = sorted(value for value in found.areas if value is not None)
        position = np.arange(len(identifiers))
        side = int(np.ceil(np.sqrt(len(position))))
        areas = make_areas(identifiers, 1000.0 * np.column_stack([position % side, position // side]))
        profile = match_in_place(found, areas).profile
    del found
    areas = areas.with_population(profile.area_sizes)
    plan = nest(areas, profile, build_levels(areas, profile, None, LevelOptions()), K)
    evaluate_levels(areas, plan)
    return profile.counts.nnz


def in_postgres(folder: Path, server: str, what: str) -> int:
    from adbc_driver_postgresql import dbapi
    from pyarrow import parquet

    with dbapi.connect(server, autocommit=True) as there, there.cursor() as cursor:
        if what == "load":
            file = parquet.ParquetFile(folder / "people.parquet")
            batches = file.iter_batches(200_000)
            cursor.adbc_ingest("people", next(batches), mode="create")
            for batch in batches:
                cursor.adbc_ingest("people", batch, mode="append")
            cursor.execute("ANALYZE people")
            return file.metadata.num_rows
        cursor.execute(COUNTED)
        return cursor.fetchone()[0]


def measured(title: str, folder: Path, *arguments: str) -> tuple[float, float]:
    """Run one of the jobs in a process of its own and print its line; its CPU seconds and those of the clock."""
    command = [sys.executable, __file__, "job", str(folder), *arguments]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    with process.stdout:
        found = process.stdout.read().decode().strip()
    _, status, usage = os.wait4(process.pid, 0)
    wall, cpu = time.perf_counter() - started, usage.ru_utime + usage.ru_stime
    if status:
        sys.exit(f"{title} failed.")
    print(f"| {title} | {found} | {wall:.1f} | {cpu:.1f} | {usage.ru_maxrss / 1024:.0f} |", flush=True)
    return cpu, wall


def job(folder: Path, what: str, *arguments: str) -> None:
    jobs = {"plain": plain, "copy": copy, "ours": ours, "nested": nested, "postgres": in_postgres}
    print(jobs[what](folder, *arguments))


def main(records: int, areas: int) -> None:
    from contextlib import ExitStack

    from vbas.tests import postgres_server

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        folder = Path(name)
        make(folder, records, areas)
        people = str(folder / "people.parquet")
        print(f"{records} records, {areas} areas\n")
        print("| run | rows | seconds | CPU seconds | peak MB |\n|---|---|---|---|---|", flush=True)
        own, _ = measured("DuckDB's own GROUP BY to Arrow", folder, "plain")
        profile, _ = measured("profile in DuckDB", folder, "ours", people, "", "")
        written, _ = measured("DuckDB's own COPY of the join, sorted", folder, "copy")
        release, _ = measured("profile and release in DuckDB", folder, "ours", people, "", str(folder / "out.parquet"))
        print(f"\nDuckDB, CPU: profile {profile / own:.2f}, release {(release - profile) / written:.2f} times its own.")
        plan, _ = measured("profile, nested plan and its measures", folder, "nested", people)
        print(f"\nThe nested plan takes {(plan - profile) / profile:.2f} times the CPU of the profile.\n")
        if records > 5_000_000:
            print("PostgreSQL is measured with up to 5 million records.")
            return
        server = f"postgresql://vbas@127.0.0.1:{servers.enter_context(postgres_server.running())}/postgres"
        print("| run | rows | seconds | CPU seconds here | peak MB here |\n|---|---|---|---|---|")
        measured("load into PostgreSQL", folder, "postgres", server, "load")
        _, own = measured("PostgreSQL's own GROUP BY, counted there", folder, "postgres", server, "count")
        _, profile = measured("profile in PostgreSQL", folder, "ours", server, "people", "")
        measured("profile and release in PostgreSQL", folder, "ours", server, "people", "released")
        print(f"\nPostgreSQL, seconds: profile {profile / own:.2f} times its own.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["job"]:
        job(Path(sys.argv[2]), *sys.argv[3:])
    else:
        main(*(int(one) for one in (sys.argv[1:] + ["10000000", str(AREAS)][len(sys.argv) - 1 :])))
