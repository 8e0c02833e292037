"""The weighted sum of the objectives, and the best approach of each component: against plain recounts."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.best_approaches import COMPONENTS, MEASURED, best_approaches, component_sentences
from vbas.core.comparison import configurations_of
from vbas.core.configuration import Configuration
from vbas.core.errors import InputError
from vbas.core.evaluation import Measures
from vbas.core.outcome import BASELINE, NESTED, Outcome, with_pareto
from vbas.core.report.objectives import best_approaches_section, weighted_section
from vbas.core.weighted_sum import OBJECTIVES, best_by_weights, best_sentences, weights_of, with_weighted_sums

from ..exploring import tried

FIELDS = ("suppression_percent", "compactness", "discernibility", "non_uniform_entropy", "mean_distance")


def measures(values, suppressed=10):
    percent, compactness, discernibility, entropy, distance = values
    return Measures(3, 100, suppressed, percent, compactness, discernibility, entropy, distance)


few = st.lists(st.integers(0, 5), min_size=6, max_size=6)
kinds = st.tuples(few, st.sampled_from([5, 10]), st.sampled_from(["entropy", NESTED]), st.booleans())
rows = st.lists(kinds, max_size=7)


@given(
    rows=rows,
    weights=st.dictionaries(st.sampled_from([*FIELDS, "seconds"]), st.sampled_from([0.5, 1.0, 3.0]), min_size=1),
)
def test_the_weighted_sum_is_a_plain_recount(rows, weights):
    outcomes = [
        Outcome(family, str(i), None if failed else measures(values[:5]), float(values[5]), k=k)
        for i, (values, k, family, failed) in enumerate(rows)
    ]
    summed = with_weighted_sums(outcomes, weights)
    assert [(o.title, o.k) for o in summed] == [(o.title, o.k) for o in outcomes]
    best: dict = {}
    for outcome, (values, k, family, failed) in zip(summed, rows):
        if failed:
            assert outcome.weighted_sum is None
            continue
        alike = [row for row in rows if row[1:] == (k, family, False)]
        total = 0.0
        for name, weight in weights.items():
            position = [*FIELDS, "seconds"].index(name)
            largest = max(row[0][position] for row in alike)
            total += weight * (values[position] / largest if largest else 0)
        assert outcome.weighted_sum is not None
        assert outcome.weighted_sum == pytest.approx(total / sum(weights.values()))
        assert 0 <= outcome.weighted_sum <= 1 + 1e-12
        best.setdefault((k, family), []).append(outcome)
    expected = [min(of, key=lambda outcome: outcome.weighted_sum) for of in best.values()]
    assert best_by_weights(summed) == expected
    assert len(best_sentences(summed, weights)) == len(expected)


def test_what_is_not_known_or_releases_nothing_has_no_sum():
    kept, lost = measures([1, 2, 3, 4, 5]), measures([100, 0, 0, 0, math.nan], suppressed=100)
    outcomes = [Outcome("entropy", "a", kept, 1.0), Outcome("entropy", "b", lost, 1.0)]
    assert [o.weighted_sum for o in with_weighted_sums(outcomes, {"compactness": 1.0})] == [1.0, None]
    assert [o.weighted_sum for o in with_weighted_sums(outcomes, {"worst_group_percent": 1.0})] == [None, None]
    assert [o.weighted_sum for o in with_weighted_sums(outcomes, {})] == [None, None]
    assert not weighted_section(outcomes, {}).rows


def test_the_best_is_named_beside_the_front():
    outcomes = [
        Outcome("entropy", "few", measures([1, 90, 90, 90, 90]), 1.0),
        Outcome("entropy", "small", measures([9, 10, 10, 10, 10]), 1.0),
        Outcome("entropy", "between", measures([9, 50, 5, 50, 50]), 1.0),
    ]
    for weights, name, on_front in (
        ({"suppression_percent": 5.0, "compactness": 1.0}, "few", True),
        ({"suppression_percent": 1.0, "compactness": 5.0}, "small", True),
        ({"discernibility": 1.0}, "between", False),
    ):
        summed = with_weighted_sums(with_pareto(outcomes), weights)
        (sentence,) = best_sentences(summed, weights)
        assert f"“entropy · {name}”" in sentence and ("It is on the Pareto front." in sentence) == on_front
        section = weighted_section(summed, weights)
        assert section.rows[0][1] == f"entropy · {name}" and sentence in section.paragraphs
        sums = [float(str(row[3])) for row in section.rows]
        assert sums == sorted(sums)


def test_weights_are_read_as_they_are_written():
    assert weights_of("") == {} and weights_of(" , ") == {}
    assert weights_of("suppression_percent=3, Compactness: 0.5;seconds 1e-1") == {
        "suppression_percent": 3.0,
        "compactness": 0.5,
        "seconds": 0.1,
    }
    assert set(weights_of(", ".join(f"{name}=1" for name in OBJECTIVES))) == set(OBJECTIVES)
    for wrong in (
        "suppression=1",
        "compactness",
        "compactness=0",
        "compactness=-1",
        "compactness=nan",
        "compactness=x",
        "compactness=1, compactness=2",
        "seconds=inf",
        "=3",
    ):
        with pytest.raises(InputError, match="WEIGHTS has “"):
            weights_of(wrong)


NUMBERS, LOCATIONS = ("max combinations", "entropy"), ("balanced density", "random")
AGGREGATIONS = ("basic Voronoi", "iterative Voronoi", "transportation-location")
CONFIGURATIONS = configurations_of(NUMBERS, LOCATIONS, AGGREGATIONS, (1.0, 0.0), Configuration())


def outcomes_of(values, k=5):
    return [
        Outcome(c.site_number, c.title, measures(of[:5]), float(of[5]), configuration=c, k=k)
        for c, of in zip(CONFIGURATIONS, values)
    ]


many = st.lists(few, min_size=len(CONFIGURATIONS), max_size=len(CONFIGURATIONS))


@pytest.mark.slow
@settings(max_examples=tried(40, 100))
@given(runs=st.lists(st.tuples(many, many), min_size=1, max_size=2))
def test_the_best_of_each_component_is_a_plain_recount(runs):
    contests: dict[str, list[dict]] = {component: [] for component in COMPONENTS}
    for at_5, at_10 in runs:
        for values in (at_5, at_10):
            by = {(c.site_number, c.site_location, c.aggregation_title): of for c, of in zip(CONFIGURATIONS, values)}
            joins = list(dict.fromkeys(how for _, _, how in by))
            for place, how in product([*LOCATIONS, ""], joins):
                of_numbers = {n: by[n, place, how] for n in NUMBERS if (n, place, how) in by}
                contests["site number"].append(of_numbers)
            for n, how in product(NUMBERS, joins):
                of_locations = {place: by[n, place, how] for place in LOCATIONS if (n, place, how) in by}
                contests["site location"].append(of_locations)
            for n, place in product(NUMBERS, LOCATIONS):
                of_joins = {how: by.get((n, place, how)) or by[n, "", how] for how in joins}
                contests["aggregation"].append(of_joins)
    best = best_approaches([[*outcomes_of(at_5), *outcomes_of(at_10, 10)] for at_5, at_10 in runs])
    assert [(b.component, b.measure) for b in best] == list(product(COMPONENTS, MEASURED))
    for approach in best:
        real = [contest for contest in contests[approach.component] if len(contest) > 1]
        position = list(MEASURED).index(approach.measure)
        wins: dict = {}
        for contest in real:
            least = min(of[position] for of in contest.values())
            for name, of in contest.items():
                wins[name] = wins.get(name, 0) + (of[position] == least)
        most = max(wins.values())
        assert approach.n_contests == len(real) and approach.n_wins == most
        assert set(approach.names) == {name for name, n in wins.items() if n == most}
        clear = len(approach.names) == 1 and most > len(real) / 2
        assert approach.is_clear == clear and ("inconclusive" in approach.in_words) == (not clear)


def test_who_does_not_take_part():
    values = [[i] * 6 for i in range(1, len(CONFIGURATIONS) + 1)]
    rated = outcomes_of(values)
    best = best_approaches([rated])
    better = [
        replace(rated[0], measures=None, problem="failed"),
        replace(rated[0], measures=measures([0] * 5, suppressed=100)),
        replace(rated[0], measures=measures([0] * 5), budget=1.0),
        Outcome(BASELINE, "cropping", measures([0] * 5), 0.0),
        Outcome(NESTED, "halved", measures([0] * 5), 0.0),
    ]
    assert best_approaches([[*better, *rated]]) == best
    assert best_approaches([rated[:1], rated[1:2]]) == [] == best_approaches([])
    section = best_approaches_section(best)
    assert [row[0] for row in section.rows] == list(COMPONENTS) and len(section.header) == 1 + len(MEASURED)
    assert section.rows[0][1] == "max combinations (6 of 6)"
    assert not best_approaches_section([]).rows
    assert [said.split(":")[0] for said in component_sentences(best)] == [f"Best {name}" for name in COMPONENTS]
