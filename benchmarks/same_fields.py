"""CPU of a headless release against copies of the very fields that it reads and writes, and where its memory goes.

    PYTHONPATH=build/package .venv/bin/python benchmarks/same_fields.py [people of an area, 55] [rounds, 5] [gpkg csv]

The areas are those of headless_scale.py, 18 077 points; the people are made up. Each round runs, in turns, a release of
five quasi-identifiers with none and with three kept fields, GDAL copying the area, these fields and no more into a file
of the same format, and, for GeoPackages, SQLite itself copying them into a new table, which is the floor. Every run is
a process of its own: its CPU seconds are those of all its threads, its start included, and its peak memory is its own.
Printed are medians, and of the ratios of each round the median.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from vbas.benchmarks import real_data
from vbas.benchmarks.headless_scale import QUASI_IDENTIFIERS, ROOT, WEST

AREA = "DAUID"
KEPT = {"none": (), "three": ("income_group", "occupation", "tenure")}
COPY = """
import sys
from osgeo import gdal
gdal.UseExceptions()
target, source, fields = sys.argv[1:]
gdal.VectorTranslate(target, source, selectFields=fields.split(","))
"""
FLOOR = """
import sqlite3, sys
target, source, fields = sys.argv[1:]
with sqlite3.connect(target) as connection:
    connection.execute("ATTACH ? AS source", (source,))
    connection.execute(f"CREATE TABLE records AS SELECT {fields} FROM source.records")
"""


def measured(*command: object) -> tuple[float, float]:
    """CPU seconds and peak megabytes of a command, which must succeed."""
    given = list(map(str, command))
    with subprocess.Popen(given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        complaints = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    if status:
        sys.exit(f"{given[0]} failed:\n{complaints}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def headless(algorithm: str, **parameters: object) -> tuple[float, float]:
    """The same of an algorithm, by scripts/qgis_process."""
    given = [f"{name}={value}" for name, value in parameters.items()]
    return measured(ROOT / "scripts" / "qgis_process", "run", f"vbas:{algorithm}", "--", *given)


def main(formats: list[str], people: int = 55, rounds: int = 5) -> None:
    if not real_data.available():
        sys.exit(f"The real data are not there ({real_data.DATA}); see tests/README.md.")
    from osgeo import gdal

    gdal.UseExceptions()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        areas = place / "areas.gpkg"
        select = f"SELECT DAUID, geom FROM da_points WHERE {WEST}"
        source = str(real_data.DATA / "canada_da_points.gpkg")
        gdal.VectorTranslate(str(areas), source, SQLStatement=select, SQLDialect="SQLITE", layerName="areas")
        shared = {"REGIONS": areas, "REGION_ID": AREA}
        counts = {"LEAST": round(people * 8 / 11), "MOST": round(people * 14 / 11)}
        headless("generaterecords", **shared, **counts, RECORDS=place / "records.gpkg")
        print("| format | kept fields | run | CPU seconds | peak MB | release / it |\n|---|---|---|---|---|---|")
        for form in formats:
            records = place / f"records.{form}"
            if form != "gpkg":
                gdal.VectorTranslate(str(records), str(place / "records.gpkg"))
            for title, kept in KEPT.items():
                fields = ",".join((AREA, *QUASI_IDENTIFIERS.split(";"), *kept))
                runs: dict[str, list[tuple[float, float]]] = {}
                for number in range(rounds):
                    out = place / f"{form}-{title}-{number}"
                    out.mkdir()
                    ours = headless(
                        "anonymize",
                        **shared,
                        RECORDS=records,
                        RECORD_REGION=AREA,
                        QUASI_IDENTIFIERS=QUASI_IDENTIFIERS,
                        **({"KEEP_FIELDS": ";".join(kept)} if kept else {}),
                        RELEASED_RECORDS=out / f"released.{form}",
                        RELEASED_REGIONS=out / "regions.gpkg",
                        CROSSWALK=out / "crosswalk.csv",
                        REGION_AUDIT=out / "audit.gpkg",
                        REPORT=out / "report.html",
                    )
                    runs.setdefault("vbas:anonymize", []).append(ours)
                    copy = measured(sys.executable, "-c", COPY, out / f"copy.{form}", records, fields)
                    runs.setdefault("GDAL copies these fields", []).append(copy)
                    if form == "gpkg":
                        floor = measured(sys.executable, "-c", FLOOR, out / "floor.db", records, fields)
                        runs.setdefault("SQLite copies them (floor)", []).append(floor)
                    for file in out.iterdir():
                        file.unlink()
                for name, of_run in runs.items():
                    cpu, peak = (statistics.median(column) for column in zip(*of_run))
                    ratio = statistics.median(own[0] / of[0] for own, of in zip(runs["vbas:anonymize"], of_run))
                    print(f"| {form} | {title} | {name} | {cpu:.1f} | {peak:.0f} | {ratio:.2f} |", flush=True)
        copied = gdal.OpenEx(str(place / "records.gpkg"))  # a layer is only there as long as its file
        print(f"\n{copied.GetLayer(0).GetFeatureCount()} records.")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main([word for word in sys.argv[1:] if not word.isdigit()] or ["gpkg", "csv"], *numbers)
