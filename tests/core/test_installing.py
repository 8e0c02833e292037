"""The lines that install what is missing: right on each system, never moving numpy, the same wherever they are told."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from vbas.core import installing
from vbas.core.engines import PACKAGES
from vbas.core.installing import (
    FLATPAK,
    MACOS,
    WINDOWS,
    Surroundings,
    folder_line,
    into_folder,
    lines_for,
    pip_line,
    pip_lines,
    this_one,
)

from ..systems import of_posix

ROOT = Path(__file__).resolve().parents[2]
DEBIAN_12 = Surroundings("linux", (3, 11), "/usr/bin/python3", "1.24.2", apt=True, managed=True)
UBUNTU_22 = Surroundings("linux", (3, 10), "/usr/bin/python3", "1.21.5", apt=True)
DEBIAN_13 = Surroundings("linux", (3, 13), "/usr/bin/python3", "2.2.4", apt=True, managed=True)
FEDORA = replace(DEBIAN_13, apt=False, managed=False)
# Of QGIS's default profile, from the folder that a new terminal is in; of the Python that Flatpak has.
IN_FLATPAK = Path(".var/app/org.qgis.qgis/data/QGIS/QGIS3/profiles/default/python/vbas_packages/3.13")
OF_FLATPAK = folder_line(["scipy", "shapely==2.*"], IN_FLATPAK, FLATPAK)
# A Debian with QGIS and without what it only recommends has no scipy either.
TOLD = [
    (["scipy", "shapely"], DEBIAN_12),
    (["scipy", "shapely"], DEBIAN_13),
    (["shapely"], WINDOWS),
    (["shapely"], MACOS),
]
OF_UBUNTU_22 = (["numpy", "scipy", "shapely"], UBUNTU_22)
EVERYWHERE = [DEBIAN_12, DEBIAN_13, UBUNTU_22, FEDORA, replace(WINDOWS, numpy="1.26.4"), replace(MACOS, numpy="2.0.2")]


def test_what_debian_12_lacks_is_two_lines():
    assert lines_for(["shapely"], DEBIAN_12).splitlines() == [
        "sudo apt install python3-pip &&",
        '/usr/bin/python3 -m pip install --user --break-system-packages --no-deps "shapely==2.0.*"',
    ]


def test_the_distributions_own_is_taken_where_it_will_do():
    assert lines_for(["shapely"], DEBIAN_13) == "sudo apt install python3-shapely"
    assert lines_for(["numpy", "scipy"], DEBIAN_12) == "sudo apt install python3-numpy python3-scipy"
    assert lines_for(["scipy", "shapely"], DEBIAN_12).startswith("sudo apt install python3-scipy python3-pip &&\n")


def test_where_all_of_the_distribution_is_too_old_pip_brings_all():
    """numpy too, the last that goes with what was built for any numpy 1; else it stays."""
    assert lines_for(["numpy", "scipy", "shapely"], UBUNTU_22).splitlines() == [
        "sudo apt install python3-pip &&",
        '/usr/bin/python3 -m pip install --user "numpy==1.26.*" "scipy>=1.9" "shapely==2.0.*"',
    ]
    words = into_folder(["numpy==1.26.*", "scipy"], Path("x"), UBUNTU_22)
    assert "numpy==1.26.*" in words and "numpy==1.21.5" not in words


def test_a_pip_that_knows_no_break_is_not_asked_for_it():
    assert "--break-system-packages" not in lines_for(["shapely"], UBUNTU_22)
    isolated = replace(FEDORA, isolated=True)
    assert " --user" not in lines_for(["shapely"], isolated)  # pip refuses it in a virtual environment


@pytest.mark.parametrize("where", EVERYWHERE, ids=lambda where: f"{where.platform}-{where.python[1]}")
@pytest.mark.parametrize("missing", [["shapely"], ["scipy"], ["scipy", "shapely"], list(PACKAGES.values())], ids=len)
def test_numpy_stays_as_it_is(where, missing):
    """Whatever pip installs comes without what it needs, or beside the very numpy that is there."""
    lines = (pip_lines if len(missing) > 2 else lines_for)(missing, where)
    for line in lines.splitlines():
        if " -m pip install " in line:
            first = re.findall('"(.*?)"', line)[0]
            assert first == f"numpy=={where.numpy}" or ("--no-deps" in line and first.startswith("shapely=="))
            assert "--upgrade" not in line and "--force" not in line
    assert "<" not in lines_for(["shapely"], where)  # QGIS's dialogs would take it for markup


def test_the_scripts_take_the_same_shapely():
    wanted = (ROOT / "scripts" / "requirements-run.txt").read_text(encoding="utf-8")
    assert 'shapely>=2.0,<2.1; python_version < "3.12"' in wanted  # 2.0.*
    assert lines_for(["shapely"], replace(FEDORA, python=(3, 11))).endswith('"shapely==2.0.*"')
    assert lines_for(["shapely"], replace(FEDORA, python=(3, 12))).endswith('"shapely==2.*"')


@pytest.mark.parametrize(
    ("numpy", "scipy"),
    [("1.24.1", "scipy<1.16"), ("1.26.4", "scipy<1.18"), ("", "scipy<1.18"), ("2.2.4", "scipy"), ("10.0", "scipy")],
)
def test_scipy_goes_with_the_numpy_that_is_there(numpy, scipy):
    """Since 1.18 it wants numpy 2, which would end the QGIS of many on Windows, or would not load beside 1.26."""
    where = replace(WINDOWS, numpy=numpy)
    assert f'"{scipy}"' in lines_for(["scipy"], where)
    assert into_folder(installing.for_folder(["scipy"], where), Path("x"), where)[-2:] == ["--no-deps", scipy]


def test_this_python_is_the_one_that_is_named():
    here = this_one()
    assert here.platform == sys.platform and here.python == sys.version_info[:2]
    assert Path(here.program).resolve().name.startswith("python")
    assert here.numpy == __import__("numpy").__version__


@pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/fr/tutoriel.md"])
def test_the_tutorial_tells_the_same_lines_before_the_first_click(page):
    before, _, _ = (ROOT / page).read_text(encoding="utf-8").partition("\n## 1")
    told = fenced(before)
    assert told == [lines_for(missing, where) for missing, where in TOLD]


@pytest.mark.parametrize("page", ["docs/install.md", "docs/fr/installer.md"])
@of_posix
def test_the_page_on_installing_tells_the_same_lines(page):
    told = [lines for lines in fenced((ROOT / page).read_text(encoding="utf-8")) if not lines.startswith("All work")]
    by_pip = [lines_for(["scipy", "shapely"], where) for where in (WINDOWS, MACOS)]
    assert told == [*by_pip, OF_FLATPAK, *(lines_for(*told_there) for told_there in (TOLD[0], OF_UBUNTU_22, TOLD[1]))]


def test_the_oldest_packages_are_the_same_wherever_they_are_asked_for():
    numpy, scipy = (".".join(map(str, installing.NEEDED[name])) for name in ("numpy", "scipy"))
    assert f'"numpy>={numpy}", "scipy>={scipy}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    setup = (ROOT / "scripts" / "setup").read_text(encoding="utf-8")
    assert f"< {installing.NEEDED['numpy']})" in setup and f'"scipy>={scipy}"' in setup


@pytest.mark.parametrize(
    ("numpy", "pyarrow", "goes"),
    [("1.26.4", "25.0.1", True), ("1.26.4", "26.0.1", False), ("2.2.4", "26.0.1", True), ("1.26.4", "unknown", True)],
)
def test_a_pyarrow_that_needs_another_numpy_is_as_none(monkeypatch, numpy, pyarrow, goes):
    """As pip brings it beside the numpy of Ubuntu 24.04, which it does not ask for."""
    monkeypatch.setattr(installing, "version_of", lambda name: numpy)
    monkeypatch.setattr(installing, "find_spec", lambda name: object())
    monkeypatch.setattr(installing.metadata, "version", lambda name: pyarrow)
    assert installing.is_there("pyarrow") is goes and installing.is_there("duckdb")
    assert installing.pyarrow_needed() == ("pyarrow>=14,<26" if numpy.startswith("1.") else "pyarrow>=14")


@of_posix
def test_into_a_folder_nothing_is_built_and_numpy_stays():
    words = into_folder(["duckdb>=1.4,<3"], Path("C:/Users/a b/x"), replace(WINDOWS, numpy="2.2.4"))
    assert {"--only-binary=:all:", "--no-input", "numpy==2.2.4"} < set(words) and "--user" not in words
    assert "--no-deps" in into_folder(["scipy", "shapely==2.*"], Path("x"), WINDOWS)
    line = folder_line(["duckdb>=1.4,<3"], Path("C:/Users/a b/x"), replace(WINDOWS, numpy="2.2.4"))
    assert line.startswith("python -m pip install") and line.endswith(
        '--target "C:/Users/a b/x" "numpy==2.2.4" "duckdb>=1.4,<3"'
    )
    assert "'/home/a b/x'" in folder_line(["scipy"], Path("/home/a b/x"), DEBIAN_12)


def test_pip_itself_is_got_as_the_system_has_it():
    assert pip_line(DEBIAN_12) == "sudo apt install python3-pip"
    assert pip_line(WINDOWS) == "python -m ensurepip --user"
    assert pip_line(FLATPAK).startswith("flatpak install --user ")


def test_readme_tells_the_same_lines():
    assert lines_for(*TOLD[0]) in fenced((ROOT / "README.md").read_text(encoding="utf-8"))


def test_the_page_on_large_tables_tells_the_lines_for_engines():
    wanted = [PACKAGES["ibis"], "pyarrow>=14,<26", PACKAGES["pyarrow_hotfix"], PACKAGES["duckdb"]]
    page = (ROOT / "docs" / "large-tables.md").read_text(encoding="utf-8")
    assert pip_lines(wanted, DEBIAN_12) in fenced(page)


@of_posix
def test_nothing_else_tells_another_way():
    """Every line of pip that is told or shown comes from here."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    told = {line for page in pages for line in re.findall(".*pip install.*", page.read_text(encoding="utf-8"))}
    known = {line for missing, where in [*TOLD, OF_UBUNTU_22] for line in lines_for(missing, where).splitlines()}
    known |= {lines_for(["scipy", "shapely"], WINDOWS), lines_for(["scipy", "shapely"], MACOS), OF_FLATPAK}
    of_a_copy = {line for line in told if 'pip install ".[' in line}  # what a researcher needs, from a copy of this
    assert len(told - known - of_a_copy) == 1  # the page on large tables has one of its own, see above
    modules = [ROOT / "__init__.py", *(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))]
    assert [module.name for module in modules if "pip install" in module.read_text(encoding="utf-8")] == []


ROOMS = ("core", "algorithms", "vbas_plugin")


def fenced(text):
    """What stands between fences in a page, as it would be copied."""
    return re.findall(r"^```\w*\n(.*?)\n```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(sys.platform == "win32", reason="there QGIS brings its own Python")
def test_a_python_that_a_terminal_has_first_is_not_taken_for_that_of_qgis(tmp_path, monkeypatch):
    """Within QGIS `sys.executable` is the first python3 of the path, which pyenv or conda may have put there."""
    other, own = tmp_path / "shims", tmp_path / "usr" / "bin"
    for folder in (other, own):
        folder.mkdir(parents=True)
        (folder / "python3").touch()
    monkeypatch.setattr(sys, "executable", str(other / "python3"))
    monkeypatch.setattr(sys, "prefix", str(own.parent))
    assert installing.interpreter() == str(own / "python3")
    (own / "python3").unlink()
    assert installing.interpreter() == str(other / "python3")
