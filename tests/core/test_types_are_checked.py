"""All that is shipped is checked by mypy, on every system it runs on."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_no_package_is_left_out():
    types = PYPROJECT[PYPROJECT.index("[tool.mypy]") : PYPROJECT.index("[tool.bandit]")]
    (checked,) = re.findall(r"^packages = (.*)$", types, re.MULTILINE)
    shipped = set(re.findall(r'"vbas\.(\w+)', PYPROJECT[: PYPROJECT.index("[tool.mypy]")])) - {"benchmarks"}
    assert {f"vbas.{name}" for name in shipped} == set(re.findall(r'"([^"]+)"', checked))
    assert "ignore_errors" not in types
    assert "disallow_untyped_defs = true" in types


def test_every_system_is_checked_before_anything_is_committed_or_tested():
    assert "for platform in linux win32 darwin" in (ROOT / "scripts" / "types").read_text(encoding="utf-8")
    assert "bash scripts/types\n" in (ROOT / "scripts" / "test").read_text(encoding="utf-8")
    assert "entry: bash scripts/types\n" in (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
