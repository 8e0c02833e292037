"""How often the dock proposes the right layers and the fields that join them, in projects drawn at random.

    PYTHONPATH=build/package QT_QPA_PLATFORM=offscreen .venv/bin/python benchmarks/proposals.py [projects, 20] [seed, 1]

Each project has real areas of `../shared/data` (or VBAS_DATA), as they are or as a shapefile of other field names, and
a CSV of people who live in most of them, written as codes are: as they are, without leading zeros, or under another
name. Beside them stands what stands in projects: other polygons, a coarser layer with codes of its own, points, a table
of what codes mean, counts by area, what an earlier run released; layers come in a random order. Right is a proposal
that needs no click: areas, their code, the people, and the field of these that says their area.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from qgis.core import (
    QgsApplication,
    QgsCoordinateTransformContext,
    QgsFeatureRequest,
    QgsProject,
    QgsVectorFileWriter,
    QgsVectorLayer,
)

DATA = Path(os.environ.get("VBAS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
# File, the field that identifies its areas, and how many leading characters of it a coarser layer has.
AREAS = (
    ("winnipeg_da2016.gpkg", "DAUID", 6),
    ("ottawa_da2021.gpkg", "DAUID", 6),
    ("ottawa_db2021.gpkg", "DBUID", 8),
    ("california_tracts2000.gpkg", "GEOID", 3),
    ("ny8_tracts1980.gpkg", "AREAKEY", 5),
)
AREA_NAMES = ("", "", "CODE", "geo_code", "sector", "zone_id", "SA1_MAIN", "id")  # empty: as they are
PEOPLE_NAMES = ("", "", "home", "residence", "area", "lives_in", "geo", "place_code")
FEW, MANY = 2_000, 6_000  # people


class Drawn:
    """A project, drawn: layers by what they are."""

    def __init__(self, rng: np.random.Generator, folder: Path) -> None:
        self._rng, self._folder = rng, folder
        file, self.key, self._leading = AREAS[rng.integers(len(AREAS))]
        self.source = file
        real = QgsVectorLayer(str(DATA / file), "real", "ogr")
        self.codes = [str(row[self.key]) for row in real.getFeatures(QgsFeatureRequest())]
        self.region_id = str(rng.choice(AREA_NAMES)) or self.key
        self.record_region = str(rng.choice(PEOPLE_NAMES)) or self.key
        self.layers: dict[str, QgsVectorLayer] = {"areas": self._areas(real)}
        self.layers["people"] = self._people()
        others = ("meanings", "counts", "coarser", "points", "released")
        for name in rng.permutation(others)[: rng.integers(0, len(others) + 1)]:
            self.layers[str(name)] = getattr(self, f"_{name}")(real)

    def add(self) -> None:
        """Put the layers into the project, in a random order and under names that say nothing."""
        for number, name in enumerate(self._rng.permutation(list(self.layers))):
            self.layers[str(name)].setName(f"{'abcdefgh'[self._rng.integers(8)]}{number}_layer")
            QgsProject.instance().addMapLayer(self.layers[str(name)])

    def _written(self, name: str, layer: QgsVectorLayer, names: dict[str, str], kind: str) -> QgsVectorLayer:
        """A layer as a file with other names of fields; kind : its ending."""
        copy = layer.materialize(QgsFeatureRequest())
        copy.startEditing()
        for old, new in names.items():
            copy.renameAttribute(copy.fields().indexOf(old), new)
        copy.commitChanges()
        options, file = QgsVectorFileWriter.SaveVectorOptions(), self._folder / f"{name}.{kind}"
        options.driverName = {"gpkg": "GPKG", "shp": "ESRI Shapefile"}[kind]
        QgsVectorFileWriter.writeAsVectorFormatV3(copy, str(file), QgsCoordinateTransformContext(), options)
        return QgsVectorLayer(str(file), name, "ogr")

    def _table(self, name: str, fields: list[str], rows: list[tuple[Any, ...]]) -> QgsVectorLayer:
        file = self._folder / f"{name}.csv"
        with file.open("w", newline="", encoding="utf-8") as lines:
            csv.writer(lines).writerows([fields, *rows])
        return QgsVectorLayer(str(file), name, "ogr")

    def _areas(self, real: QgsVectorLayer) -> QgsVectorLayer:
        names = {} if self.region_id == self.key else {self.key: self.region_id}
        return self._written("areas", real, names, str(self._rng.choice(["gpkg", "shp"])))

    def _people(self) -> QgsVectorLayer:
        rng, n = self._rng, int(self._rng.integers(FEW, MANY))
        lived_in = rng.permutation(len(self.codes))[: max(int(len(self.codes) * rng.uniform(0.6, 1.0)), 1)]
        homes = [self.codes[number] for number in rng.choice(lived_in, n)]
        if rng.random() < 0.2:
            homes = [code.lstrip("0") for code in homes]
        columns = {
            "person": np.arange(n).tolist(),
            self.record_region: homes,
            "age": rng.integers(0, 90, n).tolist(),
            "sex": rng.choice(["f", "m"], n).tolist(),
            "ward": rng.integers(1, 40, n).tolist(),
            "work": [
                self.codes[number] if rng.random() < 0.3 else "" for number in rng.integers(0, len(self.codes), n)
            ],
        }
        order = [str(name) for name in rng.permutation(list(columns))]
        return self._table("people", order, list(zip(*(columns[name] for name in order))))

    def _meanings(self, real: QgsVectorLayer) -> QgsVectorLayer:
        return self._table("meanings", ["code", "meaning"], [(n, f"meaning {n}") for n in range(40)])

    def _counts(self, real: QgsVectorLayer) -> QgsVectorLayer:
        counted = [(code, int(self._rng.integers(0, 900))) for code in self.codes]
        return self._table("counts", [self.region_id, "dwellings"], counted)

    def _coarser(self, real: QgsVectorLayer) -> QgsVectorLayer:
        first: dict[str, int] = {}
        for feature in real.getFeatures():
            first.setdefault(str(feature[self.key])[: self._leading], feature.id())
        some = real.materialize(QgsFeatureRequest().setFilterFids(list(first.values())))
        some.startEditing()
        index = some.fields().indexOf(self.key)
        for feature in some.getFeatures():
            some.changeAttributeValue(feature.id(), index, str(feature[self.key])[: self._leading])
        some.commitChanges()
        return self._written("coarser", some, {self.key: "district"}, "gpkg")

    def _points(self, real: QgsVectorLayer) -> QgsVectorLayer:
        places = "".join(f"{n},{-100 + n / 50},{45 + n / 90}\n" for n in range(60))
        file = self._folder / "schools.csv"
        file.write_text(f"school,x,y\n{places}", encoding="utf-8")
        return QgsVectorLayer(f"{file.as_uri()}?xField=x&yField=y&crs=EPSG:4326", "points", "delimitedtext")

    def _released(self, real: QgsVectorLayer) -> QgsVectorLayer:
        rows = [(int(region), "f") for region in self._rng.integers(1, 30, 500)]
        layer = self._table("released", ["vbas_region", "sex"], rows)
        metadata = layer.metadata()
        metadata.setTitle("Released records (for release)")
        layer.setMetadata(metadata)
        return layer


def main(n_projects: int, seed: int) -> None:
    """A line for each project, and how many are right."""
    application = QgsApplication([], True)
    application.initQgis()
    from vbas.vbas_plugin.provider import VbasProvider
    from vbas.vbas_plugin.release.data import DataStep
    from vbas.vbas_plugin.release.state import ReleaseState

    provider, right = VbasProvider(), 0
    QgsApplication.processingRegistry().addProvider(provider)
    print("areas | its code | their area | beside them | proposed", flush=True)
    for number in range(n_projects):
        with tempfile.TemporaryDirectory() as folder:
            drawn = Drawn(np.random.default_rng([seed, number]), Path(folder))
            first = bool(number % 2)  # the dock is open before the layers come, or after
            step = DataStep(ReleaseState()) if first else None
            drawn.add()
            step = DataStep(ReleaseState()) if step is None else step
            application.processEvents()
            while step.busy:
                application.processEvents()
                time.sleep(0.001)
            state, layers = step.state, drawn.layers
            wanted = (layers["areas"].id(), drawn.region_id, layers["people"].id(), drawn.record_region)
            proposal = (state.regions, state.region_id, state.records, state.record_region)
            right += proposal == wanted
            names = {layer.id(): name for name, layer in layers.items()}
            proposed = (
                "right"
                if proposal == wanted
                else " / ".join(names.get(chosen, chosen) or "nothing" for chosen in proposal)
            )
            beside = ", ".join(name for name in layers if name not in ("areas", "people")) or "nothing"
            print(f"{drawn.source} | {drawn.region_id} | {drawn.record_region} | {beside} | {proposed}", flush=True)
            step.end()
            step.deleteLater()
            QgsProject.instance().removeAllMapLayers()
    print(f"\n{right} of {n_projects} are right: {100 * right / n_projects:.0f} %")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:]]
    main(*(asked + [20, 1][len(asked) :]))
