"""The figures of README, docs/nested.md and its picture are those of a fresh run, and the page's examples run."""

from __future__ import annotations

import re
import runpy
import sqlite3
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from vbas.benchmarks import nested_example
from vbas.core.nesting.flattening import flatten
from vbas.core.release import apply

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "nested.md").read_text(encoding="utf-8")
LEVEL = 5  # of the page's examples


@pytest.fixture(scope="module")
def example():
    return nested_example.make_example()


@pytest.fixture(scope="module")
def release(example):
    return apply(example.plan, example.records)


@pytest.fixture(scope="module")
def files(example, release, tmp_path_factory):
    """What a researcher has: the records, the crosswalk, and the population of the areas."""
    folder = tmp_path_factory.mktemp("release")
    crosswalks = example.levels.crosswalks
    numbers = np.concatenate([crosswalk.numbers for crosswalk in crosswalks])
    first = np.cumsum([0, *(crosswalk.n_regions for crosswalk in crosswalks)])
    records = {"vbas_level": release.level + 1, "vbas_region": numbers[first[release.level] + release.region]}
    fields = {name: pd.Categorical.from_codes(field.codes, field.categories) for name, field in release.fields.items()}
    rows = pd.DataFrame({**records, **fields})
    rows.loc[release.rows].to_csv(folder / "released_records.csv", index=False)
    regions = {f"vbas_region_{i}": crosswalk.numbers[crosswalk.region_of] for i, crosswalk in enumerate(crosswalks, 1)}
    pd.DataFrame({"area": example.areas.identifiers, **regions}).to_csv(folder / "crosswalk.csv", index=False)
    areas = pd.DataFrame({"area": example.areas.identifiers, "population": example.areas.population})
    areas.to_csv(folder / "areas.csv", index=False)
    return folder


def in_one_line(text):
    return re.sub(r"\s+", " ", text)


def test_the_page_quotes_what_the_script_prints(example):
    printed = [line for line in nested_example.printed(example) if line]
    assert len(printed) > 30
    for line in printed:
        assert line in (PAGE.splitlines() if line.startswith("|") else in_one_line(PAGE)), line


def test_readme_quotes_what_the_script_prints(example):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\n".join(nested_example.result_table(example)) in readme


def test_the_picture_is_that_of_this_city(example):
    written = runpy.run_path(str(ROOT / "scripts" / "nested_picture.py"))
    drawn, stored = (
        [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
        for svg in (written["picture"](example), written["PLACE"].read_text(encoding="utf-8"))
    )
    # Where a number has just room may depend on the version of GEOS.
    words = [[text for text in texts if not text.isdigit()] for texts in (drawn, stored)]
    assert words[0] == words[1]
    assert len(words[0]) > 20
    assert written["PLACE"].stat().st_size < 300_000


def test_the_examples_of_the_page_run(example, release, files, monkeypatch):
    monkeypatch.chdir(files)
    (query,) = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    found: dict[str, Any] = {}
    exec(compile(code, "docs/nested.md", "exec"), found)
    with sqlite3.connect(":memory:") as base:
        found["released"].to_sql("released_records", base)
        found["crosswalk"].to_sql("crosswalk", base)
        flattened = pd.read_sql(query, base, index_col="region")
    base.close()

    rows = found["rows"]
    there = rows[rows["vbas_level"] <= LEVEL]
    assert (there["weight"] == 1).all()
    assert rows["weight"].sum() == pytest.approx(len(release))
    crosswalk = example.levels.crosswalks[LEVEL - 1]
    region = flatten(example.levels, release.level, release.region, LEVEL - 1)[release.rows]
    people = pd.Series(crosswalk.numbers[region[region >= 0]]).value_counts().sort_index()
    assert flattened["people"].tolist() == there["region"].value_counts().sort_index().tolist() == people.tolist()
    asked = nested_example.rows_of_release(example, release)
    for spread, shares in ((False, flattened["diabetes"]), (True, found["diabetes"])):
        _, of_question, _ = nested_example.shares_of_level(example, asked, LEVEL - 1, spread)
        expected = pd.Series(of_question[1], crosswalk.numbers).dropna()
        np.testing.assert_allclose(shares.sort_index(), expected.sort_index())
