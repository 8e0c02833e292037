"""The recount at the end of a release: it looks at every quasi-identifier and at records, not rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError, PrivacyError
from vbas.core.plan import suppress
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable, checked_counts
from vbas.core.release import Release, apply, smallest_class

AREAS = make_areas(["a", "b"], [[0, 0], [1, 0]])
TOWN = Crosswalk(np.array([0, 0]), 1)
ONCE = np.ones(7, np.int64)
COUNTRY = Crosswalk(np.array([0, 1]), 2)


def table_of(ages, counts=None, homes="aaaabbbb"):
    n = len(ages)
    return RecordTable(
        column_from_values(list(homes)[:n]),
        {"sex": column_from_values(["F"] * n), "age": column_from_values(list(ages))},
        {},
        None if counts is None else np.array(counts),
    )


def released(table, crosswalk=TOWN, k=4, looked_at=("sex",)):
    """A release whose suppression looked at these quasi-identifiers only: the recount has to notice the others."""
    seen = replace(table, quasi_identifiers={name: table.quasi_identifiers[name] for name in looked_at})
    records = match_records(seen, AREAS)
    return apply(suppress(records.profile, crosswalk, k), replace(records, table=table))


def test_the_last_quasi_identifier_is_counted_by():
    with pytest.raises(PrivacyError, match="fewer than 4 records"):
        released(table_of("11111222"))
    assert len(released(table_of("11112222"))) == 8


def test_the_first_quasi_identifier_is_counted_by():
    table = table_of("11111222")
    turned = replace(table, quasi_identifiers=dict(reversed(table.quasi_identifiers.items())))
    with pytest.raises(PrivacyError, match="fewer than 4 records"):
        released(turned)


def test_the_region_is_counted_by():
    result = Release(np.zeros(4, np.int64), np.array([0, 0, 0, 1]), {"sex": column_from_values(list("FFFF"))}, ONCE[:4])
    assert smallest_class(result, 1) == 1
    assert smallest_class(replace(result, region=np.zeros(4, np.int64)), 1) == 4


def test_the_level_is_counted_by():
    """Region 0 of the finer level is another one than region 0 of the coarser."""
    result = Release(np.array([0, 0, 0, 1]), np.zeros(4, np.int64), {"sex": column_from_values(list("FFFF"))}, ONCE[:4])
    assert smallest_class(result, 1) == 1


def test_a_class_of_one_less_than_k_is_noticed():
    columns = {"sex": column_from_values(list("FFFFMMM"))}
    assert smallest_class(Release(np.zeros(7, np.int64), np.zeros(7, np.int64), columns, ONCE), 1) == 3
    with pytest.raises(PrivacyError, match="fewer than 4 records"):
        released(table_of("1111222", homes="aaaabbb"))


def test_records_are_counted_not_rows():
    assert len(released(table_of("12", [4, 4], "ab"))) == 2
    with pytest.raises(PrivacyError, match="fewer than 4 records"):
        released(table_of("12", [5, 3], "ab"))


@pytest.mark.parametrize(
    "counts", [[2.0**53], [2.0**52, 2.0**52], [1e300], [2.0**62, 2.0**62, 2.0**62], [float(2**53 - 1), 1.0]]
)
def test_more_records_than_can_be_counted_exactly_are_refused(counts):
    with pytest.raises(
        InputError,
        match=r"RECORD_COUNT field “n” (adds up to .* more than can be counted exactly|is too large to be exact)",
    ):
        checked_counts(np.array(counts), "n")


def test_as_many_records_as_can_be_counted_are_counted_exactly():
    counts = checked_counts(np.array([float(2**53 - 3), 2.0]), "n")
    assert counts.tolist() == [2**53 - 3, 2]
    result = released(table_of("11", counts, "ab"))
    assert result.counts.tolist() == [2**53 - 1]
    assert smallest_class(result, 2) == 2**53 - 1
