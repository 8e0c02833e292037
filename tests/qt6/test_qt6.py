"""The plugin against Qt 6, as far as that can be seen without a QGIS 4: docs/security.md says what was not run."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What the QGIS at hand names, in a file."""
    if find_spec("PyQt6") is None:  # a QGIS of Qt 5 forbids to import it beside
        pytest.skip("PyQt6 is not installed: bash scripts/setup test")
    file = tmp_path_factory.mktemp("qt6") / "names.json"
    done = _python("names_of_qgis.py")
    assert done.returncode == 0, done.stderr
    file.write_text(done.stdout, encoding="utf-8")
    return file


def test_every_module_is_imported_and_every_name_is_there(names):
    done = _python("import_all.py", names)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert sum(line.startswith("imported vbas.") for line in lines) > 100
    # Two branches are for QGIS before 3.34 and 3.38 alone; two for later ones than that whose names are at hand.
    unknown = [line for line in lines if line.startswith("unknown") and "compat.py" not in line]
    assert not unknown
    older = [line for line in lines if line.startswith("unknown")]
    known = ("QVariant.Type", "QgsMapLayerProxyModel.Filters", "Qgis.ProcessingAlgorithmFlag", "Qgis.LayerFilter")
    assert not [line for line in older if not any(name in line for name in known)]


def test_the_curve_of_the_explorer_is_drawn_and_its_slider_moves(names):
    done = _python("draw_curve.py", names)
    assert done.stdout.strip() == "True [100] [11]", done.stderr[-3000:]


def test_an_enum_without_its_scope_is_found(names, tmp_path):
    program = (
        "import sys, json; from pathlib import Path; sys.path.insert(0, sys.argv[1]); import import_all as check; "
        "check.install(json.loads(Path(sys.argv[2]).read_text())); print(*check.unknown_names(Path(sys.argv[3])))"
    )
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from qgis.core import QgsProcessing, QgsApplication\nfrom qgis.PyQt.QtCore import Qt\n"
        "fine = QgsProcessing.SourceType.TypeVector, Qt.ItemDataRole.UserRole, QgsApplication.instance\n"
        "first = QgsProcessing.TypeVector\nsecond = Qt.UserRole\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(HERE), str(names), str(wrong)], capture_output=True, text=True, check=True
    )
    assert [line.rpartition(":")[2] for line in done.stdout.split(str(wrong))[1:]]
    assert done.stdout.count("QgsProcessing.TypeVector") == done.stdout.count("Qt.UserRole") == 1
    assert done.stdout.count(str(wrong)) == 2


@pytest.mark.parametrize("folder", ["algorithms", "vbas_plugin"])
def test_qt_is_imported_through_qgis_alone(folder):
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert not [name for name in names if name.startswith(("PyQt", "sip", "PySide"))], path


def _python(script: str, *arguments: object) -> subprocess.CompletedProcess:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=300)
