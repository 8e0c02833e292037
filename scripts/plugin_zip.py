"""Build the plugin's zip and check it as the QGIS plugin site does.

    bash scripts/package            a zip to install with “Install from ZIP”, in build/
    bash scripts/package --upload   the same, refused unless all addresses are real and answer

What is in the zip is what git has of this folder as it stands, without what .gitattributes leaves out. Homepage,
tracker, repository and email come from scripts/addresses.ini, the changelog from CHANGELOG.md, and the guide is there
as plain pages too, which the Help buttons open.
"""

from __future__ import annotations

import argparse
import configparser
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from plain_pages import plain_pages
from site_checks import ADDRESSES, metadata_of, problems, silent_addresses, unreal_addresses

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RELEASES_TOLD = 3
LONG_AGO = (2000, 1, 1, 0, 0, 0)  # the same files make the same zip


def shipped() -> list[str]:
    """The files that belong to the plugin, as git knows them here."""
    files = _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    ignored = _git("check-attr", "export-ignore", "--", *_with_folders(files)).splitlines()
    left_out = {line.rsplit(": export-ignore: ", 1)[0] for line in ignored if line.endswith(": set")}
    return sorted(file for file in files if not left_out & set(_with_folders([file])) and (ROOT / file).is_file())


def _with_folders(files: list[str]) -> list[str]:
    """The files and the folders they are in."""
    return sorted({str(path) for file in files for path in (Path(file), *Path(file).parents)} - {"."})


def metadata() -> str:
    """metadata.txt with the addresses and what has changed."""
    text = (ROOT / "metadata.txt").read_text(encoding="utf-8").rstrip("\n")
    given = configparser.ConfigParser(interpolation=None)
    given.read(ROOT / "scripts" / "addresses.ini", encoding="utf-8")
    lines = [f"{name}={given.get('general', name, fallback='').strip()}" for name in ADDRESSES]
    lines.append(f"commit={_git('rev-parse', 'HEAD').strip()}")  # which the descriptions of releases name
    return "\n".join([text, *(line for line in lines if not line.endswith("=")), f"changelog={changelog()}", ""])


def changelog() -> str:
    """The latest parts of CHANGELOG.md, as lines that a value of metadata.txt can hold."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    parts = [part.strip() for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]]
    parts = [part for part in parts if "\n" in part]  # what is not released yet may be nothing
    # A line that begins with blanks goes on with the value; an empty one would end it.
    lines = [line.rstrip() for part in parts[:RELEASES_TOLD] for line in part.splitlines() if line.strip()]
    return "\n  ".join(line.replace("### ", "").replace("`", "").replace("**", "") for line in lines)


def build(folder: Path = BUILD) -> Path:
    """Write the zip. Returns its path."""
    plugin_metadata = configparser.ConfigParser(interpolation=None)
    plugin_metadata.read(ROOT / "metadata.txt", encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    package = folder / f"vbas-{plugin_metadata['general']['version']}.zip"
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in shipped():
            content = metadata().encode() if file == "metadata.txt" else (ROOT / file).read_bytes()
            archive.writestr(_entry(file), content)
        for page, text in plain_pages(ROOT / "docs", BUILD / "reference" / "fr"):
            archive.writestr(_entry(f"docs/{page}"), text)
    return package


def _entry(file: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(f"vbas/{file}", LONG_AGO)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def main() -> int:
    """Build, check, and say what came of it."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--upload", action="store_true", help="refuse a package that the plugin site would refuse")
    upload = arguments.parse_args().upload
    package = build()
    wrong = list(problems(package))
    unreal = list(unreal_addresses(metadata_of(package)))
    if upload:
        wrong += unreal or silent_addresses(metadata_of(package))
    for sentence in wrong:
        print(f"refused: {sentence}", file=sys.stderr)
    if wrong:
        package.unlink()
        return 1
    size = package.stat().st_size / 1024
    print(f"{package.relative_to(ROOT)}: {len(zipfile.ZipFile(package).infolist())} files, {size:.0f} kB, no finding.")
    if unreal:
        print(f"To install from, not to upload: {'; '.join(unreal)} (scripts/addresses.ini).")
    return 0


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
