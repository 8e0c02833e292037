"""What is asked for and not done is said, by the library and the command as by the forms."""

from __future__ import annotations

import warnings

import pytest

from vbas import anonymize
from vbas.core.job.conditions import of_settings
from vbas.core.job.settings import SETTINGS

AREAS = {"area": ["a", "b", "c", "d"], "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
RECORDS = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12, "ill": ["no", "yes", "no"] * 8}


def said(**settings):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        anonymize(AREAS, RECORDS, area="area", quasi_identifiers="sex", k=3, **settings)
    return [str(warning.message) for warning in heard if "has no effect" in str(warning.message)]


def test_what_is_asked_of_sensitive_fields_and_none_is_named():
    assert said(l_diversity=2) == ["L_DIVERSITY = 2 has no effect here: it counts only where SENSITIVE is given."]
    assert said(max_share=60) == ["MAX_SHARE = 60 has no effect here: it counts only where SENSITIVE is given."]
    assert said(l_diversity=2, sensitive="ill") == said(l_diversity=1) == []


def test_what_a_combination_or_one_level_does_not_take():
    assert said(n_sites=2, disclosure="no small count follows") == [
        "N_SITES = 2 has no effect here: it counts only where SITE_NUMBER is “given number”.",
        "DISCLOSURE = “no small count follows” has no effect here: it counts only where RELEASE is “nested levels”.",
    ]
    assert said(n_sites=2, combination="custom") == [
        "N_SITES = 2 has no effect here: it counts only where SITE_NUMBER is “given number”."
    ]
    assert said(n_sites=2, combination="custom", site_number="given number") == []
    assert said(release="nested levels", disclosure="no small count follows", closed_by_chance=2) == []


def test_a_table_counts_as_given():
    counts = {"area": list("abcd"), "n": [9] * 4}
    assert said(published_counts=counts, published_area="area", published_number="n") == []
    assert said(published_area="area") == [
        "PUBLISHED_AREA = “area” has no effect here: it counts only where PUBLISHED_COUNTS is given."
    ]


def test_a_choice_without_effect_makes_nothing_else_count():
    custom = {"combination": "custom", "aggregation": "basic Voronoi"}
    assert said(coarsest=2, ratio=3, release="nested levels", level_fields="x") == [
        f"{name} has no effect here: it counts only where LEVEL_FIELDS is not given."
        for name in ("COARSEST = 2", "RATIO = 3")
    ]
    assert said(seed=7, **custom) == [
        "SEED = 7 has no effect here: it counts only where SITE_LOCATION is “random”, START is “random” or AGGREGATION "
        "is “anonymity exchange”."
    ]
    assert said(seed=7, site_location="random", **custom) == []


@pytest.mark.parametrize("name", of_settings())
def test_every_setting_that_needs_another_is_one(name):
    assert name in SETTINGS
    for condition in of_settings()[name]:
        for other, words in condition.items():
            assert isinstance(words, bool) or set(words) <= set(SETTINGS[other].choices)


def test_what_a_combination_chooses_counts_in_place_of_what_was_typed():
    """All combinations but “custom” choose SITE_NUMBER; “all-rounder” one that looks at GAPS_REGION."""
    assert said(gaps_region="Western Canada", site_number="given number") == [
        "SITE_NUMBER = “given number” has no effect here: it counts only where COMBINATION is “custom”."
    ]
