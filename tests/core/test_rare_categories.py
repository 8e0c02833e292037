"""A value that fewer than k records have is never released: the number of regions must not tell of it either."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.comparison import compare
from vbas.core.configuration import Configuration, aggregate
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values
from vbas.core.site_number import APPROACHES, SiteNumberOptions
from vbas.core.site_number.cutoff import possible_classes, releasable_combinations

K = 5
OPTIONS = SiteNumberOptions(gaps_region="custom", gaps_coefficient=100.0, gaps_exponent=0.5, k=K)


def profile_of(home, n_regions, counts=None, **values):
    columns = {name: column_from_values(list(column)) for name, column in values.items()}
    return profile_records(np.asarray(home), columns, n_regions, counts)[0]


def town(extra_homes=(), extra_sex=()):
    """100 areas of known population, 40 records each, and further records of another sex."""
    rng = np.random.default_rng(2)
    home = np.repeat(np.arange(100), 40)
    sex, age = rng.integers(0, 2, len(home)), rng.integers(0, 6, len(home))
    people = [*home, *extra_homes]
    areas = make_areas([f"46{i:04d}" for i in range(100)], rng.random((100, 2)) * 1000)
    profile = profile_of(people, 100, sex=[*sex.tolist(), *extra_sex], age=[*age.tolist(), *[0] * len(extra_homes)])
    return areas.with_population(np.full(100, 40.0)), profile


def crosswalk(town_, site_number):
    regions, profile = town_
    configuration = Configuration(site_number=site_number, number_options=OPTIONS)
    return aggregate(regions, profile, configuration).aggregation.crosswalk.region_of.tolist()


def test_one_record_of_a_rare_value_changes_nothing_in_the_crosswalk():
    before, after = town(), town([17], ["rare"])
    assert crosswalk(before, "max combinations") == crosswalk(after, "max combinations")
    # As published it does: 4 000 / (100 √12) = 11.5 and 4 001 / (100 √18) = 9.4.
    published = [max(crosswalk(one, "max combinations (2018)")) + 1 for one in (before, after)]
    assert published == [12, 9]
    assert max(crosswalk(before, "max combinations")) + 1 == 12


def test_a_value_counts_from_k_records_on():
    for n_rare, combinations in ((K - 1, 12), (K, 18)):
        _, profile = town(range(n_rare), ["rare"] * n_rare)
        assert releasable_combinations(profile, K) == combinations
        assert possible_classes(profile) == 18


def test_rows_that_stand_for_several_records_count_as_many():
    profile = profile_of([0, 0, 1], 2, np.array([4, 5, 1]), sex=["a", "b", "a"])
    assert releasable_combinations(profile, 5) == 2
    assert releasable_combinations(profile, 6) == 1  # of no sex are there six: at least one combination all the same


def test_records_of_no_known_area_do_not_count():
    profile = profile_of([0] * 6 + [-1] * 6, 1, sex=["a"] * 6 + ["b"] * 6)
    assert (releasable_combinations(profile, 5), possible_classes(profile)) == (1, 2)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_the_count_is_the_plain_one(seed, k):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    home = rng.integers(-1, 4, n)
    home[0] = 0
    values = {name: rng.integers(0, size, n).tolist() for name, size in (("a", 3), ("b", 9), ("c", 30))}
    inside = [i for i in range(n) if home[i] >= 0]
    plain = math.prod(
        max(1, sum(sum(column[i] == value for i in inside) >= k for value in set(column))) for column in values.values()
    )
    profile = profile_of(home, 4, **values)
    assert releasable_combinations(profile, k) == plain
    assert possible_classes(profile) == math.prod(len(set(column)) for column in values.values())


@pytest.mark.parametrize(
    ("approach", "told"), [("max combinations", 12), ("max combinations (2018)", 18), ("entropy", 12)]
)
def test_the_number_that_is_told_is_the_one_that_counted(approach, told):
    areas, profile = town([17], ["rare"])
    number = APPROACHES[approach](profile, areas.identifiers, OPTIONS)
    assert number.max_combinations == told


def test_both_counts_are_the_papers_combination_in_a_comparison():
    areas, profile = town()
    names = ("max combinations", "max combinations (2018)", "entropy")
    rated = compare(areas, profile, [Configuration(site_number=name, number_options=OPTIONS) for name in names], K)
    assert [one.combination for one in rated] == [2, 2, None]
