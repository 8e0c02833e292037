"""Regions of nested levels in an order in which those of a region stand together."""

from __future__ import annotations

import numpy as np

from vbas.core.nesting.tree import tree_of


def test_places_within_a_region_follow_each_other_and_areas_left_out_have_none():
    fine, coarse = np.array([2, 0, -1, 1, 2]), np.array([0, 1, -1, 0, 0])
    tree = tree_of([fine, coarse], [np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0])])
    assert tree.place.tolist() == [1, 2, -1, 0, 1]
    assert tree.within[0].tolist() == [0, 0, 1]
    assert [loss.tolist() for loss in tree.loss] == [[0.2, 0.3, 0.1], [1.0, 2.0]]
