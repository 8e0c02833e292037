"""The number of sites that a budget allows: found by few trials, never above the budget, never a larger one missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.comparison import compare
from vbas.core.configuration import Configuration, Trials, aggregate
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import Cancelled, InputError
from vbas.core.evaluation import evaluate
from vbas.core.plan import suppress
from vbas.core.privacy.diversity import shares_of
from vbas.core.privacy.requirement import Requirement, members_of
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values
from vbas.core.site_number import APPROACHES, SiteNumberOptions
from vbas.core.site_number.suppression_budget import MOST_EVALUATIONS, most_within, numbers_tried
from vbas.core.suppression import (
    FAIR_FACTOR,
    Terms,
    class_weights,
    group_shares,
    held_against_budget,
    suppressed_by_class,
    suppression_percent,
)


def town(seed=0, n_areas=60, n_records=4_000):
    """Areas on a grid, and records with two quasi-identifiers, of which one has rare values."""
    rng = np.random.default_rng(seed)
    points = np.argwhere(np.ones((n_areas // 6, 6))) * 100.0 + rng.uniform(-20, 20, (n_areas, 2))
    codes = rng.integers(0, n_areas, n_records)
    columns = {
        "age": column_from_values(rng.integers(0, 8, n_records).tolist()),
        "group": column_from_values(rng.choice(list("abcd"), n_records, p=[0.8, 0.15, 0.04, 0.01]).tolist()),
    }
    profile, cell_of = profile_records(codes, columns, n_areas)
    return make_areas([f"{i:03d}" for i in range(n_areas)], points, profile.area_sizes), profile, cell_of


def budget_of(percent, k=5, fair=(), **parts):
    options = SiteNumberOptions(budget=percent, k=k, fair=fair)
    return Configuration("suppression budget", number_options=options, **parts)


def suppressed_at(areas, profile, configuration, n_sites, k=5):
    given_number = replace(configuration, site_number="given number", number_options=SiteNumberOptions(n_sites=n_sites))
    run = aggregate(areas, profile, given_number)
    plan = suppress(profile, run.aggregation.crosswalk, k)
    return 100.0 * (profile.n_records - plan.n_released) / profile.n_records


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0.5, 2, 5, 12])
@pytest.mark.parametrize("aggregation", ["basic Voronoi", "iterative Voronoi", "site optimisation"])
def test_no_number_of_all_tried_one_by_one_is_larger(budget, aggregation):
    areas, profile, _ = town()
    configuration = budget_of(budget, aggregation=aggregation)
    one_by_one = {n: suppressed_at(areas, profile, configuration, n) for n in range(1, len(areas) + 1)}
    run = aggregate(areas, profile, configuration)
    assert run.number.n_sites == most_within(one_by_one, budget)
    assert suppressed_at(areas, profile, configuration, run.number.n_sites) <= budget


def test_what_is_released_is_what_was_tried():
    areas, profile, _ = town()
    run = aggregate(areas, profile, budget_of(4))
    again = replace(
        budget_of(4), site_number="given number", number_options=SiteNumberOptions(n_sites=run.number.n_sites)
    )
    assert np.array_equal(
        run.aggregation.crosswalk.region_of, aggregate(areas, profile, again).aggregation.crosswalk.region_of
    )
    assert f"{run.number.n_sites} sites suppress" in run.notes[0]
    assert "Tried, with per cent suppressed: 1 (" in run.notes[0]


def test_k_and_the_budget_drive_the_number():
    areas, profile, _ = town()
    numbers = [aggregate(areas, profile, budget_of(5, k)).number.n_sites for k in (2, 5, 20)]
    assert numbers[0] > numbers[1] > numbers[2]
    numbers = [aggregate(areas, profile, budget_of(budget)).number.n_sites for budget in (100, 10, 3)]
    assert numbers[0] == len(areas)
    assert numbers[0] > numbers[1] > numbers[2]


@settings(max_examples=300, deadline=None)
@given(
    st.integers(1, 60_000),
    st.floats(0.05, 60.0),
    st.floats(0.2, 1.5),
    st.floats(1e-6, 30.0),
    st.integers(0, 2**32 - 1),
)
def test_few_numbers_are_tried_and_each_once(largest, budget, power, at_one, seed):
    noise = np.random.default_rng(seed)
    calls = []

    def suppression(number, progress):
        assert 1 <= number <= largest
        calls.append(number)
        return min(at_one * number**power * float(noise.uniform(0.97, 1.03)), 100.0)

    tried = numbers_tried(suppression, largest, budget)
    assert len(calls) == len(set(calls)) == len(tried) <= MOST_EVALUATIONS
    found = most_within(tried, budget)
    if found:
        # Within the noise of where the curve meets the budget.
        meets = min((budget / at_one) ** (1 / power), float(largest))
        assert found >= min(meets, largest) * 0.97 ** (1 / power) - 1 or budget >= 100
        assert found == largest or found + 1 in tried or len(tried) == MOST_EVALUATIONS
    else:
        assert tried[1] > budget


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 20_000), st.integers(0, 20_000))
def test_of_a_strictly_growing_suppression_the_very_number_is_found(largest, meets):
    tried = numbers_tried(lambda number, progress: number - 0.5, largest, meets)
    assert most_within(tried, meets) == min(meets, largest)


def test_a_budget_that_is_met_to_the_point_is_kept():
    assert most_within(numbers_tried(lambda n, progress: float(n), 100, 7.0), 7.0) == 7
    assert most_within(numbers_tried(lambda n, progress: 0.0, 100, 0.0), 0.0) == 100


def test_a_larger_number_just_above_a_bad_one_is_not_missed():
    bad = {50, 52}
    tried = numbers_tried(lambda n, progress: 9.0 if n in bad or n > 53 else 0.01 * n, 400, 1.0)
    assert most_within(tried, 1.0) == 53


def test_a_budget_that_not_even_one_region_keeps_is_refused_with_what_it_takes():
    areas, profile, _ = town(n_records=300)
    least = suppressed_at(areas, profile, budget_of(1), 1, 20)
    with pytest.raises(
        InputError, match=f"BUDGET is 0.5 %, but at K = 20 it takes at least {least:.3g} %.*Nothing is released"
    ):
        aggregate(areas, profile, budget_of(0.5, 20))


@pytest.mark.parametrize("budget", [-1, 101, float("nan")])
def test_a_budget_that_is_no_share_is_refused(budget):
    areas, profile, _ = town(n_records=300)
    with pytest.raises(InputError, match="BUDGET is"):
        aggregate(areas, profile, budget_of(budget))


def test_without_areas_a_sentence_says_what_is_needed():
    _, profile, _ = town(n_records=300)
    with pytest.raises(InputError, match="give REGIONS"):
        APPROACHES["suppression budget"](profile, ["a"], SiteNumberOptions())


def test_records_of_no_known_area_count_against_the_budget():
    areas, profile, _ = town()
    plain = aggregate(areas, profile, budget_of(5)).number.n_sites
    lost = aggregate(areas, profile, budget_of(5), terms=Terms(n_unmatched=150)).number.n_sites
    assert lost < plain
    run = aggregate(areas, profile, budget_of(5), terms=Terms(n_unmatched=150))
    measures, _ = evaluate(
        areas, suppress(profile, run.aggregation.crosswalk, 5), run.aggregation.sites, n_unmatched=150
    )
    assert measures.suppression_percent <= 5
    with pytest.raises(InputError, match="Nothing is released"):
        aggregate(areas, profile, budget_of(5), terms=Terms(n_unmatched=1_000))


def test_what_more_is_asked_of_a_class_counts_too():
    areas, profile, cell_of = town()
    rng = np.random.default_rng(5)
    persons = members_of("persons", cell_of, rng.integers(0, 700, len(cell_of)))
    diagnosis = shares_of("diagnosis", cell_of, rng.integers(0, 3, len(cell_of)), None)
    requirement = Requirement(5, (persons,), (diagnosis,), l_diversity=3)
    terms = Terms(5, requirement)
    run = aggregate(areas, profile, budget_of(6), terms=terms)
    assert run.number.n_sites < aggregate(areas, profile, budget_of(6)).number.n_sites
    plan = suppress(profile, run.aggregation.crosswalk, 5, requirement)
    assert 100 * (profile.n_records - plan.n_released) <= 6 * profile.n_records


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 9), st.booleans(), st.booleans())
def test_counts_are_those_of_the_plan(seed, k, persons, left_out):
    _, profile, cell_of = town(seed, 12, 150)
    rng = np.random.default_rng(seed)
    region_of = rng.integers(-1 if left_out else 0, 3, 12)
    region_of[:3] = range(3)
    crosswalk = Crosswalk(region_of, 3)
    members = members_of("persons", cell_of, rng.integers(0, 60, 150))
    requirement = Requirement(k, (members,) if persons else ())
    plan = suppress(profile, crosswalk, k, requirement)
    expected = profile.class_sizes - np.bincount(
        plan.class_of[plan.released], plan.records[plan.released], len(profile.classes)
    )
    found = suppressed_by_class(profile, crosswalk, Terms(k, requirement))
    assert found.tolist() == expected.tolist()
    # Each class as its own coarser class is the same; all as one are shown where a region has k.
    assert (
        suppressed_by_class(profile, crosswalk, Terms(k, requirement), np.arange(len(found))).tolist() == found.tolist()
    )
    if not persons:
        together = suppressed_by_class(profile, crosswalk, Terms(k), np.zeros(len(found), np.int64))
        sizes = crosswalk.totals(profile.area_sizes)
        assert together.sum() == profile.n_records - sizes[sizes >= k].sum()


def test_with_fair_no_group_loses_more_than_its_multiple_of_the_budget():
    areas, profile, _ = town()
    terms = Terms(5)
    fair = aggregate(areas, profile, budget_of(9, fair=("group",)))
    plain = aggregate(areas, profile, budget_of(9))
    assert fair.number.n_sites < plain.number.n_sites
    assert "those of the group of group that loses most" in fair.notes[0]
    # What is held against the budget is no share of the records.
    assert "suppress" in plain.notes[0] and "suppress" not in fair.notes[0]
    suppressed = suppressed_by_class(profile, fair.aggregation.crosswalk, terms)
    assert group_shares(profile, suppressed, "group", 5)[1].max() <= FAIR_FACTOR * 9
    assert suppression_percent(profile, suppressed, terms) <= 9
    beyond = suppressed_by_class(profile, plain.aggregation.crosswalk, terms)
    worst = group_shares(profile, beyond, "group", 5)[1].max()
    assert worst > FAIR_FACTOR * 9
    assert held_against_budget(profile, beyond, terms, ["group"]) == pytest.approx(worst / FAIR_FACTOR)
    with pytest.raises(InputError, match="FAIR names “sex”"):
        aggregate(areas, profile, budget_of(9, fair=("sex",)))


def test_weights_make_all_groups_weigh_the_same():
    values = ["a"] * 90 + ["b"] * 10 + ["c"] * 2
    profile, _ = profile_records(np.zeros(102, int), {"group": column_from_values(values)}, 1)
    weights = class_weights(profile, ["group"], 5)
    sizes = profile.class_sizes
    assert weights @ sizes == pytest.approx(sizes.sum())
    by_value = {profile.categories[0][code]: weight for (code,), weight in zip(profile.classes, weights)}
    assert by_value["a"] * 90 == pytest.approx(by_value["b"] * 10)
    assert by_value["c"] == 1  # suppressed whatever the regions are
    assert class_weights(profile, [], 5).tolist() == [1, 1, 1]


def test_groups_below_k_are_not_counted_among_those_that_lose():
    values = ["a"] * 20 + ["b"] * 4
    profile, _ = profile_records(np.zeros(24, int), {"group": column_from_values(values)}, 1)
    codes, shares = group_shares(profile, profile.class_sizes, "group", 5)
    assert profile.categories[0][codes].tolist() == ["a"]
    assert shares.tolist() == [100.0]


def test_sites_are_located_once_per_number():
    areas, profile, _ = town()
    located: dict = {}
    aggregate(areas, profile, budget_of(4), located=located)
    before = len(located)
    aggregate(areas, profile, budget_of(4, aggregation="basic Voronoi"), located=located)
    trials = Trials(areas, profile, budget_of(4), located)
    assert trials.parts(3) is trials.parts(3)
    assert before <= len(located) <= MOST_EVALUATIONS + before


def test_it_stands_in_a_comparison_and_a_failure_is_told():
    areas, profile, _ = town()
    found, failed = (compare(areas, profile, [budget_of(percent)], 5)[0] for percent in (4, 0))
    assert found.measures is not None and found.measures.suppression_percent <= 4
    assert "Nothing is released" in failed.problem


def test_trying_is_cancelled_between_two_numbers():
    areas, profile, _ = town()

    def progress(fraction):
        assert 0 <= fraction <= 1
        if fraction > 0.1:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        aggregate(areas, profile, budget_of(4), progress)
