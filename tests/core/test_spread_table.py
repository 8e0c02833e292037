"""A table of weights that is read again."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.analysis.spread_table import read_spread
from vbas.core.areas import make_areas
from vbas.core.errors import InputError
from vbas.core.records.columns import column_from_values

AREAS = make_areas(["a", "b", "7"], [(0, 0), (900, 0), (0, 900)], [30, 10, 5])


def test_classes_are_put_together_again_and_keep_their_records():
    fields = {
        "vbas_level": column_from_values([2, 1, 2, 2]),
        "vbas_region": column_from_values([1, 1, 1, 1]),
        "sex": column_from_values(["F", "F", "F", "M"]),
    }
    area = column_from_values(["a", "a", 7, "b"])
    rows, weights = read_spread(AREAS, area, fields, np.array([4.0, 3.0, 2.0, 5.0]))
    assert list(rows.fields) == ["sex"] and sorted(rows.records.tolist()) == [3, 5, 6]
    found = {int(n): one.tolist() for n, one in zip(rows.records, weights.row_weights().toarray())}
    assert found[6] == pytest.approx([2 / 3, 0, 1 / 3])
    assert found[3] == [1, 0, 0] and found[5] == [0, 1, 0]


def test_a_table_without_rows_has_no_classes():
    nothing = column_from_values([])
    rows, weights = read_spread(AREAS, nothing, {"sex": nothing}, np.zeros(0))
    assert len(rows) == 0 and weights.profiles.shape == (0, 3)


def test_other_areas_and_no_estimates_are_refused():
    sex = {"sex": column_from_values(["F", "M"])}
    with pytest.raises(InputError, match=r"REGIONS does not have \(first: “c”\)"):
        read_spread(AREAS, column_from_values(["a", "c"]), sex, np.ones(2))
    with pytest.raises(InputError, match="missing or below 0"):
        read_spread(AREAS, column_from_values(["a", "b"]), sex, np.array([1.0, np.nan]))
