"""vbas:ratemap, vbas:clusterscan and vbas:moran in a real QGIS: planted clusters, empty maps, what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from vbas.core.analysis.moran import NOT_TOLD

from .conftest import make_layer
from .nested_town import make_town

QUASI = ["sex", "age"]
COUNTED_BY_CASES = {"MARGIN_AREA": "da", "MARGIN_FIELDS": ["sex", "even"], "MARGIN_COUNT": "n"}


@pytest.fixture(scope="module")
def town():
    return make_town()


@pytest.fixture(scope="module")
def ill(town):
    """Who is ill: by place, or by chance alone."""
    rng = np.random.default_rng(3)
    corner = {town.identifiers[i] for i in (0, 1, 6, 7)}
    there = np.array([row[0] in corner for row in town.records])
    return {
        "planted": (rng.random(len(there)) < np.where(there, 0.5, 0.1)).astype(int).tolist(),
        "even": (rng.random(len(there)) < 0.15).astype(int).tolist(),
        "corner": corner,
    }


@pytest.fixture
def release(run, town, ill):
    """A nested release with both outcomes among its fields."""
    names = ("home", "sex", "age", "diagnosis", "name")
    columns = dict(zip(names, map(list, zip(*town.records))))
    del columns["name"]
    columns |= {"planted": ill["planted"], "even": ill["even"], "all": [1] * len(ill["even"])}
    return run(
        "anonymize",
        REGIONS=town.area_layer(),
        REGION_ID="da",
        POPULATION="people",
        RECORDS=make_layer(columns),
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=QUASI,
        KEEP_FIELDS=["planted", "even", "all", "diagnosis"],
        RELEASE="nested levels",
        RELEASED_RECORDS="memory:",
        CROSSWALK="memory:",
    )


@pytest.fixture
def study(run, town, release):
    def one(algorithm, **changes):
        outputs = {"ratemap": ("RATE_MAP",), "clusterscan": ("CLUSTERS", "CIRCLES"), "moran": ("LOCAL_MORAN",)}
        given = {
            "RECORDS": release.layer("RELEASED_RECORDS"),
            "CROSSWALK": release.layer("CROSSWALK"),
            "QUASI_IDENTIFIERS": QUASI,
            "REGIONS": town.area_layer(),
            "REGION_ID": "da",
            "POPULATION": "people",
            **dict.fromkeys(outputs[algorithm], "memory:"),
        }
        return run(algorithm, **{**given, **changes})

    return one


def told(done):
    return "\n".join(done.log)


def test_a_planted_cluster_is_found_and_an_empty_map_left_empty(study, ill):
    done = study("clusterscan", CASE_FIELD="planted")
    assert done.results["P_VALUE"] == pytest.approx(0.001)
    assert done.results["N_CLUSTERS"] >= 1 and done.results["RELATIVE_RISK"] > 2
    first = done.rows("CLUSTERS")[0]
    assert first["cluster"] == 1 and first["da"] in ill["corner"] and 2 <= first["areas"] <= 9
    assert first["cases"] > first["expected"] > first["effective"]
    assert first["p_value"] == done.results["P_VALUE"]
    (shape, circle) = (next(done.layer(name).getFeatures()).geometry() for name in ("CLUSTERS", "CIRCLES"))
    assert shape.area() == pytest.approx(first["areas"] * 500**2, rel=1e-3)
    assert circle.boundingBox().width() / 2 == pytest.approx(first["radius"], rel=0.01)
    assert "cluster" in told(done) and "(estimate)" in done.layer("CLUSTERS").name()
    empty = study("clusterscan", CASE_FIELD="even")
    assert empty.results["N_CLUSTERS"] == 0 and empty.results["P_VALUE"] > 0.05
    assert not empty.rows("CLUSTERS")
    p = empty.results["P_VALUE"]
    assert f"in {100 * p:.1f} of 100 maps (p = {p:.3f})" in told(empty) and "No cluster at the level of 0.05" in told(
        empty
    )
    common = study("clusterscan", CASE_FIELD="planted", MODEL="Bernoulli", DRAWS=99)
    assert common.results["P_VALUE"] == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("looked_for", "sentence"),
    [
        ("high rates", "No circle of two effective cases or more has more than expected."),
        ("low rates", "No circle in which two effective cases or more are expected has fewer."),
        ("either", "Every circle of two effective cases or more has as many as expected."),
    ],
)
def test_where_no_circle_stands_out_the_log_says_of_what_kind(study, town, looked_for, sentence):
    """All areas at one place: there is no circle but that of the whole map."""
    n = len(town.identifiers)
    square = "Polygon((598000 6643000, 598500 6643000, 598500 6643500, 598000 6643500, 598000 6643000))"
    areas = make_layer({"da": list(town.identifiers), "people": [9] * n}, [square] * n, "EPSG:25833")
    done = study("clusterscan", CASE_FIELD="even", REGIONS=areas, LOOK_FOR=looked_for, DRAWS=19)
    assert sentence in told(done) and done.results["N_CLUSTERS"] == 0


def test_a_single_case_is_not_said_to_be_as_expected_everywhere(study, town):
    """Where it is, there is one in place of a twentieth: but no circle of fewer than two is looked at."""
    numbers = list(range(1, len(town.identifiers) + 1))
    own = make_layer({"da": list(town.identifiers), "vbas_region": numbers})
    regions = [number for number in numbers for _ in range(20)]
    records = make_layer({"vbas_region": regions, "sex": ["F"] * len(regions), "case": [1] + [0] * (len(regions) - 1)})
    done = study("clusterscan", RECORDS=records, CROSSWALK=own, QUASI_IDENTIFIERS=["sex"], CASE_FIELD="case", DRAWS=19)
    assert "No circle of two effective cases or more has more than expected." in told(done)


def test_a_cluster_with_every_case_inside_says_so(study, town):
    numbers = list(range(1, len(town.identifiers) + 1))
    own = make_layer({"da": list(town.identifiers), "vbas_region": numbers})
    cases = [int(number == 1) for number in numbers for _ in range(20)]
    regions = [number for number in numbers for _ in range(20)]
    records = make_layer({"vbas_region": regions, "sex": ["F"] * len(cases), "case": cases})
    done = study("clusterscan", RECORDS=records, CROSSWALK=own, QUASI_IDENTIFIERS=["sex"], CASE_FIELD="case", DRAWS=99)
    assert done.results["N_CLUSTERS"] == 1
    assert f"around area {town.identifiers[0]}, with 20.0 estimated cases" in told(done)
    assert "(no cases outside, p = 0.010)" in told(done) and "nan" not in told(done)


def test_moran_tells_a_pattern_from_what_spreading_makes(study, ill, town):
    done = study("moran", CASE_FIELD="planted")
    assert done.results["P_VALUE"] <= 0.01 and done.results["Z"] > 2
    told = {row["da"] for row in done.rows("LOCAL_MORAN") if row["pattern"] != NOT_TOLD}
    assert told & ill["corner"] and len(told) == done.results["N_AREAS"]
    empty = study("moran", CASE_FIELD="even")
    assert empty.results["P_VALUE"] > 0.05 and empty.results["N_AREAS"] == 0
    assert empty.results["EXPECTED_I"] > 0  # spreading alone makes neighbours alike
    assert len(empty.rows("LOCAL_MORAN")) == len(town.identifiers)


def test_a_map_of_rates(study, ill):
    done = study("ratemap", CASE_FIELD="planted", PER=100)
    rows = done.rows("RATE_MAP")
    assert sum(row["cases"] for row in rows) == pytest.approx(done.results["N_CASES"])
    assert sum(row["expected"] for row in rows) == pytest.approx(done.results["N_CASES"])
    for row in rows:
        assert row["ratio_low"] < row["ratio"] < row["ratio_high"]
        assert row["rate"] == pytest.approx(row["ratio"] * done.results["OVERALL_RATE"])
        assert row["sd_places"] >= 0 < row["sd_chance"]
    inside = np.mean([row["ratio"] for row in rows if row["da"] in ill["corner"]])
    assert inside > 1.5 > np.mean([row["ratio"] for row in rows if row["da"] not in ill["corner"]])
    assert done.results["BANDWIDTH_USED"] > 0
    wide = study("ratemap", CASE_FIELD="planted", BANDWIDTH=1e6)
    assert {round(row["ratio"], 3) for row in wide.rows("RATE_MAP")} == {1.0}
    for smoothing in ("empirical Bayes", "none"):
        assert study("ratemap", CASE_FIELD="planted", SMOOTHING=smoothing).results["BANDWIDTH_USED"] == 0


def test_adjusted_and_with_people_from_elsewhere(study):
    for changes in ({"ADJUST": ["age", "sex"]}, {"DENOMINATOR": "population of the areas"}):
        done = study("clusterscan", CASE_FIELD="planted", DRAWS=99, **changes)
        assert done.results["P_VALUE"] <= 0.02
        assert study("moran", CASE_FIELD="even", DRAWS=99, **changes).results["P_VALUE"] > 0.05


def test_case_values_and_rows_without_a_value(study):
    one = study("ratemap", CASE_FIELD="diagnosis", CASE_VALUES="flu")
    assert one.results["N_CASES"] < one.results["N_RECORDS"] and "without a value in diagnosis" in told(one)
    other = study("ratemap", CASE_FIELD="diagnosis", CASE_VALUES=" cold ;")
    assert one.results["N_CASES"] + other.results["N_CASES"] == one.results["N_RECORDS"]


@pytest.mark.parametrize(
    ("algorithm", "changes", "sentence"),
    [
        ("clusterscan", {"CASE_FIELD": "sex", "CASE_VALUES": "F"}, "is a quasi-identifier.*find clusters where there"),
        ("moran", {"CASE_FIELD": "all"}, "All released records are cases by.*no test would hold its level"),
        ("ratemap", {"CASE_FIELD": "all"}, "choose “population of the areas”"),
        ("moran", {"CASE_FIELD": "diagnosis"}, "values beside 1 and 0"),
        ("moran", {"CASE_FIELD": "diagnosis", "CASE_VALUES": "plague"}, "no value “plague”"),
        ("clusterscan", {"CASE_FIELD": "even", "ADJUST": ["even"]}, "is in ADJUST too"),
        ("clusterscan", {"CASE_FIELD": "even", "ADJUST": ["sex"], "MODEL": "Bernoulli"}, "has no ADJUST"),
        ("moran", {"CASE_FIELD": "even", **COUNTED_BY_CASES}, "is in MARGIN_FIELDS too.*find clusters where there"),
        ("clusterscan", {"CASE_FIELD": "even", **COUNTED_BY_CASES}, "is in MARGIN_FIELDS too"),
        (
            "clusterscan",
            {"CASE_FIELD": "even", "DENOMINATOR": "population of the areas", "MODEL": "Bernoulli"},
            "among the records",
        ),
    ],
)
def test_what_cannot_be_studied_is_refused_in_a_sentence(study, algorithm, changes, sentence):
    if "MARGIN_AREA" in changes:
        table = {"da": ["a"], "sex": ["F"], "even": [1], "n": [9]}
        changes = {**changes, "MARGINS": make_layer(table)}
    with pytest.raises(QgsProcessingException, match=sentence):
        study(algorithm, **changes)


def test_a_map_of_a_quasi_identifier_warns(study):
    done = study("ratemap", CASE_FIELD="sex", CASE_VALUES="F")
    assert "is a quasi-identifier" in told(done) and "pulled towards" in told(done)


def test_the_same_seed_gives_the_same(study):
    first, second, other = (study("moran", CASE_FIELD="even", DRAWS=99, SEED=seed).results["Z"] for seed in (1, 1, 2))
    assert first == second != other


@pytest.fixture
def spread(run, town, release):
    """SPREAD of the same release."""
    return run(
        "spreadrelease",
        RECORDS=release.layer("RELEASED_RECORDS"),
        CROSSWALK=release.layer("CROSSWALK"),
        QUASI_IDENTIFIERS=QUASI,
        KEEP_FIELDS=["planted", "even"],
        REGIONS=town.area_layer(),
        REGION_ID="da",
        POPULATION="people",
        SPREAD="memory:",
    )


@pytest.mark.slow
def test_spread_records_give_what_the_release_gives(study, spread):
    # The width of the kernel is chosen from parts of the cases, which are dealt out in another order.
    for algorithm, output, names, more in (
        ("ratemap", "RATE_MAP", ("cases", "expected", "ratio", "ratio_low", "sd_places"), {"BANDWIDTH": 800}),
        ("clusterscan", "CLUSTERS", ("areas", "cases", "effective", "llr", "p_value"), {}),
    ):
        given = {"CASE_FIELD": "planted", "ADJUST": ["sex"], **more}
        direct = study(algorithm, **given).rows(output)
        again = study(algorithm, **given, RECORDS=spread.layer("SPREAD"), CROSSWALK=None).rows(output)
        assert len(direct) == len(again) > 0
        for one, other in zip(direct, again):
            assert [one[name] for name in names] == pytest.approx([other[name] for name in names], rel=1e-6, abs=0.02)


def test_what_does_not_count_beside_spread_records_is_said(study, spread):
    with pytest.raises(QgsProcessingException, match="spread already: take out LEAVE_OUT"):
        study("moran", CASE_FIELD="even", RECORDS=spread.layer("SPREAD"), CROSSWALK=None, LEAVE_OUT="in zones")
    with pytest.raises(QgsProcessingException, match="CROSSWALK is not given"):
        study("moran", CASE_FIELD="even", CROSSWALK=None)
