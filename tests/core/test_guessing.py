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
from vbas.core.disclosure.guessing import ZoneSample, _surest, by_people_alone, guesses, sample_of
from vbas.core.disclosure.possible_tables import PossibleTables
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.planning import nest
from vbas.core.report.zones import chance_section
from vbas.core.synthetic.hamlet import hamlet

from .nested_cases import nested_cases, profile_of

WEIGHTS = (1.0, 0.3, 0.0)


@st.composite
def zones(draw):
    """People of some areas, their parts, from the finest, and a count."""
    n = draw(st.integers(2, 4))
    people = np.array(draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)), float)
    parts = draw(st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n).map(np.array), max_size=2))
    if len(parts) == 2:  # the finer within the coarser
        parts[0] = parts[0] + 2 * parts[1]
    return people, parts, draw(st.integers(2, 7))


def chances_by_hand(people, parts, count, k, place, part, none):
    """Adding up all tables."""
    total, small = 0.0, np.zeros(len(people))
    for table in product(range(count + 1), repeat=len(people)):
        if sum(table) != count:
            continue
        weight = np.prod([(share / people.sum()) ** n / factorial(n) for n, share in zip(table, people)])
        n_large = sum(n >= k for n in table)
        weight *= place**n_large
        # A part that is one on two levels counts once.
        groups = {tuple(np.flatnonzero(regions == region)) for regions in parts for region in set(regions.tolist())}
        in_parts = sum(sum(table[area] for area in group) >= k for group in groups if 1 < len(group) < len(people))
        weight *= part**in_parts
        n_large += in_parts
        weight *= 1.0 if n_large else none
        total += weight
        small += [weight * (1 <= n < k) for n in table]
    return small / total if total > 0 else np.full(len(people), 0.5)


def tables_of(zones, k):
    """The tables of zones side by side, each of people, parts and a count."""
    zone = np.repeat(np.arange(len(zones)), [len(people) for people, _, _ in zones])
    n_levels = max(len(parts) for _, parts, _ in zones)
    of_levels = [
        np.concatenate([parts[level] if level < len(parts) else np.full(len(people), -1) for people, parts, _ in zones])
        for level in range(n_levels)
    ]
    people = np.concatenate([people for people, _, _ in zones])
    return PossibleTables(np.array([count for *_, count in zones]), zone, people, of_levels, k)


@pytest.mark.slow
@given(
    st.sampled_from([2, 3]).flatmap(lambda k: st.tuples(st.lists(zones(), min_size=1, max_size=3), st.just(k))),
    st.sampled_from(WEIGHTS),
    st.sampled_from(WEIGHTS),
    st.sampled_from(WEIGHTS),
)
@settings(max_examples=150)
def test_chances_are_those_of_all_tables_together(case, place, part, none):
    several, k = case
    tables = tables_of(several, k)
    by_hand = [chances_by_hand(people, parts, count, k, place, part, none) for people, parts, count in several]
    chances = tables.chances(tables.weighed([0.0, place], [0.0, part]), 1, none)
    assert chances == pytest.approx(np.concatenate(by_hand), abs=1e-9)


def test_people_alone_are_the_method_without_weights():
    people, records = np.array([3.0, 5.0, 2.0]), np.array([4, 2, 1])
    parts = (np.array([0, 0, 1]),)
    sample = ZoneSample(np.array([7]), np.zeros(1, np.int64), np.zeros(3, np.int64), people, records, parts, 1)
    tables = tables_of([(people, parts, 7)], 3)
    assert tables.chances(tables.weighed([0.0, 1.0], [0.0, 1.0]), 1, 1.0) == pytest.approx(by_people_alone(sample, 3))


@given(nested_cases(), st.sampled_from([2, 3]), st.booleans())
@settings(max_examples=60)
def test_the_sample_holds_the_zones_as_they_are(case, k, in_zones):
    areas, profile, levels = case
    conditions = Conditions(areas.population, Secrets(np.random.default_rng(0))) if in_zones else None
    plan = nest(areas, profile, levels, k, conditions=conditions)
    sample = sample_of(areas, plan)
    assert sample.of_zones >= len(sample.count)
    assert (np.bincount(sample.zone, minlength=len(sample.count)) > 1).all()
    assert len(sample.parts) == len(levels) - 1
    assert (np.diff(sample.zone) >= 0).all() and all(len(of_level) == len(sample.zone) for of_level in sample.parts)
    of_zones = np.bincount(sample.zone, sample.records, len(sample.count))
    if in_zones and (areas.population > 0).all():
        assert (of_zones == sample.count).all() and (sample.count >= k).all()
    assert (profile.class_sizes[sample.class_of] >= sample.count).all()


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


def test_among_areas_alike_guesses_are_right_as_often_as_there_are_small_counts():
    """Forty zones of three areas with as many people, in two of which lives one who has it."""
    counts, n = np.tile([1, 1, 0], 40), 120
    areas = make_areas([f"a{i}" for i in range(n)], np.arange(2.0 * n).reshape(n, 2), np.full(n, 40.0))
    regions = [own_regions(n), number_compactly(np.arange(n) // 3)[0], number_compactly(np.zeros(n, np.int64))[0]]
    found = guesses(areas, nest(areas, profile_of(counts[:, None]), make_levels(areas, regions), 2))
    assert found is not None and found.so_many == 2 / 3
    assert [one.right for one in found.surest] == pytest.approx([2 / 3] * len(found.surest))


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
