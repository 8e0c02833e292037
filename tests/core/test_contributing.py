"""What CONTRIBUTING lists as commands is what there is in scripts/."""

from __future__ import annotations

import re
from pathlib import Path

from ..conftest import TOGETHER

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SCRIPTS = [path for path in (ROOT / "scripts").iterdir() if path.is_file()]


def test_every_command_is_in_the_list():
    listed = PAGE.split("```")[1]
    there = sorted(script.name for script in SCRIPTS if not script.suffix)
    assert sorted(set(re.findall(r"\bscripts/([\w-]+)", listed))) == there


def test_every_script_of_python_that_is_run_by_hand_is_told():
    """Those that another script starts say nothing of how they are run."""
    by_hand = [
        script.name
        for script in SCRIPTS
        if script.suffix == ".py" and f"python scripts/{script.name}" in text_of(script)
    ]
    assert len(by_hand) > 3
    assert [name for name in by_hand if f"scripts/{name} " not in PAGE] == []


def test_every_command_named_is_there():
    for name in re.findall(r"\bscripts/([\w.-]*\w)", PAGE):
        assert (ROOT / "scripts" / name).exists(), name


def test_files_whose_tests_share_a_process_are_there():
    assert [name for name in TOGETHER if not (ROOT / name).is_file()] == []


def text_of(file):
    return file.read_text(encoding="utf-8")
