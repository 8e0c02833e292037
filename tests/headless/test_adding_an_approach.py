"""The tutorial of CONTRIBUTING, followed to the letter in a copy of the project: one file, and its line in the dict."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..exploring import EXPLORES, tried
from .conftest import ROOT

NAME, SENTENCE = "most populous", "The sites are on the areas with the most people."
SITES = "core/site_location"


@dataclass
class Copy:
    """A copy of the project in which the tutorial was followed; `commands` : its shell block, run."""

    root: Path
    commands: subprocess.CompletedProcess

    def run(self, *command):
        environment = {**os.environ, "PYTHONPATH": "build/package", "VBAS_HEADLESS_HOME": str(self.root / "home")}
        return subprocess.run(command, cwd=self.root, env=environment, timeout=300, capture_output=True, text=True)

    def qgis_process(self, *arguments):
        done = self.run("scripts/qgis_process", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(self, *arguments):
        done = self.run(".venv/bin/python", "-m", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    root = tmp_path_factory.mktemp("copy") / "vbas"
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".git", ".venv", "build", "output", "*cache*"))
    (root / ".venv").symlink_to(ROOT / ".venv")
    (root / "build" / "package").mkdir(parents=True)
    (root / "build" / "package" / "vbas").symlink_to(root)

    tutorial = (root / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## How to add an approach")[1]
    tutorial = tutorial.split("\n## ")[0]
    code, imported, line = re.findall(r"```python\n(.*?)```", tutorial, re.DOTALL)
    file = re.match(r"# (\S+\.py)\n", code)
    assert file
    (root / file[1]).write_text(code[file.end() :], encoding="utf-8")
    door = root / SITES / "__init__.py"
    text = door.read_text(encoding="utf-8").replace("from .options", f"{imported}from .options")
    room, end = text.index("APPROACHES: dict"), "\n}\n"
    door.write_text(text[:room] + text[room:].replace(end, f"\n{line.rstrip()}{end}", 1), encoding="utf-8")

    (block,) = re.findall(r"```bash\n(.*?)```", tutorial, re.DOTALL)
    run = subprocess.run(["bash", "-ec", block], cwd=root, timeout=300, capture_output=True, text=True)
    return Copy(root, run)


def test_the_checks_of_the_project_pass(copy):
    files = [f"{SITES}/most_populous.py", f"{SITES}/__init__.py"]
    copy.python("ruff", "format", "--check", *files)
    copy.python("ruff", "check", *files)
    # All that it imports is read anew, which takes long; scripts/types checks the approaches that there are.
    if EXPLORES:
        copy.python("mypy", "--check-untyped-defs", "-m", "vbas.core.site_location.most_populous")


@pytest.mark.parametrize("algorithm", tried(["anonymize"], ["sitelocation", "anonymize"]))
def test_the_toolbox_offers_it_with_its_sentence(copy, algorithm):
    definition = json.loads(copy.qgis_process("help", f"vbas:{algorithm}", "--json"))["parameters"]["SITE_LOCATION"]
    assert NAME in str(definition["available_options"])
    assert f"“{NAME}”: {SENTENCE}" in definition["help"]


def test_the_comparison_runs_it(copy, tmp_path):
    places = {f"area {i}": (-97 + i % 4 / 10, 49 + i // 4 / 10) for i in range(16)}
    features = [
        {"type": "Feature", "properties": {"id": name}, "geometry": {"type": "Point", "coordinates": place}}
        for name, place in places.items()
    ]
    (tmp_path / "areas.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    records = [f"{name},{sex}" for i, name in enumerate(places) for sex in "FM" * (9 + i)]
    (tmp_path / "records.csv").write_text("\n".join(["area,sex", *records]))
    copy.qgis_process(
        "run",
        "vbas:compare",
        "--",
        f"REGIONS={tmp_path / 'areas.geojson'}",
        "REGION_ID=id",
        f"RECORDS={tmp_path / 'records.csv'}",
        "RECORD_REGION=area",
        "QUASI_IDENTIFIERS=sex",
        "SITE_NUMBERS=given number",
        "N_SITES=3",
        f"SITE_LOCATIONS={NAME}",
        "AGGREGATIONS=basic Voronoi",
        f"COMPARISON={tmp_path / 'comparison.csv'}",
        f"REPORT={tmp_path / 'report.html'}",
    )
    with (tmp_path / "comparison.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["site_location"], row["n_sites"], row["problem"]) == (NAME, "3", "")


def test_the_table_of_the_documentation_lists_it(copy):
    page = (copy.root / "docs" / "approaches.md").read_text(encoding="utf-8")
    assert f"| where the sites go | {NAME} | {SENTENCE} |  |" in page


def test_the_model_offers_it(copy):
    if "would name the outputs" in copy.commands.stdout:
        pytest.skip("the model is written by another QGIS")
    assert copy.commands.returncode == 0, copy.commands.stderr
    model = (copy.root / "models" / "vbas_step_by_step.model3").read_text(encoding="utf-8")
    assert f'value="{NAME}"' in model
    assert SENTENCE in model
