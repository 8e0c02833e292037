"""The published coefficients of the cut-off models, and what they come to, in plain numbers."""

from __future__ import annotations

import pytest

from vbas.core.site_number.cutoff import GAPS_MODELS
from vbas.core.site_number.population_cutoff import PUBLISHED_CUTOFFS

# Croft 2018, Table 1: e^B0 and B1, the same for entropy and max combinations.
TABLE_1 = {"Western Canada": (1588, 0.42), "Central Canada": (1436, 0.43), "Eastern Canada": (1978, 0.304)}


def test_the_models_are_those_of_table_1():
    assert {name: (model.coefficient, model.exponent) for name, model in GAPS_MODELS.items()} == TABLE_1


@pytest.mark.parametrize(
    ("name", "people_for_one", "people_for_hundred"),
    [("Western Canada", 1588, 10_986), ("Central Canada", 1436, 10_403), ("Eastern Canada", 1978, 8_021)],
)
def test_what_a_model_asks_for(name, people_for_one, people_for_hundred):
    # 100^0.42 = 6.9183, 100^0.43 = 7.2444, 100^0.304 = 4.0551.
    assert GAPS_MODELS[name].cutoff(1) == people_for_one
    assert round(GAPS_MODELS[name].cutoff(100)) == people_for_hundred


def test_the_published_cut_offs():
    # Croft 2015, 2.2.
    assert sorted(PUBLISHED_CUTOFFS.values()) == [70_000, 100_000, 120_000]
