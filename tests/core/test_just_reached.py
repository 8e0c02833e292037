"""Numbers that are just reached or just missed, first regions and work cut into parts: where a slip would go unseen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure import exchanges
from vbas.core.disclosure.certificate import certify_classes
from vbas.core.disclosure.count_tables import own_totals
from vbas.core.disclosure.exchanges import freed_by_exchange, places_of
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.narrowing import can_be_narrowed, narrow
from vbas.core.privacy.weights import FEWEST_ROWS, counted_rows, warning_of_weights
from vbas.core.releases.attributes import attributes_of, likeness, parts_of
from vbas.core.releases.examining import AllExamined

from .test_published_counts import block_of, plans, town_of
from .test_releases_matching import release
from .test_weights import survey


@pytest.mark.parametrize("seed", range(4))
def test_counts_are_freed_alike_however_many_are_looked_at_at_a_time(seed, monkeypatch):
    areas, profile = town_of(np.random.default_rng(seed), 6, 5)
    table = own_totals(profile, own_regions(len(areas)), ["sex"])
    seen = []
    for plan in plans(areas, profile):
        block = block_of(plan, table)
        for places in places_of(block):
            together = freed_by_exchange(block, places)
            with monkeypatch.context() as patched:
                patched.setattr(exchanges, "AT_ONCE", 1)
                assert np.array_equal(freed_by_exchange(block, places), together)
            seen += together.tolist()
    assert True in seen and False in seen


@pytest.mark.parametrize("n_rows", [FEWEST_ROWS - 1, FEWEST_ROWS])
def test_weights_are_looked_for_from_the_fewest_rows_on(n_rows):
    plan, records = survey(lambda rng, n: rng.integers(20, 400, n), n=n_rows)
    assert ("of its rows stand for one record" in warning_of_weights(plan, counted_rows(records))) == (
        n_rows == FEWEST_ROWS
    )


def test_nothing_is_undecided_where_nothing_was_compared():
    examined = AllExamined(None, (), [], [])
    assert (examined.n_undecided, examined.n_counts, examined.n_persons, examined.n_contradicted) == (0, 0, 0, 0)
    assert examined.n_compared == 0 and not any(family.tried for family in examined.families)


def test_a_certificate_of_classes_tried_no_tables():
    certificate = certify_classes(np.array([1, 4, 5, 0]), 5)
    assert certificate.people is False and certificate.contradicted is False  # neither was looked at
    assert certificate.follow == 2 and certificate.tried == 4 and not certificate.contradicted
    assert (certificate.unknowns, certificate.conditions, certificate.n_tables, certificate.n_programs) == (0, 0, 0, 0)


def test_what_the_first_region_shows_is_taken_from_the_one_around_it():
    """Also where the first region has several areas, so that nothing can be said area by area."""
    areas = make_areas(["a", "b", "c"], np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), np.array([10.0, 20.0, 30.0]))
    whole = Crosswalk(np.zeros(3, np.int64), 1)
    single = make_levels(areas, [own_regions(3), whole])
    shown = (np.array([0, 1]), np.array([0, 0]), np.array([0, 0]))
    left = narrow(single, areas.population, *shown, False)
    assert left.left_people.tolist() == [10.0, 50.0]
    pair = make_levels(areas, [Crosswalk(np.array([0, 0, 1]), 2), whole])
    assert can_be_narrowed(single, False) and not can_be_narrowed(pair, False)
    assert narrow(pair, areas.population, *shown, False).left_people.tolist() == [30.0, 60.0]


def test_likeness_is_by_the_release_that_shows_fewer():
    """Half of the people of one are in the other: all that the smaller one shows agrees."""
    one = release(2, title="r1")
    half = replace(one, records=one.records // 2)
    first, second = attributes_of(one)["sex"], attributes_of(half)["sex"]
    alike = likeness(first, second, parts_of(one, half))
    again = likeness(second, first, parts_of(half, one))
    assert alike == again == 1.0
