"""`scripts/qgis_process` as a subprocess, in a profile of the test's own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..made_once import made_once
from .loaded import loaded_qgis

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Done:
    """A finished process."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def results(self):
        return json.loads(self.stdout)["results"]


@pytest.fixture(scope="session")
def headless_home(tmp_path_factory):
    return tmp_path_factory.mktemp("headless")


@pytest.fixture(scope="session")
def qgis_process(headless_home):
    """qgis_process(*arguments) -> Done."""

    def run(*arguments, **environment):
        done = subprocess.run(
            [str(ROOT / "scripts" / "qgis_process"), *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "VBAS_HEADLESS_HOME": str(headless_home), **environment},
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def loaded(tmp_path_factory):
    """QGIS loaded once, for runs that are copies of its process."""
    with loaded_qgis(tmp_path_factory.mktemp("loaded")) as qgis:
        yield qgis


@pytest.fixture(scope="session")
def qgis_loaded(loaded):
    """qgis_loaded("run", …) -> Done: as qgis_process, but for what that reads itself, at a tenth of the time."""

    def run(*arguments, **environment):
        process = loaded.start(*arguments, variables=environment)
        stdout, stderr = process.communicate(timeout=300)
        return Done(process.returncode, stdout, stderr)

    return run


@pytest.fixture(scope="session")
def city(qgis_loaded, tmp_path_factory):
    """The demonstration city as files: areas.gpkg and records.gpkg."""

    def make(folder):
        done = qgis_loaded(
            "run",
            "vbas:demonstrationcity",
            "--",
            f"AREAS={folder / 'areas.gpkg'}",
            f"RECORDS={folder / 'records.gpkg'}",
        )
        assert done.returncode == 0, done.stderr

    return made_once(tmp_path_factory, "city", make)


@pytest.fixture(scope="session")
def town(city, tmp_path_factory):
    """Some districts in the middle of the city, a sixth of it: for what does not hang on how many people there are."""

    def make(folder):
        with closing(sqlite3.connect(city / "areas.gpkg")) as connection:
            rows = connection.execute(
                "SELECT area FROM areas WHERE district IN ('centre', 'north end', 'river', 'university')"
            ).fetchall()
        inside = ", ".join(f"'{area}'" for (area,) in rows)
        for name in ("areas", "records"):
            files = [str(place / f"{name}.gpkg") for place in (folder, city)]
            subprocess.run(["ogr2ogr", "-where", f"area IN ({inside})", *files, name], check=True, timeout=300)

    return made_once(tmp_path_factory, "town", make)
