"""The zip that users install: what is in it, what the plugin site would say of it, and whether it works installed."""

from __future__ import annotations

import ast
import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ..engines_there import REQUIRED
from ..exploring import EXPLORES

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
plugin_zip = pytest.importorskip("plugin_zip", reason="scripts are not there")
site_checks = pytest.importorskip("site_checks", reason="scripts are not there")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The zip of this folder as it stands."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: git says what belongs to the plugin")
    return plugin_zip.build(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def profile(package, tmp_path_factory):
    """A fresh profile of QGIS, with the plugin as “Install from ZIP” leaves it there."""
    home = tmp_path_factory.mktemp("profile")
    plugins = home / "profiles" / "default" / "python" / "plugins"
    with zipfile.ZipFile(package) as archive:
        archive.extractall(plugins)
    settings = home / "profiles" / "default" / "QGIS"
    settings.mkdir()
    (settings / "QGIS3.ini").write_text("[PythonPlugins]\nvbas=true\n", encoding="utf-8")
    (home / "runtime").mkdir(mode=0o700)
    return home


@pytest.fixture(scope="module")
def city(profile):
    """The demonstration city, made by the installed plugin."""
    folder = profile / "city"
    folder.mkdir()
    outputs = (f"AREAS={folder / 'areas.gpkg'}", f"RECORDS={folder / 'records.gpkg'}")
    done = _process(profile, "run", "vbas:demonstrationcity", "--", *outputs)
    assert done.returncode == 0, done.stderr
    some = [str(folder / name) for name in ("some.gpkg", "records.gpkg")]  # enough to see that it works
    subprocess.run(["ogr2ogr", "-limit", "50000", *some], check=True, timeout=300)
    (folder / "some.gpkg").replace(folder / "records.gpkg")
    return folder


def test_the_site_would_find_nothing(package):
    """What `scripts/test` does not find before it runs tests: names, metadata, and what Qt 6 does not take.

    The site's own programs look into all of it with VBAS_EXPLORE=1, and in `scripts/package`, without which nothing is
    published.
    """
    if EXPLORES:
        assert list(site_checks.problems(package, texts=False)) == []
        return
    assert [*site_checks.in_zip(package), *site_checks.in_metadata(site_checks.metadata_of(package))] == []
    plugin = pytest.importorskip("flake8_qgis").Plugin
    allowed, code = site_checks.QT5_FILES.split(":")
    found = [
        f"{name}:{line} {text}"
        for name, source in _sources(package)
        if "qgis" in source
        for line, _, text, _ in plugin(ast.parse(source)).run()
        if text.startswith(tuple(site_checks.QT6.split(","))) and not (name == f"vbas/{allowed}" and code in text)
    ]
    assert found == []


def _sources(package):
    """The Python files of the zip: (name, text)."""
    with zipfile.ZipFile(package) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                yield name, archive.read(name).decode("utf-8")


def test_it_holds_the_plugin_and_no_more(package):
    names = zipfile.ZipFile(package).namelist()
    for needed in ("core/languages/fr.mo", "core/report/page.html.j2", "core/privacy/rules.csv", "icons/vbas.png"):
        assert f"vbas/{needed}" in names
    for unwanted in ("tests", "scripts", "benchmarks", ".ci"):
        assert not [name for name in names if name.startswith(f"vbas/{unwanted}/")]
    # Whatever a module needs that lies beside it is shipped.
    there = {str(path.relative_to(ROOT)) for path in (ROOT / "core").rglob("*") if path.is_file()}
    shipped = {name.removeprefix("vbas/") for name in names}
    assert not {name for name in there - shipped if "__pycache__" not in name}


def test_the_same_files_make_the_same_zip(package, tmp_path):
    assert plugin_zip.build(tmp_path).read_bytes() == package.read_bytes()


def test_its_metadata_tell_what_changed(package):
    metadata = site_checks.metadata_of(package)
    assert metadata["changelog"].splitlines()[0].startswith("[")
    assert len(metadata["changelog"]) > 200
    assert metadata["version"] in package.name


def test_an_upload_needs_addresses_that_somebody_gave():
    metadata = configparser.ConfigParser()
    metadata["general"] = {
        "homepage": "https://vbas.example.org",
        "tracker": "",
        "repository": "http://real.name/x",
        "email": "vbas@example.org",
    }
    unreal = list(site_checks.unreal_addresses(metadata["general"]))
    assert [one.split()[0] for one in unreal] == ["homepage", "tracker", "repository", "email"]
    metadata["general"] = dict.fromkeys(("homepage", "tracker", "repository"), "https://real.name/x")
    metadata["general"]["email"] = "people@real.name"
    assert list(site_checks.unreal_addresses(metadata["general"])) == []


@pytest.mark.parametrize(
    ("check", "content", "finding"),
    [
        ("bandit", "import subprocess\nsubprocess.call('ls', shell=True)\n", "B602"),
        ("bandit", "assert True\n", "B101"),
        ("secrets", "password = 'hunter2hunter2'\n", "Secret Keyword"),
        ("flake8", "print(undefined)\n", "F821"),
        ("flake8", "from qgis.PyQt.QtCore import QRegExp\nprint(QRegExp)\n", "QGS406"),
        ("flake8", "from PyQt5.QtCore import Qt\nprint(Qt)\n", "QGS103"),
    ],
)
def test_what_the_site_finds_is_found_here(tmp_path, check, content, finding):
    (tmp_path / "worse.py").write_text(content, encoding="utf-8")
    assert any(finding in one for one in getattr(site_checks, check)(tmp_path))


@pytest.mark.parametrize("name", ["vbas/core/x.so", "vbas/tests/x.py", "other/x.py", "vbas/.x", "vbas/../x.py"])
def test_files_that_do_not_belong_there_are_found(package, tmp_path, name):
    worse = tmp_path / package.name
    shutil.copy(package, worse)
    assert list(site_checks.in_zip(worse)) == []
    with zipfile.ZipFile(worse, "a") as archive:
        archive.writestr(name, b"")
    assert len(list(site_checks.in_zip(worse))) == 1


def test_it_does_the_main_job_headless(profile, city):
    release, report = profile / "release.gpkg", profile / "report.html"
    inputs = [f"REGIONS={city / 'areas.gpkg'}", "REGION_ID=area", "POPULATION=population"]
    inputs += [f"RECORDS={city / 'records.gpkg'}", "RECORD_REGION=area"]
    inputs += ["QUASI_IDENTIFIERS=age_group", "QUASI_IDENTIFIERS=sex", "K=5"]
    done = _process(profile, "run", "vbas:anonymize", "--", *inputs, f"RELEASED_RECORDS={release}", f"REPORT={report}")
    assert done.returncode == 0, done.stderr
    assert release.is_file() and "5-anonymous" in report.read_text(encoding="utf-8")


def test_its_form_opens_in_a_window(profile, city):
    if shutil.which("xvfb-run") is None or shutil.which("qgis") is None:
        assert not REQUIRED, "xvfb-run or qgis is not installed: bash scripts/setup engines"
        pytest.skip("xvfb-run is not installed: apt-get install xvfb xauth")
    said = profile / "said.json"
    environment = _environment(profile) | {"VBAS_TEST_CITY": str(city), "VBAS_TEST_SAID": str(said)}
    environment.pop("QT_QPA_PLATFORM", None)
    qgis = [
        "qgis",
        "--nologo",
        "--profiles-path",
        str(profile),
        "--code",
        str(Path(__file__).with_name("in_window.py")),
    ]
    screen = ["xvfb-run", "-a", "-s", "-screen 0 1400x1000x24"]
    done = subprocess.run([*screen, *qgis], env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert said.is_file(), done.stderr[-2000:]
    record = json.loads(said.read_text(encoding="utf-8"))
    assert "error" not in record, record["error"]
    assert record["package"] == str(profile / "profiles" / "default" / "python" / "plugins" / "vbas")
    assert record["visible"] and record["icon"]
    assert record["title"].endswith("Anonymise records")  # later versions put the group before it
    assert record["k"] == 5 and record["n_algorithms"] >= 27


def _process(profile: Path, *arguments: str) -> subprocess.CompletedProcess:
    """qgis_process in the profile, without a word of where this checkout is."""
    program = shutil.which("qgis_process.bin") or shutil.which("qgis_process")
    return subprocess.run(
        [str(program), *arguments], env=_environment(profile), capture_output=True, text=True, timeout=300, check=False
    )


def _environment(profile: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("QGIS_", "VBAS_"))}
    kept.pop("VIRTUAL_ENV", None)
    # What the distribution lacks, such as shapely 2 on Debian 12; the checkout itself is not in it.
    sites = [str(path) for path in (ROOT / ".venv" / "lib").glob("python3*/site-packages")]
    return kept | {
        "QGIS_CUSTOM_CONFIG_PATH": str(profile),
        "XDG_RUNTIME_DIR": str(profile / "runtime"),
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": os.pathsep.join(sites),
        "LANG": "C.UTF-8",
    }


def test_what_the_page_on_security_names_is_there():
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|scripts)/[\w/.-]+)`", page)
    assert len(named) > 10
    assert not [one for one in named if not (ROOT / one).exists()]
