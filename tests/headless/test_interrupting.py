"""A run that is told to stop, at any moment: it leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from ..exploring import tried
from .conftest import ROOT
from .jobs import inputs, outputs, stopped

# What Ctrl-C hits while QGIS loads its plugins depends on the moment: several in the seconds that this takes. At
# SIGTERM the system ends the process, whatever it does.
LOADING = [("start", after) for after in tried((0.3, 1.6), (0.3, 1.4, 1.6, 1.8))]
MOMENTS = [("start", 0.8), ("reading", 0.2), ("writing", 0)]
CTRL_C, ENDED = LOADING + MOMENTS, tried(MOMENTS[2:], MOMENTS)


@pytest.mark.parametrize(
    ("number", "moment", "after"),
    [(signal.SIGINT, *one) for one in LOADING + MOMENTS]
    + [(signal.SIGTERM, *one) for one in tried(MOMENTS[2:], MOMENTS)],
)
def test_interrupting_leaves_nothing(headless_home, city, tmp_path, number, moment, after):
    staging, final, log = tmp_path / "staging", tmp_path / "final", tmp_path / "log.txt"
    staging.mkdir()
    final.mkdir()

    def begin():
        for path in final.iterdir():
            path.unlink()
        with log.open("wb") as stdout:
            return subprocess.Popen(
                [str(ROOT / "scripts" / "qgis_process"), "run", "vbas:anonymize", "--", *inputs(city), *outputs(final)],
                stdout=stdout,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "VBAS_HEADLESS_HOME": str(headless_home), "TMPDIR": str(staging)},
                # A test run in the background has been told to ignore Ctrl-C, and would hand that on.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                start_new_session=True,
            )

    moments = {
        "start": lambda: True,
        "reading": lambda: b"Inputs" in log.read_bytes(),
        "writing": lambda: any(staging.glob("vbas-*/[A-Z]*/*")),
    }
    process = stopped(begin, moments[moment], lambda: not any(final.glob("[!.]*")), after)
    # A terminal sends Ctrl-C to the shell that starts QGIS and to what it has started; the shell alone would go on.
    send = os.killpg if number == signal.SIGINT else os.kill
    send(process.pid, number)
    process.send_signal(signal.SIGCONT)
    assert process.wait(timeout=60) != 0
    assert list(final.iterdir()) == []
    assert [path for path in staging.iterdir() if path.name.startswith("vbas-")] == []
