"""What is told of one region, against a count by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values
from vbas.core.region_account import account_of_region

FIELDS = ("age", "sex", "group")


@st.composite
def towns(draw):
    """Areas, records as rows, and a crosswalk; one region may be without records."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_areas, n_regions = 9, draw(st.integers(1, 4))
    region_of = np.append(np.arange(n_regions), rng.integers(0, n_regions, n_areas - n_regions))
    n = draw(st.integers(1, 120))
    area = rng.integers(0, draw(st.integers(1, n_areas)), n)
    rows = [tuple(row) for row in np.column_stack([rng.integers(0, size, n) for size in (3, 2, 3)]).tolist()]
    return area, rows, Crosswalk(region_of, n_regions)


@pytest.mark.slow
@given(towns(), st.integers(2, 8))
@settings(max_examples=60, deadline=None)
def test_an_account_is_what_a_count_of_the_rows_gives(town, k):
    area, rows, crosswalk = town
    columns = {name: column_from_values([row[i] for row in rows]) for i, name in enumerate(FIELDS)}
    profile, _ = profile_records(area, columns, 9)
    areas = make_areas([str(i) for i in range(9)], np.arange(18.0).reshape(9, 2), np.arange(1.0, 10.0))
    for region in range(crosswalk.n_regions):
        inside = [row for row, of in zip(rows, area) if crosswalk.region_of[of] == region]
        sizes = Counter(inside)
        lost = [row for row in inside if sizes[row] < k]
        found = account_of_region(areas, profile, crosswalk, region, k)
        assert found.areas == (crosswalk.region_of == region).sum()
        assert found.population == areas.population[crosswalk.region_of == region].sum()
        assert (found.records, found.classes) == (len(inside), len(sizes))
        assert (found.smallest, found.largest) == (min(sizes.values(), default=0), max(sizes.values(), default=0))
        assert found.small_classes == sum(size < k for size in sizes.values())
        assert found.suppressed == len(lost)
        assert found.percent == pytest.approx(100 * len(lost) / max(len(inside), 1))
        for position, cost in enumerate(found.costs):
            without = [row[:position] + row[position + 1 :] for row in inside]
            left = Counter(without)
            share = 100 * sum(left[row] < k for row in without) / len(inside)
            assert (cost.quasi_identifier, cost.without) == (FIELDS[position], pytest.approx(share))
        assert len(found.costs) == (3 if inside else 0)
        said = {(one.quasi_identifier, one.value): (one.records, one.suppressed) for one in found.lost}
        expected = {}
        for position, name in enumerate(FIELDS):
            of_value = Counter(row[position] for row in inside)
            for value, gone in Counter(row[position] for row in lost).items():
                if gone * len(inside) > len(lost) * of_value[value]:
                    expected[name, value] = (of_value[value], gone)
        assert said == expected
        more = [one.suppressed - one.records * len(lost) / len(inside) for one in found.lost]
        assert all(first >= second - 1e-9 for first, second in zip(more, more[1:]))
