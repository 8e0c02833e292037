"""Distributions estimated from microdata, and whole rows drawn from them."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from vbas.core.errors import InputError
from vbas.core.synthetic.generator import SpatialTilt, generate_records
from vbas.core.synthetic.microdata import estimate_distributions, microdata_rows, missing_codes

PROVINCES = [10, 10, 10, 24, 24]
SEX = [1, 2, 9, 1, 1]
AGE = ["6", "7", "6", "96", "6"]
WEIGHTS = [3.0, 1.0, 5.0, 2.0, 2.0]


def shares(found, attribute, province):
    """Share by category, above 0."""
    row = found.provinces.tolist().index(province)
    table = found.attributes[attribute]
    return {c: s for c, s in zip(table.categories.tolist(), table.shares[row].tolist()) if s > 0}


def test_shares_are_weighted_and_codes_left_out():
    missing = missing_codes("6, 9; age: 96, 99", ["sex", "age"])
    distributions = estimate_distributions(PROVINCES, {"sex": SEX, "age": AGE}, WEIGHTS, missing)
    assert shares(distributions, "sex", "10") == {1: 0.75, 2: 0.25}
    assert shares(distributions, "sex", "24") == {1: 1.0}
    assert shares(distributions, "age", "10") == pytest.approx({"6": 8 / 9, "7": 1 / 9})
    assert shares(distributions, "age", "24") == {"6": 1.0}
    assert distributions.notes == (
        "“sex” is not stated in 1 of 5 rows: it was left out.",
        "“age” is not stated in 1 of 5 rows: it was left out.",
    )


def test_without_weights_and_codes_every_row_counts_once_but_empty_values_do_not():
    distributions = estimate_distributions([*PROVINCES, None], {"sex": [1, None, 9, 1, 1, 1]})
    assert shares(distributions, "sex", "10") == {1: 0.5, 9: 0.5}
    assert "1 row of MICRODATA has no province and was left out." in distributions.notes


def test_codes_are_common_or_by_attribute():
    assert missing_codes("6, 9, 96", ["sex", "age"]) == {"sex": ["6", "9", "96"], "age": ["6", "9", "96"]}
    assert missing_codes("6,9 ; age : 96,99", ["sex", "age"]) == {"sex": ["6", "9"], "age": ["96", "99"]}
    assert missing_codes("age:", ["sex", "age"]) == missing_codes("", ["sex", "age"]) == {"sex": [], "age": []}
    with pytest.raises(InputError, match="MISSING names “income”"):
        missing_codes("income: 9", ["sex"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"attributes": {}}, "ATTRIBUTES is empty"),
        ({"weights": [1, 1, -1, 1, 1]}, "negative in 1 row of MICRODATA .*row 3"),
        ({"weights": [1, 1, None, 1, 1]}, "missing in 1 row of MICRODATA .*row 3"),
        ({"weights": ["x"] * 5}, "WEIGHT is not a number"),
        ({"weights": [0] * 5}, "No row of MICRODATA"),
        ({"weights": [1e308] * 5}, "cannot be counted together exactly"),
        ({"weights": [1, 1, 1, 1, 1e308]}, "WEIGHT is between 1 and 1 × 10³⁰⁸"),
        ({"weights": [1, 1, 1, 1, 1e16]}, "cannot be counted together exactly"),
        ({"weights": [1, 1, 1, 1, 1e-320]}, "cannot be counted together exactly"),
        ({"provinces": [None] * 5}, "No row of MICRODATA"),
        ({"missing": [1, 9]}, "“sex” is not stated by anyone in 1 province .*“24”"),
        ({"missing": {"agee": [1]}}, "MISSING names “agee”"),
    ],
)
def test_unusable_microdata_are_refused(arguments, words):
    usable = {"provinces": PROVINCES, "attributes": {"sex": SEX}, "weights": WEIGHTS}
    with pytest.raises(InputError, match=words):
        estimate_distributions(**{**usable, **arguments})


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31))
def test_shares_are_those_that_pandas_counts(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"province": rng.integers(1, 4, 60), "age": rng.integers(0, 5, 60), "weight": rng.integers(0, 4, 60) + 0.5}
    )
    distributions = estimate_distributions(frame.province.tolist(), {"age": frame.age.tolist()}, frame.weight.tolist())
    total = frame.groupby("province").weight.sum()
    for (province, age), weight in frame.groupby(["province", "age"]).weight.sum().items():
        assert shares(distributions, "age", str(province))[age] == pytest.approx(weight / total[province])


def test_whole_rows_are_drawn_by_weight_and_keep_together():
    provinces, sex, age = ["a"] * 3 + ["b"], ["f", "m", "m", "f"], [1, 2, 3, 4]
    source = microdata_rows(provinces, {"sex": sex, "age": age}, [1.0, 2.0, 5.0, 1.0])
    table = generate_records(range(200), ["b", "a"] * 100, source).table()
    values = {name: column.categories[column.codes] for name, column in table.quasi_identifiers.items()}
    drawn = pd.DataFrame({"province": table.area.codes % 2, **values}).value_counts().to_dict()
    assert set(drawn) == {(0, "f", 4), (1, "f", 1), (1, "m", 2), (1, "m", 3)}
    counts = np.array([drawn[1, "f", 1], drawn[1, "m", 2], drawn[1, "m", 3]])
    assert stats.chisquare(counts, counts.sum() * np.array([1, 2, 5]) / 8).pvalue > 0.001


def test_rows_that_state_not_everything_are_not_drawn():
    source = microdata_rows(PROVINCES, {"sex": SEX, "age": AGE}, WEIGHTS, {"sex": [9], "age": [96]})
    assert source.notes == ("2 of 5 rows were left out because an attribute is not stated.",)
    table = generate_records(range(9), [24] * 9, source).table()
    assert {name: set(c.categories[c.codes]) for name, c in table.quasi_identifiers.items()} == {
        "sex": {1},
        "age": {"6"},
    }
    with pytest.raises(InputError, match="No row of MICRODATA states all"):
        microdata_rows(PROVINCES, {"sex": SEX}, WEIGHTS, [1, 2, 9])


def test_whole_rows_cannot_be_tilted():
    source = microdata_rows(PROVINCES, {"sex": SEX})
    with pytest.raises(InputError, match="VARIATION needs attributes that are drawn independently"):
        generate_records([1], [10], source, tilt=SpatialTilt(np.zeros((1, 2)), 1.0, 1.0))


def test_a_real_public_use_file(real_data):
    with (real_data / "cchs2011_2012_sample.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    attributes = {name: [row[name] for row in rows] for name in ("DHH_SEX", "DHHGAGE", "DHHGMS", "EDUDR04")}
    distributions = estimate_distributions(
        [row["GEOGPRV"] for row in rows],
        attributes,
        [float(row["WTS_M"]) for row in rows],
        missing_codes("6, 9; DHHGAGE: 96, 99", attributes),
    )
    assert distributions.provinces.tolist() == ["10", "11", "12", "13", "24", "35", "46", "47", "48", "59", "60"]
    assert distributions.attributes["EDUDR04"].categories.tolist() == ["1", "2", "3", "4"]
    # Age group 6 is an age group.
    assert "6" in distributions.attributes["DHHGAGE"].categories
    ontario = pd.DataFrame(rows)
    ontario = ontario[(ontario.GEOGPRV == "35") & (ontario.EDUDR04 != "9")].astype({"WTS_M": float})
    expected = (ontario.groupby("EDUDR04").WTS_M.sum() / ontario.WTS_M.sum()).to_dict()
    assert shares(distributions, "EDUDR04", "35") == pytest.approx(expected)
