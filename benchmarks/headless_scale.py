"""Ten million records, headless: made, and anonymised, from GeoPackage to GeoPackage.

    PYTHONPATH=build/package .venv/bin/python benchmarks/headless_scale.py [people of an area, 550] [pairs of runs, 1]

The areas are the 18 077 dissemination areas of Western Canada as points (Statistics Canada, open licence); the people
are made up. Each run is scripts/qgis_process in a process of its own, so that its time includes the start of QGIS and
its peak memory is its own; runs and peers take turns, and the ratios are those of each pair. The peer is GDAL copying
the same records from one GeoPackage into another, which reads and writes every row once and looks at none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vbas.benchmarks import real_data

ROOT = Path(__file__).resolve().parents[1]
WEST = "substr(DAUID, 1, 2) IN ('46', '47', '48', '59')"
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


def copy(title: str, source: Path, target: Path) -> tuple[float, float]:
    """Copy a table by GDAL."""
    script = f"from osgeo import gdal; gdal.UseExceptions(); gdal.VectorTranslate({str(target)!r}, {str(source)!r})"
    return measured(title, sys.executable, "-c", script)


def main(people: int, pairs: int) -> None:
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
        ratios = []
        for _ in range(pairs):
            ours = headless(
                "vbas:anonymize, 5 quasi-identifiers, release, regions, crosswalk, audit, report",
                "anonymize",
                **shared,
                RECORDS=records,
                RECORD_REGION="DAUID",
                QUASI_IDENTIFIERS=QUASI_IDENTIFIERS,
                RELEASED_RECORDS=place / "released.gpkg",
                RELEASED_REGIONS=place / "regions.gpkg",
                CROSSWALK=place / "crosswalk.csv",
                REGION_AUDIT=place / "audit.gpkg",
                REPORT=place / "report.html",
            )
            theirs = copy("GDAL copies the records", records, place / "copy.gpkg")
            (place / "copy.gpkg").unlink()
            ratios.append([ratio / other for ratio, other in zip(ours, theirs)])
        copied = gdal.OpenEx(str(records))  # a layer is only there as long as its file
        print(f"\n{copied.GetLayer(0).GetFeatureCount()} records.")
        wall, cpu = (sorted(column)[len(column) // 2] for column in zip(*ratios))
        print(
            f"To anonymise them takes {wall:.2f} times as long as to copy them, and {cpu:.2f} times the CPU (medians)."
        )


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    main(*given, *(550, 1)[len(given) :])
