"""What the guides say to type, typed: the demonstration and the command of the nested release."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess

from ..exploring import EXPLORES, tried
from .conftest import ROOT
from .jobs import query
from .test_reports import MOST_BYTES


def test_demonstration_prints_what_it_made(town, tmp_path):
    if not EXPLORES:  # the whole city takes several times as long; it is made only where there is none yet
        shutil.copy(town / "areas.gpkg", tmp_path / "city_areas.gpkg")
        some = ["ogr2ogr", "-limit", "12000", str(tmp_path / "city_records.gpkg"), str(town / "records.gpkg")]
        subprocess.run(some, check=True, capture_output=True)
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "demo"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.glob("*.html"))
    assert len(pages) == 4 and max(len(page.read_bytes()) for page in pages) <= MOST_BYTES
    columns, one, nested = done.stdout.split("\n\n")[1:]
    assert columns.splitlines()[0].split("  ")[-1].strip() == "nested levels"
    for column, prefix, printed in ((-2, "", one), (-1, "nested_", nested)):
        numbers = {line.split("  ")[1]: line.split()[column] for line in columns.splitlines()[1:]}
        told = dict(line.strip().split("  ", 1) for line in printed.splitlines()[1:])
        place = tmp_path / f"{prefix}released_records.gpkg"
        ((released,),) = query(place, f"select count(*) from {place.stem}")
        records, suppressed = (int(numbers[name].replace(",", "")) for name in ("Records", "Records suppressed"))
        assert records == released + suppressed
        assert told["Released records (for release)"].strip() == str(place)
        assert told["Anonymise records: Report (internal)"].strip() == str(tmp_path / f"{prefix}report.html")


def test_the_command_of_the_guide_makes_the_nested_release_of_the_tutorial(headless_home, tmp_path, request):
    """In every run of a part of the city: the figures of the tutorial are those of test_guide.py, too."""
    place = request.getfixturevalue(tried("town", "city"))
    page, tutorial = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("headless.md", "tutorial.md"))
    (command,) = re.findall(r'^scripts/qgis_process (run .*RELEASE="nested levels"(?:.*\\\n)+.*)\n', page, re.MULTILINE)
    done = subprocess.run(
        [str(ROOT / "scripts" / "qgis_process"), *shlex.split(command.replace("output/city_", f"{place}/"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "VBAS_HEADLESS_HOME": str(headless_home)},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    assert results["SUPPRESSION_PERCENT"] < 20
    shown = f"{results['SUPPRESSION_PERCENT']:#.2g} % | {results['N_SITES']} | {results['MEAN_DISTANCE']:.0f} m"
    row = "| four, nested levels, two diagnoses in each class |"
    assert f"{row} {shown} | 0 of " in tutorial if EXPLORES else row in tutorial
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "crosswalk.csv",
        "regions.gpkg",
        "released.gpkg",
        "report.html",
    ]
