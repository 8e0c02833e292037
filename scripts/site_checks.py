"""What the QGIS plugin site asks of a zip, checked here before it is uploaded there.

The rules are those of the site's source (qgis/QGIS-Plugins-Website at 73c20fa, July 2026): `plugins/validator.py`, and
the lists in `plugins/management/commands/data`. What the site only warns of fails here, too.
"""

from __future__ import annotations

import configparser
import json
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

REQUIRED = ("name", "description", "version", "qgisMinimumVersion", "author", "about")
# Only the publisher can give these: an upload is refused without them, an installation from the zip is not.
ADDRESSES = ("homepage", "tracker", "repository", "email")
# Reserved for examples (RFC 2606, RFC 6761): nobody answers there.
NOBODY = ("example", "example.org", "example.com", "example.net", "test", "invalid", "localhost", "local")
CATEGORIES = ("Raster", "Vector", "Database", "Mesh", "Web")
MOST_BYTES = 5 * 1024 * 1024  # ours; the site takes 25 MB
UNWANTED = (".exe", ".dll", ".so", ".dylib", ".bat", ".sh", ".ps1", ".cmd", ".pyc", ".pyo")
TEXTS = (".md", ".html", ".po", ".mo", ".model3", ".svg", ".png")
UNWANTED_FOLDERS = {"__pycache__", "__MACOSX", ".git", "tests", "benchmarks", "scripts"}
# Every rule of bandit but the two that the site leaves off and bandit still has.
BANDIT_OFF = "B404,B411"
FLAKE8 = (
    "E101,E711,E712,E713,E714,E721,E722,E731,E741,E742,E743,E901,E902,E999,W605,"
    "F402,F403,F404,F405,F811,F821,F822,F823,F831,F901,C901"
)
# Imports past qgis.PyQt, and what Qt 6 has not any more (flake8-qgis); enums by scope are looked at in tests/qt6.
QT6 = "QGS103,QGS104,QGS4"
# Its branch for QGIS before 3.38 names types as those versions do.
QT5_FILES = "algorithms/compat.py:QGS402"


def problems(package: Path, texts: bool = True) -> Iterator[str]:
    """What is wrong with a zip, a sentence each; its unpacked tree is looked at beside it.

    texts : whether secrets are looked for in pages, models and translations, too, which takes as long as all else
    """
    yield from in_zip(package)
    yield from in_metadata(metadata_of(package))
    folder = unpacked(package)
    if not texts:
        for file in folder.rglob("*"):
            if file.suffix in TEXTS:
                file.unlink()
    for name, check in (("bandit", bandit), ("detect-secrets", secrets), ("flake8", flake8)):
        for problem in check(folder):
            yield f"{name}: {problem}"


def in_zip(package: Path) -> Iterator[str]:
    """Names, kinds and sizes of the files in a zip."""
    if package.stat().st_size > MOST_BYTES:
        yield f"{package.name} has {package.stat().st_size / 2**20:.1f} MB, more than {MOST_BYTES // 2**20}"
    with zipfile.ZipFile(package) as archive:
        entries = archive.infolist()
    names = [Path(entry.filename) for entry in entries]
    if {name.parts[0] for name in names} != {"vbas"}:
        yield "the top folder is not “vbas”"
    for needed in ("metadata.txt", "__init__.py", "LICENSE"):
        if Path("vbas", needed) not in names:
            yield f"{needed} is missing"
    for entry, name in zip(entries, names):
        if ".." in name.parts or name.is_absolute() or UNWANTED_FOLDERS & set(name.parts[:-1]):
            yield f"{entry.filename} does not belong there"
        if name.suffix.lower() in UNWANTED or name.name.startswith("."):
            yield f"{entry.filename} is of an unwanted kind"
        if entry.external_attr >> 16 & 0o111 and name.suffix == ".py":
            yield f"{entry.filename} is executable"


def metadata_of(package: Path) -> configparser.SectionProxy:
    """The section of metadata.txt that the site reads."""
    with zipfile.ZipFile(package) as archive:
        text = archive.read("vbas/metadata.txt").decode("utf-8")
    metadata = configparser.ConfigParser(interpolation=None)
    metadata.optionxform = str  # type: ignore[assignment,method-assign]
    metadata.read_string(text)
    return metadata["general"]


def in_metadata(metadata: configparser.SectionProxy) -> Iterator[str]:
    """What metadata.txt lacks, addresses apart."""
    for name in (*REQUIRED, "changelog", "icon", "license"):
        if not metadata.get(name, "").strip():
            yield f"metadata.txt has no {name}"
    if metadata.get("category") not in CATEGORIES:
        yield f"the category “{metadata.get('category')}” is none of {', '.join(CATEGORIES)}"
    if not metadata.get("icon", "").endswith(".png"):
        yield "the icon is not a PNG"
    if "supportsQt6" in metadata:
        yield "supportsQt6 is no longer asked for: qgisMaximumVersion says it"


def unreal_addresses(metadata: configparser.SectionProxy) -> Iterator[str]:
    """The addresses that nobody has given yet, or that are examples."""
    for name in ADDRESSES:
        value = metadata.get(name, "").strip()
        host = value.rpartition("@")[2] if name == "email" else urllib.parse.urlsplit(value).hostname or ""
        if not value:
            yield f"{name} is not given"
        elif "." not in host or any(host == host_name or host.endswith(f".{host_name}") for host_name in NOBODY):
            yield f"{name} “{value}” is no real address"
        elif name != "email" and not value.startswith("https://"):
            yield f"{name} “{value}” does not begin with https://"


def silent_addresses(metadata: configparser.SectionProxy) -> Iterator[str]:
    """The addresses that do not answer, asked as the site does."""
    for name in ADDRESSES[:3]:
        request = urllib.request.Request(metadata[name], method="HEAD")
        try:
            with urllib.request.urlopen(request, timeout=10):
                pass
        except (urllib.error.URLError, TimeoutError) as error:
            yield f"{name} {metadata[name]} does not answer: {error}"


def unpacked(package: Path) -> Path:
    """A folder beside the zip that holds what is in it."""
    folder = package.with_suffix("")
    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder)
    return folder / "vbas"


def bandit(folder: Path) -> Iterator[str]:
    """Findings of bandit by the site's rules."""
    done = _output(folder, "-m", "bandit", "-r", ".", "-f", "json", "--quiet", "-s", BANDIT_OFF)
    for finding in json.loads(done)["results"]:
        yield f"{finding['test_id']} {finding['filename']}:{finding['line_number']} {finding['issue_text']}"


def secrets(folder: Path) -> Iterator[str]:
    """Findings of detect-secrets; its exit code tells nothing, so its JSON is judged."""
    program = "import sys; from detect_secrets.main import main; sys.exit(main())"
    done = _output(folder, "-c", program, "scan", "--all-files", "--exclude-files", r"metadata\.txt", ".")
    for file, findings in json.loads(done)["results"].items():
        yield f"{file}: {', '.join(sorted({finding['type'] for finding in findings}))}"


def flake8(folder: Path) -> Iterator[str]:
    """Findings of flake8 by the site's rules, and what Qt 6 does not take."""
    select = f"--select={FLAKE8},{QT6}"
    options = ("--isolated", "--max-line-length=120", select, f"--per-file-ignores={QT5_FILES}")
    yield from _output(folder, "-m", "flake8", *options, ".").splitlines()


def _output(folder: Path, *arguments: str) -> str:
    """What a Python program prints that is run in a folder."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or "No module named" in done.stderr:
        raise RuntimeError(f"{arguments[1]} did not run: {done.stderr}")
    return done.stdout
