"""Who is lost, and which attribute costs what: against a plain recount."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.attribute_costs import AttributeCost, attribute_costs, cost_sentence
from vbas.core.comparison import compare
from vbas.core.configuration import Configuration
from vbas.core.crosswalk import Crosswalk
from vbas.core.evaluation import WorstGroup, evaluate_by_value, worst_group
from vbas.core.generalising import make_hierarchy
from vbas.core.plan import suppress
from vbas.core.privacy.requirement import Requirement, members_of
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values
from vbas.core.report.cost import costs_section
from vbas.core.site_number import SiteNumberOptions
from vbas.core.suppression import Terms

N_AREAS = 8


def records(seed, n=120):
    rng = np.random.default_rng(seed)
    return {
        "area": rng.integers(0, N_AREAS, n),
        "age": rng.integers(0, 6, n),
        "sex": rng.choice(["F", "M"], n),
        "group": rng.choice(np.array(["a", "b", "c", None]), n, p=[0.7, 0.2, 0.07, 0.03]),
        "person": rng.integers(0, 50, n),
    }


def counted(rows):
    columns = {name: column_from_values(list(rows[name])) for name in ("age", "sex", "group")}
    return profile_records(rows["area"], columns, N_AREAS)


def halves():
    return make_hierarchy("age", np.arange(6, dtype=object), [["low"] * 3 + ["high"] * 3, ["*"] * 6])


def suppressed_by_hand(rows, region_of, k, key, persons=False):
    """Per cent suppressed, record by record; key : of the class that a record shows."""
    shown = [(int(region_of[rows["area"][i]]), key(i)) for i in range(len(rows["area"]))]
    sizes = Counter(shown)
    members = {
        equivalence_class: len({rows["person"][i] for i, one in enumerate(shown) if one == equivalence_class})
        for equivalence_class in sizes
    }
    lost = [
        equivalence_class
        for equivalence_class in shown
        if equivalence_class[0] < 0 or sizes[equivalence_class] < k or (persons and members[equivalence_class] < k)
    ]
    return 100.0 * len(lost) / len(shown)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 7), st.booleans(), st.booleans())
def test_what_attributes_cost_equals_a_recount(seed, k, persons, left_out):
    rows = records(seed)
    profile, cell_of = counted(rows)
    region_of = np.random.default_rng(seed).integers(0, 2, N_AREAS)
    region_of[:2] = 0, 1
    if left_out:
        region_of[-1] = -1
    members = (members_of("persons", cell_of, rows["person"]),) if persons else ()
    terms = Terms(k, Requirement(k, members))
    costs = attribute_costs(profile, Crosswalk(region_of, 2), terms, {"age": halves()})
    names = ("age", "sex", "group")
    assert [cost.quasi_identifier for cost in costs] == list(names)
    for cost in costs:
        kept = [name for name in names if name != cost.quasi_identifier]
        by_hand = suppressed_by_hand(rows, region_of, k, lambda i, kept=kept: tuple(rows[n][i] for n in kept), persons)
        assert cost.without == pytest.approx(by_hand)
    coarser = suppressed_by_hand(
        rows, region_of, k, lambda i: (rows["age"][i] < 3, rows["sex"][i], rows["group"][i]), persons
    )
    assert costs[0].coarser == pytest.approx(coarser)
    assert costs[0].coarser is not None and costs[0].without <= costs[0].coarser
    assert costs[0].given_up == pytest.approx(1 - entropy(rows["age"] < 3) / entropy(rows["age"]))
    assert costs[1].coarser is None


def entropy(values):
    share = np.unique(values, return_counts=True)[1] / len(values)
    return -(share * np.log2(share)).sum()


def test_the_only_attribute_leaves_nothing_to_tell_records_apart():
    profile, _ = profile_records(np.zeros(9, int), {"age": column_from_values([1] * 5 + [2] * 4)}, 1)
    (cost,) = attribute_costs(profile, Crosswalk(np.zeros(1, np.int64), 1), Terms(5))
    assert cost == AttributeCost("age", 0.0)


def test_a_hierarchy_goes_on_from_the_level_that_is_shown():
    above = halves().above(1)
    assert [list(level) for level in above.categories] == [["high", "low"], ["*"]]
    assert [codes.tolist() for codes in above.codes] == [[0, 1], [0, 0]]
    with pytest.raises(Exception, match="levels 0 to 2, but none 3"):
        halves().above(3)


def test_the_sentence_names_the_dearest_attributes_first():
    costs = [AttributeCost("sex", 12.0), AttributeCost("income", 3.0, 5.5, 0.4), AttributeCost("age", 12.9, 12.9, 0.2)]
    assert cost_sentence(12.9, costs) == (
        "With these regions 12.9 % of the records are suppressed; without “income” 3 %, without “sex” 12 %, with "
        "“income” one level coarser 5.5 %."
    )
    assert "leaving out one quasi-identifier alone would spare none" in cost_sentence(3.0, [AttributeCost("sex", 3.0)])
    assert cost_sentence(12.9, costs, 12.9) == cost_sentence(12.9, costs)
    assert cost_sentence(3.0, [AttributeCost("sex", 3.0)], 71.0) == (
        "Were nothing published yet, 3 % of the records would be suppressed with these regions; leaving out one "
        "quasi-identifier alone would spare none."
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 7))
def test_the_group_that_loses_most_is_that_of_a_recount(seed, k):
    rows = records(seed)
    profile, _ = counted(rows)
    areas = make_areas([str(i) for i in range(N_AREAS)], np.random.default_rng(0).uniform(0, 1, (N_AREAS, 2)))
    region_of = np.arange(N_AREAS) % 2
    shown = [(rows["area"][i] % 2, rows["age"][i], rows["sex"][i], rows["group"][i]) for i in range(120)]
    sizes = Counter(shown)
    shares = {}
    for name in ("age", "sex", "group"):
        for value in set(rows[name].tolist()):
            own = [equivalence_class for equivalence_class, one in zip(shown, rows[name].tolist()) if one == value]
            if len(own) >= k:
                shares[name, value] = 100.0 * sum(sizes[equivalence_class] < k for equivalence_class in own) / len(own)
    by_value = evaluate_by_value(areas, suppress(profile, Crosswalk(region_of, 2), k))
    worst = worst_group(by_value, k)
    assert worst is not None
    assert worst.percent == pytest.approx(max(shares.values()))
    assert shares[worst.quasi_identifier, worst.value] == pytest.approx(worst.percent)
    mean = 100.0 * sum(sizes[equivalence_class] < k for equivalence_class in shown) / len(shown)
    said, more = worst.sentence(mean), worst.percent >= 1.5 * mean > 0
    lost = "all its" if worst.percent == 100 and more else f"{worst.percent:.3g} % of its"
    assert f"“{worst.in_words}”: {lost} {worst.records} record" in said
    assert (" times the share" in said) == more


def test_an_empty_value_has_words_and_the_clause_on_times_is_left_out_where_it_says_nothing():
    worst = WorstGroup("ethnic", "", 100.0, 200)
    assert worst.name == "ethnic: (no value)"
    assert worst.sentence(0.43) == (
        "The group that loses most is “ethnic (no value)”: all its 200 records are suppressed, 230 times the share of "
        "all records (0.43 %)."
    )
    assert "1.4" not in worst.sentence(0.07) and "1400 times" in worst.sentence(0.07)
    same = WorstGroup("sex", None, 10.0, 1)
    assert same.sentence(9.0) == (
        "The group that loses most is “sex (missing)”: 10 % of its 1 record are suppressed, of all records 9 %."
    )


def test_no_group_of_fewer_than_k_is_named():
    profile, _ = profile_records(np.zeros(10, int), {"group": column_from_values(["a"] * 6 + ["b"] * 4)}, 2)
    areas = make_areas(["1", "2"], np.array([[0.0, 0.0], [1.0, 0.0]]))
    by_value = evaluate_by_value(areas, suppress(profile, Crosswalk(np.zeros(2, np.int64), 1), 5))
    worst = worst_group(by_value, 5)
    assert worst is not None and (worst.name, worst.percent) == ("group: a", 0.0)
    assert worst_group(by_value, 7) is None


def test_a_comparison_tells_the_group_that_loses_most():
    profile, _ = counted(records(1, 400))
    areas = make_areas([str(i) for i in range(N_AREAS)], np.random.default_rng(0).uniform(0, 1, (N_AREAS, 2)))
    given_number = Configuration("given number", number_options=SiteNumberOptions(n_sites=3))
    configured, nested = compare(areas, profile, [given_number], 5, nested=["from the areas up"])
    assert configured.crosswalk is not None and configured.measures is not None and configured.worst is not None
    assert configured.worst == worst_group(evaluate_by_value(areas, suppress(profile, configured.crosswalk, 5)), 5)
    assert configured.worst.percent > configured.measures.suppression_percent > 0
    assert nested.worst is not None


def test_the_section_of_costs_has_the_dearest_first_and_gaps_where_nothing_is_coarser():
    costs = [AttributeCost("sex", 12.0), AttributeCost("income", 3.0, 5.5, 0.4)]
    assert costs_section(12.9, costs).rows == [("income", 3.0, 5.5, 40.0), ("sex", 12.0, None, None)]
    plain = costs_section(12.9, [replace(cost, coarser=None, given_up=None) for cost in costs])
    assert plain.rows == [("income", 3.0), ("sex", 12.0)]  # no columns without a number
    assert len(plain.header) == 2
    assert not any("coarser values" in text for text in plain.paragraphs)
