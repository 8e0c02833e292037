"""Classes of coarser values beside counts that others publish: what is known of them is no small count either."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.generalising import make_hierarchy
from vbas.core.levels import Levels, with_coarser_values
from vbas.core.privacy.count_rows import CountRows
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

K = 4
AREAS = make_areas(list("abcd"), [(0, 0), (900, 0), (0, 900), (900, 900)])
COARSER = {"18": "young", "25": "young", "65": "old", "80": "old"}


@pytest.mark.parametrize("beside", [False, True])
def test_a_woman_who_is_alone_in_an_area_is_not_known_to_be_young(beside):
    """All five women of the region are shown as young: one of them is the one whom the table counts in “one”."""
    people = [("a", "18", "F"), *[("c", "18", "F")] * 2, *[("c", "25", "F")] * 2, *[("c", "18", "M")] * 2]
    people += [*[("b", "18", "F")] * 3, ("b", "18", "M"), ("b", "65", "M"), ("b", "80", "M")]
    people += [*[("d", "18", "F")] * 4, ("d", "65", "M"), ("d", "80", "F")]
    area, age, sex = zip(*people)
    columns = {"age": column_from_values(age), "sex": column_from_values(sex)}
    records = match_records(RecordTable(column_from_values(area), columns, {}), AREAS)
    ages = records.table.quasi_identifiers["age"].categories
    hierarchy = make_hierarchy("age", ages, [[COARSER[value] for value in ages], ["all"] * len(ages)])
    levels = with_coarser_values(Levels((Crosswalk(np.array([1, 0, 1, -1]), 2),)), [("age", 1), ("age", 2)])
    rows = CountRows(
        ["one", "rest", "rest"], {"sex": ["F", "F", "M"]}, [1, 12, 6], {"a": "one", **dict.fromkeys("bcd", "rest")}
    )
    ask = Ask(K, nested=True, hierarchies={"age": hierarchy}, published_counts=rows if beside else None)
    release = anonymise(AREAS, records, levels, ask).release
    shown = release.fields["age"].categories[release.fields["age"].codes].tolist()
    assert ("young" in shown) is not beside
