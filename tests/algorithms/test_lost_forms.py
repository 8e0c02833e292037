"""Who is lost and which attribute costs what: the log's last lines, the report, the comparison."""

from __future__ import annotations

import pytest

REGIONS = {"REGION_ID": "da"}
RECORDS = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}
RULES = ["age", "bands 2, 4"]


def suppressed(done):
    return done.results["SUPPRESSION_PERCENT"]


@pytest.mark.parametrize("rules", [None, RULES])
def test_the_last_lines_say_what_each_attribute_costs(anonymize, tmp_path, rules):
    report = tmp_path / "report.html"
    done = anonymize(N_SITES=30, HIERARCHY_RULES=rules, REPORT=str(report))
    worst, costs = [line for line in done.log if line.startswith(("The group that loses most", "With these regions"))]
    assert done.log.index(worst) < done.log.index(costs)
    assert f"{suppressed(done):.3g} % of the records are suppressed" in costs
    without_age = suppressed(anonymize(N_SITES=30, QUASI_IDENTIFIERS=["sex"]))
    assert f"without “age” {without_age:.3g} %" in costs
    page = report.read_text(encoding="utf-8")
    assert "Which attribute costs what" in page
    assert "Who is suppressed" in page
    assert worst in page
    if rules:
        coarser = suppressed(anonymize(N_SITES=30, HIERARCHY_RULES=rules, GENERALISE=["age", "1"]))
        assert f"with “age” one level coarser {coarser:.3g} %" in costs
        assert not [line for line in done.log if "HIERARCHY_RULES = " in line and "no effect" in line]
    else:
        assert "one level coarser" not in costs


def test_costs_go_on_from_the_level_that_is_shown(anonymize):
    once = anonymize(N_SITES=36, HIERARCHY_RULES=RULES, GENERALISE=["age", "1"], K=8)
    twice = anonymize(N_SITES=36, HIERARCHY_RULES=RULES, GENERALISE=["age", "2"], K=8)
    line = next(line for line in once.log if line.startswith("With these regions"))
    assert f"with “age” one level coarser {suppressed(twice):.3g} %" in line


def test_rules_have_no_effect_in_nested_levels_unless_something_is_coarser(anonymize):
    done = anonymize(RELEASE="nested levels", HIERARCHY_RULES=RULES)
    assert [line for line in done.log if line.startswith("HIERARCHY_RULES = ") and "has no effect" in line]


def test_the_evaluation_says_the_same(run, grid, anonymize):
    areas, records = grid
    whole = anonymize(N_SITES=30, HIERARCHY_RULES=RULES)
    given = {"REGIONS": areas, **REGIONS, "RECORDS": records, **RECORDS}
    rated = run("evaluate", **given, CROSSWALK=whole.layer("CROSSWALK"), HIERARCHY_RULES=RULES)
    for start in ("The group that loses most", "With these regions"):
        one, other = ([line for line in done.log if line.startswith(start)] for done in (whole, rated))
        assert one == other
        assert len(one) == 1


def test_nothing_is_said_where_nothing_is_lost(anonymize):
    done = anonymize(N_SITES=1)
    assert suppressed(done) == 0
    assert not [line for line in done.log if line.startswith(("The group that loses most", "With these regions"))]


def test_a_row_of_the_comparison_names_the_group_that_loses_most(run, grid):
    areas, records = grid
    given = {"REGIONS": areas, **REGIONS, "RECORDS": records, **RECORDS}
    done = run(
        "compare", **given, SITE_NUMBERS="given number", N_SITES=30, AGGREGATIONS="basic Voronoi", COMPARISON="memory:"
    )
    (row,) = done.rows("COMPARISON")
    assert row["worst_group"].partition(":")[0] in ("sex", "age")
    assert row["worst_group_percent"] > row["suppression_percent"] > 0
