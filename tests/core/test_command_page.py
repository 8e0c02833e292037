"""The page of the command says what the command does: its job, its exit codes, and the lines for R."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from vbas.core.command import main as command
from vbas.core.command.job_file import read_job

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "command.md").read_text(encoding="utf-8")


def block(language):
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


@pytest.fixture
def job(tmp_path):
    """The job of the page, with areas as CSV and people beside it."""
    text = block("toml").replace("areas.gpkg|layername=areas", "areas.csv")
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    rng, names = np.random.default_rng(0), [f"46{i:06d}" for i in range(25)]
    x, y = rng.random((2, 25)) * 9_000
    pd.DataFrame({"area": names, "x": x, "y": y, "population": 80}).to_csv(tmp_path / "areas.csv", index=False)
    people = {"area": rng.choice(names, 2_000), "sex": rng.choice(["F", "M"], 2_000)}
    people["age_group"] = rng.choice(["0-19", "20-64", "65+"], 2_000)
    pd.DataFrame(people).to_csv(tmp_path / "records.csv", index=False)
    return tmp_path / "job.toml"


def test_the_job_of_the_page_is_one(job, capsys):
    assert read_job(job)["K"] == 10
    assert command.main(["anonymize", str(job), "--quiet"]) == command.DONE
    assert command.main(["verify", str(job.parent / "release")]) == command.DONE


def test_the_exit_codes_are_those_of_the_page():
    codes = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", PAGE, re.MULTILINE) for code in row.split(",")}
    assert codes == {
        *(command.DONE, command.DOES_NOT_HOLD, command.INPUT, command.REFUSED, command.NOT_WRITTEN),
        *(command.CANCELLED, command.TERMINATED),
    }
    for line in re.findall(r"^\| `vbas (.*?)` \|", PAGE, re.MULTILINE):
        command._parser().parse_args(line.split())


@pytest.mark.slow
@pytest.mark.skipif(
    os.name == "nt" or not shutil.which("Rscript"), reason="R is not installed: apt-get install r-base-core"
)
def test_the_lines_for_r_run(job, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "vbas").write_text(f'#!/bin/sh\nexec {sys.executable} -m vbas "$@"\n', encoding="utf-8")
    (folder / "vbas").chmod(0o755)
    (tmp_path / "release.R").write_text(block("r"), encoding="utf-8")
    there = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["Rscript", "release.R"], cwd=tmp_path, env=there, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"[0-9a-f]{64}\n", (tmp_path / "hash.txt").read_text(encoding="utf-8"))
