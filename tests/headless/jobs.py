"""What the headless tests share: the main job's parameters, its files read, its moments waited for."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

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


def stop(process: Any) -> None:
    """Let it rest, and wait until it does or has ended."""
    process.send_signal(signal.SIGSTOP)
    while process.poll() is None:
        state = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        if state in "TZ":
            break
        time.sleep(0.002)


def stopped(begin: Callable[[], Any], reached: Callable[[], bool], holds: Callable[[], bool], after: float = 0) -> Any:
    """A run that rests at a moment: some time after it was reached, and while something holds.

    Where the machine was slow, a run may have gone on meanwhile: then another is begun.
    """
    for _ in range(6):
        process = begin()
        with suppress(AssertionError):
            wait_until(reached, process)
            time.sleep(after)
            stop(process)
            if process.poll() is None and holds():
                return process
            process.send_signal(signal.SIGCONT)
        process.communicate(timeout=120)
    raise AssertionError("no run was met at this moment")
