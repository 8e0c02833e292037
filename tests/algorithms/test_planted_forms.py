"""Outcomes that are planted in the form of the comparison: looked for in each release, written and reported."""

from __future__ import annotations

import pytest
from qgis.core import QgsFeatureRequest, QgsProcessingException

FOUND = ("map_error", "effect_found", "effect_covered", "cluster_found", "rare_slope", "rare_kept")


def compared(run, grid, **more):
    areas, records = grid
    return run(
        "compare",
        REGIONS=areas,
        REGION_ID="da",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        SITE_NUMBERS="given number",
        N_SITES=6,
        SITE_LOCATIONS="balanced density",
        AGGREGATIONS="iterative Voronoi",
        NESTED=["from the areas up"],
        COMPARISON="memory:",
        **more,
    )


@pytest.mark.slow
def test_what_a_researcher_would_lose_stands_in_the_table_and_in_the_report(run, grid, tmp_path):
    report = tmp_path / "report.html"
    done = compared(run, grid, ANALYSES=3, REPORT=str(report))
    one_level, nested = done.rows("COMPARISON")
    assert all(row[name] is not None for row in (one_level, nested) for name in FOUND)
    assert nested["rare_slope"] >= one_level["rare_slope"] - 1e-9
    assert "map_error_of_truth" not in one_level
    page = report.read_text(encoding="utf-8")
    assert "What a researcher would lose" in page and "donut masking" in page and "true areas" in page
    again = compared(run, grid, ANALYSES=3).rows("COMPARISON")
    assert [row[name] for row in again for name in FOUND] == [
        row[name] for row in (one_level, nested) for name in FOUND
    ]


def test_nothing_is_planted_unless_asked(run, grid, tmp_path):
    report = tmp_path / "report.html"
    done = compared(run, grid, REPORT=str(report))
    assert not set(FOUND) & set(done.rows("COMPARISON")[0])
    assert "What a researcher would lose" not in report.read_text(encoding="utf-8")


def test_too_few_people_are_said_before_anything_is_compared(run, grid):
    areas, records = grid
    with pytest.raises(QgsProcessingException, match="too few people"):
        run(
            "compare",
            REGIONS=areas,
            REGION_ID="da",
            RECORDS=records.materialize(QgsFeatureRequest().setLimit(5)),
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=["sex", "age"],
            COMPARISON="memory:",
            ANALYSES=3,
        )
