"""What the headless tests share: the main job's parameters, its files read, its moments waited for."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, suppress

QUASI_IDENTIFIERS = "age_group;sex;marital_status;education"


def inputs(city):
    return [
        f"REGIONS={city / 'areas.gpkg'}",
        "REGION_ID=area",
        "POPULATION=population",
        f"RECORDS={city / 'records.gpkg'}",
        "RECORD_REGION=area",
        f"QUASI_IDENTIFIERS={QUASI_IDENTIFIERS}",
    ]


def outputs(folder):
    return [
        f"RELEASED_RECORDS={folder / 'released.gpkg'}",
        f"RELEASED_REGIONS={folder / 'regions.gpkg'}",
        f"CROSSWALK={folder / 'crosswalk.csv'}",
        f"REGION_AUDIT={folder / 'audit.gpkg'}",
        f"REPORT={folder / 'report.html'}",
    ]


def query(file, statement):
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(statement).fetchall()


def wait_until(reached, process):
    """Wait for a moment of a run; a run that ends before it has missed the point of the test."""
    while True:
        with suppress(FileNotFoundError):  # a folder that is removed while it is looked at
            if reached():
                return
        assert process.poll() is None
        time.sleep(0.01)
