"""The toolbox in French: each form looked at, filled and run by its widgets, in a process that speaks French.

The language is chosen before the package is imported, so it needs a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .test_dialogs import FORMS

HERE = Path(__file__).resolve().parent


def in_french(*tests):
    """Run tests of this folder with French texts; what they said where they failed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *tests],
        capture_output=True,
        text=True,
        cwd=HERE.parent.parent,
        env={**environment, "VBAS_LANGUAGE": "fr_CA"},
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-1000:]
    return done.stdout


def test_every_form_is_french_from_label_to_help():
    assert f"{2 * len(FORMS) + 1} passed" in in_french(str(HERE / "in_french.py"))


def test_every_form_runs_in_french():
    test = HERE / "test_dialogs.py"
    done = in_french(*(f"{test}::test_form_runs_and_its_outputs_are_seen[{name}-temporary]" for name in FORMS))
    assert "passed" in done and "failed" not in done
