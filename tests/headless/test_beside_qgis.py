"""shapely of a wheel in the process of QGIS: it calls its own GEOS, whatever QGIS is linked with."""

from __future__ import annotations

import ctypes.util
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import shapely

from .conftest import ROOT

OWN = Path(shapely.__file__).parent.with_name("shapely.libs")  # what a wheel brings along
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not OWN.is_dir(), reason="the distribution's shapely has the GEOS of QGIS"
)


def test_none_of_its_functions_is_that_of_qgis(tmp_path):
    """The program QGIS is linked with GEOS, so that its names come first; here it is loaded before Python's."""
    found = bindings(tmp_path, "from vbas.algorithms.unavailable import load_shapely; load_shapely()")
    assert len(found) > 1000 and mixed(found) == []


def test_without_that_they_would_be_mixed(tmp_path):
    assert mixed(bindings(tmp_path, "import shapely"))


def test_all_that_is_compiled_is_loaded_at_once():
    """What came later would be bound to QGIS's after all."""
    code = "import sys; from vbas.algorithms.unavailable import load_shapely as l; l(); print(*sys.modules)"
    loaded = python(code).stdout.split()
    compiled = [path.name.split(".")[0] for path in Path(shapely.__file__).parent.glob("*.so")]
    assert len(compiled) > 1 and {f"shapely.{name}" for name in compiled} <= set(loaded)


def test_the_plugin_loads_it_so_and_before_all_else():
    code = (
        "import sys; flags = sys.getdlopenflags(); import vbas.vbas_plugin.provider, vbas.algorithms.unavailable as u\n"
        "assert 'shapely' not in sys.modules\n"
        "assert u.missing_packages() == [] and 'shapely._geos' in sys.modules\n"
        "assert sys.getdlopenflags() == flags\n"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr


def test_a_shapely_that_cannot_write_is_told_of(tmp_path):
    """As where another plugin has loaded it first."""
    code = (
        "import shapely\n"
        "def refused(shape): raise shapely.GEOSException('WKB output dimension must be 2 or 3')\n"
        "shapely.to_wkb = refused\n"
        "from vbas.algorithms.unavailable import missing_message\n"
        "print(missing_message())\n"
    )
    said = python(code).stdout
    assert f"a shapely whose GEOS goes with that of QGIS (another plugin has loaded {shapely.__version__})" in said
    assert "shapely" in said.splitlines()[-1]


def bindings(tmp_path, code):
    """Each function that a library of shapely calls: that library, the one that it is taken from, its name."""
    geos = ctypes.util.find_library("geos_c")
    if geos is None:
        pytest.skip("the system has no GEOS")
    loader = {"LD_DEBUG": "bindings", "LD_BIND_NOW": "1", "LD_DEBUG_OUTPUT": str(tmp_path / "said")}
    done = python(code, LD_PRELOAD=geos, **loader)
    assert done.returncode == 0, done.stderr
    pattern = re.compile(r"binding file (.+?) \[\d+\] to (.+?) \[\d+\]: \w+ symbol `(\w+)'")
    lines = (line for path in tmp_path.glob("said.*") for line in path.read_text(errors="replace").splitlines())
    told = (pattern.search(line) for line in lines if "binding file" in line)
    return [found.groups() for found in told if found and is_own(found[1])]


def mixed(found):
    """Functions of GEOS that were taken from elsewhere; constants within functions (_ZZ…) are once in a process."""
    return [name for _, other, name in found if "libgeos" in other and not is_own(other) and name[:3] != "_ZZ"]


@cache
def is_own(library):
    return Path(library).resolve().parent in (OWN.resolve(), OWN.with_name("shapely").resolve())


def python(code, **told):
    package = str(ROOT / "build" / "package")
    environment = {**os.environ, "PYTHONPATH": package, "QT_QPA_PLATFORM": "offscreen", **told}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
