"""The one command that runs the main job over records in place, for each engine."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from ..engines_there import absent, needed
from ..exploring import tried
from .conftest import ROOT

RECORDS = 12_000
FIELDS = ("vbas_region", "age_group", "sex", "marital_status", "education")


@pytest.fixture(scope="module")
def rows(town, headless_home, tmp_path_factory, request):
    """rows(engine) -> the released rows, as the text that they show."""

    def one(engine):
        folder = tmp_path_factory.mktemp(engine)
        shutil.copy(town / "areas.gpkg", folder / "city_areas.gpkg")
        some = ["ogr2ogr", "-limit", str(RECORDS), str(folder / "city_records.gpkg"), str(town / "records.gpkg")]
        subprocess.run(some, check=True, capture_output=True)
        # A driver of its own, which takes long to start, is that of test_engine_spark.py.
        cluster = {"VBAS_SPARK": request.getfixturevalue("spark").connect} if engine == "spark" else {}
        done = subprocess.run(
            ["bash", str(ROOT / "scripts" / "demo_in_place"), engine, str(folder)],
            capture_output=True,
            text=True,
            env={**os.environ, "VBAS_HEADLESS_HOME": str(headless_home), **cluster},
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr.count("+ scripts/qgis_process run vbas:") == 1 + (engine == "duckdb")  # and linked tables
        if engine == "postgres":
            with (folder / "released.csv").open(encoding="utf-8", newline="") as file:
                return [tuple(row[name] for name in (*FIELDS, "diagnosis")) for row in csv.DictReader(file)]
        place = folder / ("released" if engine == "spark" else "released.parquet")
        table = needed("pyarrow.parquet").read_table(place)
        columns = (table[name].to_pylist() for name in (*FIELDS, "diagnosis"))
        return [tuple("" if value is None else str(value) for value in row) for row in zip(*columns)]

    return one


def test_all_engines_release_the_same(rows):
    needed("ibis")
    if not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        absent("PostgreSQL")
    for package in ("adbc_driver_postgresql", "pyspark"):
        needed(package)
    # Spark takes as long as the others together; what it releases is compared in test_engine_conformance.py, too.
    found = {engine: Counter(rows(engine)) for engine in tried(("duckdb", "postgres"), ("duckdb", "postgres", "spark"))}
    assert all(released == found["duckdb"] for released in found.values())
    classes = Counter(row[:-1] for row in found["duckdb"].elements())
    assert min(classes.values()) >= 5
    assert RECORDS // 2 < classes.total() <= RECORDS


def test_the_commands_of_the_page_release_what_they_say(town, headless_home, tmp_path):
    needed("duckdb")
    page = (ROOT / "docs" / "large-tables.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```bash\n(scripts/qgis_process run vbas:profiledatabase.*?)```", page, re.DOTALL)
    people = ["ogr2ogr", "-limit", str(RECORDS), str(tmp_path / "people.csv"), str(town / "records.gpkg")]
    subprocess.run(people, check=True, capture_output=True)
    program = shlex.quote(str(ROOT / "scripts" / "qgis_process"))
    commands = block.replace("output/city_areas.gpkg", shlex.quote(str(town / "areas.gpkg")))
    done = subprocess.run(
        ["bash", "-ec", commands.replace("scripts/qgis_process", program)],
        capture_output=True,
        text=True,
        env={**os.environ, "VBAS_HEADLESS_HOME": str(headless_home)},
        cwd=tmp_path,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    table = needed("pyarrow.parquet").read_table(tmp_path / "released.parquet").to_pylist()
    assert RECORDS // 2 < len(table) <= RECORDS
    classes = Counter(tuple(row[name] for name in ("vbas_level", "vbas_region", "age_group", "sex")) for row in table)
    assert min(classes.values()) >= 5
