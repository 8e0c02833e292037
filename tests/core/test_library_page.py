"""The library example of the guide runs as it stands, over a few made-up people."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from vbas.core.package.checking import check_folder
from vbas.core.publish.register.published_releases import read_register

PAGE = Path(__file__).resolve().parents[2] / "docs" / "library.md"


LEAD, *STEPS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_settings_on_the_page_are_those_there_are():
    written = runpy.run_path(str(PAGE.parents[1] / "scripts" / "settings_table.py"))["page"]
    text = PAGE.read_text(encoding="utf-8")
    assert written(text) == text, "run scripts/settings_table.py"


def test_five_lines_make_a_release(tmp_path, monkeypatch):
    for package in ("pandas", "geopandas"):
        pytest.importorskip(package)
    import geopandas
    import pandas

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    places = pandas.DataFrame({"area": [f"46{i:06d}" for i in range(30)], "population": np.full(30, 40)})
    shapes = geopandas.points_from_xy(*(rng.random((2, 30)) * 10_000))
    geopandas.GeoDataFrame(places, geometry=shapes, crs="EPSG:26914").to_file("areas.gpkg", driver="GPKG")
    people = {name: rng.choice(values, 1_200) for name, values in (("area", places["area"]), ("sex", ["F", "M"]))}
    people["age_group"] = rng.choice(["0-19", "20-64", "65+"], 1_200)
    pandas.DataFrame(people).astype({"area": str}).to_csv("records.csv", index=False)
    assert len([line for line in LEAD.splitlines() if line]) == 5
    exec(compile(LEAD, "docs/library.md", "exec"), {})
    checked = check_folder(tmp_path / "release")
    assert all(claim.holds for claim in checked.claims) and (checked.smallest or 0) >= 5


def test_the_library_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(STEPS)
    rng = np.random.default_rng(0)
    names = [f"46{i:06d}" for i in range(30)]
    given = {
        "identifiers": names,
        "points": rng.random((30, 2)) * 10_000,
        "population": np.full(30, 40),
        "homes": rng.choice(names, 1_200).tolist(),
        "sexes": rng.choice(["F", "M"], 1_200).tolist(),
        "ages": rng.choice(["0-19", "20-64", "65+"], 1_200, p=[0.3, 0.6, 0.1]).tolist(),
    }
    exec(compile(code, "docs/library.md", "exec"), given)
    measures = given["account"].measures
    assert len(given["rows"]) == measures.n_records - measures.n_suppressed > 0
    assert min(Counter(given["rows"]).values()) >= 5
    (published,) = read_register(tmp_path / "register.gpkg")
    assert published.records.sum() == len(given["rows"]) and published.quasi_identifiers == ("sex", "age")
