"""The window of packages: it says what is there, and a real pip fills a folder of its own, or leaves nothing behind."""

from __future__ import annotations

import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from vbas.algorithms import unavailable
from vbas.core.engines import ENGINES
from vbas.core.installing import FLATPAK, WINDOWS, this_one
from vbas.core.own_packages import folder_of_packages
from vbas.vbas_plugin.packages.entry import PackagesEntry
from vbas.vbas_plugin.packages.needs import Need, needs
from vbas.vbas_plugin.packages.window import PackagesWindow

from ..core.test_installing import DEBIAN_12
from .explorer_window import let_pass

TINY = ("shapely", "2.99")  # a name that pip is asked for alone


def wheel(folder, name, version):
    """A built package of one module."""
    described = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}/__init__.py", f"__version__ = '{version}'\n")
        file.writestr(f"{described}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        file.writestr(f"{described}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{described}/RECORD", "")


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """What pip finds in place of the index of packages."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return folder


@pytest.fixture
def window(qgis_app, tmp_path, packages):
    made = PackagesWindow(profile=str(tmp_path / "profile"))
    yield made
    made.close()
    made.deleteLater()
    let_pass()


def lacking(*requirements):
    return Need("Work", (), tuple(requirements), tuple(requirements))


def ended(window):
    """What the window says in the end."""
    assert window._process.waitForFinished(60_000)
    let_pass()
    return window.outcome.text()


def files_of(profile):
    return sorted(path.relative_to(profile).as_posix() for path in profile.rglob("*") if path.is_file())


def test_everything_is_said_to_be_found_here(window):
    said = [need.sentence for need in needs(this_one())]
    assert said[0].startswith("All work: numpy ") and said[0].endswith("nothing missing.")
    titles = dict.fromkeys(title for title, *_ in ENGINES.values())
    assert len(titles) > 2 and [sentence.partition(":")[0] for sentence in said[1:]] == [
        f"Records in {title}" for title in titles
    ]
    assert not Path(window._profile).exists()  # looking writes nothing


def test_what_is_missing_stands_alone_with_the_line_to_copy(monkeypatch, tmp_path):
    monkeypatch.setattr("vbas.vbas_plugin.packages.needs.missing_packages", lambda: ["scipy"])
    monkeypatch.setattr("vbas.vbas_plugin.packages.needs.version_of", lambda name: "" if name == "scipy" else "2.0")
    new = replace(WINDOWS, numpy="2.2.4")
    (need,) = needs(new)
    assert need.sentence == "All work: numpy 2.0 and shapely 2.0 found, scipy missing." and not need.replaced
    line = need.line(tmp_path, new)
    assert line.startswith("python -m pip install ") and line.endswith(f"--target {tmp_path} --no-deps scipy")
    assert need.line(tmp_path, FLATPAK).startswith("flatpak run --devel --command=python3 org.qgis.qgis -m pip install")
    monkeypatch.setattr("vbas.vbas_plugin.packages.needs.version_of", lambda name: "1.8")
    (old,) = needs(DEBIAN_12)
    assert old.replaced and old.line(tmp_path, DEBIAN_12) == "sudo apt install python3-scipy"


@pytest.mark.slow
def test_pip_fills_the_folder_and_nothing_else(window, packages):
    wheel(packages, "numpy", this_one().numpy)
    wheel(packages, "duckdb", "1.4")
    home = {path: path.stat().st_mtime_ns for path in map(Path, sys.path) if path.is_dir()}
    window.install(lacking("duckdb>=1.4"))
    assert ended(window) == "Installed. Start QGIS again."
    assert "Successfully installed duckdb-1.4 numpy" in window.said.toPlainText()
    folder = folder_of_packages(window._profile)
    # QGIS has the numpy that came along.
    assert {file.partition("/")[0] for file in files_of(folder)} == {"duckdb", "duckdb-1.4.dist-info"}
    assert sys.path[-1] == str(folder)  # what QGIS brings is found first
    assert {path: path.stat().st_mtime_ns for path in home} == home
    # Again, newer: the new takes the place of the old, and nothing of the old stays beside it.
    wheel(packages, "duckdb", "1.5")
    window.install(lacking("duckdb>=1.4"))
    assert ended(window) == "Installed. Start QGIS again."
    assert (folder / "duckdb" / "__init__.py").read_text() == "__version__ = '1.5'\n"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    assert sys.path.count(str(folder)) == 1


@pytest.mark.slow
def test_what_pip_refuses_leaves_nothing(window):
    window.install(lacking("shapely==2.*"))
    assert ended(window) == "pip ended with an error, which stands above: nothing was installed."
    assert "No matching distribution found for shapely" in window.said.toPlainText()
    assert files_of(Path(window._profile)) == [] and all(button.isEnabled() for button in window.buttons)


@pytest.mark.parametrize("way", ["stop", "close"])
def test_cancelling_leaves_nothing(window, packages, way):
    wheel(packages, *TINY)
    window.install(lacking("shapely==2.*"))
    getattr(window, way)()
    assert window.outcome.text() == "Cancelled: nothing was installed."
    assert files_of(Path(window._profile)) == [] and window._process is None


def test_a_folder_that_cannot_be_made_is_one_sentence(window, tmp_path):
    Path(window._profile).parent.joinpath("profile").write_text("in the way")
    window.install(lacking("shapely==2.*"))
    assert "Packages cannot be put into" in window.outcome.text() and window._process is None


def test_where_pip_is_missing_the_line_is_said(window, monkeypatch, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho /usr/bin/python3: No module named pip\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr("vbas.vbas_plugin.packages.window.interpreter", lambda: str(python))
    window._where = replace(DEBIAN_12, isolated=False)
    window.install(lacking("shapely==2.*"))
    assert ended(window).endswith("then try again: sudo apt install python3-pip")
    python.unlink()
    window.install(lacking("shapely==2.*"))
    let_pass(0.5)
    assert window.outcome.text() == f"{python} cannot be started: copy the line above into a terminal."


def test_the_entry_opens_the_window_and_goes_with_the_plugin(qgis_iface, monkeypatch):
    taken = []
    monkeypatch.setattr(qgis_iface, "removePluginMenu", lambda *what: taken.append(what), raising=False)
    entry = PackagesEntry(qgis_iface)
    entry.action.trigger()
    assert entry.window is not None and entry.window.isVisible()
    entry.remove()
    assert entry.window is None and taken == [("VBAS", entry.action)]
    let_pass()


def test_what_is_needed_is_what_the_toolbox_needs():
    assert [name for need in needs(this_one())[:1] for name in (*need.available, *need.missing)] == [
        f"{name} {unavailable.version_of(name)}" for name in unavailable.NEEDED
    ]
