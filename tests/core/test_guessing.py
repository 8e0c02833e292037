"""What guesses at small counts are worth: the chances against adding up all tables."""

from __future__ import annotations

from itertools import product
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.guessing import _surest, _Tree, by_people_alone, guesses, sample_of
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.planning import nest
from vbas.core.report.zones import chance_section
from vbas.core.synthetic.hamlet import hamlet

from .nested_cases import nested_cases, profile_of

WEIGHTS = (1.0, 0.3, 0.0)


@st.composite
def zones(draw):
    """People of some areas, their parts, a count and a k."""
    n = draw(st.integers(2, 4))
    people = np.array(draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)), float)
    parts = draw(st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n).map(np.array), max_size=1))
    return people, parts, draw(st.integers(2, 7)), draw(st.sampled_from([2, 3]))


def chances_by_hand(people, parts, count, k, place, part, none):
    """Adding up all tables."""
    total, small = 0.0, np.zeros(len(people))
    for table in product(range(count + 1), repeat=len(people)):
        if sum(table) != count:
            continue
        weight = np.prod([(share / people.sum()) ** n / factorial(n) for n, share in zip(table, people)])
        n_large = sum(n >= k for n in table)
        weight *= place**n_large
        for regions in parts:
            groups = [np.flatnonzero(regions == region) for region in set(regions.tolist())]
            several = [group for group in groups if 1 < len(group) < len(people)]
            in_parts = sum(sum(table[area] for area in group) >= k for group in several)
            weight *= part**in_parts
            n_large += in_parts
        weight *= 1.0 if n_large else none
        total += weight
        small += [weight * (1 <= n < k) for n in table]
    return small / total if total > 0 else np.full(len(people), 0.5)


@given(zones(), st.sampled_from(WEIGHTS), st.sampled_from(WEIGHTS), st.sampled_from(WEIGHTS))
@settings(max_examples=150)
def test_chances_are_those_of_all_tables_together(zone, place, part, none):
    people, parts, count, k = zone
    found = _Tree(count, people, parts, k).chances(place, part, none)
    assert found == pytest.approx(chances_by_hand(people, parts, count, k, place, part, none), abs=1e-9)


def test_people_alone_are_the_method_without_weights():
    people = np.array([3.0, 5.0, 2.0])
    parts = [np.array([0, 0, 1])]
    assert _Tree(7, people, parts, 3).chances(1.0, 1.0, 1.0) == pytest.approx(by_people_alone(7, people, 3))


@given(nested_cases(), st.sampled_from([2, 3]), st.booleans())
@settings(max_examples=60)
def test_the_sample_holds_the_zones_as_they_are(case, k, in_zones):
    areas, profile, levels = case
    conditions = Conditions(areas.population, Secrets(np.random.default_rng(0))) if in_zones else None
    plan = nest(areas, profile, levels, k, conditions=conditions)
    sample = sample_of(areas, plan)
    assert sample.of_zones >= len(sample.count)
    for count, class_of, people, records, parts in zip(
        sample.count, sample.class_of, sample.people, sample.records, sample.parts
    ):
        assert len(people) == len(records) > 1 and all(len(of_level) == len(people) for of_level in parts)
        if in_zones and (areas.population > 0).all():
            assert records.sum() == count >= k
        assert profile.class_sizes[class_of] >= count


def test_whoever_knows_that_nobody_shows_four_guesses_better_than_by_people():
    """A hundred pairs of areas, each with four or five in one of them and some in the other."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 5, 200)
    areas = make_areas([f"a{i}" for i in range(200)], rng.uniform(0, 1_000, (200, 2)), rng.integers(20, 60, 200))
    pairs = number_compactly(np.arange(200) // 2)[0]
    levels = make_levels(areas, [own_regions(200), pairs, number_compactly(np.zeros(200, np.int64))[0]])
    found = guesses(areas, nest(areas, profile_of(counts[:, None]), levels, 5))
    assert found is not None and found.n_zones > 20
    assert found.surest[-1].right >= found.surest[-1].by_people
    assert all(0 <= one.right <= 1 and one.n <= found.n_areas for one in found.surest)


def test_the_report_says_how_often_guesses_are_right():
    areas, records, crosswalk = hamlet()
    levels = make_levels(areas, [own_regions(4), crosswalk, number_compactly(np.zeros(4, np.int64))[0]])
    account = anonymise(areas, records, levels, Ask(k=3))
    found = guesses(account.areas, account.plan)
    section = chance_section(account)
    assert found is not None and len(section.rows) == len(found.surest) * (1 + len(found.by_class_size))
    assert f"{found.n_areas} areas" in section.paragraphs[1] and "1 to 2" in section.paragraphs[0]


def test_the_surest_guesses_are_as_many_as_is_said():
    holds, sure = np.arange(10_000) < 150, np.linspace(1.0, 0.0, 10_000)
    found = {one.percent: one for one in _surest(holds, sure, sure)}
    assert all(one.n == percent * 100 for percent, one in found.items())
    assert found[1.0].right == found[1.0].by_people == 1.0 and found[5.0].right == 0.3
