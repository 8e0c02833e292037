"""Another plugin has GDAL raise its errors in Python: users meet the same sentences as without."""

from __future__ import annotations

import re
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
from osgeo import gdal, ogr
from qgis.core import QgsProcessingException, QgsVectorLayer

from vbas.algorithms.layers.delivery.formats import _has_the_row
from vbas.algorithms.layers.delivery.read_and_written import _table_of
from vbas.algorithms.layers.gdal_errors import raised_by_gdal, told_to_handlers
from vbas.algorithms.layers.reading.layer_file import LayerFile
from vbas.algorithms.layers.reading.records import open_table

from .conftest import make_layer
from .test_full_disk import temporary_disk  # noqa: F401

HOMES = ["a", "b", "a", "b"] * 500


def write(layer, file):
    from qgis.core import QgsCoordinateTransformContext, QgsVectorFileWriter

    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = "GPKG" if file.suffix == ".gpkg" else "CSV"
    QgsVectorFileWriter.writeAsVectorFormatV2(layer, str(file), QgsCoordinateTransformContext(), options)
    return file


def sentence_of(run, algorithm, **parameters):
    with pytest.raises(QgsProcessingException) as caught:
        run(algorithm, **parameters)
    return str(caught.value)


def damaged(tmp_path):
    """A GeoPackage with a page of its rows destroyed, opened before."""
    file = write(make_layer({"home": HOMES, "sex": ["F" * 40, "M" * 40] * 1000}), tmp_path / "records.gpkg")
    layer = QgsVectorLayer(str(file), "records", "ogr")
    whole = file.read_bytes()
    page = whole.rindex(b"M" * 40) // 4096
    file.write_bytes(whole[: page * 4096] + b"\xff" * 4096 + whole[(page + 1) * 4096 :])
    return layer


def profile_of_damaged(run, tmp_path):
    layer = damaged(tmp_path)
    place = tmp_path / "profile.csv"
    fields = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex"]}
    return sentence_of(run, "profilerecords", RECORDS=layer, PROFILE=str(place), **fields)


def profile_of_half_a_file(run, tmp_path):
    file = write(make_layer({"home": HOMES, "sex": ["F", "M"] * 1000}), tmp_path / "records.gpkg")
    layer = QgsVectorLayer(str(file), "records", "ogr")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    fields = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex"]}
    return sentence_of(run, "profilerecords", RECORDS=layer, PROFILE=str(tmp_path / "profile.csv"), **fields)


def register_that_cannot_be_made(run, tmp_path):
    records = make_layer({"home": HOMES, "sex": ["F", "M"] * 1000})
    return sentence_of(
        run,
        "releaserecords",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        CROSSWALK=make_layer({"home": ["a", "b"], "vbas_region": [1, 1]}),
        REGISTER="/proc/register.gpkg",
        RELEASED_RECORDS=str(tmp_path / "released.csv"),
    )


def output_that_is_locked(run, tmp_path):
    records = make_layer({"home": HOMES, "sex": ["F", "M"] * 1000})
    place = write(records, tmp_path / "profile.gpkg")
    holder = sqlite3.connect(place, isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        place = f"ogr:dbname='{place}' table=\"other\""
        fields = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex"]}
        return sentence_of(run, "profilerecords", RECORDS=records, PROFILE=place, **fields)
    finally:
        holder.close()


def _as_said(text, folder):
    """Without what differs from run to run: the folder, and names of tables that are not in their place yet."""
    return re.sub("vbas_[0-9a-f]{16}", "", text.replace(str(folder), ""))


@pytest.mark.parametrize(
    "meet",
    [
        profile_of_damaged,
        profile_of_half_a_file,
        register_that_cannot_be_made,
        pytest.param(output_that_is_locked, marks=pytest.mark.slow),
    ],
)
def test_the_same_sentence_as_without(run, tmp_path, request, meet):
    (tmp_path / "0").mkdir()
    (tmp_path / "1").mkdir()
    with told_to_handlers():
        without = _as_said(meet(run, tmp_path / "0"), tmp_path / "0")
    request.getfixturevalue("gdal_raises")
    found = _as_said(meet(run, tmp_path / "1"), tmp_path / "1")
    assert found == without
    assert "fault of VBAS" not in found and "Traceback" not in found and "\n" not in found
    assert gdal.GetUseExceptions() and ogr.GetUseExceptions()


def test_a_full_disk(run, tmp_path, gdal_raises, temporary_disk):  # noqa: F811
    records = make_layer({"home": HOMES * 4, "sex": [f"{i} of many" for i in range(8000)]})
    temporary_disk(64)
    fields = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex"]}
    place = tmp_path / "profile.gpkg"
    said = sentence_of(run, "profilerecords", RECORDS=records, PROFILE=str(place), **fields)
    assert "fault of VBAS" not in said and "\n" not in said
    assert not place.exists()


def test_files_that_are_none_are_no_exception(gdal_raises, tmp_path):
    file = tmp_path / "none.gpkg"
    file.write_bytes(b"no database" * 20)
    assert _table_of(file, 0) == ""
    assert not _has_the_row(file)
    assert open_table(LayerFile(file, "", True)) == (None, None)


def test_the_way_of_others_is_put_back(gdal_raises):
    with suppress(KeyError), told_to_handlers():
        assert not gdal.GetUseExceptions() and not ogr.GetUseExceptions()
        raise KeyError
    assert gdal.GetUseExceptions() and ogr.GetUseExceptions()


def test_what_gdal_raises_where_nobody_expects_it_is_no_fault_of_the_program(run, monkeypatch, gdal_raises, tmp_path):
    def opening(*given):
        return gdal.OpenEx(str(tmp_path / "none.gpkg"), gdal.OF_VECTOR)

    monkeypatch.setattr("vbas.algorithms.steps.profile_records.ProfileRecords.work", opening)
    records = make_layer({"home": HOMES, "sex": ["F", "M"] * 1000})
    fields = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex"]}
    said = sentence_of(run, "profilerecords", RECORDS=records, PROFILE="memory:", **fields)
    assert said.startswith("GDAL could not go on with a file: “") and "none.gpkg" in said


def test_an_error_of_the_program_is_not_taken_for_one_of_gdal():
    with pytest.raises(RuntimeError) as caught:
        raise RuntimeError(str(Path()))
    assert not raised_by_gdal(caught.value)
