"""How many sites: the published models."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vbas.core.errors import InputError
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values
from vbas.core.site_number import APPROACHES, SiteNumberOptions
from vbas.core.site_number.cutoff import GAPS_MODELS, MIDDLE, MiddleModel, class_entropy, gaps_model, sites_for_cutoff


def profile_of(sex, age, n_regions=10):
    columns = {"sex": column_from_values(sex), "age": column_from_values(age)}
    return profile_records(np.arange(len(sex)) % n_regions, columns, n_regions)[0]


WEST = [f"4611{i:04d}" for i in range(1000)]


def people(n=200_000):
    return profile_of((["F", "M"] * n)[:n], ([1, 2, 3, 4, 4] * n)[:n])


def test_max_combinations_by_hand():
    number = APPROACHES["max combinations"](people(), WEST)
    assert number.max_combinations == 8
    assert number.cutoff == pytest.approx(1588 * 8**0.42)
    assert number.n_sites == math.floor(200_000 / (1588 * 8**0.42) + 0.5)


@pytest.mark.parametrize(
    ("cutoff", "n_regions", "sentence"),
    [
        (1.0, 15, "At 1 person per region 20 records would make 20 regions, but there are only 15 areas: so many"),
        (1.0, 1, "At 1 person per region 20 records would make 20 regions, but there is only 1 area: one region"),
        (10.0, 15, "At 10 people per region 20 records make 2 regions."),
        (20.0, 15, "At 20 people per region 20 records make 1 region."),
    ],
)
def test_what_a_cut_off_makes_reads_well_of_one_too(cutoff, n_regions, sentence):
    profile = profile_of(["F"] * 20, [1] * 20, n_regions)
    number = sites_for_cutoff(profile, n_regions, cutoff, SiteNumberOptions(), ())
    assert number.notes[-1].startswith(sentence)


def test_entropy_by_hand():
    profile = people()
    share = profile.class_sizes / profile.n_records
    expected = -sum(p * math.log(p) for p in share)
    number = APPROACHES["entropy"](profile, WEST)
    assert number.entropy == pytest.approx(expected)
    assert number.cutoff == pytest.approx(1588 * expected**0.42)
    assert class_entropy(profile, 2) == pytest.approx(expected / math.log(2))


def test_entropy_gives_more_sites_than_max_combinations():
    numbers = {name: APPROACHES[name](people(), WEST).n_sites for name in ("entropy", "max combinations")}
    assert numbers["entropy"] > numbers["max combinations"]


def test_bounds_of_the_number():
    few = profile_of(["F", "M", "F"], [1, 2, 3])
    assert APPROACHES["max combinations"](few, WEST).n_sites == 1
    many = SiteNumberOptions(cutoff=1)
    assert APPROACHES["population cut-off"](people(), WEST, many).n_sites == len(WEST)


def test_halves_are_rounded_up():
    """Of 10 people and a cut-off of 4 come 2.5 sites; the nearest even number would be 2."""
    ten = profile_of(["F"] * 10, [1] * 10)
    assert APPROACHES["population cut-off"](ten, WEST, SiteNumberOptions(cutoff=4)).n_sites == 3


@pytest.mark.parametrize(
    ("identifiers", "region"),
    [
        (["10010001", "11990001", "12010001", "13010123"], "Eastern Canada"),
        (["24660001", "35060001001"], "Central Canada"),
        (["46110001", "47", "48", "59", "60", "61", "62"], None),
        ([46110001, 59150001], "Western Canada"),
        (["2021S051246110001", "2021S051346110001001", None], "Western Canada"),
    ],
)
def test_model_is_read_from_the_identifiers(identifiers, region):
    expected = (region, GAPS_MODELS[region]) if region else (MIDDLE, MiddleModel(tuple(GAPS_MODELS.values())))
    assert gaps_model(identifiers, SiteNumberOptions()) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "identifiers",
    [
        ["24", "35"],  # departments of France
        ["240370101", "350470101"],  # and their IRIS
        ["24037", "35047"],  # and their communes
        ["46110", "4611"],  # census subdivisions and divisions are no dissemination areas
        ["4600123"],
        ["46000001"],  # there is no census division 00
        ["14010001"],  # and no province 14
        ["2021A000246110001"],
        ["46110001", "town hall"],
        [],
    ],
)
def test_other_areas_get_the_middle_model_and_a_sentence(identifiers):
    name, model = gaps_model(identifiers, SiteNumberOptions())
    assert name == MIDDLE
    for x in (1.5, 8, 200, 1e5):
        assert model.cutoff(x) == np.median([one.cutoff(x) for one in GAPS_MODELS.values()])
    for approach in ("max combinations", "max combinations (2018)", "entropy"):
        (note, _) = APPROACHES[approach](people(), [*identifiers, "x"]).notes
        assert "the identifiers of your areas are not Canadian" in note
        assert "a number of your own" in note
        (note, _) = APPROACHES[approach](people(), WEST).notes
        assert note.endswith("of Western Canada.")


def test_several_parts_of_canada_end_in_the_choices():
    with pytest.raises(InputError, match="several parts of Canada") as error:
        gaps_model(["46110001", "35060001"], SiteNumberOptions())
    assert all(f"“{name}”" in str(error.value) for name in (*GAPS_MODELS, "custom"))


def test_custom_model_and_named_region():
    custom = SiteNumberOptions(gaps_region="custom", gaps_coefficient=1000, gaps_exponent=0.5)
    assert APPROACHES["max combinations"](people(), ["x"] * 500, custom).cutoff == pytest.approx(1000 * 8**0.5)
    east = SiteNumberOptions(gaps_region="Eastern Canada")
    assert APPROACHES["max combinations"](people(), ["x"] * 500, east).cutoff == pytest.approx(1978 * 8**0.304)


@pytest.mark.parametrize(
    ("approach", "options", "words"),
    [
        ("given number", {"n_sites": 0}, "N_SITES is 0"),
        ("given number", {"n_sites": 1001}, "N_SITES is 1001, but must be between 1 and .* 1000"),
        ("population cut-off", {"cutoff": 0}, "CUTOFF is 0"),
        ("entropy", {"log_base": 1}, "LOG_BASE is 1"),
        ("entropy", {"log_base": 0.5}, "LOG_BASE is 0.5: give a base above 1"),
        ("entropy", {"gaps_region": "custom", "gaps_coefficient": 0}, "GAPS_COEFFICIENT is 0"),
    ],
)
def test_settings_out_of_range_are_refused(approach, options, words):
    with pytest.raises(InputError, match=words):
        APPROACHES[approach](people(), WEST, SiteNumberOptions(**options))


def test_one_class_has_no_entropy():
    with pytest.raises(InputError, match="entropy is 0"):
        APPROACHES["entropy"](profile_of(["F"] * 9, [1] * 9), WEST)
    number = APPROACHES["max combinations (2018)"](profile_of(["F"] * 9, [1] * 9), WEST)
    assert str(number.entropy) == "0.0"  # and not -0.0
