"""RELEASE_FOLDER: the same content by every door and format, whole in its place or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from qgis.core import QgsProcessingException, QgsVectorLayer

from vbas.algorithms.layers.delivery import outputs
from vbas.core.package.checking import check_folder

from ..engines_there import needed
from ..systems import reads_without_a_trace
from .conftest import make_layer
from .test_databases import parquet, there  # fixtures  # noqa: F401

VERIFY = Path(__file__).resolve().parents[2] / "verify" / "verify.py"
HIDDEN = ".vbas-*"


def package_of(folder):
    return json.loads((Path(folder) / "datapackage.json").read_text(encoding="utf-8"))


def content_of(folder):
    return package_of(folder)["vbas"]["content_sha256"]


def verified(folder):
    done = subprocess.run([sys.executable, "-I", str(VERIFY), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def crosswalk(grid):
    areas = [feature["da"] for feature in grid[0].getFeatures()]
    return make_layer({"da": areas, "vbas_region": [1 + i // 9 for i in range(36)]})


@pytest.fixture
def levels(grid):
    areas = [feature["da"] for feature in grid[0].getFeatures()]
    return make_layer({"da": areas, "vbas_region_1": [1 + i // 9 for i in range(36)], "vbas_region_2": [1] * 36})


@pytest.mark.slow
def test_a_folder_verifies_in_every_format_with_one_content(anonymize, tmp_path):
    found = set()
    for written in ("CSV", "Parquet", "GeoPackage"):
        if written == "Parquet":
            needed("pyarrow")
        folder = tmp_path / written
        done = anonymize(
            RELEASE="nested levels", K=6, KEEP_FIELDS=["diagnosis"], RELEASE_FOLDER=str(folder), FOLDER_FORMAT=written
        )
        assert done.results["RELEASE_FOLDER"] == str(folder)
        if written != "Parquet":
            verified(folder)
        assert all(claim.holds for claim in check_folder(folder).claims)
        found.add(content_of(folder))
        assert any(line == f"Content hash of the release: {content_of(folder)}" for line in done.log)
        assert not list(tmp_path.glob(HIDDEN))
    assert len(found) == 1
    shapes = QgsVectorLayer(str(tmp_path / "CSV" / "regions.gpkg"), "regions", "ogr")
    drawn = done.layer("RELEASED_REGIONS")
    assert shapes.featureCount() == drawn.featureCount() and shapes.crs() == drawn.crs()
    rows = QgsVectorLayer(f"{tmp_path / 'GeoPackage' / 'release.gpkg'}|layername=records", "records", "ogr")
    assert rows.isValid() and rows.featureCount() == done.layer("RELEASED_RECORDS").featureCount()


def test_the_records_of_the_folder_are_those_released(anonymize, tmp_path):
    done = anonymize(K=6, KEEP_FIELDS=["diagnosis"], RELEASE_FOLDER=str(tmp_path / "release"))
    lines = (tmp_path / "release" / "records.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "vbas_region,sex,age,diagnosis"
    rows = [
        ",".join("" if value is None else str(value) for value in row.values()) for row in done.rows("RELEASED_RECORDS")
    ]
    assert sorted(lines[1:]) == sorted(rows)


def test_what_may_not_be_said_is_not_said(run, grid, tmp_path):
    for layer in grid:
        layer.setName("a name that nobody may know")
    done = run(
        "anonymize",
        REGIONS=grid[0],
        REGION_ID="da",
        RECORDS=grid[1],
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        K=30,
        SEED=4711,
        COMBINATION="custom",
        SITE_NUMBER="given number",
        N_SITES=30,
        LICENCE="CC-BY-4.0",
        RELEASE_FOLDER=str(tmp_path / "release"),
        RELEASED_RECORDS="memory:",
    )
    assert done.results["N_SUPPRESSED"] > 0
    package = package_of(tmp_path / "release")
    assert package["licenses"] == [{"name": "CC-BY-4.0"}]
    ours = package["vbas"]["made_by"]
    assert ours["algorithm"] == "vbas:anonymize" and ours["settings"]["K"] == 30
    assert "'QUASI_IDENTIFIERS=sex;age'" in ours["command"] and ours["settings"]["QUASI_IDENTIFIERS"] == "sex, age"
    assert not {"SEED", "REGIONS", "RECORDS", "RECORD_REGION", "RULE", "FOLDER_FORMAT"} & set(ours["settings"])
    everything = "".join(
        file.read_text(encoding="utf-8") for file in (tmp_path / "release").iterdir() if file.suffix != ".gpkg"
    )
    assert "4711" not in everything and str(tmp_path) not in everything
    assert "a name that nobody may know" not in everything


@pytest.mark.slow
def test_release_records_writes_the_same_without_areas(run, grid, crosswalk, levels, tmp_path):
    for n, (given, shapes) in enumerate(
        [(crosswalk, {}), (levels, {"REGIONS": grid[0], "REGION_ID": "da"}), (levels, {})]
    ):
        folder = tmp_path / f"{n}"
        run(
            "releaserecords",
            RECORDS=grid[1],
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=["sex", "age"],
            CROSSWALK=given,
            K=6,
            RELEASED_RECORDS="memory:",
            RELEASE_FOLDER=str(folder),
            LOSS="non-uniform entropy",
            **shapes,
        )
        verified(folder)
        assert (folder / "regions.gpkg").exists() == bool(shapes)
    nested = [package_of(tmp_path / name)["resources"] for name in "12"]
    assert nested[0][0]["content_sha256"] == nested[1][0]["content_sha256"]


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_a_release_in_place_has_the_same_content(run, there, grid, crosswalk, levels, tmp_path, nested):  # noqa: F811
    for package in ("ibis", "duckdb", "pyarrow"):
        needed(package)
    given = {"CROSSWALK": levels if nested else crosswalk, "K": 6, "LOSS": "non-uniform entropy"}
    there(
        "releasedatabase",
        DESTINATION=str(tmp_path / "released.parquet"),
        KEEP_FIELDS="diagnosis",
        RELEASE_FOLDER=str(tmp_path / "there"),
        **given,
    )
    run(
        "releaserecords",
        RECORDS=grid[1],
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        KEEP_FIELDS=["diagnosis"],
        RELEASED_RECORDS="memory:",
        RELEASE_FOLDER=str(tmp_path / "here"),
        **given,
    )
    verified(tmp_path / "there")
    hashes = [
        {one["name"]: one.get("content_sha256") for one in package_of(tmp_path / name)["resources"]}
        for name in ("there", "here")
    ]
    assert hashes[0]["records"] == hashes[1]["records"] and hashes[0]["regions"] == hashes[1]["regions"]
    assert hashes[0]["crosswalk"] == hashes[1]["crosswalk"]


def files_in(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.slow
def test_an_earlier_release_is_replaced_whole_and_kept_if_the_run_fails(anonymize, tmp_path, monkeypatch):
    folder = tmp_path / "release"
    folder.mkdir()  # an empty folder will do
    anonymize(K=6, RELEASE_FOLDER=str(folder), FOLDER_FORMAT="GeoPackage")
    before = files_in(folder)

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(outputs.Outputs, "_have_their_place", fail)
        with pytest.raises(QgsProcessingException, match="Nothing was changed"):
            anonymize(K=7, RELEASE_FOLDER=str(folder))
    assert files_in(folder) == before and [entry.name for entry in tmp_path.iterdir()] == ["release"]
    anonymize(K=7, RELEASE_FOLDER=str(folder))
    assert package_of(folder)["vbas"]["k"] == 7 and "release.gpkg" not in files_in(folder)
    assert [entry.name for entry in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("left", ["file", "folder of others", "a file beside a release", "link"])
def test_another_folder_is_never_replaced(anonymize, tmp_path, left):
    folder = tmp_path / "place"
    if left == "file":
        folder.write_text("mine", encoding="utf-8")
    elif left == "folder of others":
        folder.mkdir()
        (folder / "mine.txt").write_text("mine", encoding="utf-8")
    elif left == "link":
        (tmp_path / "other").mkdir()
        folder.symlink_to(tmp_path / "other")
    else:
        anonymize(K=6, RELEASE_FOLDER=str(folder))
        (folder / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(QgsProcessingException, match="RELEASE_FOLDER: "):
        anonymize(K=6, RELEASE_FOLDER=str(folder))
    if left in ("folder of others", "a file beside a release"):
        assert (folder / "mine.txt").read_text(encoding="utf-8") == "mine"


@reads_without_a_trace
def test_a_folder_that_is_read_is_not_replaced(run, anonymize, grid, tmp_path):
    folder = tmp_path / "release"
    anonymize(K=6, RELEASE_FOLDER=str(folder), FOLDER_FORMAT="GeoPackage")
    crosswalk = QgsVectorLayer(f"{folder / 'release.gpkg'}|layername=crosswalk", "crosswalk", "ogr")
    with pytest.raises(QgsProcessingException, match="CROSSWALK"):
        run(
            "releaserecords",
            RECORDS=grid[1],
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=["sex", "age"],
            CROSSWALK=crosswalk,
            K=6,
            RELEASED_RECORDS="memory:",
            RELEASE_FOLDER=str(folder),
        )


def test_settings_of_a_folder_without_one_are_told(anonymize):
    done = anonymize(K=6, FOLDER_FORMAT="GeoPackage")
    assert any("FOLDER_FORMAT = GeoPackage has no effect here" in line for line in done.log)


@pytest.fixture
def folder(anonymize, tmp_path):
    anonymize(RELEASE="nested levels", K=6, KEEP_FIELDS=["diagnosis"], RELEASE_FOLDER=str(tmp_path / "release"))
    return tmp_path / "release"


def test_a_folder_is_checked(run, folder, tmp_path):
    done = run("checkrelease", RELEASE_FOLDER=str(folder), CHECK="memory:", REPORT=str(tmp_path / "page.html"))
    assert done.results["K_FOUND"] >= 6 and done.results["N_BELOW"] == 0 and done.results["N_BROKEN"] == 0
    assert any(line.startswith("content records: ") for line in done.log)
    with pytest.raises(QgsProcessingException, match="fall short"):
        run("checkrelease", RELEASE_FOLDER=str(folder), K=5000)


def test_a_folder_that_was_changed_fails_the_check(run, folder):
    lines = (folder / "records.csv").read_text(encoding="utf-8").splitlines()
    (folder / "records.csv").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    with pytest.raises(QgsProcessingException, match="The folder is not what it says"):
        run("checkrelease", RELEASE_FOLDER=str(folder), CHECK="memory:")
    done = run("checkrelease", RELEASE_FOLDER=str(folder), CHECK="memory:", STOP=False)
    assert done.results["N_BROKEN"] >= 3


def test_a_folder_takes_the_place_of_a_table(run, folder, grid, tmp_path):
    done = run("checkrelease", RELEASE_FOLDER=str(folder), RECORDS=grid[1], QUASI_IDENTIFIERS=["sex"], CHECK="memory:")
    assert any("RECORDS" in line and "has no effect here" in line for line in done.log)
    with pytest.raises(QgsProcessingException, match="RECORDS"):
        run("checkrelease", CHECK="memory:")
    with pytest.raises(QgsProcessingException, match="no folder of a release"):
        run("checkrelease", RELEASE_FOLDER=str(tmp_path), CHECK="memory:")
