"""SITE_NUMBER “suppression budget” in the forms that take it: the same number in all of them."""

from __future__ import annotations

import pytest
from qgis.core import QgsProcessingException

RECORDS = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}
BUDGET = {"SITE_NUMBER": "suppression budget", "BUDGET": 6.0}


@pytest.fixture
def layers(grid):
    areas, records = grid
    return {"areas": {"REGIONS": areas, "REGION_ID": "da"}, "records": {"RECORDS": records, **RECORDS}}


def note(done):
    return next(line for line in done.log if "the most found within a budget" in line)


@pytest.mark.parametrize(
    ("location", "aggregation"),
    [
        ("balanced density", "iterative Voronoi"),
        ("random", "basic Voronoi"),
        ("balanced density", "transportation-location"),
    ],
)
def test_the_step_gives_the_number_of_the_main_algorithm(run, layers, anonymize, location, aggregation):
    parts = {"SITE_LOCATION": location, "AGGREGATION": aggregation, "SEED": 4}
    whole = anonymize(**BUDGET, **parts)
    step = run("sitenumber", **layers["records"], **layers["areas"], **BUDGET, **parts)
    assert note(step) == note(whole)
    assert step.results["N_SITES"] >= whole.results["N_SITES"] > 1
    assert whole.results["SUPPRESSION_PERCENT"] <= 6
    assert not [line for line in whole.log if "more than the BUDGET" in line]


@pytest.mark.slow
def test_as_many_regions_as_the_budget_allows(anonymize):
    allowed = anonymize(**BUDGET).results["N_SITES"]
    given = [
        anonymize(SITE_NUMBER="given number", N_SITES=n).results["SUPPRESSION_PERCENT"] for n in range(allowed, 37)
    ]
    assert given[0] <= 6
    assert min(given[1:]) > 6


def test_a_larger_k_makes_fewer_regions(anonymize):
    numbers = [anonymize(**BUDGET, K=k).results["N_SITES"] for k in (2, 5, 12)]
    assert numbers[0] > numbers[1] > numbers[2]


def test_nothing_is_released_over_the_budget(anonymize):
    with pytest.raises(
        QgsProcessingException, match=r"BUDGET is 0 %, but at K = 400 it takes at least .* Nothing is rel"
    ):
        anonymize(SITE_NUMBER="suppression budget", BUDGET=0, K=400)


def test_what_comes_after_may_suppress_more_and_is_told(anonymize):
    done = anonymize(**BUDGET, PUBLISHED_MARGINS="sex, age")
    assert done.results["SUPPRESSION_PERCENT"] > 6
    assert any("more than the BUDGET of 6 %" in line for line in done.log)


def test_without_areas_the_step_says_what_is_missing(run, layers):
    with pytest.raises(QgsProcessingException, match="give REGIONS"):
        run("sitenumber", **layers["records"], **BUDGET)


def test_what_is_asked_of_sensitive_values_makes_fewer_regions(run, layers, anonymize):
    asked = {"SENSITIVE": ["diagnosis"], "L_DIVERSITY": 3, "K": 3}
    rows = anonymize(**BUDGET, K=3).results["N_SITES"]
    diverse = anonymize(**BUDGET, **asked)
    assert 1 < diverse.results["N_SITES"] < rows
    assert diverse.results["SUPPRESSION_PERCENT"] <= 6
    step = run("sitenumber", **layers["records"], **layers["areas"], **BUDGET, **asked)
    assert step.results["N_SITES"] == diverse.results["N_SITES"]


def test_nested_levels_start_from_the_regions_of_the_budget(anonymize):
    single = anonymize(**BUDGET)
    nested = anonymize(**BUDGET, RELEASE="nested levels", FINEST="configuration")
    assert nested.results["N_SITES"] == single.results["N_SITES"]


@pytest.mark.slow
def test_fair_keeps_groups_intact_and_counts_only_with_a_budget(anonymize):
    plain, fair = anonymize(**BUDGET), anonymize(**BUDGET, FAIR=["age"])
    assert fair.results["N_SITES"] <= plain.results["N_SITES"]
    assert "of the group of age that loses most" in note(fair)
    idle = anonymize(SITE_NUMBER="given number", N_SITES=3, FAIR=["age"])
    assert any(line.startswith("FAIR = age has no effect here") for line in idle.log)


def test_it_stands_in_a_comparison(run, layers, anonymize):
    done = run(
        "compare",
        **layers["areas"],
        **layers["records"],
        SITE_NUMBERS=["suppression budget"],
        AGGREGATIONS=["iterative Voronoi"],
        BUDGET=6,
        COMPARISON="memory:",
    )
    (row,) = done.rows("COMPARISON")
    assert row["n_sites"] == anonymize(**BUDGET).results["N_SITES"]
