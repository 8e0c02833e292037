"""Delivery as a server sees it: two runs at once on one target, runs that are killed, a limit on the size of files."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from .conftest import ROOT
from .jobs import inputs, outputs, query, stop, stopped, wait_until


@pytest.fixture
def start_qgis(headless_home):
    """start_qgis(parameters, limit, variables) -> a run of `qgis_process` that has begun."""

    def start(*arguments, limit=None, **environment):
        return subprocess.Popen(
            [str(ROOT / "scripts" / "qgis_process"), "run", "vbas:anonymize", "--", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "VBAS_HEADLESS_HOME": str(headless_home), **environment},
            preexec_fn=None if limit is None else lambda: limit_files(limit),
        )

    return start


@pytest.fixture
def start_loaded(loaded):
    """The same in a copy of a QGIS that is loaded."""

    def start(*arguments, limit=None, **environment):
        return loaded.start("run", "vbas:anonymize", "--", *arguments, variables=environment, limit=limit)

    return start


def limit_files(size):
    # QGIS writes files of its own before its Python starts, and would be ended by the signal.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize(("way", "pause"), [("start_qgis", 0), ("start_loaded", 0.1), ("start_loaded", 0.4)])
def test_two_runs_on_one_target_never_mix(request, town, tmp_path, way, pause):
    """Each gives another number of regions; all outputs come of one of them."""
    start = request.getfixturevalue(way)
    processes = []
    for sites in (4, 9):
        wanted = ["COMBINATION=custom", "SITE_NUMBER=given number", f"N_SITES={sites}"]
        processes.append(start(*inputs(town), *wanted, *outputs(tmp_path)))
        time.sleep(pause)
    said = [process.communicate(timeout=120) for process in processes]
    ended = [process.returncode for process in processes]
    ((regions,),) = query(tmp_path / "regions.gpkg", "SELECT count(*) FROM regions")
    assert regions in (4, 9)
    assert query(tmp_path / "audit.gpkg", "SELECT count(*) FROM audit") == [(regions,)]
    crosswalk = (tmp_path / "crosswalk.csv").read_text().splitlines()[1:]
    assert len({line.rsplit(",", 1)[1] for line in crosswalk}) == regions
    assert 0 in ended
    for code, (out, err) in zip(ended, said):
        assert code == 0 or "another run is writing to" in out + err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["released.gpkg", "regions.gpkg", "crosswalk.csv", "audit.gpkg", "report.html"]
    )


def test_a_killed_run_does_not_stand_in_the_way(start_loaded, town, tmp_path):
    staging, final = tmp_path / "staging", tmp_path / "final"
    staging.mkdir()
    final.mkdir()
    process = stopped(
        lambda: start_loaded(*inputs(town), *outputs(final), TMPDIR=str(staging)),
        lambda: any(staging.glob("vbas-*/[A-Z]*/*")),  # it has begun to write
        lambda: not any(final.glob("[!.]*")),
    )
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert any(path.name.endswith(".lock") for path in final.iterdir())
    process = start_loaded(*inputs(town), *outputs(final))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    assert not [path for path in final.iterdir() if path.name.startswith(".")]


# ---- what a killed run leaves

RAW = b"Raw Name"


@pytest.fixture(scope="module")
def people(town, tmp_path_factory):
    """The records with a name each, which no run is asked to release."""
    folder = tmp_path_factory.mktemp("people")
    for file in ("areas.gpkg", "records.gpkg"):
        shutil.copy(town / file, folder / file)
    with closing(sqlite3.connect(folder / "records.gpkg")) as connection, connection:
        connection.execute("ALTER TABLE records ADD COLUMN person TEXT")
        connection.execute("UPDATE records SET person = 'Raw Name ' || fid")
    return folder


def kill(process):
    """Stop it, look into every file that it has open without a name, and end it; those that held a name."""
    stop(process)
    found = []
    for link in Path(f"/proc/{process.pid}/fd").glob("*") if sys.platform == "linux" else ():
        with suppress(OSError):
            if str(link.readlink()).endswith("(deleted)") and RAW in link.read_bytes():
                found.append(link.readlink())
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    return found


def names_in(folder):
    return [path for path in folder.rglob("*") if path.is_file() and RAW in path.read_bytes()]


def test_what_killed_runs_leave_holds_no_raw_records_and_is_cleared(start_loaded, people, tmp_path):
    """Killed at one moment after the other; a run that is alive (here it is stopped) keeps its folder."""
    staging, final = tmp_path / "staging", tmp_path / "final"
    staging.mkdir()
    final.mkdir()
    process = start_loaded(*inputs(people), *outputs(final), TMPDIR=str(staging))
    wait_until(lambda: any(staging.glob("vbas-*/[A-Z]*/*")), process)
    stop(process)
    (living,) = (path for path in staging.glob("vbas-*") if any(path.glob("[A-Z]*/*")))
    left = 0
    for output, after in [(False, 0), (False, 0.3), (False, 0.6), (False, 1), (True, 0), (True, 0.1), (True, 0.3)]:
        other = tmp_path / f"other {left}"
        other.mkdir(exist_ok=True)
        before = set(staging.glob("vbas-*"))
        killed = start_loaded(*inputs(people), *outputs(other), TMPDIR=str(staging))
        written = "[A-Z]*/*" if output else "*"
        wait_until(lambda: any(any(path.glob(written)) for path in set(staging.glob("vbas-*")) - before), killed)  # noqa: B023
        time.sleep(after)
        assert kill(killed) == []
        left = max(left, len([path for path in staging.glob("vbas-*") if path != living]))
        assert names_in(staging) == names_in(other) == []
    assert left
    assert living.is_dir()
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    done = start_loaded(*inputs(people), *outputs(final), TMPDIR=str(staging))
    out, err = done.communicate(timeout=120)
    assert done.returncode == 0, out + err
    assert list(staging.glob("vbas-*")) == []


def test_a_run_that_is_killed_while_it_looks_into_an_old_log_copies_no_rows_elsewhere(start_loaded, town, tmp_path):
    """The table with names that stood there has a log that belongs to nobody: what is in it counts."""
    staging, final = tmp_path / "staging", tmp_path / "final"
    staging.mkdir()
    final.mkdir()
    target = final / "released.gpkg"
    script = (
        "import os, sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1]); connection.execute('PRAGMA journal_mode = WAL')\n"
        "connection.execute('CREATE TABLE released (name)')\n"
        "connection.executemany('INSERT INTO released VALUES (?)', [('Raw Name %d' % i,) for i in range(20000)])\n"
        "connection.commit(); connection.execute('PRAGMA wal_checkpoint')\n"
        "connection.execute('UPDATE released SET name = name || 1'); connection.commit()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(target)], timeout=60, check=False)
    with target.open("r+b") as file:  # so that copying takes its time
        file.truncate(500_000_000)
    assert len(names_in(final)) == 2
    before = {path.name for path in final.iterdir()}
    process = start_loaded(*inputs(town), *outputs(final), TMPDIR=str(staging))
    wait_until(lambda: any(staging.glob("*/copy*")) or any(final.glob(".*/copy*")), process)
    kill(process)
    assert names_in(staging) == []
    assert {path.name for path in final.iterdir()} > before  # it is in the folder where its rows are anyway
    done = start_loaded(*inputs(town), *outputs(final), TMPDIR=str(staging))
    out, err = done.communicate(timeout=120)
    assert done.returncode == 0, out + err
    assert sorted(path.name for path in final.iterdir()) == sorted(
        ["released.gpkg", "regions.gpkg", "crosswalk.csv", "audit.gpkg", "report.html"]
    )
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(("way", "limit"), [("start_loaded", 2_000), ("start_qgis", 60_000), ("start_loaded", 200_000)])
def test_a_limit_on_the_size_of_files_is_a_sentence(request, town, tmp_path, way, limit):
    final = tmp_path / "final"
    final.mkdir()
    (final / "crosswalk.csv").write_text("old")
    process = request.getfixturevalue(way)(*inputs(town), *outputs(final), limit=limit)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Traceback" not in out + err
    (said,) = {line for line in err.splitlines() if line.startswith("ERROR:")}
    assert "written" in said
    assert [path.name for path in final.iterdir()] == ["crosswalk.csv"]
    assert (final / "crosswalk.csv").read_text() == "old"
