"""What is asked of a release beside k, on its edges: recounted by trying everything, or by plain loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.privacy.count_rows import CountRows, count_tables
from vbas.core.privacy.margin_programs import fewest_to_add
from vbas.core.privacy.series import series_of

from .release_cases import profile_over


@pytest.mark.parametrize("seed", range(12))
def test_the_fewest_records_that_hide_every_total_by_trying_all(seed):
    """Of each total nothing is suppressed, or k records of two places, or all; what is lost stays lost."""
    rng, k, n = np.random.default_rng(seed), 4, 6
    records = rng.integers(1, 6, n)
    lost = rng.random(n) < 0.3
    groups = [np.zeros(n, np.int64), np.sort(rng.integers(0, 2, n)).astype(np.int64)]
    groups[1] -= groups[1].min()
    fitting = []
    for some in product((False, True), repeat=n):
        suppressed = np.array(some)
        if (lost & ~suppressed).any():
            continue
        totals = [group == of for group in groups for of in range(int(group.max()) + 1)]
        if all(
            not (suppressed & of).any()
            or suppressed[of].all()
            or (records[suppressed & of].sum() >= k and (suppressed & of).sum() >= 2)
            for of in totals
        ):
            fitting.append(int(records[suppressed].sum()))
    chosen = fewest_to_add(groups, records, lost, k)
    assert chosen is not None and not (lost & ~chosen).any()
    assert int(records[chosen].sum()) == min(fitting)


def test_counts_of_values_as_they_are_are_at_no_coarser_level():
    areas = make_areas(["a", "b"], np.array([[0.0, 0], [1, 0]]), np.ones(2))
    profile = profile_over(np.array([[3, 4], [5, 6]]), [("F",), ("M",)], ("sex",))
    rows = CountRows(["a", "a", "b", "b"], {"sex": ["F", "M", "F", "M"]}, [3, 4, 5, 6])
    (table,) = count_tables(rows, areas, profile)
    assert dict(table.levels) == {} and table.low.tolist() == table.high.tolist() == [[3, 4], [5, 6]]


def test_where_only_periods_are_told_all_people_are_one_class():
    series = series_of(profile_over(np.array([[3, 4], [5, 6]]), [("2021",), ("2022",)], ("year",)), "year")
    assert len(series.base.classes) == 1 and set(series.class_of.tolist()) == {0}
