"""What pip installs holds every file that the package reads as it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# As pip does it, without an archive: the same files in the same places.
BUILD = "import setuptools; setuptools.setup()"
# Goes through the rooms that read files, and prints what each of them found, and which files Python opened for it.
GO_THROUGH = """
import json, os, sys
seen = set()

def watch(event, given):
    if event == "open" and isinstance(given[0], (str, os.PathLike)):
        seen.add(os.path.realpath(os.fspath(given[0])))

sys.addaudithook(watch)
from vbas.core.language import languages, speak, tr
speak("fr")
from vbas.core.privacy.rules import SHIPPED, read_rules
from vbas.core.report.page import Report, render
found = {"languages": languages(), "text": tr("Time"), "rules": sorted(read_rules(SHIPPED))}
found["page"] = len(render(Report("title", "subtitle", ())))
try:
    from qgis.core import QgsApplication
except ImportError:
    pass
else:
    application = QgsApplication([], False)
    from vbas.algorithms.named import version
    from vbas.vbas_plugin.models import models
    from vbas.vbas_plugin.provider import VbasProvider
    provider = VbasProvider()
    provider.loadAlgorithms()
    found["version"] = version()
    found["pictures"] = {one.id(): len(one.icon().availableSizes()) for one in [provider, *provider.algorithms()]}
    found["models"] = sorted(one.name() for one in models())
import vbas
package = os.path.realpath(os.path.dirname(vbas.__file__)) + os.sep
opened = {os.path.relpath(one, package) for one in seen if one.startswith(package)}
found["opened"] = sorted(one for one in opened if not one.endswith((".py", ".pyc")) and "__pycache__" not in one)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that holds the package as a wheel would put it there."""
    pytest.importorskip("setuptools", "61", "setuptools before 61 does not read pyproject.toml")
    folder = tmp_path_factory.mktemp("wheel")
    options = ("egg_info", "--egg-base", str(folder), "build_py", "--build-lib", str(folder / "there"))
    done = subprocess.run([sys.executable, "-c", BUILD, "-q", *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "there"


def gone_through(packages):
    there = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(packages), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", GO_THROUGH]
    done = subprocess.run(command, cwd="/", env=there, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_what_is_installed_finds_what_the_checkout_does(installed):
    found = gone_through(installed)
    assert found == gone_through(ROOT / "build" / "package")
    assert found["languages"] == ["en", "fr"]
    assert found["text"] == "Temps"
    assert {"core/languages/fr.mo", "core/privacy/rules.csv", "core/report/page.html.j2"} <= set(found["opened"])


def test_the_command_is_installed(installed):
    there = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(installed)}
    command = [sys.executable, "-m", "vbas", "check", str(installed)]
    done = subprocess.run(command, cwd="/", env=there, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "is no folder of a release" in done.stderr
    assert (installed / "vbas" / "py.typed").is_file() and (installed / "vbas" / "verify" / "verify.py").is_file()
    described = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'name = "vbas-anonymize"' in described and 'vbas = "vbas.core.command.main:main"' in described


def test_all_files_beside_the_code_are_installed(installed):
    listed = subprocess.run(
        ["git", "ls-files", "algorithms", "core", "vbas_plugin", "icons", "models", "metadata.txt"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("not a checkout: git says what belongs to the package")
    files = [file for file in listed.stdout.splitlines() if not file.endswith(".po")]  # what the .mo is made from
    assert [file for file in files if not (installed / "vbas" / file).is_file()] == []
