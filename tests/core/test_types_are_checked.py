"""All that is here is checked by mypy, and what is shipped on every system it runs on."""

import re
from pathlib import Path

import pytest

from ..scripts import script

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
TYPES = (ROOT / "scripts" / "types").read_text(encoding="utf-8")
NOT_ON_EVERY_SYSTEM = {"benchmarks", "scripts", "tests", "verify"}


def test_no_package_is_left_out():
    pytest.importorskip("mypy")
    types = PYPROJECT[PYPROJECT.index("[tool.mypy]") : PYPROJECT.index("[tool.bandit]")]
    (checked,) = re.findall(r"^packages = (\[.*?\])$", types, re.MULTILINE | re.DOTALL)
    packages = set(re.findall(r'"vbas\.(\w+)', PYPROJECT[: PYPROJECT.index("[tool.mypy]")]))
    there = {f"vbas.{name}" for name in packages | NOT_ON_EVERY_SYSTEM}
    assert there == set(re.findall(r'"([^"]+)"', checked))
    assert {path.parent.name for path in ROOT.glob("*/*.py")} <= packages | NOT_ON_EVERY_SYSTEM
    assert packages - NOT_ON_EVERY_SYSTEM == set(script("differs_by_system").SHIPPED)
    assert "ignore_errors" not in types
    assert "disallow_untyped_defs = true" in types


def test_every_system_is_checked_before_anything_is_committed_or_tested():
    assert "--platform linux" in TYPES and "for platform in win32 darwin" in TYPES
    assert "< <(.venv/bin/python scripts/differs_by_system.py" in TYPES
    assert "  bash scripts/types > " in (ROOT / "scripts" / "test").read_text(encoding="utf-8")
    assert "entry: bash scripts/types\n" in (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")


def test_what_uses_what_differs_between_systems_is_checked_on_each(capsys):
    pytest.importorskip("mypy")
    differs = script("differs_by_system")
    assert {"os", "signal", "fcntl", "msvcrt", "pathlib", "socket"} <= differs.differing()
    differs.main()
    listed = capsys.readouterr().out.split()
    assert "vbas.core.publish.files" in listed and len(listed) == len(set(listed))
    for path in ROOT.glob("core/**/*.py"):
        if re.search(r"^\s*(import os|import sys|from os|from sys)\b", path.read_text(encoding="utf-8"), re.MULTILINE):
            name = ".".join(("vbas", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
            assert name in listed
