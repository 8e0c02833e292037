"""docs/approaches.md says what the approaches say of themselves."""

from __future__ import annotations

import runpy
from pathlib import Path

from vbas.core.aggregation import APPROACHES

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_the_script_writes():
    written = runpy.run_path(str(ROOT / "scripts" / "approaches_table.py"))
    page = (ROOT / "docs" / "approaches.md").read_text(encoding="utf-8")
    assert page == written["approaches_page"]()
    approach = APPROACHES["basic Voronoi"]
    assert f"| which area joins which | basic Voronoi | {approach.sentence} | Croft 2015, section 3.3 |" in page
