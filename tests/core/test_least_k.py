"""k = 1 hides nobody: core refuses it wherever k decides what is released, not the forms alone."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.anonymity import check_k
from vbas.core.baselines import BASELINES, BaselineOptions
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.evaluation import evaluate
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values
from vbas.core.records.table import RecordTable, check_table
from vbas.core.regions import make_regions
from vbas.core.release import release

WORDS = "^K is {}: choose a whole number of at least 2; with K = 1 nobody would be hidden"


@pytest.fixture
def case():
    area = column_from_values(["a", "a", "b", "b"])
    sex = {"sex": column_from_values(["F", "M", "F", "M"])}
    table = RecordTable(area, sex, {}, None)
    profile, classes = profile_records(area.codes, sex, 2)
    regions = make_regions(["a", "b"], np.array([[0.0, 0.0], [1.0, 0.0]]))
    return table, profile, classes, regions, Crosswalk(np.array([0, 0]), 1)


@pytest.mark.parametrize("k", [1, 0, -5, 1.5, 2.5])
def test_release_and_measures_refuse_it(case, k):
    table, profile, classes, regions, crosswalk = case
    with pytest.raises(InputError, match=WORDS.format(k)):
        release(table, table.area.codes, classes, profile, crosswalk, k)
    with pytest.raises(InputError, match=WORDS.format(k)):
        evaluate(regions, profile, crosswalk, np.zeros((1, 2)), k)
    with pytest.raises(InputError, match=WORDS.format(k)):
        BASELINES["merging until k-anonymous"](regions, profile, BaselineOptions(k=k))
    with pytest.raises(InputError, match=WORDS.format(k)):
        check_table(table, k)


def test_two_is_enough(case):
    table, profile, classes, _, crosswalk = case
    check_k(2)
    check_k(np.int64(7))
    assert len(release(table, table.area.codes, classes, profile, crosswalk, 2)) == 4
