"""Cells that turn from empty to inhabited, told by hand (Bjerre-Nielsen & Gandil 2018)."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.cells import Minimum, make_cells
from vbas.core.cells.partition import newly_built

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("people", "expected"),
    [
        ([0, 1, 1], True),
        ([0, 5, 5], True),
        ([0, 0, 6], True),
        ([7, 0, 1], True),  # a break in the data counts as well: it, too, goes from none to some
        ([0, 1, 0], True),
        ([0, 0, 0], False),
        ([5, 6, 9], False),
        ([1, 300, 300], False),
        ([5, 0, 0], False),
    ],
)
def test_a_cell_that_goes_from_none_to_some(people, expected):
    # The second population is not looked at, and neither is the step from one population to the other.
    table = np.array([[*people, 0, 9], [3, 3, 3, 0, 9]], float)
    boxes = np.array([(0, 0, 1, 1), (1, 0, 2, 1)], float)
    cells = make_cells("ab", boxes, table, ["a", "b", "c", "h1", "h2"], np.array([(0, 1)]), 1.0)
    assert newly_built(cells, [Minimum((0, 1, 2), 1), Minimum((3, 4), 1)]).tolist() == [expected, False]
