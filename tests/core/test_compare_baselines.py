"""Baselines among the configurations of a comparison."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.baselines import BASELINES, BaselineOptions
from vbas.core.comparison import Outcome, compare
from vbas.core.configuration import Configuration
from vbas.core.errors import Cancelled
from vbas.core.evaluation import Measures, evaluate
from vbas.core.nesting.making import RECIPES
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.profile import profile_records
from vbas.core.report.comparison import PICTURED, comparison_report
from vbas.core.report.provenance import Provenance
from vbas.core.site_number import SiteNumberOptions

from .strategies import column_from_array


@pytest.fixture(scope="module")
def town():
    """8 x 8 areas of 40 records each, and their profile."""
    rng = np.random.default_rng(5)
    points = np.array([(x, y) for y in range(8) for x in range(8)], float) * 500
    regions = make_areas([f"46{i // 16}{i:02d}" for i in range(64)], points, np.full(64, 40))
    codes = np.repeat(np.arange(64), 40)
    columns = {name: column_from_array(rng.integers(0, n, len(codes))) for name, n in (("sex", 2), ("age", 9))}
    return regions, profile_records(codes, columns, 64)[0]


VBAS = Configuration("given number", "balanced density", "iterative Voronoi", SiteNumberOptions(n_sites=8))


def rated(outcome: Outcome) -> Measures:
    assert outcome.measures is not None, outcome.problem
    return outcome.measures


def test_each_baseline_is_rated_at_the_k_of_the_comparison(town):
    regions, profile = town
    options = BaselineOptions(cutoff=200, characters=3, hierarchy=["x", "y"] * 32, budget=5, k=99)
    outcomes = compare(regions, profile, [VBAS], 5, baselines=list(BASELINES), baseline_options=options)
    assert [outcome.name for outcome in outcomes[1:]] == [f"baseline · {name}" for name in BASELINES]
    assert not any(outcome.problem for outcome in outcomes)
    for outcome in outcomes[1:]:
        assert outcome.crosswalk is not None
        sites = outcome.crosswalk.mean_centres(regions.points)
        assert evaluate(regions, suppress(profile, outcome.crosswalk, 5), sites)[0] == outcome.measures
    regions_of = {outcome.title: rated(outcome).n_regions for outcome in outcomes[1:]}
    assert (regions_of["static cut-off"], regions_of["cropping"], regions_of["hierarchy"]) == (0, 4, 2)
    budgeted = rated(outcomes[-1])
    assert 0 < budgeted.suppression_percent <= 5
    page = comparison_report(outcomes, [5], 6, Provenance(), [])
    assert all(f"baseline · {name}" in page for name in BASELINES)


def test_rows_and_bars_of_several_k_say_which(town):
    regions, profile = town
    outcomes = [one for k in (5, 10) for one in compare(regions, profile, [VBAS], k)]
    for ks, several in (([5, 10], True), ([5], False)):
        page = comparison_report(outcomes[: len(ks)], ks, len(ks), Provenance(), [])
        assert (">k</th>" in page) == several
        assert page.count("given number, k = 10<") == (len(PICTURED) if several else 0)


def test_a_baseline_that_lacks_something_says_so_and_the_others_go_on(town):
    regions, profile = town
    outcomes = compare(
        regions,
        profile,
        [],
        5,
        baselines=["hierarchy", "crystal ball", "cropping"],
        baseline_options=BaselineOptions(characters=3),
    )
    assert ["HIERARCHY is not given" in o.problem for o in outcomes] == [True, False, False]
    assert "BASELINES “crystal ball” is unknown" in outcomes[1].problem
    assert rated(outcomes[2]).n_regions == 4
    assert outcomes[2].pareto


def test_cancelling_keeps_what_is_finished(town):
    def stop(fraction):
        if fraction > 0.6:
            raise Cancelled("Cancelled.")

    regions, profile = town
    options = BaselineOptions(cutoff=200, characters=3)
    outcomes = compare(regions, profile, [VBAS], 5, 0, stop, ["cropping", "adjacent merging"], options)
    assert [outcome.name for outcome in outcomes] == [
        "given number · balanced density · iterative Voronoi",
        "baseline · cropping",
    ]
    assert [outcome.configuration for outcome in outcomes] == [VBAS, None]


def test_nested_releases_stand_in_a_comparison_with_the_measures_of_their_plans(town):
    regions, profile = town
    settings = Configuration(number_options=SiteNumberOptions(gaps_region="Western Canada"))
    outcomes = compare(regions, profile, [VBAS], 5, 3, nested=list(RECIPES), settings=settings)
    assert [outcome.name for outcome in outcomes[1:]] == [f"nested · {name}" for name in RECIPES]
    for outcome, recipe in zip(outcomes[1:], RECIPES.values()):
        levels = recipe(regions, profile, settings)
        expected, _ = evaluate(regions, nest(regions, profile, levels, 5), n_unmatched=3)
        assert outcome.measures == expected
    assert rated(outcomes[1]).n_suppressed <= min(rated(outcomes[0]).n_suppressed, rated(outcomes[2]).n_suppressed)
    assert "nested · from the areas up" in comparison_report(outcomes, [5], 3, Provenance(), [])


def test_a_nested_release_that_cannot_be_made_says_so_in_its_row(town):
    regions, profile = town
    outcomes = compare(regions, profile, [], 5, nested=["areas and all-rounder", "none such"])
    assert outcomes[1].measures is None
    assert "NESTED “none such” is unknown" in outcomes[1].problem
