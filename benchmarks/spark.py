"""Records in Spark: the profile and the release, against Spark SQL written by hand for the same table.

    PYTHONPATH=build/package .venv/bin/python benchmarks/spark.py [records, 5 million by default] [areas, 17 500]

The people are those of `engines.py`, as one Parquet file; the cluster has two executors on this machine
(`local-cluster[2,1,1024]`). Every line is a process of its own, with a driver and executors of its own, whose CPU
seconds it counts together; one line starts the cluster and counts the rows, which all others do too. By hand: one
GROUP BY of the fields as they are, written as Parquet and read here; and the join with the regions, a window that
counts classes, rows sorted by what they show, written as Parquet. What that does not do: check fields, look at kept
fields, count what was written once more.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from vbas.benchmarks import engines

MASTER, MEMORY = "local-cluster[2,1,1024]", 2_000
FIELDS = ", ".join(engines.QUASI)
PROFILE = f"SELECT area, {FIELDS}, count(*) AS n FROM people GROUP BY area, {FIELDS}"
REGIONS = f"""
SELECT area, int(row_number() OVER (ORDER BY area) * {engines.REGIONS} DIV (1 + {{areas}})) AS region
FROM (SELECT DISTINCT area FROM people)"""
RELEASE = f"""
SELECT region, {FIELDS}, diagnosis FROM (
SELECT region, {FIELDS}, diagnosis, count(*) OVER (PARTITION BY region, {FIELDS}) AS n
FROM people JOIN regions USING (area)) WHERE n >= {engines.K} ORDER BY region, {FIELDS}, diagnosis"""


def by_hand(folder: Path, what: str) -> int:
    """What somebody would write who knows Spark SQL; the number of rows it makes."""
    from pyarrow import parquet

    from vbas.core.engines.addresses import read_address
    from vbas.core.engines.spark_session import opened_session

    at = opened_session(read_address(MASTER), MEMORY)
    people = at.session.read.parquet(str(folder / "people.parquet"))
    people.createOrReplaceTempView("people")
    if what == "start":
        found = people.count()
    elif what == "profile":
        at.session.sql(PROFILE).write.parquet(str(folder / "profile"))
        found = parquet.read_table(folder / "profile").num_rows
    else:
        areas = people.select("area").distinct().count()
        at.session.sql(REGIONS.format(areas=areas)).createOrReplaceTempView("regions")
        at.session.sql(RELEASE).write.parquet(str(folder / "released by hand"))
        found = sum(part.count_rows() for part in parquet.ParquetDataset(folder / "released by hand").fragments)
    at.close()
    return found


def main(records: int, areas: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engines.make(folder, records, areas)
        people = str(folder / "people.parquet")
        print(f"{records} records, {areas} areas, {MASTER}\n")
        print("| run | rows | seconds | CPU seconds | peak MB here |\n|---|---|---|---|---|", flush=True)
        start, _ = engines.measured("the cluster started, rows counted", folder, "spark", "start")
        own, _ = engines.measured("profile by hand", folder, "spark", "profile")
        profile, _ = engines.measured("profile", folder, "ours", MASTER, people, "")
        written, _ = engines.measured("release by hand", folder, "spark", "release")
        both, _ = engines.measured("profile and release", folder, "ours", MASTER, people, str(folder / "released"))
        print(
            f"\nSpark, CPU above that of starting: profile {(profile - start) / (own - start):.2f} times that by hand,"
        )
        print(f"profile and release {(both - start) / (own + written - 2 * start):.2f} times both by hand.")


if __name__ == "__main__":
    main(*(int(one) for one in (sys.argv[1:] + ["5000000", "17500"][len(sys.argv) - 1 :])))
