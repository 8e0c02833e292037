"""Records that stay where they are, in the toolbox: profiled there, anonymised here, released there."""

from __future__ import annotations

from collections import Counter

import pytest
from qgis.core import QgsProcessingException

from ..engines_there import needed
from .conftest import make_layer

for package in ("ibis", "duckdb", "pyarrow"):
    needed(package)

SECRET = "hunter2"
QUASI = ["sex", "age"]


@pytest.fixture
def parquet(grid, tmp_path):
    """The grid's records as a Parquet file."""
    arrow, files = needed("pyarrow"), needed("pyarrow.parquet")
    rows = [[value if value else None for value in feature.attributes()] for feature in grid[1].getFeatures()]
    table = arrow.table(dict(zip(grid[1].fields().names(), map(list, zip(*rows)))))
    files.write_table(table, tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


@pytest.fixture
def there(run, parquet):
    """there(algorithm, **parameters): one of the two forms over the file."""

    def one(algorithm, **parameters):
        given = {"CONNECTION": str(parquet), "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ";".join(QUASI)}
        return run(algorithm, **{**given, **parameters})

    return one


def written(place):
    files = needed("pyarrow.parquet")
    return Counter(tuple(row.items()) for row in files.read_table(place).to_pylist())


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_profiled_there_anonymised_here_released_there(there, anonymize, grid, tmp_path, nested):
    profile = there("profiledatabase", PROFILE="memory:")
    assert profile.results["N_RECORDS"] == 1440
    of_profile = {"RECORDS": profile.layer("PROFILE"), "RECORD_COUNT": "records"}
    kind = {"RELEASE": "nested levels"} if nested else {}
    found = anonymize(**of_profile, **kind)
    place = tmp_path / "released.parquet"
    areas = {"REGIONS": grid[0], "REGION_ID": "da"}
    done = there(
        "releasedatabase",
        CROSSWALK=found.layer("CROSSWALK"),
        DESTINATION=str(place),
        KEEP_FIELDS="diagnosis",
        **(areas if nested else {}),
    )
    direct = anonymize(KEEP_FIELDS=["diagnosis"], **kind)
    assert done.results["RELEASED_RECORDS"] == str(place)
    assert done.results["N_SUPPRESSED"] == found.results["N_SUPPRESSED"] == direct.results["N_SUPPRESSED"]
    assert written(place) == Counter(tuple(row.items()) for row in direct.rows("RELEASED_RECORDS"))
    assert any("counted once more" in line for line in done.log)


def test_the_profile_is_that_of_the_layer(there, run, grid):
    ours = there("profiledatabase", PROFILE="memory:")
    theirs = run("profilerecords", RECORDS=grid[1], RECORD_REGION="home", QUASI_IDENTIFIERS=QUASI, PROFILE="memory:")
    assert ours.rows("PROFILE") == theirs.rows("PROFILE")
    kinds = [(field.name(), field.type()) for field in ours.layer("PROFILE").fields()]
    assert kinds == [(field.name(), field.type()) for field in theirs.layer("PROFILE").fields()]


@pytest.mark.slow
def test_only_some_rows_are_meant(there, grid):
    ages = [feature["age"] for feature in grid[1].getFeatures() if feature["sex"] == "F"]
    done = there("profiledatabase", FILTER=["sex", "=", "F", "age", ">", "2"], PROFILE="memory:")
    assert done.results["N_RECORDS"] == sum(age > 2 for age in ages)
    with pytest.raises(QgsProcessingException, match="FILTER has the operator “~”"):
        there("profiledatabase", FILTER=["sex", "~", "F"], PROFILE="memory:")


@pytest.mark.slow
def test_areas_that_nobody_knows(there, grid, tmp_path):
    known = [feature["da"] for feature in grid[0].getFeatures()][1:]
    crosswalk = make_layer({"da": known, "vbas_region": [1 + i % 3 for i in range(35)]})
    given = {"CROSSWALK": crosswalk, "DESTINATION": str(tmp_path / "released.parquet")}
    with pytest.raises(QgsProcessingException, match="40 records have an area in “home”"):
        there("releasedatabase", **given)
    done = there("releasedatabase", UNMATCHED="suppress", **given)
    assert done.results["N_SUPPRESSED"] >= 40
    assert done.results["N_RECORDS"] == 1440


def test_fields_are_given_in_one_line_or_once_for_each(there):
    """Elsewhere the same parameter is a list of fields."""
    as_list, as_line = (
        sorted(map(str, there("profiledatabase", PROFILE="memory:", QUASI_IDENTIFIERS=names).rows("PROFILE")))
        for names in (QUASI, ";".join(QUASI))
    )
    assert as_list == as_line
    with pytest.raises(QgsProcessingException, match="give it once"):
        there("profiledatabase", PROFILE="memory:", QUASI_IDENTIFIERS=["sex;age", "home"])


@pytest.mark.parametrize(
    "connection",
    [
        f"postgresql://nurse:{SECRET}@127.0.0.1:1/records",
        f"host=127.0.0.1 port=1 dbname=d password={SECRET}",
        f"postgresql://127.0.0.1:1/records?password={SECRET}",
        f"sc://127.0.0.1:1/;use_ssl=true;token={SECRET}",
        f"spark://nurse:{SECRET}@127.0.0.1:1",
        f"duckdb:///data/people.duckdb?token={SECRET}",
    ],
)
@pytest.mark.parametrize("algorithm", ["anonymizedatabase", "profiledatabase", "releasedatabase"])
def test_a_password_is_refused_before_anything_is_logged(there, provider, algorithm, connection):
    from qgis.core import QgsProcessingContext

    from .conftest import Feedback

    form = provider.algorithm(algorithm).create()
    given = {"CONNECTION": connection, "RECORD_REGION": "a", "QUASI_IDENTIFIERS": "b", "PROFILE": "memory:"}
    context, feedback = QgsProcessingContext(), Feedback()
    assert form.checkParameterValues(given, context)[0] is False
    with pytest.raises(QgsProcessingException, match="holds a password") as error:
        form.processAlgorithm(given, context, feedback)
    assert SECRET not in "".join([str(error.value), *feedback.said])


def test_what_is_missing_is_said(there, tmp_path, monkeypatch):
    with pytest.raises(QgsProcessingException, match="there is no file"):
        there("profiledatabase", CONNECTION=str(tmp_path / "none.parquet"), PROFILE="memory:")
    with pytest.raises(QgsProcessingException, match="no field “House”; it has “home”"):
        there("profiledatabase", RECORD_REGION="House", PROFILE="memory:")
    monkeypatch.setattr("vbas.core.engines.is_there", lambda name: False)
    with pytest.raises(
        QgsProcessingException, match=r' -m pip install .*"numpy==.*" "ibis-framework>=12,<13" "pyarrow'
    ):
        there("profiledatabase", PROFILE="memory:")


def test_a_damaged_file_ends_in_a_sentence(there, tmp_path):
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(QgsProcessingException, match=r"ends in \.parquet is none, or was not written to its end"):
        there("profiledatabase", CONNECTION=str(tmp_path / "damaged.parquet"), PROFILE="memory:")
