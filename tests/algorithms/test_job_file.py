"""JOB_FILE: the form's settings as a job, by which the command makes the same release without QGIS."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from markupsafe import escape
from qgis.core import QgsProject, QgsVectorFileWriter, QgsVectorLayer

from vbas.core.command.job_file import read_job
from vbas.core.command.main import DONE, main

from .conftest import make_grid, make_layer


def content_of(folder):
    return json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))["vbas"]["content_sha256"]


def saved(layer, path):
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = {".gpkg": "GPKG", ".csv": "CSV"}[path.suffix]
    options.layerName = path.stem
    QgsVectorFileWriter.writeAsVectorFormatV3(layer, str(path), QgsProject.instance().transformContext(), options)
    return str(path)


@pytest.fixture
def files(tmp_path):
    """The grid as files: areas in a GeoPackage, records in a GeoPackage and as CSV."""
    areas, records = make_grid()
    csv_file = Path(saved(records, tmp_path / "people.csv"))
    # GDAL 3.6 and later writes whole numbers without quotation marks.
    csv_file.write_bytes(csv_file.read_bytes().replace(b'"', b""))
    return saved(areas, tmp_path / "areas.gpkg"), saved(records, tmp_path / "people.gpkg"), str(csv_file)


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        {"K": 6, "POPULATION": "people"},
        {"RELEASE": "nested levels", "SENSITIVE": ["diagnosis"], "L_DIVERSITY": 2, "FOLDER_FORMAT": "GeoPackage"},
        {
            "COMBINATION": "custom",
            "SITE_NUMBER": "given number",
            "N_SITES": 5,
            "GENERALISE": ["age", 1],
            "HIERARCHY_RULES": ["age", "bands 2 *"],
            "RULE": "SACRO safe setting",
            "PUBLISHED_MARGINS": "sex",
        },
    ],
    ids=["one level", "nested", "custom"],
)
def test_the_command_makes_the_same_release(run, files, tmp_path, capsys, given):
    areas, *tables = files
    job, folder = tmp_path / "job.toml", tmp_path / "release"
    for records in tables:
        asked = {"REGION_ID": "da", "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"], **given}
        done = run(
            "anonymize",
            REGIONS=areas,
            RECORDS=records,
            RELEASED_RECORDS="memory:",
            RELEASE_FOLDER=str(folder),
            JOB_FILE=str(job),
            REPORT=str(tmp_path / "report.html"),
            **asked,
        )
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "“vbas anonymize job.toml”" in page and escape(job.read_text(encoding="utf-8").splitlines()[-1]) in page
        assert done.results["JOB_FILE"] == str(job)
        told = read_job(job)
        assert str(told["RECORDS"]).partition("|")[0] == records and told["RELEASE_FOLDER"] == str(folder)
        assert {name: told[name] for name in given if name not in ("RULE", "K")}.items() <= asked.items()
        expected = content_of(folder)
        assert main(["anonymize", str(job), "--folder", str(tmp_path / "again"), "--quiet"]) == DONE
        assert capsys.readouterr().out.strip() == expected == content_of(tmp_path / "again")


def test_what_a_job_cannot_do_stands_in_it(run, files, tmp_path):
    areas, *_ = files
    layer = QgsVectorLayer(areas, "areas", "ogr")
    run(
        "anonymize",
        REGIONS=layer,
        REGION_ID="da",
        RECORDS=make_grid()[1],
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        RELEASED_RECORDS="memory:",
        JOB_FILE=str(tmp_path / "job.toml"),
    )
    text = (tmp_path / "job.toml").read_text(encoding="utf-8")
    assert "# RECORDS was held in memory" in text and "RELEASE_FOLDER" not in text


@pytest.mark.slow
def test_the_command_needs_no_qgis(files, tmp_path):
    (tmp_path / "job.toml").write_text(
        'REGIONS = "areas.gpkg"\nREGION_ID = "da"\nRECORDS = "people.csv"\nRECORD_REGION = "home"\n'
        'QUASI_IDENTIFIERS = ["sex"]\nRELEASE_FOLDER = "release"\n',
        encoding="utf-8",
    )
    program = (
        "import sys; sys.modules['qgis'] = sys.modules['osgeo'] = None; from vbas.core.command.main import main; "
        "sys.exit(main(['anonymize', 'job.toml']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == DONE, done.stderr


def test_dates_and_truths_are_read_as_the_form_reads_them(run, tmp_path, capsys):
    areas, records = make_grid(per_area=12)
    rows = [feature.attributes() for feature in records.getFeatures()]
    columns = dict(zip(("home", "sex", "age"), zip(*rows)))
    saved(areas, tmp_path / "areas.gpkg")
    saved(make_layer(columns), tmp_path / "people.gpkg")
    with sqlite3.connect(tmp_path / "people.gpkg") as connection:
        connection.execute("ALTER TABLE people ADD COLUMN moved BOOLEAN")
        connection.execute("ALTER TABLE people ADD COLUMN since DATE")
        connection.execute("UPDATE people SET moved = age > 3, since = CASE WHEN age < 5 THEN '2020-01-0' || age END")
    connection.close()
    given = {"REGION_ID": "da", "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["moved", "since"]}
    run(
        "anonymize",
        REGIONS=str(tmp_path / "areas.gpkg"),
        RECORDS=str(tmp_path / "people.gpkg"),
        RELEASED_RECORDS="memory:",
        RELEASE_FOLDER=str(tmp_path / "release"),
        JOB_FILE=str(tmp_path / "job.toml"),
        **given,
    )
    assert main(["anonymize", str(tmp_path / "job.toml"), "--folder", str(tmp_path / "again"), "--quiet"]) == DONE
    assert capsys.readouterr().out.strip() == content_of(tmp_path / "release")
