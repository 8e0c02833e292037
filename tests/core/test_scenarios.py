"""Scenario runs: selections against all there are, parts against records counted anew, averages against a recount."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas.core.adjacency import adjacency_of_pairs
from vbas.core.areas import make_areas
from vbas.core.comparison import compare
from vbas.core.configuration import Configuration
from vbas.core.errors import Cancelled, InputError
from vbas.core.evaluation import Measures
from vbas.core.outcome import Outcome
from vbas.core.profile import Profile, profile_records
from vbas.core.records.columns import column_from_values
from vbas.core.report.objectives import scenario_sections
from vbas.core.scenarios.averages import scenario_averages
from vbas.core.scenarios.parts import areas_within, parts_by_value, profile_within, random_selections
from vbas.core.scenarios.runs import EVERYWHERE, Scenario, ScenarioRun, run_scenarios
from vbas.core.site_number import SiteNumberOptions

N_AREAS = 30
ATTRIBUTES = ("age", "sex", "group")


@pytest.fixture(scope="module")
def records():
    """People by area, with three attributes; “rare” is found in the first area alone."""
    rng = np.random.default_rng(4)
    n = 3_000
    area = rng.integers(0, N_AREAS, n)
    group = rng.choice(list("abc"), n, p=[0.8, 0.15, 0.05]).astype(object)
    group[np.flatnonzero(area == 0)[:7]] = "rare"
    columns = {"age": rng.integers(0, 6, n).astype(object), "sex": rng.choice(["F", "M"], n).astype(object)}
    return area, {**columns, "group": group}


def counted(area, columns, n_areas) -> Profile:
    by_name = {name: column_from_values(values.tolist()) for name, values in columns.items()}
    return profile_records(area, by_name, n_areas)[0]


@pytest.fixture(scope="module")
def country(records):
    """Areas in a row of five by six, with the profile of all records."""
    points = np.argwhere(np.ones((5, 6))) * 1000.0 + np.random.default_rng(1).uniform(-99, 99, (N_AREAS, 2))
    area, columns = records
    profile = counted(area, columns, N_AREAS)
    return make_areas([f"{i:02d}" for i in range(N_AREAS)], points, profile.area_sizes), profile


def by_class(profile) -> list[dict[tuple, int]]:
    """Records of each class by its values, area by area."""
    counts = profile.counts.toarray()
    classes = [tuple(categories[code] for code, categories in zip(row, profile.categories)) for row in profile.classes]
    return [{name: int(n) for name, n in zip(classes, row) if n} for row in counts]


# ---- selections


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 6), st.integers(1, 60), st.integers(0, 5))
def test_selections_are_different_and_of_the_sizes_asked_for(n, least, most, number, seed):
    attributes = [f"a{i}" for i in range(n)]
    if least > min(n, most):
        with pytest.raises(InputError, match="cannot be drawn"):
            random_selections(attributes, number, least, most, seed)
        return
    possible = {chosen for size in range(least, min(n, most) + 1) for chosen in combinations(attributes, size)}
    drawn = random_selections(attributes, number, least, most, seed)
    assert len(drawn) == len(set(drawn)) == min(number, len(possible))
    assert set(drawn) <= possible
    assert drawn == random_selections(attributes, number, least, most, seed)
    if number < len(possible):
        assert random_selections(attributes, max(number // 2, 1), least, most, seed) == drawn[: max(number // 2, 1)]


# ---- parts


def test_parts_are_those_of_their_values_and_areas_without_one_are_in_none():
    parts = parts_by_value(["46", 47, "46", None, 47.0, "", float("nan"), "46"])
    assert {name: members.tolist() for name, members in parts.items()} == {"46": [0, 2, 7], "47": [1, 4]}


@pytest.mark.parametrize("attributes", [("age",), ("group", "sex"), ATTRIBUTES])
@pytest.mark.parametrize("members", [np.arange(N_AREAS), np.array([3, 4, 5, 20]), np.arange(1, N_AREAS, 2)])
def test_a_part_is_what_its_records_alone_would_give(country, records, members, attributes):
    area, columns = records
    inside = np.isin(area, members)
    own = {name: columns[name][inside] for name in attributes}
    alone = counted(np.searchsorted(members, area[inside]), own, len(members))
    within = profile_within(country[1], members, attributes)
    assert within.quasi_identifiers == attributes
    assert by_class(within) == by_class(alone)
    assert [set(values) for values in within.categories] == [set(values) for values in alone.categories]
    assert within.counts.shape == alone.counts.shape
    assert within.counts.has_sorted_indices
    if 0 not in members and "group" in attributes:
        assert not any("rare" in values for values in within.categories)


def test_areas_of_a_part_keep_the_neighbours_that_they_have_there(country):
    areas, _ = country
    pairs = [(i, j) for i, j in combinations(range(N_AREAS), 2) if (i * 7 + j) % 5 == 0]
    first, second = np.array(pairs).T
    borders = np.arange(len(pairs), dtype=float)
    whole = replace(areas, neighbours=adjacency_of_pairs(first, second, borders, N_AREAS))
    members = np.array([1, 4, 5, 9, 17, 28])
    part = areas_within(whole, members)
    assert part.identifiers.tolist() == [f"{i:02d}" for i in members]
    assert np.array_equal(part.population, areas.population[members])
    assert part.neighbours is not None
    expected = {
        (int(np.searchsorted(members, i)), int(np.searchsorted(members, j)), length)
        for (i, j), length in zip(pairs, borders)
        if {i, j} <= set(members.tolist())
    }
    assert expected
    got = zip(part.neighbours.owners.tolist(), part.neighbours.others.tolist(), part.neighbours.borders.tolist())
    assert sorted(pair for pair in got if pair[0] < pair[1]) == sorted(expected)
    assert areas_within(areas, members).neighbours is None


# ---- runs


def asked_for(n_sites=(4, 7)):
    return [
        Configuration("given number", "balanced density", "basic Voronoi", SiteNumberOptions(n_sites=n))
        for n in n_sites
    ]


def test_each_run_is_the_comparison_over_the_records_of_the_part_alone(country, records):
    areas, profile = country
    parts = {"north": np.arange(12), "south": np.arange(12, N_AREAS)}
    selections = [("age", "sex"), ("group",)]
    runs = run_scenarios(areas, profile, parts, selections, {5: asked_for(), 9: asked_for()}, n_unmatched=11)
    expected = [(Scenario(part, chosen), k) for part in parts for chosen in selections for k in (5, 9)]
    assert [(run.scenario, run.k) for run in runs] == expected
    area, columns = records
    for run in runs:
        members = parts[run.scenario.part]
        inside = np.isin(area, members)
        own = {name: columns[name][inside] for name in run.scenario.attributes}
        alone = counted(area[inside] - members[0], own, len(members))
        there = make_areas(areas.identifiers[members], areas.points[members], alone.area_sizes)
        again = compare(there, alone, asked_for(), run.k)
        assert [outcome.measures for outcome in run.outcomes] == [outcome.measures for outcome in again]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_of_a_part_in_which_nobody_lives_by_its_population_it_is_a_sentence(country):
    areas, profile = country
    members = np.arange(6)
    empty = replace(areas, population=np.where(np.arange(N_AREAS) < 6, 0.0, areas.population))
    pairs = np.arange(N_AREAS - 1)
    empty = replace(empty, neighbours=adjacency_of_pairs(pairs, pairs + 1, np.ones(len(pairs)), N_AREAS))
    wanted = [
        Configuration(site_location=location, aggregation=aggregation)
        for location, aggregation in (("", "population floor"), ("balanced density", "basic Voronoi"))
    ]
    (run,) = run_scenarios(empty, profile, {"empty": members}, [("age", "sex")], {5: wanted})
    floor, voronoi = run.outcomes
    assert floor.problem.startswith("POPULATION is 0 in every area")
    assert voronoi.measures is not None and voronoi.measures.n_records == int(profile.area_sizes[:6].sum())


def test_without_parts_all_areas_are_one_and_records_of_no_area_count(country):
    areas, profile = country
    (run,) = run_scenarios(areas, profile, {}, [ATTRIBUTES], {5: asked_for()}, n_unmatched=11)
    assert run.scenario == Scenario(EVERYWHERE, ATTRIBUTES)
    expected = [outcome.measures for outcome in compare(areas, profile, asked_for(), 5, 11)]
    assert [outcome.measures for outcome in run.outcomes] == expected


def test_a_budget_is_fair_to_the_groups_that_are_selected(country):
    areas, profile = country
    options = SiteNumberOptions(budget=10.0, fair=("sex", "group"))
    fair = Configuration("suppression budget", "balanced density", "basic Voronoi", options)
    run, both = run_scenarios(areas, profile, {}, [("age", "sex"), ("sex", "group")], {5: [fair]})
    assert not any(outcome.problem for outcome in (*run.outcomes, *both.outcomes))
    alone = replace(fair, number_options=replace(options, fair=("sex",)))
    expected = compare(areas, profile_within(profile, np.arange(N_AREAS), ("age", "sex")), [alone], 5)
    assert run.outcomes[0].measures == expected[0].measures


@pytest.mark.parametrize("allowed", [0, 1, 2, 3])
def test_cancelling_keeps_whole_scenarios(country, allowed):
    areas, profile = country

    def stop(fraction):
        if fraction > allowed / 3:
            raise Cancelled("stop")

    selections = [("age",), ("sex",), ("group",)]
    runs = run_scenarios(areas, profile, {}, selections, {5: asked_for()}, stop)
    assert [run.scenario.attributes for run in runs] == selections[:allowed]
    assert all(len(run.outcomes) == 2 for run in runs)


# ---- averages


def outcome_of(suppressed, n_sites=3, compactness=10.0, seconds=1.0, n_records=100):
    distance = 5.0 if suppressed < n_records else 0.0
    measures = Measures(n_sites, n_records, suppressed, 100.0 * suppressed / n_records, compactness, 8.0, 2.0, distance)
    return Outcome("given number", "x", measures, seconds)


FAILED = Outcome("given number", "x", None, 0.1, problem="no")


def runs_of(*columns, part="p", k=5) -> list[ScenarioRun]:
    first, second = asked_for()
    return [ScenarioRun(Scenario(part, (f"a{i}",)), k, (first, second), pair) for i, pair in enumerate(zip(*columns))]


def test_averages_leave_out_what_failed_and_shares_are_of_the_first_in_each_scenario():
    firsts = [outcome_of(10), outcome_of(0), FAILED, outcome_of(40)]
    seconds = [outcome_of(5, 2, 20.0), outcome_of(3, 4, 30.0), outcome_of(100, 9), FAILED]
    first_row, other_row = scenario_averages(runs_of(firsts, seconds))
    assert (first_row.n_scenarios, first_row.n_failed) == (3, 1)
    assert (other_row.n_scenarios, other_row.n_failed) == (3, 1)
    sites = other_row.values["n_sites"]
    assert sites is not None
    assert (sites.mean, sites.least, sites.most) == (5, 2, 9)
    share = other_row.values["suppressed_of_first"]
    assert share is not None  # the second scenario's first suppresses nothing, the third's failed
    assert (share.mean, share.least, share.most) == (50, 50, 50)
    far = other_row.values["compactness_of_first"]
    assert far is not None
    assert (far.mean, far.least, far.most) == (250, 200, 300)
    distance = other_row.values["mean_distance"]
    assert distance is not None
    assert distance.mean == 5  # where all is suppressed there is none, and 0 would say that it was small
    (all_failed, _) = scenario_averages(runs_of([FAILED], [FAILED]))
    assert (all_failed.n_scenarios, all_failed.n_failed) == (0, 1)
    assert set(all_failed.values.values()) == {None}
    assert scenario_averages([]) == []


def test_all_parts_together_come_last_and_count_every_scenario_the_same():
    runs = [
        *runs_of([outcome_of(10)] * 3, [outcome_of(20)] * 3, part="north"),
        *runs_of([outcome_of(50)], [outcome_of(60)], part="south"),
    ]
    rows = scenario_averages(runs)
    assert [row.part for row in rows] == ["north", "north", "south", "south", EVERYWHERE, EVERYWHERE]
    suppressed = [row.values["suppression_percent"] for row in rows]
    assert [average and average.mean for average in suppressed] == [10, 20, 50, 60, 20, 30]
    section, drawn = scenario_sections(rows, [("age", "sex")], 4, 6)
    assert "4 scenarios of 6" in section.paragraphs[0]
    assert [row[0] for row in section.rows] == ["north", "north", "south", "south", "all", "all"]
    assert section.rows[5][6] == "30.00 (20.00 to 60.00)"
    assert drawn.rows == [(1, "age, sex")]
    assert scenario_sections([], [("age",)], 0, 6) == []


MEASURES: dict[str, Callable[[Measures], float]] = {
    "n_sites": lambda m: m.n_regions,
    "suppression_percent": lambda m: m.suppression_percent,
    "compactness": lambda m: m.compactness,
    "discernibility": lambda m: m.discernibility,
    "non_uniform_entropy": lambda m: m.non_uniform_entropy,
    "mean_distance": lambda m: m.mean_distance,
}


def test_averages_of_real_runs_are_a_plain_recount(country):
    areas, profile = country
    parts = {"north": np.arange(12), "south": np.arange(12, N_AREAS)}
    selections = random_selections(ATTRIBUTES, 3, 2, 3)
    runs = run_scenarios(areas, profile, parts, selections, {5: asked_for()})
    rows = scenario_averages(runs)
    for row in rows:
        position = asked_for().index(row.configuration)
        of_part = [run for run in runs if row.part in (run.scenario.part, EVERYWHERE)]
        for name, measure in MEASURES.items():
            values = [measure(m) for run in of_part if (m := run.outcomes[position].measures)]
            average = row.values[name]
            assert average is not None
            assert average.mean == pytest.approx(sum(values) / len(values))
            assert (average.least, average.most) == (min(values), max(values))
            assert row.n_scenarios == len(values) == len(selections) * (1 if row.part else 2)


def test_what_is_the_same_in_all_periods_is_so_in_each_scenario(country):
    areas, profile = country
    chosen = Configuration("given number", "balanced density", "iterative Voronoi", SiteNumberOptions(n_sites=6))
    selections = [("age", "group"), ("sex", "group")]
    for period in ("", "group"):
        for run in run_scenarios(areas, profile, {}, selections, {5: [chosen]}, period=period):
            (outcome,) = run.outcomes
            assert outcome.crosswalk is not None and outcome.measures is not None
            held = defaultdict[tuple, Counter](Counter)
            within = profile_within(profile, np.arange(N_AREAS), run.scenario.attributes)
            for area, of_area in enumerate(by_class(within)):
                for (value, group), n in of_area.items():
                    held[outcome.crosswalk.region_of[area], value][group] += n
            lost = 0
            for of in held.values():
                rare = [n for n in of.values() if n < 5]
                lost += sum(of.values()) if rare and period else sum(rare)
            assert outcome.measures.n_suppressed == lost
