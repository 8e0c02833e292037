"""A QGIS whose shapely is absent or too old: every form says so at once, before anything is filled in or run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html import unescape

import pytest
import shapely
from qgis.PyQt.QtGui import QTextDocument

from vbas.algorithms.unavailable import missing_packages

from .conftest import ROOT

CHECK = """
import json, os, sys
from qgis.core import QgsApplication, QgsProcessingContext, QgsProcessingFeedback
application = QgsApplication([], False); application.initQgis()
from vbas.vbas_plugin.provider import VbasProvider
provider = VbasProvider(); QgsApplication.processingRegistry().addProvider(provider)
found = {}
for one in provider.algorithms():
    # The toolbox asks a copy, as it is about to open its dialog.
    copy = QgsApplication.processingRegistry().createAlgorithmById(one.id())
    told = {"can": copy.canExecute(), "check": copy.checkParameterValues({}, QgsProcessingContext())}
    told["help"] = copy.shortHelpString()
    try:
        copy.run(json.loads(sys.argv[1]), QgsProcessingContext(), QgsProcessingFeedback(), {}, False)
    except Exception as error:
        told["run"] = str(error)
    found[one.name()] = told
print(json.dumps(found)); sys.stdout.flush(); os._exit(0)
"""


@pytest.mark.parametrize(
    "code",
    [
        "__version__ = '1.8.5.post1'\n",
        "raise ModuleNotFoundError('none here', name='shapely')\n",
        "raise OSError('could not find library geos_c')\n",
        "",
        "__version__ = '0+unknown'\n",
    ],
    ids=["too old", "absent", "broken", "nameless", "too old, and of no known version"],
)
def test_every_form_says_at_once_what_is_missing(tmp_path, code):
    found = forms_with(tmp_path, "shapely", code)
    forms = [form for form in (ROOT / "algorithms").rglob("*.py") if "    ID = " in form.read_text(encoding="utf-8")]
    assert len(found) == len(forms) > 15
    for name, told in found.items():
        for answer in (told["can"], told["check"]):
            assert answer[0] is False, name
            assert answer[1].startswith("VBAS needs shapely 2.0 or later, which this QGIS does not have"), name
        assert told["help"].startswith("<p><b>VBAS needs shapely 2.0 or later"), name
        assert told["run"].startswith("VBAS needs shapely 2.0 or later"), name
        # A window of QGIS takes it for HTML: lines become one, and it is still right.
        shown = QTextDocument()
        shown.setHtml("<h3>This algorithm cannot be run</h3>\n" + told["can"][1])
        line = told["can"][1].partition(":\n")[2]
        assert ' -m pip install --no-deps "shapely==2' in line
        assert shown.toPlainText().endswith(line.replace("\n", " ")) and line in unescape(told["help"])


def test_a_shapely_that_does_not_know_its_version_is_asked_what_it_can(monkeypatch):
    """As Debian's own shapely 2.2."""
    monkeypatch.setattr(shapely, "__version__", "0+unknown")
    assert missing_packages() == []


@pytest.mark.parametrize(
    ("package", "raised"),
    [
        ("sqlite3", "ImportError('lib.so: failed to map segment from shared object')"),
        ("sqlite3", "MemoryError('no room')"),
        ("shapely", "MemoryError('no room')"),
    ],
)
def test_without_memory_every_form_says_so(tmp_path, package, raised):
    """QGIS would open a window with the traceback, and wait for ever where there is no screen."""
    for told in forms_with(tmp_path, package, f"raise {raised}\n").values():
        for answer in (told["can"][1], told["check"][1], told["run"]):
            assert answer.startswith(f"VBAS could not be loaded ({raised.split('(')[0]}: ")
            assert answer.endswith("): close other programs, or give QGIS more memory; then start it again.")


@pytest.mark.parametrize(
    ("raised", "then"),
    [
        ("failed to map segment", "close other programs, or give QGIS more memory; then start it again."),
        ("scipy requires NumPy 9", "install the Python package scipy again, in a version that goes with this Python,"),
    ],
)
def test_a_run_says_what_of_scipy_could_not_be_loaded(tmp_path, raised, then):
    """The toolbox is there without it: scipy's packages are loaded when a run uses them. And VBAS itself is whole."""
    (tmp_path / "scipy" / "sparse").mkdir(parents=True)
    (tmp_path / "scipy" / "sparse" / "__init__.py").write_text(f"raise ImportError({raised!r})\n")
    (tmp_path / "records.csv").write_text("area,sex\n1,f\n1,m\n")
    given = {"RECORDS": str(tmp_path / "records.csv"), "RECORD_REGION": "area", "QUASI_IDENTIFIERS": ["sex"]}
    told = forms_with(tmp_path, "scipy", "__version__ = '1.10.1'\n", {**given, "GAPS_REGION": "Western Canada"})
    assert told["sitenumber"]["can"][0]
    assert told["sitenumber"]["run"].startswith(f"VBAS could not be loaded (ImportError: {raised}): {then}")


def forms_with(tmp_path, package, code, parameters=None):
    """What each form tells where a package is replaced by this code; run with these parameters."""
    (tmp_path / package).mkdir(exist_ok=True)
    (tmp_path / package / "__init__.py").write_text(code)
    script = tmp_path / "check.py"
    script.write_text(CHECK)
    done = subprocess.run(
        [sys.executable, str(script), json.dumps(parameters or {})],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT / 'build' / 'package'}", "QT_QPA_PLATFORM": "offscreen"},
    )
    if "qgis/core/__init__.py" in done.stderr:
        pytest.skip("this QGIS asks for shapely itself, and does not start with a broken one")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
