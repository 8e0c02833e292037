"""The forms count the categories that at least K records have, and offer the published count by name."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("site_number", "k", "combinations"),
    [("max combinations", 2, 15), ("max combinations", 3, 10), ("max combinations (2018)", 3, 15)],
)
def test_a_value_below_k_counts_only_where_the_published_count_is_asked_for(run, grid, site_number, k, combinations):
    _, records = grid
    # Of two sexes and five age groups; two records get a third sex.
    records.startEditing()
    for feature, _ in zip(records.getFeatures(), range(2)):
        records.changeAttributeValue(feature.id(), records.fields().indexOf("sex"), "rare")
    assert records.commitChanges()
    done = run(
        "sitenumber",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        K=k,
        SITE_NUMBER=site_number,
        GAPS_REGION="Western Canada",
    )
    assert done.results["MAX_COMBINATIONS"] == combinations
    assert done.results["CUTOFF"] == pytest.approx(1588 * combinations**0.42)
