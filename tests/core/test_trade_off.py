"""The searched trade-off: every node against its own search, the front against its definition, the row to choose."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.errors import Cancelled
from vbas.core.evaluation import Measures
from vbas.core.generalising import generalise_profile, make_hierarchy
from vbas.core.outcome import NESTED, Outcome, pareto_front, with_pareto
from vbas.core.profile import profile_records
from vbas.core.recommendation import balance, place_kept, with_recommendation
from vbas.core.records.columns import column_from_values
from vbas.core.site_number import SiteNumberOptions
from vbas.core.suppression import FAIR_FACTOR, Terms, group_shares, suppressed_by_class
from vbas.core.trade_off.outcomes import levels_in_words, trade_off_outcomes
from vbas.core.trade_off.search import Search, above, below, heights, n_nodes, walk

N_AREAS = 80


@pytest.fixture(scope="module")
def town():
    """Areas on a grid, records with three attributes, and hierarchies of 3, 2 and 3 levels."""
    rng = np.random.default_rng(2)
    points = np.argwhere(np.ones((10, 8))) * 100.0 + rng.uniform(-20, 20, (N_AREAS, 2))
    codes = rng.integers(0, N_AREAS, 6_000)
    values = {
        "age": rng.integers(0, 8, 6_000).tolist(),
        "sex": rng.choice(["F", "M"], 6_000).tolist(),
        "group": rng.choice(list("abcd"), 6_000, p=[0.8, 0.14, 0.04, 0.02]).tolist(),
    }
    columns = {name: column_from_values(column) for name, column in values.items()}
    profile, _ = profile_records(codes, columns, N_AREAS)
    hierarchies = {
        "age": make_hierarchy("age", profile.categories[0], [[str(v // 4) for v in profile.categories[0]], ["*"] * 8]),
        "sex": make_hierarchy("sex", profile.categories[1], [["*"] * 2]),
        "group": make_hierarchy("group", profile.categories[2], [["a", "bcd", "bcd", "bcd"], ["*"] * 4]),
    }
    return make_areas([f"{i:03d}" for i in range(N_AREAS)], points, profile.area_sizes), profile, hierarchies


def search_of(town, ks=(5,), budgets=(4.0,), **parts):
    areas, profile, hierarchies = town
    return Search(areas, profile, hierarchies, Configuration(**parts), ks, budgets)


def test_the_lattice_has_every_combination_of_levels_finer_ones_first(town):
    _, profile, hierarchies = town
    top = heights(profile.quasi_identifiers, hierarchies)
    assert top == (2, 1, 2)
    nodes = list(walk(top, lambda node: 0.0))
    assert len(nodes) == n_nodes(top) == 18
    assert set(nodes) == set(product(range(3), range(2), range(3)))
    for position, node in enumerate(nodes):
        assert set(below(node)) <= set(nodes[:position])
        assert set(above(node, top)) <= set(nodes[position:])


def test_of_a_large_lattice_the_best_of_each_step_are_followed():
    top = (3,) * 6
    nodes = list(walk(top, lambda node: float(node[0]), most=200))
    assert len(nodes) == len(set(nodes)) == 200 < n_nodes(top)
    assert nodes[0] == (0,) * 6
    assert all(sum(node) <= sum(after) for node, after in zip(nodes, nodes[1:]))
    assert max(node[0] for node in nodes) == 3
    assert len(list(walk((1,) * 3, lambda node: 0.0, most=7))) == 7


@pytest.mark.slow
@pytest.mark.parametrize("location", ["balanced density", "anonymity-driven clustering"])
def test_each_choice_is_what_a_search_of_that_node_alone_gives(town, location):
    areas, profile, hierarchies = town
    # Clustering looks at classes: its regions are those of the node.
    ks, budgets = ((5, 60), (1.0, 6.0)) if location == "balanced density" else ((60,), (1.0, 6.0))
    choices = list(search_of(town, ks, budgets, site_location=location).choices())
    assert len(choices) == 18 * len(ks) * len(budgets)
    for choice in choices:
        at_node, _ = generalise_profile(profile, hierarchies, choice.node)
        options = SiteNumberOptions(budget=choice.budget, k=choice.k)
        alone = Configuration("suppression budget", location, number_options=options)
        alone = replace(alone, location_options=replace(alone.location_options, k=choice.k))
        if not choice.n_sites:
            assert choice.percent > choice.budget
            continue
        run = aggregate(areas, at_node, alone)
        assert choice.n_sites == run.number.n_sites
        assert choice.percent <= choice.budget
        assert np.array_equal(choice.aggregation.crosswalk.region_of, run.aggregation.crosswalk.region_of)
    assert any(not choice.n_sites for choice in choices)
    assert max(choice.n_sites for choice in choices) == N_AREAS


def test_a_coarser_node_has_at_least_as_many_regions(town):
    found = {choice.node: choice.n_sites for choice in search_of(town).choices()}
    for node, n_sites in found.items():
        assert all(found[finer] <= n_sites for finer in below(node))


def test_rows_carry_what_their_node_gives_up_and_their_run_gives(town):
    areas, profile, _ = town
    outcomes = trade_off_outcomes(search_of(town))
    top = outcomes[-1]
    assert dict(top.generalised) == {"age": 2, "sex": 1, "group": 2}
    assert top.losses == (1.0, 1.0, 1.0)
    assert top.given_up == pytest.approx(1)
    bottom = outcomes[0]
    assert (bottom.losses, bottom.given_up, bottom.generalised) == ((0.0, 0.0, 0.0), 0.0, ())
    assert bottom.configuration is not None and bottom.crosswalk is not None and bottom.measures is not None
    again = replace(bottom.configuration, site_number="given number")
    run = aggregate(areas, profile, again)
    assert np.array_equal(run.aggregation.crosswalk.region_of, bottom.crosswalk.region_of)
    assert bottom.measures.n_regions == run.aggregation.crosswalk.n_regions
    assert levels_in_words(top.generalised) == "age at level 2, sex at level 1, group at level 2"


@pytest.mark.slow
def test_fair_looks_at_the_groups_of_the_records_however_coarse_they_are_shown(town):
    _, profile, hierarchies = town
    options = SiteNumberOptions(fair=("group",))
    plain = {c.node: c for c in search_of(town).choices()}
    fair = {c.node: c for c in search_of(town, number_options=options).choices()}
    assert any(fair[node].n_sites < plain[node].n_sites for node in plain)
    for node, choice in fair.items():
        if not choice.n_sites:
            continue
        _, class_of = generalise_profile(profile, hierarchies, node)
        suppressed = suppressed_by_class(profile, choice.aggregation.crosswalk, Terms(5), class_of)
        assert group_shares(profile, suppressed, "group", 5)[1].max() <= FAIR_FACTOR * 4


def test_a_row_that_no_number_of_regions_allows_is_never_on_the_front(town):
    outcomes = with_pareto(trade_off_outcomes(search_of(town, budgets=(0.0, 4.0))))
    none = [outcome for outcome in outcomes if outcome.measures is None]
    assert none
    assert all("it takes" in outcome.problem and not outcome.pareto for outcome in none)
    assert 0 < sum(outcome.pareto for outcome in outcomes) < len(outcomes) - len(none)


@pytest.mark.slow
def test_the_front_of_the_beam_lies_near_that_of_all_nodes(town):
    """Of a lattice of which only some nodes are looked at, the row to choose is as good as that of all."""
    _, profile, _ = town
    whole = with_recommendation(with_pareto(trade_off_outcomes(search_of(town))), profile, 5, 4.0)[0]
    some = with_recommendation(with_pareto(trade_off_outcomes(search_of(town), most=14)), profile, 5, 4.0)[0]
    assert len(some) == 14
    assert max(balance(o, profile) for o in some) == max(balance(o, profile) for o in whole if o.measures)
    fronts = [{o.generalised for o in rows if o.pareto} for rows in (whole, some)]
    assert len(fronts[0] & fronts[1]) >= 0.7 * len(fronts[0])


def test_cancelling_keeps_the_rows_so_far(town):
    def progress(fraction):
        if fraction > 0.5:
            raise Cancelled("stop")

    assert 0 < len(trade_off_outcomes(search_of(town), progress)) < 18


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=30))
def test_the_front_is_that_of_its_definition(rows):
    table = np.array(rows, dtype=float).reshape(-1, 3)
    by_hand = [
        not any(all(x <= y for x, y in zip(other, own)) and other != own for other in table.tolist())
        for own in table.tolist()
    ]
    assert pareto_front(table).tolist() == by_hand


def outcome(percent, distance, given_up=0.0, budget=None, k=5, family="given number", n_regions=3):
    m = Measures(n_regions, 1000, round(10 * percent), percent, 0.0, 0.0, 100.0, distance)
    return Outcome(
        family, "x", m, 0.0, configuration=Configuration(), k=k, budget=budget, given_up=given_up, losses=(given_up,)
    )


def front(*outcomes):
    return [one.pareto for one in with_pareto(outcomes)]


def test_a_row_that_is_worse_in_one_measure_and_no_better_in_another_is_off_the_front():
    assert front(outcome(1, 100), outcome(1, 200), outcome(2, 50)) == [True, False, True]
    assert front(outcome(1, 100), outcome(1, 100)) == [True, True]
    assert front(outcome(1, 100, 0.2), outcome(1, 100, 0.1)) == [False, True]


def test_rows_that_release_nothing_are_off_the_front():
    assert front(outcome(100, 0), outcome(1, 100)) == [False, True]
    assert front(outcome(100, 0)) == [False]
    assert front(outcome(1, 100, n_regions=0)) == [False]


def test_what_a_search_stays_below_its_budget_by_chance_counts_for_nothing():
    one, other = outcome(4.9, 100, 0.1, budget=5.0), outcome(4.8, 200, 0.1, budget=5.0)
    assert front(one, other) == [True, False]
    assert front(one, replace(other, budget=None)) == [True, True]
    # A row that beats in all beats whatever either was searched for.
    assert front(outcome(1.0, 100, budget=2.0), outcome(4.9, 100, budget=5.0)) == [True, False]


def test_another_k_and_nested_releases_are_not_held_against_each_other():
    assert front(outcome(1, 100), outcome(2, 200, k=10), outcome(0, 1, family=NESTED)) == [True, True, True]


def test_one_row_is_recommended_and_it_is_the_best_balanced_within_the_budget(town):
    _, profile, _ = town
    outcomes = with_pareto(trade_off_outcomes(search_of(town, budgets=(2.0, 6.0))))
    found, reason = with_recommendation(outcomes, profile, 5, 2.0)
    (best,) = [one for one in found if one.recommended]
    assert best.recommended == reason
    assert best.pareto
    assert best.measures is not None and best.measures.suppression_percent <= 2
    within = [o for o in outcomes if o.pareto and o.measures is not None and o.measures.suppression_percent <= 2]
    assert balance(best, profile) == max(balance(o, profile) for o in within)
    assert max(best.losses) < 1
    assert f"{best.measures.n_regions} regions" in reason
    assert f"keeps {100 * place_kept(best, profile):.0f} %" in reason


def test_where_no_row_is_within_the_budget_none_is_recommended_and_the_least_is_told(town):
    _, profile, _ = town
    found, reason = with_recommendation(with_pareto([outcome(3, 100), outcome(2.5, 300)]), profile, 5, 1.0)
    assert not any(one.recommended for one in found)
    assert "the least is 2.5 %" in reason
    assert with_recommendation([], profile, 5, 1.0)[0] == []


def test_of_rows_at_several_k_the_one_at_this_k_is_recommended(town):
    _, profile, _ = town
    found, _ = with_recommendation(with_pareto([outcome(0.5, 9, k=10), outcome(0.5, 100)]), profile, 5, 1.0)
    assert [bool(one.recommended) for one in found] == [False, True]


def lost_in_all_periods(profile, region_of, k, period):
    """Per cent suppressed, counted one by one: all of a class of a region that has 1 to k - 1 in some period."""
    at, names = profile.quasi_identifiers.index(period), [list(of) for of in profile.categories]
    counts, held = profile.counts.toarray(), defaultdict[tuple, Counter](Counter)
    for area, class_of in zip(*np.nonzero(counts)):
        values = [names[i][code] for i, code in enumerate(profile.classes[class_of])]
        when = values.pop(at)
        held[region_of[area], tuple(values)][when] += int(counts[area, class_of])
    lost = sum(sum(of.values()) for of in held.values() if any(n < k for n in of.values()))
    return 100 * lost / counts.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "ks", "budgets", "height"),
    [("iterative Voronoi", (5, 8), (10.0, 40.0), 1), ("anonymity exchange", (5,), (40.0,), 0)],
)
def test_what_is_the_same_in_all_periods_is_searched_for_so(how, ks, budgets, height):
    rng, n = np.random.default_rng(5), 12
    points = np.argwhere(np.ones((4, 3))) * 100.0
    values = {"age": rng.integers(0, 4, 900).tolist(), "year": rng.integers(2020, 2023, 900).tolist()}
    columns = {name: column_from_values(column) for name, column in values.items()}
    profile, _ = profile_records(rng.integers(0, n, 900), columns, n)
    areas = make_areas([f"{i:02d}" for i in range(n)], points, profile.area_sizes)
    few = {"age": make_hierarchy("age", profile.categories[0], [["0-1", "0-1", "2-3", "2-3"]] * height)}
    settings_ = Configuration(aggregation=how)
    search = Search(areas, profile, few, settings_, ks, budgets, period="year")
    chosen = list(search.choices())
    assert {choice.node for choice in chosen} == {(level, 0) for level in range(height + 1)}
    assert any(choice.n_sites > 1 for choice in chosen)
    by_itself = {(c.node, c.k, c.budget): c for c in replace(search, period="").choices()}
    assert any(c.percent != by_itself[c.node, c.k, c.budget].percent for c in chosen)
    for choice in chosen:
        if choice.aggregation is not None:
            of = choice.aggregation.crosswalk.region_of
            assert choice.percent == pytest.approx(lost_in_all_periods(choice.profile, of, choice.k, "year"))
            assert choice.percent <= choice.budget
    for outcome, choice in zip(trade_off_outcomes(search), chosen):
        if outcome.measures is not None:
            assert outcome.measures.suppression_percent == pytest.approx(choice.percent)
