"""Ten million records, headless: made, and anonymised, from GeoPackage to GeoPackage.

    PYTHONPATH=build/package .venv/bin/python benchmarks/headless_scale.py [people of an area, 550] [rounds of runs, 5]

The areas are the 18 077 dissemination areas of Western Canada as points (Statistics Canada, open licence); the people
are made up. Each run is scripts/qgis_process in a process of its own, so that its time includes the start of QGIS and
its peak memory is its own; runs and peers take turns, and the ratios are medians of those of each round. The peers read
and write every row once and look at none: GDAL copying the records from one GeoPackage into another, whole, and the
fields alone that the release has; and SQLite copying these fields, which is the floor.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from vbas.benchmarks import real_data

ROOT = Path(__file__).resolve().parents[1]
WEST = "substr(DAUID, 1, 2) IN ('46', '47', '48', '59')"
NESTED, OF_NESTED = "nested levels", "nested levels to one level"
QUASI_IDENTIFIERS = "sex;age_group;marital_status;education;language"


def measured(title: str, *command: str) -> tuple[float, float]:
    """Run a command to its end and print its line of the table; its wall seconds and its CPU seconds."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    with process.stderr:
        complaints = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if status:
        sys.exit(f"{title} failed:\n{complaints}")
    cpu = usage.ru_utime + usage.ru_stime
    print(f"| {title} | {wall:.1f} | {cpu:.1f} | {usage.ru_maxrss / 1024:.0f} |", flush=True)
    return wall, cpu


def headless(title: str, algorithm: str, **parameters: object) -> tuple[float, float]:
    """Run an algorithm by scripts/qgis_process."""
    given = [f"{name}={value}" for name, value in parameters.items()]
    return measured(title, str(ROOT / "scripts" / "qgis_process"), "run", f"vbas:{algorithm}", "--", *given)


def copy(title: str, source: Path, target: Path, fields: Sequence[str] | None = None) -> tuple[float, float]:
    """Copy a table by GDAL, or some of its fields."""
    copied = f"gdal.VectorTranslate({str(target)!r}, {str(source)!r}, selectFields={fields!r})"
    figures = measured(title, sys.executable, "-c", f"from osgeo import gdal; gdal.UseExceptions(); {copied}")
    target.unlink()
    return figures


def floor(title: str, source: Path, target: Path, fields: Sequence[str]) -> tuple[float, float]:
    """Copy some fields of a table by SQLite."""
    statements = (
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
        f"ATTACH '{source}' AS given; CREATE TABLE copy AS SELECT {', '.join(fields)} FROM given.{source.stem};"
    )
    script = f"import sqlite3; sqlite3.connect({str(target)!r}).executescript({statements!r})"
    figures = measured(title, sys.executable, "-c", script)
    target.unlink()
    return figures


def main(people: int, rounds: int) -> None:
    if not real_data.available():
        sys.exit(f"The real data are not there ({real_data.DATA}); see tests/README.md.")
    from osgeo import gdal

    gdal.UseExceptions()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        areas, records = place / "areas.gpkg", place / "records.gpkg"
        select = f"SELECT DAUID, geom FROM da_points WHERE {WEST}"
        source = str(real_data.DATA / "canada_da_points.gpkg")
        gdal.VectorTranslate(str(areas), source, SQLStatement=select, SQLDialect="SQLITE", layerName="areas")
        shared = {"REGIONS": areas, "REGION_ID": "DAUID"}
        print("| run | seconds | CPU seconds | peak MB |\n|---|---|---|---|")
        headless(
            "vbas:generaterecords, 11 attributes",
            "generaterecords",
            **shared,
            LEAST=round(people * 8 / 11),
            MOST=round(people * 14 / 11),
            RECORDS=records,
        )
        fields = ["DAUID", *QUASI_IDENTIFIERS.split(";")]
        ratios: dict[str, list[tuple[float, float]]] = {}
        shared |= {"RECORDS": records, "RECORD_REGION": "DAUID", "QUASI_IDENTIFIERS": QUASI_IDENTIFIERS}
        shared |= {
            "RELEASED_RECORDS": place / "released.gpkg",
            "RELEASED_REGIONS": place / "regions.gpkg",
            "CROSSWALK": place / "crosswalk.csv",
            "REGION_AUDIT": place / "audit.gpkg",
            "REPORT": place / "report.html",
        }
        for _ in range(rounds):
            outputs = "5 quasi-identifiers, release, regions, crosswalk, audit, report"
            ours = headless(f"vbas:anonymize, {outputs}", "anonymize", **shared)
            nested = headless(f"the same, {NESTED}", "anonymize", **shared, RELEASE=NESTED)
            ratios.setdefault(OF_NESTED, []).append((nested[0] / ours[0], nested[1] / ours[1]))
            whole, some, least = (
                "GDAL copies the records",
                "GDAL copies the same fields",
                "SQLite copies the same fields",
            )
            peers = {
                whole: copy(whole, records, place / "copy.gpkg"),
                some: copy(some, records, place / "copy.gpkg", fields),
                least: floor(least, records, place / "copy.sqlite", fields),
            }
            for title, (wall, cpu) in peers.items():
                ratios.setdefault(f"one level to: {title}", []).append((ours[0] / wall, ours[1] / cpu))
        copied = gdal.OpenEx(str(records))  # a layer is only there as long as its file
        print(f"\n{copied.GetLayer(0).GetFeatureCount()} records.")
        print(f"\n| ratios, medians of {rounds} rounds | time | CPU |\n|---|---|---|")
        for title, of_title in ratios.items():
            wall, cpu = (median(column) for column in zip(*of_title))
            print(f"| {title} | {wall:.2f} | {cpu:.2f} |")


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    main(*given, *(550, 5)[len(given) :])
