"""Distributions from microdata, and test records from either."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from contextlib import closing

import numpy as np
import pytest
from qgis.core import QgsProcessingException, QgsVectorLayer

from .conftest import make_grid, make_layer


@pytest.fixture
def microdata():
    """Two provinces; in 46 age and tenure go together, 6 is an age group and 9 is not stated."""
    return make_layer(
        {
            "prov": ["46", "46", "46", "46", "10", "10", None],
            "age": [6, 6, 96, 2, 2, 2, 2],
            "tenure": ["1", "1", "2", "2", "9", "2", "2"],
            "weight": [2.0, 1.0, 1.0, 1.0, 5.0, 1.0, 7.0],
        }
    )


@pytest.fixture
def from_microdata(microdata):
    return {"MICRODATA": microdata, "ATTRIBUTES": ["age", "tenure"], "WEIGHT": "weight", "MISSING": "6, 9; age: 96"}


def estimate(run, parameters):
    return run("estimatedistributions", **parameters, PROVINCE="prov", DISTRIBUTIONS="memory:")


def test_shares_by_province_weighted_without_codes_for_not_stated(run, from_microdata):
    done = estimate(run, from_microdata)
    shares = {(r["province"], r["attribute"], r["category"]): r["share"] for r in done.rows("DISTRIBUTIONS")}
    assert shares == pytest.approx(
        {
            ("46", "age", "6"): 0.75,
            ("46", "age", "2"): 0.25,
            ("10", "age", "2"): 1.0,
            ("46", "tenure", "1"): 0.6,
            ("46", "tenure", "2"): 0.4,
            ("10", "tenure", "2"): 1.0,
        }
    )
    assert (done.results["N_PROVINCES"], done.results["N_ATTRIBUTES"]) == (2, 2)
    assert any("1 row of MICRODATA has no province" in line for line in done.log)
    unweighted = estimate(run, {**from_microdata, "WEIGHT": None}).rows("DISTRIBUTIONS")
    assert [r["share"] for r in unweighted if r["category"] == "6"] == [pytest.approx(2 / 3)]


def test_wrong_microdata_is_told_in_a_sentence(run, from_microdata):
    for change, words in (
        ({"MISSING": "income: 9"}, "MISSING names “income”"),
        ({"MISSING": "2"}, "“age” is not stated by anyone in 1 province"),
        ({"ATTRIBUTES": ["income"]}, "ATTRIBUTES: there is no field “income” in MICRODATA"),
    ):
        with pytest.raises(QgsProcessingException, match=words):
            estimate(run, {**from_microdata, **change})


def test_records_from_estimated_shares_and_straight_from_microdata_are_the_same(run, from_microdata):
    areas, _ = make_grid(side=3)
    distributions = estimate(run, from_microdata)
    base = {"REGIONS": areas, "REGION_ID": "da", "POPULATION": "people", "RECORDS": "memory:", "SEED": 4}
    by_table = run("generaterecords", **base, DISTRIBUTIONS=distributions.layer("DISTRIBUTIONS"))
    straight = run("generaterecords", **base, **from_microdata, MICRODATA_PROVINCE="prov")
    rows = by_table.rows("RECORDS")
    assert rows == straight.rows("RECORDS")
    assert list(rows[0]) == ["da", "age", "tenure"]
    assert set(Counter(row["da"] for row in rows).values()) == {40}
    assert {(row["age"], row["tenure"]) for row in rows} == {(a, t) for a in ("2", "6") for t in ("1", "2")}


def test_whole_rows_keep_together_what_belongs_together(run, from_microdata):
    areas, _ = make_grid(side=3)
    done = run(
        "generaterecords",
        REGIONS=areas,
        REGION_ID="da",
        POPULATION="people",
        **from_microdata,
        MICRODATA_PROVINCE="prov",
        DRAW="whole rows",
        RECORDS="memory:",
    )
    counts = Counter((row["age"], row["tenure"]) for row in done.rows("RECORDS"))
    assert set(counts) == {("6", "1"), ("2", "2")}
    assert counts["6", "1"] / counts.total() == pytest.approx(0.75, abs=0.08)
    assert any("left out because an attribute is not stated" in line for line in done.log)


def test_choices_that_do_not_fit_are_told_in_a_sentence(run, from_microdata):
    areas, _ = make_grid(side=3)
    base = {"REGIONS": areas, "REGION_ID": "da", "RECORDS": "memory:"}
    table = estimate(run, from_microdata)
    rows = {**from_microdata, "MICRODATA_PROVINCE": "prov"}
    for change, words in (
        ({**rows, "DISTRIBUTIONS": table.layer("DISTRIBUTIONS")}, "DISTRIBUTIONS and MICRODATA are both given"),
        ({"DRAW": "whole rows"}, "MICRODATA is not given"),
        ({**rows, "DRAW": "whole rows", "VARIATION": 0.5}, "needs attributes that are drawn independently"),
        ({"VARIATION": 0.5, "REACH": 0}, "give a strength from 0 to 10 and a reach of at least 0.001"),
    ):
        with pytest.raises(QgsProcessingException, match=words):
            run("generaterecords", **base, **change)


@pytest.mark.slow
def test_shares_vary_over_the_map_when_asked(run):
    areas, _ = make_grid(side=6)
    spread = {}
    for variation in (0.0, 1.0):
        done = run(
            "generaterecords",
            REGIONS=areas,
            REGION_ID="da",
            VARIATION=variation,
            REACH=1000,
            RECORDS="memory:",
        )
        owned = defaultdict(list)
        for row in done.rows("RECORDS"):
            owned[row["da"]].append(row["tenure"] == "owned")
        shares = np.array([np.mean(values) for values in owned.values()])
        spread[variation] = shares.std()
        assert shares.mean() == pytest.approx(0.70, abs=0.03)
    assert spread[1.0] > 4 * spread[0.0]


def test_a_log_without_settings_begins_with_what_was_done(run, microdata):
    done = estimate(run, {"MICRODATA": microdata, "ATTRIBUTES": ["age"]})
    assert done.log and all(done.log)


def test_a_public_use_file_from_estimate_to_records(run, real_data, tmp_path):
    """The file as it comes: 6 and 9 mean not stated in fields of one digit and are age groups in DHHGAGE."""
    file = QgsVectorLayer(str(real_data / "cchs2011_2012_sample.csv"), "cchs", "ogr")
    attributes = ["DHH_SEX", "DHHGAGE", "DHHGMS", "DHH_OWN"]
    microdata = {"MICRODATA": file, "ATTRIBUTES": attributes, "MISSING": "6, 7, 8, 9, 96, 99; DHHGAGE: 96, 99"}
    done = run("estimatedistributions", **microdata, PROVINCE="GEOGPRV", WEIGHT="WTS_M", DISTRIBUTIONS="memory:")
    shares: defaultdict[tuple, float] = defaultdict(float)
    for row in done.rows("DISTRIBUTIONS"):
        shares[row["province"], row["attribute"]] += row["share"]
    assert all(total == pytest.approx(1) for total in shares.values())
    ages = {row["category"] for row in done.rows("DISTRIBUTIONS") if row["attribute"] == "DHHGAGE"}
    assert {"6", "9"} <= ages
    owners = {row["category"] for row in done.rows("DISTRIBUTIONS") if row["attribute"] == "DHH_OWN"}
    assert owners <= {"1", "2"}
    provinces = sorted({province for province, _ in shares})
    areas = make_layer(
        {"da": [f"{p}01" for p in provinces], "n": [50] * len(provinces)},
        [f"Point({630_000 + 1000 * i} 5520000)" for i in range(len(provinces))],
    )
    records = run(
        "generaterecords",
        REGIONS=areas,
        REGION_ID="da",
        POPULATION="n",
        DISTRIBUTIONS=done.layer("DISTRIBUTIONS"),
        RECORDS=str(tmp_path / "people.csv"),
    )
    assert records.layer("RECORDS").featureCount() == 50 * len(provinces)


@pytest.mark.slow
def test_a_geopackage_written_in_bulk_is_one_that_ogr_wrote(run, tmp_path):
    """The same rows as through QGIS's own sink; OGR's count is right, and goes on counting what is added."""
    (areas, _), file = make_grid(side=6), tmp_path / "records.gpkg"
    parameters = {"REGIONS": areas, "REGION_ID": "da", "LEAST": 40, "MOST": 70, "SEED": 4}
    in_bulk = run("generaterecords", **parameters, RECORDS=str(file))
    through_sink = run("generaterecords", **parameters, RECORDS="memory:").rows("RECORDS")
    rows = in_bulk.rows("RECORDS")
    assert [row.pop("fid") for row in rows] == list(range(1, len(rows) + 1))
    assert rows == through_sink
    layer = QgsVectorLayer(str(file), "records", "ogr")
    assert layer.featureCount() == len(rows) == in_bulk.results["N_RECORDS"]
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("INSERT INTO records (da) VALUES ('added')")
    assert QgsVectorLayer(str(file), "again", "ogr").featureCount() == len(rows) + 1


def kind_of(layer):
    """What name, title and the beginning of the abstract say; they must say the same."""
    said = {layer.name(), layer.metadata().title(), layer.metadata().abstract().partition(". ")[0]}
    assert len(said) == 1, said
    return said.pop()


@pytest.mark.slow
@pytest.mark.parametrize("destination", ["memory:", "file.gpkg"])
def test_what_shows_real_people_is_internal(run, from_microdata, destination, tmp_path):
    def into(name):
        return destination if destination == "memory:" else str(tmp_path / f"{name}_{destination}")

    areas, _ = make_grid(side=3)
    done = run("estimatedistributions", **from_microdata, PROVINCE="prov", DISTRIBUTIONS=into("d"))
    assert kind_of(layer_with_metadata(done, "DISTRIBUTIONS")) == "Distributions (internal)"
    base = {"REGIONS": areas, "REGION_ID": "da", "POPULATION": "people"}
    microdata = {**from_microdata, "MICRODATA_PROVINCE": "prov"}
    for number, (changes, kind) in enumerate(
        [
            ({}, "test data"),
            ({"DISTRIBUTIONS": done.layer("DISTRIBUTIONS")}, "internal"),
            (microdata, "internal"),
            ({**microdata, "DRAW": "whole rows"}, "internal"),
            ({**microdata, "DRAW": 1}, "internal"),
        ]
    ):
        made = run("generaterecords", **base, **changes, RECORDS=into(number))
        assert kind_of(layer_with_metadata(made, "RECORDS")) == f"Generated records ({kind})"


def layer_with_metadata(done, name):
    """A file is named by its metadata: what stands in it must say the kind without QGIS's project."""
    layer = done.layer(name)
    if layer.providerType() == "ogr":
        layer.setName(layer.metadata().title())
    return layer


def test_labels_and_help_say_what_is_internal(provider):
    shares = provider.algorithm("estimatedistributions")
    assert shares.parameterDefinition("DISTRIBUTIONS").description() == "Distributions (internal)"
    assert "do not publish" in shares.parameterDefinition("DISTRIBUTIONS").help()
    assert "internal" in shares.shortHelpString()
    generator = provider.algorithm("generaterecords")
    records = generator.parameterDefinition("RECORDS")
    assert records.description() == "Generated records (test data), of given shares or microdata (internal)"
    assert "“whole rows” each row is a real person's" in records.help()
    assert "internal" in generator.parameterDefinition("DRAW").help()
    assert "every row of the result is a real person's. It is internal" in generator.shortHelpString()


def test_of_a_province_with_one_row_every_record_is_that_person_and_internal(run):
    """Independent draws leave nothing to chance there."""
    person = {"prov": ["46"], "age": ["47"], "illness": ["rare"]}
    areas, _ = make_grid(side=2)
    done = run(
        "generaterecords",
        REGIONS=areas,
        REGION_ID="da",
        MICRODATA=make_layer(person),
        MICRODATA_PROVINCE="prov",
        ATTRIBUTES=["age", "illness"],
        LEAST=2,
        MOST=3,
        RECORDS="memory:",
    )
    assert {(row["age"], row["illness"]) for row in done.rows("RECORDS")} == {("47", "rare")}
    assert kind_of(done.layer("RECORDS")) == "Generated records (internal)"
