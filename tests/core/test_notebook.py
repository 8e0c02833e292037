"""The notebook of the guide runs as it stands, cell by cell, and ends as it says."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from vbas.core.synthetic import city

from ..exploring import tried

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebooks" / "first_release.ipynb"
CELLS = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def run(cell, names):
    """The value of the last line of a cell, as a notebook shows it; None where that is a statement."""
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop()
    if not isinstance(last, ast.Expr):
        tree.body.append(last)
    exec(compile(tree, NOTEBOOK.name, "exec"), names)
    return (
        eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names) if isinstance(last, ast.Expr) else None
    )


@pytest.mark.slow
def test_the_notebook_runs(tmp_path, monkeypatch):
    for package in ("pandas", "geopandas"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(city, "N_AREAS", tried(300, city.N_AREAS))
    names: dict = {}
    shown = [run(cell, names) for cell in CELLS if cell["cell_type"] == "code"]
    _, one_level, _, nested, _, content_hash, claims, _, correlation = shown
    assert min(one_level[0], nested[0]) >= 5
    assert nested[1] < 0.1 * one_level[1] and nested[2] < one_level[2]
    assert len(content_hash) == 64 and all(claims.values())
    assert correlation > 0.5
    assert sorted(one.name for one in tmp_path.iterdir()) == ["internal.html", "release"]


def test_no_output_is_kept_in_it():
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in CELLS if cell["cell_type"] == "code")
