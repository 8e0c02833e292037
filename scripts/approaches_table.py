"""Write docs/approaches.md: every approach by its name, with what its docstring says of it.

Run it again when an approach comes, goes or changes its docstring:
    PYTHONPATH=build/package .venv/bin/python scripts/approaches_table.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vbas.core import aggregation, baselines, cells, site_location, site_number
from vbas.core.approach import Approach

FILE = Path(__file__).resolve().parent.parent / "docs" / "approaches.md"
ROOMS: dict[str, Mapping[str, Approach[Any]]] = {
    "how many sites": site_number.APPROACHES,
    "where the sites go": site_location.APPROACHES,
    "which area joins which": aggregation.APPROACHES,
    "baselines": baselines.BASELINES,
    "groups of cells": cells.APPROACHES,
}
INTRODUCTION = """# The approaches

By the words that the toolbox, the command line and the library know them by. This page is written by
`scripts/approaches_table.py` from the docstrings; [methods.md](methods.md) has the equations.
"""


def approaches_page() -> str:
    """The page: a table row per approach, in the order of the toolbox."""
    rows = ["| component | approach | what it does | published in |", "|---|---|---|---|"]
    for component, approaches in ROOMS.items():
        for name, approach in approaches.items():
            rows.append(f"| {component} | {name} | {approach.sentence} | {approach.source} |")
    return "\n".join([INTRODUCTION, *rows, ""])


if __name__ == "__main__":
    FILE.write_text(approaches_page(), encoding="utf-8")
    print(FILE)
