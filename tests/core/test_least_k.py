"""k = 1 hides nobody: core refuses it wherever k decides what is released, not the forms alone."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.baselines import BASELINES, BaselineOptions
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.parameters import K
from vbas.core.plan import suppress
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable, check_table
from vbas.core.release import apply

WORDS = "^K is {}: choose a whole number of at least 2; with K = 1 nobody would be hidden"


@pytest.fixture
def case():
    area = column_from_values(["a", "a", "b", "b"])
    sex = {"sex": column_from_values(["F", "M", "F", "M"])}
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [1.0, 0.0]]))
    records = match_records(RecordTable(area, sex, {}, None), areas)
    return records, areas, Crosswalk(np.array([0, 0]), 1)


@pytest.mark.parametrize("k", [1, 0, -5, 1.5, 2.5])
def test_plan_matching_and_merging_refuse_it(case, k):
    records, areas, crosswalk = case
    with pytest.raises(InputError, match=WORDS.format(k)):
        suppress(records.profile, crosswalk, k)
    with pytest.raises(InputError, match=WORDS.format(k)):
        match_records(records.table, areas, k=k)
    with pytest.raises(InputError, match=WORDS.format(k)):
        BASELINES["merging until k-anonymous"](areas, records.profile, BaselineOptions(k=k))
    with pytest.raises(InputError, match=WORDS.format(k)):
        check_table(records.table, k)


def test_two_is_enough(case):
    records, _, crosswalk = case
    K.check(2)
    K.check(cast(int, np.int64(7)))
    assert len(apply(suppress(records.profile, crosswalk, 2), records)) == 4
