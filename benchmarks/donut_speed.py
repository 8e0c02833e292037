"""How long donut masking takes, from GeoPackage to GeoPackage, and by another version of the program.

    PYTHONPATH=build/package .venv/bin/python benchmarks/donut_speed.py [points, 1000000] [--against CHECKOUT]
        [--runs 5]

The points are made up, 500 in each square of a grid; masked points, audit and report are written. Each run is
scripts/qgis_process of a checkout in a process of its own, so that its time includes the start of QGIS; the two take
turns, and medians of their CPU seconds are printed. The floor is GDAL copying the points with their fields.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import shapely
from osgeo import gdal, ogr, osr

ROOT = Path(__file__).resolve().parents[1]
SIDE, PEOPLE = 500.0, 500  # metres, and points in a square
CORNER = (630_000.0, 5_520_000.0)


def made(folder: Path, n: int) -> tuple[Path, Path]:
    """The squares and the points."""
    side = int(np.ceil(np.sqrt(n / PEOPLE)))
    at = np.arange(side**2)
    west, south = CORNER[0] + at % side * SIDE, CORNER[1] + at // side * SIDE
    squares = shapely.box(west, south, west + SIDE, south + SIDE)
    write(folder / "areas.gpkg", squares, {"id": [f"a{i}" for i in at], "people": [PEOPLE] * len(at)})
    places = shapely.points(np.random.default_rng(0).random((n, 2)) * side * SIDE + CORNER)
    fields = {
        "sex": ["fm"[i % 2] for i in range(n)],
        "age": [str(7 * i % 90 // 5) for i in range(n)],
        "cause": [f"c{i % 13}" for i in range(n)],
    }
    write(folder / "points.gpkg", places, fields)
    return folder / "areas.gpkg", folder / "points.gpkg"


def write(file: Path, shapes: np.ndarray, fields: Mapping[str, Sequence[str | int]]) -> None:
    """A layer in a new GeoPackage."""
    system = osr.SpatialReference()
    system.ImportFromEPSG(26914)
    dataset = gdal.GetDriverByName("GPKG").Create(str(file), 0, 0, 0, gdal.GDT_Unknown)
    layer = dataset.CreateLayer(file.stem, system, kind_of(shapes))
    for name, values in fields.items():
        layer.CreateField(ogr.FieldDefn(name, ogr.OFTInteger if isinstance(values[0], int) else ogr.OFTString))
    layer.StartTransaction()
    for wkb, *values in zip(shapely.to_wkb(shapes), *fields.values()):
        feature = ogr.Feature(layer.GetLayerDefn())
        for name, value in zip(fields, values):
            feature[name] = value
        feature.SetGeometry(ogr.CreateGeometryFromWkb(wkb))
        layer.CreateFeature(feature)
    layer.CommitTransaction()


def kind_of(shapes: np.ndarray) -> int:
    """The kind of the first of these shapes, as GDAL names it."""
    return int(ogr.CreateGeometryFromWkb(shapely.to_wkb(shapes[0])).GetGeometryType())


def cpu_seconds(*command: str) -> float:
    """Run a command to its end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    with process.stderr:
        complaints = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(complaints)
    return usage.ru_utime + usage.ru_stime


def masked(checkout: Path, folder: Path, areas: Path, points: Path) -> float:
    """Mask by a checkout; its CPU seconds."""
    for file in ("masked.gpkg", "audit.gpkg"):
        (folder / file).unlink(missing_ok=True)
    given = {
        "POINTS": points,
        "AREAS": areas,
        "POPULATION": "people",
        "KEEP_FIELDS": "sex;age;cause",
        "SEED": 1,
        "MASKED": folder / "masked.gpkg",
        "AUDIT": folder / "audit.gpkg",
        "REPORT": folder / "report.html",
    }
    program = str(checkout / "scripts" / "qgis_process")
    return cpu_seconds(program, "run", "vbas:donutmask", "--", *(f"{name}={value}" for name, value in given.items()))


def copied(folder: Path, points: Path) -> float:
    """GDAL's copy of the points; its CPU seconds."""
    (folder / "copy.gpkg").unlink(missing_ok=True)
    script = "import sys; from osgeo import gdal; gdal.UseExceptions(); gdal.VectorTranslate(*sys.argv[1:])"
    return cpu_seconds(sys.executable, "-c", script, str(folder / "copy.gpkg"), str(points))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    gdal.UseExceptions()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        areas, points = made(folder, given.points)
        checkouts = {"vbas:donutmask": ROOT} | ({"the other version": given.against} if given.against else {})
        seconds: dict[str, list[float]] = {title: [] for title in (*checkouts, "GDAL copies the points")}
        for _ in range(given.runs):
            for title, checkout in checkouts.items():
                seconds[title].append(masked(checkout, folder, areas, points))
            seconds["GDAL copies the points"].append(copied(folder, points))
        first = median(next(iter(seconds.values())))
        print(f"{given.points} points, medians of {given.runs} alternated runs\n")
        print("| run | CPU s | vbas:donutmask over it |\n|---|---|---|")
        for title, each in seconds.items():
            print(f"| {title} | {median(each):.1f} | {first / median(each):.2f} |")


if __name__ == "__main__":
    main()
