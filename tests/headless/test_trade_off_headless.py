"""At most 1 % lost and as fine as possible: one run, and what coarser ages would change read from its report."""

from __future__ import annotations

import csv
import re

import pytest

from .jobs import inputs

AGES = {
    "0 to 14": "0 to 24",
    "15 to 24": "0 to 24",
    "25 to 44": "25 to 64",
    "45 to 64": "25 to 64",
    "65 to 79": "65 and over",
    "80 and over": "65 and over",
}


@pytest.fixture
def bands(tmp_path):
    path = tmp_path / "bands.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["attribute", "value", "level_1"])
        writer.writerows(["age_group", value, band] for value, band in AGES.items())
    return path


def number(text, name):
    match = re.search(rf"{name}\W+([0-9.]+)", text)
    assert match, text
    return float(match[1])


def test_a_person_who_wants_at_most_1_percent_gets_it_with_one_run(qgis_loaded, town, bands, tmp_path):
    asked = [*inputs(town), "COMBINATION=custom", f"HIERARCHIES={bands}"]

    def anonymize(name, *further):
        done = qgis_loaded(
            "run",
            "vbas:anonymize",
            "--",
            *asked,
            *further,
            f"RELEASED_RECORDS={tmp_path / f'{name}.gpkg'}",
            f"REPORT={tmp_path / f'{name}.html'}",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    budget = ["SITE_NUMBER=suppression budget", "BUDGET=1"]
    first = anonymize("first", *budget)
    n_sites = int(number(first, "N_SITES"))
    assert number(first, "SUPPRESSION_PERCENT") <= 1
    assert n_sites > 1
    page = (tmp_path / "first.html").read_text(encoding="utf-8")
    told = number(page, "with “age_group” one level coarser")
    assert 0 < told < number(first, "SUPPRESSION_PERCENT")
    finer = anonymize("finer", *budget, "GENERALISE=age_group", "GENERALISE=1")
    assert int(number(finer, "N_SITES")) > n_sites
    assert number(finer, "SUPPRESSION_PERCENT") <= 1
