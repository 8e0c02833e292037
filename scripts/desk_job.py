"""What somebody does first at a new desk, without a window: make the city, release it twice, and verify both folders.

    python desk_job.py FOLDER QGIS_PROCESS …      QGIS_PROCESS … is how qgis_process is started here

The plugin is installed and switched on already. FOLDER may be a network drive. With the packages that QGIS brings; it
needs no other package itself. Ends with 1, and says why, where a run fails, a folder does not verify, or a second run
over what the first has written gives another content hash.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEVELS = ("one level", "nested levels")
PEOPLE = "age_group;sex;marital_status;education"


def ran(*command: str) -> str:
    """What a program prints. Raises SystemExit with all it said where it fails."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "VBAS_LANGUAGE": "en"}
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    said = done.stdout.decode(errors="replace")
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{said}\n{done.stderr.decode(errors='replace')}")
    return said


def released(qgis_process: list[str], folder: Path, release: str) -> Path:
    """The folder of a release of the city."""
    name = release.partition(" ")[0]
    words = [f"REGIONS={folder / 'areas.gpkg'}", "REGION_ID=area", "POPULATION=population"]
    words += [f"RECORDS={folder / 'records.gpkg'}", "RECORD_REGION=area", f"QUASI_IDENTIFIERS={PEOPLE}", "K=5"]
    words += [f"RELEASE={release}", "KEEP_FIELDS=diagnosis", f"REPORT={folder / name}.html"]
    words += [f"RELEASED_RECORDS={folder / name}_records.gpkg", f"RELEASED_REGIONS={folder / name}_regions.gpkg"]
    words += [f"CROSSWALK={folder / name}_crosswalk.csv", f"RELEASE_FOLDER={folder / name}"]
    ran(*qgis_process, "run", "vbas:anonymize", "--", *words)
    return folder / name


def content(folder: Path) -> str:
    """The content hash that a released folder says of itself."""
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    return str(package["vbas"]["content_sha256"])


def main(words: list[str]) -> int:
    """Do all of it; words : the folder, and how qgis_process is started."""
    folder, qgis_process = Path(words[0]), words[1:]
    folder.mkdir(parents=True, exist_ok=True)
    city = [f"AREAS={folder / 'areas.gpkg'}", f"RECORDS={folder / 'records.gpkg'}"]
    ran(*qgis_process, "run", "vbas:demonstrationcity", "--", *city)
    for release in LEVELS:
        first = content(released(qgis_process, folder, release))
        again = released(qgis_process, folder, release)  # over what is there
        print(ran(sys.executable, str(ROOT / "verify" / "verify.py"), str(again)).strip())
        if content(again) != first:
            print(f"{release}: {content(again)} the second time, {first} the first")
            return 1
        print(f"{release}: {first}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
