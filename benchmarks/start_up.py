"""What a start costs: of headless QGIS alone, with the toolbox, and with a run of 36 areas and 720 people.

    PYTHONPATH=build/package .venv/bin/python benchmarks/start_up.py [rounds, 5]

CPU seconds of whole processes, which take turns: medians, and their ratio to the peer, the same qgis_process in a
profile without the plugin. What loading the provider alone takes is measured inside a process of its own. Python keeps
what it has compiled, as on every machine where the plugin was started once: that start is not counted.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIDE, PEOPLE = 6, 20  # areas along a side, people in each
LOADING = """
import time
from qgis.core import QgsApplication
qgis = QgsApplication([], False)
qgis.initQgis()
import numpy
from vbas.vbas_plugin.provider import VbasProvider
started = time.process_time()
provider = VbasProvider()
provider.load()
print(time.process_time() - started, len(provider.algorithms()))
"""


def cpu_seconds(*command: str, **environment: str) -> float:
    """CPU seconds of a command, which must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**_environment(), **environment}, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def loading_seconds() -> float:
    """CPU seconds that the provider takes until QGIS knows all its algorithms."""
    done = subprocess.run(
        [sys.executable, "-c", LOADING], env=_environment(), capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[0])


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(ROOT / "build" / "bytecode"), "QT_QPA_PLATFORM": "offscreen"}


def write_layers(folder: Path) -> tuple[Path, Path]:
    """Squares of a kilometre as GeoJSON, and the people who live in them as CSV."""
    squares = [_square(number % SIDE * 1000, number // SIDE * 1000, str(number)) for number in range(SIDE * SIDE)]
    system = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3347"}}
    people = [f"{number},{person % 2},{person % 5}" for number in range(SIDE * SIDE) for person in range(PEOPLE)]
    areas, records = folder / "areas.geojson", folder / "records.csv"
    layer = {"type": "FeatureCollection", "crs": system, "features": squares}
    areas.write_text(json.dumps(layer), encoding="utf-8")
    records.write_text("\n".join(["area,sex,age", *people]) + "\n", encoding="utf-8")
    return areas, records


def _square(x: int, y: int, name: str) -> dict[str, object]:
    corners = [[x + dx, y + dy] for dx, dy in ((0, 0), (1000, 0), (1000, 1000), (0, 1000), (0, 0))]
    shape = {"type": "Polygon", "coordinates": [corners]}
    return {"type": "Feature", "properties": {"id": name}, "geometry": shape}


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        bare = folder / "bare"
        settings = bare / "config" / "profiles" / "default" / "QGIS"
        settings.mkdir(parents=True)
        (settings / "QGIS3.ini").write_text("[PythonPlugins]\nvbas=false\n", encoding="utf-8")
        areas, records = write_layers(folder)
        program, release = str(ROOT / "scripts" / "qgis_process"), str(folder / "release.csv")
        layers = [f"REGIONS={areas}", f"RECORDS={records}"]
        fields = ["REGION_ID=id", "RECORD_REGION=area", "QUASI_IDENTIFIERS=sex;age", "GAPS_REGION=Western Canada"]
        run = [program, "run", "vbas:anonymize", "--", *layers, *fields, f"RELEASED_RECORDS={release}"]
        starts = {
            "QGIS alone: qgis_process list": lambda: cpu_seconds(program, "list", VBAS_HEADLESS_HOME=str(bare)),
            "with VBAS: qgis_process list": lambda: cpu_seconds(program, "list", VBAS_HEADLESS_HOME=str(folder)),
            "with VBAS: a run to a CSV": lambda: cpu_seconds(*run, VBAS_HEADLESS_HOME=str(folder)),
            "the provider's load": loading_seconds,
        }
        for start in starts.values():
            start()
        taken: dict[str, list[float]] = {title: [] for title in starts}
        for _ in range(rounds):
            for title, start in starts.items():
                taken[title].append(start())
    medians = {title: statistics.median(seconds) for title, seconds in taken.items()}
    alone = next(iter(medians.values()))
    print("| start | CPU seconds | to QGIS alone |\n|---|---|---|")
    for title, seconds in medians.items():
        print(f"| {title} | {seconds:.2f} | {seconds / alone:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
