"""A disk that fills while outputs are written: all rows, or one sentence and nothing changed."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from osgeo import gdal
from qgis.core import QgsProcessingException, QgsVectorLayer

from vbas.algorithms.layers.delivery.writing import _errors_of_gdal

from ..exploring import tried
from .conftest import OUTPUTS, make_grid

SIZES = [8, 32, 64, 112, 160, 224, 320, 448, 640, 896]
ENOUGH = 20_000


@pytest.fixture
def temporary_disk(tmp_path, monkeypatch):
    """temporary_disk(kilobytes): temporary files go to a disk of that size."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    mounted: list[Path] = []

    def one(kilobytes):
        folder = tmp_path / f"temporary {len(mounted)}"
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        monkeypatch.setenv("TMPDIR", str(folder))
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        return folder

    yield one
    for folder in mounted:  # QGIS may still hold a file that was removed
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def rows_of(path):
    layer = QgsVectorLayer(str(path), "layer", "ogr")
    assert layer.isValid(), path
    features = list(layer.getFeatures())
    if layer.isSpatial():
        assert all(feature.hasGeometry() for feature in features)
    return len(features)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gpkg", ".csv", ".shp"])
def test_a_run_has_all_rows_or_ends_in_a_sentence(run, tmp_path, temporary_disk, suffix):
    areas, records = make_grid(side=12, per_area=60)
    shapes = suffix == ".shp"

    def anonymize(folder):
        tables = ("RELEASED_RECORDS", "CROSSWALK")
        places = {name: folder / f"{name.lower()}{suffix}" for name in OUTPUTS}
        if shapes:
            places |= {name: folder / f"{name.lower()}.csv" for name in tables}
        places["REPORT"] = folder / "report.html"
        done = run(
            "anonymize",
            REGIONS=areas,
            REGION_ID="da",
            RECORDS=records,
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=["sex", "age"],
            KEEP_FIELDS=["diagnosis"],
            COMBINATION="custom",
            SITE_NUMBER="given number",
            N_SITES=30,
            **{name: str(place) for name, place in places.items()},
        )
        files = {name: Path(done.results[name]) for name in places}
        report = files.pop("REPORT").read_bytes()
        assert report.rstrip().endswith(b"</html>")
        return {name: rows_of(file) for name, file in files.items()}

    whole = tmp_path / "whole"
    whole.mkdir()
    temporary_disk(ENOUGH)
    expected = anonymize(whole)
    assert min(expected.values()) >= 30
    refused = 0
    # Of the places where a run may stop, a GeoPackage has the most.
    for kilobytes in (*(SIZES[:: tried(2, 1)] if suffix == ".gpkg" else SIZES[::3]), ENOUGH):
        disk = temporary_disk(kilobytes)
        target = tmp_path / f"target {kilobytes}"
        target.mkdir()
        try:
            assert anonymize(target) == expected, kilobytes
        except QgsProcessingException as error:
            refused += 1
            text = str(error)
            assert text and "\n" not in text and "Traceback" not in text, (kilobytes, text)
            assert not list(target.iterdir()), kilobytes
        assert not list(disk.iterdir()), kilobytes
    assert 0 < refused < len(SIZES) + 1


@pytest.mark.slow
def test_a_profile_has_all_rows_or_ends_in_a_sentence(run, tmp_path, temporary_disk):
    _, records = make_grid(side=20, per_area=60)
    expected = None
    for kilobytes in (ENOUGH, *SIZES[:: tried(3, 1)]):
        temporary_disk(kilobytes)
        place = tmp_path / f"profile {kilobytes}.gpkg"
        try:
            run(
                "profilerecords",
                RECORDS=records,
                RECORD_REGION="home",
                QUASI_IDENTIFIERS=["sex", "age"],
                PROFILE=str(place),
            )
        except QgsProcessingException as error:
            assert "\n" not in str(error), kilobytes
            assert not place.exists()
        else:
            expected = expected or rows_of(place)
            assert rows_of(place) == expected > 1000, kilobytes


@pytest.mark.parametrize(("kind", "heard"), [(gdal.CE_Failure, ["No space left"]), (gdal.CE_Warning, [])])
def test_what_gdal_says_as_it_closes_a_file_is_heard(gdal_raises, kind, heard):
    """QGIS does not pass it on, and the last rows may be lost then."""
    with _errors_of_gdal() as errors:
        gdal.Error(kind, 1, "No space left.")
    assert errors == heard
