"""Bounds of people by the sums that releases show, where these cannot all be true."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.disclosure.bounds import propagate
from vbas.core.disclosure.overlay import NONE, UNBOUNDED, Sums


def sums(region: list[int], low: list[list[int]]) -> Sums:
    """So many people of each region and class, and of the rest nobody knows."""
    least = np.pad(np.array(low, np.int64), ((0, 1), (0, 1)))
    most = np.pad(np.array(low, np.int64), ((0, 1), (0, 1)), constant_values=UNBOUNDED)
    n_regions, n_classes = np.shape(low)
    return Sums(0, 0, np.array(region, np.int64), n_regions, np.arange(n_classes), least, most, True)


@pytest.mark.parametrize("of_class", [0, 1])
def test_people_in_a_region_without_areas_contradict_whatever_their_class(of_class):
    """What is told of a class that contradicts itself is no disclosure, and must not be listed as one."""
    people = [[4, 4], [0, 0]]
    people[1][of_class] = 3
    found = propagate([sums([0, 0], people)], 2, np.arange(2))
    assert found.contradicted.tolist() == [of_class == 0, of_class == 1]


def test_a_class_of_which_a_release_knows_nothing_contradicts_none():
    known = sums([0, NONE], [[4]])
    beside = Sums(0, 0, known.region, 1, np.array([0, NONE]), known.low, known.high, True)
    found = propagate([beside], 2, np.arange(2))
    assert not found.contradicted.any()
    assert (found.low.tolist(), found.high[0].tolist()) == ([[4, 0], [0, 0]], [4, UNBOUNDED])
