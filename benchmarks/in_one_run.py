"""Records in place anonymised in one run, against a GeoPackage and against the three steps; headless.

    PYTHONPATH=build/package .venv/bin/python benchmarks/in_one_run.py [people of an area, 166] [rounds of runs, 3]

The areas and the people are those of headless_scale.py; 166 people of an area are three million. The same five
quasi-identifiers and one kept field go from a GeoPackage into another by vbas:anonymize, and from a Parquet file into
another by vbas:anonymizedatabase, with a release and without one, and by the three steps. Each run is
scripts/qgis_process in a process of its own, start included; runs take turns, and the ratios are medians of those of
each round.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from vbas.benchmarks import real_data
from vbas.benchmarks.headless_scale import QUASI_IDENTIFIERS, WEST, headless

KEPT, REACH = "occupation", 0.8


def as_parquet(records: Path, place: Path) -> None:
    """Write a table of a GeoPackage as a Parquet file, and print its rows."""
    import sqlite3

    import pyarrow
    from pyarrow import parquet

    names = ["DAUID", *QUASI_IDENTIFIERS.split(";"), KEPT]
    with sqlite3.connect(records) as there:
        rows = there.execute(f"SELECT {', '.join(names)} FROM {records.stem}")
        schema, writer, n_rows = None, None, 0
        while some := rows.fetchmany(500_000):
            columns = dict(zip(names, map(list, zip(*some))))
            table = pyarrow.table(columns, schema=schema)
            schema = table.schema
            writer = writer or parquet.ParquetWriter(place, schema)
            writer.write_table(table)
            n_rows += len(some)
    if writer is None:
        sys.exit("No records were made.")
    writer.close()
    print(n_rows)


def main(people: int, rounds: int) -> None:
    if not real_data.available():
        sys.exit(f"The real data are not there ({real_data.DATA}); see tests/README.md.")
    from osgeo import gdal

    gdal.UseExceptions()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        areas, records, parquet = place / "areas.gpkg", place / "records.gpkg", place / "people.parquet"
        select = f"SELECT DAUID, geom FROM da_points WHERE {WEST}"
        source = str(real_data.DATA / "canada_da_points.gpkg")
        gdal.VectorTranslate(str(areas), source, SQLStatement=select, SQLDialect="SQLITE", layerName="areas")
        regions = {"REGIONS": areas, "REGION_ID": "DAUID"}
        fields = {"RECORD_REGION": "DAUID", "QUASI_IDENTIFIERS": QUASI_IDENTIFIERS}
        print("| run | seconds | CPU seconds | peak MB |\n|---|---|---|---|")
        least, most = round(people * 8 / 11), round(people * 14 / 11)
        headless("vbas:generaterecords", "generaterecords", **regions, LEAST=least, MOST=most, RECORDS=records)
        # In a process of its own, whose memory is not that of the runs that begin here.
        converting = [sys.executable, __file__, "parquet", str(records), str(parquet)]
        n_records = int(subprocess.run(converting, check=True, capture_output=True, text=True).stdout)
        made = {
            "RELEASED_REGIONS": place / "regions.gpkg",
            "CROSSWALK": place / "crosswalk.csv",
            "REGION_AUDIT": place / "audit.gpkg",
            "REPORT": place / "report.html",
        }
        ratios: dict[str, list[tuple[float, float]]] = {}
        for _ in range(rounds):
            of_layer = {**regions, **fields, "RECORDS": records, "RELEASED_RECORDS": place / "released.gpkg"}
            against = headless("GeoPackage", "anonymize", **of_layer, **made, KEEP_FIELDS=KEPT)
            there = {**fields, "CONNECTION": parquet}
            target = place / "released.parquet"
            single = headless(
                "Parquet, one run",
                "anonymizedatabase",
                **regions,
                **there,
                **made,
                KEEP_FIELDS=KEPT,
                DESTINATION=target,
            )
            target.unlink()
            looked = headless("Parquet, no release", "anonymizedatabase", **regions, **there, **made)
            profile = place / "profile.gpkg"
            counted = {**fields, "RECORDS": profile, "RECORD_COUNT": "records"}
            steps = [
                headless("step 1, profile", "profiledatabase", **there, PROFILE=profile),
                headless(
                    "step 2, regions", "anonymize", **regions, **counted, **made, RELEASED_RECORDS=place / "no.gpkg"
                ),
                headless(
                    "step 3, release",
                    "releasedatabase",
                    **there,
                    CROSSWALK=made["CROSSWALK"],
                    KEEP_FIELDS=KEPT,
                    DESTINATION=target,
                ),
            ]
            target.unlink()
            three = sum(wall for wall, _ in steps), sum(cpu for _, cpu in steps)
            for title, (wall, cpu) in {"one run": single, "no release": looked, "three steps": three}.items():
                ratios.setdefault(title, []).append((wall / against[0], cpu / against[1]))
        print(f"\n{n_records} records; one run is to take at most {REACH:g} of the CPU time.")
        print(f"\n| Parquet against GeoPackage, medians of {rounds} rounds | time | CPU |\n|---|---|---|")
        for title, of_title in ratios.items():
            wall, cpu = (median(column) for column in zip(*of_title))
            print(f"| {title} | {wall:.2f} | {cpu:.2f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["parquet"]:
        as_parquet(*map(Path, sys.argv[2:]))
    else:
        given = [int(number) for number in sys.argv[1:]]
        main(*given, *(166, 3)[len(given) :])
