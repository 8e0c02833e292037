"""The weights of the objectives in the form of the comparison: read, summed, named and written."""

from __future__ import annotations

import pytest
from qgis.core import QgsProcessingException


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
        SITE_LOCATIONS="balanced density,random",
        AGGREGATIONS="basic Voronoi,iterative Voronoi,transportation-location",
        CAPACITY_FACTORS="0",
        COMPARISON="memory:",
        **more,
    )


def test_the_rows_have_the_weighted_sum_and_the_best_is_named(run, grid, tmp_path):
    report = tmp_path / "report.html"
    done = compared(run, grid, WEIGHTS="compactness=3, suppression_percent=1", K=12, REPORT=str(report))
    rows = done.rows("COMPARISON")
    largest = {name: max(row[name] for row in rows) for name in ("compactness", "suppression_percent")}
    for row in rows:
        shares = [row[name] / most if most else 0 for name, most in largest.items()]
        assert row["weighted_sum"] == pytest.approx((3 * shares[0] + shares[1]) / 4)
    best = min(rows, key=lambda row: row["weighted_sum"])
    (told,) = [line for line in done.log if line.startswith("By your weights")]
    assert "(compactness=3, suppression_percent=1)" in told and best["aggregation"] in told
    assert ("It is on the Pareto front." in told) == bool(best["pareto"])
    page = report.read_text(encoding="utf-8")
    assert "By your weights" in page and "The best of each component" in page and "Table 3" in page
    components = [line for line in done.log if line.startswith("Best ")]
    assert [line.split(":")[0] for line in components] == ["Best site location", "Best aggregation"]


def test_without_weights_nothing_is_summed(run, grid, tmp_path):
    report = tmp_path / "report.html"
    done = compared(run, grid, REPORT=str(report))
    assert "weighted_sum" not in done.rows("COMPARISON")[0]
    assert not any("By your weights" in line for line in done.log)
    assert "By your weights" not in report.read_text(encoding="utf-8")


def test_weights_that_make_no_sense_are_refused_before_any_work(run, grid):
    with pytest.raises(QgsProcessingException, match="WEIGHTS has “closeness=3”: write objectives"):
        compared(run, grid, WEIGHTS="compactness=3, closeness=3")


def test_scenarios_name_the_best_over_all_of_them(run, grid, tmp_path):
    report = tmp_path / "report.html"
    compared(run, grid, SCENARIOS=3, LEAST_ATTRIBUTES=1, MOST_ATTRIBUTES=2, REPORT=str(report))
    page = report.read_text(encoding="utf-8")
    assert "The best of each component, over the scenarios" in page
    # Of two locations with two aggregations there are 2 contests a scenario, 6 in all.
    assert " of 6)" in page
