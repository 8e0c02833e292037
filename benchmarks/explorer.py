"""How fast the explorer follows its slider: milliseconds from a number of regions to their layer on the map.

    PYTHONPATH=build/package QT_QPA_PLATFORM=offscreen .venv/bin/python benchmarks/explorer.py [runs, 5]

The demonstration city (made here), and Winnipeg (Statistics Canada 2016) with people drawn by its populations from the
classes of the city. A number that was not shown before; CPU time, the least of some runs with numbers next to it.
“regions”: sites, aggregation, suppression, measures and dissolved polygons, behind the window; “map”: the rows of the
layer and its style, in the window; “nested”: the same regions with levels above them.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from qgis.core import QgsApplication, QgsProcessingContext, QgsProcessingFeedback, QgsProject, QgsVectorLayer

from vbas.algorithms.explorer_data import Choices, ExplorerData, Reading, Settings, regions_shown
from vbas.algorithms.layers.delivery.memory_layers import memory_layer, refill
from vbas.algorithms.layers.tables import Table
from vbas.benchmarks.real_data import DATA
from vbas.core.progress import silent
from vbas.core.trade_off.curve import Curve

FIELDS = ("age_group", "sex", "marital_status", "education")
NUMBERS = (10, 50, 200, 500)


def read(areas: Path, identifier: str, records: Path, count: str, choices: Choices) -> tuple[Reading, ExplorerData]:
    """A look at two files."""
    layers = [QgsVectorLayer(str(file), file.stem, "ogr") for file in (areas, records)]
    QgsProject.instance().addMapLayers(layers, False)
    data = {"REGIONS": layers[0].id(), "REGION_ID": identifier, "POPULATION": "population", "RECORDS": layers[1].id()}
    data |= {"RECORD_REGION": identifier, "QUASI_IDENTIFIERS": list(FIELDS), "RECORD_COUNT": count}
    reading = Reading({**data, **choices.parameters(1)})
    return reading, reading.read(QgsProcessingFeedback(False))


def milliseconds(work: Callable[[int], object], first: int, runs: int) -> float:
    """CPU time of the fastest of some runs, each with another number."""
    times = []
    for number in range(first, first + runs):
        started = time.process_time()
        work(number)
        times.append(time.process_time() - started)
    return 1000 * min(times)


def show(title: str, look: Callable[[Choices], tuple[Reading, ExplorerData]], runs: int) -> None:
    """A line per number of regions."""
    lines = []
    for nested in (False, True):
        choices = Choices(5, "all-rounder", nested=nested)
        reading, explorer_data = look(choices)
        settings = reading.settings(choices.combination)
        lines.append(
            (
                settings,
                explorer_data,
                _curve(explorer_data, settings),
            )
        )
    settings, explorer_data, curve = lines[0]
    started = time.process_time()
    n_points = len(list(curve.filled()))
    seconds = time.process_time() - started
    print(
        f"\n{title}: {len(explorer_data.areas)} areas, {explorer_data.profile.n_records} records, "
        f"{len(explorer_data.profile.classes)} classes; the whole curve, {n_points} numbers: {1000 * seconds:.0f} ms"
    )
    print("regions   regions, ms   map, ms   nested regions, ms   nested map, ms")
    for number in NUMBERS:
        row: list[float] = []
        for settings, explorer_data, curve in lines:
            row += both(explorer_data, curve, settings, number, runs)
        print(f"{number:7}   {row[0]:11.0f}   {row[1]:7.0f}   {row[2]:18.0f}   {row[3]:14.0f}")


def _curve(explorer_data: ExplorerData, settings: Settings) -> Curve:
    terms = explorer_data.terms(settings.ask)
    return Curve(explorer_data.areas, explorer_data.profile, settings.configuration, terms)


def both(explorer_data: ExplorerData, curve: Curve, settings: Settings, number: int, runs: int) -> tuple[float, float]:
    """CPU time until the regions are there, and until they are on the map."""
    tables: dict[int, Table] = {}

    def make(n: int) -> None:
        tables[n] = regions_shown(explorer_data, curve, settings, n, silent).table

    made = milliseconds(make, number, runs)
    layer = memory_layer(tables[number], "Regions (internal)", "")
    return made, milliseconds(lambda n: refill(layer, tables[n]), number, runs)


def people_of(city: ExplorerData, areas: Path, identifier: str, file: Path) -> None:
    """A counted table: people of each area by its population, of classes as frequent as in the city."""
    layer = QgsVectorLayer(str(areas), "areas", "ogr")
    rng, shares = np.random.default_rng(1), city.profile.class_sizes / city.profile.n_records
    values = [[city.profile.categories[i][code] for i, code in enumerate(row)] for row in city.profile.classes.tolist()]
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([identifier, *FIELDS, "n"])
        for feature in layer.getFeatures():
            counts = rng.multinomial(feature["population"], shares)
            writer.writerows([feature[identifier], *values[c], counts[c]] for c in np.flatnonzero(counts).tolist())


def main(runs: int) -> None:
    application = QgsApplication([], False)
    application.initQgis()
    from vbas.vbas_plugin.provider import VbasProvider

    provider = VbasProvider()
    QgsApplication.processingRegistry().addProvider(provider)
    with tempfile.TemporaryDirectory() as name:
        areas, records = Path(name) / "areas.gpkg", Path(name) / "records.gpkg"
        city = QgsApplication.processingRegistry().algorithmById("vbas:demonstrationcity").create()
        given = {"AREAS": str(areas), "RECORDS": str(records)}
        if not city.run(given, QgsProcessingContext(), QgsProcessingFeedback(False))[1]:
            sys.exit("The demonstration city could not be made.")
        show("Demonstration city", lambda choices: read(areas, "area", records, "", choices), runs)
        winnipeg = DATA / "winnipeg_da2016.gpkg"
        if not winnipeg.is_file():
            print(f"Winnipeg is left out: {winnipeg} is not there; set VBAS_DATA to where the real data are.")
        else:
            explorer_data = read(areas, "area", records, "", Choices(5, "all-rounder"))[1]
            counted = Path(name) / "people.csv"
            people_of(explorer_data, winnipeg, "DAUID", counted)
            show("Winnipeg", lambda choices: read(winnipeg, "DAUID", counted, "n", choices), runs)
        QgsProject.instance().clear()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
