"""Persons and linked tables that stay in files or a database, in QGIS: written there, described and signed here."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from vbas.core.package.checking import check_folder

from ..engines_there import needed
from .conftest import make_layer

for package in ("ibis", "duckdb", "pyarrow"):
    needed(package)

AREAS = [f"a{i}" for i in range(8)]


@pytest.fixture
def there(run, tmp_path):
    """there(**parameters): the release of 240 people with stays and drugs in Parquet files."""
    arrow, parquet = needed("pyarrow"), needed("pyarrow.parquet")
    rng, n = np.random.default_rng(1), 240
    people = {
        "id": list(range(n)),
        "home": [AREAS[i] for i in rng.integers(0, 8, n)],
        "sex": [("F", "M")[i] for i in rng.integers(0, 2, n)],
        "income": rng.integers(0, 4, n).tolist(),
        "household": [i // 3 for i in range(n)],
    }
    stays = {"id": rng.integers(0, n, 200).tolist(), "month": rng.integers(1, 3, 200).tolist()}
    drugs = {"who": rng.integers(0, n, 300).tolist(), "atc": [("N", "C")[i] for i in rng.integers(0, 2, 300)]}
    places = {name: str(tmp_path / f"{name}.parquet") for name in ("people", "stays", "drugs")}
    for name, columns in (("people", people), ("stays", stays), ("drugs", drugs)):
        parquet.write_table(arrow.table(columns), places[name])
    crosswalk = make_layer({"home": AREAS, "vbas_region_1": [1 + i // 4 for i in range(8)], "vbas_region_2": [1] * 8})

    def one(**more):
        given = {
            "CONNECTION": places["people"],
            "RECORD_REGION": "home",
            "QUASI_IDENTIFIERS": "sex",
            "KEEP_FIELDS": "income",
            "CROSSWALK": crosswalk,
            "CROSSWALK_ID": "home",
            "K": 20,
            "KEY": "id",
            "LINKED_TABLES": f"{places['stays']};{places['drugs']}",
            "LINKED_KEYS": "drugs.who",
            "LINKED_KNOWN": "stays.month",
            "LINKED_KEEP": "drugs.atc",
            "LINKED_K": 3,
            "LOSS": "non-uniform entropy",
            "DESTINATION": str(tmp_path / "out.parquet"),
        }
        return run("releasedatabase", **{**given, **more})

    return one


def rows_of(place):
    return needed("pyarrow.parquet").read_table(place).to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize("rows_known", [pytest.param("all rows", marks=pytest.mark.slow), "one row"])
def test_persons_and_tables_are_written_where_they_are(there, tmp_path, rows_known):
    folder, register = tmp_path / "folder", tmp_path / "register.gpkg"
    done = there(ROWS_KNOWN=rows_known, RELEASE_FOLDER=str(folder), REGISTER=str(register))
    persons, stays, drugs = (rows_of(tmp_path / f"out{name}.parquet") for name in ("", "_stays", "_drugs"))
    assert done.results["RELEASED_RECORDS"] == str(tmp_path / "out.parquet")
    assert any("out_drugs.parquet" in line for line in done.log)
    assert any("Table “stays”" in line for line in done.log)
    by_key = {row["vbas_person"]: row for row in persons}
    for name, rows in (("stays", stays), ("drugs", drugs)):
        assert len(rows) > 0
        for row in rows:
            whose = by_key[row["vbas_person"]]
            assert whose["vbas_level"] == row["vbas_level"] and whose["vbas_region"] == row["vbas_region"]
            assert whose[f"vbas_{name}"] in ("shown", "in part")
    if rows_known == "all rows":
        months: dict[int, list[int]] = {row["vbas_person"]: [] for row in persons}
        for row in stays:
            months[row["vbas_person"]].append(row["month"])
        number = Counter(row["vbas_person"] for row in drugs)
        place = ("vbas_level", "vbas_region", "sex", "vbas_stays", "vbas_drugs")
        alike = Counter(
            (*(row[name] for name in place), tuple(sorted(months[key])), number[key]) for key, row in by_key.items()
        )
        assert min(alike.values()) >= 3
    claims = {claim.name: claim.holds for claim in check_folder(folder).claims}
    assert all(claims.values()) and claims["linked rows"] and claims["k of all tables"]
    with pytest.raises(QgsProcessingException, match="released linked tables of these people already"):
        there(DESTINATION=str(tmp_path / "again.parquet"), REGISTER=str(register))
    assert not list(tmp_path.glob("again*"))


@pytest.mark.slow
def test_people_who_look_alike_have_no_sensitive_value_of_their_rows_in_common(there, tmp_path):
    folder = tmp_path / "folder"
    asked = {"HOUSEHOLD_ID": "household", "L_DIVERSITY": 2, "MAX_SHARE": 80}
    done = there(**asked, LINKED_KEEP="", LINKED_SENSITIVE="drugs.atc", RELEASE_FOLDER=str(folder))
    persons, stays, drugs = (rows_of(tmp_path / f"out{name}.parquet") for name in ("", "_stays", "_drugs"))
    assert not [line for line in done.log if "no effect" in line]
    months, values, alike = defaultdict(list), defaultdict(set), defaultdict(list)
    number = Counter(row["vbas_person"] for row in drugs)
    for row in stays:
        months[row["vbas_person"]].append(row["month"])
    for row in drugs:
        values[row["vbas_person"]].add(row["atc"])
    for row in persons:
        key = row["vbas_person"]
        place = [row[name] for name in ("vbas_level", "vbas_region", "sex", "vbas_stays", "vbas_drugs")]
        alike[repr([place, sorted(months[key]), number[key]])].append(key)
    assert drugs and min(map(len, alike.values())) >= 3
    for keys in alike.values():
        have = [values[key] for key in keys if key in values]
        shares = Counter(value for one in have for value in one)
        assert not have or (len(shares) >= 2 and max(shares.values()) <= 0.8 * len(have))
    (table,) = (
        one for one in json.loads((folder / "datapackage.json").read_text())["resources"] if one["name"] == "drugs"
    )
    assert {field["name"]: field.get("role") for field in table["schema"]["fields"]}["atc"] == "sensitive"
    assert not [claim.name for claim in check_folder(folder).claims if claim.holds is False]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"KEY": None}, "KEY is empty"),
        ({"KEY": "number", "LINKED_KEYS": "stays.id;drugs.who"}, "The table has no field"),
        ({"LINKED_KNOWN": "month"}, "LINKED_KNOWN names “month”"),
        ({"LINKED_KEEP": "drugs.dose"}, "Table “drugs” has no field “dose”"),
        ({"LINKED_K": 21}, "LINKED_K is 21"),
        ({"LINKED_SENSITIVE": "stays.month"}, "LINKED_SENSITIVE: “month” of table “stays” is in LINKED_KNOWN too"),
        (
            {"LINKED_SENSITIVE": "drugs.atc", "L_DIVERSITY": 2, "ROWS_KNOWN": "one row"},
            "ROWS_KNOWN “one row” does not go together yet with HOUSEHOLD_ID",
        ),
        ({"PERSON_ID": "id"}, "PERSON_ID and linked tables do not go together"),
        ({"LINKED_TABLES": "stays.parquet;drugs.parquet"}, "there is no file “stays.parquet”"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(there, tmp_path, more, says):
    with pytest.raises(QgsProcessingException, match=says):
        there(**more)
    assert not list(tmp_path.glob("out*"))
