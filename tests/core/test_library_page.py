"""The library example of the guide runs as it stands, over a few made-up people."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[2] / "docs" / "library.md"


def test_the_library_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    rng = np.random.default_rng(0)
    names = [f"46{i:06d}" for i in range(30)]
    given = {
        "identifiers": names,
        "points": rng.random((30, 2)) * 10_000,
        "population": np.full(30, 40),
        "homes": rng.choice(names, 1_200).tolist(),
        "sexes": rng.choice(["F", "M"], 1_200).tolist(),
    }
    exec(compile(code, "docs/library.md", "exec"), given)
    assert len(given["release"]) == given["measures"].n_records - given["measures"].n_suppressed == 1_200
    classes = Counter(given["rows"])
    assert sum(classes.values()) == 1_200
    assert min(classes.values()) >= 5
