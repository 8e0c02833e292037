"""`vbas:updaterelease`: months of a town one after the other, and what it refuses."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from vbas.algorithms.form.release import release_table
from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import Levels
from vbas.core.publish.register.chain import chain_of
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

from ..engines_there import needed
from .conftest import make_layer

SHOWN = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}


@pytest.fixture
def months(grid):
    """The people of three months, columns by field: in each, one in fifty moved, and two left."""
    rng = np.random.default_rng(1)
    fields = grid[1].fields().names()
    rows = [feature.attributes() for feature in grid[1].getFeatures()]
    at, homes = fields.index("home"), [feature["da"] for feature in grid[0].getFeatures()]
    tables = []
    for _ in range(3):
        tables.append({name: [row[i] or None for row in rows] for i, name in enumerate(fields)})
        rows = [list(row) for row in rows[2:]]
        for row in rows:
            if rng.random() < 0.02:
                row[at] = homes[int(rng.integers(len(homes)))]
    return tables


def classes(done):
    """Level, region and values of each row, with how many show it."""
    return Counter((row.get("vbas_level"), row["vbas_region"], row["sex"], row["age"]) for row in done)


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_months_one_after_the_other(anonymize, run, months, tmp_path, nested):
    register, crosswalk = str(tmp_path / "register.gpkg"), str(tmp_path / "crosswalk.gpkg")
    levels = {"RELEASE": "nested levels", "SITE_POINTS": None, "VORONOI": None} if nested else {}
    first = anonymize(RECORDS=make_layer(months[0]), REGISTER=register, CROSSWALK=crosswalk, **levels)
    shown = [classes(first.rows("RELEASED_RECORDS"))]
    given = {**SHOWN, "CROSSWALK": crosswalk, "REGISTER": register}
    for number, month in enumerate(months[1:], 2):
        folder = str(tmp_path / f"folder{number}")
        done = run(
            "updaterelease",
            RECORDS=make_layer(month),
            **given,
            RELEASED_RECORDS="memory:",
            RELEASE_FOLDER=folder,
        )
        shown.append(classes(done.rows("RELEASED_RECORDS")))
        results = done.results
        assert results["N_SAME"] + results["N_CHANGED"] + results["N_GONE"] == len(shown[-2])
        assert results["N_SAME"] == sum(shown[-1][key] == count for key, count in shown[-2].items()) > 0
        assert results["N_SUPPRESSED"] == len(month["home"]) - sum(shown[-1].values())
        assert any("changes by nobody or by at least 5 records" in line for line in done.log)
        assert any(f"is “release {number - 1}” of the register" in line for line in done.log)
    for later, new in enumerate(shown):
        assert min(new.values()) >= 5
        for old in shown[:later]:
            assert not [key for key in new.keys() & old.keys() if 0 < abs(new[key] - old[key]) < 5]
    listed = run("editregister", REGISTER=register, CONTENTS="memory:")
    assert listed.results["N_RELEASES"] == 3
    contents = listed.rows("CONTENTS")
    day = contents[0]["time"][:10]
    assert [row["updates"] or "" for row in contents] == ["", f"1: release 1 ({day})", f"2: release 2 ({day})"]
    assert contents[-1]["update"] == "a further period"
    approved = run("editregister", REGISTER=register, APPROVE=3, WHO="M. Roy", CONTENTS="memory:", DETAIL="memory:")
    assert {row["last_updates"] for row in approved.rows("DETAIL")} <= {None, *(row["updates"] for row in contents)}
    links = chain_of(Path(register)).links
    assert any(f"with this change 4 entries, the last with the hash {links[-1].hash}" in line for line in approved.log)


@pytest.mark.slow
def test_what_cannot_be_updated_is_said_in_one_sentence(anonymize, run, grid, months, tmp_path):
    register, crosswalk = str(tmp_path / "register.gpkg"), str(tmp_path / "crosswalk.gpkg")
    anonymize(RECORDS=make_layer(months[0]), REGISTER=register, CROSSWALK=crosswalk)
    given = {**SHOWN, "RECORDS": make_layer(months[1]), "CROSSWALK": crosswalk, "REGISTER": register}
    other = make_layer({"da": [feature["da"] for feature in grid[0].getFeatures()], "vbas_region": [1] * 36})
    for more, words in (
        ({"REGISTER": str(tmp_path / "none.gpkg")}, "there is no file"),
        ({"ENTRY": "March"}, "the register has 0 of that name"),
        ({"CROSSWALK": other}, "no release with the regions of CROSSWALK"),
        ({"CROSSWALK": other, "ENTRY": "1"}, "has other regions than CROSSWALK"),
        ({"QUASI_IDENTIFIERS": ["sex"]}, "no release with the regions of CROSSWALK"),
        ({"QUASI_IDENTIFIERS": ["sex"], "ENTRY": "release 1"}, "give the same QUASI_IDENTIFIERS"),
    ):
        with pytest.raises(QgsProcessingException, match=words):
            run("updaterelease", **{**given, **more}, RELEASED_RECORDS="memory:")
    for k, words in (
        (3, "K is 3, and release 1 was made with 5: an update has 5"),
        (7, "classes of fewer than 7 people"),
    ):
        done = run("updaterelease", **given, K=k, RELEASED_RECORDS="memory:")
        assert any(words in line for line in done.log)
        assert min(Counter(classes(done.rows("RELEASED_RECORDS"))).values()) >= max(k, 5)
    done = run("updaterelease", **given, ENTRY="1", UPDATE="the same people updated", RELEASED_RECORDS="memory:")
    assert any("takes the place of the earlier ones" in line for line in done.log)


@pytest.mark.slow
def test_months_with_a_sensitive_field_a_kept_one_and_several_periods(anonymize, run, months, tmp_path):
    """Of each class and region, whoever came or left by the values is nobody or k and more; and each class has two."""
    register, crosswalk = str(tmp_path / "register.gpkg"), str(tmp_path / "crosswalk.gpkg")
    works = np.random.default_rng(2).integers(0, 2, len(months[0]["home"])).tolist()
    tables = []
    for number, month in enumerate(months):
        n = len(month["home"])
        tables.append({**month, "year": [2024 + at % 2 for at in range(n)], "works": works[2 * number :]})
    asked = {"PERIOD": "year", "SENSITIVE": ["diagnosis"], "L_DIVERSITY": 2, "KEEP_FIELDS": ["works"]}
    periods = {"REGISTER": register, "CROSSWALK": crosswalk, "PERIODS": "each period by itself"}
    first = anonymize(RECORDS=make_layer(tables[0]), K=3, **asked, **periods)
    given = {**SHOWN, **asked, "CROSSWALK": crosswalk, "REGISTER": register, "RELEASED_RECORDS": "memory:"}
    done = [first, *(run("updaterelease", RECORDS=make_layer(table), **given) for table in tables[1:])]
    shown: list[dict[tuple, Counter]] = []
    for one in done:
        shown.append({})
        for row in one.rows("RELEASED_RECORDS"):
            label = row["vbas_region"], row["sex"], row["age"], row["year"]
            shown[-1].setdefault(label, Counter())[row["diagnosis"], row["works"]] += 1
        assert min(len({diagnosis for diagnosis, _ in rows}) for rows in shown[-1].values()) >= 2
    for later, new in enumerate(shown):
        for old in shown[:later]:
            for key in new.keys() & old.keys():
                for change in (new[key] - old[key], old[key] - new[key]):
                    assert change.total() == 0 or change.total() >= 3
    for number, one in enumerate(done[1:], 1):  # and each row looks like two others
        assert min(min(rows.values()) for rows in shown[number].values()) >= 3
        assert any(
            "looks like at least 2 others of its class and region in “diagnosis” and “works”" in at for at in one.log
        )
    rare = run("updaterelease", RECORDS=make_layer(tables[1]), FOLLOWED="shown", **given)
    names = "vbas_region", "sex", "age", "year", "diagnosis", "works"
    rows = Counter(tuple(row[name] for name in names) for row in rare.rows("RELEASED_RECORDS"))
    assert min(rows.values()) < 3 and not any("looks like at least" in line for line in rare.log)


@pytest.mark.slow
def test_what_is_said_to_stay_is_the_same_in_the_file_byte_for_byte(anonymize, run, months, tmp_path):
    """Files of months with a kept field: the lines of a class of a region, whatever their order."""
    given = {"CROSSWALK": str(tmp_path / "crosswalk.gpkg"), "REGISTER": str(tmp_path / "register.gpkg")}
    files, finer = [tmp_path / f"month{number}.csv" for number in range(len(months))], 0
    kept = {"KEEP_FIELDS": ["diagnosis"]}
    levels = {"RELEASE": "nested levels", "SITE_POINTS": None, "VORONOI": None}
    anonymize(RECORDS=make_layer(months[0]), K=3, RELEASED_RECORDS=str(files[0]), **given, **kept, **levels)
    # Many of the sick got better: where they were k and more, as many of a class may be shown with other values.
    months[2]["diagnosis"] = [None if row % 3 else of for row, of in enumerate(months[2]["diagnosis"])]
    for number, month in enumerate(months[1:], 1):
        asked = {**SHOWN, **given, **kept, "FOLLOWED": "shown", "RELEASED_RECORDS": str(files[number])}
        results = run("updaterelease", RECORDS=make_layer(month), **asked).results
        old, new = (lines_of(file) for file in files[number - 1 : number + 1])
        both = old.keys() & new.keys()
        assert results["N_SAME"] == sum(old[label] == new[label] for label in both)
        assert results["N_CHANGED"] == sum(old[label] != new[label] for label in both) > 0
        assert results["N_GONE"] == len(old) - len(both) and results["N_NEW"] == len(new) - len(both)
        assert number == 2 or results["N_SAME"] > 0
        for label in both:  # and of none, shown finer than before or not, a few came or left
            for change in (new[label] - old[label], old[label] - new[label]):
                assert change.total() == 0 or change.total() >= 3, label
        coarsest = max(level for level, *_ in old)
        finer += sum(new[key].total() > old.get(key, Counter()).total() for key in new if key[0] < coarsest)
    assert finer


def lines_of(file):
    """Of each class of a region the lines of a released file, as they are written."""
    head, *lines = Path(file).read_bytes().splitlines(keepends=True)
    at = [head.decode().strip().split(",").index(name) for name in ("vbas_level", "vbas_region", "sex", "age")]
    classes: dict[tuple[str, ...], Counter[bytes]] = {}
    for line in lines:
        values = line.decode().split(",")
        classes.setdefault(tuple(values[i] for i in at), Counter())[line] += 1
    return classes


def test_what_is_written_is_counted_by_all_that_rows_show():
    """Of a release whose rows have to be alike, the second count takes kept fields for a part of the class."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    kept = {"works": column_from_values([0, 1] * 5)}
    table = RecordTable(column_from_values(["a"] * 10), {"sex": column_from_values(["F"] * 10)}, kept)
    levels = Levels((Crosswalk(np.array([0, 0]), 1),))
    account = anonymise(areas, match_records(table, areas), levels, Ask(3))
    source = make_layer({"home": ["a"] * 10, "sex": ["F"] * 10, "works": [0, 1] * 5})
    form: Any = SimpleNamespace(layers=SimpleNamespace(source=lambda _: source))
    for alike, n_fields in ((1, 2), (3, 3)):  # region and sex, and the job
        asked = replace(account, requirement=replace(account.requirement, rows_identical=alike))
        assert release_table(form, asked, account.release)[1].n_class_fields == n_fields


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 7])
def test_the_model_of_a_month_releases_holds_all_months_against_each_other_and_lists_them(
    anonymize, run, grid, months, tmp_path, k
):
    """K is left empty: it is that of the releases, in the check of all months, too."""
    register, crosswalk = str(tmp_path / "register.gpkg"), str(tmp_path / "crosswalk.gpkg")
    anonymize(RECORDS=make_layer(months[0]), REGISTER=register, CROSSWALK=crosswalk, K=k)
    outputs = ("updaterelease:RELEASED_RECORDS", "checkreleases:PINNED", "editregister:CONTENTS", "editregister:DETAIL")
    for number, month in enumerate(months[1:], 2):
        done = run(
            "monthlyupdate",
            **{**SHOWN, "RECORDS": make_layer(month), "CROSSWALK": crosswalk, "REGISTER": register},
            **{"REGIONS": grid[0], "REGION_ID": "da", **dict.fromkeys(outputs, "memory:")},
        )
        assert min(classes(done.rows(outputs[0])).values()) >= k
        assert not list(done.rows(outputs[1])), "what all months tell"
        said = f"No count of fewer than {k} people was found that the releases give away together."
        assert any(said in line for line in done.log)
        assert [row["release"] for row in done.rows(outputs[2])] == list(range(1, number + 1))
        assert {row["releases"] for row in done.rows(outputs[3])} == {number}


@pytest.fixture
def in_place(run, months, tmp_path):
    """in_place(month, **parameters): one of the months released in DuckDB, and its rows."""
    arrow, files = needed("pyarrow"), needed("pyarrow.parquet")
    needed("ibis")
    needed("duckdb")

    def one(number, **parameters):
        place, released = tmp_path / f"people{number}.parquet", tmp_path / f"shown{number}.parquet"
        files.write_table(arrow.table(months[number]), place)
        shown = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": "sex;age", "DESTINATION": str(released)}
        done = run("releasedatabase", **{"CONNECTION": str(place), **shown, **parameters})
        return done, files.read_table(released).to_pylist()

    return one


@pytest.mark.slow
def test_months_in_place_and_here_carry_on_one_register(anonymize, run, grid, months, in_place, tmp_path):
    """The first month and the second stay in files that DuckDB reads, the third is a layer."""
    register, crosswalk = str(tmp_path / "register.gpkg"), str(tmp_path / "crosswalk.gpkg")
    anonymize(RECORDS=make_layer(months[0]), CROSSWALK=crosswalk, RELEASE="nested levels", VORONOI=None)
    given = {"CROSSWALK": crosswalk, "REGISTER": register, "REGIONS": grid[0], "REGION_ID": "da"}
    fields = {"KEEP_FIELDS": "diagnosis", "PERSON_ID": ""}
    shown = [in_place(0, **given, **fields)[1]]
    done, rows = in_place(1, **given, **fields, UPDATE="a further period")
    assert any("changes by nobody or by at least 5 records" in line for line in done.log)
    shown.append(rows)
    last = run(
        "updaterelease",
        **{**SHOWN, "KEEP_FIELDS": ["diagnosis"]},
        RECORDS=make_layer(months[2]),
        CROSSWALK=crosswalk,
        REGISTER=register,
        RELEASED_RECORDS="memory:",
    )
    shown.append(list(last.rows("RELEASED_RECORDS")))
    for later, new in enumerate(map(by_values, shown)):
        for old in map(by_values, shown[:later]):
            for key in new.keys() & old.keys():
                for change in (new[key] - old[key], old[key] - new[key]):
                    assert change.total() == 0 or change.total() >= 5, (later, key, old[key], new[key])
    for place in by_values(shown[1]).values():
        assert min(place.values()) >= 5
    listed = run("editregister", REGISTER=register, CONTENTS="memory:").rows("CONTENTS")
    assert [bool(row["updates"]) for row in listed] == [False, True, True]


def by_values(rows):
    """Of each class of a region, how many rows show which diagnosis."""
    places: dict[tuple[Any, ...], Counter] = {}
    for row in rows:
        key = row["vbas_level"], row["vbas_region"], row["sex"], row["age"]
        places.setdefault(key, Counter())[row["diagnosis"] or None] += 1
    return places


@pytest.mark.slow
def test_what_cannot_be_updated_in_place_is_said_in_one_sentence(anonymize, grid, months, in_place, tmp_path):
    register, crosswalk = str(tmp_path / "register.gpkg"), str(tmp_path / "crosswalk.gpkg")
    for month in months:
        month["person"] = [f"p{row // 2}" for row in range(len(month["home"]))]
        month["house"] = month["person"]
        month["one"] = [f"p{row}" for row in range(len(month["home"]))]
    anonymize(RECORDS=make_layer(months[0]), CROSSWALK=crosswalk, RELEASE="nested levels", VORONOI=None)
    given = {"CROSSWALK": crosswalk, "REGISTER": register, "REGIONS": grid[0], "REGION_ID": "da"}
    in_place(0, **given, PERSON_ID="one")
    update = {**given, "UPDATE": "a further period"}
    for more, words in (
        ({"REGISTER": None}, "REGISTER is empty"),
        ({"REGISTER": str(tmp_path / "none.gpkg")}, "there is no file"),
        ({"ENTRY": "March"}, "the register has 0 of that name"),
        ({"PERSON_ID": "person"}, "takes one row for each person"),
        ({"HOUSEHOLD_ID": "house"}, "counts persons, and not households"),
        ({"KEEP_FIELDS": "diagnosis"}, "No release of the register is known to have shown|does not keep what its rows"),
        ({"QUASI_IDENTIFIERS": "sex"}, "no release with the regions of CROSSWALK"),
        ({"DISCLOSURE": "no small count follows"}, "does not go with DISCLOSURE"),
        ({"LEAST_LEFT_PEOPLE": 50}, "does not go with LEAST_LEFT_PEOPLE"),
        ({"PERIOD": "age"}, "does not go with PERIODS"),
        ({"LINKED_TABLES": str(tmp_path / "people0.parquet"), "KEY": "one"}, "shows persons alone"),
    ):
        with pytest.raises(QgsProcessingException, match=words):
            in_place(1, **{**update, **more})
        assert not (tmp_path / "shown1.parquet").exists()
    _, rows = in_place(1, **update, PERSON_ID="one")
    assert rows
