"""What values tell of areas, counted pair by pair: the oracle of what is counted in linear time."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.privacy.association import Places, spread_of
from vbas.core.records.columns import count_keys

ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)), max_size=9)


@given(ROWS, st.booleans())
@settings(max_examples=80)
def test_agreement_is_that_of_all_pairs_of_rows(rows, nested):
    """nested : each area is in one region, as in a release of one level."""
    rows = [(region, area + 4 * region * nested, value) for region, area, value in rows]
    region, area, value = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    agreement = Places(region, area).agreement(value)
    pairs = list(permutations(rows, 2))
    for one in range(len(agreement.times)):
        same = [(a, b) for a, b in pairs if a[2] == b[2] == one]
        near = [(a, b) for a, b in same if a[0] == b[0]]
        assert agreement.times[one] == sum(row[2] == one for row in rows)
        if same:
            assert agreement.everywhere[one] == pytest.approx(np.mean([a[1] == b[1] for a, b in same]))
        if not near:
            assert np.isnan(agreement.shared[one])
            continue
        by_region = {r: [a[1] == b[1] for a, b in pairs if a[0] == b[0] == r] for r in range(3)}
        assert agreement.shared[one] == pytest.approx(np.mean([a[1] == b[1] for a, b in near]))
        assert agreement.base[one] == pytest.approx(np.mean([np.mean(by_region[a[0]]) for a, _ in near]))
        assert agreement.others[one] == pytest.approx(len(near) / agreement.times[one])


@given(ROWS)
@settings(max_examples=80)
def test_bits_and_shares_are_those_of_the_rows(rows):
    region, area, value = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    spread = spread_of(Places(region, area), value)

    def bits(*given):
        """How hard it is to guess the area of a row, given what is shown of it."""
        total = 0.0
        for row in rows:
            alike = [other for other in rows if all(other[i] == row[i] for i in given)]
            total -= np.log2(sum(other[1] == row[1] for other in alike) / len(alike))
        return total / max(len(rows), 1)

    def in_one_area(row):
        near = [other for other in rows if other[0] == row[0]]
        alike = [other for other in near if other[2] == row[2]]
        return len(alike) > 1 and len({other[1] for other in alike}) == 1 < len({other[1] for other in near})

    assert spread.bits_before == pytest.approx(bits(0))
    assert spread.bits_left == pytest.approx(bits(0, 2))
    assert spread.in_one_area == pytest.approx(np.mean([in_one_area(row) for row in rows]) if rows else 0.0)


@given(st.lists(st.integers(0, 50), max_size=30), st.sampled_from([51, 2**40]))
@settings(max_examples=40)
def test_keys_are_counted_alike_where_they_are_looked_up_and_sorted(keys, reach):
    unique, counts = count_keys(np.array(keys, np.int64), reach)
    assert dict(zip(unique.tolist(), counts.tolist())) == {key: keys.count(key) for key in keys}
    assert unique.tolist() == sorted(set(keys))
