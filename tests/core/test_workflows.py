"""What runs on each kind of desk once the project is public: whole, with the least rights, actions by their commits."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
import yaml

from ..scripts import ROOT
from ..systems import of_posix

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(file):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def steps_of(workflow):
    for name, job in workflow["jobs"].items():
        for step in job["steps"]:
            yield name, step


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_it_is_whole_and_has_the_least_rights(file):
    workflow = read(file)
    rights = [workflow.get("permissions"), *(job.get("permissions", {}) for job in workflow["jobs"].values())]
    assert rights[0] is not None, "rights that are not named are all"
    writing = [one for right in rights for one, what in right.items() if what == "write"]
    assert writing == (["contents"] if file.name == "package.yml" else [])
    for name, job in workflow["jobs"].items():
        assert "timeout-minutes" in job, name
        assert all(needed in workflow["jobs"] for needed in [job.get("needs", name)]), name


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_nothing_that_others_write_becomes_a_command(file):
    """A branch, a tag or a title is text: it reaches a command by the environment alone."""
    for name, step in steps_of(read(file)):
        assert "${{" not in step.get("run", ""), f"{name}: {step}"


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_actions_are_named_by_commit_and_keep_no_password(file):
    for job, step in steps_of(read(file)):
        if "uses" in step:
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"]), f"{job}: {step['uses']}"
            if "checkout" in step["uses"]:
                assert step["with"]["persist-credentials"] is False
    text = file.read_text(encoding="utf-8")
    assert len(re.findall(r"uses: .*@[0-9a-f]{40} # v\d", text)) == text.count("uses: ")


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
@of_posix
def test_its_lines_are_shell(file):
    for name, step in steps_of(read(file)):
        if "run" in step and step.get("shell", "bash") == "bash":
            done = subprocess.run(["bash", "-n"], input=step["run"], capture_output=True, text=True, check=False)
            assert done.returncode == 0 and not done.stderr, f"{name}: {done.stderr}"


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_what_it_starts_is_there(file):
    for name, step in steps_of(read(file)):
        for script in re.findall(r"(?:\./)?((?:scripts|\.ci)[/\\][\w./]+)", step.get("run", "")):
            assert (ROOT / script.replace("\\", "/")).is_file(), f"{name}: {script}"


@pytest.mark.parametrize("tool", [("actionlint",), ("zizmor", "--offline", "--no-progress")], ids=lambda tool: tool[0])
def test_those_who_know_find_nothing(tool):
    program = shutil.which(tool[0]) or shutil.which(tool[0], path=f"{sys.prefix}/bin")
    if program is None:
        pytest.skip(f"{tool[0]} is not installed")
    done = subprocess.run([program, *tool[1:], *map(str, WORKFLOWS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lines_of_the_page_on_installing_are_those_that_are_tried():
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    tried = (ROOT / ".github" / "workflows" / "desks.yml").read_text(encoding="utf-8")
    for place in ("Library/Application Support/QGIS/", r"%APPDATA%\QGIS", ".local/share/QGIS/"):
        assert place in page and place in tried
    assert "shapely==2.0.*" in page and "shapely==2.0.*" in tried
