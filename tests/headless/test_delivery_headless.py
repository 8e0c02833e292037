"""Delivery as a server sees it: two runs at once on one target, a run that is killed, a limit on the size of files."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time

import pytest

from .conftest import ROOT
from .test_headless import inputs, outputs, query, wait_until


def start(headless_home, *arguments, limit=None, **environment):
    return subprocess.Popen(
        [str(ROOT / "scripts" / "qgis_process"), "run", "vbas:anonymize", "--", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "VBAS_HEADLESS_HOME": str(headless_home), **environment},
        preexec_fn=None if limit is None else lambda: limit_files(limit),
    )


def limit_files(size):
    # QGIS writes files of its own before its Python starts, and would be ended by the signal.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("pause", [0, 0.4])
def test_two_runs_on_one_target_never_mix(headless_home, city, tmp_path, pause):
    """Each gives another number of regions; all outputs come of one of them."""
    processes = []
    for sites in (4, 9):
        wanted = ["COMBINATION=custom", "SITE_NUMBER=given number", f"N_SITES={sites}"]
        processes.append(start(headless_home, *inputs(city), *wanted, *outputs(tmp_path)))
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


def test_a_killed_run_does_not_stand_in_the_way(headless_home, city, tmp_path):
    staging, final = tmp_path / "staging", tmp_path / "final"
    staging.mkdir()
    final.mkdir()
    process = start(headless_home, *inputs(city), *outputs(final), TMPDIR=str(staging))
    wait_until(lambda: any(staging.glob("vbas-*/*")), process)  # it has begun to write
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert any(path.name.endswith(".lock") for path in final.iterdir())
    process = start(headless_home, *inputs(city), *outputs(final))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    assert not [path for path in final.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("limit", [2_000, 60_000, 200_000])
def test_a_limit_on_the_size_of_files_is_a_sentence(headless_home, city, tmp_path, limit):
    final = tmp_path / "final"
    final.mkdir()
    (final / "crosswalk.csv").write_text("old")
    process = start(headless_home, *inputs(city), *outputs(final), limit=limit)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Traceback" not in out + err
    (said,) = {line for line in err.splitlines() if line.startswith("ERROR:")}
    assert "written" in said
    assert [path.name for path in final.iterdir()] == ["crosswalk.csv"]
    assert (final / "crosswalk.csv").read_text() == "old"
