"""The workflows are not run here: they are read, and what they call is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: bash scripts/setup test")
ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_step_calls_what_is_there(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["name"] and "permissions" in workflow
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            for called in re.findall(r"(?:scripts|\.ci)/[\w.-]+", step.get("run", "")):
                assert (ROOT / called).is_file(), called


def test_a_tag_is_tested_checked_and_only_then_published():
    steps = yaml.safe_load((ROOT / ".github/workflows/package.yml").read_text(encoding="utf-8"))["jobs"]["package"]
    runs = [step.get("run", step.get("uses", "")) for step in steps["steps"]]
    order = [next(i for i, run in enumerate(runs) if what in run) for what in (".ci/run", "--upload", "publish.py")]
    assert order == sorted(order)


def test_passwords_are_secrets_of_the_workflow():
    for path in WORKFLOWS:
        for line in path.read_text(encoding="utf-8").splitlines():
            if "PASSWORD" in line and ":" in line:
                assert re.search(r"\$\{\{ secrets\.\w+ \}\}", line), line
