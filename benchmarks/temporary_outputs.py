"""Temporary outputs against GeoPackages: the same release of the demonstration city as temporary layers, into files.

    PYTHONPATH=build/package QT_QPA_PLATFORM=offscreen .venv/bin/python benchmarks/temporary_outputs.py [runs, 3]

A large temporary table without shapes is a GeoPackage in the temporary folder of QGIS; “memory:” asks for a layer in
memory whatever its size. All are counted a second time from what was written. The peer is QGIS itself, which makes a
layer in memory of the records of the GeoPackage and reads its attributes once: what no writer in Python of a layer in
memory can do without.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from qgis.core import QgsApplication, QgsFeatureRequest, QgsProcessingContext, QgsProcessingFeedback, QgsVectorLayer

TABLES = ("RELEASED_RECORDS", "RELEASED_REGIONS", "CROSSWALK", "REGION_AUDIT")


def run(algorithm: str, **parameters: object) -> dict[str, object]:
    """Run an algorithm in this process; its layers in memory end with it."""
    context = QgsProcessingContext()
    runner = QgsApplication.processingRegistry().algorithmById(f"vbas:{algorithm}").create()
    results, successful = runner.run(parameters, context, QgsProcessingFeedback(False))
    if not successful:
        sys.exit(f"{algorithm} failed")
    return results


def least(work: Callable[[], object], runs: int) -> float:
    """CPU seconds of the fastest of some runs."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def main(runs: int) -> None:
    application = QgsApplication([], False)
    application.initQgis()
    from vbas.vbas_plugin.provider import VbasProvider

    provider = VbasProvider()
    QgsApplication.processingRegistry().addProvider(provider)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        areas, records = str(folder / "areas.gpkg"), str(folder / "records.gpkg")
        n_records = run("demonstrationcity", AREAS=areas, RECORDS=records)["N_RECORDS"]
        given = {
            "REGIONS": areas,
            "REGION_ID": "area",
            "POPULATION": "population",
            "RECORDS": records,
            "RECORD_REGION": "area",
            "QUASI_IDENTIFIERS": ["age_group", "sex", "marital_status", "education"],
            "KEEP_FIELDS": ["diagnosis"],
        }
        files = {table: str(folder / f"{table.lower()}.gpkg") for table in TABLES}

        def by_qgis() -> None:
            file = QgsVectorLayer(files["RELEASED_RECORDS"], "records", "ogr")
            for feature in file.materialize(QgsFeatureRequest()).getFeatures():
                feature.attributes()

        in_files = least(lambda: run("anonymize", **given, **files), runs)
        temporary = least(lambda: run("anonymize", **given, **dict.fromkeys(TABLES, "TEMPORARY_OUTPUT")), runs)
        in_memory = least(lambda: run("anonymize", **given, **dict.fromkeys(TABLES, "memory:")), runs)
        peer = least(by_qgis, runs)
        print(f"{n_records} records; CPU seconds, the fastest of {runs} runs\n")
        print("| release into | CPU s | times GeoPackage |\n|---|---|---|")
        for title, seconds in (
            ("GeoPackages", in_files),
            ("temporary layers", temporary),
            ("layers in memory", in_memory),
            ("QGIS: the records from a GeoPackage into memory, read once", peer),
        ):
            print(f"| {title} | {seconds:.2f} | {seconds / in_files:.2f} |")
    del provider, application


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    sys.stdout.flush()
    # QGIS's own shutdown may crash once Python is being torn down.
    import os

    os._exit(0)
